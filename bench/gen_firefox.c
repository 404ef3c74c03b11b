/*
 * gen_firefox - write a processed Firefox profile of any size, deterministic for its options
 *
 *     gen_firefox [--samples N] [--threads N] [--seed N] [--idle PERCENT] > profile.json
 *
 * Generates a program (functions, call graph, addresses) and samples one random walk through it for
 * each thread, like samply: version 60, times every ms with jitter in ns, CPU deltas in µs.
 * Sometimes a thread blocks: its stack repeats and its CPU deltas are 0. The ratio of samples to
 * stacks is that of a samply profile of a small program (5,150 samples, 1,646 stacks).
 *
 * Uses integer arithmetic and its own random numbers, so that the bytes are the same on every
 * machine.
 */
#include "gen.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS = 6000,
    CALLEES = 5,
    SITES = 3,
    FRAMES = FUNCTIONS * SITES,
    DEPTH = 120,
    LIBS = 9
};

struct program {
    uint32_t callee[FUNCTIONS][CALLEES];
    uint64_t address[FRAMES];
    uint32_t lib[FUNCTIONS];
};

struct stacks {
    uint32_t *prefix, *frame; /* prefix: row + 1, 0 for none */
    size_t count, capacity;
    uint32_t *slots; /* row + 1 */
    size_t mask;
};

struct thread {
    uint32_t *stack, *cpu;
    uint64_t *time; /* ns */
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("gen_firefox: out of memory\n", stderr);
        exit(4);
    }
    return memory;
}

static size_t slot_of(const struct stacks *s, uint32_t prefix, uint32_t frame)
{
    uint64_t h = ((uint64_t)prefix << 32 | frame) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h >> 20) & s->mask;
    while (s->slots[at] &&
           (s->prefix[s->slots[at] - 1] != prefix || s->frame[s->slots[at] - 1] != frame))
        at = (at + 1) & s->mask;
    return at;
}

static void grow(struct stacks *s)
{
    s->capacity = s->capacity ? 2 * s->capacity : 4096;
    s->prefix = must(realloc(s->prefix, s->capacity * sizeof *s->prefix));
    s->frame = must(realloc(s->frame, s->capacity * sizeof *s->frame));
    free(s->slots);
    s->mask = 4 * s->capacity - 1;
    s->slots = must(calloc(s->mask + 1, sizeof *s->slots));
    for (size_t i = 0; i < s->count; i++)
        s->slots[slot_of(s, s->prefix[i], s->frame[i])] = (uint32_t)i + 1;
}

/* Row + 1. */
static uint32_t intern(struct stacks *s, uint32_t prefix, uint32_t frame)
{
    if (s->count == s->capacity)
        grow(s);
    size_t at = slot_of(s, prefix, frame);
    if (!s->slots[at]) {
        s->prefix[s->count] = prefix;
        s->frame[s->count] = frame;
        s->slots[at] = (uint32_t)++s->count;
    }
    return s->slots[at];
}

static void make_program(struct program *p)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        p->lib[f] = below(3) ? 0 : below(LIBS);
        for (uint32_t k = 0; k < CALLEES; k++)
            p->callee[f][k] = below(8) ? (f + 1 + below(40)) % FUNCTIONS : below(FUNCTIONS);
        for (uint32_t k = 0; k < SITES; k++)
            p->address[f * SITES + k] = 4096 + f * 512 + k * 64 + below(64);
    }
}

static void walk(const struct program *p, struct stacks *s, struct thread *t, size_t samples,
                 uint32_t start, uint32_t idle)
{
    uint32_t at[DEPTH] = {0}, node[DEPTH] = {0}, depth = 1, blocked = 0;
    uint64_t now = 100000000 + below(50000000);
    at[0] = start;
    node[0] = intern(s, 0, start * SITES);
    for (size_t i = 0; i < samples; i++) {
        now += 950000 + below(100000);
        t->time[i] = now;
        if (blocked) {
            blocked--;
            t->cpu[i] = 0;
        } else {
            uint32_t leave = below(3) ? below(4) : below(12);
            depth = depth > leave + 1 ? depth - leave : 1;
            for (uint32_t calls = below(5) + (depth < 20); calls && depth < DEPTH; calls--) {
                uint32_t k = below(9) ? 0 : below(CALLEES);
                at[depth] = p->callee[at[depth - 1]][k];
                node[depth] =
                    intern(s, node[depth - 1], at[depth] * SITES + (k ? below(SITES) : 0));
                depth++;
            }
            t->cpu[i] = 200 + below(900);
            if (below(1000) < idle)
                blocked = 2 + below(40);
        }
        t->stack[i] = node[depth - 1] - 1;
    }
}

/* ---- writing */

#define EACH(name, n, ...)                 \
    do {                                   \
        printf(",\"" name "\":[");         \
        for (size_t i = 0; i < (n); i++) { \
            if (i)                         \
                putchar(',');              \
            __VA_ARGS__;                   \
        }                                  \
        putchar(']');                      \
    } while (0)

static void write_shared(const struct program *p, const struct stacks *s)
{
    printf("\"shared\":{\"stackTable\":{\"length\":%zu", s->count);
    EACH("frame", s->count, printf("%" PRIu32, s->frame[i]));
    EACH("prefix", s->count, s->prefix[i] ? printf("%" PRIu32, s->prefix[i] - 1) : printf("null"));
    printf("},\"frameTable\":{\"length\":%d", FRAMES);
    EACH("address", FRAMES, printf("%" PRIu64, p->address[i]));
    EACH("inlineDepth", FRAMES, putchar('0'));
    EACH("category", FRAMES, putchar('1'));
    EACH("subcategory", FRAMES, putchar('0'));
    EACH("func", FRAMES, printf("%zu", i / SITES));
    EACH("nativeSymbol", FRAMES, printf("null"));
    EACH("innerWindowID", FRAMES, printf("null"));
    EACH("line", FRAMES, printf("%zu", 10 + i * 7 % 900));
    EACH("column", FRAMES, printf("null"));
    printf("},\"funcTable\":{\"length\":%d", FUNCTIONS);
    EACH("name", FUNCTIONS, printf("%zu", i + LIBS));
    EACH("isJS", FUNCTIONS, printf("false"));
    EACH("relevantForJS", FUNCTIONS, printf("false"));
    EACH("resource", FUNCTIONS, printf("%" PRIu32, p->lib[i]));
    EACH("source", FUNCTIONS, printf("null"));
    EACH("lineNumber", FUNCTIONS, printf("null"));
    EACH("columnNumber", FUNCTIONS, printf("null"));
    printf("},\"resourceTable\":{\"length\":%d", LIBS);
    EACH("lib", LIBS, printf("%zu", i));
    EACH("name", LIBS, printf("%zu", i));
    EACH("host", LIBS, printf("null"));
    EACH("type", LIBS, putchar('1'));
    printf("},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
           "\"functionSize\":[]},\"sources\":{\"length\":0,\"uuid\":[],\"filename\":[]}");
    EACH("stringArray", LIBS + FUNCTIONS,
         i < LIBS ? printf("\"lib%zu.so\"", i)
                  : printf("\"database::module%zu::Operator%zu<type_%zx>::execute\"", i % 37, i,
                           i * 7919));
    putchar('}');
}

static void write_thread(const struct thread *t, size_t samples, size_t number)
{
    printf("%s{\"name\":\"worker-%zu\",\"isMainThread\":%s,\"processType\":\"default\","
           "\"processName\":\"database\",\"processStartupTime\":0,\"processShutdownTime\":null,"
           "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"pid\":\"1000\","
           "\"tid\":%zu,\"samples\":{\"length\":%zu,\"weightType\":\"samples\"",
           number ? "," : "", number, number ? "false" : "true", 1000 + number, samples);
    EACH("stack", samples, printf("%" PRIu32, t->stack[i]));
    EACH("time", samples,
         printf("%" PRIu64 ".%06" PRIu64, t->time[i] / 1000000, t->time[i] % 1000000));
    EACH("weight", samples, putchar('1'));
    EACH("threadCPUDelta", samples, printf("%" PRIu32, t->cpu[i]));
    printf("},\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
           "\"phase\":[],\"category\":[]}}");
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], name))
            return strtoull(argv[i + 1], NULL, 10);
    return otherwise;
}

int main(int argc, char **argv)
{
    size_t samples = option(argc, argv, "--samples", 440000);
    size_t threads = option(argc, argv, "--threads", 8);
    uint32_t idle = (uint32_t)option(argc, argv, "--idle", 2) * 10;
    gen_state = option(argc, argv, "--seed", 1);
    if (argc % 2 == 0 || !threads || samples / threads > UINT32_MAX) {
        fputs("usage: gen_firefox [--samples N] [--threads N] [--seed N] [--idle PERCENT]\n",
              stderr);
        return 2;
    }
    size_t each = samples / threads;
    struct program *p = must(malloc(sizeof *p));
    struct stacks s = {0};
    struct thread *t = must(calloc(threads, sizeof *t));
    make_program(p);
    for (size_t i = 0; i < threads; i++) {
        t[i].stack = must(malloc((each + 1) * sizeof *t[i].stack));
        t[i].cpu = must(malloc((each + 1) * sizeof *t[i].cpu));
        t[i].time = must(malloc((each + 1) * sizeof *t[i].time));
        walk(p, &s, &t[i], each, below(FUNCTIONS), idle);
    }
    printf(
        "{\"meta\":{\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":["
        "\"Other\"]},"
        "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}],\"interval\":1,"
        "\"preprocessedProfileVersion\":60,\"processType\":0,\"product\":\"database\","
        "\"stackwalk\":1,"
        "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"},"
        "\"startTime\":1700000000000,\"version\":24,\"markerSchema\":[],\"symbolicated\":true},"
        "\"libs\":[");
    for (size_t i = 0; i < LIBS; i++)
        printf(
            "%s{\"name\":\"lib%zu.so\",\"path\":\"/usr/lib/lib%zu.so\",\"debugName\":\"lib%zu.so\","
            "\"debugPath\":\"/usr/lib/lib%zu.so\",\"breakpadId\":\"%032zX0\",\"codeId\":null,"
            "\"arch\":\"x86_64\"}",
            i ? "," : "", i, i, i, i, i * 99991 + 7);
    printf("],");
    write_shared(p, &s);
    printf(",\"threads\":[");
    for (size_t i = 0; i < threads; i++)
        write_thread(&t[i], each, i);
    printf("]}\n");
    return fflush(stdout) ? 4 : 0;
}
