/*
 * format.c - processed profiles of the Firefox Profiler, JSON and JSLB: name, capabilities and
 * entry points
 */
#include "formats/document.h"
#include "formats/firefox/firefox.h"

const struct pci_format_schema pci_firefox_schema = {.source_type = "firefox",
                                                     .tables = pci_firefox_tables};

const struct pci_format pci_firefox_format = {
    .info = {"firefox", "processed profile of the Firefox Profiler, JSON", ".json",
             "everything: a profile is restored in its version, with an equal JSON value", 1, 1},
    .sniff = pci_firefox_sniff,
    .read = pci_firefox_read,
    .write = pci_firefox_write,
    .writes_samples = 1,
    .capabilities = &pci_firefox_capabilities,
    .restores = pci_document_restores,
};

const struct pci_format_schema pci_jslb_schema = {.source_type = "jslb"};

const struct pci_format pci_jslb_format = {
    .info = {"jslb", "processed profile of the Firefox Profiler, binary", ".jslb",
             "everything: a profile of version 70 is restored with an equal value", 1, 1},
    .sniff = pci_jslb_sniff,
    .read = pci_jslb_read,
    .write = pci_jslb_write,
    .writes_samples = 1,
    .capabilities = &pci_firefox_capabilities,
    .restores = pci_document_restores,
};
