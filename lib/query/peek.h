/*
 * peek.h - the callers and callees of functions
 */
#ifndef PCI_QUERY_PEEK_H
#define PCI_QUERY_PEEK_H

#include "query/query.h"

struct pci_peek {
    size_t count, capacity;
    struct pci_peek_row *rows;
    struct pci_frames frames;
};

#endif
