/*
 * format.c - JSON of speedscope: name, capabilities and entry points
 */
#include "formats/speedscope/speedscope.h"

const struct pci_format pci_speedscope_format = {
    .info = {"speedscope", "JSON of the viewer speedscope", ".speedscope.json",
             "not read; stacks and weights of each thread and sample type, files of functions", 0,
             1},
    .write = pci_speedscope_write,
    .capabilities = &pci_speedscope_capabilities,
    .schema = {.source_type = "speedscope"},
};
