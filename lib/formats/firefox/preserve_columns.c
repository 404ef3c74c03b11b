/*
 * preserve_columns.c - writes source_columns and source_cells: data of the round trip that does not
 * follow from the builder's rows
 *
 * A row of source_columns records that a table of the source had a column, and its form. Cells that
 * do not follow from other tables are in source_cells, at `first_cell` and the next `cells` rows.
 *
 * Threads mostly have the same tables with the same columns. Rows are therefore buffered and
 * written transposed, one column of all threads after the other, so that names and forms become
 * runs. Threads whose columns have a different order follow unsorted. The buffer is bounded
 * (MAX_BUFFERED).
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#define MAX_BUFFERED 65536u

static pcol_status preserve_cell(struct pci_ff *ff, const uint32_t *columns, uint64_t row, int kind,
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

static pcol_status preserve_cells(struct pci_ff *ff, const struct pci_ff_cells *cells,
                                  uint64_t *first, pcol_error *err)
{
    uint32_t table, columns[4];
    PCI_TRY(pcol_builder_table(ff->b, "source_cells", &table, err));
    PCI_TRY(pci_builder_column(ff->b, table, "kind", PCOL_U32, 0, &columns[0], err));
    PCI_TRY(pci_builder_column(ff->b, table, "integer", PCOL_I64, 0, &columns[1], err));
    PCI_TRY(pci_builder_column(ff->b, table, "number", PCOL_F64, 0, &columns[2], err));
    PCI_TRY(pci_builder_column(ff->b, table, "text", PCOL_STRING, 0, &columns[3], err));
    *first = pci_builder_rows(ff->b, table);
    struct pci_ff_cursor *cursor = pci_malloc(1, sizeof *cursor);
    pcol_status status = cursor ? PCOL_OK : pci_fail_memory(err);
    if (!cursor)
        return status;
    pci_ff_cursor_init(cursor, cells);
    for (uint64_t i = 0; status == PCOL_OK && i < cells->count; i++) {
        int kind;
        int64_t value;
        status = pci_ff_cell(cursor, i, &kind, &value, err);
        PCI_THEN(status, preserve_cell(ff, columns, *first + i, kind, value, err));
    }
    pci_free(cursor);
    return status;
}

pcol_status pci_ff_preserve(struct pci_ff *ff, uint32_t thread, const char *table, uint32_t column,
                            const char *form, const struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_ff_source_column row = {.thread = thread, .column = column, .form = PCOL_NONE};
    PCI_TRY(pcol_builder_string(ff->b, table, strlen(table), &row.table, err));
    if (form)
        PCI_TRY(pcol_builder_string(ff->b, form, strlen(form), &row.form, err));
    if (cells) {
        row.has_cells = 1;
        row.count = cells->count;
        PCI_TRY(preserve_cells(ff, cells, &row.first, err));
    }
    /* At least as many as threads: writing a batch takes time proportional to both. */
    if (ff->source_column_count >= MAX_BUFFERED && ff->source_column_count / 8 >= ff->thread_count)
        PCI_TRY(pci_ff_write_source_columns(ff, err));
    PCI_TRY(
        PCI_GROW(ff->source_columns, ff->source_column_capacity, ff->source_column_count + 1, err));
    ff->source_columns[ff->source_column_count++] = row;
    return PCOL_OK;
}

/* ---- writing the rows of source_columns */

/* Index of a row's thread; 0: the document. */
static size_t thread_slot(const struct pci_ff *ff, const struct pci_ff_source_column *row)
{
    return row->thread == PCOL_NONE ? 0 : (size_t)row->thread - ff->first_thread + 1;
}

/* Kinds: distinct triples (table, column, form), in a linked list. A new kind is inserted after the
 * previous kind of its thread, so that kinds of few threads get positions between the others. */
struct ranks {
    struct pci_hash hash; /* one row of each kind */
    uint32_t *next;       /* by kind + 1: the next kind + 1; [0]: the first */
    uint32_t *last_kind;  /* by thread: its last kind + 1 */
    uint32_t *kinds;      /* by row */
    uint32_t count;
};

static pcol_status find_kind(struct pci_ff *ff, struct ranks *r, size_t i, pcol_error *err)
{
    const struct pci_ff_source_column *row = &ff->source_columns[i];
    uint64_t key = pci_hash_pair((uint64_t)row->table << 32 | row->column, row->form);
    size_t at = pci_hash_start(&r->hash, key);
    uint32_t id;
    while ((id = pci_hash_next(&r->hash, key, &at)) != PCI_HASH_NONE) {
        const struct pci_ff_source_column *other = &ff->source_columns[id];
        if (other->table == row->table && other->column == row->column &&
            other->form == row->form) {
            r->kinds[i] = r->kinds[id];
            return PCOL_OK;
        }
    }
    uint32_t kind = r->count++, last_kind = r->last_kind[thread_slot(ff, row)];
    r->kinds[i] = kind;
    r->next[kind + 1] = r->next[last_kind];
    r->next[last_kind] = kind + 1;
    return pci_hash_add(&r->hash, key, (uint32_t)i, err);
}

static pcol_status rank_rows(struct pci_ff *ff, struct ranks *r, pcol_error *err)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < ff->source_column_count; i++) {
        PCI_TRY(find_kind(ff, r, i, err));
        r->last_kind[thread_slot(ff, &ff->source_columns[i])] = r->kinds[i] + 1;
    }
    for (uint32_t at = r->next[0], next; at; at = next) { /* replace links by ranks */
        next = r->next[at];
        r->next[at] = rank++;
    }
    for (size_t i = 0; i < ff->source_column_count; i++)
        ff->source_columns[i].rank = r->next[r->kinds[i] + 1];
    return PCOL_OK;
}

/* By thread: whether the order of its rows differs from their ranks. */
static void find_unordered(const struct pci_ff *ff, uint32_t *last, uint8_t *unordered)
{
    for (size_t i = 0; i < ff->source_column_count; i++) {
        const struct pci_ff_source_column *row = &ff->source_columns[i];
        size_t slot = thread_slot(ff, row);
        unordered[slot] |= row->rank < last[slot];
        last[slot] = row->rank + 1;
    }
}

/* Counting sort by rank; rows of unordered threads come last, in their original order.
 * starts[rank]: first index of the rank. */
static void sort_rows(const struct pci_ff *ff, const uint8_t *unordered, size_t *starts,
                      size_t ranks, size_t *order)
{
    for (size_t i = 0; i < ff->source_column_count; i++) {
        const struct pci_ff_source_column *row = &ff->source_columns[i];
        starts[(unordered[thread_slot(ff, row)] ? ranks : row->rank) + 1]++;
    }
    for (size_t k = 1; k <= ranks; k++)
        starts[k] += starts[k - 1];
    for (size_t i = 0; i < ff->source_column_count; i++) {
        const struct pci_ff_source_column *row = &ff->source_columns[i];
        order[starts[unordered[thread_slot(ff, row)] ? ranks : row->rank]++] = i;
    }
}

static pcol_status put_row(struct pci_ff *ff, const struct pci_ff_source_column *row,
                           pcol_error *err)
{
    uint32_t columns_table, cells, first, count;
    PCI_TRY(pci_builder_source_column(ff->b, ff->import->source, row->thread, row->table,
                                      row->column, row->form, err));
    if (!row->has_cells)
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(ff->b, "source_columns", &columns_table, err));
    PCI_TRY(pcol_builder_table(ff->b, "source_cells", &cells, err));
    PCI_TRY(
        pci_builder_column(ff->b, columns_table, "first_cell", PCOL_U64, cells + 1, &first, err));
    PCI_TRY(pci_builder_column(ff->b, columns_table, "cells", PCOL_U64, 0, &count, err));
    uint64_t column_row = pci_builder_rows(ff->b, columns_table) - 1;
    PCI_TRY(pcol_builder_set_i64(ff->b, count, column_row, (int64_t)row->count, err));
    return row->count ? pcol_builder_set_i64(ff->b, first, column_row, (int64_t)row->first, err)
                      : PCOL_OK;
}

static pcol_status put_rows(struct pci_ff *ff, struct ranks *r, uint8_t *unordered, size_t *order,
                            pcol_error *err)
{
    PCI_TRY(rank_rows(ff, r, err));
    memset(r->last_kind, 0, (ff->thread_count + 1) * sizeof *r->last_kind);
    find_unordered(ff, r->last_kind, unordered);
    size_t *starts;
    PCI_TRY(PCI_CALLOC(starts, (size_t)r->count + 2, err));
    sort_rows(ff, unordered, starts, r->count, order);
    pci_free(starts);
    for (size_t i = 0; i < ff->source_column_count; i++)
        PCI_TRY(put_row(ff, &ff->source_columns[order[i]], err));
    return PCOL_OK;
}

pcol_status pci_ff_write_source_columns(struct pci_ff *ff, pcol_error *err)
{
    struct ranks r = {.next = pci_calloc(ff->source_column_count + 1, sizeof *r.next),
                      .last_kind = pci_calloc(ff->thread_count + 1, sizeof *r.last_kind),
                      .kinds = pci_malloc(ff->source_column_count + 1, sizeof *r.kinds)};
    uint8_t *unordered = pci_calloc(ff->thread_count + 1, 1);
    size_t *order = pci_malloc(ff->source_column_count + 1, sizeof *order);
    pcol_status status =
        r.next && r.last_kind && r.kinds && unordered && order ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, put_rows(ff, &r, unordered, order, err));
    ff->source_column_count = 0;
    pci_hash_clear(&r.hash);
    pci_free(r.next);
    pci_free(r.last_kind);
    pci_free(r.kinds);
    pci_free(unordered);
    pci_free(order);
    return status;
}

/* ---- tables */

static int is_table_between(const char *name, int first, int last)
{
    for (int id = first; id <= last; id++)
        if (!strcmp(name, pci_ff_source_tables[id]))
            return 1;
    return 0;
}

/* Whether a member `length` equals the number of rows of a table of code. For samples and markers
 * the number is stored, since it shows whether rows were removed later. */
static int is_length(const struct pci_ff *ff, const struct pci_ff_table *table, const char *name,
                     const struct pci_ff_column *column)
{
    pcol_str text = pci_string_pool_get(&ff->b->strings, column->name);
    return is_table_between(name, PCI_FF_SOURCES, PCI_FF_STACKS) && column->scalar &&
           pci_str_is(text, "length") && column->cells.kind == PCI_FF_INT &&
           (uint64_t)column->cells.first == table->rows;
}

/* Whether one cell represents all, in tables whose number of rows is restored. */
static int is_same(const struct pci_ff_table *table, const char *name,
                   const struct pci_ff_column *column)
{
    return is_table_between(name, PCI_FF_SOURCES, PCI_FF_MARKERS) && !column->scalar &&
           !column->cells.varied && column->cells.count > 1 && column->cells.count == table->rows;
}

/* Preserve a column that does not follow from the builder's rows. */
static pcol_status preserve_column(struct pci_ff *ff, uint32_t thread,
                                   const struct pci_ff_table *table, const char *name,
                                   const struct pci_ff_column *column, pcol_error *err)
{
    struct pci_ff_cells one = column->cells;
    if (is_length(ff, table, name, column))
        return pci_ff_preserve(ff, thread, name, column->name, PCI_FF_FORM_ROWS, NULL, err);
    if (!is_same(table, name, column))
        return pci_ff_preserve(ff, thread, name, column->name,
                               column->scalar ? PCI_FF_FORM_VALUE : NULL, &column->cells, err);
    one.count = 1;
    return pci_ff_preserve(ff, thread, name, column->name, PCI_FF_FORM_SAME, &one, err);
}

pcol_status pci_ff_preserve_table(struct pci_ff *ff, uint32_t thread,
                                  const struct pci_ff_table *table, const char *name,
                                  const struct pci_ff_claim *claims, size_t count, pcol_error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pci_ff_column *c = &table->columns[i];
        const struct pci_ff_claim *claim = NULL;
        for (size_t k = 0; k < count; k++)
            if (claims[k].column == c && claims[k].exact)
                claim = &claims[k];
        PCI_TRY(claim ? pci_ff_preserve(ff, thread, name, c->name, claim->form, NULL, err)
                      : preserve_column(ff, thread, table, name, c, err));
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
