/*
 * seal.h - recomputes the checksums of a changed file
 *
 * Most damaged files are rejected by a checksum. Attackers recompute checksums, so tests do, too,
 * and reach all later checks.
 */
#ifndef SEAL_H
#define SEAL_H

#include "format/index.h"

#include <stddef.h>
#include <stdint.h>

/* Size, sections, index, header: each where the file still has it. */
void seal(uint8_t *data, size_t size);

/* Bytes before a deflate stream of one stored block, which is how tests write the index of an
 * archive that they change. */
#define SEAL_STORED 5u

/* The index of a checked header, at its place in the file; NULL if it is compressed. */
uint8_t *seal_index(uint8_t *data, const struct pcf_header *header);

#endif
