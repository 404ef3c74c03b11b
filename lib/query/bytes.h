/*
 * bytes.h - sets of bytes, as patterns write them: [a-z], \w
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

int pci_is_letter(uint8_t byte); /* of ASCII */
int pci_is_word(uint8_t byte);   /* letters, digits and _ are what words are made of */

/* Small and large letters are each other's. */
void pci_bytes_fold(struct pci_bytes *set);
/* \d \w \s, and \D \W \S for all others. 0: it is none of them. */
int pci_bytes_add_shorthand(struct pci_bytes *set, uint8_t letter);
/* What \t and its like mean; 0: it is none of them. */
uint8_t pci_control_of(uint8_t letter);

/* A bracket [...] at *at, and past it. `fold`: letters mean large and small. NULL, or what is wrong
 * with the pattern. */
const char *pci_bytes_read(const uint8_t **at, const uint8_t *end, int fold, struct pci_bytes *set);

#endif
