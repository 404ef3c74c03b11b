/*
 * convert_events.c - converts markers and allocations of a Firefox source to the target version
 *
 * References to strings, stacks and categories are renumbered. A marker's data refers to strings
 * where its schema has "unique-string", and to a stack in its `cause`; these indexes can only be
 * resolved while the source's own table orders are known, that is, while none of its rows were
 * removed.
 */
#include "formats/firefox/convert_events.h"
#include "formats/json_members.h"

#include "util/alloc.h"
#include "util/strbuf.h"

/* ---- rows by thread */

static pcol_status group_by_thread(const pcol_file *file, const char *table,
                                   struct pci_ff_rows *out, pcol_error *err)
{
    const struct pci_column *thread;
    uint64_t rows = pci_rows(file, table), threads = pci_rows(file, "threads"), total = 0;
    int64_t value;
    int valid;
    PCI_TRY(pci_check_row_count(file, table, err));
    PCI_TRY(pci_check_row_count(file, "threads", err));
    PCI_TRY(pci_find_column(file, table, "thread", PCI_TYPES_ROW, &thread, err));
    PCI_TRY(PCI_CALLOC(out->first, (size_t)threads + 2, err));
    PCI_TRY(PCI_MALLOC(out->rows, (size_t)rows + 1, err));
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_get(file, thread, row, &value, &valid, err));
        out->first[valid && (uint64_t)value < threads ? value + 1 : 0]++;
    }
    out->first[0] = 0; /* rows without a thread are dropped */
    for (uint64_t i = 1; i <= threads; i++) {
        total += out->first[i];
        out->first[i] = total - out->first[i];
    }
    out->first[threads + 1] = total;
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_get(file, thread, row, &value, &valid, err));
        if (valid && (uint64_t)value < threads)
            out->rows[out->first[value + 1]++] = row;
    }
    return PCOL_OK;
}

/* first[t + 1] was advanced to the end of thread t, which is the start of thread t + 1. */
static const uint64_t *get_rows(const struct pci_ff_rows *r, uint32_t thread, size_t *count)
{
    uint64_t first = thread ? r->first[thread] : 0;
    *count = (size_t)(r->first[thread + 1] - first);
    return r->rows + first;
}

/* ---- fields that are string indexes */

static pcol_status get_text_member(const struct pci_node_reader *nodes, uint64_t parent,
                                   const char *key, pcol_str *text, pcol_error *err)
{
    struct pci_node_value node;
    int found;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_ff_node_member(nodes, parent, key, &node, &found, err));
    if (found && node.tag == PCI_NODE_STRING)
        *text = node.text;
    return PCOL_OK;
}

static pcol_status add_unique(struct pci_ff_convert *c, pcol_str type, pcol_str key,
                              pcol_error *err)
{
    uint32_t type_name, name;
    int is_known;
    PCI_TRY(pci_string_pool_intern(&c->names, type.data, type.size, &type_name, err));
    PCI_TRY(pci_string_pool_intern(&c->names, key.data, key.size, &name, err));
    return pci_pair_set_add(&c->unique, type_name, name, &is_known, err);
}

/* Fields of a schema are in `fields`, before version 56 in `data`. */
static pcol_status read_fields(struct pci_ff_convert *c, const struct pci_node_reader *nodes,
                               uint64_t list, pcol_str type, pcol_error *err)
{
    uint64_t field;
    PCI_TRY(pci_nodes_first(nodes, list, &field, err));
    while (field != PCI_NO_NODE) {
        pcol_str key, format;
        PCI_TRY(get_text_member(nodes, field, "key", &key, err));
        PCI_TRY(get_text_member(nodes, field, "format", &format, err));
        if (pci_str_is(format, "unique-string"))
            PCI_TRY(add_unique(c, type, key, err));
        PCI_TRY(pci_nodes_next(nodes, list, &field, err));
    }
    return PCOL_OK;
}

static pcol_status read_schema(struct pci_ff_convert *c, const struct pci_node_reader *nodes,
                               pcol_error *err)
{
    struct pci_node_value meta, list, fields;
    uint64_t schema;
    int found;
    PCI_TRY(pci_ff_node_member(nodes, c->root, "meta", &meta, &found, err));
    if (found)
        PCI_TRY(pci_ff_node_member(nodes, meta.row, "markerSchema", &list, &found, err));
    if (!found)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(nodes, list.row, &schema, err));
    while (schema != PCI_NO_NODE) {
        pcol_str type;
        PCI_TRY(get_text_member(nodes, schema, "name", &type, err));
        for (int k = 0; k < 2; k++) {
            PCI_TRY(pci_ff_node_member(nodes, schema, k ? "fields" : "data", &fields, &found, err));
            if (found)
                PCI_TRY(read_fields(c, nodes, fields.row, type, err));
        }
        PCI_TRY(pci_nodes_next(nodes, list.row, &schema, err));
    }
    return PCOL_OK;
}

static int is_unique(const struct pci_ff_convert *c, pcol_str type, pcol_str key)
{
    uint32_t type_name = pci_string_pool_find(&c->names, type),
             name = pci_string_pool_find(&c->names, key);
    return type_name != PCOL_NONE && name != PCOL_NONE &&
           pci_pair_set_has(&c->unique, type_name, name);
}

/* ---- current source */

static pcol_status open_source(struct pci_ff_convert *c, pcol_error *err)
{
    struct pci_node_reader nodes;
    const char *reason;
    int64_t root;
    int valid;
    c->one = *c->export;
    c->one.first_source = c->one.last_source = c->source;
    PCI_TRY(PCI_CALLOC(c->native, 1, err));
    PCI_TRY(pci_ff_native_open(c->native, &c->one, &c->whole, &reason, err));
    pci_pair_set_clear(&c->unique);
    pci_string_pool_clear(&c->names);
    PCI_TRY(
        pci_get_named(c->file, "sources", "extra", PCI_TYPES_ROW, c->source, &root, &valid, err));
    c->root = valid ? (uint64_t)root : PCI_NO_NODE;
    if (!valid)
        return PCOL_OK;
    PCI_TRY(pci_nodes_open(&nodes, c->file, err));
    return read_schema(c, &nodes, err);
}

static void close_source(struct pci_ff_convert *c)
{
    if (c->native)
        pci_ff_native_close(c->native);
    pci_free(c->native);
    c->native = NULL;
}

pcol_status pci_ff_is_firefox(const pcol_file *file, uint32_t source, int *firefox, pcol_error *err)
{
    pcol_str type = {"", 0};
    int valid;
    PCI_TRY(pci_get_named_str(file, "sources", "type", source, &type, &valid, err));
    *firefox = pci_str_is(type, "firefox") || pci_str_is(type, "jslb");
    return PCOL_OK;
}

pcol_status pci_ff_convert_source(struct pci_ff_convert *convert, uint32_t source, pcol_error *err)
{
    if (convert->source == source)
        return PCOL_OK;
    close_source(convert);
    convert->source = source;
    convert->whole = 0;
    convert->root = PCI_NO_NODE;
    PCI_TRY(pci_ff_is_firefox(convert->file, source, &convert->firefox, err));
    return convert->firefox ? open_source(convert, err) : PCOL_OK;
}

pcol_status pci_ff_convert_open(struct pci_ff_convert *convert, const struct pci_export *export,
                                struct pci_ff_code_tables *code, pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    memset(c, 0, sizeof *c);
    c->export = export;
    c->file = export->file;
    c->code = code;
    c->source = PCOL_NONE;
    PCI_TRY(group_by_thread(c->file, "markers", &c->markers, err));
    PCI_TRY(group_by_thread(c->file, "allocations", &c->allocations, err));
    PCI_TRY(pci_labels_open(&c->marker_labels, c->file, "markers", err));
    return pci_labels_open(&c->thread_labels, c->file, "threads", err);
}

void pci_ff_convert_close(struct pci_ff_convert *convert)
{
    close_source(convert);
    pci_free(convert->markers.first);
    pci_free(convert->markers.rows);
    pci_free(convert->allocations.first);
    pci_free(convert->allocations.rows);
    pci_pair_set_clear(&convert->unique);
    pci_string_pool_clear(&convert->names);
    pci_string_pool_clear(&convert->schemas);
    pci_labels_close(&convert->marker_labels);
    pci_labels_close(&convert->thread_labels);
}

/* ---- stacks of markers and allocations */

static pcol_status mark_order(struct pci_ff_convert *c, int level, uint8_t *used, pcol_error *err)
{
    const struct pci_order *o = &c->native->orders[level][PCI_FF_STACKS];
    PCI_TRY(pci_ff_load_order(c->native, level, PCI_FF_STACKS, err));
    for (uint64_t i = 0; i < o->count; i++)
        if (o->rows[i] < c->code->stacks.stacks)
            used[o->rows[i]] = 1;
    return PCOL_OK;
}

static pcol_status mark_allocations(struct pci_ff_convert *c, uint32_t thread, uint8_t *used,
                                    pcol_error *err)
{
    const struct pci_column *stack;
    size_t count;
    const uint64_t *rows = get_rows(&c->allocations, thread, &count);
    PCI_TRY(pci_find_column(c->file, "allocations", "stack", PCI_TYPES_ROW, &stack, err));
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_get(c->file, stack, rows[i], &value, &valid, err));
        if (valid && (uint64_t)value < c->code->stacks.stacks)
            used[value] = 1;
    }
    return PCOL_OK;
}

pcol_status pci_ff_convert_mark_stacks(struct pci_ff_convert *convert, uint32_t source,
                                       uint32_t thread, uint8_t *used, pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    size_t markers;
    PCI_TRY(pci_ff_convert_source(c, source, err));
    if (!c->firefox)
        return PCOL_OK;
    PCI_TRY(mark_allocations(c, thread, used, err));
    (void)get_rows(&c->markers, thread, &markers);
    if (!markers || !c->whole)
        return PCOL_OK;
    c->native->thread = thread;
    pcol_status status = mark_order(c, 1, used, err);
    if (status == PCOL_OK && !c->native->orders[1][PCI_FF_STACKS].known)
        status = mark_order(c, 0, used, err);
    pci_ff_native_leave_thread(c->native);
    return status;
}

/* ---- references in the target */

static pcol_status get_target_string(struct pci_ff_convert *c, uint64_t string, int64_t *number,
                                     pcol_error *err)
{
    pcol_str text;
    uint32_t code;
    PCI_TRY(pci_string(c->file, string, &text, err));
    PCI_TRY(
        pci_string_pool_intern_stored(&c->code->strings, &c->code->long_strings, text, &code, err));
    *number = code;
    return PCOL_OK;
}

static int get_target_stack(const struct pci_ff_convert *c, uint64_t stack, int64_t *number)
{
    if (stack >= c->code->stacks.stacks || !c->code->stack_rows[stack])
        return 0;
    *number = c->code->stack_rows[stack] - 1;
    return 1;
}

/* The pcol row of row `number` of one of the source's tables. *known is 0 if it cannot be
 * resolved. */
static pcol_status get_source_row(struct pci_ff_convert *c, int id, int64_t number, uint64_t *row,
                                  int *known, pcol_error *err)
{
    *known = 0;
    if (!c->whole || number < 0)
        return PCOL_OK;
    for (int level = 1; level >= 0; level--) {
        const struct pci_order *o = &c->native->orders[level][id];
        PCI_TRY(pci_ff_load_order(c->native, level, id, err));
        if (!o->known)
            continue;
        *known = (uint64_t)number < o->count;
        if (*known)
            *row = o->rows[number];
        return PCOL_OK;
    }
    return PCOL_OK;
}

/* ---- data of markers */

/* {"time": ..., "stack": N}: renumber the stack. */
static pcol_status put_cause(struct pci_ff_convert *c, const struct pci_node_value *cause,
                             pcol_error *err)
{
    struct pci_json_writer *w = &c->out->w;
    struct pci_node_reader nodes;
    struct pci_node_value node;
    uint64_t member;
    PCI_TRY(pci_nodes_open(&nodes, c->file, err));
    pci_json_put_begin(w, '{', err);
    PCI_TRY(pci_nodes_first(&nodes, cause->row, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(&nodes, member, &node, err));
        pci_json_put_key_bytes(w, node.key, err);
        if (pci_str_is(node.key, "stack") && node.tag == PCI_NODE_INTEGER) {
            uint64_t row = 0;
            int64_t number = 0;
            int known;
            PCI_TRY(get_source_row(c, PCI_FF_STACKS, node.integer, &row, &known, err));
            if (known && get_target_stack(c, row, &number))
                pci_json_put_int(w, number, err);
            else
                pci_json_put_raw(w, "null", 4, err), c->dropped = 1;
        } else {
            PCI_TRY(pci_json_from_nodes(c->file, member, w, NULL, NULL, err));
        }
        PCI_TRY(pci_nodes_next(&nodes, cause->row, &member, err));
    }
    pci_json_put_end(w, '}', err);
    return w->status;
}

static pcol_status put_field(struct pci_ff_convert *c, const struct pci_label_cell *cell,
                             pcol_str type, pcol_error *err)
{
    struct pci_json_writer *w = &c->out->w;
    struct pci_node_value node;
    uint64_t row = 0;
    int64_t number = 0;
    int known;
    if (!cell->key) {
        PCI_TRY(pci_node_get(c->file, cell->node, &node, err));
        pci_json_put_key_bytes(w, node.key, err);
        if (pci_str_is(node.key, "cause") && node.tag == PCI_NODE_OBJECT)
            return put_cause(c, &node, err);
        return pci_json_from_nodes(c->file, cell->node, w, NULL, NULL, err);
    }
    pci_json_put_key_bytes(w, cell->key->key, err);
    if (cell->key->kind != PCI_LABEL_INTEGER || !is_unique(c, type, cell->key->key)) {
        pci_ff_put_label(c->out, cell, err);
        return w->status;
    }
    PCI_TRY(get_source_row(c, PCI_FF_STRINGS, cell->as.i64, &row, &known, err));
    if (known)
        PCI_TRY(get_target_string(c, row, &number, err));
    if (known)
        pci_json_put_int(w, number, err);
    else
        pci_json_put_raw(w, "null", 4, err), c->dropped = 1;
    return w->status;
}

static pcol_status put_marker_data(struct pci_ff_convert *c, uint64_t row, pcol_error *err)
{
    struct pci_label_reader *l = &c->marker_labels;
    pcol_str type = {"", 0};
    PCI_TRY(pci_labels_row(l, row, err));
    if (!l->has_shape && !l->cell_count) {
        pci_json_put_raw(&c->out->w, "null", 4, err);
        return c->out->w.status;
    }
    for (size_t i = 0; i < l->cell_count; i++)
        if (l->cells[i].key && l->cells[i].key->kind == PCI_LABEL_STRING &&
            pci_str_is(l->cells[i].key->key, "type"))
            type = l->cells[i].as.text;
    pci_json_put_begin(&c->out->w, '{', err);
    for (size_t i = 0; i < l->cell_count; i++)
        PCI_TRY(put_field(c, &l->cells[i], type, err));
    pci_json_put_end(&c->out->w, '}', err);
    return c->out->w.status;
}

/* ---- tables of rows */

static pcol_status convert_cell(struct pci_ff_convert *c, const struct pci_ff_target_column *k,
                                const struct pci_column *const columns[2], uint64_t row, int *kind,
                                int64_t *value, pcol_error *err)
{
    int valid, ignored;
    int64_t ulps;
    double number;
    PCI_TRY(pci_get(c->file, columns[0], row, value, &valid, err));
    *kind = valid ? PCI_FF_INT : PCI_FF_NULL;
    if (!valid && k->default_value >= 0) {
        *kind = k->conversion == PCI_FF_TO_FLAG ? PCI_FF_FALSE : PCI_FF_INT;
        *value = k->conversion == PCI_FF_TO_CATEGORY ? c->code->other : (int64_t)k->default_value;
        return PCOL_OK;
    }
    if (!valid)
        return PCOL_OK;
    switch (k->conversion) {
    case PCI_FF_TO_STRING:
        return get_target_string(c, (uint64_t)*value, value, err);
    case PCI_FF_TO_STACK:
        *kind = get_target_stack(c, (uint64_t)*value, value) ? PCI_FF_INT : PCI_FF_NULL;
        return PCOL_OK;
    case PCI_FF_TO_CATEGORY:
        *value = (uint64_t)*value < pci_rows(c->file, "categories")
                     ? (int64_t)c->code->category_of[*value]
                     : (int64_t)c->code->other;
        return PCOL_OK;
    case PCI_FF_TO_TIME:
        PCI_TRY(pci_get(c->file, columns[1], row, &ulps, &ignored, err));
        number = pci_ff_ms(*value, ulps);
        break;
    case PCI_FF_TO_NUMBER:
        memcpy(&number, value, sizeof number);
        break;
    case PCI_FF_TO_FLAG:
        *kind = *value ? PCI_FF_TRUE : PCI_FF_FALSE;
        return PCOL_OK;
    case PCI_FF_TO_TEXT:
        *kind = PCI_FF_TEXT;
        return PCOL_OK;
    case PCI_FF_TO_PHASE: /* phases that the front end does not know become instants */
        c->phases |= *value < 0 || *value > 3;
        *value = *value < 0 || *value > 3 ? 0 : *value;
        return PCOL_OK;
    case PCI_FF_TO_SAME:
        return PCOL_OK;
    }
    if (pci_ff_whole(number)) {
        *value = (int64_t)number;
    } else {
        *kind = PCI_FF_DOUBLE;
        memcpy(value, &number, sizeof number);
    }
    return PCOL_OK;
}

static unsigned get_types(enum pci_ff_target_conversion conversion)
{
    return conversion == PCI_FF_TO_TIME || conversion == PCI_FF_TO_SAME ? PCI_TYPES_INT
           : conversion == PCI_FF_TO_NUMBER                             ? PCI_TYPE(PCF_F64)
                                                                        : ~0u;
}

pcol_status pci_ff_convert_column(struct pci_ff_convert *convert, const char *from,
                                  const char *table, const struct pci_ff_target_column *k,
                                  const uint64_t *rows, uint64_t first, uint64_t count,
                                  pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    const struct pci_column *columns[2] = {NULL, NULL};
    struct pci_ff_cells cells;
    pcol_status status = PCOL_OK;
    PCI_TRY(
        pci_find_column(c->file, from, k->pcol_name, get_types(k->conversion), &columns[0], err));
    if (k->ulps)
        PCI_TRY(pci_find_column(c->file, from, k->ulps, PCI_TYPES_INT, &columns[1], err));
    pci_ff_cells_init(&cells, &c->out->store);
    for (uint64_t i = 0; i < count && status == PCOL_OK; i++) {
        int kind;
        int64_t value;
        status = convert_cell(c, k, columns, rows ? rows[i] : first + i, &kind, &value, err);
        PCI_THEN(status, pci_ff_cells_add(&cells, kind, value, err));
    }
    pci_json_put_key(&c->out->w, k->name, err);
    PCI_THEN(status,
             pci_ff_emit_column(c->out, table, (pcol_str){k->name, strlen(k->name)}, &cells, err));
    pci_ff_cells_clear(&cells);
    return status;
}

void pci_ff_convert_begin_table(struct pci_ff_convert *convert, const char *name, uint64_t count,
                                pcol_error *err)
{
    struct pci_json_writer *w = &convert->out->w;
    pci_json_put_begin_member(w, name, '{', err);
    pci_json_put_int_member(w, "length", (int64_t)count, err);
}

pcol_status pci_ff_convert_markers(struct pci_ff_convert *convert, uint32_t thread, pcol_error *err)
{
    static const struct pci_ff_target_column columns[] = {
        {"name", "name", NULL, PCI_FF_TO_STRING, 0},
        {"startTime", "start", "start_ulp", PCI_FF_TO_TIME, -1},
        {"endTime", "end", "end_ulp", PCI_FF_TO_TIME, -1},
        {"phase", "phase", NULL, PCI_FF_TO_PHASE, 0},
        {"category", "category", NULL, PCI_FF_TO_CATEGORY, 0}};
    struct pci_ff_convert *c = convert;
    const char *name = pci_ff_source_tables[PCI_FF_MARKERS];
    size_t count = 0;
    const uint64_t *rows = NULL;
    if (c->firefox && thread != PCOL_NONE)
        rows = get_rows(&c->markers, thread, &count);
    pci_ff_convert_begin_table(c, name, count, err);
    if (c->native)
        c->native->thread = thread;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        PCI_TRY(pci_ff_convert_column(c, "markers", name, &columns[i], rows, 0, count, err));
    pci_json_put_begin_member(&c->out->w, "data", '[', err);
    for (size_t i = 0; i < count; i++)
        PCI_TRY(put_marker_data(c, rows[i], err));
    pci_json_put_end(&c->out->w, ']', err);
    pci_json_put_end(&c->out->w, '}', err);
    if (c->native)
        pci_ff_native_leave_thread(c->native);
    return c->out->w.status;
}

/* ---- allocations */

static pcol_status put_allocations(struct pci_ff_convert *c, int is_native, const uint64_t *rows,
                                   size_t count, pcol_error *err)
{
    static const struct pci_ff_target_column js_columns[] = {
        {"time", "time", "time_ulp", PCI_FF_TO_TIME, 0},
        {"className", "class_name", NULL, PCI_FF_TO_TEXT, -1},
        {"typeName", "type_name", NULL, PCI_FF_TO_TEXT, -1},
        {"coarseType", "coarse_type", NULL, PCI_FF_TO_TEXT, -1},
        {"weight", "weight", NULL, PCI_FF_TO_NUMBER, 0},
        {"inNursery", "in_nursery", NULL, PCI_FF_TO_FLAG, 0},
        {"stack", "stack", NULL, PCI_FF_TO_STACK, -1}};
    static const struct pci_ff_target_column native_columns[] = {
        {"time", "time", "time_ulp", PCI_FF_TO_TIME, 0},
        {"weight", "weight", NULL, PCI_FF_TO_NUMBER, 0},
        {"stack", "stack", NULL, PCI_FF_TO_STACK, -1},
        {"memoryAddress", "memory_address", NULL, PCI_FF_TO_SAME, 0},
        {"threadId", "thread_id", NULL, PCI_FF_TO_SAME, 0}};
    const char *name =
        pci_ff_source_tables[is_native ? PCI_FF_NATIVE_ALLOCATIONS : PCI_FF_JS_ALLOCATIONS];
    const struct pci_ff_target_column *columns = is_native ? native_columns : js_columns;
    size_t n = is_native ? sizeof native_columns / sizeof *native_columns
                         : sizeof js_columns / sizeof *js_columns;
    const struct pci_column *address;
    PCI_TRY(
        pci_find_column(c->file, "allocations", "memory_address", PCI_TYPES_INT, &address, err));
    if (is_native && !address)
        n -= 2; /* without addresses it is an unbalanced table, which has no such columns */
    pci_ff_convert_begin_table(c, name, count, err);
    pci_json_put_text_member(&c->out->w, "weightType", "bytes", err);
    for (size_t i = 0; i < n; i++)
        PCI_TRY(pci_ff_convert_column(c, "allocations", name, &columns[i], rows, 0, count, err));
    pci_json_put_end(&c->out->w, '}', err);
    return c->out->w.status;
}

/* Rows of JavaScript allocations precede those of native ones. */
pcol_status pci_ff_convert_allocations(struct pci_ff_convert *convert, uint32_t thread,
                                       pcol_error *err)
{
    struct pci_ff_convert *c = convert;
    const struct pci_column *kind;
    size_t count, js_count = 0;
    if (!c->firefox || thread == PCOL_NONE)
        return PCOL_OK;
    const uint64_t *rows = get_rows(&c->allocations, thread, &count);
    PCI_TRY(pci_find_column(c->file, "allocations", "kind", PCI_TYPES_TEXT, &kind, err));
    for (; kind && js_count < count; js_count++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(c->file, kind, rows[js_count], &text, &valid, err));
        if (!pci_str_is(text, "js"))
            break;
    }
    if (js_count)
        PCI_TRY(put_allocations(c, 0, rows, js_count, err));
    return count > js_count ? put_allocations(c, 1, rows + js_count, count - js_count, err)
                            : PCOL_OK;
}
