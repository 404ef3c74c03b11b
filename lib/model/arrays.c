/*
 * arrays.c - columns as arrays in the layout of Arrow (arrays.h)
 *
 * An array is published in its column by compare and exchange: of two threads that decode the same
 * column one result is dropped. Tests: tests/unit/test_arrow.c.
 */
#include "model/arrays.h"

#include "format/range.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "json/utf8.h"

#include <string.h>

/* Limit of decoded texts: front coding and runs may expand a few bytes to any size. */
#define TEXT_BYTES ((uint64_t)1 << 30)
#define TEXT_BYTES_PER_BYTE 64u

/* ---- in place */

static unsigned natural_bits(uint8_t type)
{
    return type == PCF_BOOL ? 1 : type == PCF_U32 || type == PCF_STRING ? 32 : 64;
}

static int is_compressed(const pcol_file *file, const struct pcf_column *desc)
{
    for (uint32_t i = 0; i < desc->section_count; i++)
        if (file->index.sections[desc->first_section + i].codec)
            return 1;
    for (uint32_t i = 0; i < desc->child_count; i++)
        if (is_compressed(file, &file->index.columns[desc->first_child + i]))
            return 1;
    return 0;
}

int pci_array_is_in_place(const pcol_column *column)
{
    const struct pci_column *source = column->source;
    if (column->fill)
        return 1;
    if (!source || !source->supported || !source->data->rows ||
        !(column->direct || column->order == PCI_STORED_MS) ||
        is_compressed(column->table->file, source->desc))
        return 0;
    const struct pcf_data *data = source->data;
    if (data->encoding != PCF_PLAIN)
        return 0;
    if (data->type != PCF_BYTES)
        return data->values != NULL;
    const struct pcf_data *offsets = data->child[0];
    return offsets && offsets->encoding == PCF_PLAIN && offsets->values &&
           natural_bits(offsets->type) == 64;
}

static uint64_t count_nulls(const uint8_t *validity, uint64_t rows)
{
    uint64_t valid = 0;
    for (uint64_t i = 0; i < rows / 8; i++)
        valid += (uint64_t)__builtin_popcount(validity[i]);
    if (rows % 8)
        valid += (uint64_t)__builtin_popcount(validity[rows / 8] & ((1u << rows % 8) - 1));
    return rows - valid;
}

/* Values that refer to rows or strings exist: readers of arrays use them as indexes. */
static pcol_status check_references(const struct pci_column *source, const pcol_file *file,
                                    pcol_error *err)
{
    int64_t values[PCI_BATCH];
    uint64_t rows = source->data->rows;
    if (source->limit == UINT64_MAX && source->data->type != PCF_STRING)
        return PCOL_OK;
    for (uint64_t row = 0, n; row < rows; row += n) {
        n = rows - row < PCI_BATCH ? rows - row : PCI_BATCH;
        PCI_TRY(pci_read(file, source, row, n, values, NULL, err));
    }
    return PCOL_OK;
}

static pcol_status use_in_place(const pcol_column *column, struct pci_array *a, pcol_error *err)
{
    const struct pci_column *source = column->source;
    const struct pcf_data *data = source->data;
    PCI_TRY(pci_verify_column(column, err));
    PCI_TRY(check_references(source, column->table->file, err));
    a->validity = data->validity;
    a->width_bits = data->type == PCF_BYTES ? 64 : natural_bits(data->type);
    a->values = data->type == PCF_BYTES ? data->child[0]->values : data->values;
    a->is_text = data->type == PCF_BYTES;
    if (a->is_text) {
        a->data = data->bytes ? (const void *)data->bytes : "";
        a->data_bytes = data->bytes_size;
    }
    a->null_count = a->validity ? count_nulls(a->validity, a->rows) : 0;
    return PCOL_OK;
}

/* ---- decoded */

static void set_bit(uint8_t *bits, uint64_t at, int value)
{
    if (value)
        bits[at / 8] = (uint8_t)(bits[at / 8] | 1u << at % 8);
}

static pcol_status append_texts(const pcol_column *column, struct pci_array *a, size_t *capacity,
                                uint64_t row, const pcol_str *texts, const uint8_t *valid, size_t n,
                                pcol_error *err)
{
    const pcol_file *file = column->table->file;
    int64_t *offsets = a->owned[0];
    for (size_t i = 0; i < n; i++) {
        size_t size = valid[i] ? texts[i].size : 0;
        if (size > TEXT_BYTES + file->size * TEXT_BYTES_PER_BYTE - a->data_bytes)
            return pci_fail_cell(err, PCOL_E_LIMIT, column->table->name, column->name, row + i,
                                 "the texts of this column take implausibly many bytes");
        if (pci_grow(&a->owned[1], capacity, (size_t)(a->data_bytes + size), 1))
            return pci_fail_memory(err);
        if (size)
            memcpy((char *)a->owned[1] + a->data_bytes, texts[i].data, size);
        a->data_bytes += size;
        offsets[row + i + 1] = (int64_t)a->data_bytes;
    }
    return PCOL_OK;
}

static void store_bits(struct pci_array *a, uint64_t row, const int64_t *bits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a->width_bits == 1)
            set_bit(a->owned[0], row + i, bits[i] != 0);
        else if (a->width_bits == 32)
            ((uint32_t *)a->owned[0])[row + i] = (uint32_t)bits[i];
        else
            ((int64_t *)a->owned[0])[row + i] = bits[i];
    }
}

static pcol_status allocate(struct pci_array *a, pcol_error *err)
{
    uint64_t values = a->is_text ? a->rows + 1 : a->rows;
    if (a->rows > SIZE_MAX / 16)
        return pci_fail_memory(err);
    a->owned[0] = a->width_bits == 1 ? pci_calloc((size_t)(values / 8) + 1, 1)
                                     : pci_malloc((size_t)values + 1, a->width_bits / 8);
    a->owned[2] = pci_calloc((size_t)(a->rows / 8) + 1, 1);
    if (a->is_text)
        a->owned[1] = pci_malloc(1, 1);
    if (!a->owned[0] || !a->owned[2] || (a->is_text && !a->owned[1]))
        return pci_fail_memory(err);
    if (a->is_text)
        ((int64_t *)a->owned[0])[0] = 0;
    return PCOL_OK;
}

static pcol_status decode_rows(const pcol_column *column, struct pci_array *a,
                               struct pci_rows *rows, pcol_error *err)
{
    int64_t bits[PCI_BATCH];
    pcol_str texts[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    size_t capacity = 1;
    for (uint64_t row = 0; row < a->rows;) {
        size_t n = a->rows - row < PCI_BATCH ? (size_t)(a->rows - row) : PCI_BATCH;
        pci_rows_release_texts(rows);
        PCI_TRY(pci_work(n * PCI_ITEM_WORK, err));
        PCI_TRY(pci_rows_next(rows, n, err));
        if (a->is_text) {
            PCI_TRY(pci_rows_read_str(rows, column, row, n, texts, valid, err));
            PCI_TRY(append_texts(column, a, &capacity, row, texts, valid, n, err));
        } else {
            if (column->type == PCOL_STRING)
                PCI_TRY(pci_rows_read_codes(rows, column, row, n, bits, valid, err));
            else if (column->order == PCI_STORED_MS)
                PCI_TRY(pci_read(column->table->file, column->source, row, n, bits, valid, err));
            else
                PCI_TRY(pci_rows_read_bits(rows, column, row, n, bits, valid, err));
            store_bits(a, row, bits, n);
        }
        for (size_t i = 0; i < n; i++) {
            set_bit(a->owned[2], row + i, valid[i]);
            a->null_count += !valid[i];
        }
        row += n;
    }
    return PCOL_OK;
}

static pcol_status decode(const pcol_column *column, struct pci_array *a, pcol_error *err)
{
    struct pci_rows rows;
    const pcol_table *table = column->table;
    if (!table->owner && !table->expander && !pcf_rows_plausible(table->rows, table->file->size))
        return pci_fail_cell(err, PCOL_E_LIMIT, table->name, NULL, PCOL_POSITION_UNKNOWN,
                             "implausibly many rows for the size of the file");
    a->is_text = column->type == PCOL_BYTES ||
                 (column->type == PCOL_STRING && !pci_column_has_codes(column));
    a->width_bits = a->is_text                    ? 64
                    : column->type == PCOL_BOOL   ? 1
                    : column->type == PCOL_U32    ? 32
                    : column->type == PCOL_STRING ? 32
                                                  : 64;
    PCI_TRY(pci_verify_column(column, err));
    PCI_TRY(allocate(a, err));
    pcol_status status = pci_rows_open(&rows, table, 0, err);
    PCI_THEN(status, decode_rows(column, a, &rows, err));
    pci_rows_close(&rows);
    a->values = a->owned[0];
    a->data = a->owned[1];
    a->validity = a->null_count ? a->owned[2] : NULL;
    return status;
}

static int is_utf8_text(const uint8_t *text, const uint8_t *end)
{
    while (text < end) {
        size_t size = pci_utf8_size(text, (size_t)(end - text), 0);
        if (!size)
            return 0;
        text += size;
    }
    return 1;
}

/* Sets is_utf8: whether each text is UTF-8, not only all of them in a row. */
static pcol_status find_utf8(struct pci_array *a, pcol_error *err)
{
    const int64_t *offsets = a->values;
    const uint8_t *data = a->data;
    a->is_utf8 = a->is_text;
    for (uint64_t row = 0; a->is_utf8 && row < a->rows; row++) {
        PCI_TRY(pci_work((uint64_t)(offsets[row + 1] - offsets[row]), err));
        a->is_utf8 = is_utf8_text(data + offsets[row], data + offsets[row + 1]);
    }
    return PCOL_OK;
}

void pci_array_free(struct pci_array *array)
{
    for (size_t i = 0; array && i < 3; i++)
        pci_free(array->owned[i]);
    pci_free(array);
}

pcol_status pci_array_open(const pcol_column *column, const struct pci_array **array,
                           pcol_error *err)
{
    /* The cache does not change the column as the caller sees it. */
    column = column->shared ? column->shared : column;
    pcol_column *writable = (pcol_column *)(uintptr_t)column;
    struct pci_array *a = atomic_load_explicit(&column->array, memory_order_acquire);
    struct pci_array *before = NULL;
    *array = a;
    if (a)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(a, 1, err));
    a->rows = column->table->rows;
    pcol_status status = column->fill                    ? column->fill(column, a, err)
                         : pci_array_is_in_place(column) ? use_in_place(column, a, err)
                                                         : decode(column, a, err);
    PCI_THEN(status, find_utf8(a, err));
    if (status != PCOL_OK) {
        pci_array_free(a);
        return status;
    }
    if (!atomic_compare_exchange_strong(&writable->array, &before, a)) {
        pci_array_free(a);
        a = before;
    }
    *array = a;
    return PCOL_OK;
}

pcol_status pci_array_of_pool(const pcol_file *file, const struct pci_array **array,
                              pcol_error *err)
{
    const pcol_table *table;
    const pcol_column *column;
    *array = NULL;
    if (!file->strings)
        return PCOL_OK;
    PCI_TRY(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "strings", &table, err));
    column = pcol_table_column_by_name(table, file->strings->name, NULL);
    if (!column || column->source != file->strings || column->type != PCOL_BYTES)
        return pci_corrupt(err, "strings", NULL, PCOL_POSITION_UNKNOWN,
                           "the pool of strings cannot be read");
    return pci_array_open(column, array, err);
}

pcol_status pcol_column_array(const pcol_column *column, const pcol_control *control,
                              pcol_array *array, pcol_error *err)
{
    struct pci_control scope;
    pcol_status status;
    pcol_array own = PCOL_INIT(pcol_array);
    const struct pci_array *a;
    PCI_REQUIRE(array, err);
    PCI_TRY(pci_struct_write(array, &own, sizeof own, "pcol_array", err));
    PCI_REQUIRE(column, err);
    if (column->type == PCOL_LIST || (column->source && !column->source->supported))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN, "a column of type %s has no array",
                             pcol_type_name(column->type));
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_CONTROLLED(&scope, status, pci_array_open(column, &a, err), err);
    if (status != PCOL_OK)
        return status;
    own.type = column->order == PCI_STORED_MS ? PCOL_I64 : (uint32_t)column->type;
    own.width_bits = a->width_bits;
    own.rows = a->rows;
    own.null_count = a->null_count;
    own.validity = a->validity;
    own.values = a->values;
    own.data = a->is_text ? a->data : NULL;
    own.data_bytes = a->data_bytes;
    own.flags = (a->is_text ? PCOL_ARRAY_TEXT : 0) | (a->is_utf8 ? PCOL_ARRAY_UTF8 : 0) |
                (column->order == PCI_STORED_MS ? PCOL_ARRAY_NANOSECONDS : 0);
    return pci_struct_write(array, &own, sizeof own, "pcol_array", err);
}
