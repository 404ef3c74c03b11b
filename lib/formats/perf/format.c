/*
 * format.c - the text of Linux perf script: name, capabilities and entry points
 */
#include "formats/perf/perf.h"

const struct pci_format_schema pci_perf_schema = {
    .source_type = "perf", .row_is_sample = 1, .fixed_frames = 1};

const struct pci_format pci_perf_format = {
    .info = {"perf", "text of Linux perf script", ".perf.txt .perfscript",
             "every field and call stack; only blanks between columns may differ", 1, 1},
    .sniff = pci_perf_sniff,
    .read = pci_perf_read,
    .write = pci_perf_write,
    .writes_samples = 1,
    .capabilities = &pci_perf_capabilities,
};
