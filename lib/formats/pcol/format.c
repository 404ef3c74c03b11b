/*
 * format.c - a pcol file as an input: name, capabilities and entry points
 */
#include "formats/pcol/pcol.h"

const struct pci_format_schema pci_pcol_schema = {.source_type = "pcol"};

const struct pci_format pci_pcol_format = {
    .info = {"pcol", "a pcol file", ".pcol", "everything", 1, 0},
    .sniff = pci_pcol_sniff,
    .read = pci_pcol_read,
};
