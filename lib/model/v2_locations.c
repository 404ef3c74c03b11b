/*
 * v2_locations.c - the table sample_locations, whose rows are made by walking call stacks
 *
 * Row by row: for each sample its stack from the innermost node to the root, for each node the
 * lines of its group. sample_zones.location_row says how many rows stand before every 8192nd
 * sample, which is where a walk to row N starts; its rows are verified when the table is made.
 * Nodes that were met lately are kept decoded in a small cache: stacks share their outer ends.
 */
#include "model/table.h"

#include "util/alloc.h"

#include <string.h>

#define CACHE_NODES 2048u

/* What a table needs to open cursors. */
struct location_view {
    struct pci_stacks stacks;
    const struct pci_column *stack, *zones;
    uint64_t samples;
};

struct cached_node {
    uint32_t node; /* 0: empty */
    uint32_t parent, first, count;
};

struct location_cursor {
    const struct location_view *view;
    uint64_t row;    /* the next to be made */
    uint64_t next;   /* the sample after the current one */
    uint32_t node;   /* the stack's next node to be entered, 0: none */
    uint64_t first;  /* the next line of the node entered last */
    uint64_t left;   /* lines of it that are still to come */
    uint64_t depth;  /* of the line made last */
    uint64_t block;  /* first sample of the block */
    size_t in_block; /* samples in it */
    size_t want;     /* how many to read next: few at first, so that a single cell is cheap */
    int64_t stacks[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    struct cached_node cache[CACHE_NODES];
};

static pcol_status enter_node(struct location_cursor *c, pcol_error *err)
{
    struct cached_node *slot = &c->cache[c->node % CACHE_NODES];
    if (slot->node != c->node) {
        uint64_t first, count;
        uint32_t parent;
        PCI_TRY(pci_stacks_node(&c->view->stacks, c->node, &parent, &first, &count, err));
        *slot = (struct cached_node){c->node, parent, (uint32_t)first, (uint32_t)count};
    }
    c->node = slot->parent;
    c->first = slot->first;
    c->left = slot->count;
    return PCOL_OK;
}

static pcol_status load_block(struct location_cursor *c, pcol_error *err)
{
    uint64_t left = c->view->samples - c->next;
    size_t n = left < c->want ? (size_t)left : c->want;
    c->in_block = 0;
    PCI_TRY(pci_read(c->view->stacks.file, c->view->stack, c->next, n, c->stacks, c->valid, err));
    c->block = c->next;
    c->in_block = n;
    c->want = c->want * 4 < PCI_BATCH ? c->want * 4 : PCI_BATCH;
    return PCOL_OK;
}

static pcol_status enter_sample(struct location_cursor *c, pcol_error *err)
{
    const struct location_view *view = c->view;
    size_t at;
    if (c->next >= view->samples || !view->stack)
        return pci_fail_cell(err, PCOL_E_CORRUPT, "sample_zones", "location_row", PCOL_NOWHERE,
                             "the samples have only %llu locations", (unsigned long long)c->row);
    if (c->next >= c->block + c->in_block)
        PCI_TRY(load_block(c, err));
    at = (size_t)(c->next - c->block);
    if (c->valid[at] && (uint64_t)c->stacks[at] >= view->stacks.stacks)
        return pci_fail_cell(err, PCOL_E_CORRUPT, "samples", "stack", c->next,
                             "stack %llu is beyond the %llu stacks",
                             (unsigned long long)c->stacks[at],
                             (unsigned long long)view->stacks.stacks);
    c->node = c->valid[at] ? (uint32_t)c->stacks[at] : 0;
    c->depth = 0;
    c->next++;
    return PCOL_OK;
}

/* Make sure that there is a line to come. */
static pcol_status find_line(struct location_cursor *c, pcol_error *err)
{
    while (!c->left) {
        if (c->node)
            PCI_TRY(enter_node(c, err));
        else
            PCI_TRY(enter_sample(c, err));
    }
    return PCOL_OK;
}

/* Pass over up to `count` lines of the current node. */
static uint64_t pass_lines(struct location_cursor *c, uint64_t count)
{
    uint64_t n = c->left < count ? c->left : count;
    c->first += n;
    c->left -= n;
    c->depth += n;
    c->row += n;
    return n;
}

static pcol_status locations_next(void *cursor, size_t count, struct pci_simd *lanes,
                                  pcol_error *err)
{
    struct location_cursor *c = cursor;
    for (size_t i = 0; i < count;) {
        uint64_t first, depth, n;
        PCI_TRY(find_line(c, err));
        first = c->first;
        depth = c->depth;
        n = pass_lines(c, count - i);
        for (uint64_t j = 0; j < n; j++, i++) {
            lanes->lane[0][i] = (int64_t)(c->next - 1);
            lanes->lane[1][i] = (int64_t)(depth + j + 1);
            lanes->lane[2][i] = (int64_t)(first + j);
        }
    }
    return PCOL_OK;
}

static pcol_status locations_open(const pcol_table *table, uint64_t row, void **cursor,
                                  pcol_error *err)
{
    const struct location_view *view = table->aux;
    struct location_cursor *c = pci_calloc(1, sizeof *c);
    uint64_t zone;
    pcol_status status;
    if (!c)
        return pci_fail_memory(err);
    c->view = view;
    c->want = 16;
    status = pci_zones_find(view->stacks.file, view->zones, row, &zone, &c->row, err);
    c->next = status == PCOL_OK ? zone * PCI_ZONE : 0;
    while (status == PCOL_OK && c->row < row) {
        status = find_line(c, err);
        if (status == PCOL_OK)
            pass_lines(c, row - c->row);
    }
    if (status == PCOL_OK)
        *cursor = c;
    else
        pci_free(c);
    return status;
}

static const struct pci_expander expander = {locations_open, locations_next, pci_free};

/* ---- verification of sample_zones.location_row */

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Lines from each stack to the root. */
static pcol_status find_depths(const struct pci_stacks *stacks, uint64_t *depth, pcol_error *err)
{
    depth[0] = 0;
    for (uint64_t node = 1; node < stacks->stacks; node++) {
        uint64_t first, count;
        uint32_t parent;
        PCI_TRY(pci_stacks_node(stacks, node, &parent, &first, &count, err));
        depth[node] = add_capped(depth[parent], count);
    }
    return PCOL_OK;
}

/* What the samples have, held against each zone. */
static pcol_status count_zones(const struct location_view *view, const uint64_t *depth,
                               pcol_error *err)
{
    const pcol_file *file = view->stacks.file;
    int64_t stacks[PCI_BATCH];
    uint8_t valid[PCI_BATCH] = {0};
    uint64_t counted = 0, n;
    for (uint64_t row = 0; row < view->samples; row += n) {
        n = view->samples - row < PCI_BATCH ? view->samples - row : PCI_BATCH;
        if (row % PCI_ZONE == 0)
            PCI_TRY(pci_zones_compare(file, view->zones, row / PCI_ZONE, counted, err));
        if (view->stack)
            PCI_TRY(pci_read(file, view->stack, row, n, stacks, valid, err));
        for (uint64_t i = 0; i < n; i++)
            if (valid[i])
                counted = add_capped(counted, depth[stacks[i]]);
    }
    return pci_zones_compare(file, view->zones, view->zones->desc->rows - 1, counted, err);
}

static pcol_status verify_zones(const struct location_view *view, pcol_error *err)
{
    const pcol_file *file = view->stacks.file;
    if (!view->samples)
        return PCOL_OK;
    PCI_TRY(pci_plausible_samples(file, err));
    PCI_TRY(pci_plausible(file, "stacks", err));
    uint64_t *depth = pci_malloc((size_t)view->stacks.stacks + 1, sizeof *depth);
    if (!depth)
        return pci_fail_memory(err);
    pcol_status status = find_depths(&view->stacks, depth, err);
    if (status == PCOL_OK)
        status = count_zones(view, depth, err);
    pci_free(depth);
    return status;
}

static pcol_status open_view(const pcol_file *file, struct location_view *view, uint64_t *rows,
                             pcol_error *err)
{
    view->samples = pci_rows(file, "samples");
    PCI_TRY(pci_stacks_open(file, &view->stacks, err));
    PCI_TRY(pci_want(file, "samples", "stack", PCI_TYPES_ROW, &view->stack, err));
    PCI_TRY(pci_zones_total(file, "location_row", &view->zones, rows, err));
    return verify_zones(view, err);
}

static pcol_status note_reads(pcol_table *t, const struct location_view *view, pcol_error *err)
{
    const struct pci_column *columns[] = {view->zones, view->stack, view->stacks.parent,
                                          view->stacks.group, view->stacks.first};
    return pci_table_reads(t, columns, sizeof columns / sizeof *columns, err);
}

pcol_status pci_v2_sample_locations(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    pcol_table *t;
    pcol_column *column;
    pcol_status status;
    struct location_view *view;
    *table = NULL;
    PCI_TRY(pci_table_new(file, "sample_locations", 0, 3, &t, err));
    t->aux = view = pci_calloc(1, sizeof *view);
    t->free_aux = pci_free;
    t->expander = &expander;
    status = view ? open_view(file, view, &t->rows, err) : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = note_reads(t, view, err);
    if (status != PCOL_OK) {
        pci_table_free(t);
        return status;
    }
    column = pci_table_add_lane(t, "sample_id", PCOL_I64, 0, 1);
    column->primary_key = 1;
    column->references = "samples";
    column = pci_table_add_lane(t, "depth", PCOL_I64, 1, 0);
    column->primary_key = 1;
    column = pci_table_add_lane(t, "location_id", PCOL_I64, 2, 1);
    column->references = "locations";
    *table = t;
    return PCOL_OK;
}
