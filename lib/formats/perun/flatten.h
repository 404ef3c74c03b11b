/*
 * flatten.h - structured values as flat items: the keys and texts of Perun's data frames
 */
#ifndef PCI_PERUN_FLATTEN_H
#define PCI_PERUN_FLATTEN_H

#include "formats/perun/flat.h"
#include "model/keyed_rows.h"
#include "util/arena.h"

struct pci_flat_item {
    pcol_str key;           /* behind the member's own key and a colon; "" for the member itself */
    struct pci_value value; /* a scalar, or TEXT */
};

/* The items of one value; the last one is the value itself. */
struct pci_flat {
    struct pci_flat_item *items;
    size_t count, capacity;
};

/* ---- a value as a tree */

enum pci_flat_shape { PCI_FLAT_SCALAR, PCI_FLAT_OBJECT, PCI_FLAT_ARRAY };

struct pci_flat_node;
struct pci_flat_tree {
    struct pci_flat_node *nodes;
    size_t count, capacity;
};
/* Add a member behind those that its parent has; the first one, of the parent PCOL_NONE, is the
 * whole value. Only scalars need a value. Texts are borrowed. */
pcol_status pci_flat_add(struct pci_flat_tree *tree, uint32_t parent,
                         const struct pci_member *member, enum pci_flat_shape shape,
                         pcol_error *err);
/* As pci_flatten(); once for a tree. */
pcol_status pci_flat_items(struct pci_flat_tree *tree, struct pci_flat *flat,
                           struct pci_arena *arena, pcol_error *err);
void pci_flat_clear(struct pci_flat_tree *tree);

/* ---- a value of a file */

/* Flatten a value; texts go to the arena, the items are appended. An object within an object stands
 * twice in the text of the outer one, so text can double with each level: E_LIMIT where it is more
 * than the arena may hold. Nothing is recursive. */
pcol_status pci_flatten(struct pci_values *values, const struct pci_value *value,
                        struct pci_flat *flat, struct pci_arena *arena, pcol_error *err);

/* A scalar's text as Python's str() has it, appended. */
pcol_status pci_flat_text(const struct pci_value *value, struct pci_strbuf *to, pcol_error *err);

#endif
