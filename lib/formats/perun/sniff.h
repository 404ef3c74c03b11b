/*
 * sniff.h - recognising Perun profiles by their first bytes
 */
#ifndef PCI_PERUN_SNIFF_H
#define PCI_PERUN_SNIFF_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of "profile TYPE LENGTH\0" at the beginning, 0 if there are none. */
size_t pci_perun_wrapping(const uint8_t *data, size_t size);
/* Whether the bytes are such an object but for a header that says something else. */
int pci_perun_is_broken(const uint8_t *data, size_t size);

#endif
