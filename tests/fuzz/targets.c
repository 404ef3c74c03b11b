/*
 * targets.c - how a target is run on an input
 */
#include "targets.h"

#include "../faults/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, condition);
    abort();
}

static int sparing;
static uint64_t input_sum;

void fuzz_sparingly(void)
{
    sparing = 1;
}

int fuzz_turn(unsigned ways, unsigned way)
{
    return !sparing || (input_sum >> 16) % ways == way;
}

static uint64_t sum_of(const uint8_t *data, size_t size)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint8_t *copy_of(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

void fuzz_run(const struct fuzz_target *target, const uint8_t *data, size_t size)
{
    uint8_t *copy = copy_of(data, size);
    if (!copy)
        return;
    input_sum = sum_of(data, size);
    target->run(copy, size);
    free(copy);
}

void fuzz_twice(void (*run)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
    uint8_t *copy = copy_of(data, size);
    run(data, size);
    if (!copy)
        return;
    seal(copy, size);
    if (size && memcmp(copy, data, size) != 0)
        run(copy, size);
    free(copy);
}
