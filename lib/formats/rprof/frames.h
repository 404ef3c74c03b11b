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

/* A unit of an earlier line. */
struct pci_rprof_cached_unit {
    size_t text; /* in the arena */
    uint32_t size;
    uint32_t path; /* string of its file's path, if it has a reference to a known file */
    uint32_t group;
    uint32_t exact; /* exports as the same bytes */
};

/* A unit of the previous line. */
struct pci_rprof_level {
    size_t distance; /* from the unit's first byte to the end of the text */
    uint32_t exact;  /* so are all units from here to the root */
};

struct pci_rprof_new_unit {
    const uint8_t *text;
    size_t size;
    uint32_t unit; /* number in pci_rprof_frames.units */
};

struct pci_rprof_path {
    int64_t number;
    uint32_t path;
};

struct pci_rprof_frames {
    pcol_builder *builder;
    struct pci_hash hash;
    struct pci_rprof_cached_unit *units; /* by the number in `hash` */
    size_t unit_capacity;
    uint8_t *arena;
    size_t arena_size, arena_capacity;
    struct pci_rprof_level *levels; /* outermost first */
    size_t depth, level_capacity;
    size_t common_depth;  /* number of levels in common with the previous line */
    size_t previous_size; /* of the stack text of the previous line; 0: nothing to reuse */
    struct pci_rprof_new_unit *new_units; /* of this line, not reused; innermost first */
    size_t new_count, new_capacity;
    /* The segment's files. by_number: paths are unknown; the file number of a reference, as
     * decimal digits, takes the place of the path. */
    int by_number;
    struct pci_hash path_hash;
    struct pci_rprof_path *paths;
    size_t path_count, path_capacity;
};

void pci_rprof_frames_clear(struct pci_rprof_frames *frames);

/* Begin a segment: file numbers start again. */
void pci_rprof_frames_segment(struct pci_rprof_frames *frames);
pcol_status pci_rprof_frames_file(struct pci_rprof_frames *frames, int64_t number, uint32_t path,
                                  pcol_error *err);

/* The path of a file; PCOL_NONE if there is none. */
uint32_t pci_rprof_frames_path(const struct pci_rprof_frames *frames, int64_t number);

/* Find the units of [text, end) that the previous line, whose text ended at previous_end, does not
 * have at its end. Units before a fault are found, too. */
pcol_status pci_rprof_frames_scan(struct pci_rprof_frames *frames, const uint8_t *text,
                                  const uint8_t *end, const uint8_t *previous_end, unsigned flags,
                                  struct pci_rprof_fault *fault, pcol_error *err);
/* Append a last unit that lacks its blank. */
pcol_status pci_rprof_frames_append(struct pci_rprof_frames *frames, const uint8_t *unit,
                                    const uint8_t *end, pcol_error *err);
/* Add the units that were found. Afterwards `depth` levels are those of the line, the first
 * `common_depth` of them those of the previous line, and `new_units` has the others. `whole`: the
 * units reach to `end`, and the next line may reuse them. *exact: all units export as the same
 * bytes. */
pcol_status pci_rprof_frames_add(struct pci_rprof_frames *frames, const uint8_t *text,
                                 const uint8_t *end, int whole, int *exact, pcol_error *err);

#endif
