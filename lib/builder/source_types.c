/*
 * source_types.c - table of the sample types of each source, in the order of the source
 *
 * A source has the types that were named while it was the latest source, followed by the types that
 * its samples use without that: a value of another type would be in the file but never shown.
 */
#include "builder/builder.h"

#include "util/alloc.h"

pcol_status pci_source_type_record(pcol_builder *b, uint32_t source, uint32_t type, pcol_error *err)
{
    int known;
    b->types[type].recorded = source + 1;
    return pci_pair_set_add(&b->source_types, source, type, &known, err);
}

/* Counting sort by source; stable. */
static pcol_status sort_by_source(const pcol_builder *b, struct pci_integer_pair **sorted,
                                  pcol_error *err)
{
    size_t *next = pci_calloc((size_t)b->source_count + 1, sizeof *next);
    struct pci_integer_pair *to = pci_malloc(b->source_types.count + 1, sizeof *to);
    *sorted = to;
    if (!next || !to) {
        pci_free(next);
        pci_free(to);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < b->source_types.count; i++)
        next[b->source_types.pairs[i].first + 1]++;
    for (size_t s = 0; s < b->source_count; s++)
        next[s + 1] += next[s];
    for (size_t i = 0; i < b->source_types.count; i++)
        to[next[b->source_types.pairs[i].first]++] = b->source_types.pairs[i];
    pci_free(next);
    return PCOL_OK;
}

/* Whether every source has all types in row order, which is what a missing table means. */
static int is_default(const pcol_builder *b, const struct pci_integer_pair *sorted)
{
    if (b->source_types.count == 0)
        return 1;
    if (b->source_types.count != (uint64_t)b->type_count * b->source_count)
        return 0;
    for (size_t i = 0; i < b->source_types.count; i++) {
        if (sorted[i].second != i % b->type_count)
            return 0;
    }
    return 1;
}

pcol_status pci_source_types_finish(pcol_builder *b, pcol_error *err)
{
    struct pci_integer_pair *sorted;
    pcol_status status;
    PCI_TRY(sort_by_source(b, &sorted, err));
    status = PCOL_OK;
    size_t rows = is_default(b, sorted) ? 0 : b->source_types.count;
    for (size_t i = 0; i < rows && status == PCOL_OK; i++) {
        status =
            pci_column_buffer_set(b->columns[PCI_C_TYPES_SOURCE], i, (int64_t)sorted[i].first, err);
        PCI_THEN(status, pci_column_buffer_set(b->columns[PCI_C_TYPES_TYPE], i,
                                               (int64_t)sorted[i].second, err));
    }
    pci_free(sorted);
    return status;
}
