/*
 * sort.h - a stable sort that can be cancelled
 */
#ifndef PCI_UTIL_SORT_H
#define PCI_UTIL_SORT_H

#include "util/error.h"

/* Compares two elements as for qsort(). context: of pci_sort(). */
typedef int pci_compare(const void *a, const void *b, const void *context);

/* Sorts `count` elements of `size` bytes, at most 256; equal ones keep their order. For lists that
 * may be long: it takes memory for half of them and reports its work. On failure the
 * elements are undefined. E_NO_MEMORY, E_CANCELLED. */
pcol_status pci_sort(void *items, size_t count, size_t size, pci_compare *compare,
                     const void *context, pcol_error *err);

#endif
