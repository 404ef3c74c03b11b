/*
 * flat.h - the flat form of structured values: what Perun's queries show of them
 *
 * A value inside an object has a key such as `uid:function`; the object itself is the text of all
 * its values, in an order that follows from the keys' meaning: `a.c:main:22`.
 */
#ifndef PCI_PERUN_FLAT_H
#define PCI_PERUN_FLAT_H

#include "util/strbuf.h"

#define PCI_FLAT_NUMBER 48 /* bytes that a number's text needs at most */
#define PCI_FLAT_KEYS 64u  /* of a frame: more are no frame */

/* As Python's str() has it: "1.0", "1e-05", "nan". */
size_t pci_flat_double(double value, char text[PCI_FLAT_NUMBER]);
size_t pci_flat_integer(int64_t value, char text[PCI_FLAT_NUMBER]);

/* Order of two keys among the values of one object: less than 0, 0, more than 0. Known keys go from
 * the binary down to the instruction; others follow by the decimal codes (code point + 6) of their
 * characters, read as one number. */
int pci_flat_compare(pcol_str a, pcol_str b);

#endif
