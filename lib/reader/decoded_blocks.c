/*
 * decoded_blocks.c - columns whose rows follow from the rows before, put together by blocks when
 * first read
 *
 * Two encodings give a row only after those before it in its block: strings that share bytes with
 * the one before (FRONT, 64 rows), parents said by steps up the tree (TREE, 1024 rows). What a
 * block gives is kept in memory that belongs to the file, so that further cells of it take one
 * load, and strings have an address that holds until the file is closed. Whichever thread comes
 * first makes a block; where two come at once the work of one is thrown away, or in an archive not
 * begun. Memory follows the bytes in the file: at most 64 for each one of FRONT, which has one for
 * each row, and 32 for each one of TREE's marks. In an archive these bytes may stand for a thousand
 * times as many, so that the strings have a limit there.
 */
#include "reader/archive_read.h"

#include "format/front_coding.h"
#include "util/alloc.h"

#include <string.h>

/* Strings put together: where each ends, and behind that the bytes. */
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
    _Atomic(struct pci_decoded_blocks *) *place = &file->columns[column->number].blocks;
    uint64_t rows = block_rows(column), count = (column->desc->rows + rows - 1) / rows;
    struct pci_decoded_blocks *made =
        pci_malloc(1, sizeof *made + (size_t)count * sizeof made->all[0]);
    *blocks = NULL;
    if (!made)
        return pci_fail_memory(err);
    made->count = count;
    for (uint64_t i = 0; i < count; i++)
        atomic_init(&made->all[i], NULL);
    if (atomic_compare_exchange_strong(place, blocks, made))
        *blocks = made;
    else
        pci_free(made);
    return PCOL_OK;
}

/* Bytes of strings of an archive that are put together beside those that were. */
static pcol_status take_room(const pcol_file *file, const struct pci_column *column, uint64_t row,
                             uint64_t size, pcol_error *err)
{
    if (!file->thaw)
        return PCOL_OK;
    uint64_t before = atomic_fetch_add(&file->thaw->strings, size);
    if (size <= PCF_FRONT_ARCHIVE_BYTES && before <= PCF_FRONT_ARCHIVE_BYTES - size)
        return PCOL_OK;
    atomic_fetch_sub(&file->thaw->strings, size);
    return pci_fail_cell(err, PCOL_E_LIMIT, column->table->name, column->name, row,
                         "strings of an archive that share bytes have more than %u MiB together",
                         (unsigned)(PCF_FRONT_ARCHIVE_BYTES >> 20));
}

static void give_room(const pcol_file *file, uint64_t size)
{
    if (file->thaw)
        atomic_fetch_sub(&file->thaw->strings, size);
}

/* *room: what they take of an archive's limit. */
static pcol_status make_strings(const pcol_file *file, const struct pci_column *column,
                                uint64_t *row, void **made, uint64_t *room, enum pcf_result *result,
                                pcol_error *err)
{
    struct pcf_front front;
    struct strings *strings;
    *result = pcf_front_plan(column->data, row, &front);
    if (*result != PCF_OK)
        return PCOL_OK;
    PCI_TRY(take_room(file, column, *row, front.size, err));
    if (!(strings = pci_malloc(1, sizeof *strings + (size_t)front.size))) {
        give_room(file, front.size);
        return pci_fail_memory(err);
    }
    unsigned sound = pcf_front_fill(column->data, &front, strings->bytes, strings->ends);
    if (sound < front.rows) {
        give_room(file, front.size);
        pci_free(strings);
        *row = front.first + sound;
        *result = PCF_BAD_ORDER;
        return PCOL_OK;
    }
    *made = strings;
    *room = front.size;
    return PCOL_OK;
}

static pcol_status make_parents(const struct pci_column *column, uint64_t row, void **made,
                                enum pcf_result *result, pcol_error *err)
{
    int64_t values[PCF_RANK_ROWS];
    uint64_t first = row - row % PCF_RANK_ROWS, left = column->desc->rows - first;
    size_t n = left < PCF_RANK_ROWS ? (size_t)left : PCF_RANK_ROWS;
    uint32_t *parents;
    *result = pcf_read(column->data, first, n, values, NULL);
    if (*result != PCF_OK)
        return PCOL_OK;
    if (!(parents = pci_malloc(n, sizeof *parents)))
        return pci_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        parents[i] = (uint32_t)values[i];
    *made = parents;
    return PCOL_OK;
}

/* A block that is not there yet, unless another thread makes it meanwhile. */
static pcol_status make_block(const pcol_file *file, const struct pci_column *column, uint64_t *row,
                              _Atomic(void *) *place, void **block, enum pcf_result *result,
                              pcol_error *err)
{
    void *made = NULL;
    uint64_t room = 0;
    if (column->desc->encoding == PCF_FRONT)
        PCI_TRY(make_strings(file, column, row, &made, &room, result, err));
    else
        PCI_TRY(make_parents(column, *row, &made, result, err));
    if (!made)
        return PCOL_OK;
    pcol_status status = pci_kept(file, err);
    if (status == PCOL_OK && atomic_compare_exchange_strong(place, block, made)) {
        *block = made;
        return PCOL_OK;
    }
    give_room(file, room);
    pci_free(made);
    return status;
}

/* In an archive one thread at a time: what several make of the same block would count as often
 * against the limit, and the strings of a sound file be too many. */
static pcol_status make_block_alone(const pcol_file *file, const struct pci_column *column,
                                    uint64_t *row, _Atomic(void *) *place, void **block,
                                    enum pcf_result *result, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pthread_mutex_lock(&file->thaw->lock);
    *block = atomic_load_explicit(place, memory_order_acquire);
    if (!*block)
        status = make_block(file, column, row, place, block, result, err);
    pthread_mutex_unlock(&file->thaw->lock);
    return status;
}

/* The block that *row is in. Where the file is wrong *block is NULL, and *row one at fault. */
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
    _Atomic(void *) *place = &blocks->all[*row / block_rows(column)];
    if ((*block = atomic_load_explicit(place, memory_order_acquire)))
        return PCOL_OK;
    return file->thaw ? make_block_alone(file, column, row, place, block, result, err)
                      : make_block(file, column, row, place, block, result, err);
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
        uint64_t at = row % PCF_RANK_ROWS,
                 n = PCF_RANK_ROWS - at < count ? PCF_RANK_ROWS - at : count;
        PCI_TRY(find_block(file, column, &row, &block, result, err));
        for (uint64_t i = 0; block && i < n; i++)
            values[i] = ((const uint32_t *)block)[at + i];
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
