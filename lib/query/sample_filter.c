/*
 * sample_filter.c - filter of samples: sources, threads, labels, time and order
 *
 * Names are matched once per source and thread; samples are then filtered by one byte per source
 * and thread.
 */
#include "query/query.h"
#include "query/row_names.h"

#include "util/alloc.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

#include <string.h>

/* Parses the id of a source, "12". */
static int parse_id(const char *text, uint64_t *id)
{
    *id = 0;
    for (const char *digit = text; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || *id > UINT64_MAX / 10 - 1)
            return 0;
        *id = *id * 10 + (uint64_t)(*digit - '0');
    }
    return *text != '\0';
}

/* Sets set[row] for the rows whose name matches; without a name a row matches as "". */
static pcol_status match_rows(const pcol_file *file, pcol_by by, pcol_pattern *match, uint8_t *set,
                              uint64_t count, int *has_match, pcol_error *err)
{
    struct pci_row_names names;
    PCI_TRY(pci_row_names_open(&names, file, by, err));
    *has_match = 0;
    for (uint64_t row = 0; row < count; row++) {
        struct pci_coded_text text;
        int matches;
        PCI_TRY(pci_get_coded(file, names.name, row, &text, err));
        if (!text.text.size)
            PCI_TRY(pci_get_coded(file, names.other, row, &text, err));
        PCI_TRY(pci_pattern_test_coded(match, file, &text, &matches, err));
        set[row] |= (uint8_t)matches;
        *has_match |= matches;
    }
    return PCOL_OK;
}

static pcol_status new_set(const pcol_file *file, const char *table, uint64_t *count, uint8_t **set,
                           pcol_error *err)
{
    *count = pci_rows(file, table);
    PCI_TRY(pci_check_row_count(file, table, err));
    return PCI_CALLOC(*set, (size_t)*count + 1, err);
}

/* Builds the set of the threads or sources whose name matches a pattern. */
static pcol_status select_rows(const pcol_file *file, pcol_by by, const char *pattern,
                               uint64_t *count, uint8_t **set, pcol_error *err)
{
    const char *option = by == PCOL_BY_SOURCE ? "source" : "thread";
    const char *table = by == PCOL_BY_SOURCE ? "sources" : "threads";
    pcol_pattern *match;
    pcol_status status;
    int has_match = 0;
    PCI_TRY(new_set(file, table, count, set, err));
    PCI_TRY(pci_pattern_new(pattern, option, &match, err));
    status = match_rows(file, by, match, *set, *count, &has_match, err);
    pcol_pattern_free(match);
    if (status == PCOL_OK && !has_match)
        status = pci_error_option(
            err, option, pci_fail(err, PCOL_E_ARGUMENT, "no %s matches '%.100s'", option, pattern));
    return status;
}

/* Builds the set of the threads of a name. */
static pcol_status select_thread(const pcol_file *file, pcol_str wanted, uint64_t *count,
                                 uint8_t **set, pcol_error *err)
{
    struct pci_row_names names;
    int has_match = 0;
    PCI_TRY(new_set(file, "threads", count, set, err));
    PCI_TRY(pci_row_names_open(&names, file, PCOL_BY_THREAD, err));
    for (uint64_t row = 0; row < *count; row++) {
        pcol_str name;
        int valid;
        PCI_TRY(pci_row_name(&names, row, &name, &valid, err));
        (*set)[row] = valid && pci_str_equal(name, wanted);
        has_match |= (*set)[row];
    }
    if (has_match)
        return PCOL_OK;
    return pci_error_option(err, "exact_thread",
                            pci_fail(err, PCOL_E_ARGUMENT, "no thread is named '%.*s'",
                                     (int)(wanted.size < 100 ? wanted.size : 100), wanted.data));
}

static pcol_status select_source(const pcol_file *file, const char *text,
                                 struct pci_sample_filter *sample_filter, pcol_error *err)
{
    uint64_t id;
    if (!parse_id(text, &id))
        return select_rows(file, PCOL_BY_SOURCE, text, &sample_filter->source_count,
                           &sample_filter->sources, err);
    PCI_TRY(new_set(file, "sources", &sample_filter->source_count, &sample_filter->sources, err));
    if (id == 0 || id > sample_filter->source_count)
        return pci_error_option(
            err, "source",
            pci_fail(err, PCOL_E_ARGUMENT, "there is no source %llu, only 1 to %llu",
                     (unsigned long long)id, (unsigned long long)sample_filter->source_count));
    sample_filter->sources[id - 1] = 1;
    return PCOL_OK;
}

/* ---- metadata of sources */

struct meta_test {
    const char *text; /* as given */
    pcol_str key;
    const char *value;   /* KEY=VALUE */
    pcol_pattern *match; /* KEY~PATTERN; NULL: equal */
};

static pcol_status meta_test_open(const char *text, struct meta_test *test, pcol_error *err)
{
    size_t size = text ? strcspn(text, "=~") : 0;
    *test = (struct meta_test){.text = text};
    if (!size || !text[size])
        return pci_fail(err, PCOL_E_ARGUMENT, "'%.100s' is not KEY=VALUE or KEY~PATTERN",
                        text ? text : "");
    test->key = (pcol_str){text, size};
    test->value = text + size + 1;
    if (text[size] == '=')
        return PCOL_OK;
    return pci_pattern_new(test->value, "source_metas", &test->match, err);
}

static pcol_status test_value(const struct meta_test *test, pcol_str value, int *matches,
                              pcol_error *err)
{
    *matches = pci_str_is(value, test->value);
    return test->match ? pcol_pattern_test(test->match, value, matches, err) : PCOL_OK;
}

/* Sets passes[source] for the sources whose value passes. */
static pcol_status test_values(const struct meta_test *test, const pcol_str *values,
                               uint8_t *passes, uint64_t source_count, pcol_error *err)
{
    struct pci_text_memo tested = {.numbers = NULL};
    pcol_status status = PCOL_OK;
    for (uint64_t source = 0; source < source_count && status == PCOL_OK; source++) {
        if (!values[source].data)
            continue;
        uint32_t known = pci_text_memo_find(&tested, values[source]);
        int matches = known == 1;
        if (known == PCI_HASH_NONE) {
            status = test_value(test, values[source], &matches, err);
            PCI_THEN(status, pci_text_memo_add(&tested, values[source], matches ? 1 : 0, err));
        }
        passes[source] = (uint8_t)matches;
    }
    pci_text_memo_clear(&tested);
    return status;
}

/* Removes the sources that fail a test from the set. */
static pcol_status apply_meta_test(const pcol_file *file, const struct meta_test *test,
                                   struct pci_sample_filter *sample_filter, pcol_error *err)
{
    uint64_t count = sample_filter->source_count;
    uint8_t *passes = pci_calloc((size_t)count + 1, sizeof *passes);
    pcol_str *values = pci_calloc((size_t)count + 1, sizeof *values);
    int any = 0;
    pcol_status status = passes && values ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_source_meta_values(file, test->key, count, values, &any, err));
    PCI_THEN(status, test_values(test, values, passes, count, err));
    any = 0;
    for (uint64_t row = 0; status == PCOL_OK && row < count; row++) {
        sample_filter->sources[row] &= passes[row];
        any |= sample_filter->sources[row];
    }
    pci_free(values);
    pci_free(passes);
    if (status == PCOL_OK && !any)
        status = pci_fail(err, PCOL_E_ARGUMENT, "no source has the metadata '%.100s'", test->text);
    return status;
}

/* Make the set of all sources unless there is a set. */
static pcol_status require_source_set(const pcol_file *file,
                                      struct pci_sample_filter *sample_filter, pcol_error *err)
{
    if (sample_filter->sources)
        return PCOL_OK;
    PCI_TRY(new_set(file, "sources", &sample_filter->source_count, &sample_filter->sources, err));
    memset(sample_filter->sources, 1, (size_t)sample_filter->source_count);
    return PCOL_OK;
}

pcol_status pci_sample_filter_restrict(const pcol_file *file, const uint8_t *sources,
                                       struct pci_sample_filter *sample_filter, pcol_error *err)
{
    PCI_TRY(require_source_set(file, sample_filter, err));
    for (uint64_t row = 0; row < sample_filter->source_count; row++)
        sample_filter->sources[row] &= sources[row];
    return PCOL_OK;
}

static pcol_status select_source_metas(const pcol_file *file, const pcol_selection *selection,
                                       struct pci_sample_filter *sample_filter, pcol_error *err)
{
    PCI_TRY(require_source_set(file, sample_filter, err));
    for (size_t i = 0; i < selection->source_meta_count; i++) {
        struct meta_test test;
        pcol_status status = meta_test_open(selection->source_metas[i], &test, err);
        PCI_THEN(status, apply_meta_test(file, &test, sample_filter, err));
        pcol_pattern_free(test.match);
        if (status != PCOL_OK)
            return status == PCOL_E_ARGUMENT ? pci_error_option(err, "source_metas", status)
                                             : status;
    }
    return PCOL_OK;
}

pcol_status pci_sample_filter_open(const pcol_file *file, const pcol_selection *selection,
                                   struct pci_sample_filter *sample_filter, pcol_error *err)
{
    *sample_filter = (struct pci_sample_filter){.source_count = pci_rows(file, "sources")};
    PCI_TRY(pci_check_row_count(file, "sources", err));
    if (!selection)
        return PCOL_OK;
    if (selection->has_time) {
        if (selection->time_to_ns < selection->time_from_ns)
            return pci_fail(err, PCOL_E_ARGUMENT, "the range of time ends before its start");
        sample_filter->has_time = 1;
        sample_filter->from = selection->time_from_ns;
        sample_filter->to = selection->time_to_ns;
        sample_filter->share = selection->time_share;
    }
    if (selection->flags & PCOL_SELECTION_HAS_ORDER) {
        if (selection->order_to < selection->order_from)
            return pci_fail(err, PCOL_E_ARGUMENT, "the range of order ends before its start");
        sample_filter->has_order = 1;
        sample_filter->first_row = selection->order_from ? selection->order_from - 1 : 0;
        sample_filter->end_row = selection->order_to ? selection->order_to - 1 : 0;
    }
    if (selection->source)
        PCI_TRY(select_source(file, selection->source, sample_filter, err));
    if (selection->source_meta_count)
        PCI_TRY(select_source_metas(file, selection, sample_filter, err));
    if (selection->label_count || selection->exact_label_count)
        PCI_TRY(pci_label_tests_open(file, selection, &sample_filter->labels,
                                     &sample_filter->label_count, err));
    if (selection->exact_thread.data)
        return select_thread(file, selection->exact_thread, &sample_filter->thread_count,
                             &sample_filter->threads, err);
    if (selection->thread)
        return select_rows(file, PCOL_BY_THREAD, selection->thread, &sample_filter->thread_count,
                           &sample_filter->threads, err);
    return PCOL_OK;
}

pcol_status pci_sample_filter_count(struct pci_sample_filter *sample_filter, const pcol_file *file,
                                    const struct pci_query_type *measure, pcol_error *err)
{
    const struct pci_sample_filter *f = sample_filter;
    int is_unit = pci_str_is(measure->unit, "count") || pci_str_is(measure->unit, "samples");
    uint64_t count;
    if (pci_str_is(measure->type, "samples") && pci_str_is(measure->unit, "count"))
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(sample_filter->counted, (size_t)f->source_count + 1, err));
    PCI_TRY(pci_types_counted_sources(file, f->counted, &count, err));
    for (uint64_t row = 0; !is_unit && row < f->source_count; row++)
        if (!f->counted[row] && (!f->sources || f->sources[row]))
            return pci_fail(err, PCOL_E_ARGUMENT, "values in '%.*s' do not count samples",
                            (int)(measure->unit.size < 60 ? measure->unit.size : 60),
                            measure->unit.data);
    return PCOL_OK;
}

void pci_sample_filter_close(struct pci_sample_filter *sample_filter)
{
    pci_free(sample_filter->sources);
    pci_free(sample_filter->threads);
    pci_free(sample_filter->counted);
    pci_label_tests_close(sample_filter->labels, sample_filter->label_count);
    *sample_filter = (struct pci_sample_filter){0};
}

int pci_sample_filter_any(const struct pci_sample_filter *sample_filter)
{
    return sample_filter->sources || sample_filter->threads || sample_filter->label_count ||
           sample_filter->has_time || sample_filter->has_order || sample_filter->counted;
}
