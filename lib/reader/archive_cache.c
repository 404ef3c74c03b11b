/*
 * archive_cache.c - block cache of an archive: pins the blocks that given rows need, evicts others
 *
 * The encoding of a column determines the bytes of its sections that a row needs. Columns with
 * random access (dictionaries, successors, run-length) are decompressed as a whole. Eviction is
 * FIFO and skips pinned blocks. Pinning a decompressed block is lock-free (one atomic add).
 * Tests: tests/unit/test_archive.c, tests/format/archive.
 */
#include "reader/archive_read.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"
#include "util/alloc.h"

#include <string.h>

#define MAX_BATCH_ROWS 16384u

/* ---- blocks */

/* Reserves memory for the decompressed section. */
static pcol_status reserve_section(const pcol_file *file, uint32_t section, pcol_error *err)
{
    struct pci_archive_section *s = &file->archive->sections[section];
    size_t size = (size_t)file->index.sections[section].raw_size;
    if (!s->raw)
        s->raw = s->blocks > 1 ? pci_reserve(size) : pci_calloc(size, 1);
    if (!s->raw)
        return pci_fail_memory(err);
    PCI_TRY(PCI_CALLOC(s->state, (size_t)s->blocks, err));
    pcf_index_set_section(&file->index, section, s->raw, file->data);
    return PCOL_OK;
}

static inline int is_evictable(const struct pci_archive_section *s)
{
    return atomic_load_explicit(&s->evictable, memory_order_relaxed);
}

/* Discards the oldest unpinned blocks until the limit is met. Pinned blocks move to the end of the
 * queue. */
static void evict_blocks(const pcol_file *file)
{
    struct pci_archive *archive = file->archive;
    for (size_t tries = archive->queue_count;
         tries > 0 && archive->evictable_bytes > archive->limit; tries--) {
        struct pci_archive_block oldest = archive->queue[archive->queue_first];
        const struct pcf_section *desc = &file->index.sections[oldest.section];
        struct pci_archive_section *s = &archive->sections[oldest.section];
        uint64_t size = pcf_archive_block(desc->codec), offset = oldest.block * size;
        uint32_t unpinned = PCI_BLOCK_READY;
        size = size < desc->raw_size - offset ? size : desc->raw_size - offset;
        archive->queue_first = (archive->queue_first + 1) % archive->queue_capacity;
        if (!is_evictable(s)) { /* since it was queued, pci_decompress_column_now() ran */
            archive->evictable_bytes -= size;
            archive->queue_count--;
        } else if (atomic_compare_exchange_strong(&s->state[oldest.block], &unpinned, 0)) {
            pci_discard(s->raw + offset, (size_t)size);
            s->ready--;
            archive->evictable_bytes -= size;
            archive->queue_count--;
        } else {
            size_t last =
                (archive->queue_first + archive->queue_count - 1) % archive->queue_capacity;
            archive->queue[last] = oldest;
        }
    }
}

/* Makes space for one more element of the ring buffer. */
static pcol_status grow_queue(struct pci_archive *archive, pcol_error *err)
{
    if (archive->queue_count < archive->queue_capacity)
        return PCOL_OK;
    size_t capacity = archive->queue_capacity, first = archive->queue_first;
    PCI_TRY(PCI_GROW(archive->queue, archive->queue_capacity, capacity + 1, err));
    /* Move the wrapped elements after the old end; the capacity has at least doubled. */
    if (first)
        memcpy(archive->queue + capacity, archive->queue, first * sizeof *archive->queue);
    return PCOL_OK;
}

static pcol_status decompress_block(const pcol_file *file, const struct pci_column *column,
                                    const struct pci_column *named, uint32_t section,
                                    uint64_t block, pcol_error *err)
{
    struct pci_archive *archive = file->archive;
    struct pci_archive_section *s = &archive->sections[section];
    const struct pcf_section *desc = &file->index.sections[section];
    uint64_t size = pcf_archive_block(desc->codec), left = desc->raw_size - block * size;
    PCI_TRY(pci_archive_decompress(file, column, named, section, block, err));
    if (is_evictable(s))
        PCI_TRY(grow_queue(archive, err));
    archive->count++;
    s->ready++;
    if (!is_evictable(s))
        return PCOL_OK;
    archive->evictable_bytes += size < left ? size : left;
    archive->queue[(archive->queue_first + archive->queue_count++) % archive->queue_capacity] =
        (struct pci_archive_block){section, block};
    return PCOL_OK;
}

/* Pins a block and returns 1 if it is decompressed. `counted`: the section is evictable, so pins
 * are counted. */
static inline int try_pin_block(struct pci_archive_section *s, uint64_t block, int counted)
{
    _Atomic uint32_t *state = &s->state[block];
    if (!counted)
        return (atomic_load_explicit(state, memory_order_acquire) & PCI_BLOCK_READY) != 0;
    if (atomic_fetch_add_explicit(state, 1, memory_order_acquire) & PCI_BLOCK_READY)
        return 1;
    atomic_fetch_sub_explicit(state, 1, memory_order_relaxed);
    return 0;
}

static pcol_status pin_missing_block(struct pci_pin *pin, const struct pci_column *column,
                                     uint32_t section, uint64_t block, int counted, pcol_error *err)
{
    struct pci_archive *archive = pin->file->archive;
    struct pci_archive_section *s = &archive->sections[section];
    pcol_status status = PCOL_OK;
    pci_mutex_lock(&archive->lock);
    if (!try_pin_block(s, block, counted)) { /* unless another thread has decompressed it */
        status = decompress_block(pin->file, column, pin->named, section, block, err);
        if (status == PCOL_OK) {
            atomic_fetch_add(&s->state[block], PCI_BLOCK_READY + (uint32_t)counted);
            pin->decompressed = 1;
            evict_blocks(pin->file);
        }
    }
    pci_mutex_unlock(&archive->lock);
    return status;
}

/* The range to extend by blocks [*block, end) of a section; *block becomes the first one that it
 * does not include. Rows are pinned in ascending order, so a valid column has one range per
 * section. NULL: too many ranges. */
static struct pci_pin_range *find_range(struct pci_pin *pin, struct pci_archive_section *s,
                                        uint64_t *block, uint64_t end)
{
    for (unsigned i = 0; i < pin->count; i++) {
        struct pci_pin_range *range = &pin->ranges[i];
        if (range->section != s || *block < range->first || *block > range->end)
            continue;
        *block = range->end < end ? range->end : end;
        return range;
    }
    if (pin->count == PCI_PIN_RANGES)
        return NULL;
    pin->ranges[pin->count] = (struct pci_pin_range){s, *block, *block};
    return &pin->ranges[pin->count++];
}

/* Pins decompressed bytes [from, to) of a section; a no-op for an uncompressed section. */
static pcol_status pin_bytes(struct pci_pin *pin, const struct pci_column *column, uint32_t section,
                             uint64_t from, uint64_t to, pcol_error *err)
{
    const struct pcf_section *desc = &pin->file->index.sections[section];
    if (desc->codec == 0)
        return PCOL_OK;
    to = to < desc->raw_size ? to : desc->raw_size;
    if (from >= to)
        return PCOL_OK;
    struct pci_archive_section *s = &pin->file->archive->sections[section];
    uint64_t size = pcf_archive_block(desc->codec), block = from / size, end = (to - 1) / size + 1;
    struct pci_pin_range *range = NULL;
    int counted = is_evictable(s);
    if (counted && !(range = find_range(pin, s, &block, end)))
        return pci_corrupt(err, pin->named->table ? pin->named->table->name : "", pin->named->name,
                           PCOL_POSITION_UNKNOWN,
                           "rows are in too many separate ranges of the column");
    for (; block < end; block++) {
        if (!try_pin_block(s, block, counted))
            PCI_TRY(pin_missing_block(pin, column, section, block, counted, err));
        if (range)
            range->end = block + 1;
    }
    return PCOL_OK;
}

void pci_unpin(struct pci_pin *pin)
{
    for (unsigned i = 0; i < pin->count; i++) {
        const struct pci_pin_range *range = &pin->ranges[i];
        for (uint64_t block = range->first; block < range->end; block++)
            atomic_fetch_sub_explicit(&range->section->state[block], 1, memory_order_release);
    }
    pin->count = 0;
}

/* ---- columns */

static unsigned compressed_state(const struct pci_column *column)
{
    return atomic_load_explicit(&column->compression_state, memory_order_acquire);
}

const struct pci_column *pci_column_child(const pcol_file *file, const struct pci_column *column,
                                          unsigned i)
{
    const struct pcf_column *desc = column->desc;
    uint32_t codes;
    if (i < desc->child_count)
        return &file->columns[desc->first_child + i];
    codes = i == 1 ? pcf_column_codes(&file->index, column->number) : 0;
    return codes ? &file->columns[codes] : NULL;
}

/* Reserves the memory of all sections of a column and its children, so that any access is in
 * bounds. */
static pcol_status reserve_column(const pcol_file *file, const struct pci_column *column,
                                  pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_archive_section *sections = file->archive->sections;
    const struct pci_column *child;
    if (compressed_state(column) != PCI_COLUMN_COMPRESSED)
        return PCOL_OK;
    for (unsigned i = 0; (child = pci_column_child(file, column, i)); i++)
        PCI_TRY(reserve_column(file, child, err));
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++)
        if (sections[i].blocks && !sections[i].state)
            PCI_TRY(reserve_section(file, i, err));
    atomic_store_explicit(&file->columns[column->number].compression_state, PCI_COLUMN_RESERVED,
                          memory_order_release);
    return PCOL_OK;
}

/* Sets the state of a column and its children to 0 if all blocks are decompressed and none is
 * evictable: reads need no more pins. */
static void update_state(const pcol_file *file, const struct pci_column *column)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *child;
    int incomplete = 0;
    if (!compressed_state(column))
        return;
    for (unsigned i = 0; (child = pci_column_child(file, column, i)); i++) {
        update_state(file, child);
        incomplete |= compressed_state(child) != 0;
    }
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        const struct pci_archive_section *s = &file->archive->sections[i];
        incomplete |= is_evictable(s) || s->ready < s->blocks;
    }
    if (!incomplete)
        atomic_store_explicit(&file->columns[column->number].compression_state, 0,
                              memory_order_release);
}

static pcol_status begin_pin(struct pci_pin *pin, const pcol_file *file,
                             const struct pci_column *column, pcol_error *err)
{
    pcol_status status;
    pin->file = file;
    pin->named = column;
    pin->count = 0;
    pin->decompressed = 0;
    if (compressed_state(column) != PCI_COLUMN_COMPRESSED)
        return PCOL_OK;
    pci_mutex_lock(&file->archive->lock);
    status = reserve_column(file, column, err);
    pci_mutex_unlock(&file->archive->lock);
    return status;
}

/* Updates the column's state after a successful pin; returns `status`. */
static pcol_status end_pin(const struct pci_pin *pin, const struct pci_column *column,
                           pcol_status status)
{
    if (!pin->decompressed || status != PCOL_OK)
        return status;
    pci_mutex_lock(&pin->file->archive->lock);
    update_state(pin->file, column);
    pci_mutex_unlock(&pin->file->archive->lock);
    return status;
}

/* Pins bits [from, to) and `more` bytes of the section of a role, if the column has one. */
static pcol_status pin_role(struct pci_pin *pin, const struct pci_column *column,
                            enum pcf_role role, uint64_t from, uint64_t to, unsigned more,
                            pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        if (pin->file->index.sections[i].role == role)
            return pin_bytes(pin, column, i, from / 8, (to + 7) / 8 + more, err);
    }
    return PCOL_OK;
}

static pcol_status pin_plain(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                             uint64_t count, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    int packed = desc->encoding == PCF_PACKED;
    unsigned width = packed                                              ? desc->width
                     : desc->type == PCF_BOOL                            ? 1
                     : desc->type == PCF_U32 || desc->type == PCF_STRING ? 32
                                                                         : 64;
    PCI_TRY(pin_role(pin, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    if (desc->encoding == PCF_LINEAR)
        return PCOL_OK;
    return pin_role(pin, column, PCF_ROLE_VALUES, row * width, (row + count) * width,
                    packed ? PCF_PACK_PADDING : 0, err);
}

static pcol_status pin_rows(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                            uint64_t count, pcol_error *err);

/* Number of marked rows among rows [from, to) of a rank block. */
static uint64_t count_marks(const struct pcf_data *data, uint64_t block, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    const uint8_t *marks = pcf_marks_of(data, block);
    for (uint64_t i = from / 64 * 64; i < to; i += 64) {
        uint64_t word = pcf_load_bits(marks + i / 8, to - i);
        if (i < from)
            word &= UINT64_MAX << (from - i);
        count += (uint64_t)pcf_popcount(word);
    }
    return count;
}

/* Pins rows of one block of 1024: marks, and the rows of the children. Decoding CHAIN and DELTAS
 * begins at a multiple of 64, decoding TREE at the block. */
static pcol_status pin_marked(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                              uint64_t count, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    const struct pci_column *other = pci_column_child(pin->file, column, 1);
    unsigned encoding = data->encoding;
    uint64_t first = encoding == PCF_CHAIN || encoding == PCF_DELTAS ? row - row % 64
                     : encoding == PCF_TREE                          ? row - row % PCF_RANK_ROWS
                                                                     : row;
    uint64_t block = row / PCF_RANK_ROWS, offset = block * PCF_MARKS_STRIDE;
    PCI_TRY(pin_role(pin, column, PCF_ROLE_MARKS, (offset - (block ? 8 : 0)) * 8,
                     (offset + PCF_RANK_ROWS / 8) * 8, 0, err));
    uint64_t from = first % PCF_RANK_ROWS, to = from + count + (row - first);
    uint64_t rank = pcf_marks_before(data, block) + count_marks(data, block, 0, from);
    uint64_t marked = count_marks(data, block, from, to);
    PCI_TRY(pin_rows(pin, pci_column_child(pin->file, column, 0), rank, marked, err));
    if (encoding == PCF_SPARSE || encoding == PCF_TREE)
        return PCOL_OK;
    if (encoding == PCF_CHAIN)
        return pci_decompress_column(pin->file, other, err);
    return pin_rows(pin, other, first - rank, to - from - marked, err);
}

/* Pins the codes of the rows; decompresses all entries. */
static pcol_status pin_dictionary(struct pci_pin *pin, const struct pci_column *column,
                                  uint64_t row, uint64_t count, pcol_error *err)
{
    PCI_TRY(pci_decompress_column(pin->file, pci_column_child(pin->file, column, 0), err));
    return pin_rows(pin, pci_column_child(pin->file, column, 1), row, count, err);
}

/* Pins one batch of rows (pci_pin_batch_rows()): within a block of 1024 if the encoding has blocks.
 */
static pcol_status pin_batch(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                             uint64_t count, pcol_error *err)
{
    switch (column->desc->encoding) {
    case PCF_PLAIN:
    case PCF_LINEAR:
    case PCF_PACKED:
        return pin_plain(pin, column, row, count, err);
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        return pin_marked(pin, column, row, count, err);
    case PCF_DICTIONARY:
        return pin_dictionary(pin, column, row, count, err);
    default:
        return pci_decompress_column(pin->file, column, err);
    }
}

/* At most PCF_MAX_CHILD_DEPTH + 1 calls deep. */
static pcol_status pin_rows(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                            uint64_t count, pcol_error *err)
{
    if (!compressed_state(column) || !pcf_range(row, count, 1, column->desc->rows))
        return PCOL_OK;
    while (count) {
        uint64_t n = pci_pin_batch_rows(column, row, count);
        PCI_TRY(pin_batch(pin, column, row, n, err));
        row += n;
        count -= n;
    }
    return PCOL_OK;
}

uint64_t pci_pin_batch_rows(const struct pci_column *column, uint64_t row, uint64_t count)
{
    uint64_t limit = column->desc->encoding <= PCF_PACKED ? MAX_BATCH_ROWS
                                                          : PCF_BLOCK_ROWS - row % PCF_BLOCK_ROWS;
    return count < limit ? count : limit;
}

pcol_status pci_pin_rows(struct pci_pin *pin, const pcol_file *file,
                         const struct pci_column *column, uint64_t row, uint64_t count,
                         pcol_error *err)
{
    PCI_TRY(begin_pin(pin, file, column, err));
    return end_pin(pin, column, pin_rows(pin, column, row, count, err));
}

/* Pins rows [row, row + count) of a column of type bytes. */
static pcol_status pin_strings(struct pci_pin *pin, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err)
{
    const struct pci_column *offsets = pci_column_child(pin->file, column, 0);
    int64_t from, to;
    int valid;
    PCI_TRY(pin_role(pin, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    PCI_TRY(pin_rows(pin, offsets, row, count + 1, err));
    if (column->desc->encoding == PCF_FRONT)
        PCI_TRY(pin_rows(pin, pci_column_child(pin->file, column, 1), row, count, err));
    enum pcf_result result = pcf_get(offsets->data, row, &from, &valid);
    if (result == PCF_OK)
        result = pcf_get(offsets->data, row + count, &to, &valid);
    if (result != PCF_OK) /* reading on would use blocks that are not decompressed */
        return pci_corrupt(err, column->table ? column->table->name : "", column->name, row, "%s",
                           pcf_result_text(result));
    if ((uint64_t)from > (uint64_t)to || (uint64_t)to > column->data->bytes_size)
        return PCOL_OK; /* reading the cell reports it */
    return pin_role(pin, column, PCF_ROLE_DATA, (uint64_t)from * 8, (uint64_t)to * 8, 0, err);
}

pcol_status pci_pin_bytes(struct pci_pin *pin, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    uint64_t count = 1;
    PCI_TRY(begin_pin(pin, file, column, err));
    if (row >= desc->rows || (desc->encoding != PCF_PLAIN && desc->encoding != PCF_FRONT))
        return PCOL_OK;
    if (desc->encoding == PCF_FRONT) { /* decoded in blocks of 64 rows */
        row -= row % PCF_FRONT_ROWS;
        count = desc->rows - row < PCF_FRONT_ROWS ? desc->rows - row : PCF_FRONT_ROWS;
    }
    return end_pin(pin, column, pin_strings(pin, column, row, count, err));
}

/* ---- whole columns */

/* Pins all sections of a column and its children. */
static pcol_status pin_all(struct pci_pin *pin, const struct pci_column *column, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *child;
    if (!compressed_state(column))
        return PCOL_OK;
    for (unsigned i = 0; (child = pci_column_child(pin->file, column, i)); i++)
        PCI_TRY(pin_all(pin, child, err));
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++)
        PCI_TRY(pin_bytes(pin, column, i, 0, pin->file->index.sections[i].raw_size, err));
    return PCOL_OK;
}

/* Pins bitmaps and directories, the end of packed values, and child 0 if it has run ends or
 * offsets. The string pool also needs its DATA, whose order is verified. */
static pcol_status pin_structure(struct pci_pin *pin, const struct pci_column *column,
                                 pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *child = pci_column_child(pin->file, column, 0);
    int plain = desc->encoding == PCF_PLAIN;
    int packed = desc->encoding == PCF_PACKED || desc->type == PCF_BOOL;
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        const struct pcf_section *s = &pin->file->index.sections[i];
        uint64_t end = s->raw_size, tail = end > 2 * PCF_PACK_PADDING ? 2 * PCF_PACK_PADDING : end;
        if (s->role == PCF_ROLE_VALUES ? packed
            : s->role == PCF_ROLE_DATA ? column == pin->file->strings && plain
                                       : 1)
            PCI_TRY(
                pin_bytes(pin, column, i, s->role == PCF_ROLE_VALUES ? end - tail : 0, end, err));
    }
    return child && (desc->encoding == PCF_RUNS || desc->type == PCF_BYTES)
               ? pin_all(pin, child, err)
               : PCOL_OK;
}

pcol_status pci_pin_structure(struct pci_pin *pin, const pcol_file *file,
                              const struct pci_column *column, pcol_error *err)
{
    PCI_TRY(begin_pin(pin, file, column, err));
    return compressed_state(column) ? end_pin(pin, column, pin_structure(pin, column, err))
                                    : PCOL_OK;
}

/* Never unpins its blocks on success, so they stay in memory. */
pcol_status pci_decompress_column_now(const pcol_file *file, const struct pci_column *column,
                                      pcol_error *err)
{
    struct pci_pin pin;
    PCI_TRY(pci_verify(file, column, err));
    PCI_TRY(begin_pin(&pin, file, column, err));
    pcol_status status = pin_all(&pin, column, err);
    if (status != PCOL_OK) {
        pci_unpin(&pin);
        return status;
    }
    pci_mutex_lock(&file->archive->lock);
    for (unsigned i = 0; i < pin.count; i++)
        atomic_store_explicit(&pin.ranges[i].section->evictable, 0, memory_order_relaxed);
    update_state(file, column);
    pci_mutex_unlock(&file->archive->lock);
    return PCOL_OK;
}
