/*
 * labels.c - writes the cells of a record as labels of a row
 */
#include "formats/perun/perun.h"

#include "model/json_tree.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#define MAX_COLUMNS 512u /* greatest number of label columns of a table */

static pcol_status open_extra(struct pci_perun *p, uint64_t *extra, pcol_error *err)
{
    struct pci_new_node root = {.parent = PCI_NO_NODE, .key = PCOL_NONE, .tag = PCI_NODE_OBJECT};
    return *extra == PCI_NO_NODE ? pci_builder_node(p->builder, &root, extra, err) : PCOL_OK;
}

pcol_status pci_perun_add_nodes(struct pci_perun *p, int64_t offset, uint64_t parent, uint32_t key,
                                uint64_t *node, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_NONFINITE, 0};
    struct pci_input input;
    struct pci_json json;
    pcol_str text;
    PCI_TRY(pci_perun_text_get(p, offset, &text, err));
    PCI_TRY(pci_input_open_memory(&input, text.data, text.size, NULL, NULL, err));
    pcol_status status = pci_json_open(&json, &input, &options, err);
    PCI_THEN(status, pci_json_next(&json, err));
    PCI_THEN(status, pci_json_to_nodes(&json, p->builder, parent, key, node, err));
    pci_json_close(&json);
    pci_input_close(&input);
    return status;
}

static pcol_status add_extra(struct pci_perun *p, const struct pci_perun_cell *cell,
                             uint64_t *extra, pcol_error *err)
{
    uint64_t node;
    PCI_TRY(open_extra(p, extra, err));
    if (cell->kind == PCI_PERUN_TEXT)
        return pci_perun_add_nodes(p, cell->value, *extra, cell->key, &node, err);
    struct pci_new_node table_node = {
        .parent = *extra, .key = cell->key, .tag = PCI_NODE_TABLE, .text = (uint32_t)cell->value};
    return pci_builder_node(p->builder, &table_node, &node, err);
}

static pcol_status make_label(struct pci_perun *p, const struct pci_perun_cell *cell,
                              struct pci_label *label, pcol_error *err)
{
    uint32_t stack;
    memset(label, 0, sizeof *label);
    label->key = cell->key;
    label->unit = PCOL_NONE;
    label->as.i64 = cell->value;
    switch ((enum pci_perun_kind)cell->kind) {
    case PCI_PERUN_STRING:
    case PCI_PERUN_BIG:
        label->kind = cell->kind == PCI_PERUN_BIG ? PCI_LABEL_BIGINT : PCI_LABEL_STRING;
        label->text = (uint32_t)cell->value;
        break;
    case PCI_PERUN_INTEGER:
        label->kind = PCI_LABEL_INTEGER;
        break;
    case PCI_PERUN_DOUBLE:
        label->kind = PCI_LABEL_DOUBLE;
        memcpy(&label->as.f64, &cell->value, sizeof label->as.f64);
        break;
    case PCI_PERUN_BOOL:
        label->kind = PCI_LABEL_BOOL;
        break;
    case PCI_PERUN_NULL:
        label->kind = PCI_LABEL_NULL;
        label->as.i64 = 1;
        break;
    case PCI_PERUN_FRAME:
        label->kind = PCI_LABEL_FRAME;
        label->as.i64 = p->frames.frames[cell->value].group;
        break;
    case PCI_PERUN_TRACE:
        label->kind = p->outer_first ? PCI_LABEL_RSTACK : PCI_LABEL_STACK;
        PCI_TRY(pci_perun_find_stack(p, (uint32_t)cell->value, p->outer_first, &stack, err));
        label->as.i64 = stack;
        break;
    case PCI_PERUN_VALUE:
        label->kind = cell->value ? PCI_LABEL_WHOLE : PCI_LABEL_VALUE;
        break;
    case PCI_PERUN_SAMPLE_STACK:
        label->kind = p->outer_first ? PCI_LABEL_OWNRSTACK : PCI_LABEL_OWNSTACK;
        break;
    case PCI_PERUN_SAMPLE_FRAME:
        label->kind = PCI_LABEL_OWNFRAME;
        break;
    case PCI_PERUN_SAMPLE_NAME:
        label->kind = PCI_LABEL_OWNNAME;
        break;
    case PCI_PERUN_TEXT:
    case PCI_PERUN_TABLE:
        label->kind = PCI_LABEL_EXTRA;
        break;
    }
    return PCOL_OK;
}

/* Whether the table might run out of columns for the row's labels. */
static int is_nearly_full(const struct pci_perun *p, uint32_t table, size_t count)
{
    const struct pci_label_store *labels = &p->builder->labels;
    for (size_t i = 0; i < labels->table_count; i++)
        if (labels->tables[i].table == table)
            return labels->tables[i].column_count + count > MAX_COLUMNS;
    return count > MAX_COLUMNS;
}

/* Convert a cell to text, which becomes a member of `extra`. `extra` follows the labels, so a
 * row that has some members there gets all of them there if columns might run out: their order
 * is kept. */
static pcol_status move_to_text(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err)
{
    if (cell->kind == PCI_PERUN_VALUE || cell->kind == PCI_PERUN_SAMPLE_STACK ||
        cell->kind == PCI_PERUN_SAMPLE_FRAME || cell->kind == PCI_PERUN_SAMPLE_NAME ||
        cell->kind == PCI_PERUN_TEXT || cell->kind == PCI_PERUN_TABLE)
        return PCOL_OK;
    PCI_TRY(pci_perun_text_begin(p, err));
    PCI_TRY(pci_perun_text_any_cell(p, cell, err));
    return pci_perun_text_store(p, cell, err);
}

pcol_status pci_perun_add_labels(struct pci_perun *p, uint32_t table, uint64_t row,
                                 struct pci_perun_cell *cells, size_t count, pcol_error *err)
{
    uint64_t extra = PCI_NO_NODE;
    int has_extra = 0;
    for (size_t i = 0; i < count; i++)
        has_extra |= cells[i].kind == PCI_PERUN_TEXT || cells[i].kind == PCI_PERUN_TABLE;
    for (size_t i = 0; has_extra && is_nearly_full(p, table, count) && i < count; i++)
        PCI_TRY(move_to_text(p, &cells[i], err));
    PCI_TRY(PCI_GROW(p->labels, p->label_capacity, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        PCI_TRY(make_label(p, &cells[i], &p->labels[i], err));
        if (p->labels[i].kind == PCI_LABEL_EXTRA)
            PCI_TRY(add_extra(p, &cells[i], &extra, err));
    }
    PCI_TRY(pci_builder_labels(p->builder, table, row, p->labels, count, &extra, err));
    return extra == PCI_NO_NODE ? PCOL_OK : pci_builder_extra(p->builder, table, row, extra, err);
}
