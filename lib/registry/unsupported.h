/*
 * unsupported.h - recognition of files of other tools that pcol cannot read
 */
#ifndef PCI_UNSUPPORTED_H
#define PCI_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

/* Description of the input and advice, for an error message that begins with "this is"; NULL if it
 * is unknown. `certain`: use only signatures with which no supported format can begin; checked
 * before the sniffers of formats. `all`: the data is the whole input. */
const char *pci_describe_unsupported(const uint8_t *data, size_t size, int all, int certain);

#endif
