/*
 * schema.c - physical tables of Perun
 */
#include "formats/perun/perun.h"

const struct pci_schema_row pci_perun_tables[] = {
    {.table = "resource_types",
     .table_flags = PCI_TABLE_NAMES_FRAMES | PCI_TABLE_OF_SAMPLES,
     .kind = PCI_KIND_RESOURCE_TYPES,
     .omitted = "types of resources"},
    {"source", PCI_TYPE(PCF_U32), PCI_OWNER, .kind = PCI_KIND_RESOURCE_TYPES,
     .references = "sources"},
    {.table = "resource_arrays", .kind = PCI_KIND_RESOURCE_TYPES},
    {"resource_type", PCI_TYPE(PCF_U32), .kind = PCI_KIND_RESOURCE_TYPES,
     .references = "resource_types"},
    {"rest", PCI_TYPE(PCF_U64), .kind = PCI_KIND_RESOURCE_TYPES, .references = "nodes"},
    {.table = "snapshots", .kind = PCI_KIND_SNAPSHOTS},
    {"source", PCI_TYPE(PCF_U32), PCI_OWNER, .kind = PCI_KIND_SNAPSHOTS, .references = "sources"},
    {.table = "models", .kind = PCI_KIND_MODELS},
    {"source", PCI_TYPE(PCF_U32), .kind = PCI_KIND_MODELS, .references = "sources"},
    {"snapshot", PCI_TYPE(PCF_U32), .kind = PCI_KIND_MODELS, .references = "snapshots"},
    {.table = NULL},
};
