/*
 * write_generic.h - any profile on its way to one of the Firefox Profiler
 */
#ifndef PCI_FIREFOX_WRITE_GENERIC_H
#define PCI_FIREFOX_WRITE_GENERIC_H

#include "formats/firefox/convert_events.h"

/* Samples of one source and thread: rows[first, first + count). */
struct pci_ff_thread {
    uint32_t source, thread; /* thread: PCOL_NONE where there is none */
    uint64_t first, count;
    int is_main, is_firefox;
};

struct pci_ff_write_generic {
    const struct pci_export *export;
    const pcol_file *file;
    int newest;
    struct pci_ff_emitter out;
    struct pci_ff_code_tables code;
    struct pci_types types;
    struct pci_chosen chosen;
    const struct pci_column *source, *thread, *stack, *time, *ulp, *duration, *cpu, *interval;
    struct pci_ff_thread *tracks;
    size_t track_count, track_capacity;
    uint64_t *rows; /* of samples that have the type asked for, by track */
    uint8_t *used;  /* by stack */
    struct pci_ff_categories categories;
    struct pci_ff_convert carry;
    uint32_t *thread_of;             /* by thread: its track + 1 */
    const struct pci_column *cycles; /* CPU use of the only source, if it is in cycles */
    int is_firefox;                  /* the only source is of this format */
    int numbers_fit;                 /* and its numbers of threads are those of tracks */
    unsigned lost;
};

/* thread_index.c: which samples, and whose; and the stacks that are used */
pcol_status pci_ff_threads_open(struct pci_ff_write_generic *f, pcol_error *err);
pcol_status pci_ff_threads_find(struct pci_ff_write_generic *f, pcol_error *err);
/* A sample's value of the type asked for. */
pcol_status pci_ff_thread_value(struct pci_ff_write_generic *f, const struct pci_ff_thread *track,
                                uint64_t row, double *value, int *valid, pcol_error *err);
/* The unit of a track's values. */
pcol_status pci_ff_thread_unit(struct pci_ff_write_generic *f, const struct pci_ff_thread *track,
                               pcol_str *unit, pcol_error *err);

#endif
