/*
 * strangers.h - files of other tools, which cannot be read
 */
#ifndef PCI_STRANGERS_H
#define PCI_STRANGERS_H

#include <stddef.h>
#include <stdint.h>

/* What it is, in words for an error, by the first bytes; NULL if nothing known. */
const char *pci_stranger(const uint8_t *data, size_t size);

#endif
