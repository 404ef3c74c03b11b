/*
 * address_names.h - names of functions that consist of an address
 *
 * A profile without symbols names its functions "0x9a03e"; such a name is unique only together with
 * its library: "libc.so.6+0x9a03e". The library is that of the frame's mapping (frame_names.h).
 */
#ifndef PCI_UTIL_ADDRESS_NAMES_H
#define PCI_UTIL_ADDRESS_NAMES_H

#include "util/error.h"

#define PCI_MAX_ADDRESS_SIZE 18u   /* of "0x0123456789abcdef" */
#define PCI_MAX_LIBRARY_SIZE 1000u /* longer ones are not prepended */

/* 1 if a name is an address, such as "0x9a03e". */
int pci_is_address_name(pcol_str name);
/* The address at the end of "libc.so.6+0x9a03e"; empty for other names. */
pcol_str pci_address_of_name(pcol_str name);

#endif
