/*
 * cells.c - single cells and ranges of cells of any column
 *
 * Cells are read in batches of PCI_BATCH rows through the functions of the column. Columns of an
 * expanded table read the lanes that its cursor has filled for these rows. Tests:
 * tests/unit/test_model.c, suite columns.
 */
#include "model/arrays.h"
#include "model/joins.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <string.h>

pcol_status pci_rows_open(struct pci_rows *rows, const pcol_table *table, uint64_t row,
                          pcol_error *err)
{
    pcol_status status = PCOL_OK;
    *rows = (struct pci_rows){.table = table};
    if (table->join_count)
        status = pci_join_reader_open(table, &rows->joins, err);
    if (table->expander && row < table->rows) {
        PCI_THEN(status, PCI_MALLOC(rows->lanes, 1, err));
        PCI_THEN(status, table->expander->open(table, row, &rows->cursor, err));
    }
    if (status != PCOL_OK)
        pci_rows_close(rows);
    return status;
}

pcol_status pci_rows_next(struct pci_rows *rows, size_t count, pcol_error *err)
{
    if (!rows->cursor || count == 0)
        return PCOL_OK;
    return rows->table->expander->next(rows->cursor, count, rows->lanes, err);
}

void pci_rows_close(struct pci_rows *rows)
{
    if (rows->cursor)
        rows->table->expander->close(rows->cursor);
    pci_free(rows->lanes);
    pci_join_reader_close(rows->joins);
    rows->cursor = NULL;
    rows->lanes = NULL;
    rows->joins = NULL;
}

uint64_t pci_rows_text_bytes(const struct pci_rows *rows)
{
    return rows->joins ? pci_join_text_bytes(rows->joins) : 0;
}

void pci_rows_release_texts(struct pci_rows *rows)
{
    if (rows->joins)
        pci_join_release_texts(rows->joins);
}

pcol_status pci_rows_read_bits(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                               size_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    if (column->join)
        return pci_join_read_bits(rows, column, row, count, values, valid, err);
    if (rows->lanes)
        return column->lane_bits(column, rows->lanes, count, values, valid, err);
    return column->bits(column, row, count, values, valid, err);
}

pcol_status pci_rows_read_str(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                              size_t count, pcol_str *values, uint8_t *valid, pcol_error *err)
{
    if (column->join)
        return pci_join_read_str(rows, column, row, count, values, valid, err);
    if (rows->lanes)
        return column->lane_str(column, rows->lanes, count, values, valid, err);
    return column->str(column, row, count, values, valid, err);
}

pcol_status pci_rows_read_codes(const struct pci_rows *rows, const pcol_column *column,
                                uint64_t row, size_t count, int64_t *codes, uint8_t *valid,
                                pcol_error *err)
{
    if (column->join)
        return pci_join_read_codes(rows, column, row, count, codes, valid, err);
    if (rows->lanes)
        return column->lane_codes(column, rows->lanes, count, codes, valid, err);
    return column->codes(column, row, count, codes, valid, err);
}

pcol_status pci_read_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                         size_t count, pcol_str *values, uint8_t *valid, pcol_error *err)
{
    int64_t codes[PCI_BATCH];
    if (column->desc->type == PCF_BYTES) {
        for (size_t i = 0; i < count; i++) {
            int present;
            PCI_TRY(pci_get_str(file, column, row + i, &values[i], &present, err));
            valid[i] = (uint8_t)present;
        }
        return PCOL_OK;
    }
    PCI_TRY(pci_read(file, column, row, count, codes, valid, err));
    for (size_t i = 0; i < count; i++) {
        if (!valid[i])
            values[i] = (pcol_str){"", 0};
        else if (i && valid[i - 1] && codes[i] == codes[i - 1])
            values[i] = values[i - 1];
        else if (pci_string(file, (uint64_t)codes[i], &values[i], NULL) != PCOL_OK)
            PCI_TRY(pci_get_str(file, column, row + i, &values[i], &(int){0},
                                err)); /* error at the cell */
    }
    return PCOL_OK;
}

/* Verifies a column and the string table that it refers to. */
static pcol_status verify_physical(const pcol_file *file, const struct pci_column *column,
                                   pcol_error *err)
{
    if (column->desc->type == PCF_STRING && file->strings)
        PCI_TRY(pci_verify(file, file->strings, err));
    return pci_verify(file, column, err);
}

pcol_status pci_verify_column(const pcol_column *column, pcol_error *err)
{
    const pcol_table *table = column->table;
    if (column->join)
        return pci_join_verify(column, err);
    for (size_t i = 0; i < table->read_count; i++)
        PCI_TRY(verify_physical(table->file, table->reads[i], err));
    return column->source ? verify_physical(table->file, column->source, err) : PCOL_OK;
}

pcol_status pcol_column_verify(const pcol_column *column, pcol_error *err)
{
    PCI_REQUIRE(column, err);
    return pci_verify_column(column, err);
}

pcol_status pcol_table_split(const pcol_table *table, uint32_t parts, uint64_t *rows,
                             pcol_error *err)
{
    PCI_REQUIRE(table, err);
    PCI_REQUIRE(rows, err);
    if (!parts)
        return pci_fail(err, PCOL_E_ARGUMENT, "a table cannot be split into 0 parts");
    int by_sample = table->expander && table->expander->find;
    uint64_t all = by_sample ? pci_rows(table->file, "samples") : table->rows;
    for (uint32_t i = 0; i <= parts; i++) {
        /* all * i / parts without overflow, at the start of a zone */
        uint64_t at = all / parts * i + all % parts * i / parts;
        rows[i] = at / PCI_ZONE * PCI_ZONE;
        if (by_sample)
            PCI_TRY(table->expander->find(table, rows[i], &rows[i], err));
        if (i && rows[i] < rows[i - 1])
            return pci_corrupt(err, "sample_zones", NULL, PCOL_POSITION_UNKNOWN,
                               "rows do not ascend");
    }
    rows[parts] = table->rows;
    return PCOL_OK;
}

static pcol_status fail_type(const pcol_column *column, const char *requested, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_ARGUMENT, column->table->name, column->name,
                         PCOL_POSITION_UNKNOWN, "a column of type %s cannot be read as %s",
                         pcol_type_name(column->type), requested);
}

enum value_type { AS_I64, AS_F64, AS_STR };

static pcol_status check_type(const pcol_column *column, enum value_type value_type,
                              pcol_error *err)
{
    PCI_REQUIRE(column, err);
    int text = column->type == PCOL_STRING || column->type == PCOL_BYTES;
    int number = column->type == PCOL_I64 || column->type == PCOL_U64 || column->type == PCOL_U32 ||
                 column->type == PCOL_BOOL;
    if (column->direct)
        PCI_TRY(pci_check_column_supported(column, err));
    if (value_type == AS_STR)
        return text ? PCOL_OK : fail_type(column, "text", err);
    if (value_type == AS_I64)
        return number ? PCOL_OK : fail_type(column, "an integer", err);
    return number || column->type == PCOL_F64 ? PCOL_OK : fail_type(column, "a number", err);
}

static pcol_status check_range(const pcol_column *column, uint64_t row, uint64_t count,
                               pcol_error *err)
{
    uint64_t rows = column->table->rows;
    if (row <= rows && count <= rows - row)
        return PCOL_OK;
    return pci_fail_cell(err, PCOL_E_ARGUMENT, column->table->name, column->name, row,
                         "the table has %llu rows", (unsigned long long)rows);
}

static double to_double(const pcol_column *column, int64_t bits)
{
    double value;
    if (column->type == PCOL_F64) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    return column->type == PCOL_U64 ? (double)(uint64_t)bits : (double)bits;
}

/* Reads one cell as 64 bits. */
static pcol_status get_bits(const pcol_column *column, uint64_t row, int64_t *bits, int *valid,
                            pcol_error *err)
{
    struct pci_rows rows;
    uint8_t present = 0;
    pcol_status status;
    PCI_TRY(check_range(column, row, 1, err));
    if (column->direct)
        return pci_get(column->table->file, column->source, row, bits, valid, err);
    PCI_TRY(pci_rows_open(&rows, column->table, row, err));
    status = pci_rows_next(&rows, 1, err);
    PCI_THEN(status, pci_rows_read_bits(&rows, column, row, 1, bits, &present, err));
    pci_rows_close(&rows);
    *valid = present;
    return status;
}

/* Reads one cell without verifying the whole column. */
static pcol_status get_single_bits(const pcol_column *column, uint64_t row, int64_t *bits,
                                   int *valid, pcol_error *err)
{
    uint64_t before = pci_partial_read_begin(PCI_PARTIAL_READ_CELL);
    pcol_status status = get_bits(column, row, bits, valid, err);
    pci_partial_read_end(before);
    return status;
}

pcol_status pcol_column_i64(const pcol_column *column, uint64_t row, int64_t *value, int *valid,
                            pcol_error *err)
{
    PCI_REQUIRE(value, err);
    int64_t bits = 0;
    int present = 0;
    pcol_status status = check_type(column, AS_I64, err);
    PCI_THEN(status, get_single_bits(column, row, &bits, &present, err));
    *value = status == PCOL_OK && present ? bits : 0;
    if (valid)
        *valid = status == PCOL_OK && present;
    return status;
}

pcol_status pcol_column_f64(const pcol_column *column, uint64_t row, double *value, int *valid,
                            pcol_error *err)
{
    PCI_REQUIRE(value, err);
    int64_t bits = 0;
    int present = 0;
    pcol_status status = check_type(column, AS_F64, err);
    PCI_THEN(status, get_single_bits(column, row, &bits, &present, err));
    *value = status == PCOL_OK && present ? to_double(column, bits) : 0;
    if (valid)
        *valid = status == PCOL_OK && present;
    return status;
}

/* Composed texts live as long as the file in the array of the column. */
static pcol_status read_composed(const pcol_column *column, uint64_t row, size_t count,
                                 pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_array *array;
    PCI_TRY(pci_array_open(column, &array, err));
    const int64_t *offsets = array->values;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = row + i;
        values[i].data = (const char *)array->data + offsets[at];
        values[i].size = (size_t)(offsets[at + 1] - offsets[at]);
        if (valid)
            valid[i] = !array->validity || (array->validity[at / 8] >> at % 8 & 1);
    }
    return PCOL_OK;
}

static pcol_status get_str(const pcol_column *column, uint64_t row, pcol_str *value, int *valid,
                           pcol_error *err)
{
    struct pci_rows rows;
    uint8_t present = 0;
    pcol_status status;
    PCI_TRY(check_type(column, AS_STR, err));
    PCI_TRY(check_range(column, row, 1, err));
    if (column->is_composed) {
        PCI_TRY(read_composed(column, row, 1, value, &present, err));
        *valid = present;
        return PCOL_OK;
    }
    if (column->direct)
        return pci_get_str(column->table->file, column->source, row, value, valid, err);
    PCI_TRY(pci_rows_open(&rows, column->table, row, err));
    status = pci_rows_next(&rows, 1, err);
    PCI_THEN(status, pci_rows_read_str(&rows, column, row, 1, value, &present, err));
    pci_rows_close(&rows);
    *valid = present;
    return status;
}

pcol_status pcol_column_str(const pcol_column *column, uint64_t row, pcol_str *value, int *valid,
                            pcol_error *err)
{
    PCI_REQUIRE(value, err);
    int present = 0;
    pcol_status status;
    *value = (pcol_str){"", 0};
    uint64_t before = pci_partial_read_begin(PCI_PARTIAL_READ_CELL);
    status = get_str(column, row, value, &present, err);
    pci_partial_read_end(before);
    if (status != PCOL_OK || !present)
        *value = (pcol_str){"", 0};
    if (valid)
        *valid = status == PCOL_OK && present;
    return status;
}

/* The caller's array; one of the pointers is set. */
struct target {
    enum value_type value_type;
    int64_t *i64;
    double *f64;
    pcol_str *str;
    uint8_t *valid;
};

static pcol_status read_batch(const pcol_column *column, const struct pci_rows *rows, uint64_t row,
                              size_t n, size_t done, const struct target *target, pcol_error *err)
{
    int64_t bits[PCI_BATCH];
    uint8_t scratch[PCI_BATCH];
    uint8_t *valid = target->valid ? target->valid + done : scratch;
    if (target->value_type == AS_STR)
        return pci_rows_read_str(rows, column, row, n, target->str + done, valid, err);
    if (target->value_type == AS_I64)
        return pci_rows_read_bits(rows, column, row, n, target->i64 + done, valid, err);
    PCI_TRY(pci_rows_read_bits(rows, column, row, n, bits, valid, err));
    for (size_t i = 0; i < n; i++)
        target->f64[done + i] = valid[i] ? to_double(column, bits[i]) : 0;
    return PCOL_OK;
}

static pcol_status read_rows(const pcol_column *column, uint64_t row, size_t count,
                             const struct target *target, pcol_error *err)
{
    struct pci_rows rows;
    pcol_status status =
        pci_rows_open(&rows, column->table, count ? row : column->table->rows, err);
    for (size_t done = 0; status == PCOL_OK && done < count;) {
        size_t n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        status = pci_rows_next(&rows, n, err);
        PCI_THEN(status, read_batch(column, &rows, row + done, n, done, target, err));
        done += n;
    }
    pci_rows_close(&rows);
    return status;
}

static pcol_status read_cells(const pcol_column *column, uint64_t row, size_t count,
                              const struct target *target, pcol_error *err)
{
    PCI_TRY(check_type(column, target->value_type, err));
    PCI_TRY(check_range(column, row, count, err));
    if (column->is_composed)
        return read_composed(column, row, count, target->str, target->valid, err);
    if (row == 0 && count == column->table->rows) {
        PCI_TRY(pci_verify_column(column, err));
        return read_rows(column, row, count, target, err);
    }
    uint64_t before = pci_partial_read_begin(count ? count : 1);
    pcol_status status = read_rows(column, row, count, target, err);
    pci_partial_read_end(before);
    return status;
}

pcol_status pcol_column_read_i64(const pcol_column *column, uint64_t row, size_t count,
                                 int64_t *values, uint8_t *valid, pcol_error *err)
{
    PCI_REQUIRE_MANY(values, count, err);
    struct target to = {.value_type = AS_I64, .i64 = values, .valid = valid};
    return read_cells(column, row, count, &to, err);
}

pcol_status pcol_column_read_f64(const pcol_column *column, uint64_t row, size_t count,
                                 double *values, uint8_t *valid, pcol_error *err)
{
    PCI_REQUIRE_MANY(values, count, err);
    struct target to = {.value_type = AS_F64, .f64 = values, .valid = valid};
    return read_cells(column, row, count, &to, err);
}

pcol_status pcol_column_read_str(const pcol_column *column, uint64_t row, size_t count,
                                 pcol_str *values, uint8_t *valid, pcol_error *err)
{
    PCI_REQUIRE_MANY(values, count, err);
    struct target to = {.value_type = AS_STR, .str = values, .valid = valid};
    return read_cells(column, row, count, &to, err);
}
