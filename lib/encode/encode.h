/*
 * encode.h - encoding of a column's values, choice of the smallest encoding; bit writer
 */
#ifndef PCI_ENCODE_ENCODE_H
#define PCI_ENCODE_ENCODE_H

#include "encode/column_stats.h"
#include "encode/container_writer.h"

/* Chooses the encoding with the lowest cost and writes it. `column`: of pci_container_column().
 * With writer->plain: PLAIN and a validity bitmap. */
pcol_status pci_encode(struct pci_container *writer, uint32_t column,
                       const struct pci_value_source *source, pcol_error *err);
/* The same for a column of equal, non-null values, without reading the source. */
pcol_status pci_encode_constant(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source, int64_t value,
                                pcol_error *err);
/* Encodes in one pass without a choice: LINEAR if all rows are null or, without nulls, *constant
 * (NULL: not constant), else PLAIN. Sets minimum and maximum of types that may be negative, which
 * readers require. pci_encode() with writer->quick uses this. */
pcol_status pci_encode_quick(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source, uint64_t nulls,
                             const int64_t *constant, pcol_error *err);

/* *bytes: size of the encoded source in a file with the writer's options; writes nothing. */
pcol_status pci_encode_measure(struct pci_container *writer, const struct pci_value_source *source,
                               uint64_t *bytes, pcol_error *err);

/* A column of type bytes (encode_bytes.c). `offsets`: rows + 1 values of type u64; read() copies
 * data. */
struct pci_bytes_source {
    uint64_t rows;
    const struct pci_value_source *offsets;
    uint64_t data_size;
    pcol_status (*read)(void *context, uint64_t offset, uint8_t *data, size_t size,
                        pcol_error *err);
    void *context;
    const struct pci_value_source *validity; /* bool values, or NULL */
    uint64_t null_count;
    const struct pci_value_source *shared; /* FRONT: lengths of shared prefixes; else NULL */
};
pcol_status pci_encode_bytes(struct pci_container *writer, uint32_t column,
                             const struct pci_bytes_source *source, pcol_error *err);

/* The sorted string pool (builder/encode_strings.c): PLAIN or FRONT, whichever is smaller. */
struct pci_string_pool;
pcol_status pci_encode_strings(const struct pci_string_pool *table, struct pci_container *writer,
                               uint32_t column, pcol_error *err);

/* Bit writer of a section, least significant bit first (bit_writer.c). */
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
pcol_status pci_bits_end(struct pci_bits *bits, size_t padding, pcol_error *err);

/* Appends n numbers below 2^width. */
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
