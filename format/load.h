/*
 * load.h - unaligned little-endian loads and stores
 *
 * A mapped file may be modified concurrently, so the value that is checked must be the value that
 * is used: callers load once into a local (memcpy compiles to one load) and never re-read.
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

/* The first `bits` bits of a bitmap, at most 64; higher bits of the result are 0. Loads no byte
 * after the last bit. */
static inline uint64_t pcf_load_bits(const uint8_t *bitmap, uint64_t bits)
{
    uint64_t word = 0;
    if (bits >= 64)
        return pcf_load64(bitmap);
    memcpy(&word, bitmap, (size_t)(bits + 7) / 8);
    return word & ((UINT64_C(1) << bits) - 1);
}

static inline void pcf_store64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline int pcf_is_zero(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        if (bytes[i])
            return 0;
    }
    return 1;
}

#endif
