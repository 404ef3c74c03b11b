/*
 * file_map.h - maps of whole files, read only
 *
 * With PCOL_NO_MMAP, PCI_CAN_MAP is 0 and these functions fail with E_UNSUPPORTED: file.c reads
 * files into memory. Tests: tests/unit/test_util.c, tests/unit/test_sigbus_guard.c.
 */
#ifndef PCI_READER_FILE_MAP_H
#define PCI_READER_FILE_MAP_H

#include "util/error.h"

#ifdef PCOL_NO_MMAP
#define PCI_CAN_MAP 0
#else
#define PCI_CAN_MAP 1
#endif

/* Maps the first `size` bytes of a file; pass them to pci_unmap_file(). E_IO. */
pcol_status pci_map_file(int fd, size_t size, const uint8_t **bytes, pcol_error *err);
void pci_unmap_file(const uint8_t *bytes, size_t size);
/* A second descriptor of the file, closed when the process executes another program. E_IO. */
pcol_status pci_duplicate_descriptor(int fd, int *duplicate, pcol_error *err);

#endif
