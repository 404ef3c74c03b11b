/*
 * hold.c - which blocks of an archive a reader's rows need, and keeping them there while he reads
 *
 * From an encoding follows which bytes of which sections its rows lie in. Those columns whose
 * rows are scattered are decompressed as a whole.
 */
#include "core/thaw.h"

#include "alloc.h"
#include "load.h"
#include "marked.h"
#include "range.h"

#include <string.h>

#define MOST_ROWS 16384u

/* ---- blocks */

/* Nothing was touched yet. */
static pcol_status open_section(const pcol_file *file, uint32_t section, pcol_error *err)
{
    struct pci_cold *cold = &file->thaw->cold[section];
    size_t size = (size_t)file->index.sections[section].raw_size;
    if (!cold->raw)
        cold->raw = cold->blocks > 1 ? pci_reserve(size) : pci_malloc(size, 1);
    _Atomic uint32_t *state =
        cold->raw ? pci_calloc((size_t)cold->blocks, sizeof *state) : NULL;
    if (!state)
        return pci_fail_memory(err);
    pcf_index_section(&file->index, section, cold->raw, file->data);
    atomic_store_explicit(&cold->state, state, memory_order_release);
    return PCOL_OK;
}

static inline int may_go(const struct pci_cold *cold)
{
    return atomic_load_explicit(&cold->may_go, memory_order_relaxed);
}

/* Let go of the oldest blocks that nobody holds, until the rest is no more than the limit. */
static void let_go(const pcol_file *file)
{
    struct pci_thaw *thaw = file->thaw;
    for (size_t tries = thaw->queue_count; tries > 0 && thaw->held > thaw->limit; tries--) {
        struct pci_thaw_block oldest = thaw->queue[thaw->queue_first];
        const struct pcf_section *s = &file->index.sections[oldest.section];
        struct pci_cold *cold = &thaw->cold[oldest.section];
        uint64_t size = pcf_press_block(s->codec), at = oldest.block * size;
        _Atomic uint32_t *state =
            &atomic_load_explicit(&cold->state, memory_order_relaxed)[oldest.block];
        uint32_t free_block = PCI_THAW_READY;
        size = size < s->raw_size - at ? size : s->raw_size - at;
        thaw->queue_first = (thaw->queue_first + 1) % thaw->queue_capacity;
        if (!may_go(cold)) { /* any more */
            thaw->held -= size;
            thaw->queue_count--;
        } else if (atomic_compare_exchange_strong(state, &free_block, 0)) {
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
static pcol_status widen_queue(struct pci_thaw *thaw, pcol_error *err)
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
    struct pci_thaw *thaw = file->thaw;
    struct pci_cold *cold = &thaw->cold[section];
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
static inline int take(struct pci_cold *cold, uint64_t block, int counted)
{
    _Atomic uint32_t *state = atomic_load_explicit(&cold->state, memory_order_acquire);
    if (!state)
        return 0;
    if (!counted)
        return (atomic_load_explicit(&state[block], memory_order_acquire) & PCI_THAW_READY) != 0;
    if (atomic_fetch_add_explicit(&state[block], 1, memory_order_acquire) & PCI_THAW_READY)
        return 1;
    atomic_fetch_sub_explicit(&state[block], 1, memory_order_relaxed);
    return 0;
}

static pcol_status take_new(struct pci_hold *hold, const struct pci_column *column,
                            uint32_t section, uint64_t block, int counted, pcol_error *err)
{
    struct pci_thaw *thaw = hold->file->thaw;
    struct pci_cold *cold = &thaw->cold[section];
    pcol_status status = PCOL_OK;
    pthread_mutex_lock(&thaw->lock);
    if (!take(cold, block, counted)) { /* nobody was quicker */
        if (!atomic_load_explicit(&cold->state, memory_order_relaxed))
            status = open_section(hold->file, section, err);
        if (status == PCOL_OK)
            status = thaw_new(hold->file, column, hold->named, section, block, err);
        if (status == PCOL_OK) {
            _Atomic uint32_t *state =
                &atomic_load_explicit(&cold->state, memory_order_relaxed)[block];
            atomic_fetch_add(state, PCI_THAW_READY + (uint32_t)counted);
            hold->thawed = 1;
            let_go(hold->file);
        }
    }
    pthread_mutex_unlock(&thaw->lock);
    return status;
}

/* Bytes [from, to) of a section, as it is decompressed; it may be one that is not compressed. */
static pcol_status hold_bytes(struct pci_hold *hold, const struct pci_column *column,
                              uint32_t section, uint64_t from, uint64_t to, pcol_error *err)
{
    const struct pcf_section *s = &hold->file->index.sections[section];
    if (s->codec == 0)
        return PCOL_OK;
    to = to < s->raw_size ? to : s->raw_size;
    if (from >= to)
        return PCOL_OK;
    struct pci_cold *cold = &hold->file->thaw->cold[section];
    uint64_t size = pcf_press_block(s->codec), block = from / size, end = (to - 1) / size + 1;
    struct pci_hold_part *part = &hold->parts[hold->count];
    int counted = may_go(cold);
    if (counted) {
        *part = (struct pci_hold_part){cold, block, block};
        hold->count++; /* as many as there are sections of a column at most */
    }
    for (; block < end; block++) {
        if (!take(cold, block, counted))
            PCI_TRY(take_new(hold, column, section, block, counted, err));
        if (counted)
            part->end = block + 1;
    }
    return PCOL_OK;
}

void pci_release(struct pci_hold *hold)
{
    for (unsigned i = 0; i < hold->count; i++) {
        const struct pci_hold_part *part = &hold->parts[i];
        _Atomic uint32_t *state = atomic_load_explicit(&part->cold->state, memory_order_relaxed);
        for (uint64_t block = part->first; block < part->end; block++)
            atomic_fetch_sub_explicit(&state[block], 1, memory_order_release);
    }
    hold->count = 0;
}

/* ---- columns */

static int is_frozen(const struct pci_column *column)
{
    return atomic_load_explicit(&column->frozen, memory_order_acquire);
}

static const struct pci_column *child_of(const pcol_file *file, const struct pci_column *column,
                                         unsigned child)
{
    return &file->columns[column->desc->first_child + child];
}

/* Of a column, or one of its children, all blocks may be there by now, and none of them may go: it is as
 * in any file. */
static void settle(const pcol_file *file, uint32_t number)
{
    struct pci_column *column = &file->columns[number];
    const struct pcf_column *desc = column->desc;
    int frozen = 0;
    if (!is_frozen(column))
        return;
    for (uint32_t i = 0; i < desc->child_count; i++) {
        settle(file, desc->first_child + i);
        frozen |= is_frozen(&file->columns[desc->first_child + i]);
    }
    for (uint32_t i = 0; i < desc->section_count; i++) {
        const struct pci_cold *cold = &file->thaw->cold[desc->first_section + i];
        frozen |= may_go(cold) || cold->ready < cold->blocks;
    }
    if (!frozen)
        atomic_store_explicit(&column->frozen, 0, memory_order_release);
}

static pcol_status settled(const struct pci_hold *hold, const struct pci_column *column,
                           pcol_status status)
{
    if (!hold->thawed || status != PCOL_OK)
        return status;
    pthread_mutex_lock(&hold->file->thaw->lock);
    settle(hold->file, column->number);
    pthread_mutex_unlock(&hold->file->thaw->lock);
    return status;
}

/* Bits [from, to) of the section of a role, if the column has one, and `more` bytes. */
static pcol_status hold_role(struct pci_hold *hold, const struct pci_column *column,
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

static pcol_status hold_plain(struct pci_hold *hold, const struct pci_column *column, uint64_t row,
                              uint64_t count, pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    int packed = desc->encoding == PCF_PACKED;
    unsigned width = packed ? desc->width
                     : desc->type == PCF_BOOL ? 1
                     : desc->type == PCF_U32 || desc->type == PCF_STRING ? 32
                                                                         : 64;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    if (desc->encoding == PCF_LINEAR)
        return PCOL_OK;
    return hold_role(hold, column, PCF_ROLE_VALUES, row * width, (row + count) * width,
                     packed ? PCF_PACK_PADDING : 0, err);
}

/* Rows of one block of 1024. */
static pcol_status hold_blocked(struct pci_hold *hold, const struct pci_column *column,
                                uint64_t row, uint64_t count, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    uint64_t block = row / PCF_BLOCK_ROWS, at = block * sizeof(struct pcf_block);
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + count, 0, err));
    PCI_TRY(hold_role(hold, column, PCF_ROLE_BLOCKS, at * 8, (at + sizeof(struct pcf_block)) * 8, 0,
                      err));
    uint64_t bits = pcf_load64(data->blocks + at + offsetof(struct pcf_block, bits));
    uint64_t offset = bits & ((UINT64_C(1) << 56) - 1), width = bits >> 56;
    uint64_t left = data->rows - block * PCF_BLOCK_ROWS;
    uint64_t bytes =
        pcf_bytes_of_bits((left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS) * width);
    return hold_role(hold, column, PCF_ROLE_VALUES, offset * 8, (offset + bytes) * 8,
                     PCF_PACK_PADDING, err);
}

static pcol_status hold_column(struct pci_hold *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err);

/* Bits set of [from, to). */
static uint64_t marks_in(const uint8_t *marks, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t byte = from / 8; byte * 8 < to; byte++) {
        unsigned bits = marks[byte];
        if (byte * 8 < from)
            bits &= 0xffu << (from % 8);
        if (to - byte * 8 < 8)
            bits &= 0xffu >> (8 - to % 8);
        count += (uint64_t)__builtin_popcount(bits);
    }
    return count;
}

/* Rows of one block of 1024: their marks, and what the child has for the marked ones. */
static pcol_status hold_sparse(struct pci_hold *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    uint64_t block = row / PCF_RANK_ROWS, at = block * PCF_MARKS_STRIDE;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_MARKS, (at - (block ? 8 : 0)) * 8,
                      (at + PCF_RANK_ROWS / 8) * 8, 0, err));
    uint64_t first = row % PCF_RANK_ROWS, rank = pcf_marks_before(data, block);
    const uint8_t *marks = pcf_marks_of(data, block);
    rank += marks_in(marks, 0, first);
    return hold_column(hold, child_of(hold->file, column, 0), rank,
                       marks_in(marks, first, first + count), err);
}

/* At most PCF_MAX_CHILD_DEPTH calls deep. */
static pcol_status hold_column(struct pci_hold *hold, const struct pci_column *column, uint64_t row,
                               uint64_t count, pcol_error *err)
{
    if (!is_frozen(column) || !pcf_range(row, count, 1, column->desc->rows) || !count)
        return PCOL_OK;
    switch (column->desc->encoding) {
    case PCF_PLAIN:
    case PCF_LINEAR:
    case PCF_PACKED:
        return hold_plain(hold, column, row, count, err);
    case PCF_BLOCKED:
        return hold_blocked(hold, column, row, count, err);
    case PCF_SPARSE:
        return hold_sparse(hold, column, row, count, err);
    default:
        return pci_thaw_now(hold->file, column, err);
    }
}

uint64_t pci_hold_most(const struct pci_column *column, uint64_t row, uint64_t count)
{
    unsigned encoding = column->desc->encoding;
    uint64_t most = MOST_ROWS;
    if (encoding == PCF_BLOCKED || encoding == PCF_SPARSE)
        most = PCF_BLOCK_ROWS - row % PCF_BLOCK_ROWS;
    return count < most ? count : most;
}

static void begin(struct pci_hold *hold, const pcol_file *file, const struct pci_column *named)
{
    hold->file = file;
    hold->named = named;
    hold->count = 0;
    hold->thawed = 0;
}

pcol_status pci_hold_rows(struct pci_hold *hold, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, uint64_t count,
                          pcol_error *err)
{
    begin(hold, file, column);
    return settled(hold, column, hold_column(hold, column, row, count, err));
}

pcol_status pci_hold_text(struct pci_hold *hold, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    const struct pci_column *offsets;
    int64_t from, to;
    int valid;
    begin(hold, file, column);
    if (data->encoding != PCF_PLAIN)
        return pci_thaw_now(file, column, err);
    if (row >= data->rows)
        return PCOL_OK;
    PCI_TRY(hold_role(hold, column, PCF_ROLE_VALIDITY, row, row + 1, 0, err));
    offsets = child_of(file, column, 0);
    PCI_TRY(hold_column(hold, offsets, row, 1, err));
    PCI_TRY(hold_column(hold, offsets, row + 1, 1, err));
    if (pcf_get(offsets->data, row, &from, &valid) != PCF_OK ||
        pcf_get(offsets->data, row + 1, &to, &valid) != PCF_OK || (uint64_t)from > (uint64_t)to ||
        (uint64_t)to > data->bytes_size)
        return PCOL_OK;
    return settled(hold, column,
                   hold_role(hold, column, PCF_ROLE_DATA, (uint64_t)from * 8, (uint64_t)to * 8, 0,
                             err));
}

/* ---- whole columns */

/* All sections of a column and its children; `values` of plain numbers only if they are wanted. */
static pcol_status hold_all(struct pci_hold *hold, const struct pci_column *column, int values,
                            pcol_error *err)
{
    const struct pcf_column *desc = column->desc;
    int plain = desc->encoding == PCF_PLAIN && desc->type != PCF_BOOL && !values;
    if (!is_frozen(column))
        return PCOL_OK;
    for (uint32_t i = 0; i < desc->child_count; i++)
        PCI_TRY(hold_all(hold, child_of(hold->file, column, i), 1, err));
    for (uint32_t i = desc->first_section; i < desc->first_section + desc->section_count; i++) {
        const struct pcf_section *s = &hold->file->index.sections[i];
        if (!plain || (s->role != PCF_ROLE_VALUES && s->role != PCF_ROLE_DATA))
            PCI_TRY(hold_bytes(hold, column, i, 0, s->raw_size, err));
    }
    return PCOL_OK;
}

pcol_status pci_hold_structure(struct pci_hold *hold, const pcol_file *file,
                               const struct pci_column *column, pcol_error *err)
{
    begin(hold, file, column);
    return settled(hold, column, hold_all(hold, column, 0, err));
}

/* Blocks that are never released do not go. */
pcol_status pci_thaw_now(const pcol_file *file, const struct pci_column *column, pcol_error *err)
{
    struct pci_hold hold;
    PCI_TRY(pci_verify(file, column, err));
    begin(&hold, file, column);
    pcol_status status = hold_all(&hold, column, 1, err);
    if (status != PCOL_OK) {
        pci_release(&hold);
        return status;
    }
    pthread_mutex_lock(&file->thaw->lock);
    for (unsigned i = 0; i < hold.count; i++)
        atomic_store_explicit(&hold.parts[i].cold->may_go, 0, memory_order_relaxed);
    settle(file, column->number);
    pthread_mutex_unlock(&file->thaw->lock);
    return PCOL_OK;
}
