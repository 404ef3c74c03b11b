/*
 * v1.h - maps from the dense ids of data model v1 to rows of the file
 */
#ifndef PCI_V1_H
#define PCI_V1_H

#include "model/table.h"
#include "model/types.h"

/* Samples that count 1 each, whatever their values, unless the type is samples/count. */
struct pci_v1_counted {
    const struct pci_selected_type *type; /* samples of other types are left out */
    const uint8_t *sources; /* by source: 1 if its samples are counted; NULL: those of all are */
    int only;               /* samples of the other sources are left out */
};

/* The name of a function, and the one of the R package. */
struct pci_v1_name {
    pcol_str own, changed;
    char *copy; /* of the changed one; NULL if it is not allocated */
};

struct pci_v1 {
    const pcol_file *file;
    struct pci_stacks stacks;
    const struct pci_column *stack;    /* samples.stack, or NULL */
    const struct pci_column *value;    /* the value column of samples/count, or NULL */
    int has_count_type;                /* the file has samples/count, if without a value */
    const struct pci_column **counted; /* samples with a value in one of these count 1 each */
    uint32_t counted_count;            /* 0: the values are those of samples/count */
    const uint8_t *counted_sources;    /* borrowed; NULL: all */
    int is_only_counted;               /* samples of other sources are left out */
    int has_counts;                    /* values in `counted` are counts */
    const struct pci_column *source;   /* samples.source, or NULL */
    uint64_t other_samples;            /* counted_count: samples that are left out */
    const struct pci_column *function; /* locations.function, or NULL */
    const struct pci_column *line;     /* locations.line, or NULL */
    int rename;                        /* functions are renamed like the R package does */
    uint32_t *location_ids;            /* by row of locations: id, 0 if none */
    uint32_t *location_rows;           /* by id - 1: row of locations */
    uint64_t location_count, function_count, sample_count;
    pcol_str *names, *systems, *filenames; /* by row of functions */
    int64_t *start_lines;
    uint8_t *has_start_line;     /* by row of functions: what start_lines is */
    struct pci_v1_name *renamed; /* each distinct name, if they are renamed */
    size_t renamed_count, renamed_capacity;
    struct pci_stack_node *nodes; /* by stack: lists repeat them for each sample */
    uint8_t *included_stacks;     /* bit set by stack: has a location with a function */
    uint64_t *zones;              /* samples of v1 before each PCI_ZONE samples */
    size_t zone_count, zone_capacity;
};

/* v1_maps.c: builds all maps and verifies that v1 can represent the file. counted: NULL: the values
 * are those of samples/count in all sources; its `sources` must live as long as the maps. */
pcol_status pci_v1_open(const pcol_file *file, const struct pci_v1_counted *counted,
                        struct pci_v1 **maps, pcol_error *err);
/* The values of n <= PCI_BATCH samples. With counted samples, valid is 0 for those that are left
 * out, and a missing value of samples/count is 0. */
pcol_status pci_v1_values(const struct pci_v1 *maps, uint64_t row, size_t n, int64_t *values,
                          uint8_t *valid, pcol_error *err);

static inline int pci_v1_includes_stack(const struct pci_v1 *maps, uint64_t stack)
{
    return maps->included_stacks[stack / 8] >> (stack % 8) & 1;
}

#endif
