/*
 * sample_filter.c - filter of samples: sources, threads, labels, time and order
 *
 * Names are matched once per source and thread; samples are then filtered by one byte per source
 * and thread.
 */
#include "query/query.h"

#include "util/alloc.h"

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

/* Sets set[row] for the rows whose text in `column` matches; null matches as "". */
static pcol_status match_rows(const pcol_file *file, const char *table, const char *column,
                              pcol_pattern *match, uint8_t *set, uint64_t count, int *has_match,
                              pcol_error *err)
{
    const struct pci_column *cells;
    PCI_TRY(pci_find_column(file, table, column, PCI_TYPES_TEXT, &cells, err));
    *has_match = 0;
    for (uint64_t row = 0; row < count; row++) {
        pcol_str text = {"", 0};
        int valid, matches;
        if (cells)
            PCI_TRY(pci_get_str(file, cells, row, &text, &valid, err));
        PCI_TRY(pcol_pattern_test(match, text, &matches, err));
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

/* Builds the set of the rows of `table` that match a pattern. */
static pcol_status select_rows(const pcol_file *file, const char *table, const char *column,
                               const char *pattern, const char *option, uint64_t *count,
                               uint8_t **set, pcol_error *err)
{
    pcol_pattern *match;
    pcol_status status;
    int has_match = 0;
    PCI_TRY(new_set(file, table, count, set, err));
    PCI_TRY(pcol_pattern_new(pattern, strlen(pattern), option, 0, &match, err));
    status = match_rows(file, table, column, match, *set, *count, &has_match, err);
    pcol_pattern_free(match);
    if (status == PCOL_OK && !has_match)
        status = pci_fail(err, PCOL_E_ARGUMENT, "%s: nothing matches '%.100s'", option, pattern);
    return status;
}

static pcol_status select_source(const pcol_file *file, const char *text,
                                 struct pci_sample_filter *sample_filter, pcol_error *err)
{
    uint64_t id;
    if (!parse_id(text, &id))
        return select_rows(file, "sources", "uri", text, "--source", &sample_filter->source_count,
                           &sample_filter->sources, err);
    PCI_TRY(new_set(file, "sources", &sample_filter->source_count, &sample_filter->sources, err));
    if (id == 0 || id > sample_filter->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "--source: there is no source %llu, only 1 to %llu",
                        (unsigned long long)id, (unsigned long long)sample_filter->source_count);
    sample_filter->sources[id - 1] = 1;
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
        if ((unsigned)selection->time_share > PCOL_SHARE_EXACT)
            return pci_fail(err, PCOL_E_ARGUMENT, "unknown share of time");
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
    if (selection->label_count)
        PCI_TRY(pci_label_tests_open(file, selection->labels, selection->label_count,
                                     &sample_filter->labels, &sample_filter->label_count, err));
    if (selection->thread)
        PCI_TRY(select_rows(file, "threads", "name", selection->thread, "--thread",
                            &sample_filter->thread_count, &sample_filter->threads, err));
    return PCOL_OK;
}

void pci_sample_filter_close(struct pci_sample_filter *sample_filter)
{
    pci_free(sample_filter->sources);
    pci_free(sample_filter->threads);
    pci_label_tests_close(sample_filter->labels, sample_filter->label_count);
    *sample_filter = (struct pci_sample_filter){0};
}

int pci_sample_filter_any(const struct pci_sample_filter *sample_filter)
{
    return sample_filter->sources || sample_filter->threads || sample_filter->label_count ||
           sample_filter->has_time || sample_filter->has_order;
}
