/*
 * type_naming.c - the rule by which Perun names types: flattened uid, '#', number of earlier types
 * with that uid
 */
#include "formats/perun/type_naming.h"

#include "util/alloc.h"

pcol_status pci_perun_type_rule_next(struct pci_perun_type_rule *rule, struct pci_strbuf *text,
                                     pcol_error *err)
{
    char number[PCI_FLAT_NUMBER];
    size_t known = rule->uids.count;
    uint32_t uid;
    PCI_TRY(
        pci_string_pool_intern(&rule->uids, text->size ? text->data : "", text->size, &uid, err));
    PCI_TRY(PCI_GROW(rule->counts, rule->capacity, uid + (size_t)1, err));
    if (rule->uids.count > known)
        rule->counts[uid] = 0;
    size_t size = pci_flat_integer(rule->counts[uid]++, number);
    PCI_TRY(pci_strbuf_append(text, "#", 1, err));
    return pci_strbuf_append(text, number, size, err);
}

void pci_perun_type_rule_clear(struct pci_perun_type_rule *rule)
{
    pci_string_pool_clear(&rule->uids);
    pci_free(rule->counts);
}
