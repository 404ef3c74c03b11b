/*
 * bit_writer.c - bit packing into a section, least significant bit first
 *
 * Appends to a 64-bit word, flushed to a buffer and then to the section.
 * Tests: tests/unit/test_encode.c.
 */
#include "encode/encode.h"

#include "util/simd_kernels.h"

#define BATCH 256u

pcol_status pci_bits_begin(struct pci_bits *bits, struct pci_container *writer, uint32_t column,
                           uint8_t role, pcol_error *err)
{
    bits->word = 0;
    bits->fill = 0;
    bits->used = 0;
    return pci_section_begin(&bits->section, writer, column, role, err);
}

pcol_status pci_bits_flush(struct pci_bits *bits, pcol_error *err)
{
    size_t used = bits->used;
    bits->used = 0;
    return pci_section_append(&bits->section, bits->buffer, used, err);
}

/* Merges pairs of narrow numbers with SIMD, doubling the width, before appending them. */
pcol_status pci_bits_put_many(struct pci_bits *bits, const uint64_t *numbers, size_t n,
                              unsigned width, pcol_error *err)
{
    uint64_t pairs[2][BATCH / 2];
    for (size_t batch; n; numbers += batch, n -= batch) {
        const uint64_t *from = numbers;
        size_t count = batch = n < BATCH ? n : BATCH;
        unsigned wide = width;
        for (int to = 0; wide && wide <= 28 && count % 2 == 0; to = !to) {
            pci_simd_pack_pairs(from, count, wide, pairs[to]);
            from = pairs[to];
            count /= 2;
            wide *= 2;
        }
        for (size_t i = 0; wide && i < count; i++)
            PCI_TRY(pci_bits_put(bits, from[i], wide, err));
    }
    return PCOL_OK;
}

/* To the next byte. */
static pcol_status align(struct pci_bits *bits, pcol_error *err)
{
    size_t bytes = (bits->fill + 7) / 8;
    if (bits->used + bytes > sizeof bits->buffer)
        PCI_TRY(pci_bits_flush(bits, err));
    memcpy(bits->buffer + bits->used, &bits->word, bytes);
    bits->used += bytes;
    bits->word = 0;
    bits->fill = 0;
    /* pci_bits_put() stores whole words, so leave space for one. */
    return bits->used > sizeof bits->buffer - 8 ? pci_bits_flush(bits, err) : PCOL_OK;
}

pcol_status pci_bits_end(struct pci_bits *bits, size_t padding, pcol_error *err)
{
    static const uint8_t zeros[PCF_PACK_PADDING];
    pcol_status status = align(bits, err);
    PCI_THEN(status, pci_bits_flush(bits, err));
    PCI_THEN(status, pci_section_append(&bits->section, zeros, padding, err));
    if (status == PCOL_OK)
        return pci_section_end(&bits->section, err);
    pci_section_abort(&bits->section);
    return status;
}
