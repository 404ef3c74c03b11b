/*
 * encode.h - a column's values into the smallest of the encodings
 */
#ifndef PCI_ENCODE_ENCODE_H
#define PCI_ENCODE_ENCODE_H

#include "encode/column_stats.h"
#include "encode/container_writer.h"

/* Choose by cost and write. The column is one that pci_container_column() gave. With writer->plain:
 * PLAIN and a validity bitmap. */
pcol_status pci_encode(struct pci_container *writer, uint32_t column,
                       const struct pci_value_source *source, pcol_error *err);
/* The same for a column all of whose rows are `value`, none null: nothing has to be read. */
pcol_status pci_encode_constant(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source, int64_t value,
                                pcol_error *err);
/* The values as they are, in one pass, with minimum and maximum where values may be negative, which
 * those who read ask: so many rows are null, and all
 * others are *constant (NULL: they are not). What pci_encode() does with writer->quick. */
pcol_status pci_encode_quick(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source, uint64_t nulls,
                             const int64_t *constant, pcol_error *err);

/* What a source takes as a column of a file like the writer's, which is left alone. */
pcol_status pci_encode_measure(struct pci_container *writer, const struct pci_value_source *source,
                               uint64_t *bytes, pcol_error *err);

/* A column of bytes (encode_bytes.c): `offsets` has rows + 1 values of type u64; read() copies out
 * data. `valid` may be NULL: no nulls; else one byte per row. */
struct pci_bytes_source {
    uint64_t rows;
    const struct pci_value_source *offsets;
    uint64_t data_size;
    pcol_status (*read)(void *context, uint64_t offset, uint8_t *data, size_t size,
                        pcol_error *err);
    void *context;
    const struct pci_value_source *validity; /* bool values, or NULL */
    uint64_t null_count;
    const struct pci_value_source
        *shared; /* FRONT: how many bytes are those of the row before; or NULL */
};
pcol_status pci_encode_bytes(struct pci_container *writer, uint32_t column,
                             const struct pci_bytes_source *source, pcol_error *err);

/* The pool, in order (builder/encode_strings.c): whole strings, or without what they share with
 * the one before. */
struct pci_string_pool;
pcol_status pci_encode_strings(const struct pci_string_pool *table, struct pci_container *writer,
                               uint32_t column, pcol_error *err);

/* bit_writer.c: packed bits into a section, least significant first. */
struct pci_bits {
    struct pci_section section;
    uint64_t word;
    unsigned fill;
    size_t used;
    uint8_t buffer[4096];
};
pcol_status pci_bits_begin(struct pci_bits *bits, struct pci_container *writer, uint32_t column,
                           uint8_t role, pcol_error *err);
pcol_status pci_bits_flush(struct pci_bits *bits, pcol_error *err); /* buffer to section */
pcol_status pci_bits_align(struct pci_bits *bits, pcol_error *err); /* to a byte */
pcol_status pci_bits_end(struct pci_bits *bits, size_t padding, pcol_error *err);

/* `n` numbers of `width` bits each, which they have no more than. */
pcol_status pci_bits_put_many(struct pci_bits *bits, const uint64_t *numbers, size_t n,
                              unsigned width, pcol_error *err);

static inline pcol_status pci_bits_put(struct pci_bits *bits, uint64_t value, unsigned width,
                                       pcol_error *err)
{
    bits->word |= value << bits->fill;
    if (bits->fill + width < 64) {
        bits->fill += width;
        return PCOL_OK;
    }
    memcpy(bits->buffer + bits->used, &bits->word, 8);
    bits->used += 8;
    bits->word = bits->fill ? value >> (64 - bits->fill) : 0;
    bits->fill = bits->fill + width - 64;
    return bits->used > sizeof bits->buffer - 8 ? pci_bits_flush(bits, err) : PCOL_OK;
}

#endif
