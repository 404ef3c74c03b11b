/*
 * press.h - compressed sections of archives, written
 *
 * A section is gathered into blocks; each is transformed and compressed when it is full. Which
 * codec a section has is decided by its first block: zlib, unless LZ4 is hardly larger, which is
 * decompressed several times as fast.
 */
#ifndef PCI_PRESS_H
#define PCI_PRESS_H

#include "core/error.h"
#include "layout.h"

/* The tree whose columns are being written: what PCF_TRANSFORM_PARENT and _RANK need. */
struct pci_press_tree {
    const uint32_t *parents, *values; /* NULL: not a column of a tree */
    unsigned transform;               /* of the column that is being written */
};

struct pci_press;

/* `flags`: of PCOL_WRITE_ARCHIVE. Freed with pci_press_free(). */
pcol_status pci_press_new(unsigned flags, struct pci_press **press, pcol_error *err);
void pci_press_free(struct pci_press *press);
unsigned pci_press_flags(const struct pci_press *press);

/* Where compressed bytes go. */
typedef pcol_status (*pci_press_put)(void *context, const void *data, size_t size, pcol_error *err);

/* One section at a time. `width` of its values, if it is transformed; `quick`: it is only
 * measured. */
void pci_press_begin(struct pci_press *press, unsigned transform, unsigned width,
                     const struct pci_press_tree *tree, int quick);
pcol_status pci_press_add(struct pci_press *press, const void *data, size_t size, pci_press_put put,
                          void *context, pcol_error *err);
/* *codec as in the descriptor, *raw_size: bytes that were added. */
pcol_status pci_press_end(struct pci_press *press, pci_press_put put, void *context, uint8_t *codec,
                          uint64_t *raw_size, pcol_error *err);

/* One piece as a whole, for the index: *out is to be freed with pci_free(). */
pcol_status pci_press_index(struct pci_press *press, const void *data, size_t size, uint8_t **out,
                            size_t *out_size, pcol_error *err);

#endif
