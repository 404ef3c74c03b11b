/*
 * svg.h - escaped text, numbers, style and script of a flame graph in SVG
 */
#ifndef PCI_SVG_H
#define PCI_SVG_H

#include "stream/out_buffer.h"

/* Writes text as XML character data. Control and bidi characters, invalid UTF-8 and characters that
 * XML excludes are written as \xNN. If it exceeds `width` characters it is cut and ends in "..";
 * width 0: unlimited. */
pcol_status pci_svg_text(struct pci_out *out, pcol_str text, size_t width, pcol_error *err);
/* 1 if `width` characters show enough of a function's name to recognize it. */
int pci_svg_fits(pcol_str name, size_t width);
/* pci_svg_text() for the name of a function: the path or namespace is removed before it is cut. */
pcol_status pci_svg_name(struct pci_out *out, pcol_str name, size_t width, pcol_error *err);
pcol_status pci_svg_raw(struct pci_out *out, const char *text, pcol_error *err);
/* Writes a number with at most `decimals` digits after the point (0 to 6), the same on every
 * machine. */
pcol_status pci_svg_number(struct pci_out *out, double value, int decimals, pcol_error *err);
/* Writes 1234567 as 1,234,567. */
pcol_status pci_svg_grouped(struct pci_out *out, int64_t value, pcol_error *err);
/* Writes seconds or bytes with three digits and a unit. */
pcol_status pci_svg_seconds(struct pci_out *out, double seconds, pcol_error *err);
pcol_status pci_svg_bytes(struct pci_out *out, double bytes, pcol_error *err);

extern const char pci_svg_style[];
extern const char *const pci_svg_script[3]; /* terminated by NULL */

#endif
