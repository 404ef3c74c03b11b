/*
 * format.c - Perun profiles: name, capabilities and entry points
 */
#include "formats/document.h"
#include "formats/perun/perun.h"

static const char *const document_labels[] = {"amount", "type", "subtype", "uid",
                                              "trace",  "time", NULL};

const struct pci_format_schema pci_perun_schema = {.source_type = "perun",
                                                   .fixed_frames = 1,
                                                   .tables = pci_perun_tables,
                                                   .document_labels = document_labels,
                                                   .value_label = "amount"};

const struct pci_format pci_perun_format = {
    .info = {"perun", "a Perun profile, plain or as an object of its store", ".perf .perun",
             "everything: the same JSON value is restored, with the order of keys", 1, 1},
    .sniff = pci_perun_sniff,
    .read = pci_perun_read,
    .write = pci_perun_write,
    .capabilities = &pci_perun_capabilities,
    .restores = pci_document_restores,
};
