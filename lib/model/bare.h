/*
 * bare.h - what functions are called that are known by nothing but an address
 */
#ifndef PCI_BARE_H
#define PCI_BARE_H

#include "model/flatten.h"
#include "model/table.h"

/* What functions are called that are known by nothing but an address: "libc.so.6+0x9a03e". */
struct pci_bare {
    uint64_t count;  /* of functions */
    pcol_str *names; /* by row; data NULL: its own name. NULL: all have theirs */
    struct pci_arena texts;
};
/* "0x9a03e" */
int pci_bare_is(pcol_str name);
/* The address that "libc.so.6+0x9a03e" ends in; empty if that is not such a name. */
pcol_str pci_bare_address(pcol_str name);
/* names: the column of functions; may be NULL. Cost: O(functions), and
 * O(locations) if one is known by its address. */
pcol_status pci_bare_open(const pcol_file *file, const struct pci_column *names,
                          struct pci_bare *bare, pcol_error *err);
void pci_bare_close(struct pci_bare *bare);
/* What the function of a row is called; name: its own. */
static inline pcol_str pci_bare_name(const struct pci_bare *bare, uint64_t row, pcol_str name)
{
    return bare->names && bare->names[row].data ? bare->names[row] : name;
}

#endif
