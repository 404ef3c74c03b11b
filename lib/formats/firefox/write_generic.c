/*
 * write_generic.c - generic writer: converts any profile to a Firefox profile
 *
 * JSON is written in version 60 and JSLB in version 70: the front end upgrades older versions and
 * rejects versions newer than itself. Each thread of each source becomes a thread; sources become
 * processes. The front end shows one weight, that of the selected sample type.
 */
#include "formats/firefox/write_generic.h"
#include "formats/json_members.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

/* The weight type of the front end for a unit. *scale: factor from the unit to that of the
 * weight. */
static const char *get_weight_type(pcol_str unit, double *scale)
{
    static const struct {
        const char *unit, *type;
        double scale;
    } units[] = {{"nanoseconds", "tracing-ms", 1e-6},
                 {"ns", "tracing-ms", 1e-6},
                 {"microseconds", "tracing-ms", 1e-3},
                 {"us", "tracing-ms", 1e-3},
                 {"milliseconds", "tracing-ms", 1},
                 {"ms", "tracing-ms", 1},
                 {"seconds", "tracing-ms", 1e3},
                 {"s", "tracing-ms", 1e3},
                 {"bytes", "bytes", 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (pci_str_is(unit, units[i].unit)) {
            *scale = units[i].scale;
            return units[i].type;
        }
    }
    *scale = 1;
    return "samples";
}

/* ---- meta */

static void put_word(struct pci_ff_write_generic *f, const char *key, const char *word,
                     pcol_error *err)
{
    pci_json_put_key(&f->out.w, key, err);
    pci_json_put_raw(&f->out.w, word, strlen(word), err);
}

static pcol_status get_interval(const struct pci_ff_write_generic *f, uint32_t source, int64_t *ns,
                                pcol_error *err)
{
    const struct pci_column *period, *unit;
    int valid, has_unit;
    pcol_str text = {"", 0};
    PCI_TRY(pci_get(f->file, f->interval, source, ns, &valid, err));
    if (valid && *ns > 0)
        return PCOL_OK;
    PCI_TRY(pci_find_column(f->file, "sources", "period", PCI_TYPES_INT, &period, err));
    PCI_TRY(pci_find_column(f->file, "sources", "period_unit", PCI_TYPES_TEXT, &unit, err));
    PCI_TRY(pci_get(f->file, period, source, ns, &valid, err));
    PCI_TRY(pci_get_str(f->file, unit, source, &text, &has_unit, err));
    if (!valid || *ns <= 0 || !pci_str_is(text, "nanoseconds"))
        *ns = 1000000;
    return PCOL_OK;
}

/* The document has one interval, that of the first source. */
static pcol_status compare_intervals(struct pci_ff_write_generic *f, int64_t first, pcol_error *err)
{
    for (uint64_t s = f->export->first_source + 1; s <= f->export->last_source; s++) {
        int64_t ns;
        int valid;
        PCI_TRY(pci_get(f->file, f->interval, s, &ns, &valid, err));
        f->lost |= valid && ns != first ? PCI_FF_LOSS_INTERVALS : 0;
    }
    return PCOL_OK;
}

static pcol_status get_source_text(const struct pci_ff_write_generic *f, uint32_t source,
                                   const char *column, pcol_str *text, pcol_error *err)
{
    int valid;
    *text = (pcol_str){"", 0};
    return pci_get_named_str(f->file, "sources", column, source, text, &valid, err);
}

/* Write members of meta that the front end requires and the source does not have. */
static void put_required_members(struct pci_ff_write_generic *f, unsigned seen, pcol_str product,
                                 pcol_error *err)
{
    static const struct {
        const char *key, *value;
    } required[] = {{"startTime", "0"}, {"processType", "0"}, {"stackwalk", "1"},
                    {"debug", "false"}, {"version", "31"},    {"symbolicated", "true"}};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (!(seen >> i & 1))
            put_word(f, required[i].key, required[i].value, err);
    if (!(seen >> 6 & 1)) {
        pci_json_put_string_member(&f->out.w, "product", product, err);
    }
}

static pcol_status put_schemas(struct pci_ff_write_generic *f, pcol_error *err)
{
    pci_json_put_begin_member(&f->out.w, "markerSchema", '[', err);
    for (uint64_t s = f->export->first_source; s <= f->export->last_source; s++) {
        PCI_TRY(pci_ff_convert_source(&f->convert, (uint32_t)s, err));
        PCI_TRY(pci_ff_convert_schemas(&f->convert, err));
    }
    pci_json_put_end(&f->out.w, ']', err);
    return f->out.w.status;
}

static pcol_status put_meta(struct pci_ff_write_generic *f, pcol_error *err)
{
    /* Members to omit: from [2] on if thread indexes of the source stay valid, from [5] on if all
     * of them were valid. */
    static const char *const omitted[] = {"profilingStartTime",
                                          "profilingEndTime",
                                          "initialVisibleThreads",
                                          "initialSelectedThreads",
                                          "mainThreadIndex",
                                          "interval",
                                          "preprocessedProfileVersion",
                                          "categories",
                                          "sampleUnits",
                                          "markerSchema",
                                          NULL};
    static const char *const wanted[] = {"startTime", "processType",  "stackwalk", "debug",
                                         "version",   "symbolicated", "product",   NULL};
    struct pci_json_writer *w = &f->out.w;
    int64_t ns = 1000000;
    pcol_str product = {"", 0}, type = {"pcol", 4};
    unsigned seen = 0;
    int none = f->export->first_source > f->export->last_source;
    if (!none) {
        PCI_TRY(get_interval(f, f->export->first_source, &ns, err));
        PCI_TRY(compare_intervals(f, ns, err));
        PCI_TRY(get_source_text(f, f->export->first_source, "uri", &product, err));
        PCI_TRY(get_source_text(f, f->export->first_source, "type", &type, err));
    }
    pci_json_put_begin_member(w, "meta", '{', err);
    pci_json_put_key(w, "interval", err);
    pci_json_put_double(w, (double)ns / 1e6, err);
    if (!none)
        PCI_TRY(pci_ff_convert_source(&f->convert, f->export->first_source, err));
    if (!none && f->convert.firefox) {
        PCI_TRY(pci_ff_convert_document_members(&f->convert, 1,
                                                omitted + (f->numbers_fit  ? 5
                                                           : f->is_firefox ? 2
                                                                           : 0),
                                                wanted, &seen, err));
    } else {
        pci_json_put_string_member(w, "importedFrom", type, err);
    }
    put_required_members(f, seen, product.size ? product : type, err);
    pci_json_put_int_member(&f->out.w, "preprocessedProfileVersion",
                            f->newest ? PCI_FF_JSLB_WRITTEN : PCI_FF_JSON_WRITTEN, err);
    PCI_TRY(put_schemas(f, err));
    PCI_TRY(pci_ff_put_categories(&f->categories, &f->out, err));
    pci_json_put_begin_member(w, "sampleUnits", '{', err);
    pci_json_put_text_member(&f->out.w, "time", "ms", err);
    pci_json_put_text_member(&f->out.w, "eventDelay", "ms", err);
    pci_json_put_text_member(&f->out.w, "threadCPUDelta",
                             f->cycles ? "variable CPU cycles" : "\xc2\xb5s", err);
    pci_json_put_end(w, '}', err);
    pci_json_put_end(w, '}', err);
    return w->status;
}

/* ---- threads */

struct columns {
    struct pci_ff_cells stack, time, weight, cpu;
    int any_cpu;
    double scale; /* factor from values to weights */
    double last;  /* time of the previous row, in ms and in ns */
    int64_t last_ns;
};

/* A sample of a track, for sorting by time. */
struct timed_sample {
    int64_t time;
    uint64_t row;
};

static int compare_times(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct timed_sample *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Sort the samples of a track whose times descend, if all have one: the front end uses binary
 * search on times. */
static pcol_status sort_track(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                              pcol_error *err)
{
    uint64_t *rows = f->rows + t->first;
    int valid = 1, is_descending = 0;
    struct timed_sample *timed_sample = pci_malloc((size_t)t->count + 1, sizeof *timed_sample);
    pcol_status status = timed_sample ? PCOL_OK : pci_fail_memory(err);
    for (uint64_t i = 0; i < t->count && valid && status == PCOL_OK; i++) {
        timed_sample[i].row = rows[i];
        status = pci_get(f->file, f->time, rows[i], &timed_sample[i].time, &valid, err);
        is_descending |= i && timed_sample[i].time < timed_sample[i - 1].time;
    }
    if (status == PCOL_OK && valid && is_descending) {
        f->lost |= PCI_FF_LOSS_ORDER;
        status = pci_sort(timed_sample, (size_t)t->count, sizeof *timed_sample, compare_times, NULL,
                          err);
        for (uint64_t i = 0; status == PCOL_OK && i < t->count; i++)
            rows[i] = timed_sample[i].row;
    }
    pci_free(timed_sample);
    return status;
}

/* A finite time, clamped to be at least the previous one: the last part of a joined row can be
 * later than the next row. */
static double next_ms(struct pci_ff_write_generic *f, struct columns *c, int64_t time, int64_t ulps)
{
    double ms = pci_ff_ms(time, ulps);
    if (ms - ms != 0)
        ms = pci_ff_ms(time, 0);
    if (time < c->last_ns)
        f->lost |= PCI_FF_LOSS_ORDER;
    if (!ulps && !pci_ff_returns(time, ms, 1e6))
        f->lost |= PCI_FF_LOSS_DIGITS;
    c->last_ns = time;
    return c->last = ms < c->last ? c->last : ms;
}

static pcol_status add_number(struct pci_ff_cells *cells, double value, pcol_error *err)
{
    int64_t bits;
    if (pci_ff_whole(value))
        return pci_ff_cells_add(cells, PCI_FF_INT, (int64_t)value, err);
    memcpy(&bits, &value, sizeof bits);
    return pci_ff_cells_add(cells, PCI_FF_DOUBLE, bits, err);
}

/* Append a sample as one row, two rows, or all rows that it represents. */
static pcol_status add_sample(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                              struct columns *c, uint64_t row, int64_t *next, int64_t interval,
                              pcol_error *err)
{
    int64_t stack, time, ulp, duration, cpu;
    int has_stack, has_time, has_duration, has_cpu, has_value, valid,
        expand = f->export->options->expand_idle;
    double value;
    PCI_TRY(pci_ff_thread_value(f, row, &value, &has_value, err));
    PCI_TRY(pci_get(f->file, f->stack, row, &stack, &has_stack, err));
    PCI_TRY(pci_get(f->file, f->time, row, &time, &has_time, err));
    PCI_TRY(pci_get(f->file, f->ulp, row, &ulp, &valid, err));
    PCI_TRY(pci_get(f->file, f->duration, row, &duration, &has_duration, err));
    PCI_TRY(pci_get(f->file, f->cycles ? f->cycles : f->cpu, row, &cpu, &has_cpu, err));
    if (!has_time) {
        f->lost |= PCI_FF_LOSS_TIMES;
        time = *next;
    }
    if (__builtin_add_overflow(time, interval, next))
        *next = time;
    uint32_t stack_row = PCOL_NONE;
    if (has_stack && (uint64_t)stack < f->code.stacks.stacks)
        stack_row = f->code.stack_rows[stack] - 1; /* the empty stack becomes null */
    f->lost |= has_stack && !stack ? PCI_FF_LOSS_EMPTY : 0;
    if (has_time && has_duration)
        PCI_TRY(pci_sample_check_end(row, time, duration, err));
    const double cpu_unit = f->cycles ? 1 : 1e3;
    if (has_cpu && !pci_ff_returns(cpu, (double)cpu / cpu_unit, cpu_unit))
        f->lost |= PCI_FF_LOSS_DIGITS;
    int is_joined = t->is_collapsed && has_time && has_duration;
    uint64_t parts = pci_idle_part_count(is_joined ? duration : 0, value, expand);
    PCI_TRY(pci_idle_add_parts(&f->all_parts, parts, row, pci_rows(f->file, "samples"), err));
    c->any_cpu |= has_cpu || parts > 1;
    for (uint64_t i = 0; i < parts; i++) {
        struct pci_idle_part p = pci_idle_part(duration, value, parts, i, expand);
        PCI_TRY(pci_ff_cells_add(&c->stack, stack_row == PCOL_NONE ? PCI_FF_NULL : PCI_FF_INT,
                                 stack_row, err));
        PCI_TRY(add_number(&c->time, next_ms(f, c, time + p.after_ns, i ? 0 : ulp), err));
        double weight = c->scale < 1 ? p.value / (1 / c->scale) : p.value * c->scale;
        int is_finite = weight - weight == 0;
        f->lost |= is_finite ? 0 : PCI_FF_LOSS_VALUES;
        if (has_value && is_finite)
            PCI_TRY(add_number(&c->weight, weight, err));
        else
            PCI_TRY(pci_ff_cells_add(&c->weight, PCI_FF_NULL, 0, err));
        if (i) /* the CPU was idle after the first part */
            PCI_TRY(pci_ff_cells_add(&c->cpu, PCI_FF_INT, 0, err));
        else if (has_cpu)
            PCI_TRY(add_number(&c->cpu, (double)cpu / cpu_unit, err));
        else
            PCI_TRY(pci_ff_cells_add(&c->cpu, PCI_FF_NULL, 0, err));
    }
    return PCOL_OK;
}

static pcol_status put_column(struct pci_ff_write_generic *f, const char *name,
                              const struct pci_ff_cells *cells, pcol_error *err)
{
    pci_json_put_key(&f->out.w, name, err);
    return pci_ff_emit_column(&f->out, "samples", (pcol_str){name, strlen(name)}, cells, err);
}

static pcol_status put_columns(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                               struct columns *c, pcol_error *err)
{
    int64_t next = 0, interval;
    pcol_str unit;
    PCI_TRY(get_interval(f, t->source, &interval, err));
    PCI_TRY(pci_ff_thread_unit(f, t, &unit, err));
    const char *weight_type = get_weight_type(unit, &c->scale);
    PCI_TRY(sort_track(f, t, err));
    for (uint64_t i = 0; i < t->count; i++)
        PCI_TRY(add_sample(f, t, c, f->rows[t->first + i], &next, interval, err));
    pci_json_put_begin_member(&f->out.w, "samples", '{', err);
    pci_json_put_int_member(&f->out.w, "length", (int64_t)c->stack.count, err);
    pci_json_put_text_member(&f->out.w, "weightType", weight_type, err);
    PCI_TRY(put_column(f, "stack", &c->stack, err));
    PCI_TRY(put_column(f, "time", &c->time, err));
    PCI_TRY(put_column(f, "weight", &c->weight, err));
    if (c->any_cpu)
        PCI_TRY(put_column(f, "threadCPUDelta", &c->cpu, err));
    pci_json_put_end(&f->out.w, '}', err);
    return f->out.w.status;
}

static pcol_status put_samples(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                               pcol_error *err)
{
    struct columns c = {.last = -HUGE_VAL, .last_ns = INT64_MIN};
    pci_ff_cells_init(&c.stack, &f->out.store);
    pci_ff_cells_init(&c.time, &f->out.store);
    pci_ff_cells_init(&c.weight, &f->out.store);
    pci_ff_cells_init(&c.cpu, &f->out.store);
    pcol_status status = put_columns(f, t, &c, err);
    pci_ff_cells_clear(&c.stack);
    pci_ff_cells_clear(&c.time);
    pci_ff_cells_clear(&c.weight);
    pci_ff_cells_clear(&c.cpu);
    return status;
}

static pcol_status get_thread_text(const struct pci_ff_write_generic *f,
                                   const struct pci_ff_thread *t, const char *column,
                                   pcol_str *text, int *valid, pcol_error *err)
{
    *text = (pcol_str){"", 0};
    *valid = 0;
    if (t->thread == PCOL_NONE)
        return PCOL_OK;
    return pci_get_named_str(f->file, "threads", column, t->thread, text, valid, err);
}

/* Write the names of a thread and its process; each source is a process of its own. has_tid: the
 * members of the thread include the tid. */
static pcol_status put_names(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                             int has_tid, pcol_error *err)
{
    struct pci_json_writer *w = &f->out.w;
    char number[24];
    pcol_str text, process;
    int valid, has_process, several = f->export->first_source != f->export->last_source;
    PCI_TRY(get_thread_text(f, t, "name", &text, &valid, err));
    if (!valid || !text.size) /* the name that pcol shows */
        PCI_TRY(get_thread_text(f, t, "tid", &text, &valid, err));
    pci_json_put_string_member(w, "name", valid && text.size ? text : (pcol_str){"main", 4}, err);
    PCI_TRY(get_thread_text(f, t, "process_name", &process, &has_process, err));
    if (!has_process || several)
        PCI_TRY(get_source_text(f, t->source, "uri", &process, err));
    pci_json_put_string_member(w, "processName", process, err);
    PCI_TRY(get_thread_text(f, t, "pid", &text, &valid, err));
    if (several && (has_process || valid))
        f->lost |= PCI_FF_LOSS_PROCESSES;
    snprintf(number, sizeof number, several && valid ? "%u-" : "%u", (unsigned)t->source + 1);
    pci_json_put_key(w, "pid", err);
    pci_json_put_prefixed(w, several || !valid ? number : "", text, err);
    if (has_tid)
        return w->status;
    PCI_TRY(get_thread_text(f, t, "tid", &text, &valid, err));
    if (!valid) {
        snprintf(number, sizeof number, "%u", (unsigned)(t - f->tracks) + 1);
        text = (pcol_str){number, strlen(number)};
    }
    pci_json_put_string_member(w, "tid", text, err);
    return w->status;
}

/* Write members that the front end requires of a thread and the source does not have. */
static void put_members(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                        unsigned seen, pcol_error *err)
{
    static const char *const keys[] = {"processType",  "processStartupTime", "processShutdownTime",
                                       "registerTime", "unregisterTime",     "pausedRanges"};
    static const char *const values[] = {"\"default\"", "0", "null", "0", "null", "[]"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!(seen >> i & 1))
            put_word(f, keys[i], values[i], err);
    if (!(seen >> 6 & 1))
        put_word(f, "isMainThread", t->is_main ? "true" : "false", err);
}

static pcol_status put_thread(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                              pcol_error *err)
{
    /* The writer's own; those of the source that are no tables are members. */
    static const char *const omitted[] = {"name", "processName", "pid", "samples", "markers", NULL};
    static const char *const wanted[] = {"processType",
                                         "processStartupTime",
                                         "processShutdownTime",
                                         "registerTime",
                                         "unregisterTime",
                                         "pausedRanges",
                                         "isMainThread",
                                         "tid",
                                         "samples",
                                         "markers",
                                         NULL};
    struct pci_json_writer *w = &f->out.w;
    unsigned seen;
    PCI_TRY(pci_ff_convert_source(&f->convert, t->source, err));
    pci_json_put_begin(w, '{', err);
    PCI_TRY(pci_ff_convert_members(&f->convert, t->thread, omitted, wanted, &seen, err));
    put_members(f, t, seen, err);
    PCI_TRY(put_names(f, t, seen >> 7 & 1, err));
    f->lost |= seen >> 8 & 3 ? PCI_FF_LOSS_TABLES : 0;
    PCI_TRY(put_samples(f, t, err));
    PCI_TRY(pci_ff_convert_markers(&f->convert, t->thread, err));
    PCI_TRY(pci_ff_convert_allocations(&f->convert, t->thread, err));
    pci_json_put_end(w, '}', err);
    return w->status;
}

/* ---- document */

static pcol_status put_counters(struct pci_ff_write_generic *f, pcol_error *err)
{
    int several = f->export->first_source != f->export->last_source;
    char prefix[16];
    if (!pci_rows(f->file, "counters"))
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(f->thread_of, (size_t)pci_rows(f->file, "threads") + 1, err));
    for (size_t i = 0; i < f->track_count; i++)
        if (f->tracks[i].thread != PCOL_NONE)
            f->thread_of[f->tracks[i].thread] = (uint32_t)i + 1;
    pci_json_put_begin_member(&f->out.w, "counters", '[', err);
    for (uint64_t s = f->export->first_source; s <= f->export->last_source; s++) {
        snprintf(prefix, sizeof prefix, "%u-", (unsigned)s + 1);
        PCI_TRY(pci_ff_convert_source(&f->convert, (uint32_t)s, err));
        PCI_TRY(pci_ff_convert_counters(&f->convert, f->thread_of, several ? prefix : NULL, err));
    }
    pci_json_put_end(&f->out.w, ']', err);
    return f->out.w.status;
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context, (void)data, (void)size, (void)err;
    return PCOL_OK;
}

/* Intern the strings that markers and allocations refer to: converts them with a discarding sink,
 * since the string table is written before the threads. */
static pcol_status intern_event_strings(struct pci_ff_write_generic *f, pcol_error *err)
{
    struct pci_ff_emitter out;
    if (!pci_rows(f->file, "markers") && !pci_rows(f->file, "allocations"))
        return PCOL_OK;
    PCI_TRY(pci_ff_emit_open(&out, f->file, (pcol_sink){discard, NULL}, 0, err));
    pcol_status status = PCOL_OK;
    f->convert.out = &out;
    pci_json_put_begin(&out.w, '{', err);
    for (size_t i = 0; i < f->track_count && status == PCOL_OK; i++) {
        const struct pci_ff_thread *t = &f->tracks[i];
        status = pci_ff_convert_source(&f->convert, t->source, err);
        PCI_THEN(status, pci_ff_convert_markers(&f->convert, t->thread, err));
        PCI_THEN(status, pci_ff_convert_allocations(&f->convert, t->thread, err));
    }
    f->convert.out = &f->out;
    pci_ff_emit_close(&out);
    return status;
}

/* Check whether members of the only source that refer to threads by index stay valid. */
static pcol_status check_thread_indexes(struct pci_ff_write_generic *f, pcol_error *err)
{
    if (!f->is_firefox)
        return PCOL_OK;
    PCI_TRY(pci_ff_convert_source(&f->convert, f->export->first_source, err));
    PCI_TRY(pci_ff_native_numbers_fit(f->convert.native, f->track_count, &f->numbers_fit, err));
    f->lost |= f->numbers_fit ? 0 : PCI_FF_LOSS_REFERENCES;
    return PCOL_OK;
}

/* Shared tables precede the threads that refer to them, so that readers need no buffer. */
static pcol_status put_document(struct pci_ff_write_generic *f, pcol_error *err)
{
    struct pci_json_writer *w = &f->out.w;
    PCI_TRY(check_thread_indexes(f, err));
    pci_json_put_begin(w, '{', err);
    PCI_TRY(put_meta(f, err));
    PCI_TRY(pci_ff_put_libs(&f->code, &f->out, err));
    PCI_TRY(intern_event_strings(f, err));
    PCI_TRY(pci_ff_put_shared(&f->code, &f->out, err));
    pci_json_put_begin_member(w, "threads", '[', err);
    for (size_t i = 0; i < f->track_count; i++)
        PCI_TRY(put_thread(f, &f->tracks[i], err));
    pci_json_put_end(w, ']', err);
    PCI_TRY(put_counters(f, err));
    if (f->is_firefox) {
        static const char *const omitted[] = {"profilerOverhead", "meta",     "libs", "threads",
                                              "shared",           "counters", NULL};
        static const char *const wanted[] = {NULL};
        unsigned seen;
        PCI_TRY(pci_ff_convert_source(&f->convert, f->export->first_source, err));
        PCI_TRY(pci_ff_convert_document_members(&f->convert, 0, omitted + f->numbers_fit, wanted,
                                                &seen, err));
    } else {
        int lost = 0;
        PCI_TRY(pci_ff_convert_merged_members(&f->convert, &lost, err));
        f->lost |= lost ? PCI_FF_LOSS_AROUND : 0;
    }
    pci_json_put_end(w, '}', err);
    return pci_ff_emit_finish(&f->out, err);
}

/* Number stacks in the order in which samples use them, as other writers do. */
static pcol_status add_stacks(struct pci_ff_write_generic *f, pcol_error *err)
{
    size_t count = f->track_count;
    uint64_t rows = count ? f->tracks[count - 1].first + f->tracks[count - 1].count : 0;
    for (uint64_t i = 0; i < rows; i++) {
        int64_t stack;
        int valid;
        PCI_TRY(pci_get(f->file, f->stack, f->rows[i], &stack, &valid, err));
        if (valid && (uint64_t)stack < f->code.stacks.stacks)
            PCI_TRY(pci_ff_code_tables_add_stack(&f->code, (uint64_t)stack, err));
    }
    return PCOL_OK;
}

static pcol_status write_all(struct pci_ff_write_generic *f, pcol_error *err)
{
    PCI_TRY(pci_ff_threads_open(f, err));
    PCI_TRY(pci_ff_code_tables_open(&f->code, f->file, f->newest, err));
    PCI_TRY(pci_ff_convert_open(&f->convert, f->export, &f->code, err));
    PCI_TRY(pci_ff_threads_find(f, err));
    PCI_TRY(pci_ff_find_categories(&f->categories, f->export, &f->code, err));
    f->code.keeps_null = f->is_firefox;
    PCI_TRY(add_stacks(f, err));
    PCI_TRY(pci_ff_code_tables_add_used(&f->code, f->used, err));
    for (size_t i = 0; i < f->track_count; i++)
        f->tracks[i].is_main = !i || f->tracks[i].source != f->tracks[i - 1].source;
    PCI_TRY(pci_ff_emit_open(&f->out, f->file, f->export->sink, f->newest, err));
    f->convert.out = &f->out;
    pcol_status status = put_document(f, err);
    PCI_THEN(status, pci_ff_report_losses(f, err));
    pci_ff_emit_close(&f->out);
    return status;
}

pcol_status pci_ff_write_generic(const struct pci_export *export, int jslb, pcol_error *err)
{
    struct pci_ff_write_generic *f;
    PCI_TRY(PCI_CALLOC(f, 1, err));
    f->export = export;
    f->file = export->file;
    f->newest = jslb;
    pcol_status status = write_all(f, err);
    pci_ff_convert_close(&f->convert);
    pci_ff_code_tables_close(&f->code);
    pci_types_close(&f->types);
    pci_free(f->chosen.rows);
    pci_free(f->tracks);
    pci_free(f->rows);
    pci_free(f->used);
    pci_free(f->thread_of);
    pci_ff_categories_close(&f->categories);
    pci_free(f);
    return status;
}
