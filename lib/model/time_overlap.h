/*
 * time_overlap.h - share of a sample in a range of time
 */
#ifndef PCI_MODEL_TIME_OVERLAP_H
#define PCI_MODEL_TIME_OVERLAP_H

#include "pcol.h"

struct pci_range {
    int64_t from, to; /* ns, half-open range */
    pcol_time_share share;
};

/* Reduces *amount to the share of a sample at `time` with `duration` ns that is in the range. 0 if
 * the sample is outside of the range. */
int pci_time_overlap(const struct pci_range *range, int is_double, int64_t time, int64_t duration,
                     pcol_amount *amount);

/* Zone map test: 0 if the encoding of block `block` (1024 rows) of a column proves that no value is
 * in [from, to). */
struct pcf_data;
int pci_block_meets(const struct pcf_data *column, uint64_t block, int64_t from, int64_t to);

#endif
