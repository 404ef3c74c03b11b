/*
 * strbuf.h - growable text, comparison of texts, numbered names
 */
#ifndef PCI_UTIL_STRBUF_H
#define PCI_UTIL_STRBUF_H

#include "util/error.h"

#include <string.h>

/* Equality of two texts; the data of an empty one may be NULL. */
static inline int pci_str_equal(pcol_str a, pcol_str b)
{
    return a.size == b.size && (!a.size || a.data == b.data || !memcmp(a.data, b.data, a.size));
}

/* Order by unsigned bytes; a prefix comes before a longer text. */
static inline int pci_str_compare(pcol_str a, pcol_str b)
{
    size_t n = a.data == b.data ? 0 : a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Equality of two strings of one file, where equal ones are at one address: O(1), where texts with
 * a long common beginning are compared with each other. pci_hash_place() agrees with it. */
static inline int pci_str_same(pcol_str a, pcol_str b)
{
    return a.size == b.size && (!a.size || a.data == b.data);
}

static inline int pci_str_is(pcol_str text, const char *word)
{
    return pci_str_equal(text, (pcol_str){word, strlen(word)});
}

/* Whether a text occurs in data, both possibly with NUL. */
int pci_bytes_contain(const void *data, size_t size, const char *text, size_t text_size);

/* All zero: empty. `size` may be reduced to reuse the memory. */
struct pci_strbuf {
    char *data;
    size_t size, capacity;
};

/* Append in amortized constant time per byte. `data` is not NULL afterwards, even for 0 bytes. */
pcol_status pci_strbuf_append(struct pci_strbuf *text, const void *data, size_t size,
                              pcol_error *err);
/* Release the memory. */
void pci_strbuf_clear(struct pci_strbuf *text);

/* The number K of a name PREFIX K in canonical decimal (no leading zeros, at most 18 digits), else
 * -1. */
int64_t pci_parse_numbered_name(const char *name, const char *prefix);

#endif
