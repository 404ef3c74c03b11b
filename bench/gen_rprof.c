/*
 * gen_rprof - write Rprof text of any size, deterministic for its options
 *
 * Models a real profile: generates a program (functions, call graph, frequencies, lines) and
 * samples a random walk through it. Between two samples a few inner frames return and others are
 * called; sometimes the stack unwinds far; phases change the mean depth. A recorded run of R's byte
 * compiler over its base package (6 MB) has 338 bytes a line, depth 28, two thirds of the frames
 * shared with the previous sample, 0.49 new stacks and 2.0 new tree nodes a sample; the output has,
 * by seed, 310 to 420 bytes, depth 27 to 31, three quarters shared, 0.6 to 0.7 new stacks and 2.9
 * to 3.7 nodes; at 60 MB 0.4 and 1.8.
 *
 * The stack is text, innermost frame first, and grows towards the start of its buffer:
 *
 *     buffer [ ......... "f" 1#3 "g" "h" "main" ]
 *                        ^ start of depth 4  ^ start of depth 1
 *
 * A call prepends a frame, a return moves the start, and a sample is one copy.
 *
 * Uses integer arithmetic and its own random numbers: the C library's rand and floating point would
 * not give the same bytes on every machine.
 */
#include "gen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTION_COUNT = 512,
    CALLEE_MAX = 6,
    FILE_COUNT = 12,
    DEPTH_MAX = 400,
    NAME_BYTES = 48,
    FRAME_BYTES = NAME_BYTES + 32,
    OUT_BYTES = 1 << 20,
    LINE_BYTES = DEPTH_MAX * FRAME_BYTES + 256
};

struct function {
    char name[NAME_BYTES];
    unsigned file; /* from 1; 0: no source */
    unsigned callee_count;
    unsigned callees[CALLEE_MAX];
    unsigned lines[CALLEE_MAX]; /* line of each call */
};

struct options {
    uint64_t bytes;
    uint64_t seed, run;
    unsigned depth_mean;
    bool memory, gc, line;
};

struct walk {
    struct function functions[FUNCTION_COUNT];
    unsigned depth;
    unsigned at[DEPTH_MAX]; /* function of each frame, root first */
    char *start[DEPTH_MAX]; /* start of the text of each depth */
    char text[DEPTH_MAX * FRAME_BYTES];
    unsigned phase_depth, phase_left;
    unsigned file_number[FILE_COUNT + 1]; /* as in R: by first use */
    unsigned files_used;
    unsigned files_new[FILE_COUNT]; /* used since the last sample */
    unsigned new_count;
};

struct heap {
    uint64_t small, large, nodes; /* nodes in units of 56 bytes */
    uint64_t small_limit;
};

struct out {
    char *data;
    size_t used;
    uint64_t total;
};

/* ---- the generated program ---- */

/* Names of R itself, separated by blanks. */
static const char base_names[] =
    "FUN lapply vapply sapply Map mapply Reduce Filter do.call eval evalq withCallingHandlers "
    "tryCatch tryCatchList tryCatchOne doTryCatch try source withVisible match.arg match.fun "
    "paste paste0 sprintf format format.default formatC prettyNum gsub sub grepl regmatches "
    "strsplit nchar substr toupper trimws unlist rbind cbind data.frame [.data.frame "
    "[[.data.frame [<-.data.frame $<-.data.frame as.data.frame as.data.frame.list "
    "merge.data.frame merge order sort sort.default sort.int rank unique unique.default "
    "duplicated factor levels<- table tapply split split.default aggregate aggregate.data.frame "
    "model.frame model.frame.default model.matrix model.matrix.default lm lm.fit glm glm.fit "
    "residuals predict predict.lm anova summary.lm loess simpleLoess optim fn gr integrate f "
    "uniroot crossprod solve solve.default qr qr.default chol svd apply sweep scale.default "
    "outer %in% %o% %*% [ [[ $ + == is.na ifelse seq_len rep rev mean mean.default var rnorm "
    "runif sample sample.int <Anonymous> parse deparse cmp cmpCall tryInline h genCode cmpfun "
    "cb$putconst cb$makelabel findCenvVar lazyLoadDBfetch readRDS scan read.table type.convert "
    "type.convert.default write.table cat print print.default";
static const char *const packages[] = {"stats", "utils", "dplyr",  "vctrs",
                                       "rlang", "purrr", "Matrix", "methods:::.int"};
static const char *const verbs[] = {"read", "parse", "clean", "join", "group", "fit",
                                    "plot", "set",   "check", "draw", "sum",   "fold"};
static const char *const nouns[] = {"rows",  "tree",  "model", "cells", "names",
                                    "table", "index", "dates", "paths", "x"};

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* The next name of base_names, or false after the last. */
static bool next_base_name(const char **rest, char *name)
{
    size_t size = strcspn(*rest, " ");
    if (size == 0)
        return false;
    memcpy(name, *rest, size);
    name[size] = '\0';
    *rest += size + ((*rest)[size] == ' ');
    return true;
}

/* Names of packages and of users; only users' functions have source lines. */
static void make_name(struct function *f, unsigned n)
{
    const char *verb = verbs[n % COUNT(verbs)];
    const char *noun = nouns[n / COUNT(verbs) % COUNT(nouns)];
    switch (n % 7) {
    case 0:
    case 3:
        snprintf(f->name, sizeof f->name, "%s::%s", packages[below(COUNT(packages))], verb);
        break;
    case 1:
        snprintf(f->name, sizeof f->name, "%s.%s", verb, noun);
        break;
    case 2:
        snprintf(f->name, sizeof f->name, "self$%s%u", verb, n / 84);
        break;
    default:
        snprintf(f->name, sizeof f->name, "%s_%s", verb, noun);
        f->file = 1 + below(FILE_COUNT);
        break;
    }
}

static void make_program(struct walk *w)
{
    const char *rest = base_names;
    for (unsigned i = 0; i < FUNCTION_COUNT; i++) {
        struct function *f = &w->functions[i];
        if (!next_base_name(&rest, f->name))
            make_name(f, i);
        /* Many functions only call another one, like tryCatch and its helpers. */
        f->callee_count = chance(550) ? 1 : 2 + below(CALLEE_MAX - 1);
        for (unsigned c = 0; c < f->callee_count; c++) {
            /* Functions call their neighbours, which gives the cycles of recursive code. */
            unsigned far = below(chance(500) ? FUNCTION_COUNT : FUNCTION_COUNT / 4);
            unsigned near = (i + FUNCTION_COUNT - 4 + below(9)) % FUNCTION_COUNT;
            f->callees[c] = chance(350) ? near : far;
            f->lines[c] = 1 + below(400);
        }
    }
}

/* ---- the random walk ---- */

static char *put_number(char *p, uint64_t n)
{
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (count)
        *p++ = digits[--count];
    return p;
}

static char *put_text(char *p, const char *text, size_t size)
{
    memcpy(p, text, size);
    return p + size;
}

static char *put_ref(struct walk *w, char *p, unsigned file, unsigned line)
{
    if (!w->file_number[file]) {
        w->file_number[file] = ++w->files_used;
        w->files_new[w->new_count++] = file;
    }
    p = put_number(p, w->file_number[file]);
    *p++ = '#';
    p = put_number(p, line);
    *p++ = ' ';
    return p;
}

/* Prepend the text of a called frame, `"name" ref`; ref is the line of the call in its caller. */
static void call(struct walk *w, const struct options *o, unsigned function, unsigned caller_file,
                 unsigned line)
{
    const struct function *f = &w->functions[function];
    char frame[FRAME_BYTES];
    char *p = frame;
    *p++ = '"';
    p = put_text(p, f->name, strlen(f->name));
    p = put_text(p, "\" ", 2);
    if (o->line && caller_file)
        p = put_ref(w, p, caller_file, line);
    size_t size = (size_t)(p - frame);
    char *end = w->depth ? w->start[w->depth - 1] : w->text + sizeof w->text;
    w->start[w->depth] = end - size;
    memcpy(end - size, frame, size);
    w->at[w->depth++] = function;
}

static void call_some(struct walk *w, const struct options *o)
{
    if (w->depth == 0) {
        /* Programs have few entry functions. */
        call(w, o, FUNCTION_COUNT - 1 - below(3), 0, 0);
        return;
    }
    const struct function *f = &w->functions[w->at[w->depth - 1]];
    /* The first callee gets most of the calls, the last one few. */
    unsigned c = 0;
    if (f->callee_count > 1 && !chance(780)) {
        unsigned x = 1 + below(f->callee_count - 1), y = 1 + below(f->callee_count - 1);
        c = x < y ? x : y;
    }
    call(w, o, f->callees[c], f->file, f->lines[c]);
}

static void step(struct walk *w, const struct options *o)
{
    if (w->phase_left-- == 0) {
        w->phase_left = 50 + below(400);
        w->phase_depth = o->depth_mean / 4 + 1 + below(o->depth_mean * 3 / 2 + 1);
    }
    unsigned wanted = w->phase_depth / 2 + 1 + below(w->phase_depth + 1);
    if (wanted > DEPTH_MAX)
        wanted = DEPTH_MAX;
    unsigned back = chance(30) ? below(w->depth + 1) : about(4);
    unsigned keep = w->depth > back ? w->depth - back : 0;
    w->depth = keep < wanted ? keep : wanted;
    while (w->depth < wanted)
        call_some(w, o);
}

/* ---- memory ---- */

static bool collect(struct heap *h)
{
    if (h->small < h->small_limit)
        return false;
    h->small = h->small_limit / 2 + below(1 << 17);
    h->large = h->large / 2 + below(1 << 16);
    h->nodes = h->nodes / 2 + below(1 << 14);
    h->small_limit = h->small * 2 + (UINT64_C(1) << 18);
    if (h->small_limit > UINT64_C(6000000))
        h->small_limit = UINT64_C(1200000);
    return true;
}

static void allocate(struct heap *h)
{
    h->small += 4000 + below(16000);
    h->large += chance(100) ? below(200000) : below(4000);
    h->nodes += 8000 + below(40000);
}

static char *put_memory(char *p, const struct heap *h)
{
    const uint64_t columns[] = {h->small, h->large, h->nodes * 56, below(1000)};
    for (unsigned i = 0; i < COUNT(columns); i++) {
        *p++ = ':';
        p = put_number(p, columns[i]);
    }
    *p++ = ':';
    return p;
}

/* ---- output ---- */

static void flush(struct out *out)
{
    if (fwrite(out->data, 1, out->used, stdout) != out->used) {
        perror("gen_rprof");
        exit(4);
    }
    out->total += out->used;
    out->used = 0;
}

static void put_files(struct walk *w, struct out *out)
{
    for (unsigned i = 0; i < w->new_count; i++) {
        unsigned file = w->files_new[i];
        out->used +=
            (size_t)sprintf(out->data + out->used, "#File %u: R/%s_%s.R\n", w->file_number[file],
                            nouns[file % COUNT(nouns)], verbs[file % COUNT(verbs)]);
    }
    w->new_count = 0;
}

static void put_sample(struct walk *w, const struct options *o, struct heap *heap, struct out *out)
{
    char ref[32];
    char *ref_end = ref;
    const struct function *inner = &w->functions[w->at[w->depth - 1]];
    allocate(heap);
    bool collected = collect(heap) || chance(30);
    if (o->line && inner->file && chance(700))
        ref_end = put_ref(w, ref, inner->file, inner->lines[0] + below(3));
    put_files(w, out);

    char *p = out->data + out->used;
    if (o->memory)
        p = put_memory(p, heap);
    if (o->gc && collected)
        p = put_text(p, "\"<GC>\" ", 7);
    p = put_text(p, ref, (size_t)(ref_end - ref));
    const char *start = w->start[w->depth - 1];
    p = put_text(p, start, (size_t)(w->text + sizeof w->text - start));
    *p++ = '\n';
    out->used = (size_t)(p - out->data);
}

static void generate(struct walk *w, const struct options *o, struct out *out)
{
    struct heap heap = {.small = 420000, .large = 780000, .nodes = 650000, .small_limit = 900000};
    out->used = (size_t)sprintf(out->data, "%s%s%ssample.interval=10000\n",
                                o->memory ? "memory profiling: " : "",
                                o->gc ? "GC profiling: " : "", o->line ? "line profiling: " : "");
    while (out->total + out->used < o->bytes) {
        step(w, o);
        put_sample(w, o, &heap, out);
        if (out->used > OUT_BYTES)
            flush(out);
    }
    flush(out);
}

/* ---- options ---- */

static const char usage[] =
    "usage: gen_rprof [--bytes N[k|M|G]] [--seed S] [--run R] [--memory] [--gc] [--line]\n"
    "                 [--depth-mean D]\n"
    "Writes Rprof text of N bytes or up to one line more (default 1M) to stdout; D is 28 unless "
    "given, at most 200. Another R is another run of the same program.\n"
    "The same options give the same bytes.\n";

static void parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--bytes") == 0) {
            o->bytes = gen_number(value, UINT64_MAX / 2, usage);
            i++;
        } else if (strcmp(name, "--seed") == 0) {
            o->seed = gen_number(value, UINT64_MAX, usage);
            i++;
        } else if (strcmp(name, "--run") == 0) {
            o->run = gen_number(value, UINT64_MAX, usage);
            i++;
        } else if (strcmp(name, "--depth-mean") == 0) {
            o->depth_mean = (unsigned)gen_number(value, 200, usage);
            i++;
        } else if (strcmp(name, "--memory") == 0) {
            o->memory = true;
        } else if (strcmp(name, "--gc") == 0) {
            o->gc = true;
        } else if (strcmp(name, "--line") == 0) {
            o->line = true;
        } else if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else {
            fprintf(stderr, "gen_rprof: unknown option %s\n%s", name, usage);
            exit(2);
        }
    }
    if (o->depth_mean == 0)
        o->depth_mean = 1;
}

int main(int argc, char **argv)
{
    static struct walk walk;
    static char buffer[OUT_BYTES + LINE_BYTES];
    struct out out = {.data = buffer};
    struct options o = {.bytes = 1000000, .seed = 1, .depth_mean = 28};
    parse_options(argc, argv, &o);
    gen_state = o.seed;
    setvbuf(stdout, NULL, _IONBF, 0);
    make_program(&walk);
    gen_run(o.run); /* another walk through the same program */
    generate(&walk, &o, &out);
    return 0;
}
