/*
 * rule.h - the rule by which Perun names types, for reading and writing
 */
#ifndef PCI_PERUN_RULE_H
#define PCI_PERUN_RULE_H

#include "core/strtab.h"
#include "model/flat.h"

/* How many types had each flattened uid. */
struct pci_perun_rule {
    struct pci_strtab uids;
    uint32_t *counts;
    size_t capacity;
};
/* From the flattened uid of the next type its name, "main#0". */
pcol_status pci_perun_rule_next(struct pci_perun_rule *rule, struct pci_text *text,
                                pcol_error *err);
void pci_perun_rule_clear(struct pci_perun_rule *rule);

#endif
