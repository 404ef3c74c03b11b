/*
 * schema.c - physical tables of profile.proto
 */
#include "formats/pprof/pprof.h"

const struct pci_schema_row pci_pprof_tables[] = {
    {.table = "source_comments"},
    {"source", PCI_TYPE(PCF_U32), PCI_OWNER, .kind = PCI_KIND_COMMENTS, .references = "sources"},
    {.table = NULL},
};
