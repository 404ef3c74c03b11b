/*
 * source_types.c - which sample types each source has, in its order
 *
 * A source has the types that are named while it is the newest source, and behind them those that its
 * samples use all the same: a value whose type its source does not have would be in the file and
 * shown nowhere.
 */
#include "core/builder.h"

#include "core/alloc.h"

pcol_status pci_source_type_note(pcol_builder *b, uint32_t source, uint32_t type, pcol_error *err)
{
    uint64_t hash = pci_hash_pair(source, type);
    size_t at = pci_hash_start(&b->source_type_hash, hash);
    uint32_t id;
    b->types[type].noted = source + 1;
    while ((id = pci_hash_next(&b->source_type_hash, hash, &at)) != PCI_HASH_NONE) {
        const struct pci_source_type *have = &b->source_types[id];
        if (have->source == source && have->type == type)
            return PCOL_OK;
    }
    if (b->source_type_count >= PCI_HASH_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^32 sample types of sources");
    if (pci_grow((void **)&b->source_types, &b->source_type_capacity, b->source_type_count + 1,
                 sizeof *b->source_types))
        return pci_fail_memory(err);
    PCI_TRY(pci_hash_add(&b->source_type_hash, hash, (uint32_t)b->source_type_count, err));
    b->source_types[b->source_type_count++] = (struct pci_source_type){source, type};
    return PCOL_OK;
}

/* By source, those of one source in the order in which they were noted. */
static pcol_status sort(const pcol_builder *b, struct pci_source_type **sorted, pcol_error *err)
{
    size_t *next = pci_calloc((size_t)b->source_count + 1, sizeof *next);
    struct pci_source_type *to = pci_malloc(b->source_type_count + 1, sizeof *to);
    *sorted = to;
    if (!next || !to) {
        pci_free(next);
        pci_free(to);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < b->source_type_count; i++)
        next[b->source_types[i].source + 1]++;
    for (size_t s = 0; s < b->source_count; s++)
        next[s + 1] += next[s];
    for (size_t i = 0; i < b->source_type_count; i++)
        to[next[b->source_types[i].source]++] = b->source_types[i];
    pci_free(next);
    return PCOL_OK;
}

/* Whether every source has all types in the order of their rows: then nothing need be said. */
static int says_nothing(const pcol_builder *b, const struct pci_source_type *sorted)
{
    if (b->source_type_count == 0)
        return 1;
    if (b->source_type_count != (uint64_t)b->type_count * b->source_count)
        return 0;
    for (size_t i = 0; i < b->source_type_count; i++) {
        if (sorted[i].type != i % b->type_count)
            return 0;
    }
    return 1;
}

pcol_status pci_source_types_finish(pcol_builder *b, pcol_error *err)
{
    struct pci_source_type *sorted;
    pcol_status status;
    PCI_TRY(sort(b, &sorted, err));
    status = PCOL_OK;
    size_t rows = says_nothing(b, sorted) ? 0 : b->source_type_count;
    for (size_t i = 0; i < rows && status == PCOL_OK; i++) {
        status = pci_bcol_set(b->columns[PCI_C_TYPES_SOURCE], i, sorted[i].source, err);
        if (status == PCOL_OK)
            status = pci_bcol_set(b->columns[PCI_C_TYPES_TYPE], i, sorted[i].type, err);
    }
    pci_free(sorted);
    return status;
}
