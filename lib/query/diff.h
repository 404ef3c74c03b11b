/*
 * diff.h - the rows of a comparison
 */
#ifndef PCI_QUERY_DIFF_H
#define PCI_QUERY_DIFF_H

#include "query/query.h"

struct pci_diff {
    struct pci_diff_info info;
    struct pci_diff_row *rows;
    size_t count, capacity;
    struct pci_top *tops[2]; /* own the texts of the rows, unless */
    char *paths;             /* `paths` does (rows of stacks) */
    struct pci_hash hash;
};

#endif
