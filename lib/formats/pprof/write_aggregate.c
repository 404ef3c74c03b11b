/*
 * write_aggregate.c - sums of samples with equal stacks and labels
 *
 * Labels are compared in their encoded form, interned. Samples are written in the order of first
 * appearance; like pprof's merge, samples whose values are all 0 are omitted.
 */
#include "formats/pprof/write.h"

#include "builder/string_pool.h"
#include "util/alloc.h"
#include "util/pair_set.h"

#include <string.h>

/* Limit of sums, of which a type needs one for each key: 256 MiB, and 64 bytes for each byte. */
#define FREE_SUMS (UINT64_C(1) << 25)
#define SUMS_PER_BYTE 8u

struct aggregate {
    struct pci_string_pool labels;
    struct pci_pair_set keys; /* stack and labels */
    int64_t *sums;            /* type_count for each key */
    size_t sum_capacity;
};

static pcol_status add_sample(struct pci_pprof_export *e, struct aggregate *m,
                              const struct pci_pprof_batches *b, pcol_error *err)
{
    uint32_t labels, key;
    int is_known;
    PCI_TRY(pci_string_pool_intern(&m->labels, e->labels.data, e->labels.size, &labels, err));
    PCI_TRY(pci_pair_set_index(&m->keys, b->stack_row, labels, &key, &is_known, err));
    if (m->keys.count * e->type_count > pci_file_limit(e->file, FREE_SUMS, SUMS_PER_BYTE))
        return pci_fail_too_many(e->file, m->keys.count, "different samples", e->type_count,
                                 "sample types", err);
    PCI_TRY(PCI_GROW(m->sums, m->sum_capacity, m->keys.count * e->type_count + 1, err));
    int64_t *sums = m->sums + (size_t)key * e->type_count;
    if (!is_known)
        memset(sums, 0, e->type_count * sizeof *sums);
    for (uint32_t t = 0; t < e->type_count; t++)
        if (__builtin_add_overflow(sums[t], b->sample[t], &sums[t]))
            return pci_fail_cell(err, PCOL_E_LOSS, "samples", NULL, b->row,
                                 "the sum of equal samples exceeds 64 bits");
    return PCOL_OK;
}

static pcol_status write_sums(struct pci_pprof_export *e, const struct aggregate *m,
                              pcol_error *err)
{
    for (size_t k = 0; k < m->keys.count; k++) {
        const int64_t *sums = m->sums + k * e->type_count;
        pcol_str labels = pci_string_pool_get(&m->labels, (uint32_t)m->keys.pairs[k].second);
        int64_t has_value = 0;
        for (uint32_t t = 0; t < e->type_count; t++)
            has_value |= sums[t];
        if (!has_value)
            e->lost |= PCI_PPROF_LOSS_ZERO;
        else
            PCI_TRY(pci_pprof_put_sample(e, m->keys.pairs[k].first, sums, labels.data, labels.size,
                                         err));
    }
    return PCOL_OK;
}

pcol_status pci_pprof_put_aggregated(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                                     struct pci_pprof_labels *labels, pcol_error *err)
{
    struct aggregate m = {0};
    pcol_status status = PCOL_OK;
    for (int end = 0; status == PCOL_OK;) {
        status = pci_pprof_batches_next(b, &end, err);
        if (status != PCOL_OK || end)
            break;
        e->labels.size = 0;
        status = pci_pprof_labels_put(labels, b->row, err);
        PCI_THEN(status, add_sample(e, &m, b, err));
    }
    PCI_THEN(status, write_sums(e, &m, err));
    pci_string_pool_clear(&m.labels);
    pci_pair_set_clear(&m.keys);
    pci_free(m.sums);
    return status;
}
