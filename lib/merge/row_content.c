/*
 * row_content.c - the content of a row as cells of the builder, for deduplication
 *
 * Trees and byte strings are not compared: a row with one of these is distinct from all others.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

struct content_column {
    const struct pci_column *from;
    uint32_t to;
    uint8_t is_uncompared;     /* copied into a new row, not compared */
    uint8_t is_distinguishing; /* uncompared, and a row with a value is distinct */
    uint8_t is_moved;          /* an address of a mapping that is rebased */
    struct pci_cells cells;
};

static pcol_status add_column(struct pci_row_content *f, const struct pci_column *from,
                              pcol_error *err)
{
    struct content_column *c = &f->content_columns[f->content_column_count];
    const struct pci_table *to = from->references;
    c->from = from;
    PCI_TRY(pci_merge_column(f->merge, from, f->to, &c->to, err));
    c->is_distinguishing = from->desc->type == PCF_BYTES || (to && !strcmp(to->name, "nodes"));
    c->is_uncompared = c->is_distinguishing || !strcmp(from->name, "id");
    c->is_moved = (uint8_t)pci_merge_is_moved(f->merge, from);
    f->content_column_count++;
    return pci_cells_use(&c->cells, f->merge->file, from, err);
}

/* Creates columns in the file's order, labels included, so that a single file is reproduced. */
static pcol_status add_columns(struct pci_row_content *f, const char *const *others,
                               pcol_error *err)
{
    for (uint32_t i = 0; i < f->table->column_count; i++) {
        const struct pci_column *from = &f->table->columns[i];
        uint32_t unused;
        if (pci_merge_is_one_of(from->name, others) || !pci_merge_copies_column(f->merge, from))
            continue;
        if (!pci_merge_is_label(from->name))
            PCI_TRY(add_column(f, from, err));
        else
            PCI_TRY(pci_merge_column(f->merge, from, f->to, &unused, err));
    }
    return PCOL_OK;
}

pcol_status pci_row_content_open(struct pci_row_content *content, struct pci_merge *merge,
                                 const struct pci_table *table, uint32_t to,
                                 const char *const *excluded, pcol_error *err)
{
    struct pci_row_content *f = content;
    *f = (struct pci_row_content){.merge = merge, .table = table, .to = to};
    if (!table)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(f->content_columns, table->column_count, err));
    PCI_TRY(add_columns(f, excluded, err));
    if (merge->labels[table->number] == PCI_LABELS_NONE)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(f->labels, 1, err));
    return pci_label_rows_open(f->labels, merge, table, to, err);
}

void pci_row_content_close(struct pci_row_content *content)
{
    if (content->labels)
        pci_label_rows_close(content->labels);
    pci_free(content->labels);
    pci_free(content->content_columns);
    pci_free(content->columns);
    pci_free(content->cells);
    *content = (struct pci_row_content){0};
}

static pcol_status add_cell(struct pci_row_content *f, uint32_t column, int64_t bits,
                            pcol_error *err)
{
    PCI_TRY(PCI_GROW(f->columns, f->column_capacity, f->count + 1, err));
    PCI_TRY(PCI_GROW(f->cells, f->cell_capacity, f->count + 1, err));
    f->columns[f->count] = column;
    f->cells[f->count++] = (struct pci_cell_value){bits, 1};
    return PCOL_OK;
}

/* An uncompared column: reads only whether the cell has a value. */
static pcol_status check_distinct(struct pci_row_content *f, struct content_column *c, uint64_t row,
                                  pcol_error *err)
{
    int64_t bits;
    pcol_str text;
    int valid;
    if (!c->is_distinguishing)
        return PCOL_OK;
    if (c->from->desc->type == PCF_BYTES)
        PCI_TRY(pci_get_str(f->merge->file, c->from, row, &text, &valid, err));
    else
        PCI_TRY(pci_cells_get(&c->cells, row, &bits, &valid, err));
    f->is_distinct |= valid;
    return PCOL_OK;
}

pcol_status pci_row_content_read(struct pci_row_content *content, uint64_t row, pcol_error *err)
{
    struct pci_row_content *f = content;
    f->count = 0;
    f->is_distinct = 0;
    for (size_t i = 0; i < f->content_column_count; i++) {
        struct content_column *c = &f->content_columns[i];
        int64_t bits;
        int valid;
        if (c->is_uncompared) {
            PCI_TRY(check_distinct(f, c, row, err));
            continue;
        }
        PCI_TRY(pci_merge_bits(f->merge, &c->cells, row, &bits, &valid, err));
        if (valid)
            PCI_TRY(
                add_cell(f, c->to, c->is_moved ? pci_merge_move(f->merge, row, bits) : bits, err));
    }
    if (!f->labels)
        return PCOL_OK;
    PCI_TRY(pci_label_rows_get(f->labels, row, err));
    for (size_t i = 0; i < f->labels->count; i++)
        PCI_TRY(add_cell(f, f->labels->columns[i], f->labels->cells[i].bits, err));
    return PCOL_OK;
}

pcol_status pci_row_content_copy_uncompared(struct pci_row_content *content, uint64_t row,
                                            uint64_t to, pcol_error *err)
{
    for (size_t i = 0; i < content->content_column_count; i++) {
        struct content_column *c = &content->content_columns[i];
        if (c->is_uncompared)
            PCI_TRY(pci_merge_cell(content->merge, &c->cells, c->to, row, to, err));
    }
    return PCOL_OK;
}
