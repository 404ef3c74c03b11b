/*
 * foreign.c - any profile as one of the Firefox Profiler, from what all formats have
 *
 * Version 60 is written as JSON and 70 as JSLB: the front end upgrades from there on, and refuses what
 * is newer than itself. Each thread of each source becomes a thread; sources become processes. The
 * front end shows one weight: that of the sample type asked for.
 */
#include "firefox/write.h"

#include "core/alloc.h"
#include "core/idle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOSS_TYPES = 1,
    LOSS_TIMES = 2,
    LOSS_LABELS = 4,
    LOSS_SOURCE = 8,
    LOSS_MARKERS = 16,
    LOSS_COUNTERS = 32
};

static const char *const losses[] = {
    "a thread's profile cannot hold sample types but one (--sample-type chooses)",
    "the samples have no times: even ones are made up",
    "a Firefox profile cannot hold labels of samples",
    "a Firefox profile cannot hold what only the source's own format has",
    "markers and allocations of another profile are not written",
    "counters of another profile are not written",
};

/* Samples of one source and thread: rows[first, first + count). */
struct track {
    uint32_t source, thread; /* thread: PCOL_NONE where there is none */
    uint64_t first, count;
    int is_main;
};

struct foreign {
    const struct pci_export *export;
    const pcol_file *file;
    int newest;
    struct pci_ff_out out;
    struct pci_ff_code code;
    struct pci_types types;
    struct pci_chosen chosen;
    const struct pci_column *source, *thread, *stack, *time, *ulp, *duration, *cpu, *interval;
    struct track *tracks;
    size_t track_count, track_capacity;
    uint64_t *rows; /* of samples that have the type asked for, by track */
    uint8_t *used;  /* by stack */
    const char *weight_type;
    double scale; /* of values to what weight_type counts */
    struct pci_ff_categories categories;
    unsigned lost;
};

/* ---- which samples, and whose */

static pcol_status open_columns(struct foreign *f, pcol_error *err)
{
    const pcol_file *file = f->file;
    PCI_TRY(pci_want(file, "samples", "source", PCI_TYPES_ROW, &f->source, err));
    PCI_TRY(pci_want(file, "samples", "thread", PCI_TYPES_ROW, &f->thread, err));
    PCI_TRY(pci_want(file, "samples", "stack", PCI_TYPES_ROW, &f->stack, err));
    PCI_TRY(pci_want(file, "samples", "time", PCI_TYPES_INT, &f->time, err));
    PCI_TRY(pci_want(file, "samples", "time_ulp", PCI_TYPES_INT, &f->ulp, err));
    PCI_TRY(pci_want(file, "samples", "duration", PCI_TYPES_INT, &f->duration, err));
    PCI_TRY(pci_want(file, "samples", "cpu_delta", PCI_TYPES_INT, &f->cpu, err));
    PCI_TRY(pci_want(file, "sources", "interval_ns", PCI_TYPES_INT, &f->interval, err));
    PCI_TRY(pci_types_open(file, &f->types, err));
    return pci_types_choose(&f->types, f->export->first_source, f->export->last_source,
                            f->export->options->sample_type, &f->chosen, err);
}

/* What the front end calls the type, and its unit. */
static void find_weight_type(struct foreign *f)
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
    f->weight_type = "samples";
    f->scale = 1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (pci_ff_same(f->chosen.unit, units[i].unit)) {
            f->weight_type = units[i].type;
            f->scale = units[i].scale;
        }
    }
}

static pcol_status get_value(struct foreign *f, uint64_t row, double *value, int *valid,
                             pcol_error *err)
{
    *valid = 0;
    *value = 0;
    for (uint32_t k = 0; k < f->chosen.count && !*valid; k++) {
        const struct pci_column *c = f->types.columns[f->chosen.rows[k]];
        int64_t bits;
        PCI_TRY(pci_ff_get(f->file, c, row, &bits, valid, err));
        if (*valid && c->desc->type == PCF_F64)
            memcpy(value, &bits, sizeof *value);
        else if (*valid)
            *value = (double)bits;
    }
    if (*value - *value != 0)
        *valid = 0; /* no number that JSON has */
    return PCOL_OK;
}

/* The track of a sample; few tracks follow each other, so the last one is tried first. */
static pcol_status track_of(struct foreign *f, uint64_t row, struct pci_hash *hash, size_t *last,
                            pcol_error *err)
{
    int64_t source, thread;
    int valid;
    PCI_TRY(pci_ff_get(f->file, f->source, row, &source, &valid, err));
    PCI_TRY(pci_ff_get(f->file, f->thread, row, &thread, &valid, err));
    struct track t = {.source = (uint32_t)source, .thread = valid ? (uint32_t)thread : PCOL_NONE};
    if (*last < f->track_count && f->tracks[*last].source == t.source &&
        f->tracks[*last].thread == t.thread)
        return PCOL_OK;
    uint64_t h = pci_hash_pair(t.source, t.thread);
    size_t at = pci_hash_start(hash, h);
    for (uint32_t id; (id = pci_hash_next(hash, h, &at)) != PCI_HASH_NONE;) {
        if (f->tracks[id].source == t.source && f->tracks[id].thread == t.thread) {
            *last = id;
            return PCOL_OK;
        }
    }
    if (pci_grow((void **)&f->tracks, &f->track_capacity, f->track_count + 1, sizeof t))
        return pci_fail_memory(err);
    PCI_TRY(pci_hash_add(hash, h, (uint32_t)f->track_count, err));
    *last = f->track_count;
    f->tracks[f->track_count++] = t;
    return PCOL_OK;
}

/* Twice over the samples: to count those of each track, then to sort their rows by track. */
static pcol_status sort_samples(struct foreign *f, struct pci_hash *hash, int second,
                                pcol_error *err)
{
    uint64_t rows = pci_rows(f->file, "samples");
    size_t last = SIZE_MAX;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source, stack;
        int valid;
        double value;
        PCI_TRY(pci_ff_get(f->file, f->source, row, &source, &valid, err));
        if ((uint64_t)source < f->export->first_source || (uint64_t)source > f->export->last_source)
            continue;
        PCI_TRY(get_value(f, row, &value, &valid, err));
        if (!valid)
            continue;
        PCI_TRY(track_of(f, row, hash, &last, err));
        struct track *t = &f->tracks[last];
        if (second)
            f->rows[t->first + t->count] = row;
        t->count++;
        if (second)
            continue;
        PCI_TRY(pci_ff_get(f->file, f->stack, row, &stack, &valid, err));
        if (valid && (uint64_t)stack < f->code.stacks.stacks)
            f->used[stack] = 1;
    }
    return PCOL_OK;
}

static pcol_status find_samples(struct foreign *f, pcol_error *err)
{
    struct pci_hash hash = {0};
    uint64_t total = 0;
    f->used = pci_calloc((size_t)f->code.stacks.stacks + 1, 1);
    if (!f->used)
        return pci_fail_memory(err);
    pcol_status status = sort_samples(f, &hash, 0, err);
    for (size_t i = 0; i < f->track_count; i++) {
        f->tracks[i].first = total;
        total += f->tracks[i].count;
        f->tracks[i].count = 0;
    }
    if (status == PCOL_OK) {
        f->rows = pci_malloc((size_t)total + 1, sizeof *f->rows);
        status = f->rows ? sort_samples(f, &hash, 1, err) : pci_fail_memory(err);
    }
    pci_hash_clear(&hash);
    return status;
}

/* ---- meta */

static void put_text(struct foreign *f, const char *key, const char *text, pcol_error *err)
{
    pci_json_put_key(&f->out.w, key, err);
    pci_json_put_string(&f->out.w, (pcol_str){text, strlen(text)}, err);
}

static void put_number(struct foreign *f, const char *key, int64_t number, pcol_error *err)
{
    pci_json_put_key(&f->out.w, key, err);
    pci_json_put_int(&f->out.w, number, err);
}

static void put_word(struct foreign *f, const char *key, const char *word, pcol_error *err)
{
    pci_json_put_key(&f->out.w, key, err);
    pci_json_put_raw(&f->out.w, word, strlen(word), err);
}

static pcol_status interval_of(const struct foreign *f, uint32_t source, int64_t *ns,
                               pcol_error *err)
{
    const struct pci_column *period, *unit;
    int valid, has_unit;
    pcol_str text = {"", 0};
    PCI_TRY(pci_ff_get(f->file, f->interval, source, ns, &valid, err));
    if (valid && *ns > 0)
        return PCOL_OK;
    PCI_TRY(pci_want(f->file, "sources", "period", PCI_TYPES_INT, &period, err));
    PCI_TRY(pci_want(f->file, "sources", "period_unit", PCI_TYPES_TEXT, &unit, err));
    PCI_TRY(pci_ff_get(f->file, period, source, ns, &valid, err));
    if (unit)
        PCI_TRY(pci_get_str(f->file, unit, source, &text, &has_unit, err));
    if (!valid || *ns <= 0 || !pci_ff_same(text, "nanoseconds"))
        *ns = 1000000;
    return PCOL_OK;
}

static pcol_status source_text(const struct foreign *f, uint32_t source, const char *column,
                               pcol_str *text, pcol_error *err)
{
    const struct pci_column *c;
    int valid;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_want(f->file, "sources", column, PCI_TYPES_TEXT, &c, err));
    return c ? pci_get_str(f->file, c, source, text, &valid, err) : PCOL_OK;
}

static pcol_status put_meta(struct foreign *f, pcol_error *err)
{
    struct pci_json_writer *w = &f->out.w;
    int64_t ns = 1000000;
    pcol_str product = {"", 0}, type = {"pcol", 4};
    int none = f->export->first_source > f->export->last_source;
    if (!none) {
        PCI_TRY(interval_of(f, f->export->first_source, &ns, err));
        PCI_TRY(source_text(f, f->export->first_source, "uri", &product, err));
        PCI_TRY(source_text(f, f->export->first_source, "type", &type, err));
    }
    pci_json_put_key(w, "meta", err);
    pci_json_put_begin(w, '{', err);
    pci_json_put_key(w, "interval", err);
    pci_json_put_double(w, (double)ns / 1e6, err);
    put_number(f, "startTime", 0, err);
    put_number(f, "processType", 0, err);
    pci_json_put_key(w, "product", err);
    pci_json_put_string(w, product.size ? product : type, err);
    pci_json_put_key(w, "importedFrom", err);
    pci_json_put_string(w, type, err);
    put_number(f, "stackwalk", 1, err);
    put_word(f, "debug", "false", err);
    put_number(f, "version", 31, err);
    put_number(f, "preprocessedProfileVersion", f->newest ? PCI_FF_NEWEST : PCI_FF_WRITTEN, err);
    put_word(f, "symbolicated", "true", err);
    put_word(f, "markerSchema", "[]", err);
    PCI_TRY(pci_ff_put_categories(&f->categories, &f->out, err));
    pci_json_put_key(w, "sampleUnits", err);
    pci_json_put_begin(w, '{', err);
    put_text(f, "time", "ms", err);
    put_text(f, "eventDelay", "ms", err);
    put_text(f, "threadCPUDelta", "\xc2\xb5s", err);
    pci_json_put_end(w, '}', err);
    pci_json_put_end(w, '}', err);
    return w->status;
}

/* ---- threads */

struct columns {
    struct pci_ff_cells stack, time, weight, cpu;
    int any_cpu;
};

static pcol_status add_number(struct pci_ff_cells *cells, double value, pcol_error *err)
{
    int64_t bits;
    if (pci_ff_whole(value))
        return pci_ff_cells_add(cells, PCI_FF_INT, (int64_t)value, err);
    memcpy(&bits, &value, sizeof bits);
    return pci_ff_cells_add(cells, PCI_FF_DOUBLE, bits, err);
}

/* A sample as one row, two, or all that it stands for. */
static pcol_status add_sample(struct foreign *f, struct columns *c, uint64_t row, int64_t *next,
                              int64_t interval, pcol_error *err)
{
    int64_t stack, time, ulp, duration, cpu;
    int has_stack, has_time, has_duration, has_cpu, valid, expand = f->export->options->expand_idle;
    double value;
    PCI_TRY(get_value(f, row, &value, &valid, err));
    PCI_TRY(pci_ff_get(f->file, f->stack, row, &stack, &has_stack, err));
    PCI_TRY(pci_ff_get(f->file, f->time, row, &time, &has_time, err));
    PCI_TRY(pci_ff_get(f->file, f->ulp, row, &ulp, &valid, err));
    PCI_TRY(pci_ff_get(f->file, f->duration, row, &duration, &has_duration, err));
    PCI_TRY(pci_ff_get(f->file, f->cpu, row, &cpu, &has_cpu, err));
    if (!has_time) {
        f->lost |= LOSS_TIMES;
        time = *next;
    }
    if (__builtin_add_overflow(time, interval, next))
        *next = time;
    uint32_t place = PCOL_NONE;
    if (has_stack && (uint64_t)stack < f->code.stacks.stacks)
        place = f->code.stack_rows[stack] - 1; /* the empty stack: none */
    uint64_t parts = pci_idle_parts(has_time && has_duration ? duration : 0, value, expand);
    c->any_cpu |= has_cpu;
    for (uint64_t i = 0; i < parts; i++) {
        struct pci_idle_part p = pci_idle_part(duration, value, parts, i, expand);
        PCI_TRY(
            pci_ff_cells_add(&c->stack, place == PCOL_NONE ? PCI_FF_NULL : PCI_FF_INT, place, err));
        PCI_TRY(add_number(&c->time, pci_ff_ms(time + p.after_ns, i ? 0 : ulp), err));
        PCI_TRY(add_number(&c->weight, f->scale < 1 ? p.value / (1 / f->scale) : p.value * f->scale,
                           err));
        if (has_cpu)
            PCI_TRY(add_number(&c->cpu, i ? 0 : (double)cpu / 1e3, err));
        else
            PCI_TRY(pci_ff_cells_add(&c->cpu, PCI_FF_NULL, 0, err));
    }
    return PCOL_OK;
}

static pcol_status put_column(struct foreign *f, const char *name, const struct pci_ff_cells *cells,
                              pcol_error *err)
{
    pci_json_put_key(&f->out.w, name, err);
    return pci_ff_out_column(&f->out, "samples", (pcol_str){name, strlen(name)}, cells, err);
}

static pcol_status put_columns(struct foreign *f, const struct track *t, struct columns *c,
                               pcol_error *err)
{
    int64_t next = 0, interval;
    PCI_TRY(interval_of(f, t->source, &interval, err));
    for (uint64_t i = 0; i < t->count; i++)
        PCI_TRY(add_sample(f, c, f->rows[t->first + i], &next, interval, err));
    pci_json_put_key(&f->out.w, "samples", err);
    pci_json_put_begin(&f->out.w, '{', err);
    put_number(f, "length", (int64_t)c->stack.count, err);
    put_text(f, "weightType", f->weight_type, err);
    PCI_TRY(put_column(f, "stack", &c->stack, err));
    PCI_TRY(put_column(f, "time", &c->time, err));
    PCI_TRY(put_column(f, "weight", &c->weight, err));
    if (c->any_cpu)
        PCI_TRY(put_column(f, "threadCPUDelta", &c->cpu, err));
    pci_json_put_end(&f->out.w, '}', err);
    return f->out.w.status;
}

static pcol_status put_samples(struct foreign *f, const struct track *t, pcol_error *err)
{
    struct columns c = {.any_cpu = 0};
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

static pcol_status thread_text(const struct foreign *f, const struct track *t, const char *column,
                               pcol_str *text, int *valid, pcol_error *err)
{
    const struct pci_column *c;
    *text = (pcol_str){"", 0};
    *valid = 0;
    if (t->thread == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_want(f->file, "threads", column, PCI_TYPES_TEXT, &c, err));
    return c ? pci_get_str(f->file, c, t->thread, text, valid, err) : PCOL_OK;
}

/* Names of the thread and its process; sources are processes of their own. */
static pcol_status put_names(struct foreign *f, const struct track *t, pcol_error *err)
{
    struct pci_json_writer *w = &f->out.w;
    char pid[64];
    pcol_str text, process;
    int valid, has_process, several = f->export->first_source != f->export->last_source;
    PCI_TRY(thread_text(f, t, "name", &text, &valid, err));
    pci_json_put_key(w, "name", err);
    pci_json_put_string(w, valid ? text : (pcol_str){"main", 4}, err);
    PCI_TRY(thread_text(f, t, "process_name", &process, &has_process, err));
    if (!has_process || several)
        PCI_TRY(source_text(f, t->source, "uri", &process, err));
    pci_json_put_key(w, "processName", err);
    pci_json_put_string(w, process, err);
    PCI_TRY(thread_text(f, t, "pid", &text, &valid, err));
    if (!valid)
        snprintf(pid, sizeof pid, "%u", (unsigned)t->source + 1);
    else
        snprintf(pid, sizeof pid, several ? "%u-%.*s" : "%.0u%.*s",
                 several ? (unsigned)t->source + 1 : 0, (int)(text.size < 40 ? text.size : 40),
                 text.data);
    put_text(f, "pid", pid, err);
    PCI_TRY(thread_text(f, t, "tid", &text, &valid, err));
    if (!valid) {
        snprintf(pid, sizeof pid, "%u", (unsigned)(t - f->tracks) + 1);
        text = (pcol_str){pid, strlen(pid)};
    }
    pci_json_put_key(w, "tid", err);
    pci_json_put_string(w, text, err);
    return w->status;
}

static pcol_status put_thread(struct foreign *f, const struct track *t, pcol_error *err)
{
    static const char *const columns[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    struct pci_json_writer *w = &f->out.w;
    pci_json_put_begin(w, '{', err);
    put_text(f, "processType", "default", err);
    put_number(f, "processStartupTime", 0, err);
    put_word(f, "processShutdownTime", "null", err);
    put_number(f, "registerTime", 0, err);
    put_word(f, "unregisterTime", "null", err);
    put_word(f, "pausedRanges", "[]", err);
    put_word(f, "isMainThread", t->is_main ? "true" : "false", err);
    PCI_TRY(put_names(f, t, err));
    PCI_TRY(put_samples(f, t, err));
    pci_json_put_key(w, "markers", err);
    pci_json_put_begin(w, '{', err);
    put_number(f, "length", 0, err);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        put_word(f, columns[i], "[]", err);
    pci_json_put_end(w, '}', err);
    pci_json_put_end(w, '}', err);
    return w->status;
}

/* ---- the document */

static void note_losses(struct foreign *f)
{
    const struct pci_table *samples = pci_table_find(f->file, "samples");
    for (uint32_t i = 0; samples && i < samples->column_count; i++)
        if (!strncmp(samples->columns[i].name, "label.", 6))
            f->lost |= LOSS_LABELS;
    if (f->types.count > f->chosen.count)
        f->lost |= LOSS_TYPES;
    if (pci_rows(f->file, "markers") || pci_rows(f->file, "allocations"))
        f->lost |= LOSS_MARKERS;
    if (pci_rows(f->file, "counters"))
        f->lost |= LOSS_COUNTERS;
    if (pci_rows(f->file, "nodes") || pci_rows(f->file, "source_rows"))
        f->lost |= LOSS_SOURCE;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        if (f->lost >> i & 1)
            pci_export_loss(f->export, "%s", losses[i]);
}

static pcol_status put_document(struct foreign *f, pcol_error *err)
{
    struct pci_json_writer *w = &f->out.w;
    pci_json_put_begin(w, '{', err);
    PCI_TRY(put_meta(f, err));
    PCI_TRY(pci_ff_put_libs(&f->code, &f->out, err));
    pci_json_put_key(w, "threads", err);
    pci_json_put_begin(w, '[', err);
    for (size_t i = 0; i < f->track_count; i++)
        PCI_TRY(put_thread(f, &f->tracks[i], err));
    pci_json_put_end(w, ']', err);
    PCI_TRY(pci_ff_put_shared(&f->code, &f->out, err));
    pci_json_put_end(w, '}', err);
    return pci_ff_out_finish(&f->out, err);
}

static pcol_status write_all(struct foreign *f, pcol_error *err)
{
    PCI_TRY(open_columns(f, err));
    find_weight_type(f);
    PCI_TRY(pci_ff_code_open(&f->code, f->file, f->newest, err));
    PCI_TRY(find_samples(f, err));
    PCI_TRY(pci_ff_find_categories(&f->categories, &f->code, err));
    PCI_TRY(pci_ff_code_take(&f->code, f->used, err));
    for (size_t i = 0; i < f->track_count; i++)
        f->tracks[i].is_main = !i || f->tracks[i].source != f->tracks[i - 1].source;
    PCI_TRY(pci_ff_out_open(&f->out, f->file, f->export->sink, f->newest, err));
    pcol_status status = put_document(f, err);
    pci_ff_out_close(&f->out);
    if (status == PCOL_OK)
        note_losses(f);
    return status;
}

pcol_status pci_ff_foreign(const struct pci_export *export, int jslb, pcol_error *err)
{
    struct foreign *f = pci_calloc(1, sizeof *f);
    if (!f)
        return pci_fail_memory(err);
    f->export = export;
    f->file = export->file;
    f->newest = jslb;
    pcol_status status = write_all(f, err);
    pci_ff_code_close(&f->code);
    pci_types_close(&f->types);
    pci_free(f->chosen.rows);
    pci_free(f->tracks);
    pci_free(f->rows);
    pci_free(f->used);
    pci_free(f->categories.rows);
    pci_free(f);
    return status;
}
