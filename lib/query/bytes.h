/*
 * bytes.h - byte sets and bracket expressions of patterns: [a-z], \w
 */
#ifndef PCI_BYTES_H
#define PCI_BYTES_H

#include "util/error.h"

#include <stdint.h>

struct pci_bytes {
    uint64_t bits[4];
};

static inline int pci_bytes_has(const struct pci_bytes *set, uint8_t byte)
{
    return set->bits[byte >> 6] >> (byte & 63) & 1;
}

static inline void pci_bytes_add(struct pci_bytes *set, uint8_t byte)
{
    set->bits[byte >> 6] |= UINT64_C(1) << (byte & 63);
}

int pci_is_letter(uint8_t byte); /* ASCII letters */
int pci_is_word(uint8_t byte);   /* ASCII letters, digits and _ */

/* Adds the other case of each ASCII letter in the set. */
void pci_bytes_fold(struct pci_bytes *set);
/* Adds \d \w \s or their complements \D \W \S. 0: another letter. */
int pci_bytes_add_shorthand(struct pci_bytes *set, uint8_t letter);
/* The control character of an escape such as \t; 0: another letter. */
uint8_t pci_control_of(uint8_t letter);

/* Parses a bracket expression at *at and moves *at after it. fold: ignore case. Returns NULL or the
 * error in the pattern. */
const char *pci_bytes_read(const uint8_t **at, const uint8_t *end, int fold, struct pci_bytes *set);

#endif
