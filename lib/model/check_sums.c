/*
 * check_sums.c - stack_sums, compared with sums over the samples
 *
 * One pass over the samples marks the stacks that end a sample. One pass per additive type then
 * adds its values in the order of samples, like the writer, so that doubles agree bit by bit.
 * Tests: tests/unit/test_check.c.
 */
#include "model/check.h"
#include "model/types.h"

#include "util/alloc.h"
#include "util/amount.h"

#include <stdio.h>
#include <string.h>

struct sums {
    struct pci_check *check;
    const struct pci_column *stack; /* samples.stack */
    uint64_t samples, rows, stacks;
    uint32_t *row_of; /* by stack: row of stack_sums + 1; 0: none */
    pcol_amount *sum; /* by row */
    uint8_t *seen;    /* by row: bit 0: ends a sample; bit 1: has a value */
    int overflow;
};

static void add_value(struct sums *sums, size_t at, int is_double, int64_t bits)
{
    sums->seen[at] |= 2;
    sums->overflow |= pci_amount_add(is_double, &sums->sum[at], (pcol_amount){.i64 = bits});
}

/* Marks the rows of stacks that end a sample; such a stack without a row is a fault. */
static pcol_status mark_rows(struct sums *sums, pcol_error *err)
{
    struct pci_check *check = sums->check;
    const struct pci_column *stack = pci_check_column(check, "stack_sums", "stack");
    struct pci_tally tally = PCI_TALLY(check, "stack_sums", "stack");
    size_t n;
    for (uint64_t row = 0; row < sums->rows; row += n) {
        PCI_TRY(pci_check_read_rows(check, stack, row, sums->rows, sums->stacks, 0, &n, err));
        if (!n)
            return PCOL_OK;
        for (size_t i = 0; i < n; i++)
            if (check->valid[0][i])
                sums->row_of[check->values[0][i]] = (uint32_t)(row + i + 1);
    }
    for (uint64_t row = 0; row < sums->samples; row += n) {
        PCI_TRY(
            pci_check_read_rows(check, sums->stack, row, sums->samples, sums->stacks, 0, &n, err));
        if (!n)
            return PCOL_OK;
        for (size_t i = 0; i < n; i++) {
            int64_t ends = check->values[0][i];
            uint64_t sample = row + i;
            uint32_t *at = &sums->row_of[check->valid[0][i] ? ends : 0];
            if (!check->valid[0][i])
                continue;
            if (*at)
                sums->seen[*at - 1] |= 1;
            else
                pci_fault(&tally, PCOL_POSITION_UNKNOWN, "stack %lld of sample %llu has no row",
                          (long long)ends, (unsigned long long)sample);
        }
    }
    for (uint64_t row = 0; row < sums->rows; row++) {
        if (!sums->seen[row])
            pci_fault(&tally, row, "no sample has this stack");
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status add_column(struct sums *sums, const struct pci_column *column, pcol_error *err)
{
    struct pci_check *check = sums->check;
    int is_double = column && column->desc->type == PCF_F64;
    size_t n, m;
    memset(sums->sum, 0, (size_t)sums->rows * sizeof *sums->sum);
    for (uint64_t row = 0; row < sums->rows; row++)
        sums->seen[row] &= 1;
    sums->overflow = 0;
    for (uint64_t row = 0; column && row < sums->samples; row += n) {
        PCI_TRY(
            pci_check_read_rows(check, sums->stack, row, sums->samples, sums->stacks, 0, &n, err));
        PCI_TRY(pci_check_read(check, column, row, sums->samples, 1, &m, err));
        if (!n || !m)
            break;
        for (size_t i = 0; i < n; i++) {
            uint32_t at = check->valid[0][i] ? sums->row_of[check->values[0][i]] : 0;
            if (at && check->valid[1][i])
                add_value(sums, at - 1, is_double, check->values[1][i]);
        }
    }
    return PCOL_OK;
}

/* NaNs are equal. */
static int equal(int64_t a, int64_t b, int is_double)
{
    double x, y;
    if (a == b || !is_double)
        return a == b;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y || (x != x && y != y);
}

static pcol_status compare(struct sums *sums, const struct pci_column *column,
                           const struct pci_column *values, pcol_error *err)
{
    struct pci_check *check = sums->check;
    struct pci_tally tally = PCI_TALLY(check, "stack_sums", column->name);
    int is_double = column->desc->type == PCF_F64;
    size_t n;
    if (sums->overflow || (values && values->desc->type != column->desc->type)) {
        pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                  sums->overflow ? "a sum overflows and cannot be stated"
                                 : "the type is not that of the values");
        return PCOL_OK;
    }
    for (uint64_t row = 0; row < sums->rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, sums->rows, 2, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int has = (sums->seen[row + i] & 2) != 0;
            if (has != check->valid[2][i])
                pci_fault(&tally, row + i, has ? "the sum is missing" : "there is nothing to sum");
            else if (has && !equal(sums->sum[row + i].i64, check->values[2][i], is_double))
                pci_fault(&tally, row + i, "the sum is not that of the samples");
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_type(struct sums *sums, const struct pci_types *types, uint32_t type,
                              pcol_error *err)
{
    const struct pci_table *table = pci_table_find(sums->check->file, "stack_sums");
    const struct pci_column *column;
    char name[32];
    struct pci_tally tally = PCI_TALLY(sums->check, "stack_sums", name);
    snprintf(name, sizeof name, "sum.%u", (unsigned)type);
    column = pci_column_find(table, name);
    if (types->is_gauge[type]) {
        if (column)
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "gauges are not summed");
        return PCOL_OK;
    }
    PCI_TRY(add_column(sums, types->columns[type], err));
    if (column)
        return compare(sums, column, types->columns[type], err);
    if (!sums->overflow && types->columns[type])
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the sums of this type are missing");
    return PCOL_OK;
}

static pcol_status check_all(struct sums *sums, const struct pci_types *types, pcol_error *err)
{
    PCI_TRY(PCI_CALLOC(sums->row_of, (size_t)sums->stacks + 1, err));
    PCI_TRY(PCI_CALLOC(sums->sum, (size_t)sums->rows + 1, err));
    PCI_TRY(PCI_CALLOC(sums->seen, (size_t)sums->rows + 1, err));
    PCI_TRY(mark_rows(sums, err));
    for (uint32_t k = 0; k < types->count && !sums->check->stop; k++)
        PCI_TRY(check_type(sums, types, k, err));
    return PCOL_OK;
}

pcol_status pci_check_sums(struct pci_check *check, pcol_error *err)
{
    static const char *const tables[] = {"stack_sums", "samples", "stacks", "sample_types"};
    struct sums sums = {.check = check};
    struct pci_types types;
    pcol_error error = {0};
    pcol_status status;
    if (!pci_rows(check->file, "stack_sums"))
        return PCOL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!pci_check_table(check, tables[i]))
            return PCOL_OK;
    }
    sums.stack = pci_check_column(check, "samples", "stack");
    sums.samples = pci_rows(check->file, "samples");
    sums.rows = pci_rows(check->file, "stack_sums");
    sums.stacks = pci_rows(check->file, "stacks");
    if (pci_check_row_count(check->file, "stacks", &error) != PCOL_OK ||
        pci_types_open(check->file, &types, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    /* The stacks of the rows ascend and are below this number. */
    status = sums.rows <= sums.stacks ? check_all(&sums, &types, err) : PCOL_OK;
    pci_types_close(&types);
    pci_free(sums.row_of);
    pci_free(sums.sum);
    pci_free(sums.seen);
    return status;
}
