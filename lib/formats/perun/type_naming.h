/*
 * type_naming.h - the rule by which Perun names types, for the writer of other profiles
 */
#ifndef PCI_PERUN_TYPE_NAMING_H
#define PCI_PERUN_TYPE_NAMING_H

#include "builder/string_pool.h"
#include "formats/perun/flat.h"

/* Number of types so far with each flattened uid. */
struct pci_perun_type_rule {
    struct pci_string_pool uids;
    uint32_t *counts;
    size_t capacity;
};
/* Convert the flattened uid of the next type to its name, "main#0". */
pcol_status pci_perun_type_rule_next(struct pci_perun_type_rule *rule, struct pci_strbuf *text,
                                     pcol_error *err);
void pci_perun_type_rule_clear(struct pci_perun_type_rule *rule);

#endif
