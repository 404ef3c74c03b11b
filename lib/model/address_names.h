/*
 * address_names.h - names of functions that are known by nothing but an address
 *
 * A profile without symbols calls its functions "0x9a03e", and every library has such a one. With
 * the library that the address lies in, "libc.so.6+0x9a03e", a name tells where to look, and
 * functions of two libraries differ. The library is that of the frame's own mapping
 * (frame_names.h).
 */
#ifndef PCI_MODEL_ADDRESS_NAMES_H
#define PCI_MODEL_ADDRESS_NAMES_H

#include "util/error.h"

/* "0x9a03e" */
int pci_address_names_is(pcol_str name);
/* The address that "libc.so.6+0x9a03e" ends in; empty if that is not such a name. */
pcol_str pci_address_names_address(pcol_str name);

#endif
