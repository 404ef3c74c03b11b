/*
 * format.c - JSON of speedscope: name, capabilities and entry points
 */
#include "formats/speedscope/speedscope.h"

#include "formats/speedscope/units.h"

const struct pci_speedscope_unit pci_speedscope_units[PCI_SPEEDSCOPE_UNITS] = {
    {"none", "weight", "count", 0},
    {"bytes", "weight", "bytes", 0},
    {"nanoseconds", "time", "nanoseconds", 1},
    {"microseconds", "time", "microseconds", 1000},
    {"milliseconds", "time", "milliseconds", 1000000},
    {"seconds", "time", "seconds", 1000000000},
};

static pcol_status write(const struct pci_export *export, pcol_error *err)
{
    uint64_t extra;
    PCI_TRY(pci_document_find(export, "speedscope", &extra, err));
    return extra != PCI_NO_NODE ? pci_speedscope_write_native(export, err)
                                : pci_speedscope_write_generic(export, err);
}

const struct pci_format_schema pci_speedscope_schema = {
    .source_type = "speedscope", .whole_document = 1, .document_order = "frames"};

const struct pci_format pci_speedscope_format = {
    .info = {"speedscope", "JSON of the viewer speedscope, sampled and evented", ".speedscope.json",
             "everything: an equal JSON value is restored", 1, 1},
    .sniff = pci_speedscope_sniff,
    .read = pci_speedscope_read,
    .write = write,
    .writes_samples = 1,
    .capabilities = &pci_speedscope_capabilities,
    .restores = pci_document_restores,
};
