/*
 * sigbus_guard.h - SIGBUS handling for mapped files that may be truncated (PCOL_OPEN_GUARD)
 */
#ifndef PCI_READER_SIGBUS_GUARD_H
#define PCI_READER_SIGBUS_GUARD_H

#include "util/error.h"

#include <stdatomic.h>

struct pci_sigbus_slot;

/* Registers the map of `size` bytes at `map`. If reading it raises SIGBUS, *lost becomes 1 and the
 * whole map reads as zeros from then on. Pass *slot to pci_sigbus_end(). E_NO_MEMORY, E_IO. */
pcol_status pci_sigbus_begin(const void *map, size_t size, _Atomic uint8_t *lost,
                             struct pci_sigbus_slot **slot, pcol_error *err);
/* Unregisters a map before munmap(). NULL: no-op. */
void pci_sigbus_end(struct pci_sigbus_slot *slot);

#endif
