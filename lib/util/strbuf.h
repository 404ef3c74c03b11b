/*
 * strbuf.h - text that grows, whether two texts are one, and names with a number
 */
#ifndef PCI_UTIL_STRBUF_H
#define PCI_UTIL_STRBUF_H

#include "util/error.h"

#include <string.h>

/* An empty text may have no place. */
static inline int pci_str_equal(pcol_str a, pcol_str b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static inline int pci_str_is(pcol_str text, const char *word)
{
    return pci_str_equal(text, (pcol_str){word, strlen(word)});
}

/* Zero it to begin; `size` may be set to less, to use the memory anew. */
struct pci_strbuf {
    char *data;
    size_t size, capacity;
};

/* Append; linear in all that is put. `data` is not NULL afterwards, even of nothing. */
pcol_status pci_strbuf_put(struct pci_strbuf *text, const void *data, size_t size, pcol_error *err);
void pci_strbuf_clear(struct pci_strbuf *text);

/* K of the name PREFIX K, in decimal as a number is written; -1 if it is another name. */
int64_t pci_name_number(const char *name, const char *prefix);

#endif
