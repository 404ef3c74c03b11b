/*
 * pseudonyms.h - pseudonyms of names
 */
#ifndef PCI_MERGE_PSEUDONYMS_H
#define PCI_MERGE_PSEUDONYMS_H

#include "builder/string_pool.h"

enum pci_name_kind {
    PCI_NAME_FUNCTION, /* f1 */
    PCI_NAME_FILE,     /* file1.R */
    PCI_NAME_MODULE,   /* module1: name of a mapping */
    PCI_NAME_BUILD,    /* build1 */
    PCI_NAME_THREAD,   /* thread1 */
    PCI_NAME_PROCESS,  /* process1 */
    PCI_NAME_NUMBER,   /* 1: ids of threads and processes; they are read as numbers */
    PCI_NAME_KEY,      /* key1: keys of labels */
    PCI_NAME_VALUE,    /* value1 */
    PCI_NAME_UNIT,     /* unit1 */
    PCI_NAME_SOURCE,   /* source1: a URI */
    PCI_NAME_COUNT
};

/* The names so far, numbered by kind in order of first use. */
struct pci_pseudonyms {
    struct pci_string_pool names[PCI_NAME_COUNT];
    char text[64];
};
void pci_pseudonyms_clear(struct pci_pseudonyms *names);
/* The pseudonym of a name, equal for equal kind and bytes; valid until the next call. Empty names,
 * R's `<GC>`, addresses and the usual units are returned unchanged. */
pcol_status pci_pseudonym(struct pci_pseudonyms *names, int kind, pcol_str name, pcol_str *to,
                          pcol_error *err);
/* Calls `tell` with each name and its pseudonym, by kind and number. */
void pci_pseudonyms_report(struct pci_pseudonyms *names, pcol_pseudonym_fn tell, void *context);

#endif
