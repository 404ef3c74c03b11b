/*
 * svg.h - the pieces of a flame graph as SVG: text, numbers, and what every graph has in common
 */
#ifndef PCI_SVG_H
#define PCI_SVG_H

#include "stream/out_buffer.h"

/* Text as XML character data: everything that XML cannot hold, or that would change how text around
 * it is read (controls, bidi, invalid UTF-8), as \xNN. At most `width` characters are written, the
 * last two of them ".." where that cuts; 0: all. */
pcol_status pci_svg_text(struct pci_out *out, pcol_str text, size_t width, pcol_error *err);
/* Whether so many characters show enough of a function's name to tell it. */
int pci_svg_has_room(pcol_str name, size_t width);
/* pci_svg_text() for the name of a function, which loses its path or namespace before it is cut. */
pcol_status pci_svg_name(struct pci_out *out, pcol_str name, size_t width, pcol_error *err);
pcol_status pci_svg_raw(struct pci_out *out, const char *text, pcol_error *err);
/* A number with at most `decimals` digits behind the point (up to 6), the same on every machine. */
pcol_status pci_svg_number(struct pci_out *out, double value, int decimals, pcol_error *err);
/* 1234567 as 1,234,567. */
pcol_status pci_svg_grouped(struct pci_out *out, int64_t value, pcol_error *err);
/* Seconds or bytes with three digits and a unit. */
pcol_status pci_svg_seconds(struct pci_out *out, double seconds, pcol_error *err);
pcol_status pci_svg_bytes(struct pci_out *out, double bytes, pcol_error *err);

extern const char pci_svg_style[];
extern const char *const pci_svg_script[3]; /* pieces, up to a NULL */

#endif
