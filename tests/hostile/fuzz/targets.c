/*
 * targets.c - execution of a target on an input (targets.h)
 */
#include "targets.h"

#include "../faults/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GATHERED ((size_t)16 << 20)

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
    if (target->run_format)
        target->run_format(copy, size, strchr(target->name, '_') + 1);
    else
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

pcol_status fuzz_gather(void *text, const void *data, size_t size, pcol_error *err)
{
    struct fuzz_text *t = text;
    if (size > MOST_GATHERED - t->size) {
        if (err) {
            memset(err, 0, sizeof *err);
            err->status = PCOL_E_LIMIT;
        }
        return PCOL_E_LIMIT;
    }
    if (size > t->capacity - t->size) {
        size_t capacity = (t->size + size) * 2;
        uint8_t *grown = realloc(t->data, capacity);
        if (!grown)
            return PCOL_E_NO_MEMORY;
        t->data = grown;
        t->capacity = capacity;
    }
    if (size)
        memcpy(t->data + t->size, data, size);
    t->size += size;
    return PCOL_OK;
}
