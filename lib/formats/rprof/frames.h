/*
 * frames.h - stack text of a line to a node of the stack tree
 *
 * Consecutive samples share outer frames, and the end of a line has the same meaning in both
 * (lexer.h). The text is compared backwards with the previous line; tokens are read from the left
 * up to a boundary of the previous line, whose node is reused. New units are found by their text in
 * a hash table.
 *
 *     previous line  "a" "b" 1#7 "f" "g"
 *     this line      "c" "d" 1#7 "f" "g"
 *                    new     ^ same text, same boundary: same node
 */
#ifndef PCI_RPROF_FRAMES_H
#define PCI_RPROF_FRAMES_H

#include "formats/rprof/lexer.h"
#include "util/hash.h"

/* A unit met before. */
struct pci_rprof_known {
    size_t text; /* in the arena */
    uint32_t size;
    uint32_t path; /* string of its file's path, if it has a reference to a known file */
    uint32_t group;
    uint32_t exact; /* exports as the same bytes */
};

/* A unit of the line before. */
struct pci_rprof_gauge {
    size_t distance; /* from the unit's first byte to the end of the text */
    uint32_t exact;  /* so are all units from here to the root */
};

struct pci_rprof_piece {
    const uint8_t *text;
    size_t size;
    uint32_t unit; /* its number in `known` */
};

struct pci_rprof_path {
    int64_t number;
    uint32_t path;
};

struct pci_rprof_frames {
    pcol_builder *builder;
    struct pci_hash hash;
    struct pci_rprof_known *known;
    size_t known_capacity;
    uint8_t *arena;
    size_t arena_size, arena_capacity;
    struct pci_rprof_gauge *levels; /* outermost first */
    size_t depth, level_capacity;
    size_t common_depth;           /* number of levels in common with the previous line */
    size_t before;                 /* size of the text of the line before; 0: nothing to reuse */
    struct pci_rprof_piece *fresh; /* units of this line that are not reused, innermost first */
    size_t fresh_count, fresh_capacity;
    /* The segment's files; by_number: they are not known here, and the number of a reference
     * stands, as a string of digits, where its file's path would. */
    int by_number;
    struct pci_hash path_hash;
    struct pci_rprof_path *paths;
    size_t path_count, path_capacity;
};

void pci_rprof_frames_clear(struct pci_rprof_frames *frames);

/* A new segment: file numbers start again. */
void pci_rprof_frames_segment(struct pci_rprof_frames *frames);
pcol_status pci_rprof_frames_file(struct pci_rprof_frames *frames, int64_t number, uint32_t path,
                                  pcol_error *err);

/* The path of a file; PCOL_NONE if there is none. */
uint32_t pci_rprof_frames_path(const struct pci_rprof_frames *frames, int64_t number);

/* Find the units of [text, end) that are new against the line before, whose text ended at
 * before_end. What precedes a fault is found as well. */
pcol_status pci_rprof_frames_scan(struct pci_rprof_frames *frames, const uint8_t *text,
                                  const uint8_t *end, const uint8_t *before_end, unsigned flags,
                                  struct pci_rprof_fault *fault, pcol_error *err);
/* A last unit that lacks its blank is taken as it is. */
pcol_status pci_rprof_frames_take(struct pci_rprof_frames *frames, const uint8_t *unit,
                                  const uint8_t *end, pcol_error *err);
/* Add them: afterwards `depth` levels are the line's, the first `common_depth` of them as in
 * the line before, and `fresh` names the units of the others. `whole`: the units reach to `end`,
 * and the next line may reuse them. *exact 0 if one of them does not export as the same bytes. */
pcol_status pci_rprof_frames_add(struct pci_rprof_frames *frames, const uint8_t *text,
                                 const uint8_t *end, int whole, int *exact, pcol_error *err);

#endif
