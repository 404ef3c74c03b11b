/*
 * front.c - byte strings that share their first bytes, put together when they are first read
 *
 * Strings are handed out as pointers that hold until the file is closed, so those of FRONT columns are
 * put together in memory that belongs to the file: 64 at a time, by whichever thread comes first;
 * where two come at once the work of one is thrown away. There are at most 64 bytes of them for each
 * one in the file, and a pointer for each 64 rows, of which each has a byte in the file (format/column.c).
 */
#include "file.h"

#include "alloc.h"
#include "front.h"

#include <string.h>

/* Rows put together: where each ends, and behind that the bytes. */
struct block {
    uint64_t ends[PCF_FRONT_ROWS];
    uint8_t bytes[];
};

struct pci_front {
    uint64_t count;
    _Atomic(struct block *) blocks[];
};

static pcol_status new_front(const pcol_file *file, const struct pci_column *column,
                             struct pci_front **front, pcol_error *err)
{
    _Atomic(struct pci_front *) *place = &file->columns[column->number].front;
    uint64_t count = (column->desc->rows + PCF_FRONT_ROWS - 1) / PCF_FRONT_ROWS;
    struct pci_front *made = pci_malloc(1, sizeof *made + (size_t)count * sizeof made->blocks[0]);
    *front = NULL;
    if (!made)
        return pci_fail_memory(err);
    made->count = count;
    for (uint64_t i = 0; i < count; i++)
        atomic_init(&made->blocks[i], NULL);
    if (atomic_compare_exchange_strong(place, front, made))
        *front = made;
    else
        pci_free(made);
    return PCOL_OK;
}

/* *row: one at fault. */
static pcol_status new_block(const pcol_file *file, const struct pci_column *column,
                             _Atomic(struct block *) *place, uint64_t *row, struct block **block,
                             enum pcf_result *result, pcol_error *err)
{
    struct pcf_front front;
    struct block *made;
    *block = NULL;
    *result = pcf_front_plan(column->data, row, &front);
    if (*result != PCF_OK)
        return PCOL_OK;
    made = pci_malloc(1, sizeof *made + (size_t)front.size);
    if (!made)
        return pci_fail_memory(err);
    pcf_front_fill(column->data, &front, made->bytes, made->ends);
    pcol_status status = pci_kept(file, err);
    if (status == PCOL_OK && atomic_compare_exchange_strong(place, block, made))
        *block = made;
    else
        pci_free(made);
    return status;
}

pcol_status pci_front_get(const pcol_file *file, const struct pci_column *column, uint64_t *row,
                          pcol_str *value, enum pcf_result *result, pcol_error *err)
{
    struct pci_front *front = atomic_load_explicit(&column->front, memory_order_acquire);
    struct block *block;
    *result = PCF_BAD_ROW;
    if (*row >= column->desc->rows)
        return PCOL_OK;
    if (!front)
        PCI_TRY(new_front(file, column, &front, err));
    _Atomic(struct block *) *place = &front->blocks[*row / PCF_FRONT_ROWS];
    *result = PCF_OK;
    if (!(block = atomic_load_explicit(place, memory_order_acquire)))
        PCI_TRY(new_block(file, column, place, row, &block, result, err));
    if (*result != PCF_OK)
        return PCOL_OK;
    uint64_t i = *row % PCF_FRONT_ROWS, begin = i ? block->ends[i - 1] : 0;
    value->data = (const char *)block->bytes + begin;
    value->size = (size_t)(block->ends[i] - begin);
    return PCOL_OK;
}

void pci_front_free(struct pci_front *front)
{
    for (uint64_t i = 0; front && i < front->count; i++)
        pci_free(atomic_load_explicit(&front->blocks[i], memory_order_relaxed));
    pci_free(front);
}
