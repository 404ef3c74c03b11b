/*
 * format.c - Callgrind profiles and Graphviz: names, capabilities and entry points
 */
#include "formats/callgraph/callgraph.h"

static const struct pci_capabilities callgrind_capabilities = {
    .loss_prefix = "callgrind cannot hold",
    .generic = PCI_KIND_BIT(FILES) | PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(LINES) |
               PCI_KIND_BIT(ADDRESSES) | PCI_KIND_BIT(LIBRARIES),
    .positive = PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(LINES)};

const struct pci_format_schema pci_callgrind_schema = {.source_type = "callgrind"};

const struct pci_format pci_callgrind_format = {
    .info = {"callgrind", "Callgrind profile, for KCachegrind and callgrind_annotate", ".callgrind",
             "not read: functions, lines and calls with their sums", 0, 1},
    .write = pci_callgrind_write,
    .capabilities = &callgrind_capabilities,
};

static const struct pci_capabilities dot_capabilities = {.loss_prefix = "dot cannot hold"};

const struct pci_format_schema pci_dot_schema = {.source_type = "dot"};

const struct pci_format pci_dot_format = {
    .info = {"dot", "call graph for Graphviz: the heaviest functions and calls", ".dot .gv",
             "not read: functions and calls with their sums", 0, 1},
    .write = pci_dot_write,
    .capabilities = &dot_capabilities,
};
