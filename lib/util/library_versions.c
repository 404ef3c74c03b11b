/*
 * library_versions.c - versions of the compression, hash and protobuf libraries at run time
 *
 * Asked of the libraries: a shared one may be newer than the header that this file was compiled
 * with.
 */
#include "pcol.h"

#include <lz4.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

size_t pcol_libraries(char *text, size_t size)
{
    unsigned hash = XXH_versionNumber();
    int n = snprintf(text, size, "zlib %s, LZ4 %s, zstd %s, xxHash %u.%u.%u, protobuf-c %s",
                     zlibVersion(), LZ4_versionString(), ZSTD_versionString(), hash / 10000,
                     hash / 100 % 100, hash % 100, protobuf_c_version());
    return n > 0 ? (size_t)n : 0;
}
