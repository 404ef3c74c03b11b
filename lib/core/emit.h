/*
 * emit.h - one column's values into sections, by an encoding that has been chosen
 */
#ifndef PCI_EMIT_H
#define PCI_EMIT_H

#include "core/encode.h"

#include <string.h>

/* Whether cell i of a block is marked. */
typedef int (*pci_is_marked)(const void *context, const struct pci_reader *block, size_t i);

/* Some of a source's rows, read one after the other. */
struct pci_gather {
    const struct pci_source *all;
    struct pci_reader reader;
    size_t at; /* next cell of the reader's block */
};

enum pci_what { PCI_MARKED, PCI_RISES };

/* The next n values of marked rows, or how much the others rise above the row before; row 0 begins
 * anew. Inline, so that is_marked is. Blocks of a reader begin at multiples of 64, where rows are
 * marked if rises are asked for. */
static inline pcol_status pci_gather(struct pci_gather *g, enum pci_what what,
                                     pci_is_marked is_marked, const void *context, uint64_t row,
                                     size_t n, int64_t *values, uint8_t *valid, pcol_error *err)
{
    struct pci_reader *r = &g->reader;
    size_t got = 0;
    if (row == 0) {
        pci_reader_init(r, g->all);
        g->at = 0;
    }
    while (got < n) {
        if (g->at >= r->n) {
            PCI_TRY(pci_reader_next(r, err));
            g->at = 0;
            if (!r->n)
                return pci_fail(err, PCOL_E_STATE, "column changed while it was written");
        }
        for (; g->at < r->n && got < n; g->at++) {
            int marked = is_marked(context, r, g->at);
            if (what == PCI_MARKED && marked)
                values[got++] = r->values[g->at];
            else if (what == PCI_RISES && !marked)
                values[got++] =
                    (int64_t)((uint64_t)r->values[g->at] - (uint64_t)r->values[g->at - 1]);
        }
    }
    memset(valid, 1, n);
    return PCOL_OK;
}

/* How many rows are marked. */
static inline pcol_status pci_gather_count(struct pci_gather *g, pci_is_marked is_marked,
                                           const void *context, uint64_t *count, pcol_error *err)
{
    struct pci_reader *r = &g->reader;
    pcol_status status;
    *count = 0;
    pci_reader_init(r, g->all);
    while ((status = pci_reader_next(r, err)) == PCOL_OK && r->n)
        for (size_t i = 0; i < r->n; i++)
            *count += (uint64_t)is_marked(context, r, i);
    return status;
}

/* A source's rows that are not the default, as a source of their own (encode.c). */
struct pci_rest {
    struct pci_source source;
    int null_default; /* the default is null, else base + step * row */
    uint64_t base, step;
    struct pci_gather from;
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
    struct pci_source next; /* row v: what mostly stands behind the value v */
    uint32_t *next_values;
    struct pci_gather from;
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

/* A source's rows that stand too far from the row before, and how much the others rise above it: two
 * sources (deltas.c). */
struct pci_deltas {
    struct pci_source own, rises;
    int64_t low, high; /* least and greatest rise of a row that is not marked */
    struct pci_gather from_own, from_rises;
};

/* A source as deltas, as pci_cost_deltas() found them best. Freed with pci_free(). */
pcol_status pci_deltas_new(const struct pci_source *source, const struct pci_shape *shape,
                           struct pci_deltas **deltas, pcol_error *err);
int pci_is_own(const void *context, const struct pci_reader *block, size_t i);

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

/* Puts the block that the reader holds. */
typedef pcol_status (*pci_put_block)(struct pci_bits *bits, const struct pci_reader *block,
                                     void *context, pcol_error *err);
/* VALUES out of what is put for each block of 1024 rows, and the padding behind it. */
pcol_status pci_emit_blocks(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, pci_put_block put, void *context,
                            pcol_error *err);

/* Parts: the validity bitmap, the bitmap and ranks of marked rows, any bytes. */
pcol_status pci_emit_validity(struct pci_writer *writer, uint32_t column,
                              const struct pci_source *source, pcol_error *err);
pcol_status pci_emit_marks(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, pci_is_marked is_marked,
                           const void *context, pcol_error *err);
pcol_status pci_emit_array(struct pci_writer *writer, uint32_t column, uint8_t role,
                           const void *data, size_t size, pcol_error *err);

#endif
