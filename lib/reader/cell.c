/*
 * cell.c - verified reads of cells: checksums, bounds and order, errors with table, column and row
 *
 * Verification is lazy, once per column. Threads may verify a column concurrently with the same
 * result; flags are relaxed atomics. Tests: tests/hostile/cells, tests/format/checksums,
 * tests/unit/test_verify.c.
 */
#include "reader/archive_read.h"
#include "reader/row_references.h"

#include "format/range.h"
#include "util/control.h"
#include "util/simd_kernels.h"

#include <string.h>

static const char *table_name(const struct pci_column *column)
{
    return column->table ? column->table->name : "";
}

static pcol_status fail_result(const pcol_file *file, const struct pci_column *column, uint64_t row,
                               enum pcf_result result, pcol_error *err)
{
    PCI_TRY(pci_check_unchanged(file, err));
    if (!column->supported)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, table_name(column), column->name,
                             PCOL_POSITION_UNKNOWN,
                             "column needs a newer reader: its type or encoding is unknown");
    /* Callers check their own row numbers, so a bad row comes from the file. */
    return pci_corrupt(err, table_name(column), column->name, row, "%s", pcf_result_text(result));
}

/* ---- checksums */

/* Rows of the current partial read of this thread (pci_partial_read_begin()); UINT64_MAX: none. */
static PCI_THREAD_LOCAL uint64_t part_rows = UINT64_MAX;

uint64_t pci_partial_read_begin(uint64_t rows)
{
    uint64_t previous = part_rows;
    part_rows = rows;
    return previous;
}

void pci_partial_read_end(uint64_t previous)
{
    part_rows = previous;
}

pcol_status pci_verify_section(const pcol_file *file, uint32_t section,
                               const struct pci_column *named, pcol_error *err)
{
    const struct pcf_section *s = &file->index.sections[section];
    uint8_t state = atomic_load_explicit(&file->section_state[section], memory_order_relaxed);
    if (state == PCI_SECTION_UNKNOWN) { /* concurrent threads compute the same result */
        PCI_TRY(pci_work(s->size / 8, err));
        uint64_t sum = pcf_checksum(file->bytes + s->offset, s->size);
        PCI_TRY(pci_check_unchanged(file, err));
        state = sum == s->checksum ? PCI_SECTION_VERIFIED : PCI_SECTION_WRONG;
        atomic_store_explicit(&file->section_state[section], state, memory_order_relaxed);
    }
    if (state == PCI_SECTION_VERIFIED)
        return PCOL_OK;
    pci_fail_cell(err, PCOL_E_CHECKSUM, table_name(named), named->name, PCOL_POSITION_UNKNOWN,
                  "checksum of the section at byte %llu is wrong", (unsigned long long)s->offset);
    if (err)
        err->offset = s->offset;
    return PCOL_E_CHECKSUM;
}

/* A verification of a column and its children. */
struct verification {
    const pcol_file *file;
    const struct pci_column *named;
    uint64_t rows; /* rows of partial reads; large sections are skipped below a tenth of theirs */
    int skipped;   /* a section was skipped */
};

/* The sections of one column. */
static pcol_status verify_sections(struct verification *v, uint32_t number, pcol_error *err)
{
    const struct pcf_column *c = &v->file->index.columns[number];
    for (uint32_t i = c->first_section; i < c->first_section + c->section_count; i++) {
        const struct pcf_section *s = &v->file->index.sections[i];
        int by_block = s->codec != 0 && pci_archive_block_count(s) != 1;
        if ((by_block ? s->raw_size : s->size) > PCI_PARTIAL_READ_SECTION && v->rows < c->rows / 10)
            v->skipped = 1;
        else if (!by_block && !v->file->unverified)
            PCI_TRY(pci_verify_section(v->file, i, v->named, err));
    }
    return PCOL_OK;
}

/* A column and its descendants; at most PCF_MAX_CHILD_DEPTH + 1 calls deep, checked at open. */
static pcol_status verify_tree(struct verification *v, uint32_t number, pcol_error *err)
{
    const struct pcf_column *c = &v->file->index.columns[number];
    PCI_TRY(verify_sections(v, number, err));
    for (uint32_t i = 0; i < c->child_count; i++)
        PCI_TRY(verify_tree(v, c->first_child + i, err));
    uint32_t codes = pcf_column_codes(&v->file->index, number);
    if (codes && c->child_count == 1)
        return verify_tree(v, codes, err);
    return PCOL_OK;
}

static int is_unverified(const struct pci_column *column)
{
    return atomic_load_explicit(&column->unverified, memory_order_relaxed);
}

/* Verifies a column before a read of `rows` rows; UINT64_MAX: all sections. */
static pcol_status verify_rows(const pcol_file *file, const struct pci_column *column,
                               uint64_t rows, pcol_error *err)
{
    struct verification v = {file, column, rows, 0};
    PCI_TRY(verify_tree(&v, column->number, err));
    if (v.skipped)
        return PCOL_OK;
    PCI_TRY(pci_verify_structure(file, column, err));
    atomic_store_explicit(&file->columns[column->number].unverified, 0, memory_order_relaxed);
    return PCOL_OK;
}

pcol_status pci_verify(const pcol_file *file, const struct pci_column *column, pcol_error *err)
{
    return is_unverified(column) ? verify_rows(file, column, UINT64_MAX, err) : PCOL_OK;
}

/* Verifies an unverified column before a read of `count` rows. */
static pcol_status verify_read_now(const pcol_file *file, const struct pci_column *column,
                                   uint64_t count, pcol_error *err)
{
    uint64_t rows = part_rows;
    if (rows == PCI_PARTIAL_READ_CELL || !column->supported)
        return PCOL_OK;
    if (rows != UINT64_MAX) {
        uint64_t touched = count + atomic_fetch_add_explicit(&file->columns[column->number].touched,
                                                             count, memory_order_relaxed);
        rows = touched < rows ? rows : touched;
    }
    return verify_rows(file, column, rows, err);
}

static inline pcol_status verify_read(const pcol_file *file, const struct pci_column *column,
                                      uint64_t count, pcol_error *err)
{
    return is_unverified(column) ? verify_read_now(file, column, count, err) : PCOL_OK;
}

/* ---- cells */

static int is_compressed(const struct pci_column *column)
{
    return atomic_load_explicit(&column->compression_state, memory_order_acquire);
}

/* A cell of a column of an archive; pins its blocks. */
static pcol_status get_compressed(const pcol_file *file, const struct pci_column *column,
                                  uint64_t row, int64_t *value, int *valid, pcol_error *err)
{
    struct pci_pin pin;
    pcol_status status = pci_pin_rows(&pin, file, column, row, 1, err);
    if (status == PCOL_OK) {
        enum pcf_result result = pcf_get(column->data, row, value, valid);
        status = result == PCF_OK ? pci_check_unchanged(file, err)
                                  : fail_result(file, column, row, result, err);
    }
    pci_unpin(&pin);
    if (status != PCOL_OK) {
        *value = 0;
        *valid = 0;
    }
    return status;
}

/* A cell from its decoded block; *valid is 0 if a row of the block is corrupt. */
static pcol_status get_from_block(const pcol_file *file, const struct pci_column *column,
                                  uint64_t row, int64_t *value, int *valid, pcol_error *err)
{
    enum pcf_result result;
    pcol_status status = pci_decoded_blocks_read(file, column, row, 1, value, &result, err);
    *valid = status == PCOL_OK && result == PCF_OK;
    if (!*valid)
        *value = 0;
    return status;
}

static pcol_status get_unbounded(const pcol_file *file, const struct pci_column *column,
                                 uint64_t row, int64_t *value, int *valid, pcol_error *err)
{
    enum pcf_result result;
    pcol_status status;
    status = verify_read(file, column, 1, err);
    if (status != PCOL_OK) {
        *value = 0;
        *valid = 0;
        return status;
    }
    if (is_compressed(column))
        return get_compressed(file, column, row, value, valid, err);
    if (column->by_block && row < column->data->rows) {
        PCI_TRY(get_from_block(file, column, row, value, valid, err));
        if (*valid)
            return pci_check_unchanged(file, err);
    }
    result = pcf_get(column->data, row, value, valid);
    if (result == PCF_OK)
        return pci_check_unchanged(file, err);
    status = fail_result(file, column, row, result, err);
    *value = 0;
    *valid = 0;
    return status;
}

static uint8_t order_of(const struct pci_column *column)
{
    return atomic_load_explicit(&column->order, memory_order_acquire);
}

/* Verifies the order of a column's values (PCI_ORDER_*), once per open file; skipped within partial
 * reads. */
static pcol_status verify_order(const pcol_file *file, const struct pci_column *column,
                                pcol_error *err)
{
    enum { BATCH = 1024 };
    int64_t values[BATCH];
    uint64_t rows = column->desc->rows, n, previous = 0;
    uint8_t order = order_of(column);
    if (!order || part_rows != UINT64_MAX)
        return PCOL_OK;
    if (!pcf_rows_plausible(rows, file->size))
        return pci_fail_cell(err, PCOL_E_LIMIT, table_name(column), column->name,
                             PCOL_POSITION_UNKNOWN,
                             "implausible number of rows, %llu in a file of %llu bytes",
                             (unsigned long long)rows, (unsigned long long)file->size);
    for (uint64_t row = 0; row < rows; row += n) {
        n = rows - row < BATCH ? rows - row : BATCH;
        PCI_TRY(pci_read_unbounded(file, column, row, n, values, NULL, err));
        for (uint64_t i = 0; i < n; previous = (uint64_t)values[i++]) {
            uint64_t value = (uint64_t)values[i];
            if (value >= column->limit)
                PCI_TRY(pci_references_reject(column, row + i, &values[i], err));
            if (row + i == 0 && value && (order & PCI_ORDER_FROM_0))
                return pci_corrupt(err, table_name(column), column->name, 0,
                                   "the first value is %llu instead of 0",
                                   (unsigned long long)value);
            if (row + i && (value < previous || (value == previous && (order & PCI_ORDER_STRICT))))
                return pci_corrupt(err, table_name(column), column->name, row + i,
                                   "%llu does not come after %llu", (unsigned long long)value,
                                   (unsigned long long)previous);
        }
    }
    atomic_store_explicit(&file->columns[column->number].order, 0, memory_order_release);
    return PCOL_OK;
}

pcol_status pci_get(const pcol_file *file, const struct pci_column *column, uint64_t row,
                    int64_t *value, int *valid, pcol_error *err)
{
    *value = *valid = 0;
    if (!column)
        return PCOL_OK;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    if (order_of(column))
        PCI_TRY(verify_order(file, column, err));
    PCI_TRY(get_unbounded(file, column, row, value, valid, err));
    if ((uint64_t)*value < column->limit || !*valid || column->limit == UINT64_MAX)
        return PCOL_OK;
    pcol_status status = pci_references_reject(column, row, value, err);
    *valid = status == PCOL_OK;
    return status;
}

/* Cells that are decompressed and pinned. */
static pcol_status read_present(const pcol_file *file, const struct pci_column *column,
                                uint64_t row, uint64_t count, int64_t *values, uint8_t *valid,
                                pcol_error *err)
{
    enum pcf_result result;
    /* Reads that begin at a block bypass the cache: scans do not reuse blocks. */
    if (column->by_block && !is_compressed(column) && row % PCF_RANK_ROWS &&
        pcf_range(row, count, 1, column->data->rows)) {
        PCI_TRY(pci_decoded_blocks_read(file, column, row, count, values, &result, err));
        if (valid)
            memset(valid, 1, (size_t)count);
    } else {
        result = pcf_read(column->data, row, count, values, valid);
    }
    if (result == PCF_OK)
        return pci_check_unchanged(file, err);
    /* Report the row: find the first cell that fails on its own. Some faults (a rank directory that
     * contradicts the next block) appear in ranges only. */
    for (uint64_t i = 0; result != PCF_BAD_ROW && i < count; i++) {
        int64_t cell;
        int is_valid;
        enum pcf_result single = pcf_get(column->data, row + i, &cell, &is_valid);
        if (single != PCF_OK)
            return fail_result(file, column, row + i, single, err);
    }
    return fail_result(file, column, row, result, err);
}

/* Reads in batches, so that only a few blocks are pinned at a time. */
static pcol_status read_compressed(const pcol_file *file, const struct pci_column *column,
                                   uint64_t row, uint64_t count, int64_t *values, uint8_t *valid,
                                   pcol_error *err)
{
    struct pci_pin pin;
    pcol_status status = PCOL_OK;
    while (status == PCOL_OK) {
        uint64_t n = pci_pin_batch_rows(column, row, count);
        status = pci_pin_rows(&pin, file, column, row, n, err);
        PCI_THEN(status, read_present(file, column, row, n, values, valid, err));
        pci_unpin(&pin);
        if (n == count)
            break;
        row += n;
        count -= n;
        values += n;
        valid = valid ? valid + n : NULL;
    }
    return status;
}

pcol_status pci_read_unbounded(const pcol_file *file, const struct pci_column *column, uint64_t row,
                               uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    PCI_TRY(verify_read(file, column, count, err));
    if (is_compressed(column))
        return read_compressed(file, column, row, count, values, valid, err);
    return read_present(file, column, row, count, values, valid, err);
}

/* Non-null values are below the limit. A null is 0, so it needs a test only if the limit is 0. */
static pcol_status check_limit(const pcol_file *file, const struct pci_column *column, uint64_t row,
                               uint64_t count, int64_t *values, const uint8_t *valid,
                               pcol_error *err)
{
    if (column->limit && !pci_simd_any_above(values, (size_t)count, column->limit - 1))
        return PCOL_OK;
    for (uint64_t i = 0; i < count; i++) {
        int64_t value;
        int is_valid = 1;
        if ((uint64_t)values[i] < column->limit)
            continue;
        if (valid)
            is_valid = valid[i];
        else
            PCI_TRY(get_unbounded(file, column, row + i, &value, &is_valid, err));
        if (is_valid)
            PCI_TRY(pci_references_reject(column, row + i, &values[i], err));
    }
    return PCOL_OK;
}

pcol_status pci_read(const pcol_file *file, const struct pci_column *column, uint64_t row,
                     uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    PCI_TRY(pci_work(count * sizeof *values, err));
    if (order_of(column))
        PCI_TRY(verify_order(file, column, err));
    PCI_TRY(pci_read_unbounded(file, column, row, count, values, valid, err));
    return column->limit == UINT64_MAX ? PCOL_OK
                                       : check_limit(file, column, row, count, values, valid, err);
}

static pcol_status get_present_bytes(const pcol_file *file, const struct pci_column *column,
                                     uint64_t row, pcol_str *value, int *valid, pcol_error *err)
{
    const uint8_t *bytes;
    uint64_t size;
    enum pcf_result result;
    if (column->data->encoding == PCF_FRONT) {
        PCI_TRY(pci_decoded_blocks_string(file, column, &row, value, &result, err));
        *valid = result == PCF_OK;
        return result == PCF_OK ? pci_check_unchanged(file, err)
                                : fail_result(file, column, row, result, err);
    }
    result = pcf_get_bytes(column->data, row, &bytes, &size, valid);
    if (result != PCF_OK)
        return fail_result(file, column, row, result, err);
    value->data = (const char *)bytes;
    value->size = (size_t)size;
    return pci_check_unchanged(file, err);
}

static pcol_status get_bytes(const pcol_file *file, const struct pci_column *column, uint64_t row,
                             pcol_str *value, int *valid, pcol_error *err)
{
    struct pci_pin pin;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    PCI_TRY(verify_read(file, column, 1, err));
    if (!is_compressed(column))
        return get_present_bytes(file, column, row, value, valid, err);
    pcol_status status = pci_pin_bytes(&pin, file, column, row, err);
    PCI_THEN(status, get_present_bytes(file, column, row, value, valid, err));
    pci_unpin(&pin);
    return status;
}

pcol_status pci_string(const pcol_file *file, uint64_t code, pcol_str *string, pcol_error *err)
{
    int valid;
    *string = (pcol_str){"", 0};
    if (!file->strings)
        return pci_fail(err, PCOL_E_CORRUPT, "file has no table of strings");
    if (file->strings->supported && code >= file->strings->data->rows)
        return pci_corrupt(err, "strings", NULL, PCOL_POSITION_UNKNOWN,
                           "string %llu does not exist", (unsigned long long)code);
    PCI_TRY(get_bytes(file, file->strings, code, string, &valid, err));
    if (!valid)
        return pci_corrupt(err, "strings", file->strings->name, code, "string is null");
    return PCOL_OK;
}

pcol_status pci_get_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                        pcol_str *value, int *valid, pcol_error *err)
{
    int64_t code;
    *value = (pcol_str){"", 0};
    *valid = 0;
    if (!column)
        return PCOL_OK;
    if (column->data->type == PCF_BYTES)
        return get_bytes(file, column, row, value, valid, err);
    PCI_TRY(pci_get(file, column, row, &code, valid, err));
    if (!*valid)
        return PCOL_OK;
    if (column->data->type != PCF_STRING) {
        *valid = 0;
        return pci_fail_cell(err, PCOL_E_ARGUMENT, table_name(column), column->name, row,
                             "column does not hold strings");
    }
    pcol_status status = pci_string(file, (uint64_t)code, value, err);
    if (status != PCOL_OK)
        *valid = 0;
    return status;
}
