/*
 * idle_samples.h - merging of consecutive equal samples of an idle thread, and expanding them again
 *
 * A sample is merged into the one before it in its thread if the stack is the same and no CPU time
 * was used in between: values add up, and the duration extends to the last one. Its samples/count
 * tells how many samples it represents; samples without that are not merged. A merged sample
 * expands to its first sample and one for all others at its end, for viewers without durations, or
 * to all of them at equal intervals.
 */
#ifndef PCI_BUILDER_IDLE_SAMPLES_H
#define PCI_BUILDER_IDLE_SAMPLES_H

#include "util/error.h"

/* A merged sample. With a tolerance other than 0, samples are merged only if all have the value 1
 * and expanding at equal intervals reproduces every time within the tolerance. The k-th of n
 * samples is at k intervals, so that each sample bounds the interval from both sides, and two
 * numbers are enough. */
struct pci_idle_run {
    int64_t end_ns; /* of the last sample */
    uint64_t tolerance_ns, count;
    double least, most; /* intervals in ns that are valid for all samples but the last */
};
void pci_idle_begin(struct pci_idle_run *run, const pcol_sample *first, uint64_t tolerance_ns);
/* Merge `next` into `first` if possible: adds to `values`, which are those of `first`, and extends
 * its duration and the run. Returns whether it did. Gauges are never merged. */
int pci_idle_join(const pcol_builder *builder, pcol_sample *first, pcol_value *values,
                  struct pci_idle_run *run, const pcol_sample *next);
/* Store the tolerance with a source, unless it is 0: value of this key of source_meta. */
#define PCI_IDLE_KEY "collapse_tolerance_ns"
pcol_status pci_idle_store_tolerance(pcol_builder *builder, uint32_t source, uint64_t tolerance_ns,
                                     pcol_error *err);

/* Whether a sample's end fits 64 bits; then the times of its parts do, too. */
static inline int pci_sample_ends(int64_t time_ns, int64_t duration_ns)
{
    int64_t end;
    return duration_ns >= 0 && !__builtin_add_overflow(time_ns, duration_ns, &end);
}
/* E_CORRUPT for row `row` of samples if its end does not fit. */
pcol_status pci_sample_check_end(uint64_t row, int64_t time_ns, int64_t duration_ns,
                                 pcol_error *err);

/* Number of samples that one expands to: all, if `all` is set and its value is an integer,
 * otherwise two; 1 if it has no duration. */
uint64_t pci_idle_part_count(int64_t duration_ns, double value, int all);
/* Adds the parts of row `row` of samples to `expanded`. E_LIMIT: more than 2^24, and more than 64
 * for each of `rows` rows. */
pcol_status pci_idle_add_parts(uint64_t *expanded, uint64_t parts, uint64_t row, uint64_t rows,
                               pcol_error *err);
struct pci_idle_part {
    int64_t after_ns; /* relative to the sample's time, at most the duration */
    double value;
    int rest; /* represents all samples but the first */
};
struct pci_idle_part pci_idle_part(int64_t duration_ns, double value, uint64_t parts, uint64_t part,
                                   int all);

#endif
