/*
 * format.c - profiles of V8: names, capabilities and entry points
 */
#include "formats/v8/v8.h"
#include "formats/v8/write.h"

static const struct pci_capabilities cpuprofile_capabilities = {
    .loss_prefix = ".cpuprofile cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(FILES) | PCI_KIND_BIT(START_LINES) |
               PCI_KIND_BIT(START_COLUMNS),
    .positive = PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(START_COLUMNS)};
static const struct pci_capabilities heapprofile_capabilities = {
    .loss_prefix = ".heapprofile cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(FILES) | PCI_KIND_BIT(START_LINES) |
               PCI_KIND_BIT(START_COLUMNS),
    .positive = PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(START_COLUMNS)};

static pcol_status write_cpuprofile(const struct pci_export *export, pcol_error *err)
{
    uint64_t extra;
    PCI_TRY(pci_document_find(export, "cpuprofile", &extra, err));
    return extra != PCI_NO_NODE ? pci_v8_write_document(export, err)
                                : pci_v8_write_generic(export, 0, err);
}

static pcol_status write_heapprofile(const struct pci_export *export, pcol_error *err)
{
    uint64_t extra;
    PCI_TRY(pci_document_find(export, "heapprofile", &extra, err));
    return extra != PCI_NO_NODE ? pci_document_write(export, NULL, NULL, err)
                                : pci_v8_write_generic(export, 1, err);
}

const struct pci_format_schema pci_cpuprofile_schema = {.source_type = "cpuprofile",
                                                        .whole_document = 1};

const struct pci_format pci_cpuprofile_format = {
    .info = {"cpuprofile", "CPU profile of V8 (Node, Chrome, Deno)", ".cpuprofile",
             "everything: an equal JSON value is restored", 1, 1},
    .sniff = pci_cpuprofile_sniff,
    .read = pci_cpuprofile_read,
    .write = write_cpuprofile,
    .writes_samples = 1,
    .capabilities = &cpuprofile_capabilities,
    .restores = pci_document_restores,
};

const struct pci_format_schema pci_heapprofile_schema = {.source_type = "heapprofile",
                                                         .whole_document = 1};

const struct pci_format pci_heapprofile_format = {
    .info = {"heapprofile", "sampling heap profile of V8", ".heapprofile",
             "everything: an equal JSON value is restored", 1, 1},
    .sniff = pci_heapprofile_sniff,
    .read = pci_heapprofile_read,
    .write = write_heapprofile,
    .capabilities = &heapprofile_capabilities,
    .restores = pci_document_restores,
};

const struct pci_format_schema pci_chrome_trace_schema = {.source_type = "chrome-trace"};

const struct pci_format pci_chrome_trace_format = {
    .info = {"chrome-trace", "CPU profiles in a Chrome trace; without any, its spans", ".trace",
             "not written", 1, 0},
    .sniff = pci_chrome_trace_sniff,
    .read = pci_chrome_trace_read,
};

const struct pci_format_schema pci_trace_event_schema = {.source_type = "trace-event"};

const struct pci_format pci_trace_event_format = {
    .info = {"trace-event", "spans (X, B and E events) of a Chrome trace", "", "not written", 1, 0},
    .read = pci_trace_event_read,
};
