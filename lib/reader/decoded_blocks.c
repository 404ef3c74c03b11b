/*
 * decoded_blocks.c - cache of decoded blocks: front-coded strings (64 rows), trees (1024 rows)
 *
 * FRONT and TREE decode a row from the previous rows of its block. The file keeps a decoded block
 * until close: further cells take one load, and string pointers stay valid. Threads publish blocks
 * by compare-and-swap and the loser frees its copy; in an archive a lock serializes them. Memory is
 * at most 64 times the stored bytes of FRONT and 32 times the marks of TREE. In archives stored
 * bytes expand further, so their strings have a total limit (PCF_FRONT_ARCHIVE_BYTES).
 * Tests: tests/unit/test_front_coding.c, tests/unit/test_decode_tree.c.
 */
#include "reader/archive_read.h"

#include "format/front_coding.h"
#include "util/alloc.h"

/* Decoded strings of a FRONT block: end offsets and concatenated bytes. */
struct strings {
    uint64_t ends[PCF_FRONT_ROWS];
    uint8_t bytes[];
};

struct pci_decoded_blocks {
    uint64_t count;
    _Atomic(void *) all[];
};

static uint64_t block_rows(const struct pci_column *column)
{
    return column->desc->encoding == PCF_FRONT ? PCF_FRONT_ROWS : PCF_RANK_ROWS;
}

static pcol_status new_blocks(const pcol_file *file, const struct pci_column *column,
                              struct pci_decoded_blocks **blocks, pcol_error *err)
{
    _Atomic(struct pci_decoded_blocks *) *slot = &file->columns[column->number].blocks;
    uint64_t rows = block_rows(column), count = (column->desc->rows + rows - 1) / rows;
    struct pci_decoded_blocks *made =
        pci_malloc(1, sizeof *made + (size_t)count * sizeof made->all[0]);
    *blocks = NULL;
    if (!made)
        return pci_fail_memory(err);
    made->count = count;
    for (uint64_t i = 0; i < count; i++)
        atomic_init(&made->all[i], NULL);
    if (atomic_compare_exchange_strong(slot, blocks, made))
        *blocks = made;
    else
        pci_free(made);
    return PCOL_OK;
}

/* Charges decoded strings to the limit of an archive. */
static pcol_status charge_strings(const pcol_file *file, const struct pci_column *column,
                                  uint64_t row, uint64_t size, pcol_error *err)
{
    if (!file->archive)
        return PCOL_OK;
    uint64_t used = atomic_fetch_add(&file->archive->string_bytes, size);
    if (size <= PCF_FRONT_ARCHIVE_BYTES && used <= PCF_FRONT_ARCHIVE_BYTES - size)
        return PCOL_OK;
    atomic_fetch_sub(&file->archive->string_bytes, size);
    return pci_fail_cell(err, PCOL_E_LIMIT, column->table->name, column->name, row,
                         "front-coded strings of an archive exceed %u MiB in total",
                         (unsigned)(PCF_FRONT_ARCHIVE_BYTES >> 20));
}

static void release_strings(const pcol_file *file, uint64_t size)
{
    if (file->archive)
        atomic_fetch_sub(&file->archive->string_bytes, size);
}

/* *charged: bytes charged to the limit of an archive. */
static pcol_status decode_strings(const pcol_file *file, const struct pci_column *column,
                                  uint64_t *row, void **made, uint64_t *charged,
                                  enum pcf_result *result, pcol_error *err)
{
    struct pcf_front front;
    struct strings *strings;
    *result = pcf_front_plan(column->data, row, &front);
    if (*result != PCF_OK)
        return PCOL_OK;
    PCI_TRY(charge_strings(file, column, *row, front.size, err));
    if (!(strings = pci_malloc(1, sizeof *strings + (size_t)front.size))) {
        release_strings(file, front.size);
        return pci_fail_memory(err);
    }
    unsigned ordered = pcf_front_fill(column->data, &front, strings->bytes, strings->ends);
    if (ordered < front.rows) {
        release_strings(file, front.size);
        pci_free(strings);
        *row = front.first + ordered;
        *result = PCF_BAD_ORDER;
        return PCOL_OK;
    }
    *made = strings;
    *charged = front.size;
    return PCOL_OK;
}

static pcol_status decode_parents(const struct pci_column *column, uint64_t row, void **made,
                                  enum pcf_result *result, pcol_error *err)
{
    int64_t values[PCF_RANK_ROWS];
    uint64_t first = row - row % PCF_RANK_ROWS, left = column->desc->rows - first;
    size_t n = left < PCF_RANK_ROWS ? (size_t)left : PCF_RANK_ROWS;
    uint32_t *parents;
    *result = pcf_read(column->data, first, n, values, NULL);
    if (*result != PCF_OK)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(parents, n, err));
    for (size_t i = 0; i < n; i++)
        parents[i] = (uint32_t)values[i];
    *made = parents;
    return PCOL_OK;
}

/* Decodes and publishes a block, unless another thread publishes it first. */
static pcol_status decode_block(const pcol_file *file, const struct pci_column *column,
                                uint64_t *row, _Atomic(void *) *slot, void **block,
                                enum pcf_result *result, pcol_error *err)
{
    void *made = NULL;
    uint64_t charged = 0;
    if (column->desc->encoding == PCF_FRONT)
        PCI_TRY(decode_strings(file, column, row, &made, &charged, result, err));
    else
        PCI_TRY(decode_parents(column, *row, &made, result, err));
    if (!made)
        return PCOL_OK;
    pcol_status status = pci_check_unchanged(file, err);
    if (status == PCOL_OK && atomic_compare_exchange_strong(slot, block, made)) {
        *block = made;
        return PCOL_OK;
    }
    release_strings(file, charged);
    pci_free(made);
    return status;
}

/* decode_block() under the lock of the archive: concurrent copies of a block would each be charged
 * to the limit, and a valid file could exceed it. */
static pcol_status decode_block_locked(const pcol_file *file, const struct pci_column *column,
                                       uint64_t *row, _Atomic(void *) *slot, void **block,
                                       enum pcf_result *result, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pci_mutex_lock(&file->archive->lock);
    *block = atomic_load_explicit(slot, memory_order_acquire);
    if (!*block)
        status = decode_block(file, column, row, slot, block, result, err);
    pci_mutex_unlock(&file->archive->lock);
    return status;
}

/* The decoded block that contains *row. On a fault in the data *block is NULL and *row the row at
 * fault. */
static pcol_status find_block(const pcol_file *file, const struct pci_column *column, uint64_t *row,
                              void **block, enum pcf_result *result, pcol_error *err)
{
    struct pci_decoded_blocks *blocks = atomic_load_explicit(&column->blocks, memory_order_acquire);
    *block = NULL;
    *result = PCF_BAD_ROW;
    if (*row >= column->desc->rows)
        return PCOL_OK;
    *result = PCF_OK;
    if (!blocks)
        PCI_TRY(new_blocks(file, column, &blocks, err));
    _Atomic(void *) *slot = &blocks->all[*row / block_rows(column)];
    if ((*block = atomic_load_explicit(slot, memory_order_acquire)))
        return PCOL_OK;
    return file->archive ? decode_block_locked(file, column, row, slot, block, result, err)
                         : decode_block(file, column, row, slot, block, result, err);
}

pcol_status pci_decoded_blocks_string(const pcol_file *file, const struct pci_column *column,
                                      uint64_t *row, pcol_str *value, enum pcf_result *result,
                                      pcol_error *err)
{
    void *block;
    PCI_TRY(find_block(file, column, row, &block, result, err));
    if (!block)
        return PCOL_OK;
    const struct strings *strings = block;
    uint64_t i = *row % PCF_FRONT_ROWS, begin = i ? strings->ends[i - 1] : 0;
    value->data = (const char *)strings->bytes + begin;
    value->size = (size_t)(strings->ends[i] - begin);
    return PCOL_OK;
}

pcol_status pci_decoded_blocks_read(const pcol_file *file, const struct pci_column *column,
                                    uint64_t row, uint64_t count, int64_t *values,
                                    enum pcf_result *result, pcol_error *err)
{
    *result = PCF_OK;
    while (count && *result == PCF_OK) {
        void *block;
        uint64_t first = row % PCF_RANK_ROWS;
        uint64_t n = PCF_RANK_ROWS - first < count ? PCF_RANK_ROWS - first : count;
        PCI_TRY(find_block(file, column, &row, &block, result, err));
        for (uint64_t i = 0; block && i < n; i++)
            values[i] = ((const uint32_t *)block)[first + i];
        row += n;
        count -= n;
        values += n;
    }
    return PCOL_OK;
}

void pci_decoded_blocks_free(struct pci_decoded_blocks *blocks)
{
    for (uint64_t i = 0; blocks && i < blocks->count; i++)
        pci_free(atomic_load_explicit(&blocks->all[i], memory_order_relaxed));
    pci_free(blocks);
}
