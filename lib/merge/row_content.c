/*
 * row_content.c - what the columns of a table say of a row, in the builder's terms
 *
 * For rows that become one with an equal row of another file. Trees and byte strings are not
 * compared: a row that has one is equal to no other.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

struct further_column {
    const struct pci_column *from;
    uint32_t to;
    uint8_t beside;  /* set in a new row, and no part of what a row is */
    uint8_t special; /* ... and a row with a value of it stays apart */
    struct pci_cells cells;
};

static int is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return 1;
    return 0;
}

static pcol_status add_column(struct pci_row_content *f, const struct pci_column *from,
                              pcol_error *err)
{
    struct further_column *c = &f->list[f->list_count];
    const struct pci_table *to = from->references;
    c->from = from;
    PCI_TRY(pci_merge_column(f->merge, from, f->to, &c->to, err));
    c->special = from->desc->type == PCF_BYTES || (to && !strcmp(to->name, "nodes"));
    c->beside = c->special || !strcmp(from->name, "id");
    f->list_count++;
    return pci_cells_use(&c->cells, f->merge->file, from, err);
}

/* Columns are made in the file's order, those of labels too, so that a file alone stays as it
 * is. */
static pcol_status add_columns(struct pci_row_content *f, const char *const *others,
                               pcol_error *err)
{
    for (uint32_t i = 0; i < f->table->column_count; i++) {
        const struct pci_column *from = &f->table->columns[i];
        uint32_t unused;
        if (is_one_of(from->name, others) || !pci_merge_keeps_column(f->merge, from))
            continue;
        if (!pci_merge_is_label(from->name))
            PCI_TRY(add_column(f, from, err));
        else
            PCI_TRY(pci_merge_column(f->merge, from, f->to, &unused, err));
    }
    return PCOL_OK;
}

pcol_status pci_row_content_open(struct pci_row_content *further, struct pci_merge *merge,
                                 const struct pci_table *table, uint32_t to,
                                 const char *const *others, pcol_error *err)
{
    struct pci_row_content *f = further;
    *f = (struct pci_row_content){.merge = merge, .table = table, .to = to};
    if (!table)
        return PCOL_OK;
    f->list = pci_malloc(table->column_count, sizeof *f->list);
    if (!f->list)
        return pci_fail_memory(err);
    PCI_TRY(add_columns(f, others, err));
    if (merge->labels[table->number] == PCI_LABELS_NONE)
        return PCOL_OK;
    f->labels = pci_calloc(1, sizeof *f->labels);
    if (!f->labels)
        return pci_fail_memory(err);
    return pci_label_rows_open(f->labels, merge, table, to, err);
}

void pci_row_content_close(struct pci_row_content *further)
{
    if (further->labels)
        pci_label_rows_close(further->labels);
    pci_free(further->labels);
    pci_free(further->list);
    pci_free(further->columns);
    pci_free(further->cells);
    *further = (struct pci_row_content){0};
}

static pcol_status add_cell(struct pci_row_content *f, uint32_t column, int64_t bits,
                            pcol_error *err)
{
    if (pci_grow((void **)&f->columns, &f->column_capacity, f->count + 1, sizeof *f->columns) ||
        pci_grow((void **)&f->cells, &f->cell_capacity, f->count + 1, sizeof *f->cells))
        return pci_fail_memory(err);
    f->columns[f->count] = column;
    f->cells[f->count++] = (struct pci_cell_value){bits, 1};
    return PCOL_OK;
}

/* A column that is not compared: only whether it says anything. */
static pcol_status look_at(struct pci_row_content *f, struct further_column *c, uint64_t row,
                           pcol_error *err)
{
    int64_t bits;
    pcol_str text;
    int valid;
    if (!c->special)
        return PCOL_OK;
    if (c->from->desc->type == PCF_BYTES)
        PCI_TRY(pci_get_str(f->merge->file, c->from, row, &text, &valid, err));
    else
        PCI_TRY(pci_cells_get(&c->cells, row, &bits, &valid, err));
    f->apart |= valid;
    return PCOL_OK;
}

pcol_status pci_row_content_row(struct pci_row_content *further, uint64_t row, pcol_error *err)
{
    struct pci_row_content *f = further;
    f->count = 0;
    f->apart = 0;
    for (size_t i = 0; i < f->list_count; i++) {
        struct further_column *c = &f->list[i];
        int64_t bits;
        int valid;
        if (c->beside) {
            PCI_TRY(look_at(f, c, row, err));
            continue;
        }
        PCI_TRY(pci_merge_bits(f->merge, &c->cells, row, &bits, &valid, err));
        if (valid)
            PCI_TRY(add_cell(f, c->to, bits, err));
    }
    if (!f->labels)
        return PCOL_OK;
    PCI_TRY(pci_label_rows_get(f->labels, row, err));
    for (size_t i = 0; i < f->labels->count; i++)
        PCI_TRY(add_cell(f, f->labels->columns[i], f->labels->cells[i].bits, err));
    return PCOL_OK;
}

pcol_status pci_row_content_rest(struct pci_row_content *further, uint64_t row, uint64_t to,
                                 pcol_error *err)
{
    for (size_t i = 0; i < further->list_count; i++) {
        struct further_column *c = &further->list[i];
        if (c->beside)
            PCI_TRY(pci_merge_cell(further->merge, &c->cells, c->to, row, to, err));
    }
    return PCOL_OK;
}
