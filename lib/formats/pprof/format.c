/*
 * format.c - profile.proto: name, capabilities and entry points
 */
#include "formats/pprof/pprof.h"

static const char *const ordered_tables[] = {"mapping",  "mappings",  "location", "location_groups",
                                             "function", "functions", NULL};

const struct pci_format_schema pci_pprof_schema = {.source_type = "pprof",
                                                   .tables = pci_pprof_tables,
                                                   .ordered_tables = ordered_tables,
                                                   .last_type_is_default = 1,
                                                   .program_first = 1};

const struct pci_format pci_pprof_format = {
    .info = {"pprof", "profile.proto, what pprof reads and writes", ".pb .pprof",
             "everything except the order of the string table and the encoding of fields", 1,
             PCOL_WRITES_COMPRESSED},
    .sniff = pci_pprof_sniff,
    .read = pci_pprof_read,
    .write = pci_pprof_write,
    .writes_samples = 1,
    .capabilities = &pci_pprof_capabilities,
};
