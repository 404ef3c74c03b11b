/*
 * schema.c - physical table of DHAT
 */
#include "formats/dhat/dhat.h"

const struct pci_schema_row pci_dhat_tables[] = {
    {.table = "dhat_frames", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_OF_SAMPLES},
    {"source", PCI_TYPES_ROW, PCI_OWNER, .references = "sources"},
    {"number", PCI_TYPES_ROW, PCI_REQUIRED, .references = NULL},
    {"location_group", PCI_TYPES_ROW, PCI_REQUIRED | PCI_OWNER, .references = "location_groups"},
    {"text", PCI_TYPES_TEXT, .kind = PCI_KIND_SPELLING},
    {.table = NULL},
};
