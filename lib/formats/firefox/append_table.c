/*
 * append_table.c - appends tables that belong to one thread or counter: markers, allocations,
 * samples of counters
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"

#define MAX_TIMES 2

struct append_state {
    const struct pci_ff_append *a;
    struct pci_ff_field fields[PCI_FF_MAX_FIELDS];
    struct pci_ff_times times[MAX_TIMES];
    uint32_t ns[MAX_TIMES], ulps[MAX_TIMES];
    size_t time_count;
};

static pcol_status open_times(struct pci_ff *ff, struct append_state *w, pcol_error *err)
{
    const struct pci_ff_append *a = w->a;
    for (size_t i = 0; i < a->time_count && w->time_count < MAX_TIMES; i++) {
        const struct pci_ff_time_spec *spec = &a->times[i];
        struct pci_ff_times *t = &w->times[w->time_count];
        int is_filled = 0;
        /* A pcol column is filled once; the list has the newest source name first. */
        for (size_t k = 0; k < i; k++)
            is_filled |= !strcmp(a->times[k].column, spec->column) &&
                         pci_ff_find_column(ff, a->table, a->times[k].name);
        if (is_filled)
            continue;
        PCI_TRY(pci_ff_times_open(ff, a->table, spec->name, spec->deltas, t, err));
        if (!t->column)
            continue;
        PCI_TRY(pci_builder_column(ff->b, a->builder_table, spec->column, PCOL_I64, 0,
                                   &w->ns[w->time_count], err));
        PCI_TRY(pci_builder_column(ff->b, a->builder_table,
                                   t->deltas ? PCI_FF_DELTA_ULP : spec->ulps, PCOL_I64, 0,
                                   &w->ulps[w->time_count], err));
        w->time_count++;
    }
    return PCOL_OK;
}

static pcol_status append_row(struct pci_ff *ff, struct append_state *w, uint64_t row,
                              pcol_error *err)
{
    const struct pci_ff_append *a = w->a;
    for (size_t i = 0; i < a->spec_count; i++) {
        struct pci_cell_value cell;
        PCI_TRY(pci_ff_field_get(ff, a->table, &w->fields[i], row, &cell, err));
        if (cell.valid)
            PCI_TRY(
                pci_builder_set_bits(ff->b, w->fields[i].number, a->base + row, cell.bits, err));
    }
    for (size_t i = 0; i < w->time_count; i++) {
        int valid;
        int64_t ns, ulps;
        PCI_TRY(pci_ff_times_get(ff, &w->times[i], row, &valid, &ns, &ulps, err));
        if (valid)
            PCI_TRY(pcol_builder_set_i64(ff->b, w->ns[i], a->base + row, ns, err));
        if (valid && ulps)
            PCI_TRY(pcol_builder_set_i64(ff->b, w->ulps[i], a->base + row, ulps, err));
    }
    return PCOL_OK;
}

static pcol_status append_rows(struct pci_ff *ff, struct append_state *w, pcol_error *err)
{
    const struct pci_ff_append *a = w->a;
    struct pci_ff_claim claims[PCI_FF_MAX_FIELDS + MAX_TIMES + 1];
    size_t count;
    PCI_TRY(pci_ff_fields_open(ff, a->scope, a->table, a->specs, a->spec_count, a->builder_table,
                               w->fields, err));
    PCI_TRY(open_times(ff, w, err));
    for (uint64_t row = 0; row < a->table->rows; row++)
        PCI_TRY(append_row(ff, w, row, err));
    count = pci_ff_claim_fields(w->fields, a->spec_count, claims);
    for (size_t i = 0; i < w->time_count; i++)
        claims[count++] = pci_ff_claim_times(&w->times[i]);
    if (a->further.column)
        claims[count++] = a->further;
    return pci_ff_preserve_table(ff, a->thread, a->table, a->name, claims, count, err);
}

pcol_status pci_ff_append_table(struct pci_ff *ff, const struct pci_ff_append *append,
                                pcol_error *err)
{
    struct append_state *w;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->a = append;
    pcol_status status = append_rows(ff, w, err);
    pci_ff_fields_close(w->fields, append->spec_count);
    for (size_t i = 0; i < MAX_TIMES; i++)
        pci_ff_times_close(&w->times[i]);
    pci_free(w);
    return status;
}
