/*
 * idle_samples.h - samples of a thread that waited: joined into one that lasts, and taken apart
 * again
 *
 * A sample joins the one before it in its thread if the stack is the same and no CPU time was used
 * in between: their values add up, and the first lasts up to the last. Taken apart it becomes its
 * first sample and one for the others at its end, which is what viewers without durations can show,
 * or all of them at even distances.
 */
#ifndef PCI_BUILDER_IDLE_SAMPLES_H
#define PCI_BUILDER_IDLE_SAMPLES_H

#include "util/error.h"

/*
 * A sample that others join. With a tolerance (not 0) they join only as long as the times of all of
 * them, samples of the value 1, are within it what taking apart at even distances gives. The k-th
 * of n lies at k times the mean distance, so each of them bounds the distance from both sides, and
 * two numbers are all that has to be kept.
 */
struct pci_idle_run {
    int64_t end_ns; /* of the one that joined last */
    uint64_t tolerance_ns, count;
    double least, most; /* distances that suit all but the last, in ns */
};
void pci_idle_begin(struct pci_idle_run *run, const pcol_sample *first, uint64_t tolerance_ns);
/* Whether `next` joins `first`; if so it is added: to values[], which are those of `first`, to its
 * duration, and the run goes on. Levels are never joined. */
int pci_idle_join(const pcol_builder *builder, pcol_sample *first, pcol_value *values,
                  struct pci_idle_run *run, const pcol_sample *next);
/* Note the tolerance with a source, if there is one: by this key of source_meta. */
#define PCI_IDLE_KEY "collapse_tolerance_ns"
pcol_status pci_idle_note(pcol_builder *builder, uint32_t source, uint64_t tolerance_ns,
                          pcol_error *err);

/* Whether a sample's end is a time: parts of such a sample are, too. */
static inline int pci_sample_ends(int64_t time_ns, int64_t duration_ns)
{
    int64_t end;
    return duration_ns >= 0 && !__builtin_add_overflow(time_ns, duration_ns, &end);
}
/* E_CORRUPT for row `row` of samples if that is not so. */
pcol_status pci_sample_check_end(uint64_t row, int64_t time_ns, int64_t duration_ns,
                                 pcol_error *err);

/* Into how many samples one is taken apart: all that it stands for, if `all` and its value is a
 * whole number, else two; 1 if it does not last. */
uint64_t pci_idle_parts(int64_t duration_ns, double value, int all);
struct pci_idle_part {
    int64_t after_ns; /* from the sample's time on, at most the duration */
    double value;
    int rest; /* it stands for all but the first */
};
struct pci_idle_part pci_idle_part(int64_t duration_ns, double value, uint64_t parts, uint64_t part,
                                   int all);

#endif
