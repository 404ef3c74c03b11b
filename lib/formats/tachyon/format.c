/*
 * format.c - binary profiles of CPython: name and entry points
 */
#include "formats/tachyon/tachyon.h"

const struct pci_format_schema pci_tachyon_schema = {.source_type = "tachyon"};

/* The magic number and a version below 256, in either byte order. */
static int sniff(const uint8_t *data, size_t size, int all)
{
    (void)all;
    return size >= 8 && (!memcmp(data, "TACH\0\0\0", 7) ||
                         (!memcmp(data, "HCAT", 4) && !data[5] && !data[6] && !data[7]))
               ? 2
               : 0;
}

const struct pci_format pci_tachyon_format = {
    .info = {"tachyon", "binary profile of CPython 3.15 (profiling.sampling --binary)", ".tach",
             "not written", 1, 0},
    .sniff = sniff,
    .read = pci_tachyon_read,
};
