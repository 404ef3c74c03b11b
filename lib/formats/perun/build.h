/*
 * build.h - tables that Perun profiles fill, and conversion of resources to samples
 */
#ifndef PCI_PERUN_BUILD_H
#define PCI_PERUN_BUILD_H

#include "formats/perun/perun.h"

struct pci_perun_ns {
    int64_t ns;
    int known;
};

#define PCI_PERUN_SAMPLE_TYPES 64u /* of a source: each is a column */

/* Type and subtype of a resource: strings; PCOL_NONE: absent, or not a string. Amounts of equal
 * ones are of one sample type. */
struct pci_perun_class {
    uint32_t type, subtype;
};

/* Tables, their columns, and their row counts before this source. */
struct pci_perun_out {
    uint32_t types, snapshots, models, arrays; /* tables */
    uint32_t type_source, type_name, type_number, type_map, type_resources;
    uint32_t snapshot_source, snapshot_region;
    uint32_t model_source, model_snapshot;
    uint32_t array_type, array_key, array_length, array_rest;
    uint32_t sample_type, sample_snapshot;
    uint64_t first_type, first_snapshot, first_model, array_row;
    struct pci_perun_ns *times; /* of snapshots */
    struct pci_pair_set classes;
    struct pci_perun_class last_class;
    uint32_t *class_types, last_type; /* sample types of the classes, and of the last one */
    size_t class_capacity;
    struct {
        uint32_t name, unit, type; /* strings, sample type */
    } sample_types[PCI_PERUN_SAMPLE_TYPES];
    size_t sample_type_count;
    uint32_t default_type;   /* string; PCOL_NONE: none yet */
    uint32_t uid, uid_group; /* string and group of the last uid */
};

enum { PCI_PERUN_IS_NOT, PCI_PERUN_AS_IT_IS, PCI_PERUN_AS_INTEGER };

struct pci_perun_sample {
    struct pci_perun_cell roles[PCI_PERUN_ROLES];
    uint8_t has[PCI_PERUN_ROLES];
    struct pci_perun_ns time; /* in: used if the resource has no time */
    int common_known;         /* stack, time and sample type are those of the previous row */
    uint32_t stack, sample_type;
    int value_is_amount; /* out: whether the value represents `amount` exactly */
    int stack_is_trace;  /* out: the stack represents `trace` exactly */
    int name_is_subtype; /* out: the innermost function has the name `subtype` */
    uint32_t uid_depth;  /* out: depth of `uid` in the stack; PCOL_NONE: not in it */
};

pcol_status pci_perun_out_open(struct pci_perun *p, struct pci_perun_out *out, pcol_error *err);
pcol_status pci_perun_out_finish(struct pci_perun *p, struct pci_perun_out *out, pcol_error *err);
void pci_perun_out_close(struct pci_perun_out *out);

/* Parse seconds, text or number. */
struct pci_perun_ns pci_perun_parse_time(struct pci_perun *p, const struct pci_perun_cell *cell);
/* Append a row of samples. */
pcol_status pci_perun_add_sample(struct pci_perun *p, struct pci_perun_out *out,
                                 struct pci_perun_sample *sample, uint64_t *row, pcol_error *err);
/* type_name_elision.c: the number of a type's name that is its flattened uid, '#' and a number;
 * PCOL_NONE: another name. */
pcol_status pci_perun_name_number(const struct pci_perun *p, const struct pci_perun_record *record,
                                  pcol_str name, uint32_t *number, pcol_error *err);

#endif
