/*
 * read.c - import of the text of `perf script`
 *
 * State machine over lines. A sample is a header line and its frames, innermost first, up to a
 * blank line or the next header; it is added when it ends. comm, pid and tid are a thread; cpu and
 * the rest of the header are labels. Each event is a sample type; a sample has one value, the
 * period in the type of its event, so no total adds two events. Tests: tests/unit/test_perf.c.
 */
#include "formats/perf/frame_groups.h"
#include "formats/perf/perf.h"
#include "stream/lines.h"

#include "builder/builder.h"
#include "builder/rows.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <string.h>

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_lines lines;
    /* The current sample. */
    int open;
    int bare; /* its header is only a comm: a frame must follow */
    uint64_t header_line;
    struct pci_strbuf header_text;
    struct pci_perf_header header;
    struct pci_strbuf after_frame; /* fields after the frame, or after the frames in a line */
    int may_have_tail_frame;       /* there may be one: no frames have followed so far */
    struct pci_perf_groups groups; /* frames of the sample */
    /* Of the source. */
    int unaligned;                /* periods need not be aligned: see look_ahead() */
    int has_tabs;                 /* a line near the beginning begins with a tab, as frames do */
    int has_frame_lines;          /* frames in lines of their own */
    int has_callers;              /* stacks of more than one location */
    uint64_t samples, blank_ends; /* samples, and those that a blank line ends */
    struct pci_strbuf comments;
    uint32_t *types; /* by 2 * string + (1 if it counts samples): type + 1 */
    size_t type_capacity;
    uint32_t thread_columns[4];
    uint32_t cpu_key, misc_key, trace_key, after_key, event_key;
    uint64_t records;
    int is_cut;                                  /* the last line has no line feed */
    struct pci_tolerated tolerated;              /* lines that are neither header nor frame */
    struct pci_tolerated periods, fields, names; /* numbers beyond 64 bits */
};

/* ---- samples ---- */

static pcol_status find_thread(struct reader *r, uint32_t *thread, pcol_error *err)
{
    const struct pci_perf_header *h = &r->header;
    struct pci_cell_value cells[4] = {{r->import->source, 1}};
    const struct {
        pcol_str text;
        int has;
    } parts[3] = {{h->comm, h->comm.size > 0}, {h->tid, h->has_tid}, {h->pid, h->has_pid}};
    int any = 0, is_new;
    *thread = PCOL_NONE;
    for (int i = 0; i < 3; i++) {
        uint32_t code = 0;
        if (parts[i].has)
            PCI_TRY(pci_perf_string(r->builder, parts[i].text, &code, err));
        cells[i + 1] = (struct pci_cell_value){code, parts[i].has != 0};
        any |= parts[i].has;
    }
    if (!any)
        return PCOL_OK;
    return pci_builder_intern(r->builder, PCI_T_THREADS, r->thread_columns, cells, 4, 0, thread,
                              &is_new, err);
}

/* Find or add the type of the sample. Without a period an event counts samples; periods of clocks
 * are in ns. Without an event the type is `period`, without both `samples`, each in `count`. */
static pcol_status find_type(struct reader *r, uint32_t *type, pcol_error *err)
{
    const struct pci_perf_header *h = &r->header;
    pcol_str event = h->has_event    ? h->event
                     : h->has_period ? (pcol_str){"period", 6}
                                     : (pcol_str){"samples", 7};
    const char *unit = h->has_event && !h->has_period              ? "samples"
                       : h->has_period && pci_perf_is_clock(event) ? "nanoseconds"
                                                                   : "count";
    uint32_t code, *entry;
    PCI_TRY(pci_perf_string(r->builder, event, &code, err));
    if (code > UINT32_MAX / 2 - 1)
        return pci_fail(err, PCOL_E_LIMIT, "too many strings");
    PCI_TRY(pci_perf_string_entry(&r->types, &r->type_capacity, code * 2 + (*unit == 's'), &entry,
                                  err));
    if (!*entry) {
        char name[1025];
        size_t size = event.size < sizeof name - 1 ? event.size : sizeof name - 1;
        memcpy(name, event.data, size);
        name[size] = 0;
        PCI_TRY(pcol_builder_sample_type(r->builder, name, unit, 0, 0, entry, err));
        ++*entry;
    }
    *type = *entry - 1;
    return PCOL_OK;
}

/* 1 if the event is named like the type of samples without one; a label then marks it. */
static int is_ambiguous(const struct pci_perf_header *h)
{
    return h->has_event && h->has_period &&
           (pci_str_is(h->event, "samples") || pci_str_is(h->event, "period"));
}

static pcol_status add_labels(struct reader *r, uint64_t row, pcol_error *err)
{
    const struct pci_perf_header *h = &r->header;
    struct pci_label labels[5];
    size_t count = 0;
    uint64_t extra = PCI_NO_NODE;
    struct pci_label text = {.unit = PCOL_NONE, .kind = PCI_LABEL_STRING};
    if (h->has_cpu)
        labels[count++] = (struct pci_label){.key = r->cpu_key,
                                             .unit = PCOL_NONE,
                                             .kind = PCI_LABEL_INTEGER,
                                             .text = PCOL_NONE,
                                             .as.i64 = h->cpu};
    if (h->has_misc) {
        text.key = r->misc_key;
        PCI_TRY(pci_perf_string(r->builder, h->misc, &text.text, err));
        labels[count++] = text;
    }
    if (is_ambiguous(h)) {
        text.key = r->event_key;
        PCI_TRY(pci_perf_string(r->builder, h->event, &text.text, err));
        labels[count++] = text;
    }
    if (h->tail.size) {
        text.key = r->trace_key;
        PCI_TRY(pci_perf_string(r->builder, h->tail, &text.text, err));
        labels[count++] = text;
    }
    if (r->after_frame.size) {
        text.key = r->after_key;
        PCI_TRY(pci_perf_string(r->builder, (pcol_str){r->after_frame.data, r->after_frame.size},
                                &text.text, err));
        labels[count++] = text;
    }
    if (!count)
        return PCOL_OK;
    return pci_builder_labels(r->builder, PCI_T_SAMPLES, row, labels, count, &extra, err);
}

static const char frame_overflow[] =
    "address or offset beyond 64 bits; a lenient import makes it part of the name";

/* Without call chains the frame is in the line of the header; text before it remains the tail. */
static pcol_status add_tail_frame(struct reader *r, pcol_error *err)
{
    struct pci_perf_tail tail;
    int is_frame =
        r->may_have_tail_frame && pci_perf_tail_frame(&r->header, r->groups.addressed, &tail);
    r->may_have_tail_frame = 0;
    if (!is_frame)
        return PCOL_OK;
    r->header.tail = tail.before;
    PCI_TRY(pci_strbuf_append(&r->after_frame, tail.after.data, tail.after.size, err));
    if (tail.frame.beyond)
        PCI_TRY(pci_import_tolerate(r->import, &r->names, r->header_line, 1, frame_overflow, err));
    return pci_perf_groups_add(&r->groups, &tail.frame, 0, err);
}

/* Add the current sample. */
static pcol_status end_sample(struct reader *r, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 1};
    const struct pci_perf_header *h = &r->header;
    uint64_t row;
    if (!r->open)
        return PCOL_OK;
    r->open = 0;
    PCI_TRY(add_tail_frame(r, err));
    PCI_TRY(pci_perf_groups_end(&r->groups, err));
    if (h->is_record) {
        r->records++;
        return PCOL_OK;
    }
    sample.source = r->import->source;
    sample.values = &value;
    sample.value_count = 1;
    sample.stack = 0;
    r->has_callers |= r->groups.count > 1;
    r->samples++;
    for (size_t i = r->groups.count; i; i--)
        PCI_TRY(pcol_builder_stack(r->builder, sample.stack, r->groups.rows[i - 1], &sample.stack,
                                   err));
    r->groups.count = 0;
    PCI_TRY(find_thread(r, &sample.thread, err));
    PCI_TRY(find_type(r, &value.sample_type, err));
    if (h->has_period)
        value.as.i64 = h->period;
    pci_set_flag(&sample.flags, PCOL_SAMPLE_HAS_TIME, h->has_time);
    sample.time_ns = h->time_ns;
    PCI_TRY(pcol_builder_sample(r->builder, &sample, &row, err));
    return add_labels(r, row, err);
}

/* Remove numbers beyond 64 bits from a header. */
static pcol_status drop_overflows(struct reader *r, struct pci_perf_header *h, uint64_t line,
                                  pcol_error *err)
{
    if (h->beyond_period)
        PCI_TRY(pci_import_tolerate(
            r->import, &r->periods, line, 1,
            "period beyond 64 bits; a lenient import counts such a sample as 1", err));
    if (h->beyond_time)
        PCI_TRY(pci_import_tolerate(r->import, &r->fields, line, 1,
                                    "time beyond 64 bits; a lenient import leaves it out", err));
    if (h->beyond_cpu)
        PCI_TRY(pci_import_tolerate(r->import, &r->fields, line, 1,
                                    "cpu beyond 64 bits; a lenient import leaves it out", err));
    h->has_period &= !h->beyond_period;
    h->has_time &= !h->beyond_time;
    h->has_cpu &= !h->beyond_cpu;
    return PCOL_OK;
}

/* Begin a sample; without a header, the line is not one by itself. */
static pcol_status begin_sample(struct reader *r, const struct pci_line *line,
                                const struct pci_perf_header *header, pcol_error *err)
{
    PCI_TRY(end_sample(r, err));
    r->open = 1;
    r->bare = !header;
    r->may_have_tail_frame = header != NULL;
    r->after_frame.size = 0;
    r->header_line = line->number;
    r->header_text.size = 0;
    /* The window of the input moves while the frames are read. */
    PCI_TRY(pci_strbuf_append(&r->header_text, line->text, line->size, err));
    struct pci_perf_header *h = &r->header;
    if (header)
        pci_perf_copy_header(header, (const char *)line->text, r->header_text.data, h);
    else
        pci_perf_comm((const uint8_t *)r->header_text.data, line->size, h);
    return drop_overflows(r, h, line->number, err);
}

/* ---- lines ---- */

/* Add the frame in the header's line if there is one, even an address alone, as its source line
 * follows. */
static pcol_status add_frame_of_source(struct reader *r, pcol_error *err)
{
    struct pci_perf_frame frame;
    int is_address = r->may_have_tail_frame && pci_perf_tail_address(&r->header, &frame);
    if (!is_address)
        return add_tail_frame(r, err);
    r->may_have_tail_frame = 0;
    r->header.tail.size = 0;
    return pci_perf_groups_add(&r->groups, &frame, 0, err);
}

/* Keep fields after the frames of a sample, or after a source line. */
static pcol_status add_fields(struct reader *r, pcol_str fields, pcol_error *err)
{
    if (fields.size && r->after_frame.size)
        PCI_TRY(pci_strbuf_append(&r->after_frame, " ", 1, err));
    return pci_strbuf_append(&r->after_frame, fields.data, fields.size, err);
}

/* Set the source line of the last frame. */
static pcol_status add_source(struct reader *r, const struct pci_perf_source *source,
                              pcol_error *err)
{
    struct pci_perf_group_line *last = &r->groups.lines[r->groups.line_count - 1];
    PCI_TRY(add_fields(r, source->fields, err));
    if (source->inlined && !r->groups.frame.inlined)
        PCI_TRY(pci_perf_groups_inline(&r->groups, err));
    if (!source->file.size)
        return PCOL_OK;
    last->number = source->line;
    return pci_perf_string(r->builder, source->file, &last->file, err);
}

/* Read a frame or a source line. */
static pcol_status read_body(struct reader *r, const struct pci_line *line, pcol_error *err)
{
    struct pci_perf_frame frame;
    struct pci_perf_source source;
    if (!r->open) { /* -F ip,sym: no header at all */
        struct pci_line none = {.text = line->text, .number = line->number};
        PCI_TRY(begin_sample(r, &none, NULL, err));
    }
    r->bare = 0;
    int is_source = pci_perf_source_line(line->text, line->size, &source);
    if (is_source)
        PCI_TRY(add_frame_of_source(r, err));
    if (is_source && r->groups.line_count && r->groups.addressed &&
        !(source.inlined && r->groups.frame.in_object))
        return add_source(r, &source, err);
    r->has_frame_lines = 1;
    if (!pci_perf_frame(line->text, line->size, r->groups.addressed, &frame) ||
        (r->groups.addressed && !frame.has_address && !frame.inlined && !frame.beyond))
        return pci_import_tolerate(r->import, &r->tolerated, line->number, 1,
                                   "not a frame of a call stack", err);
    r->may_have_tail_frame = 0;
    if (frame.beyond)
        PCI_TRY(pci_import_tolerate(r->import, &r->names, line->number, 1, frame_overflow, err));
    return pci_perf_groups_add(&r->groups, &frame, 1, err);
}

/* 1 for a line of fields after the frames of a sample. Numbers alone may be frames of -F ip, unless
 * frames have a symbol or begin with a tab. */
static int is_fields_line(const struct reader *r, const struct pci_line *line)
{
    enum pci_perf_fields fields = pci_perf_fields_line(line->text, line->size);
    return fields == PCI_PERF_NAMED_FIELDS ||
           (fields == PCI_PERF_NUMBERS &&
            (r->has_tabs || (r->groups.line_count && r->groups.frame.in_symbol)));
}

/* Keep the line of fields after the frames of a sample. */
static pcol_status add_fields_line(struct reader *r, const struct pci_line *line, pcol_error *err)
{
    size_t size = line->size, at = 0;
    while (size && (line->text[size - 1] == ' ' || line->text[size - 1] == '\t'))
        size--;
    while (at < size && (line->text[at] == ' ' || line->text[at] == '\t'))
        at++;
    if (r->has_tabs) /* the line ends call chains only */
        r->may_have_tail_frame = 0;
    return add_fields(r, (pcol_str){(const char *)line->text + at, size - at}, err);
}

static pcol_status report_bare_header(struct reader *r, pcol_error *err)
{
    r->open = 0;
    return pci_import_tolerate(r->import, &r->tolerated, r->header_line, 1,
                               "neither the first line of a sample nor a frame", err);
}

/* End the current sample and begin one. A comm without frames was not a header. */
static pcol_status next_sample(struct reader *r, const struct pci_line *line,
                               const struct pci_perf_header *header, pcol_error *err)
{
    if (r->bare && r->open)
        PCI_TRY(report_bare_header(r, err));
    return begin_sample(r, line, header, err);
}

/* 1 for a sample without call chain: its frame is in the line of the header, or not printed. perf
 * pads comms only then, so that the header of the sample before begins with a blank, too. */
static int is_flat(const struct reader *r, const struct pci_perf_header *header)
{
    struct pci_perf_tail tail;
    return !r->has_frame_lines && ((r->header_text.size && r->header_text.data[0] == ' ') ||
                                   (header->has_event && !header->tail.size) ||
                                   pci_perf_tail_frame(header, r->groups.addressed, &tail));
}

/* A comm may begin with `#`, too. The comments of perf have no header's time and event. */
static int is_comment(const struct reader *r, const struct pci_line *line)
{
    struct pci_perf_header h;
    if (line->text[0] != '#' || !pci_perf_header(line->text, line->size, r->unaligned, &h))
        return line->text[0] == '#';
    int has_samples = r->samples || r->open;
    return !(h.has_event && (h.has_time || (h.has_tid && has_samples))) &&
           !(h.has_time && h.is_exact && has_samples);
}

static pcol_status read_line(struct reader *r, const struct pci_line *line, pcol_error *err)
{
    struct pci_perf_header header;
    struct pci_perf_frame frame;
    size_t blank = 0;
    while (blank < line->size && (line->text[blank] == ' ' || line->text[blank] == '\t'))
        blank++;
    if (blank < line->size && line->text[0] == '\t')
        return read_body(r, line, err);
    if (r->bare && r->open && !(blank && blank < line->size))
        PCI_TRY(report_bare_header(r, err));
    if (blank == line->size) {
        r->blank_ends += r->open != 0;
        if (r->has_tabs) /* a blank line ends call chains only */
            r->may_have_tail_frame = 0;
        return end_sample(r, err);
    }
    if (pci_perf_bare_record(line->text, line->size)) {
        r->records++;
        return end_sample(r, err);
    }
    if (is_comment(r, line)) {
        PCI_TRY(pci_strbuf_append(&r->comments, line->text, line->size, err));
        return pci_strbuf_append(&r->comments, "\n", 1, err);
    }
    if (r->open && is_fields_line(r, line))
        return add_fields_line(r, line, err);
    int known = pci_perf_header(line->text, line->size, r->unaligned, &header);
    struct pci_perf_source source;
    if (known && (header.has_time || !r->open || is_flat(r, &header) ||
                  (r->has_tabs && !pci_perf_source_line(line->text, line->size, &source))))
        return next_sample(r, line, &header, err);
    if (r->open && blank) {
        int framed = pci_perf_frame(line->text, line->size, r->groups.addressed, &frame);
        if (!known || (framed && frame.has_address) ||
            pci_perf_source_line(line->text, line->size, &source))
            return read_body(r, line, err);
    }
    if (known)
        return next_sample(r, line, &header, err);
    if (!r->open && !blank) /* comm alone: no leading blanks with call chains */
        return begin_sample(r, line, NULL, err);
    return pci_import_tolerate(r->import, &r->tolerated, line->number, 1,
                               "neither the first line of a sample nor a frame", err);
}

/* ---- file ---- */

/* What the beginning of the text shows. Of two numbers before an event, the second can be the
 * thread, after a comm that ends in a number: if there is a header with one number only. Texts
 * whose blanks were joined have two in all headers. */
static pcol_status look_ahead(struct reader *r, pcol_error *err)
{
    struct pci_input *input = r->import->input;
    while (input->size < PCI_PERF_LOOK_AHEAD && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    r->unaligned = 1;
    for (size_t at = 0;
         at < input->size && at < PCI_PERF_LOOK_AHEAD && (r->unaligned || !r->has_tabs);) {
        const uint8_t *text = input->data + at, *feed = memchr(text, '\n', input->size - at);
        size_t size = feed ? (size_t)(feed - text) : input->size - at;
        struct pci_perf_header header;
        at += size + 1;
        size -= size && text[size - 1] == '\r';
        r->has_tabs |= size && text[0] == '\t';
        if (r->unaligned && size && text[0] != '\t' && pci_perf_header(text, size, 0, &header))
            r->unaligned = !pci_perf_has_one_number(&header);
    }
    return PCOL_OK;
}

static pcol_status prepare(struct reader *r, pcol_error *err)
{
    pcol_builder *b = r->builder;
    pcol_source source = PCOL_INIT(pcol_source);
    static const char *const names[] = {"source", "name", "tid", "pid"};
    const struct {
        const char *text;
        uint32_t *key;
    } keys[] = {{"cpu", &r->cpu_key},
                {"misc", &r->misc_key},
                {"trace", &r->trace_key},
                {"after_frame", &r->after_key},
                {"event", &r->event_key}};
    PCI_TRY(pci_import_source(r->import, &source, err));
    for (int i = 0; i < 4; i++)
        PCI_TRY(pci_builder_column(b, PCI_T_THREADS, names[i], i ? PCOL_STRING : PCOL_U32,
                                   i ? 0 : PCI_T_SOURCES + 1, &r->thread_columns[i], err));
    PCI_TRY(pci_perf_groups_init(&r->groups, b, err));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        PCI_TRY(pcol_builder_string(b, keys[i].text, strlen(keys[i].text), keys[i].key, err));
    return PCOL_OK;
}

/* Store what the samples do not show: call chains of at most one frame, and comments. */
static pcol_status set_source(struct reader *r, pcol_error *err)
{
    uint32_t column;
    if (!r->has_callers && (r->has_frame_lines || (r->samples && r->blank_ends == r->samples))) {
        PCI_TRY(pci_builder_column(r->builder, PCI_T_SOURCES, "call_chains", PCOL_BOOL, 0, &column,
                                   err));
        PCI_TRY(pcol_builder_set_i64(r->builder, column, r->import->source, 1, err));
    }
    if (!r->comments.size)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(r->builder, PCI_T_SOURCES, "text", PCOL_STRING, 0, &column, err));
    return pcol_builder_set_str(r->builder, column, r->import->source, r->comments.data,
                                r->comments.size, err);
}

static pcol_status read_lines(struct reader *r, pcol_error *err)
{
    PCI_TRY(look_ahead(r, err));
    PCI_TRY(prepare(r, err));
    for (;;) {
        struct pci_line line;
        int got;
        PCI_TRY(pci_lines_next(&r->lines, &line, &got, err));
        if (!got)
            break;
        r->is_cut = line.end == PCI_LINE_CUT;
        PCI_TRY(read_line(r, &line, err));
    }
    if (r->open && r->bare)
        PCI_TRY(report_bare_header(r, err));
    PCI_TRY(end_sample(r, err));
    return set_source(r, err);
}

static void report_tolerated(const struct reader *r)
{
    pci_import_report_tolerated(&r->tolerated, "lines left out, neither header nor frame");
    pci_import_report_tolerated(&r->periods,
                                "samples that count as 1, their periods are beyond 64 bits");
    pci_import_report_tolerated(&r->fields, "times and cpus left out, they are beyond 64 bits");
    pci_import_report_tolerated(&r->names,
                                "frames with an address or offset beyond 64 bits in the name");
}

pcol_status pci_perf_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {
        .import = import, .builder = import->builder, .lines = {.input = import->input}};
    pcol_status status = read_lines(&r, err);
    if (status == PCOL_OK && r.records)
        pci_import_message("PERF_RECORD lines left out: %" PRIu64, r.records);
    if (status == PCOL_OK && r.is_cut)
        pci_import_message("the last line has no line feed: it may be cut");
    if (status == PCOL_OK)
        report_tolerated(&r);
    pci_strbuf_clear(&r.header_text);
    pci_strbuf_clear(&r.after_frame);
    pci_strbuf_clear(&r.comments);
    pci_perf_groups_clear(&r.groups);
    pci_free(r.types);
    return status;
}
