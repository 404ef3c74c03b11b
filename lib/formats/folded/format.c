/*
 * format.c - folded stacks: name, capabilities and entry points
 */
#include "formats/folded/folded.h"

const struct pci_format_schema pci_folded_schema = {.source_type = "folded"};

const struct pci_format pci_folded_format = {
    .info = {"folded", "folded stacks: frames;in;a;line COUNT", ".folded .collapsed .stacks",
             "everything: the text comes back byte for byte", 1, 1},
    .sniff = pci_folded_sniff,
    .read = pci_folded_read,
    .write = pci_folded_write,
    .capabilities = &pci_folded_capabilities,
};
