/*
 * write.c - a profile as the text of `perf script`
 *
 * Laid out as perf prints it: with call chains a block for each sample, without a line. A profile
 * that was perf script text gets the fields back that it had; another one gets its values as
 * periods of an event that is called like the sample type, which is what programs that read such
 * text can use. Nothing in such text is escaped: each line is parsed as the reader parses it, and a
 * name that does not come back is reported as a loss.
 */
#include "formats/format.h"
#include "formats/perf/parse.h"
#include "formats/perf/perf.h"
#include "model/frame_names.h"
#include "model/row_details.h"
#include "model/stack_path.h"
#include "model/types.h"
#include "stream/out_buffer.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LOSS_NAME = 1,
    LOSS_TYPES = 2,
    LOSS_LABELS = 4,
    LOSS_UNIT = 8,
    LOSS_DOUBLE = 16,
    LOSS_NEGATIVE = 32,
    LOSS_TIME = 64,
    LOSS_EMPTY = 128,
    LOSS_FILE = 256,
    LOSS_LINE = 512,
    LOSS_PARSED = 1024,
    LOSS_COUNT = 2048
};

static const char *const losses[] = {
    "line ends in names: they become blanks",
    "more than one sample type (--sample-type chooses)",
    "labels of samples but cpu (from 0 on), misc and trace",
    "units of values other than count, and nanoseconds of clocks",
    "fractions of values",
    "negative values: their samples are left out",
    "times before 0",
    "the difference between samples without a call stack and with an empty one",
    "files of functions without a line",
    "lines whose file is not known",
    "names that look like other fields: they are read back as others",
    "values other than 1 of events without a period",
};

const struct pci_capabilities pci_perf_capabilities = {
    .loss_prefix = "perf script text cannot hold",
    .generic = PCI_KIND_BIT(FILES) | PCI_KIND_BIT(LINES) | PCI_KIND_BIT(INLINED) |
               PCI_KIND_BIT(ADDRESSES) | PCI_KIND_BIT(LIBRARIES) | PCI_KIND_BIT(THREADS) |
               PCI_KIND_BIT(TIMES) | PCI_KIND_BIT(LABELS)};

struct writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_out *out;
    struct pci_strbuf line;        /* the line at hand */
    struct pci_perf_header header; /* fields that it must have when it is read */
    struct pci_perf_frame frame;
    uint8_t *checked; /* by location: how its line was written when it was found to come back */
    int addressed;    /* a frame with an address was written, as the reader knows by then */
    struct pci_types types;
    struct pci_samples_by_source turns;
    struct pci_selected_type chosen;
    struct pci_frame_namer names;
    struct pci_stack_path path;
    struct pci_label_reader labels, group_labels;
    const struct pci_column *stack, *thread, *time, *address;
    const struct pci_column *thread_name, *thread_tid, *thread_pid;
    uint32_t *list, list_count; /* types of the source */
    uint32_t source;
    int own;    /* the source was perf script text */
    int chains; /* a sample has more frames than one, one without an address, or text before it */
    int nanoseconds; /* a time is not whole microseconds */
    size_t event_width;
    unsigned lost;
};

/* ---- pieces ---- */

static pcol_status put(struct writer *w, const void *data, size_t size, pcol_error *err)
{
    return pci_strbuf_append(&w->line, data, size, err);
}

static pcol_status put_text(struct writer *w, pcol_str text, pcol_error *err)
{
    size_t start = w->line.size;
    PCI_TRY(put(w, text.data, text.size, err));
    for (size_t i = start; i < w->line.size; i++)
        if (w->line.data[i] == '\n') {
            w->line.data[i] = ' ';
            w->lost |= LOSS_NAME;
        }
    return PCOL_OK;
}

static pcol_status end_line(struct writer *w, pcol_error *err)
{
    PCI_TRY(put(w, "\n", 1, err));
    size_t size = w->line.size;
    w->line.size = 0;
    return pci_out(w->out, w->line.data, size, err);
}

/* What ends the line: of two CR before its end the first one is text. */
static pcol_status put_trace(struct writer *w, pcol_str text, pcol_error *err)
{
    PCI_TRY(put_text(w, text, err));
    return text.size && text.data[text.size - 1] == '\r' ? put(w, "\r", 1, err) : PCOL_OK;
}

static pcol_status put_blanks(struct writer *w, size_t width, size_t used, pcol_error *err)
{
    for (; used < width; used++)
        PCI_TRY(put(w, " ", 1, err));
    return PCOL_OK;
}

static pcol_status put_right(struct writer *w, pcol_str text, size_t width, pcol_error *err)
{
    PCI_TRY(put_blanks(w, width, text.size, err));
    return put_text(w, text, err);
}

__attribute__((format(printf, 3, 4))) static pcol_status putf(struct writer *w, pcol_error *err,
                                                              const char *format, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return put(w, text, size > 0 ? (size_t)size : 0, err);
}

static pcol_status cell(const struct writer *w, const struct pci_column *column, uint64_t row,
                        int64_t *value, int *valid, pcol_error *err)
{
    *value = 0;
    *valid = 0;
    return column ? pci_get(w->file, column, row, value, valid, err) : PCOL_OK;
}

static pcol_status cell_str(const struct writer *w, const struct pci_column *column, uint64_t row,
                            pcol_str *text, int *valid, pcol_error *err)
{
    *text = (pcol_str){"", 0};
    *valid = 0;
    if (!column)
        return PCOL_OK;
    if (row >= column->desc->rows)
        return pci_fail_cell(err, PCOL_E_CORRUPT, "samples", "thread", PCOL_POSITION_UNKNOWN,
                             "thread %" PRIu64 " does not exist", row);
    return pci_get_str(w->file, column, row, text, valid, err);
}

/* ---- events ---- */

static const struct pci_label_cell *find_label(const struct pci_label_reader *labels,
                                               const char *key, uint8_t kind)
{
    for (size_t i = 0; i < labels->cell_count; i++) {
        const struct pci_label_cell *entry = &labels->cells[i];
        if (entry->key && entry->key->kind == kind && pci_str_is(entry->key->key, key))
            return entry;
    }
    return NULL;
}

/* A label of the sample at hand. */
static const struct pci_label_cell *label(const struct writer *w, const char *key, uint8_t kind)
{
    return find_label(&w->labels, key, kind);
}

/* What is printed of a sample's value. */
struct event {
    uint32_t type; /* PCOL_NONE: the sample has no value */
    int64_t period;
    int has_period, has_name;
};

/* The types of samples without an event: `samples` without, `period` with a period. */
static int is_eventless(const struct writer *w, uint32_t type, const char *name)
{
    return w->own && pci_str_is(w->types.type[type], name) &&
           pci_str_is(w->types.unit[type], "count") && !w->types.ordinal[type];
}

/* The labels of the sample have been read. */
static pcol_status event_of(struct writer *w, uint64_t row, struct event *event, pcol_error *err)
{
    const uint32_t *list = w->own ? w->list : w->chosen.rows;
    uint32_t count = w->own ? w->list_count : w->chosen.count;
    int fraction = 0;
    *event = (struct event){.type = PCOL_NONE};
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
        event->period = bits;
        if (column->desc->type == PCF_F64)
            PCI_TRY(pci_types_round_double(bits, row, "perf script text", &event->period, &fraction,
                                           err));
    }
    w->lost |= fraction ? LOSS_DOUBLE : 0u;
    if (event->type == PCOL_NONE)
        return PCOL_OK;
    int eventless = !label(w, "event", PCI_LABEL_STRING);
    int uncounted = eventless && is_eventless(w, event->type, "samples");
    event->has_period =
        !uncounted && !(w->own && pci_str_is(w->types.unit[event->type], "samples"));
    event->has_name = !uncounted && !(eventless && is_eventless(w, event->type, "period"));
    if (!event->has_period && event->period != 1)
        w->lost |= event->period < 0 ? LOSS_NEGATIVE : LOSS_COUNT;
    if (event->has_period && event->period < 0)
        w->lost |= LOSS_NEGATIVE;
    return PCOL_OK;
}

/* ---- headers ---- */

/* flush: without blanks in front. */
static pcol_status put_thread(struct writer *w, uint64_t row, int flush, pcol_error *err)
{
    int64_t thread;
    int valid, has_name = 0, has_tid = 0, has_pid = 0;
    pcol_str name = {"", 0}, tid = name, pid = name;
    PCI_TRY(cell(w, w->thread, row, &thread, &valid, err));
    if (valid) {
        PCI_TRY(cell_str(w, w->thread_name, (uint64_t)thread, &name, &has_name, err));
        PCI_TRY(cell_str(w, w->thread_tid, (uint64_t)thread, &tid, &has_tid, err));
        PCI_TRY(cell_str(w, w->thread_pid, (uint64_t)thread, &pid, &has_pid, err));
    }
    if (!w->own && !name.size) { /* readers look for one */
        name = (pcol_str){"pcol", 4};
        has_name = 1;
    }
    if (!has_tid && !w->own) {
        tid = (pcol_str){"0", 1};
        has_tid = 1;
    }
    w->header = (struct pci_perf_header){.comm = name, .pid = pid, .tid = tid};
    w->header.has_tid = has_tid != 0;
    w->header.has_pid = has_tid && has_pid;
    if (has_name) {
        if (name.size && name.data[0] == '#') /* at the start of a line it would be a comment */
            PCI_TRY(put(w, " ", 1, err));
        PCI_TRY(put_right(w, name, w->chains || flush ? 0 : 16, err));
        PCI_TRY(put(w, " ", 1, err));
    }
    size_t width = has_name || !flush ? 5 : 0;
    if (w->header.has_pid) {
        PCI_TRY(put_right(w, pid, width, err));
        PCI_TRY(put(w, "/", 1, err));
        PCI_TRY(put_text(w, tid, err));
        PCI_TRY(put_blanks(w, 5, tid.size, err));
        return put(w, " ", 1, err);
    }
    if (!has_tid)
        return PCOL_OK;
    PCI_TRY(put_right(w, tid, width, err));
    return put(w, " ", 1, err);
}

static pcol_status put_time(struct writer *w, int64_t time, pcol_error *err)
{
    char text[48];
    w->lost |= time < 0 ? LOSS_TIME : 0u;
    uint64_t ns = time < 0 ? 0 : (uint64_t)time; /* perf knows no time before its clock's begin */
    w->header.has_time = 1;
    w->header.time_ns = (int64_t)ns;
    if (w->nanoseconds)
        snprintf(text, sizeof text, "%5" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    else
        snprintf(text, sizeof text, "%5" PRIu64 ".%06" PRIu64, ns / 1000000000,
                 ns % 1000000000 / 1000);
    return putf(w, err, "%12s: ", text);
}

static pcol_status put_cpu(struct writer *w, int64_t cpu, pcol_error *err)
{
    w->header.has_cpu = 1;
    w->header.cpu = cpu;
    return putf(w, err, "[%03" PRId64 "] ", cpu);
}

static pcol_status put_misc(struct writer *w, pcol_str misc, pcol_error *err)
{
    w->header.has_misc = 1;
    w->header.misc = misc;
    PCI_TRY(put_text(w, misc, err));
    return put_blanks(w, 6, misc.size, err);
}

static pcol_status put_event(struct writer *w, const struct event *event, pcol_error *err)
{
    w->header.has_period = event->has_period != 0;
    w->header.has_event = event->has_name != 0;
    if (event->has_period) {
        w->header.period = event->period;
        PCI_TRY(putf(w, err, "%10" PRId64 " ", event->period));
    }
    if (!event->has_name)
        return PCOL_OK;
    w->header.event = w->types.type[event->type];
    PCI_TRY(put_right(w, w->header.event, w->event_width, err));
    return put(w, ": ", 2, err);
}

/* Nothing but a time tells a line with blanks in front from that of a frame, which begins with an
 * address, or of a source, which ends in a number. */
static pcol_status looks_like_frame(const struct writer *w, uint64_t row, pcol_str trace,
                                    int *looks, pcol_error *err)
{
    pcol_str name = {"", 0};
    int64_t thread;
    int valid;
    *looks = trace.size && memchr("0123456789]", trace.data[trace.size - 1], 11) != NULL;
    PCI_TRY(cell(w, w->thread, row, &thread, &valid, err));
    if (valid)
        PCI_TRY(cell_str(w, w->thread_name, (uint64_t)thread, &name, &valid, err));
    size_t digits = 0;
    while (digits < name.size && name.data[digits] && strchr("0123456789abcdef", name.data[digits]))
        digits++;
    *looks |= digits == name.size || name.data[digits] == ' ' || name.data[digits] == '\t';
    return PCOL_OK;
}

static pcol_status put_header(struct writer *w, uint64_t row, const struct event *event,
                              pcol_error *err)
{
    int64_t time;
    int has_time, flush = 0;
    const struct pci_label_cell *cpu = label(w, "cpu", PCI_LABEL_INTEGER);
    const struct pci_label_cell *misc = label(w, "misc", PCI_LABEL_STRING);
    const struct pci_label_cell *trace = label(w, "trace", PCI_LABEL_STRING);
    const struct pci_label_cell *name = w->own ? label(w, "event", PCI_LABEL_STRING) : NULL;
    if (cpu && cpu->as.i64 < 0)
        cpu = NULL;
    if (w->labels.cell_count >
        (size_t)(cpu != NULL) + (misc != NULL) + (trace != NULL) + (name != NULL))
        w->lost |= LOSS_LABELS;
    PCI_TRY(cell(w, w->time, row, &time, &has_time, err));
    if (!has_time)
        PCI_TRY(looks_like_frame(w, row, trace ? trace->as.text : (pcol_str){"", 0}, &flush, err));
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
    return put_trace(w, trace->as.text, err);
}

static int same_field(int has, pcol_str text, int has_other, pcol_str other)
{
    return has == has_other && (!has || pci_str_equal(text, other));
}

/* Whether the line at hand is read as the header that was written, without its tail. */
static int header_comes_back(const struct writer *w, struct pci_perf_header *h)
{
    const struct pci_perf_header *own = &w->header;
    const uint8_t *text = (const uint8_t *)w->line.data;
    size_t size = w->line.size;
    if (size && text[size - 1] == '\r')
        size--;
    if (!size || !pci_perf_header(text, size, h))
        pci_perf_comm(text, size, h);
    return (!size || text[0] != '\t') && pci_str_equal(h->comm, own->comm) &&
           same_field(h->has_pid, h->pid, own->has_pid, own->pid) &&
           same_field(h->has_tid, h->tid, own->has_tid, own->tid) &&
           same_field(h->has_misc, h->misc, own->has_misc, own->misc) &&
           same_field(h->has_event, h->event, own->has_event, own->event) && !h->beyond_cpu &&
           !h->beyond_time && h->has_cpu == own->has_cpu && (!h->has_cpu || h->cpu == own->cpu) &&
           h->has_time == own->has_time && (!h->has_time || h->time_ns == own->time_ns) &&
           h->has_period == own->has_period && (!h->has_period || h->period == own->period);
}

/* The header's line without a frame. */
static pcol_status end_header(struct writer *w, pcol_error *err)
{
    struct pci_perf_header h;
    struct pci_perf_frame frame;
    if (!header_comes_back(w, &h) || !pci_str_equal(h.tail, w->header.tail) ||
        pci_perf_tail_frame(&h, w->addressed, &frame))
        w->lost |= LOSS_PARSED;
    return end_line(w, err);
}

/* ---- frames ---- */

/* A label of the group at hand. */
static const struct pci_label_cell *group_label(const struct writer *w, const char *key,
                                                uint8_t kind)
{
    return find_label(&w->group_labels, key, kind);
}

static pcol_status put_offset(struct writer *w, const char *key, uint64_t *offset, int *has,
                              pcol_error *err)
{
    const struct pci_label_cell *entry = group_label(w, key, PCI_LABEL_INTEGER);
    *has = entry != NULL;
    *offset = entry ? (uint64_t)entry->as.i64 : 0;
    return entry ? putf(w, err, "+0x%" PRIx64, *offset) : PCOL_OK;
}

static pcol_status put_object(struct writer *w, uint32_t group, pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    int valid, has_offset;
    if (w->own && group_label(w, "no_object", PCI_LABEL_BOOL))
        return PCOL_OK;
    PCI_TRY(pci_frame_namer_mapping(&w->names, group, &f->object, &valid, err));
    f->in_object = 1;
    f->has_object = valid && f->object.size;
    PCI_TRY(put(w, " (", 2, err));
    PCI_TRY(put_text(w, f->has_object ? f->object : (pcol_str){"[unknown]", 9}, err));
    PCI_TRY(put_offset(w, "object_offset", &f->object_offset, &has_offset, err));
    f->has_object_offset = has_offset != 0;
    return put(w, ")", 1, err);
}

/* How many lines of the group at hand, from the innermost on, are marked (inlined), and the offsets
 * that they have: hexadecimal digits or nothing, separated by commas. */
static uint64_t inlined_lines(const struct writer *w, const struct pci_stack_step *step,
                              pcol_str *offsets)
{
    const struct pci_label_cell *entry =
        w->own ? group_label(w, "inlined_offsets", PCI_LABEL_STRING) : NULL;
    uint64_t count = 1;
    *offsets = entry ? entry->as.text : (pcol_str){"", 0};
    for (size_t i = 0; i < offsets->size; i++)
        count += offsets->data[i] == ',';
    return entry && count == step->count ? count : step->count - 1;
}

/* The first of the offsets, which is taken off. */
static pcol_status put_inlined(struct writer *w, pcol_str *offsets, pcol_error *err)
{
    const char *comma = offsets->size ? memchr(offsets->data, ',', offsets->size) : NULL;
    size_t size = comma ? (size_t)(comma - offsets->data) : offsets->size;
    if (size) {
        PCI_TRY(put(w, "+0x", 3, err));
        PCI_TRY(put_text(w, (pcol_str){offsets->data, size}, err));
    }
    w->frame.inlined = 1;
    w->frame.has_offset = size > 0;
    offsets->data += size + (comma != NULL);
    offsets->size -= size + (comma != NULL);
    return put(w, " (inlined)", 10, err);
}

/* A colon before a blank, or at the end: what is in front of it could be read as a header. */
static int has_colon(pcol_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ':' &&
            (i + 1 == text.size || text.data[i + 1] == ' ' || text.data[i + 1] == '\t'))
            return 1;
    return 0;
}

static pcol_status put_symbol(struct writer *w, const struct pci_name *name, pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    f->in_symbol = 1;
    if (!name->is_made || !w->own) {
        f->has_symbol = 1;
        f->symbol = name->name;
        return put_text(w, name->name, err);
    }
    f->in_symbol = !group_label(w, "no_symbol", PCI_LABEL_BOOL);
    return f->in_symbol ? put(w, "[unknown]", 9, err) : PCOL_OK;
}

/* The frame of one line of a group; `offsets`: as put_line(). */
static pcol_status put_frame(struct writer *w, const struct pci_stack_step *step,
                             const struct pci_name *name, pcol_str *offsets, pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    int64_t address;
    int has_address, has_offset;
    memset(f, 0, sizeof *f);
    PCI_TRY(cell(w, w->address, step->group, &address, &has_address, err));
    PCI_TRY(put(w, w->chains ? "\t" : " ", 1, err));
    f->has_address = has_address || !w->own;
    f->address = (uint64_t)address;
    if (f->has_address)
        PCI_TRY(putf(w, err, "%16" PRIx64 " ", f->address));
    PCI_TRY(put_symbol(w, name, err));
    if (offsets)
        return put_inlined(w, offsets, err);
    PCI_TRY(put_offset(w, "offset", &f->offset, &has_offset, err));
    f->has_offset = has_offset != 0;
    return put_object(w, step->group, err);
}

/* Whether the line at hand is read as the frame that was written, after a header if there are no
 * call chains. */
static int frame_comes_back(const struct writer *w, int first)
{
    const struct pci_perf_frame *own = &w->frame;
    struct pci_perf_header h;
    struct pci_perf_frame f;
    const uint8_t *text = (const uint8_t *)w->line.data;
    pcol_str file;
    int64_t line;
    if (w->chains) {
        if ((!first && w->addressed && pci_perf_source_line(text, w->line.size, &file, &line)) ||
            !pci_perf_frame(text, w->line.size, w->addressed, &f))
            return 0;
    } else if (!header_comes_back(w, &h) || !pci_perf_tail_frame(&h, w->addressed, &f)) {
        return 0;
    }
    return same_field(f.has_symbol, f.symbol, own->has_symbol, own->symbol) &&
           same_field(f.has_object, f.object, own->has_object, own->object) && !f.beyond &&
           f.has_address == own->has_address && f.address == own->address &&
           f.in_symbol == own->in_symbol && f.in_object == own->in_object &&
           f.inlined == own->inlined && f.has_offset == own->has_offset &&
           (f.inlined || f.offset == own->offset) &&
           f.has_object_offset == own->has_object_offset && f.object_offset == own->object_offset;
}

/* Whether the line at hand is read as that of the source. */
static int source_comes_back(const struct writer *w, const struct pci_name *name)
{
    pcol_str file;
    int64_t line;
    return pci_perf_source_line((const uint8_t *)w->line.data, w->line.size, &file, &line) &&
           pci_str_equal(file, name->filename) && line == name->line;
}

/* A line in call chains comes back or not each time that it is written in the same way. */
static int needs_check(struct writer *w, uint64_t location, int first)
{
    uint8_t way = (uint8_t)(1 | w->addressed << 1 | w->own << 2 | first << 3);
    int known = w->chains && w->checked[location] == way;
    w->checked[location] = way;
    return !known;
}

/* One line of a group; `offsets`: of the inlined lines from this one on, NULL if it is none;
 * first: no frame comes before it. */
static pcol_status put_line(struct writer *w, const struct pci_stack_step *step, uint64_t line,
                            pcol_str *offsets, int first, pcol_error *err)
{
    struct pci_name name;
    PCI_TRY(pci_frame_namer_get(&w->names, step->first + line, step->group, &name, err));
    PCI_TRY(put_frame(w, step, &name, offsets, err));
    int check = needs_check(w, step->first + line, first);
    if (check && !frame_comes_back(w, first))
        w->lost |= LOSS_PARSED;
    w->addressed |= w->frame.has_address;
    PCI_TRY(end_line(w, err));
    if (!name.has_line || !name.has_filename || !name.filename.size || name.line < 0) {
        w->lost |= name.has_line ? LOSS_LINE : name.has_filename ? LOSS_FILE : 0u;
        return PCOL_OK;
    }
    /* Behind a tab nothing is read as a header. */
    int tab = has_colon(name.filename);
    PCI_TRY(put(w, tab ? "\t" : "  ", tab ? 1 : 2, err));
    PCI_TRY(put_text(w, name.filename, err));
    PCI_TRY(putf(w, err, ":%" PRId64, name.line));
    if (check && (!w->addressed || !source_comes_back(w, &name)))
        w->lost |= LOSS_PARSED;
    return end_line(w, err);
}

static pcol_status put_sample(struct writer *w, uint64_t row, pcol_error *err)
{
    struct event event;
    int64_t stack;
    int valid;
    PCI_TRY(pci_labels_row(&w->labels, row, err));
    PCI_TRY(event_of(w, row, &event, err));
    if (!w->own && w->chosen.count && event.type == PCOL_NONE) /* a sample of other types */
        return PCOL_OK;
    if (event.type != PCOL_NONE && event.period < 0) /* periods have no sign */
        return PCOL_OK;
    PCI_TRY(put_header(w, row, &event, err));
    PCI_TRY(cell(w, w->stack, row, &stack, &valid, err));
    w->lost |= valid && !stack && !w->own ? LOSS_EMPTY : 0u;
    PCI_TRY(pci_stack_path_to(&w->path, valid ? (uint64_t)stack : 0, err));
    if (w->chains || !w->path.depth)
        PCI_TRY(end_header(w, err));
    for (size_t i = w->path.depth; i; i--) {
        const struct pci_stack_step *step = &w->path.steps[i - 1];
        PCI_TRY(pci_labels_row(&w->group_labels, step->group, err));
        pcol_str offsets;
        uint64_t inlined = inlined_lines(w, step, &offsets);
        for (uint64_t line = 0; line < step->count; line++)
            PCI_TRY(put_line(w, step, line, line < inlined ? &offsets : NULL,
                             i == w->path.depth && !line, err));
    }
    return w->chains ? end_line(w, err) : PCOL_OK;
}

/* ---- the whole ---- */

/* Does the stack of a sample take lines of its own? What stands in the header's line is read as a
 * frame only if it is one, with its address, and all that is behind the event. */
static pcol_status needs_lines(struct writer *w, uint64_t stack, int *needed, pcol_error *err)
{
    struct pci_name name;
    pcol_str object;
    int64_t address;
    int has_address, valid;
    PCI_TRY(pci_stack_path_to(&w->path, stack, err));
    const struct pci_stack_step *step = w->path.steps;
    *needed = w->path.depth > 1 || (w->path.depth && step->count > 1);
    if (*needed || !w->path.depth)
        return PCOL_OK;
    PCI_TRY(cell(w, w->address, step->group, &address, &has_address, err));
    PCI_TRY(pci_labels_row(&w->group_labels, step->group, err));
    *needed = !has_address || label(w, "trace", PCI_LABEL_STRING) ||
              group_label(w, "no_object", PCI_LABEL_BOOL) ||
              group_label(w, "inlined_offsets", PCI_LABEL_STRING);
    if (*needed)
        return PCOL_OK;
    PCI_TRY(pci_frame_namer_get(&w->names, step->first, step->group, &name, err));
    *needed = has_colon(name.name);
    PCI_TRY(pci_frame_namer_mapping(&w->names, step->group, &object, &valid, err));
    *needed |= valid && has_colon(object);
    return PCOL_OK;
}

/* The next sample of the source from `row` on, or no sample's number. */
static pcol_status next_of_source(struct writer *w, uint64_t *row, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    int64_t source;
    int valid;
    if (pci_samples_by_source_find(&w->turns, w->source, row))
        return PCOL_OK;
    for (; *row < rows; ++*row) {
        PCI_TRY(cell(w, w->types.source, *row, &source, &valid, err));
        if ((uint64_t)source == w->source)
            return PCOL_OK;
        if (w->turns.in_order && (uint64_t)source > w->source)
            break;
        PCI_TRY(pci_samples_by_source_skip(&w->turns, *row, err));
    }
    *row = rows;
    return PCOL_OK;
}

/* How wide, how exact, how deep: what perf knows before it prints the first line. */
static pcol_status look_ahead(struct writer *w, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    w->chains = !w->own;
    w->nanoseconds = 0;
    w->event_width = 0;
    for (uint64_t row = w->turns.next;; row++) {
        struct event event;
        int64_t time, stack;
        int valid;
        PCI_TRY(next_of_source(w, &row, err));
        if (row >= rows)
            break;
        PCI_TRY(pci_labels_row(&w->labels, row, err));
        PCI_TRY(cell(w, w->time, row, &time, &valid, err));
        w->nanoseconds |= valid && time % 1000 != 0;
        PCI_TRY(event_of(w, row, &event, err));
        if (event.has_name && w->types.type[event.type].size > w->event_width)
            w->event_width = w->types.type[event.type].size;
        w->chains |=
            !valid && !event.has_name; /* a header is one by either, or by frames below it */
        PCI_TRY(cell(w, w->stack, row, &stack, &valid, err));
        if (valid && !w->chains)
            PCI_TRY(needs_lines(w, (uint64_t)stack, &w->chains, err));
    }
    return PCOL_OK;
}

/* What the reader makes of the event's name. */
static int keeps_unit(const struct writer *w)
{
    return pci_str_is(w->chosen.unit, pci_perf_is_clock(w->chosen.type) ? "nanoseconds" : "count");
}

static pcol_status write_source(struct writer *w, pcol_error *err)
{
    const struct pci_column *type, *text;
    uint64_t rows = pci_rows(w->file, "samples");
    pcol_str value;
    int valid;
    PCI_TRY(pci_require_column(w->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_get_str(w->file, type, w->source, &value, &valid, err));
    w->own = pci_str_is(value, "perf");
    PCI_TRY(pci_types_of_source(&w->types, w->source, w->list, &w->list_count, err));
    if (!w->own && w->list_count > w->chosen.count)
        w->lost |= LOSS_TYPES;
    if (!w->own && w->chosen.count && !keeps_unit(w))
        w->lost |= LOSS_UNIT;
    PCI_TRY(pci_find_verified_column(w->file, "sources", "text", PCI_TYPES_TEXT, &text, err));
    if (w->own && text) {
        PCI_TRY(pci_get_str(w->file, text, w->source, &value, &valid, err));
        /* A blank line ends the sample before it: below one, a comment would not be one. */
        if (value.size && w->source > w->export->first_source && !w->chains)
            PCI_TRY(pci_out(w->out, "\n", 1, err));
        PCI_TRY(pci_out(w->out, value.data, value.size, err));
        PCI_TRY(pci_out_line_end(w->out, err));
    }
    PCI_TRY(look_ahead(w, err));
    for (uint64_t row = w->turns.next;; row++) {
        PCI_TRY(next_of_source(w, &row, err));
        if (row >= rows)
            return PCOL_OK;
        PCI_TRY(put_sample(w, row, err));
        w->turns.next = w->turns.in_order ? row + 1 : 0;
    }
}

static pcol_status prepare(struct writer *w, pcol_error *err)
{
    const pcol_file *file = w->file;
    const struct pci_export *export = w->export;
    PCI_TRY(pci_types_open(file, &w->types, err));
    PCI_TRY(pci_types_verify(&w->types, err));
    PCI_TRY(pci_samples_by_source_open(file, w->types.source, &w->turns, err));
    PCI_TRY(pci_types_select(&w->types, export->first_source, export->last_source,
                             export->options->sample_type, &w->chosen, err));
    PCI_TRY(pci_frame_namer_open(&w->names, file, err));
    PCI_TRY(pci_stack_path_open(&w->path, file, err));
    PCI_TRY(pci_labels_open(&w->labels, file, "samples", err));
    PCI_TRY(pci_labels_open(&w->group_labels, file, "location_groups", err));
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW, &w->stack, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "thread", PCI_TYPES_ROW, &w->thread, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "time", PCI_TYPES_INT, &w->time, err));
    PCI_TRY(pci_find_verified_column(file, "location_groups", "address", PCI_TYPES_INT, &w->address,
                                     err));
    PCI_TRY(
        pci_find_verified_column(file, "threads", "name", PCI_TYPES_TEXT, &w->thread_name, err));
    PCI_TRY(pci_find_verified_column(file, "threads", "tid", PCI_TYPES_TEXT, &w->thread_tid, err));
    PCI_TRY(pci_find_verified_column(file, "threads", "pid", PCI_TYPES_TEXT, &w->thread_pid, err));
    w->list = pci_calloc((size_t)w->types.count + 1, sizeof *w->list);
    w->checked = pci_calloc((size_t)pci_rows(file, "locations") + 1, 1);
    return w->list && w->checked ? PCOL_OK : pci_fail_memory(err);
}

static pcol_status write_all(struct writer *w, pcol_error *err)
{
    const struct pci_export *export = w->export;
    PCI_TRY(prepare(w, err));
    for (uint32_t source = export->first_source;
         export->first_source <= export->last_source && source <= export->last_source; source++) {
        w->source = source;
        PCI_TRY(write_source(w, err));
        if (source == UINT32_MAX)
            break;
    }
    PCI_TRY(pci_out_flush(w->out, err));
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (w->lost & 1u << i)
            pci_export_loss(export, "%s %s", export->capabilities->loss_prefix, losses[i]);
    return pci_export_losses(export, "perf", err);
}

pcol_status pci_perf_write(const struct pci_export *export, pcol_error *err)
{
    struct writer w = {.export = export, .file = export->file};
    w.out = pci_malloc(1, sizeof *w.out);
    if (!w.out)
        return pci_fail_memory(err);
    pci_out_open(w.out, export->sink);
    pcol_status status = write_all(&w, err);
    pci_samples_by_source_close(&w.turns);
    pci_types_close(&w.types);
    pci_frame_namer_close(&w.names);
    pci_stack_path_close(&w.path);
    pci_labels_close(&w.labels);
    pci_labels_close(&w.group_labels);
    pci_free(w.chosen.rows);
    pci_free(w.list);
    pci_free(w.checked);
    pci_strbuf_clear(&w.line);
    pci_free(w.out);
    return status;
}
