/*
 * text.c - text that grows
 */
#include "core/text.h"

#include "core/alloc.h"

#include <string.h>

pcol_status pci_text_put(struct pci_text *text, const void *data, size_t size, pcol_error *err)
{
    void *grown = text->data;
    if (size >= SIZE_MAX - text->size ||
        pci_grow(&grown, &text->capacity, text->size + size + 1, 1))
        return pci_fail_memory(err);
    text->data = grown;
    if (size)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    return PCOL_OK;
}

void pci_text_clear(struct pci_text *text)
{
    pci_free(text->data);
    memset(text, 0, sizeof *text);
}
