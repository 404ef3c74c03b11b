/*
 * partition_cache.c - cache of the values of row parts, filled while the column's marks are written
 *
 * Encoding a child reads its values at least twice, to choose an encoding and to write it. All
 * parts of a column are captured in the single pass that writes the marks, with a base per 1024
 * values and 32-bit residuals, in pages of the spill store. A wider range abandons the capture.
 * Tests: tests/unit/test_encode.c.
 */
#include "encode/encode_leaf.h"

#include "util/alloc.h"
#include "util/simd_kernels.h"

static pcol_status read_captured(void *context, uint64_t row, size_t n, int64_t *values,
                                 uint8_t *valid, pcol_error *err)
{
    const struct pci_captured *captured = context;
    uint64_t offset = row * sizeof(uint32_t),
             base = (uint64_t)captured->bases[row / PCF_BLOCK_ROWS];
    uint32_t numbers[PCF_BLOCK_ROWS];
    size_t size;
    const void *from = pci_spill_in_memory(&captured->numbers, offset, &size);
    if (!from || size < n * sizeof *numbers) {
        PCI_TRY(pci_spill_read(&captured->numbers, offset, numbers, n * sizeof *numbers, err));
        from = numbers;
    }
    pci_simd_add_u32(from, n, base, values);
    memset(valid, 1, n);
    return PCOL_OK;
}

static void abandon(struct pci_partition_capture *k)
{
    pci_captured_free(k->captured);
    k->captured = NULL;
}

/* Stores the first n pending values as the next block. */
static pcol_status store_block(struct pci_partition_capture *k, size_t n, pcol_error *err)
{
    uint32_t numbers[2 * PCF_BLOCK_ROWS];
    int64_t least, greatest;
    pci_simd_range(k->values, n, 0, &least, &greatest);
    if ((uint64_t)greatest - (uint64_t)least > UINT32_MAX) {
        abandon(k);
        return PCOL_OK;
    }
    k->captured->bases[k->count / PCF_BLOCK_ROWS] = least;
    pci_simd_subtract_u32(k->values, n, (uint64_t)least, numbers);
    k->count += n;
    k->pending -= n;
    memmove(k->values, k->values + n, k->pending * sizeof *k->values);
    return pci_spill_append(&k->captured->numbers, numbers, n * sizeof *numbers, err);
}

pcol_status pci_partition_capture_new(const struct pci_row_part *part,
                                      struct pci_spill_store *store,
                                      struct pci_partition_capture **capture, pcol_error *err)
{
    const struct pci_value_source *source = &part->source;
    struct pci_partition_capture *k;
    *capture = NULL;
    PCI_TRY(PCI_MALLOC(k, 1, err));
    k->part = part;
    k->count = 0;
    k->pending = 0;
    k->captured = pci_calloc(1, sizeof *k->captured);
    if (k->captured) {
        k->captured->source =
            (struct pci_value_source){source->rows, source->type, read_captured, k->captured, NULL};
        k->captured->bases =
            pci_malloc((size_t)(source->rows / PCF_BLOCK_ROWS) + 1, sizeof *k->captured->bases);
        pci_spill_init(&k->captured->numbers, store);
    }
    if (!k->captured || !k->captured->bases) {
        pci_partition_capture_free(k);
        return pci_fail_memory(err);
    }
    *capture = k;
    return PCOL_OK;
}

pcol_status pci_partition_capture_block(struct pci_partition_capture *capture,
                                        const struct pci_block_reader *block, const uint8_t *marks,
                                        pcol_error *err)
{
    struct pci_partition_capture *k = capture;
    if (!k->captured)
        return PCOL_OK;
    pci_part_compact(k->part->kind, block, marks, 0, SIZE_MAX, k->values, &k->pending);
    if (k->count + k->pending > k->part->source.rows)
        abandon(k);
    else if (k->pending >= PCF_BLOCK_ROWS)
        return store_block(k, PCF_BLOCK_ROWS, err);
    return PCOL_OK;
}

pcol_status pci_partition_capture_end(struct pci_partition_capture *capture,
                                      struct pci_captured **captured, pcol_error *err)
{
    struct pci_partition_capture *k = capture;
    if (k->captured && k->pending)
        PCI_TRY(store_block(k, k->pending, err));
    if (k->count != k->part->source.rows)
        abandon(k);
    *captured = k->captured;
    k->captured = NULL;
    return PCOL_OK;
}

void pci_partition_capture_free(struct pci_partition_capture *capture)
{
    if (!capture)
        return;
    abandon(capture);
    pci_free(capture);
}

void pci_captured_free(struct pci_captured *captured)
{
    if (!captured)
        return;
    pci_free(captured->bases);
    if (captured->numbers.store)
        pci_spill_clear(&captured->numbers);
    pci_free(captured);
}
