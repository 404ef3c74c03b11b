/*
 * seal.h - the checksums of a changed file made right again
 *
 * Most damaged files are refused by a checksum. Whoever damages on purpose makes the checksums
 * anew, so tests do too, and reach all later checks.
 */
#ifndef SEAL_H
#define SEAL_H

#include "format/index.h"

#include <stddef.h>
#include <stdint.h>

/* Size, sections, index, header: each where the file still says that it is. */
void seal(uint8_t *data, size_t size);

/* Bytes in front of a deflate stream of one stored block, which is how tests write the index of an
 * archive that they change. */
#define SEAL_STORED 5u

/* The index of a checked header, at its place in the file; NULL if it is compressed. */
uint8_t *seal_index(uint8_t *data, const struct pcf_header *header);

#endif
