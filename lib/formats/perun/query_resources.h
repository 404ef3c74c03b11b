/*
 * query_resources.h - iterator over resources, models and snapshots of Perun profiles, as Perun's
 * queries see them
 *
 * A resource by type has the keys of its arrays, followed by those of its type; one of a snapshot
 * has its own, followed by the snapshot's number and time. As in Python, a duplicate key has its
 * last value at its first position.
 */
#ifndef PCI_PERUN_QUERY_RESOURCES_H
#define PCI_PERUN_QUERY_RESOURCES_H

#include "model/keyed_rows.h"

/* A member that is a number in all resources of a run. */
struct pci_run_part {
    uint32_t slot;         /* index of the member */
    uint8_t kind;          /* of its values: INTEGER, DOUBLE or BOOL */
    const int64_t *values; /* of each resource; doubles as bits */
};

struct pci_resources {
    const pcol_file *file;
    struct pci_values values;
    struct pci_keyed_reader samples, types, snapshots, models;
    const struct pci_column *sample_source, *sample_type, *sample_snapshot, *model_source;
    const struct pci_column *snapshot_source, *snapshot_region;
    uint64_t sample_rows, model_rows, snapshot_rows;
    uint8_t *is_perun; /* by source */
    uint64_t source_count;
    int64_t *numbers;         /* by row of snapshots: number within its source; -1: global */
    uint64_t snapshot_number; /* greatest number of elements of `snapshots` in any source */
    /* current object */
    struct pci_member *members;
    size_t count;
    uint64_t plan;   /* changes when the keys of the members change */
    uint64_t number; /* of resources or models before it */
    int same;        /* after pci_resources_only(): equal to the previous object */
    /* Only the values of the members in own_slots differ from the previous object's; PCOL_NONE
     * entries are unused. 0: a model, or a resource of another type or snapshot, any member may
     * differ. */
    int own_only;
    const uint32_t *own_slots;
    size_t own_count;
    struct pci_run_part *run_parts; /* set by pci_resources_run() */
    size_t run_part_count, run_part_capacity;
    struct pci_resources_state *state;
};

/* Open the iterator. E_FORMAT if the file contains no Perun profile. Must be closed with
 * pci_resources_close(), even after a failure. */
pcol_status pci_resources_open(struct pci_resources *r, const pcol_file *file, pcol_error *err);
void pci_resources_close(struct pci_resources *r);

/* Until the next rewind, only this key is needed: if rows have it only from their type or snapshot,
 * their own cells are not read. */
void pci_resources_only(struct pci_resources *r, pcol_str key);
/* Until the next rewind, only values of these keys are read; those of other keys, except the
 * snapshot's, are undefined. */
void pci_resources_want(struct pci_resources *r, const pcol_str *keys, size_t count);
/* Until the next rewind, only keys are needed: `same` means that a resource has the keys, frames,
 * stacks and trees of the previous one. */
void pci_resources_keys(struct pci_resources *r);
/* Start again at the first resource and model. */
void pci_resources_rewind(struct pci_resources *r);
pcol_status pci_resources_next(struct pci_resources *r, int *more, pcol_error *err);
/* Length of the run that begins with the current resource: at least 1 resources that differ only in
 * the numbers of run_parts. These are valid until the next resource is read. Unwanted members are
 * undefined. */
pcol_status pci_resources_run(struct pci_resources *r, size_t *count, pcol_error *err);
/* Whether a member varies within the run. */
int pci_run_has(const struct pci_resources *r, const char *key);
/* Skip `count` resources, the current one included. */
void pci_resources_skip(struct pci_resources *r, size_t count);
pcol_status pci_models_next(struct pci_resources *r, int *more, pcol_error *err);
/* Whether resources are in the order of their snapshots, as far as that is known without reading
 * their cells. */
pcol_status pci_resources_sorted(struct pci_resources *r, int *sorted, pcol_error *err);
/* Move to model `number`, which must exist. */
pcol_status pci_models_seek(struct pci_resources *r, uint64_t number, pcol_error *err);
/* Find member `key` of the current object; NULL if absent. */
const struct pci_value *pci_resources_find(const struct pci_resources *r, const char *key);

#endif
