/*
 * stack_text.c - node of the stack tree to the text of a line (stack_text.h)
 *
 * Invariant, checked at every step: a parent precedes its child, so a walk ends for any input. No
 * line is longer than the limit of the importer.
 */
#include "formats/rprof/stack_text.h"

#include "util/alloc.h"

#include <string.h>

#define PAGE_SHIFT 12
#define PAGE_ROWS (1u << PAGE_SHIFT)
#define CACHED_TEXT ((size_t)64 << 20) /* bytes of texts of groups that are kept */

struct pci_rprof_node {
    uint32_t parent, group;
};

struct pci_rprof_span {
    size_t start; /* in the arena */
    size_t size;  /* 0: not made yet */
};

static size_t page_count(uint64_t rows)
{
    return (size_t)(rows >> PAGE_SHIFT) + 1;
}

pcol_status pci_rprof_stack_text_open(struct pci_rprof_stack_text *stacks, const pcol_file *file,
                                      uint64_t group_count, pci_rprof_unit_fn unit, void *context,
                                      pcol_error *err)
{
    struct pci_rprof_stack_text *s = stacks;
    memset(s, 0, sizeof *s);
    s->file = file;
    s->written = pci_written_stacks_begin(file, PCI_STREAMED_FRAMES);
    s->unit = unit;
    s->context = context;
    s->group_count = group_count;
    s->node_count = pci_rows(file, "stacks");
    if (s->node_count > PCF_MAX_U32_ROWS || group_count > PCF_MAX_U32_ROWS)
        return pci_fail(err, PCOL_E_CORRUPT, "stacks or location_groups has more than 2^32 rows");
    PCI_TRY(pci_find_verified_column(file, "stacks", "parent", PCI_TYPES_ROW, &s->parent, err));
    PCI_TRY(pci_find_verified_column(file, "stacks", "group", PCI_TYPES_ROW, &s->group, err));
    if (s->node_count > 1 && (!s->parent || !s->group))
        return pci_corrupt(err, "stacks", s->parent ? "group" : "parent", PCOL_POSITION_UNKNOWN,
                           "column is missing");
    s->nodes = pci_calloc(page_count(s->node_count), sizeof(void *));
    s->units = pci_calloc(page_count(group_count), sizeof(void *));
    return s->nodes && s->units ? PCOL_OK : pci_fail_memory(err);
}

void pci_rprof_stack_text_close(struct pci_rprof_stack_text *stacks)
{
    struct pci_rprof_stack_text *s = stacks;
    for (size_t i = 0; s->nodes && i < page_count(s->node_count); i++)
        pci_free(s->nodes[i]);
    for (size_t i = 0; s->units && i < page_count(s->group_count); i++)
        pci_free(s->units[i]);
    pci_free(s->nodes);
    pci_free(s->units);
    pci_free(s->arena.data);
    pci_free(s->path);
    pci_free(s->new_nodes);
    pci_free(s->line);
    memset(s, 0, sizeof *s);
}

static pcol_status load_nodes(struct pci_rprof_stack_text *s, size_t page, pcol_error *err)
{
    int64_t parent[256], group[256];
    uint64_t first = (uint64_t)page << PAGE_SHIFT;
    uint64_t rows = s->node_count - first < PAGE_ROWS ? s->node_count - first : PAGE_ROWS;
    struct pci_rprof_node *nodes;
    PCI_TRY(PCI_MALLOC(nodes, PAGE_ROWS, err));
    for (uint64_t at = 0; at < rows; at += 256) {
        uint64_t count = rows - at < 256 ? rows - at : 256;
        pcol_status status = pci_read(s->file, s->parent, first + at, count, parent, NULL, err);
        PCI_THEN(status, pci_read(s->file, s->group, first + at, count, group, NULL, err));
        if (status != PCOL_OK) {
            pci_free(nodes);
            return status;
        }
        for (uint64_t i = 0; i < count; i++)
            nodes[at + i] = (struct pci_rprof_node){(uint32_t)parent[i], (uint32_t)group[i]};
    }
    s->nodes[page] = nodes;
    return PCOL_OK;
}

/* Read the node `row` > 0; its parent and group are checked. */
static pcol_status get_node(struct pci_rprof_stack_text *s, uint32_t row,
                            struct pci_rprof_node *node, pcol_error *err)
{
    size_t page = row >> PAGE_SHIFT;
    if (!s->nodes[page])
        PCI_TRY(load_nodes(s, page, err));
    *node = s->nodes[page][row & (PAGE_ROWS - 1)];
    if (node->parent >= row)
        return pci_corrupt(err, "stacks", "parent", row, "parent does not precede its child");
    if (node->group >= s->group_count)
        return pci_corrupt(err, "stacks", "group", row, "location group %u does not exist",
                           node->group);
    return PCOL_OK;
}

pcol_status pci_rprof_fail_long(pcol_error *err)
{
    return pci_fail(err, PCOL_E_LIMIT, "text of a call stack is longer than %zu bytes",
                    PCI_RPROF_LONGEST_TEXT);
}

/* Forgets the texts of all groups: one long name of many functions has a text for each. */
static void forget_units(struct pci_rprof_stack_text *s)
{
    for (size_t i = 0; i < page_count(s->group_count); i++)
        if (s->units[i])
            memset(s->units[i], 0, PAGE_ROWS * sizeof **s->units);
    s->arena.size = 0;
}

static pcol_status get_unit(struct pci_rprof_stack_text *s, uint32_t group, const uint8_t **text,
                            size_t *size, pcol_error *err)
{
    size_t page = group >> PAGE_SHIFT;
    if (!s->units[page]) {
        s->units[page] = pci_calloc(PAGE_ROWS, sizeof **s->units);
        if (!s->units[page])
            return pci_fail_memory(err);
    }
    struct pci_rprof_span *piece = &s->units[page][group & (PAGE_ROWS - 1)];
    if (!piece->size) {
        if (s->arena.size > CACHED_TEXT)
            forget_units(s);
        size_t start = s->arena.size;
        PCI_TRY(s->unit(s->context, group, &s->arena, err));
        piece->start = start;
        piece->size = s->arena.size - start;
    }
    *text = (const uint8_t *)s->arena.data + piece->start;
    *size = piece->size;
    return PCOL_OK;
}

/* Grow the line, which is right-aligned, for `size` bytes before the last `used` ones. */
static pcol_status grow_line(struct pci_rprof_stack_text *s, size_t used, size_t size,
                             pcol_error *err)
{
    size_t capacity = s->line_capacity < 4096 ? 4096 : s->line_capacity;
    if (size > PCI_RPROF_LONGEST_TEXT - used)
        return pci_rprof_fail_long(err);
    while (capacity < used + size)
        capacity *= 2;
    uint8_t *line;
    PCI_TRY(PCI_MALLOC(line, capacity, err));
    if (used)
        memcpy(line + capacity - used, s->line + s->line_capacity - used, used);
    pci_free(s->line);
    s->line = line;
    s->line_capacity = capacity;
    return PCOL_OK;
}

static pcol_status prepend(struct pci_rprof_stack_text *s, uint32_t row, pcol_error *err)
{
    struct pci_rprof_node node;
    const uint8_t *text = (const uint8_t *)"";
    size_t size = 0, used = s->depth ? s->path[s->depth - 1].size : 0;
    PCI_TRY(get_node(s, row, &node, err));
    PCI_TRY(get_unit(s, node.group, &text, &size, err));
    if (size > s->line_capacity - used)
        PCI_TRY(grow_line(s, used, size, err));
    if (size) /* an empty line may have no memory */
        memcpy(s->line + s->line_capacity - used - size, text, size);
    if (s->depth == s->path_capacity) {
        PCI_TRY(PCI_GROW(s->path, s->path_capacity, s->depth + 1, err));
    }
    s->path[s->depth++] = (struct pci_rprof_step){row, used + size};
    return PCOL_OK;
}

pcol_status pci_rprof_stack_text_text(struct pci_rprof_stack_text *stacks, uint64_t node,
                                      const uint8_t **text, size_t *size, pcol_error *err)
{
    struct pci_rprof_stack_text *s = stacks;
    size_t count = 0;
    if (node >= s->node_count)
        return pci_corrupt(err, "stacks", NULL, node,
                           "a sample refers to a row that does not exist");
    for (uint32_t row = (uint32_t)node;;) {
        struct pci_rprof_node at;
        while (s->depth > 0 && s->path[s->depth - 1].node > row)
            s->depth--;
        if (row == 0 || (s->depth > 0 && s->path[s->depth - 1].node == row))
            break;
        if (count == s->new_capacity) {
            if (count > PCI_RPROF_LONGEST_TEXT)
                return pci_fail(err, PCOL_E_LIMIT, "a call stack is deeper than %zu",
                                PCI_RPROF_LONGEST_TEXT);
            PCI_TRY(PCI_GROW(s->new_nodes, s->new_capacity, count + 1, err));
        }
        PCI_TRY(get_node(s, row, &at, err));
        s->new_nodes[count++] = row;
        row = at.parent;
    }
    while (count > 0)
        PCI_TRY(prepend(s, s->new_nodes[--count], err));
    PCI_TRY(pci_written_stacks_add(&s->written, s->depth, err));
    *size = s->depth ? s->path[s->depth - 1].size : 0;
    *text = *size ? s->line + s->line_capacity - *size : (const uint8_t *)"";
    return PCOL_OK;
}
