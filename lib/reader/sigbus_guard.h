/*
 * sigbus_guard.h - mapped files whose bytes may go away while they are read (PCOL_OPEN_GUARD)
 */
#ifndef PCI_BLOCK_READER_SIGBUS_GUARD_H
#define PCI_BLOCK_READER_SIGBUS_GUARD_H

#include "util/error.h"

#include <stdatomic.h>

struct pci_sigbus_slot;

/* Watch the map of `size` bytes at `map`. If reading it raises SIGBUS, *lost becomes 1 and the
 * whole map reads as zeros from then on. *slot is what pci_sigbus_end() needs. E_NO_MEMORY, E_IO.
 * */
pcol_status pci_sigbus_begin(const void *map, size_t size, _Atomic uint8_t *lost,
                             struct pci_sigbus_slot **slot, pcol_error *err);
/* Before the map is taken down. NULL is fine. */
void pci_sigbus_end(struct pci_sigbus_slot *slot);

#endif
