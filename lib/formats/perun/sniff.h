/*
 * sniff.h - detection of Perun profiles by their first bytes
 */
#ifndef PCI_PERUN_SNIFF_H
#define PCI_PERUN_SNIFF_H

#include <stddef.h>
#include <stdint.h>

/* Size of the header "profile TYPE LENGTH\0" of an object of Perun's store; 0 if there is none. */
size_t pci_perun_header_size(const uint8_t *data, size_t size);
/* Whether the data is an object of Perun's store with a malformed header. */
int pci_perun_is_malformed(const uint8_t *data, size_t size);

#endif
