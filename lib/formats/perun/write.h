/*
 * write.h - shared by the writers of Perun profiles
 */
#ifndef PCI_PERUN_WRITE_H
#define PCI_PERUN_WRITE_H

#include "formats/format.h"
#include "model/keyed_json.h"

struct pci_perun_writer {
    const struct pci_export *export;
    const pcol_file *file;
    uint32_t source;
    struct pci_json_writer json;
    struct pci_values values;
    struct pci_keyed_reader samples, types, snapshots, models;
    const struct pci_column *sample_source, *sample_type, *sample_snapshot;
    const struct pci_column *type_source, *type_name, *type_number, *type_map, *type_resources;
    const struct pci_column *snapshot_source, *snapshot_region;
    const struct pci_column *model_source, *model_snapshot;
    const struct pci_column *array_type, *array_key, *array_length, *array_rest;
    uint64_t sample_rows, type_rows, snapshot_rows, model_rows, array_rows;
    uint64_t sample, snapshot, model, array; /* next rows to write */
    int at_snapshots;                        /* inside a snapshot */
    struct pci_member *cells;                /* of the rows of a type */
    size_t cell_capacity;
};

/* write_types.c */
pcol_status pci_perun_write_map(struct pci_perun_writer *w, pcol_error *err);
pcol_status pci_perun_write_types(struct pci_perun_writer *w, pcol_error *err);

/* write_generic.c: converts profiles of any source to Perun's current form */
pcol_status pci_perun_write_generic(const struct pci_export *export, pcol_error *err);

#endif
