/*
 * idle.h - samples of a thread that waited: joined into one that lasts, and taken apart again
 *
 * A sample joins the one before it in its thread if the stack is the same and no CPU time was used in
 * between: their values add up, and the first lasts up to the last. Taken apart it becomes its first
 * sample and one for the others at its end, which is what viewers without durations can show, or all
 * of them at even distances.
 */
#ifndef PCI_IDLE_H
#define PCI_IDLE_H

#include "core/error.h"

/* Whether `next` joins `first`, which lasts to *last; if so it is added: to values[], which are those
 * of `first`, to its duration, and *last moves on. Levels are never joined. */
int pci_idle_join(const pcol_builder *builder, pcol_sample *first, pcol_value *values,
                  int64_t *last_ns, const pcol_sample *next);

/* Into how many samples one is taken apart: all that it stands for, if `all` and its value is a whole
 * number, else two; 1 if it does not last. */
uint64_t pci_idle_parts(int64_t duration_ns, double value, int all);
struct pci_idle_part {
    int64_t after_ns; /* from the sample's time on */
    double value;
    int rest; /* it stands for all but the first */
};
struct pci_idle_part pci_idle_part(int64_t duration_ns, double value, uint64_t parts, uint64_t part,
                                   int all);

#endif
