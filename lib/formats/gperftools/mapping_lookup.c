/*
 * mapping_lookup.c - assignment of mappings to locations, with the rules of pprof
 *
 * An address belongs to the first mapping that contains it, else to the first one that would
 * contain it if extended by its file offset, which is then extended (some writers omit the first
 * piece of a file). The first address without either appends a mapping of all addresses, after
 * which none is extended. Segment tree over the sorted bounds, O(log n): each node has the least
 * mapping that covers it; a second tree has the extensions.
 *
 *     bounds   b0      b1      b2      b3       leaf i: [b(i), b(i+1))
 *     nodes    n + 0   n + 1   n + 2   n + 3    children of node k: 2k, 2k + 1
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

#include <stdlib.h>

struct segment_tree {
    uint64_t *bounds; /* ascending, distinct */
    size_t count;
    uint32_t *spanned;  /* 2 * count nodes: least mapping number + 1; 0: none */
    uint32_t *extended; /* the same for the extensions */
};

static int compare_bounds(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Binary search: number of bounds <= address. */
static size_t count_bounds(const struct segment_tree *c, uint64_t address)
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

static void store_minimum(uint32_t *node, uint32_t number)
{
    if (!*node || number < *node)
        *node = number;
}

/* Store a number in the nodes that make up [from, to), two bounds. */
static void insert_range(const struct segment_tree *c, uint32_t *nodes, uint64_t from, uint64_t to,
                         uint32_t number)
{
    if (from >= to)
        return;
    size_t low = count_bounds(c, from) - 1 + c->count, high = count_bounds(c, to) - 1 + c->count;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            store_minimum(&nodes[low++], number);
        if (high & 1)
            store_minimum(&nodes[--high], number);
    }
}

static uint32_t find_first(const struct segment_tree *c, const uint32_t *nodes, uint64_t address)
{
    size_t at = count_bounds(c, address);
    uint32_t found = 0;
    if (!at)
        return 0;
    for (at += c->count - 1; at; at /= 2)
        if (nodes[at])
            store_minimum(&found, nodes[at]);
    return found;
}

static pcol_status build_tree(struct segment_tree *c, const struct pci_gp_profile *p,
                              pcol_error *err)
{
    size_t count = 3 * p->mapping_count;
    PCI_TRY(PCI_MALLOC(c->bounds, count, err));
    PCI_TRY(PCI_CALLOC(c->spanned, 2 * count, err));
    PCI_TRY(PCI_CALLOC(c->extended, 2 * count, err));
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
        insert_range(c, c->spanned, m->start, m->limit, (uint32_t)i + 1);
        /* An offset larger than the start wraps around and makes this range empty. */
        if (m->offset)
            insert_range(c, c->extended, m->start - m->offset, m->start, (uint32_t)i + 1);
    }
    return PCOL_OK;
}

static void extend_mapping(const struct segment_tree *c, struct pci_gp_mapping *m, uint32_t number)
{
    uint64_t start = m->start;
    m->start -= m->offset;
    m->offset = 0;
    insert_range(c, c->spanned, m->start, start, number);
}

static pcol_status add_catch_all(struct pci_gp_profile *p, uint32_t *catch_all, pcol_error *err)
{
    if (*catch_all)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(p->mappings, p->mapping_capacity, p->mapping_count + 1, err));
    p->mappings[p->mapping_count++] = (struct pci_gp_mapping){.limit = UINT64_MAX};
    *catch_all = (uint32_t)p->mapping_count;
    return PCOL_OK;
}

static pcol_status assign_mappings(struct pci_gp_profile *p, const struct segment_tree *c,
                                   pcol_error *err)
{
    uint32_t catch_all = 0;
    for (size_t i = 0; i < p->order_count; i++) {
        struct pci_gp_location *l = &p->locations[p->order[i]];
        if (!l->address || l->function)
            continue; /* no address, or a name instead */
        l->mapping = find_first(c, c->spanned, l->address);
        if (!l->mapping && !catch_all && (l->mapping = find_first(c, c->extended, l->address)))
            extend_mapping(c, &p->mappings[l->mapping - 1], l->mapping);
        if (!l->mapping) {
            PCI_TRY(add_catch_all(p, &catch_all, err));
            l->mapping = catch_all;
        }
    }
    return PCOL_OK;
}

pcol_status pci_gp_assign_mappings(struct pci_gp_profile *p, pcol_error *err)
{
    struct segment_tree c = {0};
    pcol_status status = build_tree(&c, p, err);
    PCI_THEN(status, assign_mappings(p, &c, err));
    pci_free(c.bounds);
    pci_free(c.spanned);
    pci_free(c.extended);
    return status;
}
