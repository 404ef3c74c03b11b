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

/* A source's rows that do not follow from the row before, as a source of their own (chain.c). */
struct pci_links {
    struct pci_source source;
    const struct pci_source *all;
    struct pci_source next; /* row v: what mostly stands behind the value v */
    uint32_t *next_values;
    struct pci_reader reader;
    size_t at; /* next cell of the reader's block */
};

/* Blocks of a reader begin at multiples of 64, so the row before is in the block too. */
static inline int pci_is_link(const struct pci_links *links, const struct pci_reader *r, size_t i)
{
    return i % 64 == 0 || links->next_values[r->values[i - 1]] != (uint64_t)r->values[i];
}

/* A source as a chain, and what that costs in bits; *links is NULL if it would not pay. Freed with
 * pci_links_free(). */
pcol_status pci_links_new(const struct pci_source *source, const struct pci_shape *shape,
                          struct pci_links **links, uint64_t *bits, pcol_error *err);
void pci_links_free(struct pci_links *links);

/* Each sets the column's encoding and parameters and appends its sections. */
pcol_status pci_emit_plain(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, uint64_t nulls, struct pci_shape *stats,
                           pcol_error *err); /* stats: to be filled, or NULL */
pcol_status pci_emit_packed(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_shape *shape,
                            pcol_error *err);
pcol_status pci_emit_blocked(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, const struct pci_shape *shape,
                             int slopes, pcol_error *err);

pcol_status pci_emit_spans(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, const struct pci_shape *shape,
                           pcol_error *err);

/* Puts the block that the reader holds. */
typedef pcol_status (*pci_put_block)(struct pci_bits *bits, const struct pci_reader *block,
                                     void *context, pcol_error *err);
/* VALUES out of what is put for each block of 1024 rows, and the padding behind it. */
pcol_status pci_emit_blocks(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, pci_put_block put, void *context,
                            pcol_error *err);

/* Whether cell i of a block is marked. */
typedef int (*pci_is_marked)(const void *context, const struct pci_reader *block, size_t i);

/* Parts: the validity bitmap, the bitmap and ranks of marked rows, any bytes. */
pcol_status pci_emit_validity(struct pci_writer *writer, uint32_t column,
                              const struct pci_source *source, pcol_error *err);
pcol_status pci_emit_marks(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, pci_is_marked is_marked,
                           const void *context, pcol_error *err);
pcol_status pci_emit_array(struct pci_writer *writer, uint32_t column, uint8_t role,
                           const void *data, size_t size, pcol_error *err);

#endif
