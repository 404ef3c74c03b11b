/*
 * frame_groups.h - frames of perf script to location groups
 *
 * Frames marked (inlined) precede the function that they were inlined into and become lines of its
 * location group. A group ends with that function or at another address. Details without a column
 * become labels of the group. Not thread-safe.
 */
#ifndef PCI_PERF_FRAME_GROUPS_H
#define PCI_PERF_FRAME_GROUPS_H

#include "formats/format.h"
#include "formats/perf/parse.h"
#include "util/strbuf.h"

#define PCI_PERF_GROUP_LABELS 5

/* A line of the current group. */
struct pci_perf_group_line {
    uint32_t name; /* string or PCOL_NONE */
    uint32_t file; /* string or PCOL_NONE */
    int64_t number;
};

struct pci_perf_groups {
    pcol_builder *builder;
    uint32_t *rows; /* finished groups of the sample, innermost first */
    size_t count, capacity;
    int addressed; /* a frame began with an address */
    /* The current group. */
    struct pci_perf_group_line *lines;
    size_t line_count, line_capacity;
    struct pci_strbuf inlined; /* offsets of lines marked (inlined), separated by commas */
    size_t inlined_count;
    int inlined_offset;          /* one of them has an offset */
    int is_complete;             /* the last line is not inlined */
    struct pci_perf_frame frame; /* of the last line */
    uint32_t object;             /* string or PCOL_NONE */
    int has_offsets;             /* addresses of the object are offsets in its file */
    /* Of the source. */
    uint32_t *objects; /* by 2 * string + has_offsets: mapping + 1 */
    size_t object_capacity;
    uint32_t mapping_columns[2]; /* filename, limit; PCOL_NONE until a mapping has it */
    uint32_t label_columns[PCI_PERF_GROUP_LABELS]; /* PCOL_NONE until a group has the label */
};

pcol_status pci_perf_groups_init(struct pci_perf_groups *groups, pcol_builder *builder,
                                 pcol_error *err);
void pci_perf_groups_clear(struct pci_perf_groups *groups);
/* Whether a label of a location group is one of those that frames get. */
int pci_perf_is_group_label(pcol_str key, int kind);
/* Append a frame; in_chain: of a call chain, not of the header's line. */
pcol_status pci_perf_groups_add(struct pci_perf_groups *groups, const struct pci_perf_frame *frame,
                                int in_chain, pcol_error *err);
/* Mark the last frame as inlined, which had no mark of its own. */
pcol_status pci_perf_groups_inline(struct pci_perf_groups *groups, pcol_error *err);
/* Finish the current group, if there is one. */
pcol_status pci_perf_groups_end(struct pci_perf_groups *groups, pcol_error *err);

pcol_status pci_perf_string(pcol_builder *builder, pcol_str text, uint32_t *code, pcol_error *err);
/* Entry `code` of a growing array whose new entries are 0. */
pcol_status pci_perf_string_entry(uint32_t **array, size_t *capacity, uint32_t code,
                                  uint32_t **entry, pcol_error *err);

#endif
