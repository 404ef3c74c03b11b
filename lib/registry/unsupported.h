/*
 * unsupported.h - files of other tools, which pcol recognises but cannot read
 */
#ifndef PCI_UNSUPPORTED_H
#define PCI_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

/* What the input is and what to do instead, for an error message that begins with "this is"; NULL
 * if it is no known file. `certain`: only by signatures that no supported format can begin with, so
 * that they come before the readers' own recognition. `all`: the data is the whole input. */
const char *pci_unsupported(const uint8_t *data, size_t size, int all, int certain);

#endif
