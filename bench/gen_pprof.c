/*
 * gen_pprof - write a pprof profile of any size, deterministic for its options
 *
 * Models a CPU profile of a server: generates a program (files, functions, call sites, some
 * inlined) and samples random walks of several threads in turn. A sample has the labels thread,
 * endpoint, span_id (one for about twenty samples), thread_id (a number) and timestamp (a number
 * with a unit). A model from real Go profiles (10 MB) has 103 bytes a sample, depth 22, 0.41
 * distinct stacks and 4.3 tree nodes a sample; the output has, by seed, 85 to 91 bytes, depth 16 to
 * 20, 0.26 to 0.54 and 1.0 to 2.7.
 *
 * The order of messages matters, because a reader meets samples before the messages to which they
 * refer:
 *
 *     types | samples ... | mappings | locations | functions | strings | rest  (pprof's own writer)
 *     types | rest | sample, its new locations and functions, sample ...
 *           | mappings | strings                                               (--go)
 *
 * Only the generated program is in memory: ids are assigned by first use, and the text of span n is
 * a function of n.
 */
#include "gen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    FUNCTION_COUNT = 3000,
    ROOT_COUNT = 3, /* programs have few entry functions */
    CALLEE_MAX = 6,
    LEAF_LINES = 4,
    FILE_COUNT = 200,
    THREAD_COUNT = 24,
    ENDPOINT_COUNT = 80,
    DEPTH_MAX = 200,
    NAME_BYTES = 64,
    OUT_BYTES = 1 << 16,
    MESSAGE_BYTES = DEPTH_MAX * 10 + 512,
    /* Call sites of a function: one for each callee, one for its own code, and one for an
     * inlined callee (two lines). */
    PLACE_CALL = 0,
    PLACE_LEAF = PLACE_CALL + CALLEE_MAX,
    PLACE_INLINE = PLACE_LEAF + LEAF_LINES,
    PLACE_COUNT = PLACE_INLINE + CALLEE_MAX
};

/* Strings by number: fixed ones, then files, names, threads, endpoints, spans. */
enum {
    S_EMPTY,
    S_SAMPLES,
    S_COUNT,
    S_CPU,
    S_NANOSECONDS,
    S_THREAD,
    S_ENDPOINT,
    S_SPAN,
    S_THREAD_ID,
    S_TIMESTAMP,
    S_BINARY,
    S_BUILD_ID,
    S_FILES,
    S_NAMES = S_FILES + FILE_COUNT,
    S_THREADS = S_NAMES + FUNCTION_COUNT,
    S_ENDPOINTS = S_THREADS + THREAD_COUNT,
    S_SPANS = S_ENDPOINTS + ENDPOINT_COUNT
};
static const char *const fixed_strings[] = {
    "",          "samples",          "count",
    "cpu",       "nanoseconds",      "thread",
    "endpoint",  "span_id",          "thread_id",
    "timestamp", "/srv/shop/server", "5f2c0a3d9be14c7786d1e0b2a4f6c8d0"};

struct function {
    unsigned file, start_line, callee_count;
    bool tiny; /* inlined into its callers */
    unsigned callees[CALLEE_MAX];
    unsigned lines[CALLEE_MAX];
    uint64_t id; /* 0: unused */
    uint64_t places[PLACE_COUNT];
};

struct thread {
    unsigned depth, phase_depth, phase_left;
    unsigned at[DEPTH_MAX];   /* function of each frame, root first */
    unsigned from[DEPTH_MAX]; /* index of the callee in the previous frame */
    uint64_t span;
    unsigned span_left, endpoint;
    int64_t time;
};

struct options {
    uint64_t bytes, seed, run;
    unsigned depth_mean;
    bool labels, zipped, go;
};

struct out {
    gzFile zip; /* NULL: plain */
    uint64_t total;
    size_t used;
    uint8_t data[OUT_BYTES + MESSAGE_BYTES];
};

struct message {
    size_t used;
    uint8_t data[MESSAGE_BYTES];
};

static struct function functions[FUNCTION_COUNT];
static struct thread threads[THREAD_COUNT];
static struct out out;
static struct options options = {.bytes = 1000000, .seed = 1, .depth_mean = 24, .labels = true};
/* By first use, so id - 1 is the index. */
static unsigned used_places[FUNCTION_COUNT * PLACE_COUNT]; /* function * PLACE_COUNT + place */
static unsigned used_functions[FUNCTION_COUNT];
static uint64_t place_count, function_count, span_count;
static uint64_t pending; /* approximate bytes after the samples */

/* ---- output ---- */

static void fail(const char *what)
{
    fprintf(stderr, "gen_pprof: %s\n", what);
    exit(4);
}

static void flush(void)
{
    if (out.zip ? gzwrite(out.zip, out.data, (unsigned)out.used) != (int)out.used
                : fwrite(out.data, 1, out.used, stdout) != out.used)
        fail("cannot write");
    out.used = 0;
}

static void varint(struct message *m, uint64_t n)
{
    for (; n > 127; n >>= 7)
        m->data[m->used++] = (uint8_t)(n | 128);
    m->data[m->used++] = (uint8_t)n;
}

/* A number; 0 means an absent field. */
static void field(struct message *m, unsigned number, uint64_t n)
{
    if (!n)
        return;
    varint(m, number << 3);
    varint(m, n);
}

static void bytes_field(struct message *m, unsigned number, const void *data, size_t size)
{
    varint(m, number << 3 | 2);
    varint(m, size);
    memcpy(m->data + m->used, data, size);
    m->used += size;
}

/* Write a field of Profile. */
static void emit(unsigned number, const struct message *m)
{
    struct message head = {0};
    varint(&head, number << 3 | 2);
    varint(&head, m->used);
    memcpy(out.data + out.used, head.data, head.used);
    memcpy(out.data + out.used + head.used, m->data, m->used);
    out.used += head.used + m->used;
    out.total += head.used + m->used;
    if (out.used >= OUT_BYTES)
        flush();
}

static void emit_number(unsigned number, uint64_t n)
{
    struct message m = {0};
    field(&m, number, n);
    memcpy(out.data + out.used, m.data, m.used);
    out.used += m.used;
    out.total += m.used;
}

static void emit_type(unsigned number, unsigned type, unsigned unit)
{
    struct message m = {0};
    field(&m, 1, type);
    field(&m, 2, unit);
    emit(number, &m);
}

/* ---- the generated program ---- */

static const char *const packages[] = {"cart", "catalog", "search", "billing", "store", "session"};
static const char *const types[] = {"Index", "Reader", "Order", "Session", "Tree", "Queue", "Page"};
static const char *const verbs[] = {"Find",  "Decode", "Merge", "Render", "Insert", "Walk",
                                    "Split", "Check",  "Load",  "Hash",   "Sum"};

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static size_t string_text(unsigned n, char *text)
{
    const char *package = packages[n % COUNT(packages)], *verb = verbs[n / 7 % COUNT(verbs)];
    int size;
    if (n < S_FILES)
        size = snprintf(text, NAME_BYTES, "%s", fixed_strings[n]);
    else if (n < S_NAMES)
        size = snprintf(text, NAME_BYTES, "/srv/shop/src/%s/%s_%u.go", package, verb, n - S_FILES);
    else if (n < S_THREADS && n % 3)
        size = snprintf(text, NAME_BYTES, "shop.example/%s.(*%s).%s%u", package,
                        types[n / 5 % COUNT(types)], verb, n - S_NAMES);
    else if (n < S_THREADS)
        size = snprintf(text, NAME_BYTES, "shop.example/%s.%s%u", package, verb, n - S_NAMES);
    else if (n < S_ENDPOINTS)
        size = snprintf(text, NAME_BYTES, "worker-%02u", n - S_THREADS);
    else
        size = snprintf(text, NAME_BYTES, "GET /api/v1/%s/%u", package, n - S_ENDPOINTS);
    return (size_t)size;
}

static void make_program(void)
{
    for (unsigned i = 0; i < FUNCTION_COUNT; i++) {
        struct function *f = &functions[i];
        f->file = below(FILE_COUNT);
        f->start_line = 1 + below(1500);
        f->tiny = i >= ROOT_COUNT && chance(120);
        f->callee_count = f->tiny                          ? 0
                          : i >= ROOT_COUNT && chance(400) ? 1
                                                           : 2 + below(CALLEE_MAX - 1);
        for (unsigned c = 0; c < CALLEE_MAX; c++) {
            /* Functions call their neighbours, which gives the cycles of recursive code. */
            unsigned far = below(chance(500) ? FUNCTION_COUNT : FUNCTION_COUNT / 8);
            unsigned near = (i + FUNCTION_COUNT - 4 + below(9)) % FUNCTION_COUNT;
            f->callees[c] = chance(350) ? near : far;
            f->lines[c] = f->start_line + 1 + below(60);
        }
    }
}

/* ---- tables ---- */

static void put_function(unsigned f)
{
    struct message m = {0};
    field(&m, 1, functions[f].id);
    field(&m, 2, S_NAMES + f);
    field(&m, 3, S_NAMES + f);
    field(&m, 4, S_FILES + functions[f].file);
    field(&m, 5, functions[f].start_line);
    emit(5, &m);
}

static void put_line(struct message *m, unsigned f, unsigned line)
{
    struct message inner = {0};
    field(&inner, 1, functions[f].id);
    field(&inner, 2, line);
    bytes_field(m, 4, inner.data, inner.used);
}

static void put_location(unsigned place_of)
{
    unsigned f = place_of / PLACE_COUNT, place = place_of % PLACE_COUNT;
    const struct function *function = &functions[f];
    struct message m = {0};
    field(&m, 1, function->places[place]);
    field(&m, 2, 1);
    field(&m, 3, UINT64_C(0x401000) + f * UINT64_C(0x330) + place * 0x13);
    if (place >= PLACE_INLINE) {
        unsigned callee = function->callees[place - PLACE_INLINE];
        put_line(&m, callee, functions[callee].start_line + 1);
        put_line(&m, f, function->lines[place - PLACE_INLINE]);
    } else if (place >= PLACE_LEAF) {
        put_line(&m, f, function->start_line + 2 + 7 * (place - PLACE_LEAF));
    } else {
        put_line(&m, f, function->lines[place]);
    }
    emit(4, &m);
}

static void use_function(unsigned f)
{
    if (functions[f].id)
        return;
    used_functions[function_count] = f;
    functions[f].id = ++function_count;
    if (options.go)
        put_function(f);
    else
        pending += 16;
}

/* The id of a location; a new one is added (and with --go written, as Go does). */
static uint64_t use_place(unsigned f, unsigned place)
{
    uint64_t *id = &functions[f].places[place];
    if (*id)
        return *id;
    unsigned place_of = f * PLACE_COUNT + place;
    used_places[place_count] = place_of;
    *id = ++place_count;
    if (place >= PLACE_INLINE)
        use_function(functions[f].callees[place - PLACE_INLINE]);
    use_function(f);
    if (options.go)
        put_location(place_of);
    else
        pending += 20;
    return *id;
}

static void put_mapping(void)
{
    struct message m = {0};
    field(&m, 1, 1);
    field(&m, 2, UINT64_C(0x400000));
    field(&m, 3, UINT64_C(0x900000));
    field(&m, 5, S_BINARY);
    field(&m, 6, S_BUILD_ID);
    for (unsigned flag = 7; flag <= 10; flag++)
        field(&m, flag, 1);
    emit(3, &m);
}

static void put_strings(void)
{
    for (uint64_t n = 0; n < S_SPANS + span_count; n++) {
        char text[NAME_BYTES];
        struct message m = {0};
        if (n < S_SPANS)
            m.used = string_text((unsigned)n, text);
        else
            m.used = (size_t)snprintf(text, sizeof text, "%016" PRIx64,
                                      gen_mix(options.seed * 1000003 + n - S_SPANS));
        memcpy(m.data, text, m.used);
        emit(6, &m);
    }
}

static void put_rest(int64_t duration)
{
    emit_number(9, UINT64_C(1700000000000000000));
    emit_number(10, (uint64_t)duration);
    emit_type(11, S_CPU, S_NANOSECONDS);
    emit_number(12, 10000000);
    emit_number(14, S_CPU);
}

/* ---- the random walk ---- */

static void call_one(struct thread *t)
{
    unsigned c = 0;
    if (t->depth == 0) {
        t->at[0] = below(ROOT_COUNT);
        t->from[t->depth++] = 0;
        return;
    }
    const struct function *f = &functions[t->at[t->depth - 1]];
    /* The first callee gets most of the calls, the last one few. */
    if (f->callee_count > 1 && !chance(450)) {
        unsigned x = 1 + below(f->callee_count - 1), y = 1 + below(f->callee_count - 1);
        c = x < y ? x : y;
    }
    t->at[t->depth] = f->callees[c];
    t->from[t->depth++] = c;
}

static void step(struct thread *t)
{
    if (t->phase_left-- == 0) {
        t->phase_left = 20 + below(200);
        t->phase_depth = options.depth_mean / 4 + 1 + below(options.depth_mean * 3 / 2 + 1);
    }
    unsigned wanted = t->phase_depth / 2 + 1 + below(t->phase_depth + 1);
    if (wanted > DEPTH_MAX)
        wanted = DEPTH_MAX;
    unsigned back = chance(150) ? below(t->depth + 1) : about(6);
    unsigned keep = t->depth > back ? t->depth - back : 0;
    t->depth = keep < wanted ? keep : wanted;
    while (t->depth < wanted && (!t->depth || functions[t->at[t->depth - 1]].callee_count))
        call_one(t);
    if (t->span_left-- == 0) {
        t->span = span_count++;
        t->span_left = about(20);
        unsigned x = below(ENDPOINT_COUNT), y = below(ENDPOINT_COUNT);
        t->endpoint = x < y ? x : y;
        pending += 18;
    }
}

static void put_label(struct message *m, unsigned key, uint64_t text, uint64_t number,
                      unsigned unit)
{
    struct message label = {0};
    field(&label, 1, key);
    field(&label, 2, text);
    field(&label, 3, number);
    field(&label, 4, unit);
    bytes_field(m, 3, label.data, label.used);
}

static void put_sample(unsigned n, int64_t time)
{
    struct thread *t = &threads[n];
    struct message m = {0}, stack = {0}, values = {0};
    unsigned depth = t->depth, count = chance(30) ? 2 + below(3) : 1;
    const struct function *leaf = &functions[t->at[depth - 1]];
    if (leaf->tiny && depth > 1) {
        varint(&stack, use_place(t->at[depth - 2], PLACE_INLINE + t->from[depth - 1]));
        depth -= 2;
    } else {
        varint(&stack, use_place(t->at[depth - 1], PLACE_LEAF + below(LEAF_LINES)));
        depth--;
    }
    for (; depth; depth--)
        varint(&stack, use_place(t->at[depth - 1], PLACE_CALL + t->from[depth]));
    varint(&values, count);
    varint(&values, count * UINT64_C(10000000));
    bytes_field(&m, 1, stack.data, stack.used);
    bytes_field(&m, 2, values.data, values.used);
    if (options.labels && !chance(20)) {
        put_label(&m, S_THREAD, S_THREADS + n, 0, 0);
        put_label(&m, S_ENDPOINT, S_ENDPOINTS + t->endpoint, 0, 0);
        put_label(&m, S_SPAN, S_SPANS + t->span, 0, 0);
        put_label(&m, S_THREAD_ID, 0, 140000 + n, 0);
        put_label(&m, S_TIMESTAMP, 0, (uint64_t)(INT64_C(1700000000000000000) + time),
                  S_NANOSECONDS);
    }
    emit(2, &m);
}

static void generate(void)
{
    const int64_t tick = 1000000;
    int64_t time = 0;
    pending = S_SPANS * UINT64_C(34) + 200;
    emit_type(1, S_SAMPLES, S_COUNT);
    emit_type(1, S_CPU, S_NANOSECONDS);
    if (options.go)
        put_rest(tick * (int64_t)(options.bytes / 100 + 1));
    while (out.total + pending < options.bytes) {
        unsigned n = below(THREAD_COUNT);
        step(&threads[n]);
        time += tick + below(40000);
        put_sample(n, time);
    }
    put_mapping();
    for (uint64_t i = 0; !options.go && i < place_count; i++)
        put_location(used_places[i]);
    for (uint64_t i = 0; !options.go && i < function_count; i++)
        put_function(used_functions[i]);
    put_strings();
    if (!options.go)
        put_rest(time);
    flush();
}

/* ---- options ---- */

static const char usage[] =
    "usage: gen_pprof [--bytes N[k|M|G]] [--seed S] [--run R] [--depth-mean D] [--no-labels]\n"
    "                 [--go] [--gz]\n"
    "Writes a pprof profile of about N bytes before compression (default 1M) to stdout; D is 24\n"
    "unless given, at most 100. Another R is another run of the same program. --gz compresses,\n"
    "--go writes in the order of Go's runtime.\n"
    "The same options give the same bytes (compressed: with the same zlib).\n";

static void parse_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--bytes") == 0) {
            options.bytes = gen_number(value, UINT64_MAX / 2, usage);
            i++;
        } else if (strcmp(name, "--seed") == 0) {
            options.seed = gen_number(value, UINT64_MAX, usage);
            i++;
        } else if (strcmp(name, "--run") == 0) {
            options.run = gen_number(value, UINT64_MAX, usage);
            i++;
        } else if (strcmp(name, "--depth-mean") == 0) {
            options.depth_mean = (unsigned)gen_number(value, 100, usage);
            i++;
        } else if (strcmp(name, "--no-labels") == 0) {
            options.labels = false;
        } else if (strcmp(name, "--go") == 0) {
            options.go = true;
        } else if (strcmp(name, "--gz") == 0) {
            options.zipped = true;
        } else if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else {
            fprintf(stderr, "gen_pprof: unknown option %s\n%s", name, usage);
            exit(2);
        }
    }
    if (options.depth_mean == 0)
        options.depth_mean = 1;
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    gen_state = options.seed;
    if (options.zipped && !(out.zip = gzdopen(1, "wb6")))
        fail("cannot write");
    make_program();
    gen_run(options.run); /* another walk through the same program */
    generate();
    if (out.zip ? gzclose(out.zip) != Z_OK : fflush(stdout) != 0)
        fail("cannot write");
    return 0;
}
