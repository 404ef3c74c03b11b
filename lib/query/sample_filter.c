/*
 * sample_filter.c - which samples a selection takes: sources, threads and labels become sets
 *
 * Names are looked at here, once each; the samples are then held against a byte per source and
 * thread.
 */
#include "query/query.h"

#include "util/alloc.h"

#include <string.h>

/* "12": the id of a source. */
static int parse_id(const char *text, uint64_t *id)
{
    *id = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || *id > UINT64_MAX / 10 - 1)
            return 0;
        *id = *id * 10 + (uint64_t)(*at - '0');
    }
    return *text != '\0';
}

/* The rows of a table whose text in `column` matches; a null matches as "". */
static pcol_status match_rows(const pcol_file *file, const char *table, const char *column,
                              pcol_pattern *match, uint8_t *set, uint64_t count, int *any,
                              pcol_error *err)
{
    const struct pci_column *cells;
    PCI_TRY(pci_want(file, table, column, PCI_TYPES_TEXT, &cells, err));
    *any = 0;
    for (uint64_t row = 0; row < count; row++) {
        pcol_str text = {"", 0};
        int valid, yes;
        if (cells)
            PCI_TRY(pci_get_str(file, cells, row, &text, &valid, err));
        PCI_TRY(pcol_pattern_test(match, text, &yes, err));
        set[row] |= (uint8_t)yes;
        *any |= yes;
    }
    return PCOL_OK;
}

static pcol_status new_set(const pcol_file *file, const char *table, uint64_t *count, uint8_t **set,
                           pcol_error *err)
{
    *count = pci_rows(file, table);
    PCI_TRY(pci_plausible(file, table, err));
    *set = pci_calloc((size_t)*count + 1, 1);
    return *set ? PCOL_OK : pci_fail_memory(err);
}

/* A set of the rows of `table` that a pattern leaves. */
static pcol_status pick(const pcol_file *file, const char *table, const char *column,
                        const char *pattern, const char *what, uint64_t *count, uint8_t **set,
                        pcol_error *err)
{
    pcol_pattern *match;
    pcol_status status;
    int any = 0;
    PCI_TRY(new_set(file, table, count, set, err));
    PCI_TRY(pcol_pattern_new(pattern, strlen(pattern), what, 0, &match, err));
    status = match_rows(file, table, column, match, *set, *count, &any, err);
    pcol_pattern_free(match);
    if (status == PCOL_OK && !any)
        status = pci_fail(err, PCOL_E_ARGUMENT, "%s: nothing matches '%.100s'", what, pattern);
    return status;
}

static pcol_status pick_source(const pcol_file *file, const char *text,
                               struct pci_sample_filter *picks, pcol_error *err)
{
    uint64_t id;
    if (!parse_id(text, &id))
        return pick(file, "sources", "uri", text, "--source", &picks->source_count, &picks->sources,
                    err);
    PCI_TRY(new_set(file, "sources", &picks->source_count, &picks->sources, err));
    if (id == 0 || id > picks->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "--source: there is no source %llu, only 1 to %llu",
                        (unsigned long long)id, (unsigned long long)picks->source_count);
    picks->sources[id - 1] = 1;
    return PCOL_OK;
}

pcol_status pci_sample_filter_open(const pcol_file *file, const pcol_selection *selection,
                                   struct pci_sample_filter *picks, pcol_error *err)
{
    *picks = (struct pci_sample_filter){.source_count = pci_rows(file, "sources")};
    PCI_TRY(pci_plausible(file, "sources", err));
    if (!selection)
        return PCOL_OK;
    if (selection->has_time) {
        if (selection->time_to_ns < selection->time_from_ns)
            return pci_fail(err, PCOL_E_ARGUMENT, "the range of time ends before it begins");
        if ((unsigned)selection->time_share > PCOL_SHARE_EXACT)
            return pci_fail(err, PCOL_E_ARGUMENT, "there is no such share of time");
        picks->has_time = 1;
        picks->from = selection->time_from_ns;
        picks->to = selection->time_to_ns;
        picks->share = selection->time_share;
    }
    if (selection->source)
        PCI_TRY(pick_source(file, selection->source, picks, err));
    if (selection->label_count)
        PCI_TRY(pci_label_tests_open(file, selection->labels, selection->label_count,
                                     &picks->labels, &picks->label_count, err));
    if (selection->thread)
        PCI_TRY(pick(file, "threads", "name", selection->thread, "--thread", &picks->thread_count,
                     &picks->threads, err));
    return PCOL_OK;
}

void pci_sample_filter_close(struct pci_sample_filter *picks)
{
    pci_free(picks->sources);
    pci_free(picks->threads);
    pci_label_tests_close(picks->labels, picks->label_count);
    *picks = (struct pci_sample_filter){0};
}

int pci_sample_filter_any(const struct pci_sample_filter *picks)
{
    return picks->sources || picks->threads || picks->label_count || picks->has_time;
}
