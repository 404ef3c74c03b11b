/*
 * dhat.h - entry points of Valgrind's DHAT profiles, and the parts of a frame's text
 */
#ifndef PCI_DHAT_DHAT_H
#define PCI_DHAT_DHAT_H

#include "formats/format.h"

int pci_dhat_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_dhat_read(struct pci_import *import, pcol_error *err);
pcol_status pci_dhat_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_dhat_capabilities;
extern const struct pci_schema_row pci_dhat_tables[];

/* Keys of the values of a program point, in the order of the sample types. unit: the member of the
 * document that names it, if there is one, else `otherwise`. */
#define PCI_DHAT_VALUES 11
struct pci_dhat_value {
    const char *key, *type, *unit, *otherwise;
};
extern const struct pci_dhat_value pci_dhat_values[PCI_DHAT_VALUES];

/* "0xADDRESS: FUNCTION (FILE:LINE)", or (FILE:LINE:COLUMN) as dhat-rs writes it, "0xADDRESS:
 * FUNCTION (in OBJECT)", "0xADDRESS: FUNCTION" or "FUNCTION"; "???" is no function. Empty texts are
 * absent; a column implies a line. */
struct pci_dhat_frame {
    pcol_str function, file, object;
    uint64_t address;
    int64_t line, column;
    int has_address, has_line, has_column;
};
void pci_dhat_parse_frame(pcol_str text, struct pci_dhat_frame *frame);
/* The text of a frame; the caller frees *text with pci_free(). */
pcol_status pci_dhat_print_frame(const struct pci_dhat_frame *frame, char **text, size_t *size,
                                 pcol_error *err);

#endif
