/*
 * v1.h - what the tables of data model v1 share: maps from its dense ids to rows of the file
 */
#ifndef PCI_V1_H
#define PCI_V1_H

#include "model/table.h"
#include "model/types.h"

struct pci_v1 {
    const pcol_file *file;
    struct pci_stacks stacks;
    const struct pci_column *stack;    /* samples.stack, or NULL */
    const struct pci_column *value;    /* the value column of samples/count, or NULL */
    const struct pci_column **counted; /* samples with a value in one of these count 1 each */
    uint32_t counted_count;            /* 0: the values are those of samples/count */
    uint64_t other_samples;            /* counted_count: samples of other types */
    const struct pci_column *function; /* locations.function, or NULL */
    const struct pci_column *line;     /* locations.line, or NULL */
    int rename;                        /* names are made as the R package makes them */
    uint32_t *id_of;                   /* by row of locations: id, 0 for none */
    uint32_t *row_of;                  /* by id - 1 */
    uint64_t location_count, function_count, sample_count;
    pcol_str *names, *systems, *filenames; /* by row of functions */
    int64_t *start_lines;
    uint8_t *own_start; /* the function says itself where it starts */
    char **owned;       /* changed names */
    size_t owned_count, owned_capacity;
    uint8_t *shown;  /* by stack, bits: has a location with a function */
    uint64_t *zones; /* samples of v1 before each PCI_ZONE samples */
    size_t zone_count, zone_capacity;
};

/* v1_maps.c: everything above, and the proof that v1 can express the file. counted: of which types
 * the samples are counted; NULL: their values are those of samples/count. */
pcol_status pci_v1_open(const pcol_file *file, const struct pci_chosen *counted,
                        struct pci_v1 **maps, pcol_error *err);
/* The values of n <= PCI_BATCH samples. */
pcol_status pci_v1_values(const struct pci_v1 *maps, uint64_t row, size_t n, int64_t *values,
                          uint8_t *valid, pcol_error *err);

static inline int pci_v1_shown(const struct pci_v1 *maps, uint64_t stack)
{
    return maps->shown[stack / 8] >> (stack % 8) & 1;
}

#endif
