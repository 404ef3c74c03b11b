/*
 * foreign.h - any profile on its way to one of the Firefox Profiler
 */
#ifndef PCI_FF_FOREIGN_H
#define PCI_FF_FOREIGN_H

#include "firefox/carry.h"

/* Samples of one source and thread: rows[first, first + count). */
struct pci_ff_track {
    uint32_t source, thread; /* thread: PCOL_NONE where there is none */
    uint64_t first, count;
    int is_main, is_firefox;
};

struct pci_ff_foreign {
    const struct pci_export *export;
    const pcol_file *file;
    int newest;
    struct pci_ff_out out;
    struct pci_ff_code code;
    struct pci_types types;
    struct pci_chosen chosen;
    const struct pci_column *source, *thread, *stack, *time, *ulp, *duration, *cpu, *interval;
    struct pci_ff_track *tracks;
    size_t track_count, track_capacity;
    uint64_t *rows; /* of samples that have the type asked for, by track */
    uint8_t *used;  /* by stack */
    struct pci_ff_categories categories;
    struct pci_ff_carry carry;
    uint32_t *thread_of;             /* by thread: its track + 1 */
    const struct pci_column *cycles; /* CPU use of the only source, if it is in cycles */
    int is_firefox;                  /* the only source is of this format */
    int numbers_fit;                 /* and its numbers of threads are those of tracks */
    unsigned lost;
};

/* tracks.c: which samples, and whose; and the stacks that are used */
pcol_status pci_ff_tracks_open(struct pci_ff_foreign *f, pcol_error *err);
pcol_status pci_ff_tracks_find(struct pci_ff_foreign *f, pcol_error *err);
/* A sample's value of the type asked for. */
pcol_status pci_ff_track_value(struct pci_ff_foreign *f, const struct pci_ff_track *track,
                               uint64_t row, double *value, int *valid, pcol_error *err);
/* The unit of a track's values. */
pcol_status pci_ff_track_unit(struct pci_ff_foreign *f, const struct pci_ff_track *track,
                              pcol_str *unit, pcol_error *err);

#endif
