/*
 * long_texts.c - numbers by the place of a text (long_texts.h)
 */
#include "util/long_texts.h"

#include "util/alloc.h"

uint32_t pci_text_memo_find(const struct pci_text_memo *memo, pcol_str text)
{
    if (text.size <= PCI_LONG_TEXT)
        return PCI_HASH_NONE;
    uint32_t at = pci_pair_set_find(&memo->places, (uintptr_t)text.data, text.size);
    return at == PCI_HASH_NONE ? at : memo->numbers[at];
}

pcol_status pci_text_memo_add(struct pci_text_memo *memo, pcol_str text, uint32_t number,
                              pcol_error *err)
{
    int found;
    if (text.size <= PCI_LONG_TEXT)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(memo->numbers, memo->capacity, memo->places.count + 1, err));
    PCI_TRY(pci_pair_set_add(&memo->places, (uintptr_t)text.data, text.size, &found, err));
    memo->numbers[pci_pair_set_find(&memo->places, (uintptr_t)text.data, text.size)] = number;
    return PCOL_OK;
}

uint64_t pci_text_hash(pcol_str text)
{
    uint64_t hash = pci_hash_bytes(text.data, text.size);
    return text.size <= PCI_LONG_TEXT ? hash : hash >> 33;
}

pcol_status pci_text_memo_hash(struct pci_text_memo *memo, pcol_str text, uint64_t *hash,
                               pcol_error *err)
{
    uint32_t known = pci_text_memo_find(memo, text);
    *hash = known == PCI_HASH_NONE ? pci_text_hash(text) : known;
    return known == PCI_HASH_NONE ? pci_text_memo_add(memo, text, (uint32_t)*hash, err) : PCOL_OK;
}

void pci_text_memo_clear(struct pci_text_memo *memo)
{
    pci_pair_set_clear(&memo->places);
    pci_free(memo->numbers);
    *memo = (struct pci_text_memo){0};
}
