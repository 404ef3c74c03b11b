/*
 * archive_cache.c - which blocks of an archive a reader's rows need, and keeping them there while
 * he reads
 *
 * From an encoding follows which bytes of which sections its rows lie in. Those columns whose
 * rows are scattered are decompressed as a whole.
 */
#include "reader/archive_read.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"
#include "util/alloc.h"

#include <string.h>

#define MOST_ROWS 16384u

/* ---- blocks */

/* The section's place, of which nothing is there yet. */
static pcol_status open_section(const pcol_file *file, uint32_t section, pcol_error *err)
{
    struct pci_archive_section *cold = &file->thaw->cold[section];
    size_t size = (size_t)file->index.sections[section].raw_size;
    if (!cold->raw)
        cold->raw = cold->blocks > 1 ? pci_reserve(size) : pci_calloc(size, 1);
    if (cold->raw)
        cold->state = pci_calloc((size_t)cold->blocks, sizeof *cold->state);
    if (!cold->state)
        return pci_fail_memory(err);
    pcf_index_section(&file->index, section, cold->raw, file->data);
    return PCOL_OK;
}

static inline int may_go(const struct pci_archive_section *cold)
{
    return atomic_load_explicit(&cold->may_go, memory_order_relaxed);
}

/* Let go of the oldest blocks that nobody holds, until the rest is no more than the limit. */
static void let_go(const pcol_file *file)
{
    struct pci_decompress_column *thaw = file->thaw;
    for (size_t tries = thaw->queue_count; tries > 0 && thaw->held > thaw->limit; tries--) {
        struct pci_thaw_block oldest = thaw->queue[thaw->queue_first];
        const struct pcf_section *s = &file->index.sections[oldest.section];
        struct pci_archive_section *cold = &thaw->cold[oldest.section];
        uint64_t size = pcf_press_block(s->codec), at = oldest.block * size;
        uint32_t free_block = PCI_BLOCK_READY;
        size = size < s->raw_size - at ? size : s->raw_size - at;
        thaw->queue_first = (thaw->queue_first + 1) % thaw->queue_capacity;
        if (!may_go(cold)) { /* any more */
            thaw->held -= size;
            thaw->queue_count--;
        } else if (atomic_compare_exchange_strong(&cold->state[oldest.block], &free_block, 0)) {
            pci_discard(cold->raw + at, (size_t)size);
            cold->ready--;
            thaw->held -= size;
            thaw->queue_count--;
        } else {
            size_t last = (thaw->queue_first + thaw->queue_count - 1) % thaw->queue_capacity;
            thaw->queue[last] = oldest;
        }
    }
}

/* One more place at the queue's end. */
static pcol_status widen_queue(struct pci_decompress_column *thaw, pcol_error *err)
{
    if (thaw->queue_count < thaw->queue_capacity)
        return PCOL_OK;
    size_t capacity = thaw->queue_capacity, first = thaw->queue_first;
    if (pci_grow((void **)&thaw->queue, &thaw->queue_capacity, capacity + 1, sizeof *thaw->queue))
        return pci_fail_memory(err);
    /* What went round the end goes on behind it: the queue has at least doubled. */
    if (first)
        memcpy(thaw->queue + capacity, thaw->queue, first * sizeof *thaw->queue);
    return PCOL_OK;
}

static pcol_status thaw_new(const pcol_file *file, const struct pci_column *column,
                            const struct pci_column *named, uint32_t section, uint64_t block,
                            pcol_error *err)
{
    struct pci_decompress_column *thaw = file->thaw;
    struct pci_archive_section *cold = &thaw->cold[section];
    const struct pcf_section *s = &file->index.sections[section];
    uint64_t size = pcf_press_block(s->codec), left = s->raw_size - block * size;
    PCI_TRY(pci_thaw_block(file, column, named, section, block, err));
    if (may_go(cold))
        PCI_TRY(widen_queue(thaw, err));
    thaw->count++;
    cold->ready++;
    if (!may_go(cold))
        return PCOL_OK;
    thaw->held += size < left ? size : left;
    thaw->queue[(thaw->queue_first + thaw->queue_count++) % thaw->queue_capacity] =
        (struct pci_thaw_block){section, block};
    return PCOL_OK;
}

/* The block is held from here on, if it is there; one that may not go is not counted. */
static inline int take(struct pci_archive_section *cold, uint64_t block, int counted)
{
    _Atomic uint32_t *state = &cold->state[block];
    if (!counted)
        return (atomic_load_explicit(state, memory_order_acquire) & PCI_BLOCK_READY) != 0;
    if (atomic_fetch_add_explicit(state, 1, memory_order_acquire) & PCI_BLOCK_READY)
        return 1;
    atomic_fetch_sub_explicit(state, 1, memory_order_relaxed);
    return 0;
}

static pcol_status take_new(struct pci_pin *hold, const struct pci_column *column, uint32_t section,
                            uint64_t block, int counted, pcol_error *err)
{
    struct pci_decompress_column *thaw = hold->file->thaw;
    struct pci_archive_section *cold = &thaw->cold[section];
    pcol_status status = PCOL_OK;
    pthread_mutex_lock(&thaw->lock);
    if (!take(cold, block, counted)) { /* nobody was quicker */
        status = thaw_new(hold->file, column, hold->named, section, block, err);
        if (status == PCOL_OK) {
            atomic_fetch_add(&cold->state[block], PCI_BLOCK_READY + (uint32_t)counted);
            hold->thawed = 1;
            let_go(hold->file);
        }
    }
    pthread_mutex_unlock(&thaw->lock);
    return status;
}

/* The part that holds blocks [*block, end) of a section, to be extended to them: *block is the
 * first that it does not hold yet. Rows are held in their order, so that a sound column has one
 * part for each section. NULL: there are too many. */
static struct pci_pin_range *find_part(struct pci_pin *hold, struct pci_archive_section *cold,
                                       uint64_t *block, uint64_t end)
{
    for (unsigned i = 0; i < hold->count; i++) {
        struct pci_pin_range *part = &hold->parts[i];
        if (part->cold != cold || *block < part->first || *block > part->end)
            continue;
        *block = part->end < end ? part->end : end;
        return part;
    }
    if (hold->count == PCI_PIN_RANGES)
        return NULL;
    hold->parts[hold->count] = (struct pci_pin_range){cold, *block, *block};
    return &hold->parts[hold->count++];
}

/* Bytes [from, to) of a section, as it is decompressed; it may be one that is not compressed. */
static pcol_status hold_bytes(struct pci_pin *hold, const struct pci_column *column,
                              uint32_t section, uint64_t from, uint64_t to, pcol_error *err)
{
    const struct pcf_section *s = &hold->file->index.sections[section];
    if (s->codec == 0)
        return PCOL_OK;
    to = to < s->raw_size ? to : s->raw_size;
    if (from >= to)
        return PCOL_OK;
    struct pci_archive_section *cold = &hold->file->thaw->cold[section];
    uint64_t size = pcf_press_block(s->codec), block = from / size, end = (to - 1) / size + 1;
    struct pci_pin_range *part = NULL;
    int counted = may_go(cold);
    if (counted && !(part = find_part(hold, cold, &block, end)))
        return pci_fail_cell(err, PCOL_E_CORRUPT,
                             hold->named->table ? hold->named->table->name : "", hold->named->name,
                             PCOL_NOWHERE, "rows lie in too many separate places of the column");
    for (; block < end; block++) {
        if (!take(cold, block, counted))
            PCI_TRY(take_new(hold, column, section, block, counted, err));
        if (part)
            part->end = block + 1;
    }
    return PCOL_OK;
}

void pci_unpin(struct pci_pin *hold)
{
    for (unsigned i = 0; i < hold->count; i++) {
        const struct pci_pin_range *part = &hold->parts[i];
        for (uint64_t block = part->first; block < part->end; block++)
            atomic_fetch_sub_explicit(&part->cold->state[block], 1, memory_order_release);
    }
    hold->count = 0;
}

/* ---- columns */

static unsigned is_frozen(const struct pci_column *column)
{
    return atomic_load_explicit(&column->frozen, memory_order_acquire);
}

const struct pci_column *pci_row_part_of(const pcol_file *file, const struct pci_column *column,
                                         unsigned part)
{
    const struct pcf_column *desc = column->desc;
    uint32_t codes;
    if (part < desc->child_count)
        return &file->columns[desc->first_child + part];
    codes = part == 1 ? pcf_column_codes(&file->index, column->number) : 0;
    return codes ? &file->columns[codes] : NULL;
}

/* From here on all that the column's data points to can be read, whatever stands there. */
static pcol_status open_column(const pcol_file *file, const struct pci_column *column,
                               pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *part;
    if (is_frozen(column) != PCI_COLUMN_COMPRESSED)
        return PCOL_OK;
    for (unsigned i = 0; (part = pci_row_part_of(file, column, i)); i++)
        PCI_TRY(open_column(file, part, err));
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++)
        if (file->thaw->cold[i].blocks && !file->thaw->cold[i].state)
            PCI_TRY(open_section(file, i, err));
    atomic_store_explicit(&file->columns[column->number].frozen, PCI_COLUMN_RESERVED,
                          memory_order_release);
    return PCOL_OK;
}

/* Of a column, or one of its parts, all blocks may be there by now, and none of them may go: it is
 * as in any file. */
static void settle(const pcol_file *file, const struct pci_column *column)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *part;
    int frozen = 0;
    if (!is_frozen(column))
        return;
    for (unsigned i = 0; (part = pci_row_part_of(file, column, i)); i++) {
        settle(file, part);
        frozen |= is_frozen(part) != 0;
    }
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        const struct pci_archive_section *cold = &file->thaw->cold[i];
        frozen |= may_go(cold) || cold->ready < cold->blocks;
    }
    if (!frozen)
        atomic_store_explicit(&file->columns[column->number].frozen, 0, memory_order_release);
}

/* Begin a hold on a column. */
static pcol_status begin(struct pci_pin *hold, const pcol_file *file,
                         const struct pci_column *column, pcol_error *err)
{
    pcol_status status;
    hold->file = file;
    hold->named = column;
    hold->count = 0;
    hold->thawed = 0;
    if (is_frozen(column) != PCI_COLUMN_COMPRESSED)
        return PCOL_OK;
    pthread_mutex_lock(&file->thaw->lock);
    status = open_column(file, column, err);
    pthread_mutex_unlock(&file->thaw->lock);
    return status;
}

static pcol_status settled(const struct pci_pin *hold, const struct pci_column *column,
                           pcol_status status)
{
    if (!hold->thawed || status != PCOL_OK)
        return status;
    pthread_mutex_lock(&hold->file->thaw->lock);
    settle(hold->file, column);
    pthread_mutex_unlock(&hold->file->thaw->lock);
    return status;
}

/* Bits [from, to) of the section of a role, if the column has one, and `more` bytes. */
static pcol_status hold_role(struct pci_pin *hold, const struct pci_column *column,
                             enum pcf_role role, uint64_t from, uint64_t to, unsigned more,
                             pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        if (hold->file->index.sections[i].role == role)
            return hold_bytes(hold, column, i, from / 8, (to + 7) / 8 + more, err);
    }
    return PCOL_OK;
}

static pcol_status hold_plain(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                              uint64_t count, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    int packed = desc->encoding == PCF_PACKED;
    unsigned width = packed                                              ? desc->width
                     : desc->type == PCF_BOOL                            ? 1
                     : desc->type == PCF_U32 || desc->type == PCF_STRING ? 32
                                                                         : 64;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    if (desc->encoding == PCF_LINEAR)
        return PCOL_OK;
    return hold_role(hold, column, PCF_ROLE_VALUES, row * width, (row + count) * width,
                     packed ? PCF_PACK_PADDING : 0, err);
}

/* Rows of one block of 1024. */
static pcol_status hold_blocked(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                                uint64_t count, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    uint64_t block = row / PCF_BLOCK_ROWS, at = block * sizeof(struct pcf_block);
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    PCI_TRY(hold_role(hold, column, PCF_ROLE_BLOCKS, at * 8, (at + sizeof(struct pcf_block)) * 8, 0,
                      err));
    uint64_t bits = pcf_load64(data->blocks + at + offsetof(struct pcf_block, bits));
    uint64_t offset = bits & ((UINT64_C(1) << 56) - 1), width = bits >> 56;
    uint64_t left = data->rows - block * PCF_BLOCK_ROWS;
    uint64_t bytes = pcf_bytes_of_bits((left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS) * width);
    return hold_role(hold, column, PCF_ROLE_VALUES, offset * 8, (offset + bytes) * 8,
                     PCF_PACK_PADDING, err);
}

static pcol_status hold_column(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err);

/* Rows of a block that are marked, of those from `from` to `to` within it. */
static uint64_t marks_in(const struct pcf_data *data, uint64_t block, uint64_t from, uint64_t to)
{
    uint64_t count = 0, bytes = pcf_bytes_of_bits(data->rows - block * PCF_RANK_ROWS);
    const uint8_t *marks = pcf_marks_of(data, block);
    for (uint64_t at = from / 64 * 64; at < to; at += 64) {
        uint64_t word = 0, left = bytes - at / 8;
        memcpy(&word, marks + at / 8, left < 8 ? (size_t)left : 8);
        if (at < from)
            word &= UINT64_MAX << (from - at);
        if (to - at < 64)
            word &= (UINT64_C(1) << (to - at)) - 1;
        count += (uint64_t)pcf_popcount(word);
    }
    return count;
}

/* Rows of one block of 1024: their marks, and what the children have for them. What follows from
 * the row before may begin at the 64th row before, of a tree with the block. */
static pcol_status hold_marked(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    const struct pci_column *other = pci_row_part_of(hold->file, column, 1);
    unsigned encoding = data->encoding;
    uint64_t first = encoding == PCF_CHAIN || encoding == PCF_DELTAS ? row - row % 64
                     : encoding == PCF_TREE                          ? row - row % PCF_RANK_ROWS
                                                                     : row;
    uint64_t block = row / PCF_RANK_ROWS, at = block * PCF_MARKS_STRIDE;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_MARKS, (at - (block ? 8 : 0)) * 8,
                      (at + PCF_RANK_ROWS / 8) * 8, 0, err));
    uint64_t from = first % PCF_RANK_ROWS, to = from + count + (row - first);
    uint64_t before = pcf_marks_before(data, block) + marks_in(data, block, 0, from);
    uint64_t marked = marks_in(data, block, from, to);
    PCI_TRY(hold_column(hold, pci_row_part_of(hold->file, column, 0), before, marked, err));
    if (encoding == PCF_SPARSE || encoding == PCF_TREE)
        return PCOL_OK;
    if (encoding == PCF_CHAIN)
        return pci_decompress_column(hold->file, other, err);
    return hold_column(hold, other, first - before, to - from - marked, err);
}

/* Codes of the rows, and all values. */
static pcol_status hold_dictionary(struct pci_pin *hold, const struct pci_column *column,
                                   uint64_t row, uint64_t count, pcol_error *err)
{
    PCI_TRY(pci_decompress_column(hold->file, pci_row_part_of(hold->file, column, 0), err));
    return hold_column(hold, pci_row_part_of(hold->file, column, 1), row, count, err);
}

/* Rows that lie in one block of 1024 where the encoding has such. */
static pcol_status hold_piece(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                              uint64_t count, pcol_error *err)
{
    switch (column->desc->encoding) {
    case PCF_PLAIN:
    case PCF_LINEAR:
    case PCF_PACKED:
        return hold_plain(hold, column, row, count, err);
    case PCF_BLOCKED:
        return hold_blocked(hold, column, row, count, err);
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        return hold_marked(hold, column, row, count, err);
    case PCF_DICTIONARY:
        return hold_dictionary(hold, column, row, count, err);
    default:
        return pci_decompress_column(hold->file, column, err);
    }
}

/* At most PCF_MAX_CHILD_DEPTH + 1 calls deep. */
static pcol_status hold_column(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err)
{
    if (!is_frozen(column) || !pcf_range(row, count, 1, column->desc->rows))
        return PCOL_OK;
    while (count) {
        uint64_t n = pci_pin_batch_rows(column, row, count);
        PCI_TRY(hold_piece(hold, column, row, n, err));
        row += n;
        count -= n;
    }
    return PCOL_OK;
}

uint64_t pci_pin_batch_rows(const struct pci_column *column, uint64_t row, uint64_t count)
{
    uint64_t most =
        column->desc->encoding <= PCF_PACKED ? MOST_ROWS : PCF_BLOCK_ROWS - row % PCF_BLOCK_ROWS;
    return count < most ? count : most;
}

pcol_status pci_pin_rows(struct pci_pin *hold, const pcol_file *file,
                         const struct pci_column *column, uint64_t row, uint64_t count,
                         pcol_error *err)
{
    PCI_TRY(begin(hold, file, column, err));
    return settled(hold, column, hold_column(hold, column, row, count, err));
}

/* Rows [row, row + count) of a column of texts. */
static pcol_status hold_texts(struct pci_pin *hold, const struct pci_column *column, uint64_t row,
                              uint64_t count, pcol_error *err)
{
    const struct pci_column *offsets = pci_row_part_of(hold->file, column, 0);
    int64_t from, to;
    int valid;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    PCI_TRY(hold_column(hold, offsets, row, count + 1, err));
    if (column->desc->encoding == PCF_FRONT)
        PCI_TRY(hold_column(hold, pci_row_part_of(hold->file, column, 1), row, count, err));
    enum pcf_result result = pcf_get(offsets->data, row, &from, &valid);
    if (result == PCF_OK)
        result = pcf_get(offsets->data, row + count, &to, &valid);
    if (result != PCF_OK) /* else what is not held would be read as zeros */
        return pci_fail_cell(err, PCOL_E_CORRUPT, column->table ? column->table->name : "",
                             column->name, row, "%s", pcf_result_text(result));
    if ((uint64_t)from > (uint64_t)to || (uint64_t)to > column->data->bytes_size)
        return PCOL_OK; /* reading it says so */
    return hold_role(hold, column, PCF_ROLE_DATA, (uint64_t)from * 8, (uint64_t)to * 8, 0, err);
}

pcol_status pci_pin_bytes(struct pci_pin *hold, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    uint64_t count = 1;
    PCI_TRY(begin(hold, file, column, err));
    if (row >= desc->rows || (desc->encoding != PCF_PLAIN && desc->encoding != PCF_FRONT))
        return PCOL_OK;
    if (desc->encoding == PCF_FRONT) { /* which are put together 64 at a time */
        row -= row % PCF_FRONT_ROWS;
        count = desc->rows - row < PCF_FRONT_ROWS ? desc->rows - row : PCF_FRONT_ROWS;
    }
    return settled(hold, column, hold_texts(hold, column, row, count, err));
}

/* ---- whole columns */

/* All sections of a column and its parts. */
static pcol_status hold_all(struct pci_pin *hold, const struct pci_column *column, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *part;
    if (!is_frozen(column))
        return PCOL_OK;
    for (unsigned i = 0; (part = pci_row_part_of(hold->file, column, i)); i++)
        PCI_TRY(hold_all(hold, part, err));
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++)
        PCI_TRY(hold_bytes(hold, column, i, 0, hold->file->index.sections[i].raw_size, err));
    return PCOL_OK;
}

/* Bitmaps and directories, the end of values that are packed, and of the first child the run ends
 * or
 * the offsets; the pool of strings also with its bytes, whose order is verified. */
static pcol_status hold_structure(struct pci_pin *hold, const struct pci_column *column,
                                  pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    const struct pci_column *part = pci_row_part_of(hold->file, column, 0);
    int plain = desc->encoding == PCF_PLAIN;
    int packed =
        desc->encoding == PCF_PACKED || desc->encoding == PCF_BLOCKED || desc->type == PCF_BOOL;
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        const struct pcf_section *s = &hold->file->index.sections[i];
        uint64_t end = s->raw_size, tail = end > 2 * PCF_PACK_PADDING ? 2 * PCF_PACK_PADDING : end;
        if (s->role == PCF_ROLE_VALUES ? packed
            : s->role == PCF_ROLE_DATA ? column == hold->file->strings && plain
                                       : 1)
            PCI_TRY(
                hold_bytes(hold, column, i, s->role == PCF_ROLE_VALUES ? end - tail : 0, end, err));
    }
    return part && (desc->encoding == PCF_RUNS || desc->type == PCF_BYTES)
               ? hold_all(hold, part, err)
               : PCOL_OK;
}

pcol_status pci_pin_structure(struct pci_pin *hold, const pcol_file *file,
                              const struct pci_column *column, pcol_error *err)
{
    PCI_TRY(begin(hold, file, column, err));
    return is_frozen(column) ? settled(hold, column, hold_structure(hold, column, err)) : PCOL_OK;
}

/* Blocks that are never released do not go. */
pcol_status pci_decompress_column_now(const pcol_file *file, const struct pci_column *column,
                                      pcol_error *err)
{
    struct pci_pin hold;
    PCI_TRY(pci_verify(file, column, err));
    PCI_TRY(begin(&hold, file, column, err));
    pcol_status status = hold_all(&hold, column, err);
    if (status != PCOL_OK) {
        pci_unpin(&hold);
        return status;
    }
    pthread_mutex_lock(&file->thaw->lock);
    for (unsigned i = 0; i < hold.count; i++)
        atomic_store_explicit(&hold.parts[i].cold->may_go, 0, memory_order_relaxed);
    settle(file, column);
    pthread_mutex_unlock(&file->thaw->lock);
    return PCOL_OK;
}
