/*
 * row_names.h - the names of threads, processes and sources, the same in all answers
 */
#ifndef PCI_QUERY_ROW_NAMES_H
#define PCI_QUERY_ROW_NAMES_H

#include "reader/file.h"

struct pci_row_names {
    const pcol_file *file;
    const struct pci_column *name;
    const struct pci_column *other; /* for rows whose name is null or empty; NULL: none */
};

/* by: PCOL_BY_THREAD (its name, else its tid), PCOL_BY_PROCESS (its pid) or PCOL_BY_SOURCE (its
 * uri). */
pcol_status pci_row_names_open(struct pci_row_names *names, const pcol_file *file, pcol_by by,
                               pcol_error *err);
/* row: of threads or sources. *valid: it has a name, which may be empty. */
pcol_status pci_row_name(const struct pci_row_names *names, uint64_t row, pcol_str *name,
                         int *valid, pcol_error *err);

#endif
