/*
 * structure.h - consistency of a column's directories: what decoding a single row does not prove
 *
 * Counts of marked rows, block offsets, run ends, offsets of byte strings, unused bits. A pass
 * over the directories only; values are not read, children are not followed.
 */
#ifndef PCF_STRUCTURE_H
#define PCF_STRUCTURE_H

#include "format/decode.h"

/* NULL, or the sentence (static) for the first broken rule; *row is then the row at fault,
 * UINT64_MAX if it is no single one. */
const char *pcf_structure_fault(const struct pcf_data *d, uint64_t *row);

/* Whether the bits past the last value of one block of a BLOCKED column are 0. */
int pcf_block_tail_is_zero(const struct pcf_data *d, uint64_t block);

#endif
