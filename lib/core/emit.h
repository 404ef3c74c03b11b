/*
 * emit.h - one column's values into sections, by an encoding that has been chosen
 */
#ifndef PCI_EMIT_H
#define PCI_EMIT_H

#include "core/encode.h"

/* A source's rows that are not the default, as a source of their own (encode.c). */
struct pci_rest {
    struct pci_source source;
    const struct pci_source *all;
    int null_default; /* the default is null, else base + step * row */
    uint64_t base, step;
    struct pci_reader reader;
    size_t at; /* next cell of the reader's block */
};

static inline int pci_is_rest(const struct pci_rest *rest, const struct pci_reader *r, size_t i)
{
    if (rest->null_default)
        return r->valid[i] != 0;
    return (uint64_t)r->values[i] != rest->base + rest->step * (r->row + i);
}

/* Each sets the column's encoding and parameters and appends its sections. */
pcol_status pci_emit_plain(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, uint64_t nulls, pcol_error *err);
pcol_status pci_emit_packed(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_shape *shape,
                            pcol_error *err);
pcol_status pci_emit_blocked(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, const struct pci_shape *shape,
                             int slopes, pcol_error *err);

/* Parts: the validity bitmap, the bitmap and ranks of a sparse column, any bytes. */
pcol_status pci_emit_validity(struct pci_writer *writer, uint32_t column,
                              const struct pci_source *source, pcol_error *err);
pcol_status pci_emit_marks(struct pci_writer *writer, uint32_t column, struct pci_rest *rest,
                           pcol_error *err);
pcol_status pci_emit_array(struct pci_writer *writer, uint32_t column, uint8_t role,
                           const void *data, size_t size, pcol_error *err);

#endif
