/*
 * native_context.c - context of the lossless writer: loads source_columns, rows by thread and table
 * orders, and decides whether a source can be restored
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdlib.h>

/* ---- source_columns */

/* Order of tables for lookup: by thread (PCOL_NONE first), then by length of the name, then by
 * bytes. */
static int compare_table(const struct pci_ff_preserved *preserved, uint32_t thread, pcol_str table)
{
    uint32_t s = preserved->thread + 1, t = thread + 1;
    if (s != t)
        return s < t ? -1 : 1;
    if (preserved->table.size != table.size)
        return preserved->table.size < table.size ? -1 : 1;
    return table.size ? memcmp(preserved->table.data, table.data, table.size) : 0;
}

static int order_by_table(const void *a, const void *b)
{
    const struct pci_ff_preserved *x = a, *y = b;
    int order = compare_table(x, y->thread, y->table);
    return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

static pcol_status check_cells(const struct pci_ff_preserved *k, uint64_t cells, pcol_error *err)
{
    if (k->first <= cells && k->count <= cells - k->first)
        return PCOL_OK;
    return pci_corrupt(err, "source_columns", "first_cell", k->row,
                       "the range of cells exceeds source_cells");
}

struct preserved_columns {
    const struct pci_column *thread, *table, *column, *form, *first, *count;
};

static pcol_status read_preserved(const struct pci_ff_native *b, const struct preserved_columns *c,
                                  uint64_t row, struct pci_ff_preserved *k, pcol_error *err)
{
    int64_t value;
    int valid;
    memset(k, 0, sizeof *k);
    k->row = row;
    PCI_TRY(pci_get(b->file, c->thread, row, &value, &valid, err));
    k->thread = valid ? (uint32_t)value : PCOL_NONE;
    PCI_TRY(pci_get_str(b->file, c->table, row, &k->table, &valid, err));
    PCI_TRY(pci_get_str(b->file, c->column, row, &k->column, &valid, err));
    PCI_TRY(pci_get_str(b->file, c->form, row, &k->form, &k->has_form, err));
    PCI_TRY(pci_get(b->file, c->count, row, &value, &k->has_cells, err));
    k->count = (uint64_t)value;
    PCI_TRY(pci_get(b->file, c->first, row, &value, &valid, err));
    k->first = (uint64_t)value;
    if ((pci_ff_has_form(k, PCI_FF_FORM_VALUE) || pci_ff_has_form(k, PCI_FF_FORM_SAME)) &&
        (!k->has_cells || k->count != 1))
        return pci_corrupt(err, "source_columns", "cells", row, "this form has one cell");
    return k->has_cells ? check_cells(k, pci_rows(b->file, "source_cells"), err) : PCOL_OK;
}

static pcol_status load_preserved(struct pci_ff_native *b, int *whole, pcol_error *err)
{
    static const char name[] = "source_columns";
    const pcol_file *f = b->file;
    size_t capacity = 0;
    uint64_t cells = 0;
    struct preserved_columns c;
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(f, name, b->source, &rows, err));
    if (rows.scattered)
        *whole = 0;
    if (!*whole)
        return PCOL_OK;
    PCI_TRY(pci_find_column(f, name, "thread", PCI_TYPES_ROW, &c.thread, err));
    PCI_TRY(pci_find_column(f, name, "table", PCI_TYPES_TEXT, &c.table, err));
    PCI_TRY(pci_find_column(f, name, "column", PCI_TYPES_TEXT, &c.column, err));
    PCI_TRY(pci_find_column(f, name, "form", PCI_TYPES_TEXT, &c.form, err));
    PCI_TRY(pci_find_column(f, name, "first_cell", PCI_TYPES_ROW, &c.first, err));
    PCI_TRY(pci_find_column(f, name, "cells", PCI_TYPES_ROW, &c.count, err));
    for (uint64_t row = rows.first; row < rows.first + rows.count; row++) {
        PCI_TRY(PCI_GROW(b->preserved, capacity, b->preserved_count + 1, err));
        struct pci_ff_preserved *k = &b->preserved[b->preserved_count++];
        PCI_TRY(read_preserved(b, &c, row, k, err));
        cells += k->has_cells ? k->count : 0; /* each is at most the rows of source_cells */
        if (cells > pci_rows(f, "source_cells"))
            return pci_corrupt(err, name, "cells", row,
                               "the ranges up to here have more cells than rows");
    }
    if (b->preserved_count)
        qsort(b->preserved, b->preserved_count, sizeof *b->preserved, order_by_table);
    return PCOL_OK;
}

size_t pci_ff_preserved_first(const struct pci_ff_native *native, uint32_t thread,
                              const char *table, size_t *end)
{
    pcol_str name = {table, strlen(table)};
    size_t from = 0, to = native->preserved_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_table(&native->preserved[middle], thread, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (*end = from; *end < native->preserved_count; ++*end)
        if (compare_table(&native->preserved[*end], thread, name))
            break;
    return from;
}

/* ---- rows by thread */

/* The threads of a source must be consecutive rows of `threads`. */
static pcol_status load_threads(struct pci_ff_native *b, int *whole, pcol_error *err)
{
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(b->file, "threads", b->source, &rows, err));
    *whole &= !rows.scattered;
    b->first_thread = (uint32_t)rows.first;
    b->thread_count = (size_t)rows.count;
    return PCI_CALLOC(b->threads, b->thread_count + 1, err);
}

/* Assign rows of a table to threads; the rows of each thread must be consecutive. */
static pcol_status load_thread_rows(struct pci_ff_native *b, const char *table, int *whole,
                                    pcol_error *err)
{
    const struct pci_column *thread, *kind;
    struct pci_source_range rows;
    int samples = !strcmp(table, "samples"), markers = !strcmp(table, "markers");
    PCI_TRY(pci_source_rows(b->file, table, b->source, &rows, err));
    *whole &= !rows.scattered;
    PCI_TRY(pci_find_column(b->file, table, "thread", PCI_TYPES_ROW, &thread, err));
    PCI_TRY(pci_find_column(b->file, table, "kind", PCI_TYPES_TEXT, &kind, err));
    for (uint64_t row = rows.first; row < rows.first + rows.count && *whole; row++) {
        int64_t value;
        int valid;
        pcol_str text;
        PCI_TRY(pci_get(b->file, thread, row, &value, &valid, err));
        if (!valid || value < b->first_thread ||
            (uint64_t)value - b->first_thread >= b->thread_count) {
            *whole = 0;
            return PCOL_OK;
        }
        struct pci_ff_thread_rows *t = &b->threads[value - b->first_thread];
        PCI_TRY(pci_get_str(b->file, kind, row, &text, &valid, err));
        struct pci_ff_sample_run *s = samples   ? &t->samples
                                      : markers ? &t->markers
                                                : &t->allocations[!pci_str_is(text, "js")];
        if (!s->count)
            s->first = row;
        *whole &= row == s->first + s->count;
        s->count++;
    }
    return PCOL_OK;
}

/* ---- meta */

pcol_status pci_ff_node_member(const struct pci_node_reader *nodes, uint64_t parent,
                               const char *key, struct pci_node_value *node, int *found,
                               pcol_error *err)
{
    uint64_t member;
    *found = 0;
    PCI_TRY(pci_nodes_first(nodes, parent, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(nodes, member, node, err));
        if (node->has_key && pci_str_is(node->key, key)) {
            *found = 1;
            return PCOL_OK;
        }
        PCI_TRY(pci_nodes_next(nodes, parent, &member, err));
    }
    return PCOL_OK;
}

static pcol_status read_meta(struct pci_ff_native *b, uint64_t root, pcol_error *err)
{
    struct pci_node_reader nodes;
    struct pci_node_value meta, node;
    int found;
    b->cpu_unit = PCI_FF_CPU_US;
    PCI_TRY(pci_nodes_open(&nodes, b->file, err));
    PCI_TRY(pci_ff_node_member(&nodes, root, "meta", &meta, &found, err));
    if (!found)
        return PCOL_OK;
    PCI_TRY(pci_ff_node_member(&nodes, meta.row, "preprocessedProfileVersion", &node, &found, err));
    if (found && node.tag == PCI_NODE_INTEGER)
        b->version = node.integer, b->has_version = 1;
    PCI_TRY(pci_ff_node_member(&nodes, meta.row, "sampleUnits", &node, &found, err));
    if (found)
        PCI_TRY(pci_ff_node_member(&nodes, node.row, "threadCPUDelta", &node, &found, err));
    if (found && node.tag == PCI_NODE_STRING)
        b->cpu_unit = pci_str_is(node.text, "ns")                    ? PCI_FF_CPU_NS
                      : pci_str_is(node.text, "variable CPU cycles") ? PCI_FF_CPU_CYCLES
                                                                     : PCI_FF_CPU_US;
    return PCOL_OK;
}

static pcol_status find_categories(struct pci_ff_native *b, pcol_error *err)
{
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(b->file, "categories", b->source, &rows, err));
    b->category_base = rows.count ? rows.first : pci_rows(b->file, "categories");
    b->category_count = rows.count;
    return PCOL_OK;
}

pcol_status pci_ff_native_category(const struct pci_ff_native *native, int64_t pcol_row,
                                   int64_t *category, pcol_error *err)
{
    *category = pcol_row - (int64_t)native->category_base;
    if (*category >= 0 && (uint64_t)*category < native->category_count)
        return PCOL_OK;
    return pci_corrupt(err, "categories", "source", (uint64_t)pcol_row,
                       "a frame or marker has a category of another source");
}

/* ---- removed samples */

static pcol_status find_joins(struct pci_ff_native *b, pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_find_column(b->file, "samples", "duration", PCI_TYPES_INT, &column, err));
    for (size_t i = 0; column && i < b->thread_count && !b->has_joins; i++) {
        const struct pci_ff_sample_run *s = &b->threads[i].samples;
        for (uint64_t row = s->first; row < s->first + s->count && !b->has_joins; row++) {
            int64_t value;
            PCI_TRY(pci_get(b->file, column, row, &value, &b->has_joins, err));
        }
    }
    return PCOL_OK;
}

/* Rows that were removed after the import: their number differs from the preserved `length`. */
static pcol_status count_rows(struct pci_ff_native *b, int *whole, pcol_error *err)
{
    const struct pci_column *integer;
    PCI_TRY(pci_find_column(b->file, "source_cells", "integer", PCI_TYPES_INT, &integer, err));
    for (size_t i = 0; i < b->preserved_count && *whole; i++) {
        const struct pci_ff_preserved *k = &b->preserved[i];
        int64_t value;
        int valid, markers = pci_str_is(k->table, "markers");
        uint64_t count;
        if (k->thread == PCOL_NONE || !k->has_cells || !pci_str_is(k->column, "length") ||
            (!markers && !pci_str_is(k->table, "samples")))
            continue;
        if (k->thread < b->first_thread || k->thread - b->first_thread >= b->thread_count) {
            *whole = 0;
            return PCOL_OK;
        }
        const struct pci_ff_thread_rows *t = &b->threads[k->thread - b->first_thread];
        count = markers ? t->markers.count : t->samples.count;
        PCI_TRY(pci_get(b->file, integer, k->first, &value, &valid, err));
        *whole &= (uint64_t)value == count || (!markers && b->has_joins) ||
                  (markers && pci_ff_is_uneven(PCI_FF_MARKERS, b->version));
    }
    return PCOL_OK;
}

pcol_status pci_ff_native_open(struct pci_ff_native *native, const struct pci_export *export,
                               int *whole, const char **why, pcol_error *err)
{
    struct pci_ff_native *b = native;
    int64_t root;
    int valid;
    pcol_str type;
    memset(b, 0, sizeof *b);
    b->export = export;
    b->file = export->file;
    b->source = export->first_source;
    b->thread = PCOL_NONE;
    b->expand = export->options->expand_idle;
    *whole = 0;
    *why = NULL;
    if (export->first_source != export->last_source)
        return PCOL_OK;
    PCI_TRY(pci_get_named_str(b->file, "sources", "type", b->source, &type, &valid, err));
    if (!pci_str_is(type, "firefox") && !pci_str_is(type, "jslb"))
        return PCOL_OK;
    PCI_TRY(
        pci_get_named(b->file, "sources", "extra", PCI_TYPES_ROW, b->source, &root, &valid, err));
    *why = "its document tree is missing";
    if (!valid)
        return PCOL_OK;
    *whole = 1;
    PCI_TRY(read_meta(b, (uint64_t)root, err));
    PCI_TRY(load_preserved(b, whole, err));
    PCI_TRY(load_threads(b, whole, err));
    PCI_TRY(load_thread_rows(b, "samples", whole, err));
    PCI_TRY(load_thread_rows(b, "markers", whole, err));
    PCI_TRY(load_thread_rows(b, "allocations", whole, err));
    PCI_TRY(find_categories(b, err));
    PCI_TRY(find_joins(b, err));
    PCI_TRY(count_rows(b, whole, err));
    *why = *whole ? NULL : "samples were removed or moved since it was imported";
    PCI_TRY(pci_types_open(b->file, &b->types, err));
    if (b->has_joins && b->expand)
        PCI_TRY(pci_ff_check_expansion(b, err));
    return pci_stacks_open(b->file, &b->stacks, err);
}

/* ---- orders of the source's tables */

void pci_ff_native_leave_thread(struct pci_ff_native *native)
{
    for (int id = 0; id < PCI_FF_TABLES; id++) {
        pci_order_clear(&native->orders[1][id]);
        pci_free(native->inverse[1][id]);
        native->inverse[1][id] = NULL;
        native->loaded[1][id] = 0;
    }
    native->thread = PCOL_NONE;
}

void pci_ff_native_close(struct pci_ff_native *native)
{
    pci_ff_native_leave_thread(native);
    for (int id = 0; id < PCI_FF_TABLES; id++) {
        pci_order_clear(&native->orders[0][id]);
        pci_free(native->inverse[0][id]);
    }
    pci_types_close(&native->types);
    pci_free(native->preserved);
    pci_free(native->threads);
    memset(native, 0, sizeof *native);
}

pcol_status pci_ff_load_order(struct pci_ff_native *native, int level, int id, pcol_error *err)
{
    if (native->loaded[level][id])
        return PCOL_OK;
    native->loaded[level][id] = 1;
    PCI_TRY(pci_order_read(native->file, native->source, level ? native->thread : PCOL_NONE,
                           pci_ff_source_tables[id], &native->orders[level][id], err));
    return pci_ff_restore_use_order(native, level, id, err);
}

static pcol_status find_unnamed_frame(struct pci_ff_native *b, int level,
                                      const struct pci_column *function, int *named,
                                      pcol_error *err)
{
    const struct pci_order *o = &b->orders[level][PCI_FF_FRAMES];
    PCI_TRY(pci_ff_load_order(b, level, PCI_FF_FRAMES, err));
    for (uint64_t i = 0; i < o->count && *named; i++) {
        uint64_t row, count;
        int64_t value;
        PCI_TRY(pci_stacks_group(&b->stacks, o->rows[i], &row, &count, err));
        PCI_TRY(pci_get(b->file, function, row, &value, named, err));
    }
    return PCOL_OK;
}

pcol_status pci_ff_native_is_named(struct pci_ff_native *native, int *named, pcol_error *err)
{
    const struct pci_column *function;
    *named = 1;
    PCI_TRY(pci_find_column(native->file, "locations", "function", PCI_TYPES_ROW, &function, err));
    if (function && !(function->desc->flags & PCF_COLUMN_NULLABLE))
        return PCOL_OK;
    pcol_status status = find_unnamed_frame(native, 0, function, named, err);
    for (size_t i = 0; i < native->thread_count && *named && status == PCOL_OK; i++) {
        native->thread = native->first_thread + (uint32_t)i;
        status = find_unnamed_frame(native, 1, function, named, err);
        pci_ff_native_leave_thread(native);
    }
    return status;
}

static pcol_status find_level(struct pci_ff_native *b, int id, int *level, pcol_error *err)
{
    *level = b->thread != PCOL_NONE;
    PCI_TRY(pci_ff_load_order(b, *level, id, err));
    if (b->orders[*level][id].known)
        return PCOL_OK;
    *level = 0;
    return pci_ff_load_order(b, 0, id, err);
}

pcol_status pci_ff_native_order(struct pci_ff_native *native, int id,
                                const struct pci_order **order, pcol_error *err)
{
    int level = native->thread != PCOL_NONE;
    PCI_TRY(pci_ff_load_order(native, level, id, err));
    *order = &native->orders[level][id];
    return PCOL_OK;
}

pcol_status pci_ff_native_count(struct pci_ff_native *native, int id, uint64_t *count,
                                pcol_error *err)
{
    int level;
    PCI_TRY(find_level(native, id, &level, err));
    *count = native->orders[level][id].count;
    return PCOL_OK;
}

static pcol_status invert(struct pci_ff_native *b, int level, int id, pcol_error *err)
{
    const struct pci_order *o = &b->orders[level][id];
    uint64_t rows = pci_rows(b->file, pci_ff_pcol_tables[id]);
    PCI_TRY(pci_check_row_count(b->file, pci_ff_pcol_tables[id], err));
    uint32_t *to;
    PCI_TRY(PCI_CALLOC(to, (size_t)rows + 1, err));
    for (uint64_t i = o->count; i-- > 0;) /* the first of equal strings */
        if (o->rows[i] < rows)
            to[o->rows[i]] = (uint32_t)i + 1;
    b->inverse[level][id] = to;
    return PCOL_OK;
}

pcol_status pci_ff_native_row(struct pci_ff_native *native, int id, uint64_t pcol_row, int64_t *row,
                              pcol_error *err)
{
    int level;
    PCI_TRY(find_level(native, id, &level, err));
    if (!native->inverse[level][id])
        PCI_TRY(invert(native, level, id, err));
    uint32_t at = pcol_row < pci_rows(native->file, pci_ff_pcol_tables[id])
                      ? native->inverse[level][id][pcol_row]
                      : 0;
    *row = (int64_t)at - 1;
    if (at)
        return PCOL_OK;
    return pci_corrupt(err, pci_ff_pcol_tables[id], NULL, pcol_row,
                       "the source has no such row in %s", pci_ff_source_tables[id]);
}
