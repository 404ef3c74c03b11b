/*
 * query_resources.h - the resources, models and snapshots of Perun profiles as Perun's queries see
 * them
 *
 * A resource by type has the keys of its arrays and then those of its type; one of a snapshot has
 * its own, and then the snapshot's number and time. A key that comes twice has its last value in
 * its first place, as in Python.
 */
#ifndef PCI_PERUN_QUERY_RESOURCES_H
#define PCI_PERUN_QUERY_RESOURCES_H

#include "model/keyed_rows.h"

/* A member that is a number in all resources of a run. */
struct pci_run_part {
    uint32_t slot;         /* the member */
    uint8_t kind;          /* of its values: INTEGER, DOUBLE or BOOL */
    const int64_t *values; /* of each resource; of doubles the bits */
};

struct pci_resources {
    const pcol_file *file;
    struct pci_values values;
    struct pci_keyed samples, types, snapshots, models;
    const struct pci_column *sample_source, *sample_type, *sample_snapshot, *model_source;
    const struct pci_column *snapshot_source, *snapshot_region;
    uint64_t sample_rows, model_rows, snapshot_rows;
    uint8_t *is_perun; /* by source */
    uint64_t source_count;
    int64_t *numbers;         /* of rows of snapshots, within their source; -1: global */
    uint64_t snapshot_number; /* members of `snapshots`, of all sources the most */
    /* the object at hand */
    struct pci_member *members;
    size_t count;
    uint64_t plan;   /* changes when the keys of the members do */
    uint64_t number; /* of resources or models before it */
    int same;        /* after pci_resources_only(): nothing changed since the object before */
    /* Since the object before only the values of the members in own_slots changed; PCOL_NONE in it
     * is none. Of a model or of a resource of another type or snapshot all may have. */
    int own_only;
    const uint32_t *own_slots;
    size_t own_count;
    struct pci_run_part *run_parts; /* of pci_resources_run() */
    size_t run_part_count, run_part_capacity;
    struct pci_resources_state *state;
};

/* E_NOT_FOUND if the file holds no Perun profile. Closed by pci_resources_close(), also after a
 * failure. */
pcol_status pci_resources_open(struct pci_resources *r, const pcol_file *file, pcol_error *err);
void pci_resources_close(struct pci_resources *r);

/* From now on, until the next rewind, only this key is asked for: if rows have it from their type
 * or snapshot alone, their own cells are not read. */
void pci_resources_only(struct pci_resources *r, pcol_str key);
/* From now on, until the next rewind, values are read only of these keys; those of others, but for
 * the snapshot's, are anything. */
void pci_resources_want(struct pci_resources *r, const pcol_str *keys, size_t count);
/* From now on, until the next rewind, only keys are asked for, not values: `same` says for a
 * resource that it has those of the one before, and the same frames, stacks and trees. */
void pci_resources_keys(struct pci_resources *r);
/* Begin with the first resource (or model) again. */
void pci_resources_rewind(struct pci_resources *r);
pcol_status pci_resources_next(struct pci_resources *r, int *more, pcol_error *err);
/* How many resources from the one at hand on, at least 1, differ from it in nothing but the numbers
 * of run_parts, which stay until the next one is asked for; members that are not wanted are
 * anything. */
pcol_status pci_resources_run(struct pci_resources *r, size_t *count, pcol_error *err);
/* Whether a member is among the run's parts. */
int pci_run_has(const struct pci_resources *r, const char *key);
/* Go on behind `count` of these. */
void pci_resources_skip(struct pci_resources *r, size_t count);
pcol_status pci_models_next(struct pci_resources *r, int *more, pcol_error *err);
/* Whether resources come in the order of their snapshots, as far as that shows without making
 * them. */
pcol_status pci_resources_sorted(struct pci_resources *r, int *sorted, pcol_error *err);
/* Model number `number`, which must be there. */
pcol_status pci_models_seek(struct pci_resources *r, uint64_t number, pcol_error *err);
/* Member `key` of the object at hand, or NULL. */
const struct pci_value *pci_resources_find(const struct pci_resources *r, const char *key);

#endif
