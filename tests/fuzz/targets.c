/*
 * targets.c - the table of what the fuzzers run
 */
#include "targets.h"

#include "../faults/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct fuzz_target fuzz_targets[] = {
    {"open", fuzz_open, ".pcol"},
    {"check", fuzz_check, ".pcol"},
    {"export", fuzz_export, ".pcol"},
    {"query", fuzz_query, ".pcol"},
    {"filter", fuzz_filter, ".pcol"},
    {"flame", fuzz_flame, ".pcol"},
    {"ask", fuzz_ask, ".perf .perun .pcol"},
    {"import_pcol", fuzz_import_pcol, ".pcol"},
    {"import_rprof", fuzz_import_rprof, ".Rprof"},
    {"import_rprofmem", fuzz_import_rprofmem, ".Rprofmem rprofmem.out"},
    {"import_v1", fuzz_import_v1, ".v1.json"},
    {"import_folded", fuzz_import_folded, ".folded"},
    {"import_pprof", fuzz_import_pprof, ".pb .pb.gz"},
    {"import_gperftools", fuzz_import_gperftools, ".debug1.txt .heap .prof .txt cpu growth"},
    {"import_perf", fuzz_import_perf,
     ".perf.txt .perfscript mmap.txt bare.txt flat.txt untimed.txt"},
    {"import_perun", fuzz_import_perun, ".perf .perun"},
    {"import_firefox", fuzz_import_firefox, ".json .json.gz"},
    {"import_jslb", fuzz_import_jslb, ".jslb .jslb.gz"},
    {"import_any", fuzz_import_any, ".Rprof .out .json .folded .pb .gz .perf .txt .jslb"},
    {"inflate", fuzz_inflate, ".gz"},
    {"thaw", fuzz_thaw, ".frozen"},
    {"json", fuzz_json, ".json .perf"},
    {"column", fuzz_column, ".column"},
    {"match", fuzz_match, ".pattern"},
    {"command", fuzz_command, ".line"},
    {"select", fuzz_select, ".selection"},
    {"archive", fuzz_archive, ".pcol"},
    {"merge", fuzz_merge, ".pcol"},
    {"unpack_firefox", fuzz_unpack_firefox, ".pcol"},
    {"unpack_pprof", fuzz_unpack_pprof, ".pcol"},
    {"unpack_perun", fuzz_unpack_perun, ".pcol"},
    {"unpack_rprof", fuzz_unpack_rprof, ".pcol"},
    {"unpack_speedscope", fuzz_unpack_speedscope, ".pcol"},
    {NULL, NULL, NULL},
};

void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, condition);
    abort();
}

const struct fuzz_target *fuzz_find(const char *name)
{
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
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
