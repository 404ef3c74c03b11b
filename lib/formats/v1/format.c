/*
 * format.c - the profile data model v1 as JSON: name, capabilities and entry points
 */
#include "formats/v1/v1.h"

const struct pci_format_schema pci_v1_schema = {.source_type = "v1"};

const struct pci_format pci_v1_format = {
    .info = {"v1", "the five tables of the profile data model v1 as JSON", ".v1.json",
             "samples, locations and functions of a profile that counts samples", 1, 1},
    .sniff = pci_v1_sniff,
    .read = pci_v1_read,
    .write = pci_v1_write,
    .writes_samples = 1,
    .capabilities = &pci_v1_capabilities,
};
