/*
 * write_header.c - events and header lines of perf script text (write.h)
 */
#include "formats/perf/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static pcol_status put_blanks(struct pci_perf_writer *w, size_t width, size_t used, pcol_error *err)
{
    for (; used < width; used++)
        PCI_TRY(pci_perf_put(w, " ", 1, err));
    return PCOL_OK;
}

static pcol_status put_right(struct pci_perf_writer *w, pcol_str text, size_t width,
                             pcol_error *err)
{
    PCI_TRY(put_blanks(w, width, text.size, err));
    return pci_perf_put_text(w, text, err);
}

static pcol_status cell_str(const struct pci_perf_writer *w, const struct pci_column *column,
                            uint64_t row, pcol_str *text, int *valid, pcol_error *err)
{
    *text = (pcol_str){"", 0};
    *valid = 0;
    if (!column)
        return PCOL_OK;
    if (row >= column->desc->rows)
        return pci_corrupt(err, "samples", "thread", PCOL_POSITION_UNKNOWN,
                           "thread %" PRIu64 " does not exist", row);
    return pci_get_str(w->file, column, row, text, valid, err);
}

/* ---- events ---- */

/* 1 for the types of samples without an event: `samples` without, `period` with a period. */
static int is_eventless(const struct pci_perf_writer *w, uint32_t type, const char *name)
{
    return w->is_perf && pci_str_is(w->types.type[type], name) &&
           pci_str_is(w->types.unit[type], "count") && !w->types.ordinal[type];
}

pcol_status pci_perf_find_event(struct pci_perf_writer *w, uint64_t row,
                                struct pci_perf_event *event, pcol_error *err)
{
    const uint32_t *list = w->is_perf ? w->list : w->chosen.rows;
    uint32_t count = w->is_perf ? w->list_count : w->chosen.count;
    int fraction = 0;
    *event = (struct pci_perf_event){.type = PCOL_NONE};
    for (uint32_t i = 0; i < count; i++) {
        const struct pci_column *column = w->types.columns[list[i]];
        int64_t bits;
        int valid;
        if (!column || (event->type != PCOL_NONE && !is_eventless(w, event->type, "samples")))
            continue;
        PCI_TRY(pci_get(w->file, column, row, &bits, &valid, err));
        if (!valid)
            continue;
        event->type = list[i];
        PCI_TRY(pci_types_to_integer(bits, column->desc->type == PCF_F64, &w->form, row,
                                     &event->period, &fraction, err));
    }
    w->lost |= fraction ? LOSS_DOUBLE : 0u;
    if (event->type == PCOL_NONE)
        return PCOL_OK;
    int eventless = !pci_perf_sample_label(w, "event", PCI_LABEL_STRING);
    int uncounted = eventless && is_eventless(w, event->type, "samples");
    event->has_period =
        !uncounted && !(w->is_perf && pci_str_is(w->types.unit[event->type], "samples"));
    event->has_name = !uncounted && !(eventless && is_eventless(w, event->type, "period"));
    if (!event->has_period && event->period != 1)
        w->lost |= event->period < 0 ? LOSS_NEGATIVE : LOSS_COUNT;
    if (event->has_period && event->period < 0)
        w->lost |= LOSS_NEGATIVE;
    return PCOL_OK;
}

/* ---- headers ---- */

/* flush: without leading blanks. */
static pcol_status put_thread(struct pci_perf_writer *w, uint64_t row, int flush, pcol_error *err)
{
    int64_t thread;
    int valid, has_name = 0, has_tid = 0, has_pid = 0;
    pcol_str name = {"", 0}, tid = name, pid = name;
    PCI_TRY(pci_get(w->file, w->thread, row, &thread, &valid, err));
    if (valid) {
        PCI_TRY(cell_str(w, w->thread_name, (uint64_t)thread, &name, &has_name, err));
        PCI_TRY(cell_str(w, w->thread_tid, (uint64_t)thread, &tid, &has_tid, err));
        PCI_TRY(cell_str(w, w->thread_pid, (uint64_t)thread, &pid, &has_pid, err));
    }
    if (!w->is_perf && !name.size) { /* other readers require one */
        name = tid.size ? tid /* as pcol shows the thread */ : (pcol_str){"pcol", 4};
        has_name = 1;
    }
    if (!has_tid && !w->is_perf) {
        tid = (pcol_str){"0", 1};
        has_tid = 1;
    }
    w->header = (struct pci_perf_header){.comm = name, .pid = pid, .tid = tid};
    w->header.has_tid = has_tid != 0;
    w->header.has_pid = has_tid && has_pid;
    if (has_name) {
        if (name.size && name.data[0] == '#') /* at the start of a line it would be a comment */
            PCI_TRY(pci_perf_put(w, " ", 1, err));
        PCI_TRY(put_right(w, name, w->chains || flush ? 0 : 16, err));
        PCI_TRY(pci_perf_put(w, " ", 1, err));
    }
    size_t width = has_name || !flush ? 5 : 0;
    if (w->header.has_pid) {
        PCI_TRY(put_right(w, pid, width, err));
        PCI_TRY(pci_perf_put(w, "/", 1, err));
        PCI_TRY(pci_perf_put_text(w, tid, err));
        PCI_TRY(put_blanks(w, 5, tid.size, err));
        return pci_perf_put(w, " ", 1, err);
    }
    if (!has_tid)
        return PCOL_OK;
    PCI_TRY(put_right(w, tid, width, err));
    return pci_perf_put(w, " ", 1, err);
}

static pcol_status put_time(struct pci_perf_writer *w, int64_t time, pcol_error *err)
{
    char text[48];
    w->lost |= time < 0 ? LOSS_TIME : 0u;
    uint64_t ns = time < 0 ? 0 : (uint64_t)time; /* perf has no negative times */
    w->header.has_time = 1;
    w->header.time_ns = (int64_t)ns;
    if (w->nanoseconds)
        snprintf(text, sizeof text, "%5" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    else
        snprintf(text, sizeof text, "%5" PRIu64 ".%06" PRIu64, ns / 1000000000,
                 ns % 1000000000 / 1000);
    return pci_perf_putf(w, err, "%12s: ", text);
}

static pcol_status put_cpu(struct pci_perf_writer *w, int64_t cpu, pcol_error *err)
{
    w->header.has_cpu = 1;
    w->header.cpu = cpu;
    return pci_perf_putf(w, err, "[%03" PRId64 "] ", cpu);
}

static pcol_status put_misc(struct pci_perf_writer *w, pcol_str misc, pcol_error *err)
{
    w->header.has_misc = 1;
    w->header.misc = misc;
    PCI_TRY(pci_perf_put_text(w, misc, err));
    return put_blanks(w, 6, misc.size, err);
}

static pcol_status put_event(struct pci_perf_writer *w, const struct pci_perf_event *event,
                             pcol_error *err)
{
    w->header.has_period = event->has_period != 0;
    w->header.has_event = event->has_name != 0;
    if (event->has_period) {
        w->header.period = event->period;
        PCI_TRY(pci_perf_putf(w, err, "%10" PRId64 " ", event->period));
    }
    if (!event->has_name)
        return PCOL_OK;
    w->header.event = w->types.type[event->type];
    PCI_TRY(put_right(w, w->header.event, w->event_width, err));
    return pci_perf_put(w, ": ", 2, err);
}

/* *looks: without a time, the header with leading blanks may be parsed as a frame, which begins
 * with an address, or as a source line, which ends in a number. */
static pcol_status is_ambiguous_header(const struct pci_perf_writer *w, uint64_t row,
                                       pcol_str trace, int *looks, pcol_error *err)
{
    pcol_str name = {"", 0};
    int64_t thread;
    int valid;
    *looks = trace.size && memchr("0123456789]", trace.data[trace.size - 1], 11) != NULL;
    PCI_TRY(pci_get(w->file, w->thread, row, &thread, &valid, err));
    if (valid)
        PCI_TRY(cell_str(w, w->thread_name, (uint64_t)thread, &name, &valid, err));
    size_t digits = 0;
    while (digits < name.size && name.data[digits] && strchr("0123456789abcdef", name.data[digits]))
        digits++;
    *looks |= digits == name.size || name.data[digits] == ' ' || name.data[digits] == '\t';
    return PCOL_OK;
}

/* Blanks before a text without an event: a number at its beginning would be a period, unless it is
 * wider than one. After a time it is narrower than an address; without one it has the columns of an
 * address, or it would be a part of the comm. */
static pcol_status put_padding(struct pci_perf_writer *w, pcol_str text, int has_time,
                               pcol_error *err)
{
    const char *all = has_time ? "0123456789" : "0123456789abcdef";
    size_t digits = 0, width = has_time ? 12 : 16;
    while (digits < text.size && text.data[digits] && strchr(all, text.data[digits]))
        digits++;
    if (!digits || (digits < text.size && text.data[digits] != ' '))
        return PCOL_OK;
    return put_blanks(w, digits < width ? width : digits + 1, digits, err);
}

pcol_status pci_perf_put_header(struct pci_perf_writer *w, uint64_t row,
                                const struct pci_perf_event *event, pcol_error *err)
{
    int64_t time;
    int has_time, flush = 0;
    const struct pci_label_cell *cpu = pci_perf_sample_label(w, "cpu", PCI_LABEL_INTEGER);
    const struct pci_label_cell *misc = pci_perf_sample_label(w, "misc", PCI_LABEL_STRING);
    const struct pci_label_cell *trace = pci_perf_sample_label(w, "trace", PCI_LABEL_STRING);
    const struct pci_label_cell *name =
        w->is_perf ? pci_perf_sample_label(w, "event", PCI_LABEL_STRING) : NULL;
    const struct pci_label_cell *after = pci_perf_after_frame(w);
    if (cpu && cpu->as.i64 < 0)
        cpu = NULL;
    if (w->labels.cell_count >
        (size_t)(cpu != NULL) + (misc != NULL) + (trace != NULL) + (name != NULL) + (after != NULL))
        w->lost |= LOSS_LABELS;
    PCI_TRY(pci_get(w->file, w->time, row, &time, &has_time, err));
    if (!has_time)
        PCI_TRY(
            is_ambiguous_header(w, row, trace ? trace->as.text : (pcol_str){"", 0}, &flush, err));
    PCI_TRY(put_thread(w, row, flush, err));
    if (cpu)
        PCI_TRY(put_cpu(w, cpu->as.i64, err));
    if (misc)
        PCI_TRY(put_misc(w, misc->as.text, err));
    if (has_time)
        PCI_TRY(put_time(w, time, err));
    PCI_TRY(put_event(w, event, err));
    if (!trace)
        return PCOL_OK;
    w->header.tail = trace->as.text;
    if (!event->has_name)
        PCI_TRY(put_padding(w, trace->as.text, has_time, err));
    return pci_perf_put_text(w, trace->as.text, err);
}

int pci_perf_same_field(int has, pcol_str text, int has_other, pcol_str other)
{
    return has == has_other && (!has || pci_str_equal(text, other));
}

int pci_perf_verify_header(const struct pci_perf_writer *w, struct pci_perf_header *h)
{
    const struct pci_perf_header *expected = &w->header;
    const uint8_t *text = (const uint8_t *)w->line.data;
    size_t size = w->line.size;
    if (!size || !pci_perf_header(text, size, 0, h))
        pci_perf_comm(text, size, h);
    return (!size || text[0] != '\t') && pci_str_equal(h->comm, expected->comm) &&
           pci_perf_same_field(h->has_pid, h->pid, expected->has_pid, expected->pid) &&
           pci_perf_same_field(h->has_tid, h->tid, expected->has_tid, expected->tid) &&
           pci_perf_same_field(h->has_misc, h->misc, expected->has_misc, expected->misc) &&
           pci_perf_same_field(h->has_event, h->event, expected->has_event, expected->event) &&
           !h->beyond_cpu && !h->beyond_time && h->has_cpu == expected->has_cpu &&
           (!h->has_cpu || h->cpu == expected->cpu) && h->has_time == expected->has_time &&
           (!h->has_time || h->time_ns == expected->time_ns) &&
           h->has_period == expected->has_period &&
           (!h->has_period || h->period == expected->period);
}

int pci_perf_is_header(const struct pci_perf_writer *w)
{
    struct pci_perf_header h;
    return w->line.size && pci_perf_header((const uint8_t *)w->line.data, w->line.size, 0, &h);
}

pcol_status pci_perf_end_header(struct pci_perf_writer *w, int is_alone, pcol_error *err)
{
    struct pci_perf_header h;
    struct pci_perf_tail tail;
    if (!pci_perf_verify_header(w, &h) || !pci_str_equal(h.tail, w->header.tail) ||
        (is_alone && !(w->chains && w->has_tabs) && pci_perf_tail_frame(&h, w->addressed, &tail)))
        w->lost |= LOSS_PARSED;
    return pci_perf_end_line(w, err);
}
