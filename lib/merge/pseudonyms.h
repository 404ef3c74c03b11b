/*
 * pseudonyms.h - pseudonyms of names
 */
#ifndef PCI_MERGE_PSEUDONYMS_H
#define PCI_MERGE_PSEUDONYMS_H

#include "builder/string_pool.h"
#include "reader/schema.h"

/* The names so far, numbered by kind (enum pci_anonymize) in order of first use. */
struct pci_pseudonyms {
    struct pci_string_pool names[PCI_NAME_COUNT];
    char text[64];
};
void pci_pseudonyms_clear(struct pci_pseudonyms *names);

struct pcol_pseudonyms {
    struct pci_pseudonyms names;
};
/* The pseudonym of a name, equal for equal kind and bytes; valid until the next call. Empty names,
 * R's `<GC>`, addresses and the usual units are returned unchanged. */
pcol_status pci_pseudonym(struct pci_pseudonyms *names, int kind, pcol_str name, pcol_str *to,
                          pcol_error *err);
/* Calls `report` with each name and its pseudonym, by kind and number. */
void pci_pseudonyms_report(struct pci_pseudonyms *names, pcol_pseudonym_fn report, void *context);

#endif
