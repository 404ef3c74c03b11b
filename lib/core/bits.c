/*
 * bits.c - packed bits into a section
 */
#include "core/encode.h"

pcol_status pci_bits_begin(struct pci_bits *bits, struct pci_writer *writer, uint32_t column,
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

pcol_status pci_bits_align(struct pci_bits *bits, pcol_error *err)
{
    size_t bytes = (bits->fill + 7) / 8;
    if (bits->used + bytes > sizeof bits->buffer)
        PCI_TRY(pci_bits_flush(bits, err));
    memcpy(bits->buffer + bits->used, &bits->word, bytes);
    bits->used += bytes;
    bits->word = 0;
    bits->fill = 0;
    /* pci_bits_put stores whole words: keep room for one */
    return bits->used > sizeof bits->buffer - 8 ? pci_bits_flush(bits, err) : PCOL_OK;
}

pcol_status pci_bits_end(struct pci_bits *bits, size_t padding, pcol_error *err)
{
    static const uint8_t zeros[PCF_PACK_PADDING];
    pcol_status status = pci_bits_align(bits, err);
    if (status == PCOL_OK)
        status = pci_bits_flush(bits, err);
    if (status == PCOL_OK)
        status = pci_section_append(&bits->section, zeros, padding, err);
    if (status == PCOL_OK)
        return pci_section_end(&bits->section, err);
    pci_section_abort(&bits->section);
    return status;
}
