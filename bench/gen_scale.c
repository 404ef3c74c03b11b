/*
 * gen_scale.c - stream a profile of any number of samples on a fixed call tree
 *
 *     gen_scale --samples N [--stacks N] [--seed S] [--plain|--archive] OUT
 *     gen_scale --samples N [--stacks N] [--seed S] --text >run.Rprof
 *
 * Generates a program of 400 functions: a tree of call stacks, about 20 deep, in which each
 * function calls few others. Then draws samples from it, one every 10 ms in each of 8 threads with
 * some jitter: a few stacks have most samples, and a thread often repeats its stack. So only the
 * samples grow with N, as in a long run. Writes OUT with the library's builder; as text, the
 * samples of all threads are lines of Rprof. The output is deterministic for its options.
 */
#include "gen.h"

#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 400u
#define CALLS 6u /* maximum callees of a function */
#define CORES 8u
#define DEEPEST 60u

struct tree {
    uint32_t count;
    uint32_t *parents, *functions;
};

static _Noreturn void fail(const char *what, const pcol_error *err)
{
    fprintf(stderr, "gen_scale: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(3);
}

static unsigned depth_of(const struct tree *t, uint32_t stack)
{
    unsigned depth = 0;
    for (; stack; stack = t->parents[stack])
        depth++;
    return depth;
}

/* Random walks from the root, each of which adds its new nodes. Row 0 is the root. */
static void grow(struct tree *t, uint32_t count)
{
    uint32_t *child = calloc((size_t)count * CALLS, sizeof *child);
    t->parents = calloc(count, sizeof *t->parents);
    t->functions = calloc(count, sizeof *t->functions);
    if (!child || !t->parents || !t->functions)
        fail("out of memory", NULL);
    t->count = 1;
    while (t->count < count) {
        uint32_t at = 0;
        for (unsigned depth = 0; depth < DEEPEST && t->count < count; depth++) {
            uint32_t call = below(CALLS);
            call = call > 2 ? below(2) : call; /* the first callees are the most frequent */
            uint32_t *to = &child[(size_t)at * CALLS + call];
            if (!*to) {
                t->parents[t->count] = at;
                t->functions[t->count] = (t->functions[at] * 7 + call * 131 + depth) % FUNCTIONS;
                *to = t->count++;
            }
            at = *to;
            if (depth > 12 && below(10) == 0)
                break;
        }
    }
    free(child);
}

/* Skewed distribution: most samples fall on few stacks. */
static uint32_t draw(const struct tree *t, uint32_t last)
{
    uint64_t x = below(65536);
    if (last && below(10) < 4)
        return last;
    return (uint32_t)(1 + x * x / 65536 * (t->count - 1) / 65536);
}

/* ---- through the builder */

#define MUST(call)             \
    do {                       \
        if ((call) != PCOL_OK) \
            fail(#call, &err); \
    } while (0)

static void build_tree(pcol_builder *b, const struct tree *t, uint32_t *stacks)
{
    uint32_t groups[FUNCTIONS];
    pcol_error err;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE, .line = 10 + i % 90, .flags = PCOL_LINE_HAS_LINE};
        char name[32];
        int size = snprintf(name, sizeof name, "module%u::work_%u", i % 17, i);
        MUST(pcol_builder_string(b, name, (size_t)size, &function.name, &err));
        size = snprintf(name, sizeof name, "src/module%u.cc", i % 17);
        MUST(pcol_builder_string(b, name, (size_t)size, &function.filename, &err));
        function.system_name = PCOL_NONE;
        MUST(pcol_builder_function(b, &function, &line.function, &err));
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        MUST(pcol_builder_group(b, &group, &groups[i], &err));
    }
    stacks[0] = 0;
    for (uint32_t i = 1; i < t->count; i++)
        MUST(pcol_builder_stack(b, stacks[t->parents[i]], groups[t->functions[i]], &stacks[i],
                                &err));
}

static void build(const struct tree *t, uint64_t count, unsigned flags, const char *path)
{
    uint32_t *stacks = malloc(t->count * sizeof *stacks), last[CORES] = {0};
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value values[2] = {{0}};
    pcol_builder *b;
    pcol_output *out;
    pcol_error err;
    if (!stacks)
        fail("out of memory", NULL);
    MUST(pcol_output_open(path, PCOL_OUTPUT_OVERWRITE | PCOL_OUTPUT_NO_SYNC, &out, &err));
    MUST(pcol_builder_new(NULL, &b, &err));
    source.type = "scale";
    MUST(pcol_builder_source(b, &source, &sample.source, &err));
    MUST(pcol_builder_sample_type(b, "samples", "count", 0, 0, &values[0].sample_type, &err));
    MUST(pcol_builder_sample_type(b, "cpu", "nanoseconds", 0, 0, &values[1].sample_type, &err));
    build_tree(b, t, stacks);
    sample.thread = PCOL_NONE;
    sample.values = values;
    sample.value_count = 2;
    sample.flags = PCOL_SAMPLE_HAS_TIME;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t core = (uint32_t)(i % CORES);
        last[core] = draw(t, last[core]);
        sample.stack = stacks[last[core]];
        sample.time_ns = (int64_t)(i / CORES * 10000000 + core * 40000 + below(30000));
        values[0].as.i64 = 1;
        values[1].as.i64 = 10000000 - (int64_t)below(1000) * 1000;
        MUST(pcol_builder_sample(b, &sample, NULL, &err));
    }
    MUST(pcol_builder_write(b, flags, NULL, pcol_output_sink(out), &err));
    MUST(pcol_output_commit(out, &err));
    pcol_builder_free(b);
    free(stacks);
}

/* ---- as text */

/* The line of a stack, innermost function first. */
static size_t put_line(const struct tree *t, uint32_t stack, char *to)
{
    char *at = to;
    for (; stack; stack = t->parents[stack])
        at += sprintf(at, "\"work_%u\" ", t->functions[stack]);
    *at++ = '\n';
    return (size_t)(at - to);
}

static void write_text(const struct tree *t, uint64_t count)
{
    size_t *ends = malloc((t->count + 1) * sizeof *ends), used = 0;
    char *lines = malloc((size_t)t->count * (DEEPEST + 1) * 12);
    uint32_t last[CORES] = {0};
    if (!ends || !lines)
        fail("out of memory", NULL);
    ends[0] = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        used += i && depth_of(t, i) ? put_line(t, i, lines + used) : 0;
        ends[i + 1] = used;
    }
    printf("sample.interval=10000\n");
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *stack = &last[i % CORES];
        *stack = draw(t, *stack);
        fwrite(lines + ends[*stack], 1, ends[*stack + 1] - ends[*stack], stdout);
    }
    free(lines);
    free(ends);
    if (fflush(stdout) != 0)
        fail("cannot write", NULL);
}

static const char usage[] = "usage: gen_scale --samples N [--stacks N] [--seed S] "
                            "[--plain|--archive] OUT | --text\n";

int main(int argc, char **argv)
{
    uint64_t samples = 10000, stacks = 10000, seed = 1;
    unsigned flags = 0;
    int text = 0;
    const char *path = NULL;
    struct tree tree;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--samples") == 0)
            samples = gen_number(argv[++i], UINT64_MAX, usage);
        else if (strcmp(argv[i], "--stacks") == 0)
            stacks = gen_number(argv[++i], UINT32_MAX, usage);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = gen_number(argv[++i], UINT64_MAX, usage);
        else if (strcmp(argv[i], "--plain") == 0)
            flags = PCOL_WRITE_PLAIN;
        else if (strcmp(argv[i], "--archive") == 0)
            flags = PCOL_WRITE_ARCHIVE;
        else if (strcmp(argv[i], "--text") == 0)
            text = 1;
        else
            path = argv[i];
    }
    if (!text == !path || stacks < 2 || stacks > 10000000) {
        fputs(usage, stderr);
        return 2;
    }
    gen_state = seed;
    grow(&tree, (uint32_t)stacks);
    if (text)
        write_text(&tree, samples);
    else
        build(&tree, samples, flags, path);
    free(tree.parents);
    free(tree.functions);
    return 0;
}
