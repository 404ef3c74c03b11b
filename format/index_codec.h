/*
 * index_codec.h - decoding of the records of the index (spec.md, 3.2); encoding: pcf_index_store()
 */
#ifndef PCF_INDEX_CODEC_H
#define PCF_INDEX_CODEC_H

#include "format/column_rules.h"

/* Fills tables, columns and sections of check->index from `size` bytes of records that begin at
 * `index_offset` of the index. Afterwards every table has its columns, every column its sections
 * and children, names are valid, and sections are in ascending order within the file. Types,
 * encodings and references are not validated. Returns 0, or -1 with a fault. */
int pcf_records_read(const struct pcf_check *check, const uint8_t *bytes, uint32_t size,
                     uint32_t index_offset);

#endif
