/*
 * spans.c - spans of a Chrome trace as rows of samples
 *
 * The spans of a thread are sorted by start, longer ones first, and nested by a stack of open
 * spans. Each time belongs to the innermost span: a span has a row for each interval in which no
 * other one is open in it, so that the rows of a thread follow each other.
 */
#include "formats/v8/trace.h"

#include "util/alloc.h"
#include "util/sort.h"

#include <inttypes.h>

pcol_status pci_trace_thread(struct pci_trace *t, uint32_t pid, uint32_t tid, uint32_t *thread,
                             pcol_error *err)
{
    int found;
    PCI_TRY(pci_pair_set_add(&t->thread_ids, pid, tid, &found, err));
    *thread = pci_pair_set_find(&t->thread_ids, pid, tid);
    if (found)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(t->threads, t->thread_capacity, (size_t)*thread + 1, err));
    t->threads[*thread] = (struct pci_trace_thread){
        .pid = pid, .tid = tid, .name = PCOL_NONE, .open = PCOL_NONE, .last = INT64_MIN};
    return PCOL_OK;
}

pcol_status pci_trace_thread_row(struct pci_trace *t, uint32_t thread, uint32_t *row,
                                 pcol_error *err)
{
    const struct pci_trace_thread *of = &t->threads[thread];
    uint32_t process = pci_pair_set_find(&t->process_ids, of->pid, 0);
    struct pci_import_thread cells = {of->name, of->tid, of->pid,
                                      process == PCI_HASH_NONE ? PCOL_NONE : t->processes[process],
                                      0};
    return pci_import_thread(t->v8.import, &cells, row, err);
}

/* ---- events ---- */

static pcol_status append(struct pci_trace *t, const struct pci_trace_event *e, uint32_t thread,
                          pcol_error *err)
{
    struct pci_span span = {.start = e->ts,
                            .duration = e->phase == 'X' && e->has_duration ? e->duration : -1,
                            .thread = thread,
                            .name = e->name,
                            .outer = PCOL_NONE};
    if (t->span_count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 spans");
    PCI_TRY(PCI_GROW(t->spans, t->span_capacity, t->span_count + 1, err));
    if (e->phase == 'B') {
        span.outer = t->threads[thread].open;
        t->threads[thread].open = (uint32_t)t->span_count;
    }
    t->spans[t->span_count++] = span;
    return PCOL_OK;
}

pcol_status pci_trace_add_span(struct pci_trace *t, const struct pci_trace_event *e,
                               pcol_error *err)
{
    uint32_t index;
    int64_t end;
    int is_span = e->phase == 'X' || e->phase == 'B' || e->phase == 'E';
    if (!is_span && (e->phase == 'M' || !e->has_ts)) /* metadata is at no time */
        return PCOL_OK;
    if (!e->has_ts || (is_span && e->phase != 'E' && e->name == PCOL_NONE))
        return pci_fail_text(err, PCOL_E_SYNTAX, e->line, e->column,
                             "an event of phase %c needs ts%s", e->phase,
                             e->phase == 'E' ? "" : " and name");
    if (__builtin_add_overflow(e->ts, e->duration, &end))
        return pci_fail_text(err, PCOL_E_SYNTAX, e->line, e->column,
                             "the event ends beyond 64 bits of nanoseconds");
    PCI_TRY(pci_trace_thread(t, e->pid, e->tid, &index, err));
    struct pci_trace_thread *thread = &t->threads[index];
    if (end > thread->last)
        thread->last = end;
    if (!is_span)
        return PCOL_OK;
    if (e->phase != 'E')
        return append(t, e, index, err);
    if (thread->open == PCOL_NONE) {
        t->without_begin++;
        return PCOL_OK;
    }
    struct pci_span *span = &t->spans[thread->open];
    if (__builtin_sub_overflow(e->ts, span->start, &span->duration) || span->duration < 0)
        return pci_fail_text(err, PCOL_E_SYNTAX, e->line, e->column,
                             "the event ends a span before its begin");
    thread->open = span->outer;
    return PCOL_OK;
}

/* ---- rows ---- */

static int compare_spans(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct pci_span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->duration < y->duration) - (x->duration > y->duration);
}

/* Spans without an end last until the latest event of their thread. */
static void close_spans(struct pci_trace *t)
{
    for (size_t i = 0; i < t->span_count; i++) {
        struct pci_span *span = &t->spans[i];
        if (span->duration >= 0)
            continue;
        t->without_end++;
        if (__builtin_sub_overflow(t->threads[span->thread].last, span->start, &span->duration) ||
            span->duration < 0)
            span->duration = 0;
    }
}

/* A span that contains the time of the walk. */
struct open_span {
    int64_t end, from; /* its time since `from` is in no row */
    uint32_t stack;
    int is_counted; /* it has a row */
};

struct walk {
    struct pci_trace *trace;
    struct open_span *open;
    size_t depth, capacity;
    pcol_value values[2]; /* time, spans */
    pcol_sample sample;
};

static pcol_status add_group(struct pci_trace *t, uint32_t name, uint32_t *group, pcol_error *err)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group new_group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    function.name = name;
    function.system_name = function.filename = PCOL_NONE;
    PCI_TRY(pcol_builder_function(t->v8.builder, &function, &line.function, err));
    new_group.lines = &line;
    new_group.line_count = 1;
    new_group.mapping = PCOL_NONE;
    return pcol_builder_group(t->v8.builder, &new_group, group, err);
}

/* The row of the innermost open span up to `end`: without time only for the first one. */
static pcol_status put_row(struct walk *w, int64_t end, pcol_error *err)
{
    struct open_span *span = &w->open[w->depth - 1];
    int64_t from = span->from;
    if (end > span->from)
        span->from = end;
    else if (span->is_counted)
        return PCOL_OK;
    w->sample.stack = span->stack;
    w->sample.time_ns = from;
    w->sample.duration_ns = w->values[0].as.i64 = span->from - from;
    w->values[1].as.i64 = !span->is_counted;
    span->is_counted = 1;
    return pcol_builder_sample(w->trace->v8.builder, &w->sample, NULL, err);
}

/* Close the spans that end at `time` or before. */
static pcol_status close_until(struct walk *w, int64_t time, pcol_error *err)
{
    while (w->depth && w->open[w->depth - 1].end <= time) {
        int64_t end = w->open[w->depth - 1].end;
        PCI_TRY(put_row(w, end, err));
        if (--w->depth) {
            struct open_span *outer = &w->open[w->depth - 1];
            outer->from = end < outer->end ? end : outer->end;
        }
    }
    return PCOL_OK;
}

static pcol_status walk_span(struct walk *w, size_t i, pcol_error *err)
{
    struct pci_trace *t = w->trace;
    const struct pci_span *span = &t->spans[i];
    int64_t end = span->start + span->duration;
    uint32_t group, stack = 0;
    if (i && t->spans[i - 1].thread != span->thread)
        PCI_TRY(close_until(w, INT64_MAX, err));
    if (!i || t->spans[i - 1].thread != span->thread)
        PCI_TRY(pci_trace_thread_row(t, span->thread, &w->sample.thread, err));
    PCI_TRY(close_until(w, span->start, err));
    if (w->depth) {
        t->overlapping += end > w->open[w->depth - 1].end;
        PCI_TRY(put_row(w, span->start, err));
        stack = w->open[w->depth - 1].stack;
    }
    PCI_TRY(add_group(t, span->name, &group, err));
    PCI_TRY(pcol_builder_stack(t->v8.builder, stack, group, &stack, err));
    PCI_TRY(PCI_GROW(w->open, w->capacity, w->depth + 1, err));
    w->open[w->depth++] = (struct open_span){.end = end, .from = span->start, .stack = stack};
    return PCOL_OK;
}

static pcol_status walk(struct walk *w, pcol_error *err)
{
    struct pci_trace *t = w->trace;
    PCI_TRY(pci_sort(t->spans, t->span_count, sizeof *t->spans, compare_spans, NULL, err));
    PCI_TRY(pcol_builder_sample_type(t->v8.builder, "time", "nanoseconds", 0, 0,
                                     &w->values[0].sample_type, err));
    PCI_TRY(pcol_builder_sample_type(t->v8.builder, "spans", "count", 0, 0,
                                     &w->values[1].sample_type, err));
    w->sample.source = t->v8.import->source;
    w->sample.values = w->values;
    w->sample.value_count = 2;
    w->sample.flags = PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_DURATION;
    for (size_t i = 0; i < t->span_count; i++)
        PCI_TRY(walk_span(w, i, err));
    return close_until(w, INT64_MAX, err);
}

pcol_status pci_trace_put_spans(struct pci_trace *t, pcol_error *err)
{
    struct walk w = {.trace = t, .sample = PCOL_INIT(pcol_sample)};
    close_spans(t);
    pcol_status status = walk(&w, err);
    pci_free(w.open);
    PCI_TRY(status);
    if (t->without_begin)
        pci_import_message("events that end no span ignored: %" PRIu64, t->without_begin);
    if (t->without_end)
        pci_import_message("spans without an end last until the end of their thread: %" PRIu64,
                           t->without_end);
    if (t->overlapping)
        pci_import_message("spans that end after the span in which they begin: %" PRIu64,
                           t->overlapping);
    return PCOL_OK;
}
