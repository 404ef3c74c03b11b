/*
 * format.c - older profile formats that pprof reads: name, capabilities and entry points
 */
#include "formats/gperftools/gperftools.h"

const struct pci_format_schema pci_gperftools_schema = {
    .source_type = "gperftools", .last_type_is_default = 1, .program_first = 1};

const struct pci_format pci_gperftools_format = {
    .info =
        {"gperftools",
         "older profiles that pprof reads: of gperftools (CPU, heap, growth, contention, threads), "
         "text of Go (debug=1) and Java",
         ".heap", "as much as pprof: samples, addresses, mappings, names in Java's", 1, 0},
    .sniff = pci_gperftools_sniff,
    .convert = pci_gperftools_convert,
    .read_as = "pprof",
};
