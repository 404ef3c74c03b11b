/*
 * strbuf.c - growable text and numbered names
 */
#include "util/strbuf.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

int pci_bytes_contain(const void *data, size_t size, const char *text, size_t text_size)
{
    const uint8_t *found = data, *end = found + size;
    while ((size_t)(end - found) >= text_size &&
           (found = memchr(found, text[0], (size_t)(end - found) - text_size + 1)) != NULL) {
        if (memcmp(found, text, text_size) == 0)
            return 1;
        found++;
    }
    return 0;
}

pcol_status pci_strbuf_append(struct pci_strbuf *text, const void *data, size_t size,
                              pcol_error *err)
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

int64_t pci_parse_numbered_name(const char *name, const char *prefix)
{
    size_t size = strlen(prefix);
    size_t digits = strncmp(name, prefix, size) == 0 ? strspn(name + size, "0123456789") : 0;
    if (!digits || digits > 18 || name[size + digits] || (name[size] == '0' && digits > 1))
        return -1;
    return strtoll(name + size, NULL, 10);
}

void pci_strbuf_clear(struct pci_strbuf *text)
{
    pci_free(text->data);
    memset(text, 0, sizeof *text);
}
