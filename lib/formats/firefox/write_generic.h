/*
 * write_generic.h - generic writer: converts any profile to a Firefox profile
 */
#ifndef PCI_FIREFOX_WRITE_GENERIC_H
#define PCI_FIREFOX_WRITE_GENERIC_H

#include "formats/firefox/convert_events.h"

/* Bits of `lost`. */
enum {
    PCI_FF_LOSS_TYPES = 1,
    PCI_FF_LOSS_UNIT = 2,
    PCI_FF_LOSS_TIMES = 4,
    PCI_FF_LOSS_REFERENCES = 8,
    PCI_FF_LOSS_COLUMNS = 16,
    PCI_FF_LOSS_AROUND = 32,
    PCI_FF_LOSS_BYTES = 64,
    PCI_FF_LOSS_ORDER = 128,
    PCI_FF_LOSS_PHASES = 256,
    PCI_FF_LOSS_VALUES = 512,
    PCI_FF_LOSS_DIGITS = 1024,
    PCI_FF_LOSS_EMPTY = 2048,
    PCI_FF_LOSS_DEPTHS = 4096,
    PCI_FF_LOSS_TABLES = 8192,
    PCI_FF_LOSS_INTERVALS = 16384,
    PCI_FF_LOSS_PROCESSES = 32768
};

/* Samples of one source and thread: rows[first, first + count). */
struct pci_ff_thread {
    uint32_t source, thread; /* thread: PCOL_NONE for samples without a thread */
    uint64_t first, count;
    int is_main, is_firefox;
    int is_collapsed; /* a sample with a duration represents several */
};

struct pci_ff_write_generic {
    const struct pci_export *export;
    const pcol_file *file;
    int newest;
    struct pci_ff_emitter out;
    struct pci_ff_code_tables code;
    struct pci_types types;
    struct pci_selected_type chosen;
    const struct pci_column *source, *thread, *stack, *time, *ulp, *duration, *cpu, *interval;
    struct pci_ff_thread *tracks;
    size_t track_count, track_capacity;
    uint64_t *rows; /* samples with the selected type, grouped by track */
    uint8_t *used;  /* by stack: whether a sample refers to it */
    struct pci_ff_categories categories;
    struct pci_ff_convert convert;
    uint32_t *thread_of;             /* by thread: its track + 1 */
    const struct pci_column *cycles; /* column of CPU use if the only source has it in cycles */
    int is_firefox;                  /* the only source is of this format */
    int has_own_types;  /* all sources are, and no sample type is selected: threads have theirs */
    int numbers_fit;    /* thread numbers of the only source equal track numbers */
    uint64_t all_parts; /* samples that were written */
    unsigned lost;
};

/* thread_index.c: groups samples by thread, and marks the used stacks */
pcol_status pci_ff_threads_open(struct pci_ff_write_generic *f, pcol_error *err);
pcol_status pci_ff_threads_find(struct pci_ff_write_generic *f, pcol_error *err);
/* Get a sample's value of the selected type. */
pcol_status pci_ff_thread_value(struct pci_ff_write_generic *f, uint64_t row, double *value,
                                int *valid, pcol_error *err);
/* Whether an integer is a double, and so is returned when `scaled`, the number that is written for
 * it, is multiplied by `factor`. */
int pci_ff_returns(int64_t integer, double scaled, double factor);
/* Get the unit of a track's values. */
pcol_status pci_ff_thread_unit(struct pci_ff_write_generic *f, const struct pci_ff_thread *track,
                               pcol_str *unit, pcol_error *err);

/* report_losses.c: reports what the written profile lacks */
pcol_status pci_ff_report_losses(struct pci_ff_write_generic *f, pcol_error *err);

#endif
