/*
 * format.c - Java Flight Recorder files: name and entry points
 */
#include "formats/jfr/jfr.h"

const struct pci_format_schema pci_jfr_schema = {.source_type = "jfr"};

static int sniff(const uint8_t *data, size_t size, int all)
{
    (void)all;
    return size >= 4 && !memcmp(data, "FLR", 4) ? 2 : 0;
}

const struct pci_format pci_jfr_format = {
    .info = {"jfr", "Java Flight Recorder: every event with a stack", ".jfr", "not written", 1, 0},
    .sniff = sniff,
    .read = pci_jfr_read,
};
