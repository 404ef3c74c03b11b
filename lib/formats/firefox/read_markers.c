/*
 * read_markers.c - imports markers, allocations and the samples of counters
 *
 * The data of a marker is an object with arbitrary keys. It is converted to labels of its row while
 * it is read, so that it is never buffered. Row numbers are final: markers are appended in the
 * order of threads, and their other columns follow when the thread is complete.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"

#include <stdio.h>

/* ---- data */

struct label_list {
    struct pci_label *list;
    size_t count, capacity;
    uint64_t extra;
};

static pcol_status read_data_object(struct pci_ff *ff, struct label_list *l, uint32_t table,
                                    uint64_t row, pcol_error *err)
{
    int more;
    uint32_t key;
    l->count = 0;
    l->extra = PCI_NO_NODE;
    for (;;) {
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            break;
        PCI_TRY(pci_ff_intern_key(ff, &key, err));
        PCI_TRY(pci_ff_next(&ff->in, err));
        PCI_TRY(pci_ff_read_label(ff, key, &l->list, &l->count, &l->capacity, &l->extra, err));
    }
    PCI_TRY(pci_builder_labels(ff->b, table, row, l->list, l->count, &l->extra, err));
    return l->extra == PCI_NO_NODE ? PCOL_OK : pci_builder_extra(ff->b, table, row, l->extra, err);
}

pcol_status pci_ff_read_marker_data(struct pci_ff *ff, struct pci_ff_column *column,
                                    pcol_error *err)
{
    struct label_list l = {0};
    uint32_t table;
    int more;
    if (ff->in.type != PCI_JSON_ARRAY)
        return pci_ff_fail(&ff->in, err, "the data of markers must be an array of objects");
    pcol_status status = pcol_builder_table(ff->b, "markers", &table, err);
    while (status == PCOL_OK) {
        status = pci_ff_element(&ff->in, &more, err);
        if (status != PCOL_OK || !more)
            break;
        uint64_t row = ff->marker_base + ff->marker_rows + column->cells.count;
        int object = ff->in.type == PCI_JSON_OBJECT;
        if (!object && ff->in.type != PCI_JSON_NULL)
            status = pci_ff_fail(&ff->in, err, "%s: the data of a marker must be an object or null",
                                 ff->in.path);
        else if (object)
            status = read_data_object(ff, &l, table, row, err);
        PCI_THEN(status,
                 pci_ff_cells_add(&column->cells, object ? PCI_FF_TRUE : PCI_FF_NULL, 0, err));
    }
    pci_free(l.list);
    return status;
}

/* ---- tables */

/* Set a reference column of all rows from `base` on to one value. */
static pcol_status set_reference(struct pci_ff *ff, uint32_t table, const char *name,
                                 uint32_t target, uint64_t base, uint64_t count, int64_t value,
                                 pcol_error *err)
{
    uint32_t column;
    PCI_TRY(pci_builder_column(ff->b, table, name, PCOL_U32, target + 1, &column, err));
    for (uint64_t i = 0; i < count; i++)
        PCI_TRY(pcol_builder_set_i64(ff->b, column, base + i, value, err));
    return PCOL_OK;
}

pcol_status pci_ff_append_markers(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t base,
                                  pcol_error *err)
{
    static const struct pci_ff_time_spec times[] = {{"startTime", NULL, "start", "start_ulp"},
                                                    {"time", NULL, "start", "start_ulp"},
                                                    {"endTime", NULL, "end", "end_ulp"}};
    struct pci_ff_table *t = &scope->tables[PCI_FF_MARKERS];
    struct pci_ff_append a = {.table = t,
                              .scope = scope,
                              .thread = scope->thread,
                              .name = pci_ff_source_tables[PCI_FF_MARKERS],
                              .base = base,
                              .specs = pci_ff_schema[PCI_FF_MARKERS].specs,
                              .spec_count = pci_ff_schema[PCI_FF_MARKERS].count,
                              .times = times,
                              .time_count = 3};
    PCI_TRY(pcol_builder_table(ff->b, "markers", &a.builder_table, err));
    PCI_TRY(set_reference(ff, a.builder_table, "source", PCI_T_SOURCES, base, t->rows,
                          ff->import->source, err));
    PCI_TRY(set_reference(ff, a.builder_table, "thread", PCI_T_THREADS, base, t->rows,
                          scope->thread, err));
    a.further.column = pci_ff_find_column(ff, t, "data");
    a.further.exact = a.further.column && a.further.column->cells.count == t->rows;
    return pci_ff_append_table(ff, &a, err);
}

pcol_status pci_ff_append_allocations(struct pci_ff *ff, struct pci_ff_scope *scope, int id,
                                      pcol_error *err)
{
    static const struct pci_ff_time_spec times[] = {{"time", "timeDeltas", "time", "time_ulp"}};
    struct pci_ff_table *t = &scope->tables[id];
    struct pci_ff_append a = {.table = t,
                              .scope = scope,
                              .thread = scope->thread,
                              .name = pci_ff_source_tables[id],
                              .specs = pci_ff_schema[id].specs,
                              .spec_count = pci_ff_schema[id].count,
                              .times = times,
                              .time_count = 1};
    const char *kind = id == PCI_FF_JS_ALLOCATIONS ? "js" : "native";
    uint32_t column;
    PCI_TRY(pcol_builder_table(ff->b, "allocations", &a.builder_table, err));
    a.base = pci_builder_rows(ff->b, a.builder_table);
    PCI_TRY(set_reference(ff, a.builder_table, "source", PCI_T_SOURCES, a.base, t->rows,
                          ff->import->source, err));
    PCI_TRY(set_reference(ff, a.builder_table, "thread", PCI_T_THREADS, a.base, t->rows,
                          scope->thread, err));
    PCI_TRY(pci_builder_column(ff->b, a.builder_table, "kind", PCOL_STRING, 0, &column, err));
    for (uint64_t i = 0; i < t->rows; i++)
        PCI_TRY(pcol_builder_set_str(ff->b, column, a.base + i, kind, strlen(kind), err));
    return pci_ff_append_table(ff, &a, err);
}

pcol_status pci_ff_append_counter_samples(struct pci_ff *ff, struct pci_ff_counter *counter,
                                          size_t number, pcol_error *err)
{
    static const struct pci_ff_time_spec times[] = {{"time", "timeDeltas", "time", "time_ulp"}};
    char name[48];
    uint32_t counters;
    struct pci_ff_append a = {.table = &counter->samples,
                              .scope = &ff->shared,
                              .thread = PCOL_NONE,
                              .name = name,
                              .specs = pci_ff_counter_specs,
                              .spec_count = 2,
                              .times = times,
                              .time_count = 1};
    snprintf(name, sizeof name, "counters[%zu].samples", number);
    PCI_TRY(pcol_builder_table(ff->b, "counters", &counters, err));
    PCI_TRY(pcol_builder_table(ff->b, "counter_samples", &a.builder_table, err));
    a.base = pci_builder_rows(ff->b, a.builder_table);
    PCI_TRY(set_reference(ff, a.builder_table, "counter", counters, a.base, counter->samples.rows,
                          counter->row, err));
    return pci_ff_append_table(ff, &a, err);
}
