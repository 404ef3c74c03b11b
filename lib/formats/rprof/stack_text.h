/*
 * stack_text.h - node of the stack tree to the text of a line
 *
 * The text of a stack is that of its innermost frame followed by that of its parent. It is
 * right-aligned in a buffer, with the path of its nodes: the next stack walks up to the first node
 * in common and prepends the rest. Nodes and texts of groups are cached on first use, in pages;
 * texts only up to a limit.
 */
#ifndef PCI_RPROF_STACK_TEXT_H
#define PCI_RPROF_STACK_TEXT_H

#include "formats/rprof/write_common.h"
#include "util/strbuf.h"

#define PCI_RPROF_LONGEST_TEXT ((size_t)64 << 20)

/* Append the text of a location group; at least one byte, and at most the longest text. */
typedef pcol_status (*pci_rprof_unit_fn)(void *context, uint64_t group, struct pci_strbuf *to,
                                         pcol_error *err);

struct pci_rprof_step {
    uint32_t node;
    size_t size; /* of the text from this node to the root */
};

struct pci_rprof_stack_text {
    const pcol_file *file;
    const struct pci_column *parent, *group;
    uint64_t node_count, group_count;
    pci_rprof_unit_fn unit;
    void *context;
    struct pci_rprof_node **nodes; /* pages */
    struct pci_rprof_span **units; /* pages */
    struct pci_strbuf arena;
    struct pci_rprof_step *path; /* of the last stack, outermost first */
    size_t depth, path_capacity;
    struct pci_written_stacks written;
    uint32_t *new_nodes; /* nodes that are not on the last path */
    size_t new_capacity;
    uint8_t *line; /* right-aligned text */
    size_t line_capacity;
};

pcol_status pci_rprof_stack_text_open(struct pci_rprof_stack_text *stacks, const pcol_file *file,
                                      uint64_t group_count, pci_rprof_unit_fn unit, void *context,
                                      pcol_error *err);
void pci_rprof_stack_text_close(struct pci_rprof_stack_text *stacks);

/* Fails because a text is longer than the longest. */
pcol_status pci_rprof_fail_long(pcol_error *err);
/* The text of a stack, valid until the next call. */
pcol_status pci_rprof_stack_text_text(struct pci_rprof_stack_text *stacks, uint64_t node,
                                      const uint8_t **text, size_t *size, pcol_error *err);

#endif
