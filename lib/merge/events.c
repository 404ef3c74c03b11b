/*
 * events.c - selects markers, allocations and counters
 *
 * Events have a time and a thread, but no stack to focus on and no sample labels; a selection by
 * sources, threads and time applies to them as to samples. An event with a duration is selected if
 * it overlaps the range, and is copied unchanged. A counter belongs to a process and refers to its
 * main thread by a number of the source: it is copied only if no threads are selected.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

static const struct {
    const char *table, *start, *end; /* columns of time, ns */
} events[] = {{"markers", "start", "end"}, {"allocations", "time", NULL}};

static int is_in_range(const struct pci_merge_selection *selection, int has_start, int64_t start,
                       int has_end, int64_t end)
{
    if (!selection->has_range)
        return 1;
    if (!has_start && !has_end)
        return 0;
    if (!has_start)
        start = end;
    if (!has_end || end < start)
        end = start;
    return start < selection->range.to &&
           (end > selection->range.from || start >= selection->range.from);
}

/* cells: source, thread, start, end */
static pcol_status select_row(const struct pci_merge *m, struct pci_cells cells[4], uint64_t row,
                              uint8_t *selected, pcol_error *err)
{
    const struct pci_merge_selection *selection = m->selection;
    int64_t value[4];
    int valid[4];
    for (int i = 0; i < 4; i++)
        PCI_TRY(pci_cells_get(&cells[i], row, &value[i], &valid[i], err));
    *selected = valid[0] && pci_merge_copies_source(m, (uint64_t)value[0]) &&
                (!selection->threads || (valid[1] && (uint64_t)value[1] < selection->thread_count &&
                                         selection->threads[value[1]])) &&
                is_in_range(selection, valid[2], value[2], valid[3], value[3]);
    return PCOL_OK;
}

static pcol_status open_set(struct pci_merge *m, const char *name, const struct pci_table **table,
                            uint8_t **set, pcol_error *err)
{
    uint64_t rows;
    *set = NULL;
    *table = pci_table_find(m->file, name);
    PCI_TRY(pci_merge_rows(m->file, name, &rows, err));
    if (!*table || !rows || m->actions[(*table)->number] != PCI_MERGE_APPEND ||
        !pci_merge_copies_table(m, *table))
        return PCOL_OK;
    if (!m->used[(*table)->number])
        m->used[(*table)->number] = pci_calloc((size_t)rows + 1, 1);
    *set = m->used[(*table)->number];
    return *set ? PCOL_OK : pci_fail_memory(err);
}

/* A table without selected rows is omitted as a whole, and reported. */
static void drop_empty(struct pci_merge *m, const struct pci_table *table)
{
    uint8_t **set = &m->used[table->number];
    if (!memchr(*set, 1, (size_t)table->rows)) {
        pci_free(*set);
        *set = NULL;
    }
}

static pcol_status select_events(struct pci_merge *m, struct pci_cells cells[4], size_t kind,
                                 pcol_error *err)
{
    const char *const columns[] = {"source", "thread", events[kind].start, events[kind].end};
    const struct pci_table *table;
    uint8_t *set;
    PCI_TRY(open_set(m, events[kind].table, &table, &set, err));
    if (!set)
        return PCOL_OK;
    for (int i = 0; i < 4; i++)
        PCI_TRY(pci_cells_open(&cells[i], m->file, table->name, columns[i] ? columns[i] : "",
                               PCI_IS_INT, err));
    for (uint64_t row = 0; row < table->rows; row++)
        PCI_TRY(select_row(m, cells, row, &set[row], err));
    drop_empty(m, table);
    return PCOL_OK;
}

/* Selects counters, their samples in the range, and all threads of their sources. */
static pcol_status select_counters(struct pci_merge *m, struct pci_cells cells[4], pcol_error *err)
{
    static const char *const of_source[] = {"counters", "threads"};
    const struct pci_table *tables[2], *samples;
    uint8_t *sets[2] = {NULL, NULL}, *set;
    if (m->selection->threads || !pci_rows(m->file, "counters"))
        return PCOL_OK;
    for (int t = 0; t < 2; t++) {
        PCI_TRY(open_set(m, of_source[t], &tables[t], &sets[t], err));
        if (!sets[t])
            continue;
        PCI_TRY(pci_cells_open(&cells[0], m->file, tables[t]->name, "source", PCI_IS_INT, err));
        for (uint64_t row = 0; row < tables[t]->rows; row++) {
            int64_t source;
            int valid;
            PCI_TRY(pci_cells_get(&cells[0], row, &source, &valid, err));
            sets[t][row] = valid && pci_merge_copies_source(m, (uint64_t)source);
        }
    }
    PCI_TRY(open_set(m, "counter_samples", &samples, &set, err));
    if (!sets[0] || !set)
        return PCOL_OK;
    PCI_TRY(pci_cells_open(&cells[0], m->file, samples->name, "counter", PCI_IS_INT, err));
    PCI_TRY(pci_cells_open(&cells[1], m->file, samples->name, "time", PCI_IS_INT, err));
    for (uint64_t row = 0; row < samples->rows; row++) {
        int64_t counter, time;
        int valid, has_time;
        PCI_TRY(pci_cells_get(&cells[0], row, &counter, &valid, err));
        PCI_TRY(pci_cells_get(&cells[1], row, &time, &has_time, err));
        set[row] = valid && (uint64_t)counter < tables[0]->rows && sets[0][counter] &&
                   is_in_range(m->selection, has_time, time, 0, 0);
    }
    drop_empty(m, samples);
    drop_empty(m, tables[0]);
    return PCOL_OK;
}

pcol_status pci_merge_events(struct pci_merge *merge, pcol_error *err)
{
    if (!merge->selection || !merge->selection->events)
        return PCOL_OK;
    struct pci_cells *cells = pci_malloc(4, sizeof *cells);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    for (size_t i = 0; i < sizeof events / sizeof *events && status == PCOL_OK; i++)
        status = select_events(merge, cells, i, err);
    PCI_THEN(status, select_counters(merge, cells, err));
    pci_free(cells);
    return status;
}
