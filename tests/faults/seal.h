/*
 * seal.h - the checksums of a changed file made right again
 *
 * Most damaged files are refused by a checksum. Whoever damages on purpose makes the checksums
 * anew, so tests do too, and get to all that comes behind.
 */
#ifndef SEAL_H
#define SEAL_H

#include <stddef.h>
#include <stdint.h>

/* Size, sections, index, header: each where the file still says that it is. */
void seal(uint8_t *data, size_t size);

#endif
