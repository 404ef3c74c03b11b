/*
 * format.c - R's Rprof() output and Rprofmem() logs: name, capabilities and entry points
 */
#include "formats/rprof/rprof.h"

const struct pci_format_schema pci_rprof_schema = {
    .source_type = "rprof", .tables = pci_rprof_tables, .renames_functions = 1};

const struct pci_format pci_rprof_format = {
    .info = {"rprof", "R's Rprof() output", ".Rprof .out .prof",
             "everything: a file that R wrote comes back byte for byte", 1, 1},
    .sniff = pci_rprof_sniff,
    .read = pci_rprof_read,
    .write = pci_rprof_write,
    .writes_samples = 1,
    .capabilities = &pci_rprof_capabilities,
};

const struct pci_format_schema pci_rprofmem_schema = {.source_type = "rprofmem",
                                                      .renames_functions = 1};

const struct pci_format pci_rprofmem_format = {
    .info = {"rprofmem", "R's Rprofmem() log of allocations", ".Rprofmem",
             "everything: a log that R wrote comes back byte for byte", 1, 1},
    .sniff = pci_rprofmem_sniff,
    .read = pci_rprofmem_read,
    .write = pci_rprofmem_write,
    .writes_samples = 1,
    .capabilities = &pci_rprofmem_capabilities,
};
