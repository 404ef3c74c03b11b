/*
 * partition_cache.c - values that take long to read, read once
 *
 * Rows that are gathered out of a column are asked for twice, to choose their encoding and to write
 * it. So they are gathered as the column's marks are written, all its parts in that one pass, and
 * held by block, as a base and four bytes for each: what a column's values of 1024 rows differ by
 * is seldom more. They wait in pages of the store, which columns that are done have let go.
 */
#include "encode/encode_leaf.h"

#include "util/alloc.h"
#include "util/simd_kernels.h"

static pcol_status read_kept(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    const struct pci_kept *kept = context;
    uint64_t at = row * sizeof(uint32_t), base = (uint64_t)kept->bases[row / PCF_BLOCK_ROWS];
    uint32_t numbers[PCF_BLOCK_ROWS];
    size_t size;
    const void *from = pci_spill_at(&kept->numbers, at, &size);
    if (!from || size < n * sizeof *numbers) {
        PCI_TRY(pci_spill_read(&kept->numbers, at, numbers, n * sizeof *numbers, err));
        from = numbers;
    }
    pci_simd_raise(from, n, base, values);
    memset(valid, 1, n);
    return PCOL_OK;
}

static void give_up(struct pci_partition_capture *k)
{
    pci_kept_free(k->kept);
    k->kept = NULL;
}

/* The first n values that wait are the next block. */
static pcol_status keep(struct pci_partition_capture *k, size_t n, pcol_error *err)
{
    uint32_t numbers[2 * PCF_BLOCK_ROWS];
    int64_t least, greatest;
    pci_simd_range(k->values, n, 0, &least, &greatest);
    if ((uint64_t)greatest - (uint64_t)least > UINT32_MAX) {
        give_up(k);
        return PCOL_OK;
    }
    k->kept->bases[k->count / PCF_BLOCK_ROWS] = least;
    pci_simd_lower(k->values, n, (uint64_t)least, numbers);
    k->count += n;
    k->waiting -= n;
    memmove(k->values, k->values + n, k->waiting * sizeof *k->values);
    return pci_spill_append(&k->kept->numbers, numbers, n * sizeof *numbers, err);
}

pcol_status pci_partition_capture_new(const struct pci_row_part *part,
                                      struct pci_spill_store *store,
                                      struct pci_partition_capture **keeping, pcol_error *err)
{
    const struct pci_value_source *source = &part->source;
    struct pci_partition_capture *k = pci_malloc(1, sizeof *k);
    *keeping = NULL;
    if (!k)
        return pci_fail_memory(err);
    k->part = part;
    k->count = 0;
    k->waiting = 0;
    k->kept = pci_calloc(1, sizeof *k->kept);
    if (k->kept) {
        k->kept->source =
            (struct pci_value_source){source->rows, source->type, read_kept, k->kept, NULL};
        k->kept->bases =
            pci_malloc((size_t)(source->rows / PCF_BLOCK_ROWS) + 1, sizeof *k->kept->bases);
        pci_spill_init(&k->kept->numbers, store);
    }
    if (!k->kept || !k->kept->bases) {
        pci_partition_capture_free(k);
        return pci_fail_memory(err);
    }
    *keeping = k;
    return PCOL_OK;
}

pcol_status pci_partition_capture_block(struct pci_partition_capture *keeping,
                                        const struct pci_block_reader *block, const uint8_t *marks,
                                        pcol_error *err)
{
    struct pci_partition_capture *k = keeping;
    if (!k->kept)
        return PCOL_OK;
    pci_part_compact(k->part->what, block, marks, 0, SIZE_MAX, k->values, &k->waiting);
    if (k->count + k->waiting > k->part->source.rows)
        give_up(k);
    else if (k->waiting >= PCF_BLOCK_ROWS)
        return keep(k, PCF_BLOCK_ROWS, err);
    return PCOL_OK;
}

pcol_status pci_partition_capture_end(struct pci_partition_capture *keeping, struct pci_kept **kept,
                                      pcol_error *err)
{
    struct pci_partition_capture *k = keeping;
    if (k->kept && k->waiting)
        PCI_TRY(keep(k, k->waiting, err));
    if (k->count != k->part->source.rows)
        give_up(k);
    *kept = k->kept;
    k->kept = NULL;
    return PCOL_OK;
}

void pci_partition_capture_free(struct pci_partition_capture *keeping)
{
    if (!keeping)
        return;
    give_up(keeping);
    pci_free(keeping);
}

void pci_kept_free(struct pci_kept *kept)
{
    if (!kept)
        return;
    pci_free(kept->bases);
    if (kept->numbers.store)
        pci_spill_clear(&kept->numbers);
    pci_free(kept);
}
