/*
 * format.c - OpenTelemetry profiles: name, capabilities and entry points
 */
#include "formats/otlp/otlp.h"

static const struct pci_capabilities otlp_capabilities = {.loss_prefix =
                                                              "OTLP profiles cannot hold"};

const struct pci_format_schema pci_otlp_schema = {.source_type = "otlp", .whole_document = 1};

const struct pci_format pci_otlp_format = {
    .info = {"otlp", "OpenTelemetry profiles: protobuf or JSON; experimental", ".otlp .otlp.json",
             "everything: the same bytes are restored", 1, 1},
    .sniff = pci_otlp_sniff,
    .read = pci_otlp_read,
    .write = pci_otlp_write,
    .writes_samples = 1,
    .capabilities = &otlp_capabilities,
};
