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
    const struct pci_column *counter, *time, *ulp, *number, *count;
    const uint32_t *thread_of;
    const char *prefix;
    uint64_t next_row,
        rows; /* position in counter_samples, whose rows are in the order of counters */
};

static pcol_status open_counters(struct counters *k, pcol_error *err)
{
    const pcol_file *file = k->convert->file;
    const char *table = "counter_samples";
    k->rows = pci_rows(file, table);
    PCI_TRY(pci_find_column(file, table, "counter", PCI_TYPES_ROW, &k->counter, err));
    PCI_TRY(pci_find_column(file, table, "time", PCI_TYPES_INT, &k->time, err));
    PCI_TRY(pci_find_column(file, table, "time_ulp", PCI_TYPES_INT, &k->ulp, err));
    PCI_TRY(pci_find_column(file, table, "number", PCI_TYPES_INT, &k->number, err));
    return pci_find_column(file, table, "count", PCI_TYPE(PCF_F64), &k->count, err);
}

/* Convert cell `row` of a column of counter samples: 't' time, 'n' number, 'c' count. */
static pcol_status convert_sample_cell(const struct counters *k, char which, uint64_t row,
                                       int *kind, int64_t *value, pcol_error *err)
{
    const pcol_file *file = k->convert->file;
    int64_t ulps;
    double number;
    int valid;
    PCI_TRY(pci_get(file,
                    which == 't'   ? k->time
                    : which == 'n' ? k->number
                                   : k->count,
                    row, value, &valid, err));
    *kind = PCI_FF_INT;
    if (!valid)
        *value = 0;
    if (!valid || which == 'n')
        return PCOL_OK;
    memcpy(&number, value, sizeof number);
    if (which == 't') {
        PCI_TRY(pci_get(file, k->ulp, row, &ulps, &valid, err));
        number = pci_ff_ms(*value, ulps);
    }
    if (pci_ff_whole(number)) {
        *value = (int64_t)number;
    } else {
        *kind = PCI_FF_DOUBLE;
        memcpy(value, &number, sizeof number);
    }
    return PCOL_OK;
}

static pcol_status put_sample_column(const struct counters *k, const char *name, uint64_t first,
                                     uint64_t count, pcol_error *err)
{
    struct pci_ff_emitter *out = k->convert->out;
    struct pci_ff_cells cells;
    pcol_status status = PCOL_OK;
    pci_ff_cells_init(&cells, &out->store);
    for (uint64_t i = 0; i < count && status == PCOL_OK; i++) {
        int kind;
        int64_t value;
        status = convert_sample_cell(k, name[0], first + i, &kind, &value, err);
        PCI_THEN(status, pci_ff_cells_add(&cells, kind, value, err));
    }
    pci_json_put_key(&out->w, name, err);
    PCI_THEN(status, pci_ff_emit_column(out, "counterSamples", (pcol_str){name, strlen(name)},
                                        &cells, err));
    pci_ff_cells_clear(&cells);
    return status;
}

static pcol_status put_samples(struct counters *k, uint64_t counter, pcol_error *err)
{
    struct pci_json_writer *w = &k->convert->out->w;
    uint64_t first = 0, count = 0;
    for (; k->next_row < k->rows; k->next_row++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_get(k->convert->file, k->counter, k->next_row, &value, &valid, err));
        if ((uint64_t)value > counter)
            break;
        if ((uint64_t)value == counter && !count++)
            first = k->next_row;
    }
    pci_json_put_key(w, "samples", err);
    pci_json_put_begin(w, '{', err);
    pci_json_put_key(w, "length", err);
    pci_json_put_int(w, (int64_t)count, err);
    PCI_TRY(put_sample_column(k, "time", first, count, err));
    if (k->number)
        PCI_TRY(put_sample_column(k, "number", first, count, err));
    PCI_TRY(put_sample_column(k, "count", first, count, err));
    pci_json_put_end(w, '}', err);
    return w->status;
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
    struct pci_label_reader labels;
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(convert->file, "counters", convert->source, &rows, err));
    convert->dropped |= rows.scattered;
    if (!convert->firefox || !rows.count || rows.scattered)
        return PCOL_OK;
    PCI_TRY(open_counters(&k, err));
    if (rows.first >= convert->counter_end)
        k.next_row = convert->sample_end;
    convert->counter_end = rows.first + rows.count;
    pcol_status status = pci_labels_open(&labels, convert->file, "counters", err);
    for (uint64_t row = rows.first; row < rows.first + rows.count && status == PCOL_OK; row++)
        status = put_counter(&k, &labels, row, err);
    convert->sample_end = k.next_row;
    pci_labels_close(&labels);
    return status;
}
