/*
 * write_profile.c - an example: write a profile from a sampler of your own
 *
 *     write_profile OUTPUT.pcol
 *
 * The sampler is that of an interpreter: it keeps a stack of the functions that run, and each
 * millisecond adds a sample with the present stack. Time is simulated here, so that the output is
 * always the same.
 */
#include <pcol.h>

#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 64

struct sampler {
    pcol_builder *builder;
    uint32_t source, sample_type;
    uint32_t stacks[MAX_DEPTH]; /* of the builder; stacks[0] is the empty one */
    unsigned depth;
    int64_t now_ns;
    pcol_status status; /* the first failure; calls after it do nothing */
    pcol_error err;
};

#define TRY(s, call)                \
    do {                            \
        if ((s)->status == PCOL_OK) \
            (s)->status = (call);   \
    } while (0)

static void begin(struct sampler *s)
{
    pcol_source source = PCOL_INIT(pcol_source);
    source.type = "example";
    source.flags = PCOL_SOURCE_HAS_INTERVAL;
    source.interval_ns = 1000000;
    memset(s, 0, sizeof *s);
    TRY(s, pcol_builder_new(NULL, &s->builder, &s->err));
    TRY(s, pcol_builder_source(s->builder, &source, &s->source, &s->err));
    TRY(s,
        pcol_builder_sample_type(s->builder, "samples", "count", 0, 0, &s->sample_type, &s->err));
}

/* A function is called; equal functions, locations and stacks are stored once. */
static void enter(struct sampler *s, const char *name, const char *filename, int64_t line)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line place;
    uint32_t row = 0;

    if (s->depth + 1 == MAX_DEPTH)
        s->status = pcol_error_set(&s->err, PCOL_E_LIMIT, 0, "more than %d calls", MAX_DEPTH);
    memset(&place, 0, sizeof place);
    function.system_name = PCOL_NONE;
    TRY(s, pcol_builder_string(s->builder, name, strlen(name), &function.name, &s->err));
    TRY(s,
        pcol_builder_string(s->builder, filename, strlen(filename), &function.filename, &s->err));
    TRY(s, pcol_builder_function(s->builder, &function, &place.function, &s->err));
    place.filename = PCOL_NONE;
    place.line = line;
    place.flags = PCOL_LINE_HAS_LINE;
    group.lines = &place;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    TRY(s, pcol_builder_group(s->builder, &group, &row, &s->err));
    TRY(s, pcol_builder_stack(s->builder, s->stacks[s->depth], row, &s->stacks[s->depth + 1],
                              &s->err));
    s->depth += s->status == PCOL_OK;
}

static void leave(struct sampler *s)
{
    s->depth -= s->status == PCOL_OK;
}

/* The program runs for so long: a sample each millisecond. */
static void work(struct sampler *s, unsigned ms)
{
    for (; ms; ms--) {
        pcol_sample sample = PCOL_INIT(pcol_sample);
        pcol_value value;
        value.sample_type = s->sample_type;
        value.as.i64 = 1;
        sample.flags = PCOL_SAMPLE_HAS_TIME;
        sample.source = s->source;
        sample.stack = s->stacks[s->depth];
        sample.values = &value;
        sample.value_count = 1;
        sample.thread = PCOL_NONE;
        sample.time_ns = s->now_ns += 1000000;
        TRY(s, pcol_builder_sample(s->builder, &sample, NULL, &s->err));
    }
}

/* The file appears under its name when it is complete, or not at all. */
static void write_file(struct sampler *s, const char *path)
{
    pcol_output *output = NULL;
    TRY(s, pcol_output_open(path, PCOL_OUTPUT_OVERWRITE, &output, &s->err));
    TRY(s, pcol_builder_write(s->builder, 0, NULL, pcol_output_sink(output), &s->err));
    if (s->status == PCOL_OK)
        s->status = pcol_output_commit(output, &s->err);
    else
        pcol_output_abort(output);
}

int main(int argc, char **argv)
{
    static struct sampler s;
    if (argc != 2) {
        fprintf(stderr, "usage: write_profile OUTPUT.pcol\n");
        return 2;
    }
    begin(&s);
    enter(&s, "main", "demo.c", 10);
    enter(&s, "load", "demo.c", 20);
    work(&s, 3);
    leave(&s);
    enter(&s, "render", "demo.c", 30);
    work(&s, 2);
    enter(&s, "draw", "draw.c", 5);
    work(&s, 4);
    leave(&s);
    leave(&s);
    leave(&s);
    write_file(&s, argv[1]);
    pcol_builder_free(s.builder);
    if (s.status != PCOL_OK)
        fprintf(stderr, "write_profile: %s: %s\n", argv[1], s.err.message);
    return s.status != PCOL_OK;
}
