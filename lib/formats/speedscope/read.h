/*
 * read.h - state of the reader of speedscope's JSON, and its parts
 */
#ifndef PCI_SPEEDSCOPE_READ_H
#define PCI_SPEEDSCOPE_READ_H

#include "formats/speedscope/speedscope.h"

#include "builder/builder.h"
#include "formats/records.h"
#include "formats/speedscope/units.h"

enum { PCI_SS_TYPE_UNKNOWN, PCI_SS_TYPE_SAMPLED, PCI_SS_TYPE_EVENTED };

struct pci_ss_profile {
    uint64_t first, count; /* of the reader's samples */
    uint64_t first_start;  /* of the reader's starts */
    uint32_t name;         /* string or PCOL_NONE */
    int unit;              /* index of pci_speedscope_units */
    int evented;
    int64_t start;
    int start_is_double;
    uint64_t line, column; /* of its first token */
};

/* An open frame of an evented profile. */
struct pci_ss_open_frame {
    uint32_t frame, node;
};

struct pci_ss_reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_document document;
    struct pci_records records;     /* of shared.frames */
    struct pci_call_tree tree;      /* groups are numbers of frames */
    struct pci_spill stacks;        /* by sample: node of the tree, u32 */
    struct pci_number_array values; /* by sample */
    struct pci_number_array starts; /* by sample of the evented profiles */
    struct pci_ss_profile *profiles;
    size_t profile_count, profile_capacity;
    int64_t active;   /* profile that a viewer shows first */
    uint32_t *groups; /* by frame */
    size_t frame_count, group_capacity;
    int has_frames;
    uint32_t last_frame; /* the greatest that a stack names, and its place */
    int has_last;
    uint64_t last_line, last_column;
    struct pci_ss_open_frame *path; /* of the previous sample, or open frames */
    size_t depth, path_capacity;
    uint32_t *list; /* frames of the sample */
    size_t list_capacity;
    uint32_t column; /* functions.column */
};

/* The profile that is being read. */
struct pci_ss_current {
    struct pci_ss_profile profile;
    uint64_t node; /* of the document */
    unsigned seen; /* bits of enum pci_ss_member */
    int type;
    struct pci_number_array at;     /* evented */
    struct pci_number_array frames; /* evented: 2 * frame + (1 if closed) */
    uint64_t others;                /* node of other members of events, or PCI_NO_NODE */
    uint64_t events;                /* node of the compact form of events */
    int64_t earliest, latest;       /* `at` of the first and the last event */
    int earliest_is_double, latest_is_double;
};

enum pci_ss_member {
    PCI_SS_TYPE,
    PCI_SS_NAME,
    PCI_SS_UNIT,
    PCI_SS_START,
    PCI_SS_SAMPLES,
    PCI_SS_WEIGHTS,
    PCI_SS_EVENTS,
    PCI_SS_OTHER
};

/* ---- read_values.c: the arrays of a profile, from the token after the key */

pcol_status pci_ss_read_samples(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err);
pcol_status pci_ss_read_weights(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err);
pcol_status pci_ss_read_events(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err);
/* After all members of the profile. */
pcol_status pci_ss_end_sampled(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err);
pcol_status pci_ss_end_evented(struct pci_ss_current *c, pcol_error *err);
/* Samples of the profiles so far. */
uint64_t pci_ss_sample_count(const struct pci_ss_reader *r);

/* ---- build_rows.c */

/* Adds the rows of the builder after the document has been read. */
pcol_status pci_ss_build(struct pci_ss_reader *r, pcol_error *err);

#endif
