/*
 * conditions.c - typed conditions of a scan
 *
 * Each condition is an interval of the column's own type (condition_test.h), which the cells of
 * whole blocks are tested against. A text of the pool is tested once per code and remembered.
 * Conditions on ids narrow the rows; bounds of blocks in the directories of encodings show blocks
 * without hits. Tests: tests/unit/test_scan.c, fuzz target scan.
 */
#include "query/conditions.h"

#include "model/column_range.h"
#include "query/condition_test.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

#define MAX_MEMO_CODES ((uint64_t)1 << 26) /* texts of larger pools are tested for each row */

/* Limit of the texts without codes, names and stacks, that conditions read, with a part for each
 * byte of the file. */
#define TEXT_BYTES ((uint64_t)1 << 30)
#define TEXT_BYTES_PER_BYTE 1024u

struct test {
    struct pci_test is;
    uint32_t cells; /* index in pci_conditions.cells */
    uint8_t *memo;  /* texts by code: 0 unknown, 1 holds, 2 does not; NULL: the cells are texts */
};

/* The cells of a column in the current rows. */
struct cells {
    const pcol_column *column;
    int loaded;
    int by_code;
    int unsigned_bias; /* PCOL_U64: bit 63 is flipped, so that values compare as signed */
    int64_t *bits;     /* numbers, biased; codes */
    pcol_str *texts;
    uint8_t *valid;
    uint64_t text_bytes; /* of all texts so far */
};

struct pci_conditions {
    const pcol_table *table;
    size_t count, cell_count;
    struct test *tests;
    struct cells *cells;
};

static int is_text(pcol_type type)
{
    return type == PCOL_STRING || type == PCOL_BYTES;
}

static pcol_status open_cells(struct cells *cells, const pcol_column *column, pcol_error *err)
{
    const struct pci_column *strings = column->table->file->strings;
    *cells = (struct cells){.column = column, .unsigned_bias = column->type == PCOL_U64};
    cells->by_code = pci_column_has_codes(column) && strings && strings->supported &&
                     strings->desc->rows <= MAX_MEMO_CODES &&
                     pci_check_row_count(column->table->file, "strings", NULL) == PCOL_OK;
    cells->valid = pci_malloc(PCI_BATCH, 1);
    if (column->type == PCOL_LIST)
        return cells->valid ? PCOL_OK : pci_fail_memory(err);
    if (is_text(column->type) && !cells->by_code)
        cells->texts = pci_malloc(PCI_BATCH, sizeof *cells->texts);
    else
        cells->bits = pci_malloc(PCI_BATCH, sizeof *cells->bits);
    return cells->valid && (cells->texts || cells->bits) ? PCOL_OK : pci_fail_memory(err);
}

static pcol_status find_cells(struct pci_conditions *all, uint32_t number, uint32_t *index,
                              pcol_error *err)
{
    const pcol_column *column = pcol_table_column(all->table, number);
    if (!column)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "a condition is on column number %lu, which table %s does not have",
                        (unsigned long)number, all->table->name);
    PCI_TRY(pci_check_column_supported(column, err));
    for (*index = 0; *index < all->cell_count; ++*index)
        if (all->cells[*index].column == column)
            return PCOL_OK;
    return open_cells(&all->cells[all->cell_count++], column, err);
}

static pcol_status open_test(struct test *t, const pcol_condition *c, const struct cells *cells,
                             pcol_error *err)
{
    const pcol_column *column = cells->column;
    pcol_status status = pci_test_open(&t->is, c, column->type, err);
    if (status == PCOL_E_ARGUMENT && err) {
        snprintf(err->table, sizeof err->table, "%s", column->table->name);
        snprintf(err->column, sizeof err->column, "%s", column->name);
    }
    PCI_TRY(status);
    if (t->is.kind != PCI_TEST_TEXT || !cells->by_code)
        return PCOL_OK;
    return PCI_CALLOC(t->memo, (size_t)column->table->file->strings->desc->rows + 1, err);
}

pcol_status pci_conditions_open(const pcol_table *table, const pcol_condition *where, size_t count,
                                struct pci_conditions **conditions, pcol_error *err)
{
    struct pci_conditions *all = pci_calloc(1, sizeof *all);
    *conditions = all;
    if (!all)
        return pci_fail_memory(err);
    all->table = table;
    PCI_TRY(PCI_CALLOC(all->tests, count, err));
    PCI_TRY(PCI_CALLOC(all->cells, count, err));
    for (size_t i = 0; i < count; i++) {
        struct test *t = &all->tests[i];
        PCI_TRY(find_cells(all, where[i].column, &t->cells, err));
        all->count = i + 1;
        PCI_TRY(open_test(t, &where[i], &all->cells[t->cells], err));
    }
    return PCOL_OK;
}

void pci_conditions_close(struct pci_conditions *conditions)
{
    if (!conditions)
        return;
    for (size_t i = 0; i < conditions->count; i++) {
        pci_test_close(&conditions->tests[i].is);
        pci_free(conditions->tests[i].memo);
    }
    for (size_t i = 0; i < conditions->cell_count; i++) {
        pci_free(conditions->cells[i].bits);
        pci_free(conditions->cells[i].texts);
        pci_free(conditions->cells[i].valid);
    }
    pci_free(conditions->tests);
    pci_free(conditions->cells);
    pci_free(conditions);
}

/* ---- skipping rows */

/* Rows of an interval of numbers of rows, which count from `base`: 0 or 1. */
static void clip(int64_t low, int64_t high, int64_t base, uint64_t *first, uint64_t *end)
{
    uint64_t from = low > base ? (uint64_t)(low - base) : 0;
    uint64_t to = high >= base ? (uint64_t)(high - base) + 1 : 0;
    *first = from > *first ? from : *first;
    *end = to < *end ? to : *end;
}

pcol_status pci_conditions_narrow(const struct pci_conditions *conditions, uint64_t *first,
                                  uint64_t *end, pcol_error *err)
{
    const pcol_table *table = conditions->table;
    for (size_t i = 0; i < conditions->count; i++) {
        const struct test *t = &conditions->tests[i];
        const pcol_column *column = conditions->cells[t->cells].column;
        uint64_t from = 0, to = UINT64_MAX;
        if (t->is.never && !t->is.complement)
            *end = *first;
        if (t->is.kind != PCI_TEST_INTEGER || t->is.complement || t->is.never)
            continue;
        if (column->order == PCI_ROW_ID)
            clip(t->is.low, t->is.high, 1 + column->offset, first, end);
        if (column->order != PCI_SAMPLE_ID || !table->expander->find)
            continue;
        clip(t->is.low, t->is.high, 1, &from, &to);
        if (from)
            PCI_TRY(table->expander->find(table, from, &from, err));
        if (to < UINT64_MAX)
            PCI_TRY(table->expander->find(table, to, &to, err));
        *first = from > *first ? from : *first;
        *end = to < *end ? to : *end;
    }
    *end = *end < *first ? *first : *end;
    return PCOL_OK;
}

static int can_skip(const struct test *t, const pcol_column *column)
{
    return (column->order == PCI_STORED || column->order == PCI_STORED_MS) && !t->is.complement &&
           (t->is.kind == PCI_TEST_INTEGER || t->is.kind == PCI_TEST_DOUBLE ||
            t->is.kind == PCI_TEST_NULL);
}

pcol_status pci_conditions_verify(const struct pci_conditions *conditions, pcol_error *err)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const pcol_column *column = conditions->cells[conditions->tests[i].cells].column;
        if (can_skip(&conditions->tests[i], column))
            PCI_TRY(pci_verify_column(column, err));
    }
    return PCOL_OK;
}

/* 0: no cell of a block is in the interval. */
static int meets(const struct test *t, const pcol_column *column,
                 const struct pci_column_range *range)
{
    int64_t low, high;
    if (column->order == PCI_STORED_MS)
        return t->is.kind == PCI_TEST_DOUBLE && (double)range->max / 1e6 >= t->is.from &&
               (double)range->min / 1e6 <= t->is.to;
    if (t->is.kind != PCI_TEST_INTEGER || (column->type == PCOL_U64 && range->min < 0) ||
        __builtin_add_overflow(range->min, column->offset, &low) ||
        __builtin_add_overflow(range->max, column->offset, &high))
        return 1;
    if (column->type == PCOL_U64) {
        low = pci_bias((uint64_t)low);
        high = pci_bias((uint64_t)high);
    }
    return high >= t->is.low && low <= t->is.high;
}

int pci_conditions_may_match(const struct pci_conditions *conditions, uint64_t row)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const struct test *t = &conditions->tests[i];
        const pcol_column *column = conditions->cells[t->cells].column;
        struct pci_column_range range;
        if (!can_skip(t, column))
            continue;
        if (t->is.kind == PCI_TEST_NULL) {
            if (!column->nullable)
                return 0;
            continue;
        }
        if (atomic_load_explicit(&column->source->compression_state, memory_order_acquire) ||
            column->source->desc->type == PCF_F64 ||
            !pci_block_bounds(column->source->data, row / PCI_BATCH, &range))
            continue;
        if (!meets(t, column, &range))
            return 0;
    }
    return 1;
}

/* ---- testing */

/* 1 if a row has the text of the row before, at the same address. */
static int repeats_text(const struct cells *cells, size_t i)
{
    const pcol_str *text = &cells->texts[i];
    return i && cells->valid[i - 1] && cells->valid[i] && text->data == text[-1].data &&
           text->size == text[-1].size;
}

static pcol_status load_texts(struct cells *cells, const struct pci_rows *rows, uint64_t row,
                              size_t n, pcol_error *err)
{
    const struct pcol_table *table = cells->column->table;
    PCI_TRY(pci_rows_read_str(rows, cells->column, row, n, cells->texts, cells->valid, err));
    for (size_t i = 0; i < n; i++)
        if (cells->valid[i] && !repeats_text(cells, i))
            cells->text_bytes += cells->texts[i].size;
    if (cells->text_bytes > pci_file_limit(table->file, TEXT_BYTES, TEXT_BYTES_PER_BYTE))
        return pci_fail_cell(err, PCOL_E_LIMIT, table->name, cells->column->name, row,
                             "the texts of this column take implausibly many bytes");
    return PCOL_OK;
}

static pcol_status load(struct cells *cells, const struct pci_rows *rows, uint64_t row, size_t n,
                        pcol_error *err)
{
    const pcol_column *column = cells->column;
    cells->loaded = 1;
    if (column->type == PCOL_LIST) {
        memset(cells->valid, 1, n);
        return PCOL_OK;
    }
    if (cells->texts)
        return load_texts(cells, rows, row, n, err);
    if (cells->by_code)
        return pci_rows_read_codes(rows, column, row, n, cells->bits, cells->valid, err);
    PCI_TRY(pci_rows_read_bits(rows, column, row, n, cells->bits, cells->valid, err));
    for (size_t i = 0; cells->unsigned_bias && i < n; i++)
        cells->bits[i] = pci_bias((uint64_t)cells->bits[i]);
    return PCOL_OK;
}

static void test_integers(const struct test *t, const struct cells *cells, size_t n, uint8_t *alive)
{
    uint64_t low = (uint64_t)t->is.low, span = (uint64_t)t->is.high - low;
    uint8_t complement = (uint8_t)t->is.complement;
    for (size_t i = 0; i < n; i++) {
        uint8_t in = (uint64_t)cells->bits[i] - low <= span;
        alive[i] &= (uint8_t)((in ^ complement) & cells->valid[i]);
    }
}

static void test_doubles(const struct test *t, const struct cells *cells, size_t n, uint8_t *alive)
{
    for (size_t i = 0; i < n; i++) {
        double value;
        memcpy(&value, &cells->bits[i], sizeof value);
        int in = value >= t->is.from && value <= t->is.to;
        alive[i] &= (uint8_t)((in ^ t->is.complement) & cells->valid[i]);
    }
}

static pcol_status test_code(const struct test *t, const pcol_column *column, uint64_t row,
                             int64_t code, int *holds, pcol_error *err)
{
    const pcol_file *file = column->table->file;
    pcol_str text;
    if ((uint64_t)code >= file->strings->desc->rows)
        return pci_corrupt(err, column->table->name, column->name, row,
                           "string %llu does not exist", (unsigned long long)code);
    if (!t->memo[code]) {
        PCI_TRY(pci_string(file, (uint64_t)code, &text, err));
        PCI_TRY(pci_test_text(&t->is, text, holds, err));
        t->memo[code] = *holds ? 1 : 2;
    }
    *holds = t->memo[code] == 1;
    return PCOL_OK;
}

static pcol_status test_texts(const struct test *t, const struct cells *cells, uint64_t row,
                              size_t n, uint8_t *alive, pcol_error *err)
{
    int holds = 0, is_tested = 0; /* the text of the row before */
    for (size_t i = 0; i < n; i++) {
        int is_wanted = alive[i] && cells->valid[i];
        is_tested &= cells->texts && repeats_text(cells, i);
        if (is_wanted && t->memo)
            PCI_TRY(test_code(t, cells->column, row + i, cells->bits[i], &holds, err));
        else if (is_wanted && !is_tested)
            PCI_TRY(pci_test_text(&t->is, cells->texts[i], &holds, err));
        is_tested |= is_wanted;
        alive[i] = (uint8_t)(is_wanted && holds);
    }
    return PCOL_OK;
}

static pcol_status test_rows(const struct test *t, const struct cells *cells, uint64_t row,
                             size_t n, uint8_t *alive, pcol_error *err)
{
    switch (t->is.kind) {
    case PCI_TEST_TEXT:
        return test_texts(t, cells, row, n, alive, err);
    case PCI_TEST_NULL:
        for (size_t i = 0; i < n; i++)
            alive[i] &= (uint8_t)(cells->valid[i] == t->is.complement);
        return PCOL_OK;
    case PCI_TEST_INTEGER:
    case PCI_TEST_DOUBLE:
        break;
    }
    if (t->is.never) {
        for (size_t i = 0; i < n; i++)
            alive[i] &= (uint8_t)(t->is.complement & cells->valid[i]);
    } else if (t->is.kind == PCI_TEST_INTEGER) {
        test_integers(t, cells, n, alive);
    } else {
        test_doubles(t, cells, n, alive);
    }
    return PCOL_OK;
}

pcol_status pci_conditions_test(struct pci_conditions *conditions, const struct pci_rows *rows,
                                uint64_t row, size_t count, uint8_t *alive, int *any,
                                pcol_error *err)
{
    *any = 1;
    for (size_t i = 0; i < conditions->cell_count; i++)
        conditions->cells[i].loaded = 0;
    for (size_t i = 0; i < conditions->count && *any; i++) {
        const struct test *t = &conditions->tests[i];
        struct cells *cells = &conditions->cells[t->cells];
        if (!cells->loaded)
            PCI_TRY(load(cells, rows, row, count, err));
        PCI_TRY(test_rows(t, cells, row, count, alive, err));
        *any = memchr(alive, 1, count) != NULL;
    }
    return PCOL_OK;
}

void pci_conditions_cells(const struct pci_conditions *conditions, const pcol_column *column,
                          struct pci_tested_cells *cells)
{
    for (size_t i = 0; conditions && i < conditions->cell_count; i++) {
        const struct cells *c = &conditions->cells[i];
        if (c->column != column || !c->loaded || c->unsigned_bias || column->type == PCOL_LIST)
            continue;
        *cells = (struct pci_tested_cells){.valid = c->valid, .texts = c->texts};
        *(c->by_code ? &cells->codes : &cells->bits) = c->bits;
    }
}
