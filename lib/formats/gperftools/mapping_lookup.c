/*
 * mapping_lookup.c - which mapping each location lies in
 *
 * An address belongs to the first mapping of the list that spans it. If none does, the first one
 * that would if its file offset were taken off its start is extended to there, for good: some
 * writers leave out the first piece of a file. The first address that still has no place adds a
 * mapping of everything at the end of the list, and from then on nothing is extended.
 *
 * Mappings may overlap and there may be many, so "the first that spans an address" is asked of a
 * tree over the sorted bounds: a mapping leaves its number, if it is smaller, in the O(log n) nodes
 * that make up its range, and an address looks at the nodes from its leaf up. Extensions are a
 * second such tree, asked only where the first says nothing; what was extended is added to the
 * first, so it never needs to be taken out of the second.
 *
 *     bounds   b0      b1      b2      b3       leaf i: [b(i), b(i+1))
 *     nodes    n + 0   n + 1   n + 2   n + 3    node k has the children 2k, 2k + 1
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

#include <stdlib.h>

struct cover {
    uint64_t *bounds; /* ascending, distinct */
    size_t count;
    uint32_t *spanned;  /* 2 * count nodes: least number + 1, 0 none */
    uint32_t *extended; /* the same for the extensions */
};

static int compare_bounds(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Number of bounds <= address. */
static size_t bounds_to(const struct cover *c, uint64_t address)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->bounds[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void leave(uint32_t *node, uint32_t number)
{
    if (!*node || number < *node)
        *node = number;
}

/* [from, to), both bounds. */
static void span(const struct cover *c, uint32_t *nodes, uint64_t from, uint64_t to,
                 uint32_t number)
{
    if (from >= to)
        return;
    size_t low = bounds_to(c, from) - 1 + c->count, high = bounds_to(c, to) - 1 + c->count;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            leave(&nodes[low++], number);
        if (high & 1)
            leave(&nodes[--high], number);
    }
}

static uint32_t first_at(const struct cover *c, const uint32_t *nodes, uint64_t address)
{
    size_t at = bounds_to(c, address);
    uint32_t found = 0;
    if (!at)
        return 0;
    for (at += c->count - 1; at; at /= 2)
        if (nodes[at])
            leave(&found, nodes[at]);
    return found;
}

static pcol_status cover_init(struct cover *c, const struct pci_gp_profile *p, pcol_error *err)
{
    size_t count = 3 * p->mapping_count;
    c->bounds = pci_malloc(count, sizeof *c->bounds);
    c->spanned = pci_calloc(2 * count, sizeof *c->spanned);
    c->extended = pci_calloc(2 * count, sizeof *c->extended);
    if (!c->bounds || !c->spanned || !c->extended)
        return pci_fail_memory(err);
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct pci_gp_mapping *m = &p->mappings[i];
        c->bounds[3 * i] = m->start;
        c->bounds[3 * i + 1] = m->limit;
        c->bounds[3 * i + 2] = m->start - m->offset;
    }
    qsort(c->bounds, count, sizeof *c->bounds, compare_bounds);
    for (size_t i = 0; i < count; i++)
        if (!c->count || c->bounds[i] != c->bounds[c->count - 1])
            c->bounds[c->count++] = c->bounds[i];
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct pci_gp_mapping *m = &p->mappings[i];
        span(c, c->spanned, m->start, m->limit, (uint32_t)i + 1);
        /* An offset beyond the start wraps round, which makes this range empty. */
        if (m->offset)
            span(c, c->extended, m->start - m->offset, m->start, (uint32_t)i + 1);
    }
    return PCOL_OK;
}

static void extend(const struct cover *c, struct pci_gp_mapping *m, uint32_t number)
{
    uint64_t start = m->start;
    m->start -= m->offset;
    m->offset = 0;
    span(c, c->spanned, m->start, start, number);
}

static pcol_status add_fake(struct pci_gp_profile *p, uint32_t *fake, pcol_error *err)
{
    void *rows = p->mappings;
    if (*fake)
        return PCOL_OK;
    if (pci_grow(&rows, &p->mapping_capacity, p->mapping_count + 1, sizeof *p->mappings))
        return pci_fail_memory(err);
    p->mappings = rows;
    p->mappings[p->mapping_count++] = (struct pci_gp_mapping){.limit = UINT64_MAX};
    *fake = (uint32_t)p->mapping_count;
    return PCOL_OK;
}

static pcol_status locate(struct pci_gp_profile *p, const struct cover *c, pcol_error *err)
{
    uint32_t fake = 0;
    for (size_t i = 0; i < p->order_count; i++) {
        struct pci_gp_location *l = &p->locations[p->order[i]];
        if (!l->address || l->function)
            continue; /* nothing to locate, or a name given in place of it */
        l->mapping = first_at(c, c->spanned, l->address);
        if (!l->mapping && !fake && (l->mapping = first_at(c, c->extended, l->address)))
            extend(c, &p->mappings[l->mapping - 1], l->mapping);
        if (!l->mapping) {
            PCI_TRY(add_fake(p, &fake, err));
            l->mapping = fake;
        }
    }
    return PCOL_OK;
}

pcol_status pci_gp_locate(struct pci_gp_profile *p, pcol_error *err)
{
    struct cover c = {0};
    pcol_status status = cover_init(&c, p, err);
    if (status == PCOL_OK)
        status = locate(p, &c, err);
    pci_free(c.bounds);
    pci_free(c.spanned);
    pci_free(c.extended);
    return status;
}
