/*
 * flatten.h - converts structured values to flat items: keys and texts of Perun's data frames
 */
#ifndef PCI_PERUN_FLATTEN_H
#define PCI_PERUN_FLATTEN_H

#include "formats/perun/flat.h"
#include "model/keyed_rows.h"
#include "util/arena.h"

struct pci_flat_item {
    pcol_str key; /* suffix after the member's own key and a colon; "" for the member itself */
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
/* Append a member to a parent. The first one, with parent PCOL_NONE, is the whole value. Only
 * scalars need a value. Texts are borrowed. */
pcol_status pci_flat_add(struct pci_flat_tree *tree, uint32_t parent,
                         const struct pci_member *member, enum pci_flat_shape shape,
                         pcol_error *err);
/* Flatten a tree, as pci_flatten() does; at most once for each tree. */
pcol_status pci_flat_items(struct pci_flat_tree *tree, struct pci_flat *flat,
                           struct pci_arena *arena, pcol_error *err);
void pci_flat_clear(struct pci_flat_tree *tree);

/* ---- a value of a file */

/* Flatten a value: items are appended to `flat`, texts are allocated in the arena. The text of an
 * inner object occurs twice in that of the outer one, so texts can double with each level: E_LIMIT
 * if they exceed the arena's limit. Not recursive. */
pcol_status pci_flatten(struct pci_values *values, const struct pci_value *value,
                        struct pci_flat *flat, struct pci_arena *arena, pcol_error *err);

/* Append the text of a scalar, as in Python's str(). */
pcol_status pci_flat_text(const struct pci_value *value, struct pci_strbuf *to, pcol_error *err);

#endif
