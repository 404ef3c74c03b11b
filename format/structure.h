/*
 * structure.h - validation of a column's directories as a whole
 *
 * Cumulative counts of marks, run ends, offsets of byte strings, unused bits: a scan that finds
 * inconsistencies which decoding a single row cannot. Does not read values and does not visit
 * children.
 */
#ifndef PCF_STRUCTURE_H
#define PCF_STRUCTURE_H

#include "format/decode.h"

/* NULL, or a static message for the first fault; *row is then the row at fault, UINT64_MAX if it
 * is not a single row. */
const char *pcf_structure_fault(const struct pcf_data *d, uint64_t *row);

#endif
