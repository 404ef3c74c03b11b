/*
 * scan.c - batches of rows, column by column
 *
 * A scan has a buffer per requested column and, for an expanded table, one cursor that generates
 * the rows for all columns. Batches are smaller if lists are long. Tests: tests/unit/test_model.c.
 */
#include "model/table.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <string.h>

#define LIST_VALUES 65536u /* target for the number of list values in a batch */

struct scan_column {
    const pcol_column *column;
    int64_t *i64;
    double *f64;
    pcol_str *str;
    uint64_t *list;
    int64_t *list_values;
    size_t list_capacity;
    uint8_t *valid;
};

struct pcol_scan {
    const pcol_table *table;
    uint64_t row, end;
    uint64_t count; /* rows of the scan, for pci_partial_read_begin() */
    size_t most;    /* size of the next batch */
    int failed;
    int64_t *bits; /* buffer of doubles */
    struct pci_rows rows;
    uint32_t column_count;
    struct scan_column *columns;
    pcol_cells *cells;
};

static int is_text(pcol_type type)
{
    return type == PCOL_STRING || type == PCOL_BYTES;
}

static pcol_status open_column(struct scan_column *c, const pcol_column *column, pcol_error *err)
{
    int missing;
    c->column = column;
    c->valid = pci_malloc(PCI_BATCH, 1);
    if (is_text(column->type)) {
        c->str = pci_malloc(PCI_BATCH, sizeof *c->str);
        missing = !c->str;
    } else if (column->type == PCOL_LIST) {
        c->list = pci_malloc(PCI_BATCH + 1, sizeof *c->list);
        missing = !c->list;
    } else if (column->type == PCOL_F64) {
        c->f64 = pci_malloc(PCI_BATCH, sizeof *c->f64);
        missing = !c->f64;
    } else {
        c->i64 = pci_malloc(PCI_BATCH, sizeof *c->i64);
        missing = !c->i64;
    }
    return missing || !c->valid ? pci_fail_memory(err) : PCOL_OK;
}

static pcol_status open_columns(pcol_scan *scan, const uint32_t *columns, pcol_error *err)
{
    const pcol_table *table = scan->table;
    scan->columns = pci_calloc(scan->column_count + (size_t)1, sizeof *scan->columns);
    scan->cells = pci_calloc(scan->column_count + (size_t)1, sizeof *scan->cells);
    scan->bits = pci_malloc(PCI_BATCH, sizeof *scan->bits);
    if (!scan->columns || !scan->cells || !scan->bits)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < scan->column_count; i++) {
        uint32_t number = columns ? columns[i] : i;
        const pcol_column *column = pcol_table_column(table, number);
        if (!column)
            return pci_fail(err, PCOL_E_ARGUMENT, "table %s has no column number %u", table->name,
                            (unsigned)number);
        if (column->source && !column->source->supported)
            return pci_fail_cell(err, PCOL_E_UNSUPPORTED, table->name, column->name,
                                 PCOL_POSITION_UNKNOWN, "this column needs a newer reader");
        if (column->type == PCOL_LIST)
            scan->most = 64;
        PCI_TRY(open_column(&scan->columns[i], column, err));
    }
    return PCOL_OK;
}

static pcol_status verify_all(const pcol_scan *scan, pcol_error *err)
{
    for (uint32_t i = 0; i < scan->column_count; i++)
        PCI_TRY(pci_verify_column(scan->columns[i].column, err));
    return PCOL_OK;
}

static pcol_status open_rows(pcol_scan *scan, pcol_error *err)
{
    uint64_t rows = scan->table->rows, before = pci_partial_read_begin(scan->count);
    pcol_status status =
        pci_rows_open(&scan->rows, scan->table, scan->row < scan->end ? scan->row : rows, err);
    pci_partial_read_end(before);
    return status;
}

pcol_status pcol_scan_new(const pcol_table *table, const uint32_t *columns, uint32_t column_count,
                          uint64_t first_row, uint64_t row_count, pcol_scan **scan, pcol_error *err)
{
    PCI_REQUIRE(scan, err);
    pcol_scan *s;
    pcol_status status;
    *scan = NULL;
    if (!table)
        return pci_fail(err, PCOL_E_ARGUMENT, "no table given");
    s = pci_calloc(1, sizeof *s);
    if (!s)
        return pci_fail_memory(err);
    s->table = table;
    s->most = PCI_BATCH;
    s->row = first_row < table->rows ? first_row : table->rows;
    s->end = row_count < table->rows - s->row ? s->row + row_count : table->rows;
    s->column_count = columns ? column_count : table->column_count;
    status = open_columns(s, columns, err);
    int whole = s->row == 0 && s->end == table->rows;
    s->count = whole ? UINT64_MAX : s->end - s->row ? s->end - s->row : 1;
    if (status == PCOL_OK && whole)
        status = verify_all(s, err);
    if (status == PCOL_OK)
        status = open_rows(s, err);
    if (status == PCOL_OK)
        *scan = s;
    else
        pcol_scan_free(s);
    return status;
}

void pcol_scan_free(pcol_scan *scan)
{
    if (!scan)
        return;
    if (scan->rows.table)
        pci_rows_close(&scan->rows);
    for (uint32_t i = 0; scan->columns && i < scan->column_count; i++) {
        struct scan_column *c = &scan->columns[i];
        pci_free(c->i64);
        pci_free(c->f64);
        pci_free(c->str);
        pci_free(c->list);
        pci_free(c->list_values);
        pci_free(c->valid);
    }
    pci_free(scan->columns);
    pci_free(scan->cells);
    pci_free(scan->bits);
    pci_free(scan);
}

static pcol_status read_lists(const pcol_scan *scan, struct scan_column *c, size_t n,
                              pcol_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        c->list[i] = count;
        c->valid[i] = 1;
        PCI_TRY(c->column->list(c->column, scan->rows.lanes, i, &c->list_values, &c->list_capacity,
                                &count, err));
    }
    c->list[n] = count;
    return PCOL_OK;
}

static pcol_status read_column(pcol_scan *scan, struct scan_column *c, size_t n, pcol_error *err)
{
    if (c->list)
        return read_lists(scan, c, n, err);
    if (c->str)
        return pci_rows_read_str(&scan->rows, c->column, scan->row, n, c->str, c->valid, err);
    if (c->i64)
        return pci_rows_read_bits(&scan->rows, c->column, scan->row, n, c->i64, c->valid, err);
    PCI_TRY(pci_rows_read_bits(&scan->rows, c->column, scan->row, n, scan->bits, c->valid, err));
    memcpy(c->f64, scan->bits, n * sizeof *c->f64);
    return PCOL_OK;
}

/* Adapts the batch size to the number of values in lists. */
static void adapt(pcol_scan *scan, const struct scan_column *c, size_t n)
{
    uint64_t values = c->list[n];
    if (values > LIST_VALUES && scan->most > 1)
        scan->most /= 2;
    else if (values < LIST_VALUES / 2 && scan->most < PCI_BATCH)
        scan->most *= 2;
}

static pcol_status next(pcol_scan *scan, pcol_batch *batch, pcol_error *err)
{
    uint64_t left = scan->end - scan->row;
    size_t n = left < scan->most ? (size_t)left : scan->most;
    *batch = (pcol_batch){
        .first_row = scan->row, .column_count = scan->column_count, .columns = scan->cells};
    PCI_TRY(pci_rows_next(&scan->rows, n, err));
    for (uint32_t i = 0; i < scan->column_count; i++) {
        struct scan_column *c = &scan->columns[i];
        if (n)
            PCI_TRY(read_column(scan, c, n, err));
        if (n && c->list)
            adapt(scan, c, n);
        scan->cells[i] = (pcol_cells){c->column->type, c->i64,         c->f64,  c->str,
                                      c->list,         c->list_values, c->valid};
    }
    batch->rows = n;
    scan->row += n;
    return PCOL_OK;
}

/* After a failure the position of the cursor is undefined; the scan cannot continue. */
pcol_status pcol_scan_next(pcol_scan *scan, pcol_batch *batch, pcol_error *err)
{
    PCI_REQUIRE(batch, err);
    *batch = (pcol_batch){0};
    PCI_REQUIRE(scan, err);
    if (scan->failed)
        return pci_fail(err, PCOL_E_STATE, "the scan has failed before");
    uint64_t before = pci_partial_read_begin(scan->count);
    pcol_status status = next(scan, batch, err);
    pci_partial_read_end(before);
    if (status == PCOL_OK)
        return PCOL_OK;
    scan->failed = 1;
    *batch = (pcol_batch){0};
    return status;
}
