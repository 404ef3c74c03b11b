/*
 * pseudonyms.h - names in the place of names
 */
#ifndef PCI_MERGE_PSEUDONYMS_H
#define PCI_MERGE_PSEUDONYMS_H

#include "builder/string_pool.h"

enum pci_name_kind {
    PCI_NAME_FUNCTION, /* f1 */
    PCI_NAME_FILE,     /* file1.R */
    PCI_NAME_MODULE,   /* module1: what a mapping is of */
    PCI_NAME_BUILD,    /* build1 */
    PCI_NAME_THREAD,   /* thread1 */
    PCI_NAME_PROCESS,  /* process1 */
    PCI_NAME_NUMBER,   /* 1: ids of threads and processes, which are read as numbers */
    PCI_NAME_KEY,      /* key1: of labels */
    PCI_NAME_VALUE,    /* value1 */
    PCI_NAME_UNIT,     /* unit1 */
    PCI_NAME_SOURCE,   /* source1: a uri */
    PCI_NAME_COUNT
};

/* The names met so far, numbered by kind in the order in which they came. */
struct pci_pseudonyms {
    struct pci_string_pool names[PCI_NAME_COUNT];
    char text[64];
};
void pci_pseudonyms_clear(struct pci_pseudonyms *names);
/* "function", "file", ... */
const char *pci_pseudonym_kind(int kind);
/* The pseudonym of a name: the same for the same kind and bytes. Empty names, R's `<GC>` and the
 * usual units stay. Valid until the next call. */
pcol_status pci_pseudonym(struct pci_pseudonyms *names, int kind, pcol_str name, pcol_str *to,
                          pcol_error *err);
/* Calls `tell` with each name and its pseudonym, by kind and number. */
void pci_pseudonyms_tell(struct pci_pseudonyms *names, pcol_pseudonym_fn tell, void *context);

#endif
