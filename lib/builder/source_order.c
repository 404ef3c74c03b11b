/*
 * source_order.c - tables source_rows and source_columns: order and ids of the rows in a source
 *
 * Appended to columns directly. `row` refers to different tables, so that rows of tables that are
 * reordered when the file is written (strings, stacks, nodes) are translated at the end.
 */
#include "builder/builder.h"

#include "util/alloc.h"

enum { R_SOURCE, R_THREAD, R_TABLE, R_TARGET, R_ORDINAL, R_ROW, R_ID, R_COUNT };
enum { F_SOURCE, F_THREAD, F_TABLE, F_COLUMN, F_FORM, F_COUNT };

struct column_schema {
    const char *name;
    uint8_t type, references, drop;
};

static const struct column_schema row_columns[R_COUNT] = {
    [R_SOURCE] = {"source", PCF_U32, PCI_T_SOURCES + 1, PCI_DROP_NEVER},
    [R_THREAD] = {"thread", PCF_U32, PCI_T_THREADS + 1, PCI_DROP_NULL},
    [R_TABLE] = {"table", PCF_STRING, 0, PCI_DROP_NEVER},
    [R_TARGET] = {"target", PCF_STRING, 0, PCI_DROP_NEVER},
    [R_ORDINAL] = {"ordinal", PCF_U64, 0, PCI_DROP_NEVER},
    [R_ROW] = {"row", PCF_U64, 0, PCI_DROP_NEVER},
    [R_ID] = {"id", PCF_U64, 0, PCI_DROP_NULL},
};

static const struct column_schema form_columns[F_COUNT] = {
    [F_SOURCE] = {"source", PCF_U32, PCI_T_SOURCES + 1, PCI_DROP_NEVER},
    [F_THREAD] = {"thread", PCF_U32, PCI_T_THREADS + 1, PCI_DROP_NULL},
    [F_TABLE] = {"table", PCF_STRING, 0, PCI_DROP_NEVER},
    [F_COLUMN] = {"column", PCF_STRING, 0, PCI_DROP_NEVER},
    [F_FORM] = {"form", PCF_STRING, 0, PCI_DROP_NULL},
};

void pci_source_order_init(struct pci_source_order *order)
{
    *order = (struct pci_source_order){0};
    memset(order->columns, 0xff, sizeof order->columns); /* PCOL_NONE */
    memset(order->form_columns, 0xff, sizeof order->form_columns);
}

void pci_source_order_clear(struct pci_source_order *order)
{
    pci_free(order->deferred);
    order->deferred = NULL;
    pci_free(order->filled);
    order->filled = NULL;
}

static pcol_status create_table(pcol_builder *b, const char *name,
                                const struct column_schema *schema, size_t count, uint32_t *columns,
                                pcol_error *err)
{
    uint32_t table;
    PCI_TRY(pcol_builder_table(b, name, &table, err));
    for (size_t i = 0; i < count; i++) { /* a copied table may have them already */
        PCI_TRY(pci_builder_column(b, table, schema[i].name, (pcol_type)schema[i].type,
                                   schema[i].references, &columns[i], err));
        b->columns[columns[i]]->drop = schema[i].drop;
    }
    return PCOL_OK;
}

static pcol_status check_references(const pcol_builder *b, uint32_t source, uint32_t thread,
                                    uint32_t table, pcol_error *err)
{
    if (source < b->source_count && table < b->strings.count &&
        (thread == PCOL_NONE || thread < pci_builder_rows(b, PCI_T_THREADS)))
        return PCOL_OK;
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "a source row refers to a source, thread or table that does not exist");
}

/* Validate rows, create the table and record the source's table; *name: string of the target. */
static pcol_status begin_rows(pcol_builder *b, const struct pci_source_row *row, uint32_t *name,
                              pcol_error *err)
{
    struct pci_source_order *o = &b->order;
    const char *target;
    int continued = o->columns[0] != PCOL_NONE && o->last.source == row->source &&
                    o->last.thread == row->thread && o->last.table == row->table;
    if (row->target == 0 || row->target > b->table_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "a source row needs a target table");
    if (!continued)
        PCI_TRY(check_references(b, row->source, row->thread, row->table, err));
    if (row->ordinal != (continued ? o->last.ordinal + 1 : 0))
        return pci_fail(err, PCOL_E_ARGUMENT, "ordinals of source rows must count from 0");
    if (o->columns[0] == PCOL_NONE)
        PCI_TRY(create_table(b, "source_rows", row_columns, R_COUNT, o->columns, err));
    target = b->tables[row->target - 1].name;
    if (continued && o->last.target == row->target)
        *name = o->target_name;
    else
        PCI_TRY(pcol_builder_string(b, target, strlen(target), name, err));
    if (!continued) {
        PCI_TRY(PCI_GROW(o->filled, o->filled_capacity, o->filled_count + 1, err));
        o->filled[o->filled_count++] = (struct pci_source_table){row->source, row->table};
    }
    o->last = *row;
    o->target_name = *name;
    return PCOL_OK;
}

pcol_status pci_builder_source_row(pcol_builder *builder, const struct pci_source_row *row,
                                   pcol_error *err)
{
    pcol_builder *b = builder;
    struct pci_source_order *o = &b->order;
    uint64_t to;
    uint32_t name;
    PCI_TRY(begin_rows(b, row, &name, err));
    to = b->columns[o->columns[R_SOURCE]]->rows;
    PCI_TRY(pci_column_buffer_set(b->columns[o->columns[R_SOURCE]], to, row->source, err));
    if (row->thread != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(b->columns[o->columns[R_THREAD]], to, row->thread, err));
    PCI_TRY(pci_column_buffer_set(b->columns[o->columns[R_TABLE]], to, row->table, err));
    PCI_TRY(pci_column_buffer_set(b->columns[o->columns[R_TARGET]], to, name, err));
    PCI_TRY(
        pci_column_buffer_set(b->columns[o->columns[R_ORDINAL]], to, (int64_t)row->ordinal, err));
    PCI_TRY(pci_column_buffer_set(b->columns[o->columns[R_ROW]], to, (int64_t)row->row, err));
    return row->has_id
               ? pci_column_buffer_set(b->columns[o->columns[R_ID]], to, (int64_t)row->id, err)
               : PCOL_OK;
}

pcol_status pci_builder_source_batch(pcol_builder *builder, const struct pci_source_row *row,
                                     const int64_t *rows, const int64_t *ids, const uint8_t *has_id,
                                     size_t count, pcol_error *err)
{
    pcol_builder *b = builder;
    struct pci_source_order *o = &b->order;
    int64_t ordinals[PCI_SOURCE_BATCH];
    uint64_t to;
    uint32_t name;
    if (!count)
        return PCOL_OK;
    PCI_TRY(begin_rows(b, row, &name, err));
    o->last.ordinal += count - 1;
    to = b->columns[o->columns[R_SOURCE]]->rows;
    PCI_TRY(
        pci_column_buffer_repeat(b->columns[o->columns[R_SOURCE]], to, row->source, count, err));
    if (row->thread != PCOL_NONE)
        PCI_TRY(pci_column_buffer_repeat(b->columns[o->columns[R_THREAD]], to, row->thread, count,
                                         err));
    PCI_TRY(pci_column_buffer_repeat(b->columns[o->columns[R_TABLE]], to, row->table, count, err));
    PCI_TRY(pci_column_buffer_repeat(b->columns[o->columns[R_TARGET]], to, name, count, err));
    for (size_t i = 0; i < count; i++)
        ordinals[i] = (int64_t)(row->ordinal + i);
    PCI_TRY(
        pci_column_buffer_set_many(b->columns[o->columns[R_ORDINAL]], to, ordinals, count, err));
    PCI_TRY(pci_column_buffer_set_many(b->columns[o->columns[R_ROW]], to, rows, count, err));
    return has_id ? pci_column_buffer_set_cells(b->columns[o->columns[R_ID]], to, ids, has_id,
                                                count, err)
                  : PCOL_OK;
}

pcol_status pci_builder_source_rows(pcol_builder *builder, const struct pci_source_row *row,
                                    const uint32_t *rows, uint64_t count, pcol_error *err)
{
    struct pci_source_row part = *row;
    int64_t values[PCI_SOURCE_BATCH];
    for (size_t n; count; rows += n, part.ordinal += n, count -= n) {
        n = count < PCI_SOURCE_BATCH ? (size_t)count : PCI_SOURCE_BATCH;
        for (size_t i = 0; i < n; i++)
            values[i] = rows[i];
        PCI_TRY(pci_builder_source_batch(builder, &part, values, NULL, NULL, n, err));
    }
    return PCOL_OK;
}

static pcol_status append_table(pcol_builder *b, const struct pci_source_order_table *table,
                                pcol_error *err)
{
    struct pci_source_row row = table->first;
    row.has_id = 0;
    if (table->name)
        PCI_TRY(pcol_builder_string(b, table->name, strlen(table->name), &row.table, err));
    for (uint64_t i = 0; i < table->count; i++) {
        row.ordinal = i;
        row.row = table->first.row + i;
        PCI_TRY(pci_builder_source_row(b, &row, err));
    }
    return PCOL_OK;
}

pcol_status pci_source_order_defer(pcol_builder *builder, const struct pci_source_row *row,
                                   const char *name, uint64_t count, pcol_error *err)
{
    struct pci_source_order *o = &builder->order;
    PCI_TRY(PCI_GROW(o->deferred, o->deferred_capacity, o->deferred_count + 1, err));
    o->deferred[o->deferred_count++] = (struct pci_source_order_table){*row, count, name};
    return PCOL_OK;
}

pcol_status pci_builder_source_table(pcol_builder *builder, const struct pci_source_row *row,
                                     uint64_t count, pcol_error *err)
{
    struct pci_source_order_table table = {*row, count, NULL};
    if (builder->source_count > 1)
        return append_table(builder, &table, err);
    return pci_source_order_defer(builder, row, NULL, count, err);
}

pcol_status pci_source_order_flush(pcol_builder *builder, pcol_error *err)
{
    struct pci_source_order *o = &builder->order;
    for (size_t i = 0; i < o->deferred_count; i++)
        PCI_TRY(append_table(builder, &o->deferred[i], err));
    o->deferred_count = 0;
    return PCOL_OK;
}

pcol_status pci_builder_source_column(pcol_builder *builder, uint32_t source, uint32_t thread,
                                      uint32_t table, uint32_t column, uint32_t form,
                                      pcol_error *err)
{
    pcol_builder *b = builder;
    uint32_t *c = b->order.form_columns;
    uint64_t to;
    PCI_TRY(check_references(b, source, thread, table, err));
    if (column >= b->strings.count || (form != PCOL_NONE && form >= b->strings.count))
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "a source column refers to a string that does not exist");
    if (c[0] == PCOL_NONE)
        PCI_TRY(create_table(b, "source_columns", form_columns, F_COUNT, c, err));
    to = b->columns[c[F_SOURCE]]->rows;
    PCI_TRY(pci_column_buffer_set(b->columns[c[F_SOURCE]], to, source, err));
    if (thread != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(b->columns[c[F_THREAD]], to, thread, err));
    PCI_TRY(pci_column_buffer_set(b->columns[c[F_TABLE]], to, table, err));
    PCI_TRY(pci_column_buffer_set(b->columns[c[F_COLUMN]], to, column, err));
    return form == PCOL_NONE ? PCOL_OK
                             : pci_column_buffer_set(b->columns[c[F_FORM]], to, form, err);
}

/* ---- final rows */

const uint32_t *pci_final_rows(const pcol_builder *builder, uint32_t table)
{
    if (table == PCI_T_STRINGS)
        return builder->strings.rank;
    if (table == PCI_T_STACKS)
        return builder->tree.preorder;
    return table == builder->nodes.table ? builder->nodes.preorder : NULL;
}

/* Final rows of the target table `name`, a string. Consecutive rows mostly have the same target. */
struct target_map {
    const pcol_builder *builder;
    int64_t name;
    const uint32_t *map;
    uint64_t rows;
};

static void find_target(struct target_map *t, int64_t name)
{
    const pcol_builder *b = t->builder;
    pcol_str text = pci_string_pool_get(&b->strings, (uint32_t)name);
    t->name = name;
    t->map = NULL;
    for (uint32_t i = 0; i < b->table_count; i++)
        if (strlen(b->tables[i].name) == text.size &&
            !memcmp(b->tables[i].name, text.data, text.size)) {
            t->map = pci_final_rows(b, i);
            t->rows = i == PCI_T_STRINGS  ? b->strings.count
                      : i == PCI_T_STACKS ? b->tree.count
                                          : b->nodes.count;
        }
}

static pcol_status translate(pcol_builder *b, struct pci_column_buffer *from,
                             struct pci_column_buffer *to, pcol_error *err)
{
    struct pci_block_reader *r = pci_malloc(2, sizeof *r);
    struct pci_column_buffer_source sources[2];
    struct target_map t = {.builder = b, .name = -1};
    pcol_status status = r ? PCOL_OK : pci_fail_memory(err);
    if (!r)
        return status;
    pci_column_buffer_source_init(&sources[0], b->columns[b->order.columns[R_TARGET]], NULL);
    pci_column_buffer_source_init(&sources[1], from, NULL);
    pci_block_reader_init(&r[0], &sources[0].source);
    pci_block_reader_init(&r[1], &sources[1].source);
    while ((status = pci_block_reader_next(&r[0], err)) == PCOL_OK &&
           (status = pci_block_reader_next(&r[1], err)) == PCOL_OK && r[0].n) {
        for (size_t i = 0; i < r[0].n; i++) {
            int64_t value = r[1].values[i];
            if (r[0].values[i] != t.name)
                find_target(&t, r[0].values[i]);
            if (t.map && (uint64_t)value < t.rows)
                r[1].values[i] = t.map[value];
        }
        status = pci_column_buffer_set_many(to, r[1].row, r[1].values, r[1].n, err);
        if (status != PCOL_OK)
            break;
    }
    pci_free(r);
    return status;
}

pcol_status pci_source_order_finish(pcol_builder *builder, pcol_error *err)
{
    pcol_builder *b = builder;
    uint32_t old = b->order.columns[R_ROW];
    struct pci_column_buffer *column, *translated;
    if (old == PCOL_NONE)
        return PCOL_OK;
    column = b->columns[old];
    translated = pci_column_buffer_make(b, column->table, column->name, PCF_U64, 0, PCI_DROP_NEVER);
    pcol_status status = translated ? translate(b, column, translated, err) : pci_fail_memory(err);
    if (status != PCOL_OK) {
        pci_column_buffer_free(translated);
        return status;
    }
    b->columns[old] = translated; /* same name: the hash index stays valid */
    pci_column_buffer_free(column);
    return PCOL_OK;
}
