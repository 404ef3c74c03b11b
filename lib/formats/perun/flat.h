/*
 * flat.h - flat form of structured values, as in Perun's data frames
 *
 * A value inside an object gets a key such as `uid:function`. The object itself becomes the text of
 * all its values, `a.c:main:22`, in an order given by the meaning of their keys.
 */
#ifndef PCI_PERUN_FLAT_H
#define PCI_PERUN_FLAT_H

#include "util/strbuf.h"

#define PCI_FLAT_NUMBER 48 /* greatest size of a number's text */
#define PCI_FLAT_KEYS 64u  /* of a frame; objects with more keys are no frames */

/* Text of a number as in Python's str(): "1.0", "1e-05", "nan". */
size_t pci_flat_double(double value, char text[PCI_FLAT_NUMBER]);
size_t pci_flat_integer(int64_t value, char text[PCI_FLAT_NUMBER]);

/* Order of two keys of one object: less than 0, 0, more than 0. Known keys are ordered from binary
 * to instruction; others by the number whose decimal digits are the concatenated codes (code point
 * + 6) of their characters. */
int pci_flat_compare(pcol_str a, pcol_str b);

#endif
