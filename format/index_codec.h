/*
 * index_codec.h - the records of the index: what they hold, read and stored
 *
 * A record is a mask and a number for each bit of it (spec.md, "Index"). Both directions stand in
 * index_codec.c beside each other; what the numbers may be is checked by index.c and
 * column_rules.c.
 */
#ifndef PCF_INDEX_CODEC_H
#define PCF_INDEX_CODEC_H

#include "format/column_rules.h"

/* Fill tables, columns and sections of check->index from its records, `size` bytes from `bytes`,
 * which begin at byte `place` of the index. Afterwards every table has its columns, every column
 * its sections and children, every name is good, and sections follow one another in the file. */
int pcf_records_read(const struct pcf_check *check, const uint8_t *bytes, uint32_t size,
                     uint32_t place);

#endif
