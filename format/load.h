/*
 * load.h - little-endian loads and stores at any alignment
 *
 * Relaxed single loads: a mapped file may change under us, so a value that is checked must be the
 * value that is used. memcpy into a local compiles to one load; callers never re-read.
 */
#ifndef PCF_LOAD_H
#define PCF_LOAD_H

#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pcol needs a little-endian machine"
#endif

static inline uint16_t pcf_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t pcf_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t pcf_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void pcf_store64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

#endif
