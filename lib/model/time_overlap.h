/*
 * time_overlap.h - how much of a sample lies in a range of time
 */
#ifndef PCI_MODEL_TIME_OVERLAP_H
#define PCI_MODEL_TIME_OVERLAP_H

#include "pcol.h"

struct pci_range {
    int64_t from, to; /* ns, half open */
    pcol_time_share share;
};

/* The part of `amount` that a sample at `time` of `duration` ns has in the range; *amount becomes
 * that part. 0 if it has none of it: the sample is not in the range at all. */
int pci_time_overlap(const struct pci_range *range, int is_double, int64_t time, int64_t duration,
                     pcol_amount *amount);

/* Can rows of a column hold a value in [from, to)? Asked of block `block` of 1024 rows, from what
 * its encoding says about all of its values: 0 means that there is none. */
struct pcf_data;
int pci_block_meets(const struct pcf_data *column, uint64_t block, int64_t from, int64_t to);

#endif
