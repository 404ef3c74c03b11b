/*
 * source_order.c - the order of rows in each source's own tables (source_rows)
 *
 * A file of one source may omit source_rows for a table: the order is that of the file's rows. When
 * another source is added the order becomes explicit. The tables whose order a format needs are in
 * its schema (ordered_tables). Of a selection only the orders that documents need are copied.
 * Tests: suites merge, json_formats.
 */
#include "merge/merge.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <string.h>

enum { R_SOURCE, R_THREAD, R_TABLE, R_TARGET, R_ORDINAL, R_ROW, R_ID, R_COUNT };

static const struct {
    const char *name;
    unsigned types;
} row_columns[R_COUNT] = {{"source", PCI_IS_INT},
                          {"thread", PCI_IS_INT},
                          {"table", PCI_IS(PCF_STRING)},
                          {"target", PCI_IS(PCF_STRING)},
                          {"ordinal", PCI_IS_INT},
                          {"row", PCI_IS_INT},
                          {"id", PCI_IS_INT}};

_Static_assert(PCI_MERGE_BATCH <= PCI_SOURCE_BATCH, "a batch of cells is one of source rows");

struct order_copy {
    struct pci_merge *m;
    struct pci_cells *cells; /* of source_rows */
    const struct pci_table *threads;
    /* of the last target: */
    pcol_str target_name;
    const struct pci_table *target;
    struct pci_cells *ids; /* its column `id`; all null if absent */
    /* Cells that consecutive rows share, translated and as they are in the file. */
    struct pci_source_row run;
    int64_t shared[4];
    int shared_valid[4], has_shared;
    /* Rows of the builder and ids, of a batch */
    int64_t rows[PCI_MERGE_BATCH], row_ids[PCI_MERGE_BATCH];
    uint8_t has_id[PCI_MERGE_BATCH];
};

/* Translates source and thread of a row; *source is PCOL_NONE if omitted. */
static pcol_status map_source(struct order_copy *o, uint64_t row, uint32_t *source,
                              uint32_t *thread, pcol_error *err)
{
    struct pci_merge *m = o->m;
    uint64_t to;
    int omitted;
    PCI_TRY(pci_cells_row(&o->cells[R_SOURCE], row, m->source_count, source, err));
    if (*source == PCOL_NONE)
        return pci_corrupt(err, "source_rows", "source", row, "a row needs a source");
    *source = m->sources[*source];
    PCI_TRY(
        pci_cells_row(&o->cells[R_THREAD], row, o->threads ? o->threads->rows : 0, thread, err));
    if (*thread == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(
        pci_merge_row(m, o->threads, o->cells[R_THREAD].column, row, *thread, &to, &omitted, err));
    *thread = omitted ? PCOL_NONE : (uint32_t)to;
    return PCOL_OK;
}

static pcol_status find_target(struct order_copy *o, pcol_str name, uint64_t row, pcol_error *err)
{
    const pcol_file *file = o->m->file;
    const struct pci_column *id;
    if (o->target && name.data == o->target_name.data && name.size == o->target_name.size)
        return PCOL_OK;
    o->target = NULL;
    for (uint32_t i = 0; i < file->index.header.table_count && !o->target; i++)
        if (strlen(file->tables[i].name) == name.size &&
            !memcmp(file->tables[i].name, name.data, name.size))
            o->target = &file->tables[i];
    if (!o->target)
        return pci_corrupt(err, "source_rows", "target", row, "this names no table");
    o->target_name = name;
    id = pci_column_find(o->target, "id");
    if (id && (!id->supported || !(PCI_IS_INT & PCI_IS(id->desc->type))))
        id = NULL;
    return pci_cells_use(o->ids, file, id, err);
}

/* Translates row numbers of the target, those of source_rows from `source_row` on, into o->rows. */
static pcol_status map_rows(struct order_copy *o, uint64_t source_row, const int64_t *rows,
                            size_t count, pcol_error *err)
{
    struct pci_merge *m = o->m;
    int is_string = !strcmp(o->target->name, "strings"), omitted;
    uint64_t limit = m->string_count, row;
    const uint32_t *map = is_string ? m->strings : pci_merge_row_map(m, o->target, &limit);
    for (size_t i = 0; i < count; i++) {
        uint64_t from = (uint64_t)rows[i];
        if (map && from < limit && (is_string || map[from] != PCOL_NONE)) {
            o->rows[i] = map[from];
            continue;
        }
        if (is_string)
            return pci_corrupt(err, "source_rows", "row", source_row + i,
                               "%" PRIu64 " names no string", from);
        PCI_TRY(pci_merge_row(m, o->target, o->cells[R_ROW].column, source_row + i, from, &row,
                              &omitted, err));
        o->rows[i] = (int64_t)row;
    }
    return PCOL_OK;
}

/* Sets the ids of rows that the builder had before, perhaps with other ids: those of the target. */
static pcol_status add_ids(struct order_copy *o, const int64_t *rows, size_t count, pcol_error *err)
{
    uint64_t base = o->m->base[o->target->number];
    int valid;
    if (!o->ids->column || !strcmp(o->target->name, "strings"))
        return PCOL_OK;
    for (size_t i = 0; i < count; i++) {
        if (o->has_id[i] || (uint64_t)o->rows[i] >= base)
            continue;
        PCI_TRY(pci_cells_get(o->ids, (uint64_t)rows[i], &o->row_ids[i], &valid, err));
        o->has_id[i] = valid != 0;
    }
    return PCOL_OK;
}

static pcol_status put_rows(struct order_copy *o, const int64_t *rows, size_t count, uint64_t row,
                            pcol_error *err)
{
    PCI_TRY(map_rows(o, row, rows, count, err));
    PCI_TRY(add_ids(o, rows, count, err));
    pcol_status status = pci_builder_source_batch(o->m->builder, &o->run, o->rows, o->row_ids,
                                                  o->has_id, count, err);
    if (status == PCOL_E_ARGUMENT)
        return pci_corrupt(err, "source_rows", "ordinal", row, "ordinals do not count from 0");
    return status;
}

/* ---- runs: consecutive rows of one source, thread, table and target */

static const int shared_columns[] = {R_SOURCE, R_THREAD, R_TABLE, R_TARGET};
#define SHARED_COUNT (sizeof shared_columns / sizeof *shared_columns)

/* Translates the cells that all rows of a run share. */
static pcol_status begin_run(struct order_copy *o, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = o->m;
    pcol_str name;
    int valid;
    o->run = (struct pci_source_row){0};
    PCI_TRY(map_source(o, row, &o->run.source, &o->run.thread, err));
    PCI_TRY(pci_cells_string(&o->cells[R_TABLE], m, row, &o->run.table, err));
    if (o->run.table == PCOL_NONE || !o->cells[R_TARGET].column)
        return pci_corrupt(err, "source_rows", "table", row, "a row needs a table and a target");
    PCI_TRY(pci_get_str(m->file, o->cells[R_TARGET].column, row, &name, &valid, err));
    PCI_TRY(find_target(o, name, row, err));
    o->run.target = m->tables[o->target->number] + 1;
    return PCOL_OK;
}

/* Reads a batch of all columns; absent ones are null. */
static pcol_status read_batch(struct order_copy *o, uint64_t row, size_t count, pcol_error *err)
{
    for (size_t i = 0; i < R_COUNT; i++) {
        struct pci_cells *c = &o->cells[i];
        size_t present;
        PCI_TRY(pci_cells_batch(c, row, count, &present, err));
        memset(c->value + present, 0, (count - present) * sizeof *c->value);
        memset(c->valid + present, 0, count - present);
    }
    return PCOL_OK;
}

/* Begins a run at a row of the batch, unless it continues that of the row before. */
static pcol_status continue_run(struct order_copy *o, uint64_t row, size_t i, pcol_error *err)
{
    int same = o->has_shared;
    for (size_t k = 0; k < SHARED_COUNT; k++) {
        const struct pci_cells *c = &o->cells[shared_columns[k]];
        same &= c->value[i] == o->shared[k] && c->valid[i] == o->shared_valid[k];
        o->shared[k] = c->value[i];
        o->shared_valid[k] = c->valid[i];
    }
    o->has_shared = 1;
    return same ? PCOL_OK : begin_run(o, row + i, err);
}

/* The end in the batch of the run with row i: its ordinals ascend. */
static size_t find_end(const struct order_copy *o, size_t i, size_t count)
{
    const int64_t *ordinals = o->cells[R_ORDINAL].value;
    size_t end = count, at;
    for (size_t k = 0; k < SHARED_COUNT; k++) {
        const struct pci_cells *c = &o->cells[shared_columns[k]];
        for (at = i + 1; at < end && c->value[at] == c->value[i] && c->valid[at] == c->valid[i];)
            at++;
        end = at;
    }
    for (at = i + 1; at < end && ordinals[at] == ordinals[at - 1] + 1;)
        at++;
    return at;
}

static pcol_status copy_run(struct order_copy *o, uint64_t row, size_t i, size_t end,
                            pcol_error *err)
{
    const struct pci_cells *ids = &o->cells[R_ID];
    PCI_TRY(continue_run(o, row, i, err));
    o->run.ordinal = (uint64_t)o->cells[R_ORDINAL].value[i];
    memcpy(o->row_ids, ids->value + i, (end - i) * sizeof *ids->value);
    memcpy(o->has_id, ids->valid + i, end - i);
    return put_rows(o, o->cells[R_ROW].value + i, end - i, row + i, err);
}

/* ---- orders that the documents of copied sources need */

/* *is_needed: 1 if a row is one of such an order. */
static pcol_status is_of_document(struct order_copy *o, uint64_t row, int *is_needed,
                                  pcol_error *err)
{
    const struct pci_merge *m = o->m;
    uint32_t source;
    pcol_str table, target;
    int valid;
    *is_needed = 0;
    PCI_TRY(pci_cells_row(&o->cells[R_SOURCE], row, m->source_count, &source, err));
    if (source == PCOL_NONE || !m->document_orders[source] || !o->cells[R_TABLE].column ||
        !o->cells[R_TARGET].column)
        return PCOL_OK;
    PCI_TRY(pci_get_str(m->file, o->cells[R_TABLE].column, row, &table, &valid, err));
    PCI_TRY(pci_get_str(m->file, o->cells[R_TARGET].column, row, &target, &valid, err));
    *is_needed =
        pci_str_is(table, m->document_orders[source]) && pci_str_is(target, "location_groups");
    return PCOL_OK;
}

/* Sets merge->document_orders if the document of a copied source needs an order. */
static pcol_status find_document_orders(struct pci_merge *m, pcol_error *err)
{
    const struct pci_column *type;
    PCI_TRY(pci_find_verified_column(m->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    for (uint64_t row = 0; type && row < m->source_count; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(m->file, type, row, &text, &valid, err));
        const struct pci_format_schema *schema = pci_format_schema(m->file, text);
        if (!schema || !schema->document_order || !pci_merge_copies_source(m, row))
            continue;
        if (!m->document_orders)
            PCI_TRY(PCI_CALLOC(m->document_orders, (size_t)m->source_count, err));
        m->document_orders[row] = schema->document_order;
    }
    return PCOL_OK;
}

static pcol_status open_rows(struct order_copy *o, uint64_t *rows, pcol_error *err)
{
    PCI_TRY(pci_merge_rows(o->m->file, "source_rows", rows, err));
    for (size_t i = 0; i < R_COUNT; i++)
        PCI_TRY(pci_cells_open(&o->cells[i], o->m->file, "source_rows", row_columns[i].name,
                               row_columns[i].types, err));
    return PCOL_OK;
}

static pcol_status mark_rows(struct order_copy *o, pcol_error *err)
{
    struct pci_merge *m = o->m;
    uint64_t rows;
    PCI_TRY(open_rows(o, &rows, err));
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t group = PCOL_NONE;
        int is_needed;
        PCI_TRY(is_of_document(o, row, &is_needed, err));
        if (is_needed)
            PCI_TRY(pci_cells_row(&o->cells[R_ROW], row, m->group_count, &group, err));
        if (group != PCOL_NONE)
            m->used_groups[group] = 1;
    }
    return PCOL_OK;
}

pcol_status pci_merge_mark_documents(struct pci_merge *merge, pcol_error *err)
{
    struct order_copy o = {.m = merge};
    if (!pci_merge_keeps_documents(merge->selection))
        return PCOL_OK;
    PCI_TRY(find_document_orders(merge, err));
    if (!merge->document_orders)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(o.cells, R_COUNT, err));
    pcol_status status = mark_rows(&o, err);
    pci_free(o.cells);
    return status;
}

/* ---- copy */

static pcol_status copy_rows(struct order_copy *o, pcol_error *err)
{
    uint64_t rows;
    PCI_TRY(open_rows(o, &rows, err));
    if (o->m->partial && !o->m->document_orders)
        return PCOL_OK;
    for (uint64_t row = 0; row < rows; row += PCI_MERGE_BATCH) {
        size_t count = rows - row < PCI_MERGE_BATCH ? (size_t)(rows - row) : PCI_MERGE_BATCH;
        PCI_TRY(read_batch(o, row, count, err));
        for (size_t i = 0, end; i < count; i = end) {
            int is_copied = !o->m->partial;
            end = is_copied ? find_end(o, i, count) : i + 1;
            if (!is_copied)
                PCI_TRY(is_of_document(o, row + i, &is_copied, err));
            if (is_copied)
                PCI_TRY(copy_run(o, row, i, end, err));
        }
    }
    return PCOL_OK;
}

/* ---- implicit order */

static const char *const *get_ordered_tables(const pcol_file *file, pcol_str type)
{
    static const char *const none[] = {NULL};
    const struct pci_format_schema *schema = pci_format_schema(file, type);
    return schema && schema->ordered_tables ? schema->ordered_tables : none;
}

/* 1 if the builder has rows for a table of its newest source; these are its last entries. */
static int has_rows(const pcol_builder *b, uint32_t source, const char *table)
{
    for (size_t i = b->order.filled_count; i-- > 0 && b->order.filled[i].source == source;) {
        pcol_str name = pci_string_pool_get(&b->strings, b->order.filled[i].table);
        if (pci_str_is(name, table))
            return 1;
    }
    return 0;
}

static pcol_status add_implicit_order(struct order_copy *o, uint32_t source, const char *name,
                                      const char *target, pcol_error *err)
{
    struct pci_merge *m = o->m;
    struct pci_source_row to = {.source = source, .thread = PCOL_NONE};
    uint64_t first = !strcmp(target, "stacks");
    if (!pci_table_find(m->file, target) || has_rows(m->builder, source, name))
        return PCOL_OK;
    pcol_status status = find_target(o, (pcol_str){target, strlen(target)}, 0, err);
    if (status != PCOL_OK || !o->target)
        return status;
    to.target = m->tables[o->target->number] + 1;
    to.row = first;
    if (o->target->rows <= first)
        return PCOL_OK;
    if (m->alone) /* deferred until there is another source */
        return pci_source_order_defer(m->builder, &to, name, o->target->rows - first, err);
    PCI_TRY(pcol_builder_string(m->builder, name, strlen(name), &to.table, err));
    o->run = to;
    for (uint64_t row = first; row < o->target->rows; row += PCI_MERGE_BATCH) {
        int64_t rows[PCI_MERGE_BATCH];
        size_t count = o->target->rows - row < PCI_MERGE_BATCH ? (size_t)(o->target->rows - row)
                                                               : PCI_MERGE_BATCH;
        for (size_t i = 0; i < count; i++)
            rows[i] = (int64_t)(row + i);
        memset(o->has_id, 0, count);
        o->run.ordinal = row - first;
        PCI_TRY(put_rows(o, rows, count, row, err));
    }
    return PCOL_OK;
}

static pcol_status add_implicit_orders(struct order_copy *o, pcol_error *err)
{
    const struct pci_merge *m = o->m;
    const struct pci_table *sources = pci_table_find(m->file, "sources");
    const struct pci_column *column = sources ? pci_column_find(sources, "type") : NULL;
    pcol_str type;
    int valid;
    if (m->partial || m->source_count != 1 || !column)
        return PCOL_OK;
    PCI_TRY(pci_get_str(m->file, column, 0, &type, &valid, err));
    for (const char *const *name = get_ordered_tables(m->file, type); *name; name += 2)
        PCI_TRY(add_implicit_order(o, m->sources[0], name[0], name[1], err));
    return PCOL_OK;
}

/* The program is the first mapping of its source; other mappings follow by use. */
static pcol_status add_programs(struct pci_merge *m, pcol_error *err)
{
    static const char name[] = "mapping";
    const struct pci_table *mappings = pci_table_find(m->file, "mappings");
    for (uint64_t source = 0; m->programs && source < m->source_count; source++) {
        struct pci_source_row to = {.source = m->sources[source], .thread = PCOL_NONE};
        uint64_t row = m->programs[source];
        int omitted;
        if (row == PCOL_NONE)
            continue;
        PCI_TRY(pcol_builder_string(m->builder, name, sizeof name - 1, &to.table, err));
        to.target = m->tables[mappings->number] + 1;
        PCI_TRY(pci_merge_row(m, mappings, NULL, 0, row, &to.row, &omitted, err));
        if (!omitted)
            PCI_TRY(pci_builder_source_table(m->builder, &to, 1, err));
    }
    return PCOL_OK;
}

pcol_status pci_merge_source_orders(struct pci_merge *merge, pcol_error *err)
{
    struct order_copy o = {.m = merge};
    pcol_status status;
    o.threads = pci_table_find(merge->file, "threads");
    o.cells = pci_malloc(R_COUNT, sizeof *o.cells);
    o.ids = pci_malloc(1, sizeof *o.ids);
    status = o.cells && o.ids ? copy_rows(&o, err) : pci_fail_memory(err);
    PCI_THEN(status, add_implicit_orders(&o, err));
    PCI_THEN(status, add_programs(merge, err));
    pci_free(o.cells);
    pci_free(o.ids);
    return status;
}
