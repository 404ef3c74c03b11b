/*
 * type_naming.h - the rule by which Perun names types, for reading and writing
 */
#ifndef PCI_PERUN_TYPE_NAMING_H
#define PCI_PERUN_TYPE_NAMING_H

#include "builder/string_pool.h"
#include "formats/perun/flat.h"

/* How many types had each flattened uid. */
struct pci_perun_type_rule {
    struct pci_string_pool uids;
    uint32_t *counts;
    size_t capacity;
};
/* From the flattened uid of the next type its name, "main#0". */
pcol_status pci_perun_type_rule_next(struct pci_perun_type_rule *rule, struct pci_strbuf *text,
                                     pcol_error *err);
void pci_perun_type_rule_clear(struct pci_perun_type_rule *rule);

#endif
