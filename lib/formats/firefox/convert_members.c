/*
 * convert_members.c - converts members around the tables of a Firefox source to the target version:
 * members of threads, of meta and of the document, marker schemas, counters
 */
#include "formats/firefox/convert_events.h"

#include "util/strbuf.h"

static int is_in_list(const char *const *list, pcol_str key, unsigned *index)
{
    for (*index = 0; list[*index]; ++*index)
        if (pci_str_is(key, list[*index]))
            return 1;
    return 0;
}

/* Whether a member is to be written; marks it in *seen if it is wanted, written or not. */
static int is_selected(pcol_str key, const char *const *but, const char *const *wanted,
                       unsigned *seen)
{
    unsigned index;
    if (is_in_list(wanted, key, &index))
        *seen |= 1u << index;
    return !is_in_list(but, key, &index);
}

static pcol_status put_node(struct pci_ff_convert *c, const struct pci_node_value *node,
                            pcol_error *err)
{
    pci_json_put_key_bytes(&c->out->w, node->key, err);
    return pci_json_from_nodes(c->file, node->row, &c->out->w, NULL, NULL, err);
}

pcol_status pci_ff_convert_members(struct pci_ff_convert *convert, uint32_t thread,
                                   const char *const *but, const char *const *wanted,
                                   unsigned *seen, pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    struct pci_label_reader *l = &c->thread_labels;
    *seen = 0;
    if (!c->firefox || thread == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_labels_row(l, thread, err));
    for (size_t i = 0; i < l->cell_count; i++) {
        struct pci_node_value node;
        if (l->cells[i].key) {
            if (!is_selected(l->cells[i].key->key, but, wanted, seen))
                continue;
            pci_json_put_key_bytes(&c->out->w, l->cells[i].key->key, err);
            pci_ff_put_label(c->out, &l->cells[i], err);
            continue;
        }
        PCI_TRY(pci_node_get(c->file, l->cells[i].node, &node, err));
        if (node.tag != PCI_NODE_TABLE && is_selected(node.key, but, wanted, seen))
            PCI_TRY(put_node(c, &node, err));
    }
    return c->out->w.status;
}

pcol_status pci_ff_convert_document_members(struct pci_ff_convert *convert, int meta,
                                            const char *const *but, const char *const *wanted,
                                            unsigned *seen, pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    struct pci_node_reader nodes;
    struct pci_node_value node;
    uint64_t parent = c->root, member;
    int found = 1;
    *seen = 0;
    if (parent == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_open(&nodes, c->file, err));
    if (meta)
        PCI_TRY(pci_ff_node_member(&nodes, c->root, "meta", &node, &found, err));
    if (!found)
        return PCOL_OK;
    parent = meta ? node.row : c->root;
    PCI_TRY(pci_nodes_first(&nodes, parent, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(&nodes, member, &node, err));
        if (node.tag != PCI_NODE_TABLE && is_selected(node.key, but, wanted, seen))
            PCI_TRY(put_node(c, &node, err));
        PCI_TRY(pci_nodes_next(&nodes, parent, &member, err));
    }
    return c->out->w.status;
}

static pcol_status put_schema(struct pci_ff_convert *c, const struct pci_node_reader *nodes,
                              uint64_t schema, pcol_error *err)
{
    struct pci_node_value name;
    int found;
    PCI_TRY(pci_ff_node_member(nodes, schema, "name", &name, &found, err));
    if (!found || name.tag != PCI_NODE_STRING)
        return PCOL_OK;
    size_t known = c->schemas.count;
    uint32_t number;
    PCI_TRY(pci_string_pool_intern(&c->schemas, name.text.data, name.text.size, &number, err));
    if (c->schemas.count == known)
        return PCOL_OK;
    return pci_json_from_nodes(c->file, schema, &c->out->w, NULL, NULL, err);
}

pcol_status pci_ff_convert_schemas(struct pci_ff_convert *convert, pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    struct pci_node_reader nodes;
    struct pci_node_value meta, list;
    uint64_t schema;
    int found;
    if (c->root == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_open(&nodes, c->file, err));
    PCI_TRY(pci_ff_node_member(&nodes, c->root, "meta", &meta, &found, err));
    if (found)
        PCI_TRY(pci_ff_node_member(&nodes, meta.row, "markerSchema", &list, &found, err));
    if (!found || list.tag != PCI_NODE_ARRAY)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(&nodes, list.row, &schema, err));
    while (schema != PCI_NO_NODE) {
        PCI_TRY(put_schema(c, &nodes, schema, err));
        PCI_TRY(pci_nodes_next(&nodes, list.row, &schema, err));
    }
    return c->out->w.status;
}

/* Whether the writer itself writes a member of a table that is not an array. */
static int is_written(const struct pci_ff_preserved *p)
{
    return p->has_form && pci_str_is(p->form, PCI_FF_FORM_VALUE) &&
           (pci_str_is(p->column, "length") || pci_str_is(p->column, "weightType"));
}

int pci_ff_convert_has_columns(const struct pci_ff_convert *convert)
{
    const struct pci_ff_native *b = convert->native;
    for (size_t i = 0; b && i < b->preserved_count; i++)
        if (b->preserved[i].has_cells && !is_written(&b->preserved[i]))
            return 1;
    return 0;
}

/* ---- counters */

struct counters {
    struct pci_ff_convert *convert;
    const uint32_t *thread_of;
    const char *prefix;
    int has_number;
};

static pcol_status put_samples(struct counters *k, uint64_t counter, pcol_error *err)
{
    static const struct pci_ff_target_column columns[] = {
        {"time", "time", "time_ulp", PCI_FF_TO_TIME, 0},
        {"number", "number", NULL, PCI_FF_TO_SAME, 0},
        {"count", "count", NULL, PCI_FF_TO_NUMBER, 0}};
    struct pci_ff_convert *c = k->convert;
    struct pci_ff_sample_run *rows = &c->counter_rows;
    PCI_TRY(pci_ff_find_counter_rows(c->file, counter, rows, err));
    pci_ff_convert_begin_table(c, "samples", rows->count, err);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].conversion != PCI_FF_TO_SAME || k->has_number)
            PCI_TRY(pci_ff_convert_column(c, "counter_samples", "counterSamples", &columns[i], NULL,
                                          rows->first, rows->count, err));
    pci_json_put_end(&c->out->w, '}', err);
    return c->out->w.status;
}

/* Write a scalar member of a counter; indexes of threads and pids are renumbered. */
static pcol_status put_member(const struct counters *k, const struct pci_label_cell *cell,
                              pcol_error *err)
{
    struct pci_ff_convert *c = k->convert;
    struct pci_json_writer *w = &c->out->w;
    pcol_str key = cell->key->key;
    pci_json_put_key_bytes(w, key, err);
    if (pci_str_is(key, "mainThreadIndex") && cell->key->kind == PCI_LABEL_INTEGER) {
        uint64_t thread = (uint64_t)cell->as.i64 + c->native->first_thread;
        int inside = cell->as.i64 >= 0 && (uint64_t)cell->as.i64 < c->native->thread_count;
        uint32_t number = inside ? k->thread_of[thread] : 0;
        c->dropped |= !number;
        pci_json_put_int(w, number ? number - 1 : 0, err);
    } else if (k->prefix && pci_str_is(key, "pid") && cell->key->kind == PCI_LABEL_STRING) {
        pci_json_put_prefixed(w, k->prefix, cell->as.text, err);
    } else {
        pci_ff_put_label(c->out, cell, err);
    }
    return w->status;
}

static pcol_status put_counter(struct counters *k, struct pci_label_reader *labels, uint64_t row,
                               pcol_error *err)
{
    struct pci_ff_convert *c = k->convert;
    PCI_TRY(pci_labels_row(labels, row, err));
    pci_json_put_begin(&c->out->w, '{', err);
    for (size_t i = 0; i < labels->cell_count; i++) {
        struct pci_node_value node;
        if (labels->cells[i].key) {
            PCI_TRY(put_member(k, &labels->cells[i], err));
            continue;
        }
        PCI_TRY(pci_node_get(c->file, labels->cells[i].node, &node, err));
        if (node.tag != PCI_NODE_TABLE)
            PCI_TRY(put_node(c, &node, err));
    }
    PCI_TRY(put_samples(k, row, err));
    pci_json_put_end(&c->out->w, '}', err);
    return c->out->w.status;
}

pcol_status pci_ff_convert_counters(struct pci_ff_convert *convert, const uint32_t *thread_of,
                                    const char *prefix, pcol_error *err)
{
    struct counters k = {.convert = convert, .thread_of = thread_of, .prefix = prefix};
    const struct pci_column *number;
    struct pci_label_reader labels;
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(convert->file, "counters", convert->source, &rows, err));
    convert->dropped |= rows.scattered;
    if (!convert->firefox || !rows.count || rows.scattered)
        return PCOL_OK;
    PCI_TRY(
        pci_find_column(convert->file, "counter_samples", "number", PCI_TYPES_INT, &number, err));
    k.has_number = number != NULL;
    if (rows.first < convert->counter_end)
        convert->counter_rows = (struct pci_ff_sample_run){0};
    convert->counter_end = rows.first + rows.count;
    pcol_status status = pci_labels_open(&labels, convert->file, "counters", err);
    for (uint64_t row = rows.first; row < rows.first + rows.count && status == PCOL_OK; row++)
        status = put_counter(&k, &labels, row, err);
    pci_labels_close(&labels);
    return status;
}
