/*
 * preserve_columns.c - source_columns and source_cells: what the way back needs beyond our rows
 *
 * A row of source_columns says that the source's table had a column, and in which form. Where its
 * cells do not follow from our tables they stand in source_cells: `first_cell` and `cells` say
 * which.
 *
 * The threads of a profile mostly have the same tables with the same columns. So the rows wait
 * until all are known, and are written one column of all threads after the other: names and forms
 * are runs then, however many threads there are. A thread whose columns have another order follows
 * as it is. If there are very many rows, so many at a time.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#define MOST_WAITING 65536u

static pcol_status keep_cell(struct pci_ff *ff, const uint32_t *columns, uint64_t row, int kind,
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

static pcol_status keep_cells(struct pci_ff *ff, const struct pci_ff_cells *cells, uint64_t *first,
                              pcol_error *err)
{
    uint32_t table, columns[4];
    PCI_TRY(pcol_builder_table(ff->b, "source_cells", &table, err));
    PCI_TRY(pcol_builder_column(ff->b, table, "kind", PCOL_U32, 0, &columns[0], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "integer", PCOL_I64, 0, &columns[1], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "number", PCOL_F64, 0, &columns[2], err));
    PCI_TRY(pcol_builder_column(ff->b, table, "text", PCOL_STRING, 0, &columns[3], err));
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
        if (status == PCOL_OK)
            status = keep_cell(ff, columns, *first + i, kind, value, err);
    }
    pci_free(cursor);
    return status;
}

pcol_status pci_ff_preserve(struct pci_ff *ff, uint32_t thread, const char *table, uint32_t column,
                            const char *form, const struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_ff_named row = {.thread = thread, .column = column, .form = PCOL_NONE};
    PCI_TRY(pcol_builder_string(ff->b, table, strlen(table), &row.table, err));
    if (form)
        PCI_TRY(pcol_builder_string(ff->b, form, strlen(form), &row.form, err));
    if (cells) {
        row.has_cells = 1;
        row.count = cells->count;
        PCI_TRY(keep_cells(ff, cells, &row.first, err));
    }
    /* As many as threads, at least: what is done with them takes time by both. */
    if (ff->named_count >= MOST_WAITING && ff->named_count / 8 >= ff->thread_count)
        PCI_TRY(pci_ff_preserve_end(ff, err));
    if (pci_grow((void **)&ff->named, &ff->named_capacity, ff->named_count + 1, sizeof row))
        return pci_fail_memory(err);
    ff->named[ff->named_count++] = row;
    return PCOL_OK;
}

/* ---- all rows of source_columns, in the end */

/* Number of a row's thread, from that of the document on. */
static size_t slot_of(const struct pci_ff *ff, const struct pci_ff_named *row)
{
    return row->thread == PCOL_NONE ? 0 : (size_t)row->thread - ff->first_thread + 1;
}

/* All that differ in table, column or form, in a list: a new one behind the one that its thread had
 * before, so that what only some threads have finds its place between the others. */
struct ranks {
    struct pci_hash hash; /* by kind: a row like it */
    uint32_t *next;       /* by kind + 1: the kind behind it + 1; [0]: the first */
    uint32_t *before;     /* by thread: its last kind + 1 */
    uint32_t *kinds;      /* by row */
    uint32_t count;
};

static pcol_status find_kind(struct pci_ff *ff, struct ranks *r, size_t i, pcol_error *err)
{
    const struct pci_ff_named *row = &ff->named[i];
    uint64_t key = pci_hash_pair((uint64_t)row->table << 32 | row->column, row->form);
    size_t at = pci_hash_start(&r->hash, key);
    uint32_t id;
    while ((id = pci_hash_next(&r->hash, key, &at)) != PCI_HASH_NONE) {
        const struct pci_ff_named *like = &ff->named[id];
        if (like->table == row->table && like->column == row->column && like->form == row->form) {
            r->kinds[i] = r->kinds[id];
            return PCOL_OK;
        }
    }
    uint32_t kind = r->count++, before = r->before[slot_of(ff, row)];
    r->kinds[i] = kind;
    r->next[kind + 1] = r->next[before];
    r->next[before] = kind + 1;
    return pci_hash_add(&r->hash, key, (uint32_t)i, err);
}

static pcol_status rank_rows(struct pci_ff *ff, struct ranks *r, pcol_error *err)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < ff->named_count; i++) {
        PCI_TRY(find_kind(ff, r, i, err));
        r->before[slot_of(ff, &ff->named[i])] = r->kinds[i] + 1;
    }
    for (uint32_t at = r->next[0], next; at; at = next) { /* the list becomes the ranks */
        next = r->next[at];
        r->next[at] = rank++;
    }
    for (size_t i = 0; i < ff->named_count; i++)
        ff->named[i].rank = r->next[r->kinds[i] + 1];
    return PCOL_OK;
}

/* By thread: whether its rows have another order than their ranks. */
static void find_odd(const struct pci_ff *ff, uint32_t *last, uint8_t *odd)
{
    for (size_t i = 0; i < ff->named_count; i++) {
        const struct pci_ff_named *row = &ff->named[i];
        size_t slot = slot_of(ff, row);
        odd[slot] |= row->rank < last[slot];
        last[slot] = row->rank + 1;
    }
}

/* places[rank]: where the rows of that rank begin; those of odd threads stand last, as they
 * came. */
static void sort_rows(const struct pci_ff *ff, const uint8_t *odd, size_t *places, size_t ranks,
                      size_t *order)
{
    for (size_t i = 0; i < ff->named_count; i++) {
        const struct pci_ff_named *row = &ff->named[i];
        places[(odd[slot_of(ff, row)] ? ranks : row->rank) + 1]++;
    }
    for (size_t k = 1; k <= ranks; k++)
        places[k] += places[k - 1];
    for (size_t i = 0; i < ff->named_count; i++) {
        const struct pci_ff_named *row = &ff->named[i];
        order[places[odd[slot_of(ff, row)] ? ranks : row->rank]++] = i;
    }
}

static pcol_status put_row(struct pci_ff *ff, const struct pci_ff_named *row, pcol_error *err)
{
    uint32_t own, cells, first, count;
    PCI_TRY(pci_builder_source_column(ff->b, ff->import->source, row->thread, row->table,
                                      row->column, row->form, err));
    if (!row->has_cells)
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(ff->b, "source_columns", &own, err));
    PCI_TRY(pcol_builder_table(ff->b, "source_cells", &cells, err));
    PCI_TRY(pcol_builder_column(ff->b, own, "first_cell", PCOL_U64, cells + 1, &first, err));
    PCI_TRY(pcol_builder_column(ff->b, own, "cells", PCOL_U64, 0, &count, err));
    uint64_t at = pci_builder_rows(ff->b, own) - 1;
    PCI_TRY(pcol_builder_set_i64(ff->b, count, at, (int64_t)row->count, err));
    return row->count ? pcol_builder_set_i64(ff->b, first, at, (int64_t)row->first, err) : PCOL_OK;
}

static pcol_status put_rows(struct pci_ff *ff, struct ranks *r, uint8_t *odd, size_t *order,
                            pcol_error *err)
{
    PCI_TRY(rank_rows(ff, r, err));
    memset(r->before, 0, (ff->thread_count + 1) * sizeof *r->before);
    find_odd(ff, r->before, odd);
    size_t *places = pci_calloc((size_t)r->count + 2, sizeof *places);
    if (!places)
        return pci_fail_memory(err);
    sort_rows(ff, odd, places, r->count, order);
    pci_free(places);
    for (size_t i = 0; i < ff->named_count; i++)
        PCI_TRY(put_row(ff, &ff->named[order[i]], err));
    return PCOL_OK;
}

pcol_status pci_ff_preserve_end(struct pci_ff *ff, pcol_error *err)
{
    struct ranks r = {.next = pci_calloc(ff->named_count + 1, sizeof *r.next),
                      .before = pci_calloc(ff->thread_count + 1, sizeof *r.before),
                      .kinds = pci_malloc(ff->named_count + 1, sizeof *r.kinds)};
    uint8_t *odd = pci_calloc(ff->thread_count + 1, 1);
    size_t *order = pci_malloc(ff->named_count + 1, sizeof *order);
    pcol_status status =
        r.next && r.before && r.kinds && odd && order ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = put_rows(ff, &r, odd, order, err);
    ff->named_count = 0;
    pci_hash_clear(&r.hash);
    pci_free(r.next);
    pci_free(r.before);
    pci_free(r.kinds);
    pci_free(odd);
    pci_free(order);
    return status;
}

/* ---- tables */

static int is_any(const char *name, int first, int last)
{
    for (int id = first; id <= last; id++)
        if (!strcmp(name, pci_ff_names[id]))
            return 1;
    return 0;
}

/* Whether a member is the number of rows of one of the tables of code; of samples and markers it
 * also tells whether rows were taken out since. */
static int is_length(const struct pci_ff *ff, const struct pci_ff_table *table, const char *name,
                     const struct pci_ff_column *column)
{
    pcol_str text = pci_string_pool_get(&ff->b->strings, column->name);
    return is_any(name, PCI_FF_SOURCES, PCI_FF_STACKS) && column->scalar &&
           pci_str_is(text, "length") && column->cells.kind == PCI_FF_INT &&
           (uint64_t)column->cells.first == table->rows;
}

/* Whether one cell stands for all, in tables of which the number of rows comes back. */
static int is_same(const struct pci_ff_table *table, const char *name,
                   const struct pci_ff_column *column)
{
    return is_any(name, PCI_FF_SOURCES, PCI_FF_MARKERS) && !column->scalar &&
           !column->cells.varied && column->cells.count > 1 && column->cells.count == table->rows;
}

/* A column that does not follow. */
static pcol_status keep_column(struct pci_ff *ff, uint32_t thread, const struct pci_ff_table *table,
                               const char *name, const struct pci_ff_column *column,
                               pcol_error *err)
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
                      : keep_column(ff, thread, table, name, c, err));
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
