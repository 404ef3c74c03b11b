/*
 * entropy.h - random bytes of the system
 */
#ifndef PCI_UTIL_ENTROPY_H
#define PCI_UTIL_ENTROPY_H

#include <stddef.h>

/* Fills up to 256 bytes without blocking; -1: the system has none now. */
int pci_random_bytes(void *bytes, size_t size);

#endif
