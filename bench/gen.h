/*
 * gen.h - seeded random numbers and numeric options for the generators of inputs
 *
 * Each generator is a program of one file, so this header has static functions. A seed gives the
 * same numbers on every machine.
 */
#ifndef BENCH_GEN_H
#define BENCH_GEN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t gen_state; /* state of splitmix64 */

static inline uint64_t gen_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t gen_next(void)
{
    return gen_mix(gen_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 .. n-1 */
static inline uint32_t below(uint32_t n)
{
    return (uint32_t)(((gen_next() >> 32) * n) >> 32);
}

static inline int chance(unsigned of_1000)
{
    return below(1000) < of_1000;
}

/* Geometric distribution with approximately this mean. */
static inline unsigned about(unsigned mean)
{
    unsigned n = 0;
    while (n < 20 * mean && below(mean + 1) != 0)
        n++;
    return n;
}

/* Change the random numbers for another run of the same program. */
static inline void gen_run(uint64_t run)
{
    gen_state += run * UINT64_C(0xd1342543de82ef95);
}

/* Parse a number with an optional suffix k, M or G, at most `most`; else print `usage` and exit
 * with 2. */
static inline uint64_t gen_number(const char *text, uint64_t most, const char *usage)
{
    char *end = NULL;
    uint64_t n = text ? strtoull(text, &end, 10) : 0;
    uint64_t scale = 1;
    if (end && *end == 'k')
        scale = 1000;
    else if (end && *end == 'M')
        scale = 1000000;
    else if (end && *end == 'G')
        scale = 1000000000;
    if (scale > 1)
        end++;
    if (!end || end == text || *end || text[0] == '-' || n > most / scale) {
        fprintf(stderr, "not a number that fits: %s\n%s", text ? text : "(nothing)", usage);
        exit(2);
    }
    return n * scale;
}

#endif
