/*
 * read.c - importing the text of `perf script`
 *
 * A sample is a header line and, below it, its frames, the innermost first, up to a blank line or
 * the next header. So a line says what the one before was, and a sample is added when it is over:
 *
 *     header -> a sample begins           frame -> the frame before is whole
 *     "  reader/file.c:42" -> of the last frame  blank, header, end -> the sample is whole
 *
 * comm, pid and tid are a thread; cpu and the rest of the header are labels. Each event is a sample
 * type; a sample has one value, the period in the type of its event, so no total adds two events.
 * Frames marked (inlined) come before the function that they were inlined into and are lines of its
 * location group.
 */
#include "formats/perf/parse.h"
#include "formats/perf/perf.h"
#include "stream/lines.h"

#include "builder/builder.h"
#include "builder/rows.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A line of the group that is being read. */
struct line {
    uint32_t name; /* string or PCOL_NONE */
    uint32_t file; /* string or PCOL_NONE */
    int64_t number;
};

/* Labels of location groups: details that the columns of frames cannot hold. */
enum { OFFSET, OBJECT_OFFSET, INLINED, NO_SYMBOL, NO_OBJECT, GROUP_LABELS };

static const struct {
    const char *key;
    uint8_t kind;
} group_keys[GROUP_LABELS] = {
    [OFFSET] = {"offset", PCI_LABEL_INTEGER},
    [OBJECT_OFFSET] = {"object_offset", PCI_LABEL_INTEGER},
    [INLINED] = {"inlined_offsets", PCI_LABEL_STRING},
    [NO_SYMBOL] = {"no_symbol", PCI_LABEL_BOOL},
    [NO_OBJECT] = {"no_object", PCI_LABEL_BOOL},
};

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_lines lines;
    /* The sample at hand. */
    int open;
    int bare; /* its header is nothing but words: a frame must follow */
    uint64_t header_line;
    struct pci_strbuf header_text;
    struct pci_perf_header header;
    uint32_t *groups; /* innermost first */
    size_t group_count, group_capacity;
    /* The group at hand. */
    struct line *group;
    size_t line_count, line_capacity;
    struct pci_strbuf inlined; /* offsets of lines marked (inlined), separated by commas */
    size_t inlined_count;
    int inlined_offset;          /* one of them has an offset */
    int whole;                   /* its last line, the function that was really called, is there */
    struct pci_perf_frame frame; /* of that */
    uint32_t object;             /* string or PCOL_NONE */
    /* Of the source. */
    int addressed; /* frames begin with an address */
    struct pci_strbuf comments;
    uint32_t *types, *objects; /* by string: type or mapping + 1 */
    size_t type_capacity, object_capacity;
    uint32_t mapping_column, thread_columns[4];
    uint32_t group_columns[GROUP_LABELS]; /* PCOL_NONE until a group has the label */
    uint32_t cpu_key, misc_key, trace_key, event_key;
    uint64_t records, tolerated, first_tolerated;
    struct beyond {
        uint64_t count, first; /* line */
    } periods, fields, names;  /* numbers beyond 64 bits */
};

/* ---- recognising ---- */

static int sniff_line(const uint8_t *text, size_t size, int *header)
{
    struct pci_perf_header h;
    struct pci_perf_frame frame;
    if (size && text[0] == '\t') {
        int found = pci_perf_frame(text, size, 0, &frame) && frame.has_address;
        return found && (*header || frame.in_object) ? 2 : 0;
    }
    if (*header) /* no frames: what the first line said must do */
        return *header == 2 ? 2 : 0;
    if (!pci_perf_header(text, size, &h))
        return 0;
    int framed = pci_perf_tail_frame(&h, 0, &frame);
    int event = h.has_event || h.is_record;
    *header = (h.has_time && h.has_tid && event) || ((h.has_time || event) && framed) ? 2 : 1;
    return 1;
}

int pci_perf_sniff(const uint8_t *data, size_t size, int all)
{
    int header = 0, sure = 0;
    for (size_t at = 0; at < size && sure < 2;) {
        const uint8_t *text = data + at, *feed = memchr(text, '\n', size - at);
        size_t length = feed ? (size_t)(feed - text) : size - at;
        at += length + 1;
        if (!feed && !all)
            break;
        length -= length && text[length - 1] == '\r';
        size_t blank = 0;
        while (blank < length && (text[blank] == ' ' || text[blank] == '\t'))
            blank++;
        if ((blank == length && !header) || (text[0] == '#' && !header))
            continue;
        sure = sniff_line(text, length, &header);
        if (!sure)
            return 0;
    }
    return header == 2 ? 2 : sure;
}

/* ---- strings ---- */

static pcol_status string(struct reader *r, pcol_str text, uint32_t *code, pcol_error *err)
{
    return pcol_builder_string(r->builder, text.data, text.size, code, err);
}

/* Entry of an array by string; 0 the first time. */
static pcol_status by_string(uint32_t **array, size_t *capacity, uint32_t code, uint32_t **entry,
                             pcol_error *err)
{
    if (code >= *capacity) {
        size_t had = *capacity;
        if (pci_grow((void **)array, capacity, (size_t)code + 1, sizeof **array))
            return pci_fail_memory(err);
        memset(*array + had, 0, (*capacity - had) * sizeof **array);
    }
    *entry = *array + code;
    return PCOL_OK;
}

/* ---- frames ---- */

static pcol_status mapping_of(struct reader *r, uint32_t object, uint32_t *mapping, pcol_error *err)
{
    struct pci_cell_value cell = {object, 1};
    uint32_t *entry;
    int is_new;
    *mapping = PCOL_NONE;
    if (object == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(by_string(&r->objects, &r->object_capacity, object, &entry, err));
    if (!*entry) {
        PCI_TRY(pci_builder_intern(r->builder, PCI_T_MAPPINGS, &r->mapping_column, &cell, 1, 0,
                                   entry, &is_new, err));
        ++*entry;
    }
    *mapping = *entry - 1;
    return PCOL_OK;
}

struct group_cells {
    uint32_t columns[GROUP_LABELS];
    struct pci_cell_value cells[GROUP_LABELS];
    size_t count;
};

static pcol_status add_cell(struct reader *r, struct group_cells *cells, int label, int64_t bits,
                            pcol_error *err)
{
    uint32_t *column = &r->group_columns[label], key, number;
    if (*column == PCOL_NONE) {
        pcol_str text = {group_keys[label].key, strlen(group_keys[label].key)};
        PCI_TRY(string(r, text, &key, err));
        PCI_TRY(pci_label_key_row(r->builder, PCI_T_GROUPS, key, PCOL_NONE, group_keys[label].kind,
                                  0, &number, err));
        PCI_TRY(pci_label_column(r->builder, number, column, err));
    }
    cells->columns[cells->count] = *column;
    cells->cells[cells->count++] = (struct pci_cell_value){bits, 1};
    return PCOL_OK;
}

static pcol_status group_cells(struct reader *r, struct group_cells *cells, pcol_error *err)
{
    const struct pci_perf_frame *f = &r->frame;
    uint32_t text;
    cells->count = 0;
    if (f->has_offset && !f->inlined)
        PCI_TRY(add_cell(r, cells, OFFSET, (int64_t)f->offset, err));
    if (f->has_object_offset)
        PCI_TRY(add_cell(r, cells, OBJECT_OFFSET, (int64_t)f->object_offset, err));
    if (r->inlined_offset || f->inlined) {
        PCI_TRY(string(r, (pcol_str){r->inlined.data, r->inlined.size}, &text, err));
        PCI_TRY(add_cell(r, cells, INLINED, text, err));
    }
    if (!f->in_symbol)
        PCI_TRY(add_cell(r, cells, NO_SYMBOL, 1, err));
    if (!f->in_object && !f->inlined)
        PCI_TRY(add_cell(r, cells, NO_OBJECT, 1, err));
    return PCOL_OK;
}

static pcol_status add_lines(struct reader *r, pcol_line *lines, pcol_error *err)
{
    for (size_t i = 0; i < r->line_count; i++) {
        const struct line *line = &r->group[i];
        pcol_function function = PCOL_INIT(pcol_function);
        lines[i] = (pcol_line){.function = PCOL_NONE, .filename = PCOL_NONE};
        pci_set_flag(&lines[i].flags, PCOL_LINE_HAS_LINE, line->file != PCOL_NONE);
        lines[i].line = line->number;
        if (line->name == PCOL_NONE) {
            lines[i].filename = line->file;
            continue;
        }
        function.name = line->name;
        function.system_name = PCOL_NONE;
        function.filename = line->file;
        PCI_TRY(pcol_builder_function(r->builder, &function, &lines[i].function, err));
    }
    return PCOL_OK;
}

/* The group at hand is over. */
static pcol_status end_group(struct reader *r, pcol_error *err)
{
    pcol_group group = PCOL_INIT(pcol_group);
    struct group_cells cells;
    pcol_line few[8], *lines = few;
    uint32_t row;
    if (!r->line_count)
        return PCOL_OK;
    if (r->line_count > sizeof few / sizeof *few) {
        lines = pci_malloc(r->line_count, sizeof *lines);
        if (!lines)
            return pci_fail_memory(err);
    }
    const struct pci_perf_frame *f = &r->frame;
    pcol_status status = add_lines(r, lines, err);
    if (status == PCOL_OK)
        status = mapping_of(r, r->object, &group.mapping, err);
    group.lines = lines;
    group.line_count = r->line_count;
    group.address = f->address;
    pci_set_flag(&group.flags, PCOL_GROUP_HAS_ADDRESS, f->has_address);
    if (status == PCOL_OK)
        status = group_cells(r, &cells, err);
    if (status == PCOL_OK)
        status = pci_builder_group(r->builder, NULL, &group, cells.columns, cells.cells,
                                   cells.count, &row, NULL, err);
    if (lines != few)
        pci_free(lines);
    r->line_count = r->inlined_count = r->inlined.size = 0;
    r->whole = r->inlined_offset = 0;
    PCI_TRY(status);
    if (pci_grow((void **)&r->groups, &r->group_capacity, r->group_count + 1, sizeof *r->groups))
        return pci_fail_memory(err);
    r->groups[r->group_count++] = row;
    return PCOL_OK;
}

static pcol_status add_inlined(struct reader *r, const struct pci_perf_frame *frame,
                               pcol_error *err)
{
    char text[24];
    int size = r->inlined_count++ ? snprintf(text, sizeof text, ",") : 0;
    if (frame->has_offset)
        size += snprintf(text + size, sizeof text - (size_t)size, "%" PRIx64, frame->offset);
    r->inlined_offset |= frame->has_offset;
    return pci_strbuf_append(&r->inlined, text, (size_t)size, err);
}

static pcol_status add_frame(struct reader *r, const struct pci_perf_frame *frame, pcol_error *err)
{
    struct line line = {PCOL_NONE, PCOL_NONE, 0};
    if (r->whole || (r->line_count && (frame->address != r->frame.address ||
                                       frame->has_address != r->frame.has_address)))
        PCI_TRY(end_group(r, err));
    if (frame->inlined)
        PCI_TRY(add_inlined(r, frame, err));
    r->addressed |= frame->has_address;
    r->frame = *frame;
    r->whole = !frame->inlined;
    r->object = PCOL_NONE;
    if (frame->has_symbol)
        PCI_TRY(string(r, frame->symbol, &line.name, err));
    if (frame->has_object)
        PCI_TRY(string(r, frame->object, &r->object, err));
    if (pci_grow((void **)&r->group, &r->line_capacity, r->line_count + 1, sizeof *r->group))
        return pci_fail_memory(err);
    r->group[r->line_count++] = line;
    return PCOL_OK;
}

/* ---- samples ---- */

static pcol_status thread_of(struct reader *r, uint32_t *thread, pcol_error *err)
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
            PCI_TRY(string(r, parts[i].text, &code, err));
        cells[i + 1] = (struct pci_cell_value){code, parts[i].has != 0};
        any |= parts[i].has;
    }
    if (!any)
        return PCOL_OK;
    return pci_builder_intern(r->builder, PCI_T_THREADS, r->thread_columns, cells, 4, 0, thread,
                              &is_new, err);
}

/* Without a period an event counts samples; those of the clocks are in ns. Without an event the
 * type is `period`, without both `samples`, each in `count`. */
static pcol_status type_of(struct reader *r, uint32_t *type, pcol_error *err)
{
    const struct pci_perf_header *h = &r->header;
    pcol_str event = h->has_event    ? h->event
                     : h->has_period ? (pcol_str){"period", 6}
                                     : (pcol_str){"samples", 7};
    const char *unit = h->has_event && !h->has_period              ? "samples"
                       : h->has_period && pci_perf_is_clock(event) ? "nanoseconds"
                                                                   : "count";
    uint32_t code, *entry;
    PCI_TRY(string(r, event, &code, err));
    if (code > UINT32_MAX / 2 - 1)
        return pci_fail(err, PCOL_E_LIMIT, "too many strings");
    PCI_TRY(by_string(&r->types, &r->type_capacity, code * 2 + (*unit == 's'), &entry, err));
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

/* Does an event have the type that samples without one have? Then a label tells them apart. */
static int is_ambiguous(const struct pci_perf_header *h)
{
    return h->has_event && h->has_period &&
           (pci_str_is(h->event, "samples") || pci_str_is(h->event, "period"));
}

static pcol_status sample_labels(struct reader *r, uint64_t row, pcol_error *err)
{
    const struct pci_perf_header *h = &r->header;
    struct pci_label labels[4];
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
        PCI_TRY(string(r, h->misc, &text.text, err));
        labels[count++] = text;
    }
    if (is_ambiguous(h)) {
        text.key = r->event_key;
        PCI_TRY(string(r, h->event, &text.text, err));
        labels[count++] = text;
    }
    if (h->tail.size) {
        text.key = r->trace_key;
        PCI_TRY(string(r, h->tail, &text.text, err));
        labels[count++] = text;
    }
    if (!count)
        return PCOL_OK;
    return pci_builder_labels(r->builder, PCI_T_SAMPLES, row, labels, count, &extra, err);
}

/* The sample at hand is over. */
static pcol_status end_sample(struct reader *r, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 1};
    const struct pci_perf_header *h = &r->header;
    uint64_t row;
    if (!r->open)
        return PCOL_OK;
    r->open = 0;
    PCI_TRY(end_group(r, err));
    if (h->is_record) {
        r->records++;
        return PCOL_OK;
    }
    sample.source = r->import->source;
    sample.values = &value;
    sample.value_count = 1;
    sample.stack = r->group_count ? 0 : PCOL_NONE;
    for (size_t i = r->group_count; i; i--)
        PCI_TRY(pcol_builder_stack(r->builder, sample.stack, r->groups[i - 1], &sample.stack, err));
    r->group_count = 0;
    PCI_TRY(thread_of(r, &sample.thread, err));
    PCI_TRY(type_of(r, &value.sample_type, err));
    if (h->has_period)
        value.as.i64 = h->period;
    pci_set_flag(&sample.flags, PCOL_SAMPLE_HAS_TIME, h->has_time);
    sample.time_ns = h->time_ns;
    PCI_TRY(pcol_builder_sample(r->builder, &sample, &row, err));
    return sample_labels(r, row, err);
}

static const char beyond_frame[] =
    "address or offset beyond 64 bits; --lenient makes it part of the name";

/* A number beyond 64 bits: an error, or one more that is tolerated. */
static pcol_status tolerate_beyond(const struct reader *r, const char *what, struct beyond *beyond,
                                   uint64_t line, pcol_error *err)
{
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, line, 1, "%s", what);
    if (!beyond->count++)
        beyond->first = line;
    return PCOL_OK;
}

/* Numbers of a header that no column can hold: the sample is without them. */
static pcol_status drop_beyond(struct reader *r, struct pci_perf_header *h, uint64_t line,
                               pcol_error *err)
{
    if (h->beyond_period)
        PCI_TRY(tolerate_beyond(r, "period beyond 64 bits; --lenient counts such a sample as 1",
                                &r->periods, line, err));
    if (h->beyond_time)
        PCI_TRY(tolerate_beyond(r, "time beyond 64 bits; --lenient leaves it out", &r->fields, line,
                                err));
    if (h->beyond_cpu)
        PCI_TRY(tolerate_beyond(r, "cpu beyond 64 bits; --lenient leaves it out", &r->fields, line,
                                err));
    h->has_period &= !h->beyond_period;
    h->has_time &= !h->beyond_time;
    h->has_cpu &= !h->beyond_cpu;
    return PCOL_OK;
}

/* A sample begins; `bare`: with a line that is no header by itself. */
static pcol_status begin_sample(struct reader *r, const struct pci_line *line, int bare,
                                pcol_error *err)
{
    struct pci_perf_frame frame;
    PCI_TRY(end_sample(r, err));
    r->open = 1;
    r->bare = bare;
    r->header_line = line->number;
    r->header_text.size = 0;
    /* The window moves on while the frames are read. */
    PCI_TRY(pci_strbuf_append(&r->header_text, line->text, line->size, err));
    struct pci_perf_header *h = &r->header;
    if (bare)
        pci_perf_comm((const uint8_t *)r->header_text.data, line->size, h);
    else
        pci_perf_header((const uint8_t *)r->header_text.data, line->size, h);
    PCI_TRY(drop_beyond(r, h, line->number, err));
    /* Without call chains the one frame stands in the same line. */
    if (bare || !pci_perf_tail_frame(h, r->addressed, &frame))
        return PCOL_OK;
    h->tail.size = 0;
    if (frame.beyond)
        PCI_TRY(tolerate_beyond(r, beyond_frame, &r->names, line->number, err));
    return add_frame(r, &frame, err);
}

/* ---- lines ---- */

static pcol_status tolerate(struct reader *r, uint64_t number, const char *what, pcol_error *err)
{
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, number, 1, "%s", what);
    if (!r->tolerated++)
        r->first_tolerated = number;
    return PCOL_OK;
}

/* A line below a header. */
static pcol_status read_body(struct reader *r, const struct pci_line *line, pcol_error *err)
{
    struct pci_perf_frame frame;
    pcol_str file;
    int64_t number;
    if (!r->open) { /* -F ip,sym: no header at all */
        struct pci_line none = {.text = line->text, .number = line->number};
        PCI_TRY(begin_sample(r, &none, 1, err));
    }
    r->bare = 0;
    if (r->line_count && r->addressed &&
        pci_perf_source_line(line->text, line->size, &file, &number)) {
        struct line *last = &r->group[r->line_count - 1];
        if (!file.size)
            return PCOL_OK;
        last->number = number;
        return string(r, file, &last->file, err);
    }
    if (!pci_perf_frame(line->text, line->size, r->addressed, &frame) ||
        (r->addressed && !frame.has_address && !frame.inlined && !frame.beyond))
        return tolerate(r, line->number, "not a frame of a call stack", err);
    if (frame.beyond)
        PCI_TRY(tolerate_beyond(r, beyond_frame, &r->names, line->number, err));
    return add_frame(r, &frame, err);
}

static pcol_status not_a_header(struct reader *r, pcol_error *err)
{
    r->open = 0;
    return tolerate(r, r->header_line, "neither the first line of a sample nor a frame", err);
}

/* A header; what was open before is over. A comm alone was none if no frame followed. */
static pcol_status next_sample(struct reader *r, const struct pci_line *line, pcol_error *err)
{
    if (r->bare && r->open)
        PCI_TRY(not_a_header(r, err));
    return begin_sample(r, line, 0, err);
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
        PCI_TRY(not_a_header(r, err));
    if (blank == line->size)
        return end_sample(r, err);
    if (line->text[0] == '#' && !r->open) {
        PCI_TRY(pci_strbuf_append(&r->comments, line->text, line->size, err));
        return pci_strbuf_append(&r->comments, "\n", 1, err);
    }
    int known = pci_perf_header(line->text, line->size, &header);
    if (known && (header.has_time || !r->open))
        return next_sample(r, line, err);
    if (r->open && blank) {
        pcol_str file;
        int64_t number;
        int framed = pci_perf_frame(line->text, line->size, r->addressed, &frame);
        if (!known || (framed && frame.has_address) ||
            pci_perf_source_line(line->text, line->size, &file, &number))
            return read_body(r, line, err);
    }
    if (known)
        return next_sample(r, line, err);
    if (!r->open && !blank) /* comm alone; perf puts no blanks in front of it before a call chain */
        return begin_sample(r, line, 1, err);
    return tolerate(r, line->number, "neither the first line of a sample nor a frame", err);
}

/* ---- the whole ---- */

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
                {"event", &r->event_key}};
    PCI_TRY(pci_import_source(r->import, &source, err));
    for (int i = 0; i < GROUP_LABELS; i++)
        r->group_columns[i] = PCOL_NONE;
    for (int i = 0; i < 4; i++)
        PCI_TRY(pcol_builder_column(b, PCI_T_THREADS, names[i], i ? PCOL_STRING : PCOL_U32,
                                    i ? 0 : PCI_T_SOURCES + 1, &r->thread_columns[i], err));
    PCI_TRY(pcol_builder_column(b, PCI_T_MAPPINGS, "filename", PCOL_STRING, 0, &r->mapping_column,
                                err));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        PCI_TRY(pcol_builder_string(b, keys[i].text, strlen(keys[i].text), keys[i].key, err));
    return PCOL_OK;
}

static pcol_status read_all(struct reader *r, pcol_error *err)
{
    uint32_t column;
    PCI_TRY(prepare(r, err));
    for (;;) {
        struct pci_line line;
        int got;
        PCI_TRY(pci_lines_next(&r->lines, &line, &got, err));
        if (!got)
            break;
        PCI_TRY(read_line(r, &line, err));
    }
    if (r->open && r->bare)
        PCI_TRY(not_a_header(r, err));
    PCI_TRY(end_sample(r, err));
    if (!r->comments.size)
        return PCOL_OK;
    PCI_TRY(pcol_builder_column(r->builder, PCI_T_SOURCES, "text", PCOL_STRING, 0, &column, err));
    return pcol_builder_set_str(r->builder, column, r->import->source, r->comments.data,
                                r->comments.size, err);
}

static void tell_beyond(const struct reader *r)
{
    const struct {
        const struct beyond *beyond;
        const char *what;
    } kinds[] = {
        {&r->periods, "samples that count as 1, their periods are beyond 64 bits"},
        {&r->fields, "times and cpus left out, they are beyond 64 bits"},
        {&r->names, "frames with an address or offset beyond 64 bits in the name"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].beyond->count)
            pci_import_message("%s: %" PRIu64 ", the first is in line %" PRIu64, kinds[i].what,
                               kinds[i].beyond->count, kinds[i].beyond->first);
}

pcol_status pci_perf_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {
        .import = import, .builder = import->builder, .lines = {.input = import->input}};
    pcol_status status = read_all(&r, err);
    if (status == PCOL_OK && r.records)
        pci_import_message("PERF_RECORD lines left out: %" PRIu64, r.records);
    if (status == PCOL_OK && r.tolerated)
        pci_import_message("lines left out, neither header nor frame: %" PRIu64
                           ", the first is line %" PRIu64,
                           r.tolerated, r.first_tolerated);
    if (status == PCOL_OK)
        tell_beyond(&r);
    pci_strbuf_clear(&r.header_text);
    pci_strbuf_clear(&r.comments);
    pci_strbuf_clear(&r.inlined);
    pci_free(r.groups);
    pci_free(r.group);
    pci_free(r.types);
    pci_free(r.objects);
    return status;
}
