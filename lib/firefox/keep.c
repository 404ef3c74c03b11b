/*
 * keep.c - source_columns and source_cells: what the way back needs beyond our rows
 *
 * A row of source_columns says that the source's table had a column, and in which form. Where its
 * cells do not follow from our tables they stand in source_cells, in the order of source_columns:
 * `first_cell` and `cells` say which.
 */
#include "firefox/read.h"

#include "core/alloc.h"

static pcol_status keep_cell(struct pci_ff *ff, const uint32_t *columns, uint64_t row, int kind,
                             int64_t value, pcol_error *err)
{
    double number;
    PCI_TRY(pcol_builder_set_i64(ff->b, columns[0], row, kind, err));
    switch (kind) {
    case PCI_FF_INT:
        return pcol_builder_set_i64(ff->b, columns[1], row, value, err);
    case PCI_FF_DOUBLE:
        memcpy(&number, &value, sizeof number);
        return pcol_builder_set_f64(ff->b, columns[2], row, number, err);
    case PCI_FF_TEXT:
    case PCI_FF_JSON:
        return pci_builder_set_bits(ff->b, columns[3], row, value, err);
    default:
        return PCOL_OK;
    }
}

static pcol_status keep_cells(struct pci_ff *ff, uint64_t row, const struct pci_ff_cells *cells,
                              pcol_error *err)
{
    uint32_t table, own, columns[4], first, count;
    PCI_TRY(pcol_builder_table(ff->b, "source_columns", &own, err));
    PCI_TRY(pcol_builder_table(ff->b, "source_cells", &table, err));
    PCI_TRY(pcol_builder_column(ff->b, table, "kind", PCOL_U32, 0, &columns[0], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "integer", PCOL_I64, 0, &columns[1], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "number", PCOL_F64, 0, &columns[2], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "text", PCOL_STRING, 0, &columns[3], err));
    PCI_TRY(pcol_builder_column(ff->b, own, "first_cell", PCOL_U64, table + 1, &first, err));
    PCI_TRY(pcol_builder_column(ff->b, own, "cells", PCOL_U64, 0, &count, err));
    uint64_t at = pci_builder_rows(ff->b, table);
    PCI_TRY(pcol_builder_set_i64(ff->b, count, row, (int64_t)cells->count, err));
    if (!cells->count)
        return PCOL_OK;
    PCI_TRY(pcol_builder_set_i64(ff->b, first, row, (int64_t)at, err));
    struct pci_ff_cursor *cursor = pci_malloc(1, sizeof *cursor);
    pcol_status status = cursor ? PCOL_OK : pci_fail_memory(err);
    if (!cursor)
        return status;
    pci_ff_cursor_init(cursor, cells);
    for (uint64_t i = 0; status == PCOL_OK && i < cells->count; i++) {
        int kind;
        int64_t value;
        status = pci_ff_cell(cursor, i, &kind, &value, err);
        if (status == PCOL_OK)
            status = keep_cell(ff, columns, at + i, kind, value, err);
    }
    pci_free(cursor);
    return status;
}

pcol_status pci_ff_keep(struct pci_ff *ff, uint32_t thread, const char *table, uint32_t column,
                        const char *form, const struct pci_ff_cells *cells, pcol_error *err)
{
    uint32_t name, text = PCOL_NONE, own;
    PCI_TRY(pcol_builder_string(ff->b, table, strlen(table), &name, err));
    if (form)
        PCI_TRY(pcol_builder_string(ff->b, form, strlen(form), &text, err));
    PCI_TRY(pci_builder_source_column(ff->b, ff->import->source, thread, name, column, text, err));
    if (!cells)
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(ff->b, "source_columns", &own, err));
    return keep_cells(ff, pci_builder_rows(ff->b, own) - 1, cells, err);
}

pcol_status pci_ff_keep_table(struct pci_ff *ff, uint32_t thread, const struct pci_ff_table *table,
                              const char *name, const struct pci_ff_claim *claims, size_t count,
                              pcol_error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pci_ff_column *c = &table->columns[i];
        const struct pci_ff_claim *claim = NULL;
        for (size_t k = 0; k < count; k++)
            if (claims[k].column == c && claims[k].exact)
                claim = &claims[k];
        if (claim)
            PCI_TRY(pci_ff_keep(ff, thread, name, c->name, claim->form, NULL, err));
        else
            PCI_TRY(pci_ff_keep(ff, thread, name, c->name, c->scalar ? PCI_FF_FORM_VALUE : NULL,
                                &c->cells, err));
    }
    return PCOL_OK;
}

size_t pci_ff_claim_fields(const struct pci_ff_field *fields, size_t count,
                           struct pci_ff_claim *claims)
{
    for (size_t i = 0; i < count; i++)
        claims[i] = (struct pci_ff_claim){fields[i].column, NULL, fields[i].exact};
    return count;
}
