/*
 * strings.c - the pool of strings: codes of columns, strings by code
 *
 * Tests: tests/unit/test_scan.c, tests/unit/test_joins.c.
 */
#include "model/table.h"
#include "util/arg_check.h"
#include "util/strbuf.h"

#include <string.h>

uint64_t pcol_file_string_count(const pcol_file *file)
{
    return file && file->strings && file->strings->supported ? file->strings->data->rows : 0;
}

pcol_status pcol_file_string(const pcol_file *file, uint64_t code, pcol_str *string,
                             pcol_error *err)
{
    PCI_REQUIRE(string, err);
    *string = (pcol_str){"", 0};
    PCI_REQUIRE(file, err);
    if (code >= pcol_file_string_count(file))
        return pci_fail(err, PCOL_E_ARGUMENT, "there is no string %llu: the file has %llu strings",
                        (unsigned long long)code, (unsigned long long)pcol_file_string_count(file));
    uint64_t before = pci_partial_read_begin(1);
    pcol_status status = pci_string(file, code, string, err);
    pci_partial_read_end(before);
    return status;
}

pcol_status pci_find_string(const pcol_file *file, pcol_str text, uint64_t *code, pcol_str *string,
                            int *exists, pcol_error *err)
{
    uint64_t low = 0, high = pcol_file_string_count(file);
    *exists = 0;
    while (low < high && !*exists) {
        *code = low + (high - low) / 2;
        PCI_TRY(pci_string(file, *code, string, err));
        int order = pci_str_compare(*string, text);
        *exists = !order;
        if (order < 0)
            low = *code + 1;
        else
            high = *code;
    }
    return PCOL_OK;
}

static pcol_status read_codes(const pcol_column *column, uint64_t row, size_t count,
                              uint32_t *codes, uint8_t *valid, pcol_error *err)
{
    struct pci_rows rows;
    int64_t bits[PCI_BATCH];
    uint8_t present[PCI_BATCH];
    pcol_status status =
        pci_rows_open(&rows, column->table, count ? row : column->table->rows, err);
    for (size_t done = 0; status == PCOL_OK && done < count;) {
        size_t n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        status = pci_rows_next(&rows, n, err);
        PCI_THEN(status, pci_rows_read_codes(&rows, column, row + done, n, bits, present, err));
        for (size_t i = 0; status == PCOL_OK && i < n; i++)
            codes[done + i] = present[i] ? (uint32_t)bits[i] : 0;
        if (status == PCOL_OK && valid)
            memcpy(valid + done, present, n);
        done += n;
    }
    pci_rows_close(&rows);
    return status;
}

pcol_status pcol_column_read_codes(const pcol_column *column, uint64_t row, size_t count,
                                   uint32_t *codes, uint8_t *valid, pcol_error *err)
{
    PCI_REQUIRE(column, err);
    PCI_REQUIRE_MANY(codes, count, err);
    uint64_t rows = column->table->rows;
    if (!pci_column_has_codes(column) || (column->source && !column->source->supported))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN,
                             "this column of type %s does not hold strings of the pool",
                             pcol_type_name(column->type));
    if (row > rows || count > rows - row)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, column->table->name, column->name, row,
                             "the table has %llu rows", (unsigned long long)rows);
    if (row == 0 && count == rows)
        PCI_TRY(pci_verify_column(column, err));
    uint64_t before = pci_partial_read_begin(row == 0 && count == rows ? UINT64_MAX
                                             : count                   ? count
                                                                       : 1);
    pcol_status status = read_codes(column, row, count, codes, valid, err);
    pci_partial_read_end(before);
    return status;
}
