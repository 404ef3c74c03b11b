/*
 * long_texts.h - work on long texts that are repeated
 *
 * One long text may be the name of any number of rows, each of which takes a few bytes of a
 * compressed input. Work on a text for each row that has it, such as hashing, is therefore done
 * once for each text (struct pci_text_memo), or limited (pci_count_long_text()). Tests:
 * tests/unit/test_util.c, suite bombs.
 */
#ifndef PCI_UTIL_LONG_TEXTS_H
#define PCI_UTIL_LONG_TEXTS_H

#include "util/pair_set.h"

#define PCI_LONG_TEXT 4096u
#define PCI_LONG_TEXT_BYTES (UINT64_C(1) << 29)

/* Numbers by long text, which is recognized by its place in memory. An empty one is all zero. */
struct pci_text_memo {
    struct pci_pair_set places; /* address and size */
    uint32_t *numbers;
    size_t capacity;
};

/* The number of a text that was remembered; PCI_HASH_NONE: of none. */
uint32_t pci_text_memo_find(const struct pci_text_memo *memo, pcol_str text);
/* Remembers the number of a text if it is long. The text stays where it is while the memo is used.
 */
pcol_status pci_text_memo_add(struct pci_text_memo *memo, pcol_str text, uint32_t number,
                              pcol_error *err);
/* A hash of the bytes of a text; 31 bits if it is long. */
uint64_t pci_text_hash(pcol_str text);
/* The same for a text that stays where it is. */
pcol_status pci_text_memo_hash(struct pci_text_memo *memo, pcol_str text, uint64_t *hash,
                               pcol_error *err);
void pci_text_memo_clear(struct pci_text_memo *memo);

/* Adds the size of a long text to *bytes; 0 beyond the limit. */
static inline int pci_long_text_allowed(uint64_t *bytes, size_t size)
{
    if (size <= PCI_LONG_TEXT)
        return 1;
    *bytes += size;
    return *bytes <= PCI_LONG_TEXT_BYTES;
}

static inline pcol_status pci_count_long_text(uint64_t *bytes, size_t size, pcol_error *err)
{
    if (pci_long_text_allowed(bytes, size))
        return PCOL_OK;
    return pci_fail(err, PCOL_E_LIMIT, "long names and paths are repeated for more than %u MB",
                    (unsigned)(PCI_LONG_TEXT_BYTES >> 20));
}

#endif
