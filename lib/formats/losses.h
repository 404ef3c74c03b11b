/*
 * losses.h - report of content that an export target cannot represent
 *
 * Content is divided into kinds. A format declares the kinds that it represents in its own
 * directory; the schema (reader/schema.h) assigns each column of a file to a kind. Tests: the suite
 * tests/roundtrip/losses exports, imports again and compares.
 */
#ifndef PCI_LOSSES_H
#define PCI_LOSSES_H

#include "reader/schema.h"
#include "util/error.h"
#include "util/utc_text.h"

#define PCI_KIND_BIT(name) (UINT64_C(1) << PCI_KIND_##name)

/* The kinds of content that a format represents. */
struct pci_capabilities {
    const char *loss_prefix; /* begin of a report: "folded stacks cannot hold" */
    uint64_t generic;        /* kinds in a source that is converted from another format */
    uint64_t positive;       /* those of them whose numbers may not be negative */
    uint64_t below_53_bits;  /* and those whose numbers are from 0 to 2^53 */
    uint64_t native;         /* META or RECORDED, which no source format contains, in a source that
                                is written unchanged in its own format */
    /* The time of recording that the reader of this format derives from the output, "" for none; a
     * timestamp given by the user may differ. NULL: the format has no time. */
    pcol_status (*time)(const pcol_file *file, uint64_t source, char text[PCI_UTC_TEXT_BYTES],
                        pcol_error *err);
};

struct pci_export;
/* Report, once for each kind, content of the exported sources that the target does not represent.
 * native_types: types of the sources that are written unchanged in their own format, separated by
 * spaces; "": all sources; NULL: none. */
pcol_status pci_export_losses(const struct pci_export *export, const char *native_types,
                              pcol_error *err);
/* The same for an exporter that converts sources of these types, too, and then represents `kinds`
 * in addition to the generic ones. */
pcol_status pci_export_losses_converted(const struct pci_export *export, const char *types,
                                        uint64_t kinds, pcol_error *err);
/* Report one kind that the exporter itself detects. */
void pci_export_report_kind(const struct pci_export *export, enum pci_kind kind);

#endif
