/*
 * conditions.c - typed conditions of a scan
 *
 * Each comparison of numbers is an interval of the column's own type and a flag for its complement,
 * worked out once: integers of 64 bits, signed or biased to signed, or doubles. A text of the pool
 * is tested once per code and remembered. Conditions on ids narrow the rows; bounds of blocks in
 * the directories of encodings show blocks without hits. Tests: tests/unit/test_scan.c, fuzz target
 * scan.
 */
#include "query/conditions.h"

#include "model/column_range.h"
#include "util/alloc.h"

#include <math.h>
#include <string.h>

#define MAX_MEMO_CODES ((uint64_t)1 << 26) /* texts of larger pools are tested for each row */

enum test_kind { TEST_INTEGER, TEST_DOUBLE, TEST_TEXT, TEST_NULL };

struct test {
    enum test_kind kind;
    uint32_t cells; /* index in pci_conditions.cells */
    uint32_t op;
    int never;         /* no value is in the interval */
    int complement;    /* NE, NOT_MATCH, NOT_NULL */
    int64_t low, high; /* TEST_INTEGER: inclusive */
    double from, to;   /* TEST_DOUBLE: inclusive */
    char *text;        /* TEST_TEXT: owned copy */
    size_t text_size;
    pcol_pattern *pattern;
    uint8_t *memo; /* by code: 0 unknown, 1 holds, 2 does not hold; NULL: the cells are texts */
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

/* ---- intervals */

static pcol_status fail_condition(const pcol_column *column, const char *problem, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_ARGUMENT, column->table->name, column->name,
                         PCOL_POSITION_UNKNOWN, "a condition on this column of type %s %s",
                         pcol_type_name(column->type), problem);
}

/* Sets the interval of integers for a value between two of them, `below` and `below` + 1, or equal
 * to `below` if it is `exact`; values beyond the type are clipped by the caller. */
static void set_integers(struct test *t, int64_t below, int exact)
{
    t->low = INT64_MIN;
    t->high = INT64_MAX;
    switch (t->op) {
    case PCOL_OP_EQ:
    case PCOL_OP_NE:
        t->low = t->high = below;
        t->never = !exact;
        break;
    case PCOL_OP_LT:
        t->never = exact && below == INT64_MIN;
        t->high = t->never ? below : below - exact;
        break;
    case PCOL_OP_LE:
        t->high = below;
        break;
    case PCOL_OP_GT:
        t->never = below == INT64_MAX;
        t->low = t->never ? below : below + 1;
        break;
    default: /* PCOL_OP_GE */
        t->never = !exact && below == INT64_MAX;
        t->low = exact || t->never ? below : below + 1;
        break;
    }
}

/* The value is below (-1) or above (1) all integers of the column. */
static void set_beyond(struct test *t, int side)
{
    int less = t->op == PCOL_OP_LT || t->op == PCOL_OP_LE;
    int greater = t->op == PCOL_OP_GT || t->op == PCOL_OP_GE;
    t->low = INT64_MIN;
    t->high = INT64_MAX;
    t->never = !(side > 0 ? less : greater);
}

/* Flips bit 63: unsigned integers compare as signed ones. */
static int64_t bias(uint64_t value)
{
    return (int64_t)(value ^ (uint64_t)1 << 63);
}

static void set_from_double(struct test *t, int is_unsigned, double value)
{
    double low = is_unsigned ? 0 : -0x1p63, high = is_unsigned ? 0x1p64 : 0x1p63;
    double below = floor(value);
    if (isnan(value))
        t->never = 1;
    else if (below < low || below >= high)
        set_beyond(t, below < low ? -1 : 1);
    else
        set_integers(t, is_unsigned ? bias((uint64_t)below) : (int64_t)below, below == value);
}

static void set_integer_test(struct test *t, const pcol_condition *c, int is_unsigned)
{
    t->kind = TEST_INTEGER;
    if (c->type == PCOL_F64)
        set_from_double(t, is_unsigned, c->value.f64);
    else if (is_unsigned && c->type == PCOL_I64 && c->value.i64 < 0)
        set_beyond(t, -1);
    else if (!is_unsigned && c->type == PCOL_U64 && c->value.u64 > INT64_MAX)
        set_beyond(t, 1);
    else if (is_unsigned)
        set_integers(t, bias(c->value.u64), 1); /* the bits of a positive i64 are the same */
    else
        set_integers(t, c->value.i64, 1);
}

/* The next double below a finite one or above it. */
static double next_double(double value, int up)
{
    return nextafter(value, up ? HUGE_VAL : -HUGE_VAL);
}

/* The doubles next to an integer: the largest not above it and the smallest not below it. */
static void enclose(const pcol_condition *c, double *below, double *above)
{
    int negative = c->type == PCOL_I64 && c->value.i64 < 0;
    uint64_t magnitude = negative ? 0 - c->value.u64 : c->value.u64;
    double nearest = (double)magnitude; /* at most 2^64 */
    int over = nearest >= 0x1p64 || (uint64_t)nearest > magnitude;
    int under = !over && (uint64_t)nearest < magnitude;
    double low = over ? next_double(nearest, 0) : nearest;
    double high = under ? next_double(nearest, 1) : nearest;
    *below = negative ? -high : low;
    *above = negative ? -low : high;
}

static void set_double_test(struct test *t, const pcol_condition *c)
{
    double below = c->value.f64, above = c->value.f64;
    t->kind = TEST_DOUBLE;
    if (c->type != PCOL_F64)
        enclose(c, &below, &above);
    int exact = below == above;
    t->from = -HUGE_VAL;
    t->to = HUGE_VAL;
    if (isnan(below) || ((t->op == PCOL_OP_EQ || t->op == PCOL_OP_NE) && !exact))
        t->never = 1;
    else if (t->op == PCOL_OP_EQ || t->op == PCOL_OP_NE)
        t->from = t->to = below;
    else if (t->op == PCOL_OP_LE)
        t->to = below;
    else if (t->op == PCOL_OP_GE)
        t->from = above;
    else if (t->op == PCOL_OP_LT && exact && below == -HUGE_VAL)
        t->never = 1;
    else if (t->op == PCOL_OP_GT && exact && below == HUGE_VAL)
        t->never = 1;
    else if (t->op == PCOL_OP_LT)
        t->to = exact ? next_double(below, 0) : below;
    else
        t->from = exact ? next_double(above, 1) : above;
}

/* ---- opening */

static int is_value_type(uint32_t type)
{
    return type == PCOL_I64 || type == PCOL_U64 || type == PCOL_F64;
}

static pcol_status set_text_test(struct test *t, const pcol_condition *c, const struct cells *cells,
                                 pcol_error *err)
{
    const pcol_file *file = cells->column->table->file;
    t->kind = TEST_TEXT;
    if (c->value.str.size && !c->value.str.data)
        return fail_condition(cells->column, "has a text of NULL", err);
    PCI_TRY(PCI_MALLOC(t->text, c->value.str.size + 1, err));
    if (c->value.str.size)
        memcpy(t->text, c->value.str.data, c->value.str.size);
    t->text_size = c->value.str.size;
    if (t->op == PCOL_OP_MATCH || t->op == PCOL_OP_NOT_MATCH)
        PCI_TRY(pcol_pattern_new(t->text, t->text_size, "condition", 0, &t->pattern, err));
    if (!cells->by_code)
        return PCOL_OK;
    return PCI_CALLOC(t->memo, (size_t)file->strings->desc->rows + 1, err);
}

static pcol_status set_test(struct test *t, const pcol_condition *c, const struct cells *cells,
                            pcol_error *err)
{
    const pcol_column *column = cells->column;
    t->op = c->op;
    t->complement = c->op == PCOL_OP_NE || c->op == PCOL_OP_NOT_MATCH || c->op == PCOL_OP_NOT_NULL;
    if (c->op > PCOL_OP_NOT_NULL)
        return fail_condition(column, "has an unknown operator", err);
    if (c->op >= PCOL_OP_IS_NULL) {
        t->kind = TEST_NULL;
        return PCOL_OK;
    }
    if (column->type == PCOL_LIST)
        return fail_condition(column, "can only be IS_NULL or NOT_NULL", err);
    if (is_text(column->type)) {
        if (c->type != PCOL_STRING)
            return fail_condition(column, "needs a value of type string", err);
        return set_text_test(t, c, cells, err);
    }
    if (c->op >= PCOL_OP_MATCH)
        return fail_condition(column, "cannot be a pattern", err);
    if (!is_value_type(c->type))
        return fail_condition(column, "needs a value of type i64, u64 or f64", err);
    if (column->type == PCOL_F64)
        set_double_test(t, c);
    else
        set_integer_test(t, c, column->type == PCOL_U64);
    return PCOL_OK;
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
    if (column->source && !column->source->supported)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, all->table->name, column->name,
                             PCOL_POSITION_UNKNOWN, "this column needs a newer reader");
    for (*index = 0; *index < all->cell_count; ++*index)
        if (all->cells[*index].column == column)
            return PCOL_OK;
    return open_cells(&all->cells[all->cell_count++], column, err);
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
        PCI_TRY(set_test(t, &where[i], &all->cells[t->cells], err));
    }
    return PCOL_OK;
}

void pci_conditions_close(struct pci_conditions *conditions)
{
    if (!conditions)
        return;
    for (size_t i = 0; i < conditions->count; i++) {
        pci_free(conditions->tests[i].text);
        pci_free(conditions->tests[i].memo);
        pcol_pattern_free(conditions->tests[i].pattern);
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
        if (t->never && !t->complement)
            *end = *first;
        if (t->kind != TEST_INTEGER || t->complement || t->never)
            continue;
        if (column->order == PCI_ROW_ID)
            clip(t->low, t->high, 1 + column->offset, first, end);
        if (column->order != PCI_SAMPLE_ID || !table->expander->find)
            continue;
        clip(t->low, t->high, 1, &from, &to);
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
    return (column->order == PCI_STORED || column->order == PCI_STORED_MS) && !t->complement &&
           (t->kind == TEST_INTEGER || t->kind == TEST_DOUBLE || t->kind == TEST_NULL);
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
        return t->kind == TEST_DOUBLE && (double)range->max / 1e6 >= t->from &&
               (double)range->min / 1e6 <= t->to;
    if (t->kind != TEST_INTEGER || (column->type == PCOL_U64 && range->min < 0) ||
        __builtin_add_overflow(range->min, column->offset, &low) ||
        __builtin_add_overflow(range->max, column->offset, &high))
        return 1;
    if (column->type == PCOL_U64) {
        low = bias((uint64_t)low);
        high = bias((uint64_t)high);
    }
    return high >= t->low && low <= t->high;
}

int pci_conditions_may_match(const struct pci_conditions *conditions, uint64_t row)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const struct test *t = &conditions->tests[i];
        const pcol_column *column = conditions->cells[t->cells].column;
        struct pci_column_range range;
        if (!can_skip(t, column))
            continue;
        if (t->kind == TEST_NULL) {
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
        return pci_rows_read_str(rows, column, row, n, cells->texts, cells->valid, err);
    if (cells->by_code)
        return pci_rows_read_codes(rows, column, row, n, cells->bits, cells->valid, err);
    PCI_TRY(pci_rows_read_bits(rows, column, row, n, cells->bits, cells->valid, err));
    for (size_t i = 0; cells->unsigned_bias && i < n; i++)
        cells->bits[i] = bias((uint64_t)cells->bits[i]);
    return PCOL_OK;
}

static void test_integers(const struct test *t, const struct cells *cells, size_t n, uint8_t *alive)
{
    uint64_t low = (uint64_t)t->low, span = (uint64_t)t->high - low;
    uint8_t complement = (uint8_t)t->complement;
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
        int in = value >= t->from && value <= t->to;
        alive[i] &= (uint8_t)((in ^ t->complement) & cells->valid[i]);
    }
}

static pcol_status test_text(const struct test *t, pcol_str text, int *holds, pcol_error *err)
{
    if (t->pattern) {
        PCI_TRY(pcol_pattern_test(t->pattern, text, holds, err));
        *holds ^= t->complement;
        return PCOL_OK;
    }
    size_t common = text.size < t->text_size ? text.size : t->text_size;
    int sign = common ? memcmp(text.data, t->text, common) : 0;
    if (!sign)
        sign = text.size < t->text_size ? -1 : text.size > t->text_size;
    switch (t->op) {
    case PCOL_OP_EQ:
        *holds = sign == 0;
        break;
    case PCOL_OP_NE:
        *holds = sign != 0;
        break;
    case PCOL_OP_LT:
        *holds = sign < 0;
        break;
    case PCOL_OP_LE:
        *holds = sign <= 0;
        break;
    case PCOL_OP_GT:
        *holds = sign > 0;
        break;
    default:
        *holds = sign >= 0;
        break;
    }
    return PCOL_OK;
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
        PCI_TRY(test_text(t, text, holds, err));
        t->memo[code] = *holds ? 1 : 2;
    }
    *holds = t->memo[code] == 1;
    return PCOL_OK;
}

static pcol_status test_texts(const struct test *t, const struct cells *cells, uint64_t row,
                              size_t n, uint8_t *alive, pcol_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int holds = 0;
        if (!alive[i] || !cells->valid[i]) {
            alive[i] = 0;
            continue;
        }
        if (t->memo)
            PCI_TRY(test_code(t, cells->column, row + i, cells->bits[i], &holds, err));
        else
            PCI_TRY(test_text(t, cells->texts[i], &holds, err));
        alive[i] = (uint8_t)holds;
    }
    return PCOL_OK;
}

static pcol_status test_rows(const struct test *t, const struct cells *cells, uint64_t row,
                             size_t n, uint8_t *alive, pcol_error *err)
{
    switch (t->kind) {
    case TEST_TEXT:
        return test_texts(t, cells, row, n, alive, err);
    case TEST_NULL:
        for (size_t i = 0; i < n; i++)
            alive[i] &= (uint8_t)(cells->valid[i] == t->complement);
        return PCOL_OK;
    case TEST_INTEGER:
    case TEST_DOUBLE:
        break;
    }
    if (t->never) {
        for (size_t i = 0; i < n; i++)
            alive[i] &= (uint8_t)(t->complement & cells->valid[i]);
    } else if (t->kind == TEST_INTEGER) {
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
