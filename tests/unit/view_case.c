/*
 * view_case.c - random profiles for tests of views and lanes
 */
#include "view_case.h"

#include <stdio.h>
#include <string.h>

uint64_t view_seed = 1;

uint32_t view_dice(uint32_t sides)
{
    view_seed = view_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(view_seed >> 33) % sides;
}

static uint32_t string(pcol_builder *b, const char *text, size_t size)
{
    uint32_t code;
    MUST(pcol_builder_string(b, text, size, &code, err));
    return code;
}

static uint32_t function(pcol_builder *b, char name)
{
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t row;
    f.name = string(b, &name, 1);
    f.system_name = f.filename = PCOL_NONE;
    MUST(pcol_builder_function(b, &f, &row, err));
    return row;
}

/* Groups of one function, or of two: the second is inlined into the first. `line` makes different
 * locations of one function. */
static uint32_t group(pcol_builder *b, const char *names, int count)
{
    pcol_line lines[2] = {{0}};
    pcol_group g = PCOL_INIT(pcol_group);
    uint32_t row;
    for (int i = 0; i < count; i++) {
        lines[count - 1 - i].function = function(b, names[i]);
        lines[count - 1 - i].filename = PCOL_NONE;
        lines[count - 1 - i].line = 1 + view_dice(2);
    }
    g.lines = lines;
    g.line_count = (size_t)count;
    g.mapping = PCOL_NONE;
    MUST(pcol_builder_group(b, &g, &row, err));
    return row;
}

static uint32_t stack(pcol_builder *b, const char *names)
{
    uint32_t row = 0;
    while (*names) {
        int count = names[1] && view_dice(4) == 0 ? 2 : 1;
        MUST(pcol_builder_stack(b, row, group(b, names, count), &row, err));
        names += count;
    }
    return row;
}

static void invent(struct view_case *c, unsigned what)
{
    const char *letters = what & VIEW_OTHERS ? "fxcayb" : "abcdef";
    int64_t clock = 0;
    c->count = 20 + (int)view_dice(VIEW_SAMPLES - 20);
    for (int i = 0; i < c->count; i++) {
        struct view_sample *s = &c->samples[i];
        size_t depth = view_dice(20) ? 1 + view_dice(VIEW_DEPTH) : 0;
        for (size_t d = 0; d < depth; d++)
            s->stack[d] = letters[view_dice(d < 2 ? 2 : 6)];
        s->value = (int64_t)view_dice(9) - (what & VIEW_NEGATIVE ? 4 : 0);
        s->thread = (int)view_dice(VIEW_THREADS + 1) - 1;
        clock += view_dice(30);
        s->has_time = view_dice(10) > 0;
        s->time = what & VIEW_DISORDER ? (int64_t)view_dice(600) : clock;
        s->duration = what & VIEW_DURATION && view_dice(3) ? (int64_t)view_dice(90) : -1;
        s->cpu_delta = what & VIEW_CPU && view_dice(4) ? (int64_t)view_dice(100) : -1;
        s->label = (int)view_dice(4) - 1;
    }
}

static void write_sample(pcol_builder *b, struct view_case *c, const struct view_sample *from,
                         uint32_t source, uint32_t type)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    pcol_value value = {.sample_type = type};
    uint64_t row;
    if (c->is_double)
        value.as.f64 = (double)from->value;
    else
        value.as.i64 = from->value;
    s.source = source;
    s.stack = stack(b, from->stack);
    s.values = &value;
    s.value_count = 1;
    s.thread = from->thread < 0 ? PCOL_NONE : (uint32_t)from->thread;
    s.flags = (from->has_time ? PCOL_SAMPLE_HAS_TIME : 0) |
              (from->duration >= 0 ? PCOL_SAMPLE_HAS_DURATION : 0) |
              (from->cpu_delta >= 0 ? PCOL_SAMPLE_HAS_CPU_DELTA : 0);
    s.time_ns = from->time;
    s.duration_ns = from->duration;
    s.cpu_delta_ns = from->cpu_delta;
    MUST(pcol_builder_sample(b, &s, &row, err));
    if (from->label < 0)
        return;
    char text = (char)('a' + from->label);
    pcol_label label = {.key = string(b, "key", 3), .unit = PCOL_NONE, .type = PCOL_STRING};
    label.as.string = string(b, &text, 1);
    MUST(pcol_builder_labels(b, row, &label, 1, err));
}

static void write_threads(pcol_builder *b)
{
    uint32_t table, name, sources, of;
    MUST(pcol_builder_table(b, "threads", &table, err));
    MUST(pcol_builder_table(b, "sources", &sources, err));
    MUST(pcol_builder_column(b, table, "source", PCOL_U32, sources + 1, &of, err));
    MUST(pcol_builder_column(b, table, "name", PCOL_STRING, 0, &name, err));
    for (uint64_t i = 0; i < VIEW_THREADS; i++) {
        char text[8];
        snprintf(text, sizeof text, "t%d", (int)i);
        MUST(pcol_builder_set_i64(b, of, i, 0, err));
        MUST(pcol_builder_set_str(b, name, i, text, 2, err));
    }
}

void view_begin(struct view_case *c, unsigned what)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_builder *b;
    uint32_t of, type;
    memset(c, 0, sizeof *c);
    c->is_double = (what & VIEW_DOUBLE) != 0;
    invent(c, what);
    source.type = "folded";
    MUST(pcol_builder_new(NULL, &b, err));
    MUST(pcol_builder_source(b, &source, &of, err));
    MUST(pcol_builder_sample_type(b, "samples", "count", c->is_double ? PCOL_SAMPLE_TYPE_DOUBLE : 0,
                                  0, &type, err));
    write_threads(b);
    for (int i = 0; i < c->count; i++)
        write_sample(b, c, &c->samples[i], of, type);
    MUST(pcol_builder_file(b, 0, NULL, &c->file, err));
    pcol_builder_free(b);
}

void view_end(struct view_case *c)
{
    pcol_file_close(c->file);
}

char view_letter(pcol_view *view, uint32_t frame)
{
    pcol_view_frame f = PCOL_INIT(pcol_view_frame);
    MUST(pcol_view_get(view, frame, &f, err));
    return f.name.size == 1 ? f.name.data[0] : '0';
}
