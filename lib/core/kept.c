/*
 * kept.c - values that take long to read, read once
 *
 * Rows that are gathered out of a column are asked for twice, to choose their encoding and to write it.
 * Meanwhile they are held by block, as a base and four bytes for each: what a column's values of 1024
 * rows differ by is seldom more.
 */
#include "core/emit.h"

#include "core/alloc.h"
#include "core/lanes.h"

static pcol_status read_kept(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    const struct pci_kept *kept = context;
    (void)err;
    pci_lanes_raise(kept->numbers + row, n, (uint64_t)kept->bases[row / PCF_BLOCK_ROWS], values);
    memset(valid, 1, n);
    return PCOL_OK;
}

static pcol_status keep_all(struct pci_kept *kept, const struct pci_source *source, int *fits,
                            pcol_error *err)
{
    struct pci_reader *r = pci_malloc(1, sizeof *r);
    pcol_status status;
    if (!r)
        return pci_fail_memory(err);
    pci_reader_init(r, source);
    while ((status = pci_reader_next(r, err)) == PCOL_OK && r->n) {
        int64_t least, greatest;
        pci_lanes_range(r->values, r->n, 0, &least, &greatest);
        *fits = (uint64_t)greatest - (uint64_t)least <= UINT32_MAX && !memchr(r->valid, 0, r->n);
        if (!*fits)
            break;
        kept->bases[r->row / PCF_BLOCK_ROWS] = least;
        pci_lanes_lower(r->values, r->n, (uint64_t)least, kept->numbers + r->row);
    }
    pci_free(r);
    return status;
}

pcol_status pci_kept_new(const struct pci_source *source, struct pci_kept **kept, pcol_error *err)
{
    struct pci_kept *k = pci_calloc(1, sizeof *k);
    int fits = 1;
    *kept = NULL;
    if (!k)
        return pci_fail_memory(err);
    k->source = (struct pci_source){source->rows, source->type, read_kept, k};
    k->bases = pci_malloc((size_t)(source->rows / PCF_BLOCK_ROWS) + 1, sizeof *k->bases);
    k->numbers = pci_malloc((size_t)source->rows + 1, sizeof *k->numbers);
    pcol_status status =
        k->bases && k->numbers ? keep_all(k, source, &fits, err) : pci_fail_memory(err);
    if (status == PCOL_OK && fits)
        *kept = k;
    else
        pci_kept_free(k);
    return status;
}

void pci_kept_free(struct pci_kept *kept)
{
    if (!kept)
        return;
    pci_free(kept->bases);
    pci_free(kept->numbers);
    pci_free(kept);
}
