/*
 * write.c - native export of Rprof() output
 *
 * A source that was Rprof output is reproduced byte for byte: its segments in order, each with its
 * header, samples and file lines. Rows with a verbatim text are written as that text.
 */
#include "formats/rprof/write.h"
#include "formats/rprof/rprof.h"

#include "model/table.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

/* Sample types in the order of pci_rprof_samples.value. */
static const struct pci_rprof_type rprof_types[] = {
    {"samples", "count"}, {"small_v", "cells"},   {"big_v", "cells"},
    {"nodes", "bytes"},   {"dup_count", "count"}, {NULL, NULL},
};

/* The tables of segments and file lines, and the next rows to write. */
struct pci_rprof_segments {
    uint64_t rows, file_rows;
    uint64_t at, file_at; /* next rows */
    const struct pci_column *source, *first, *memory, *gc, *line, *interval, *crlf, *text;
    const struct pci_column *file_segment, *file_before, *file_number, *file_path, *file_text;
};

/* The segment being written. */
struct segment {
    uint64_t row;
    uint64_t first, end; /* samples; those of other sources in between do not belong to it */
    int crlf, has_memory, has_lines;
};

const struct pci_capabilities pci_rprof_capabilities = {
    .loss_prefix = "rprof cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(INTERVAL) | PCI_KIND_BIT(PLACES) |
               PCI_KIND_BIT(FILES) | PCI_KIND_BIT(LINES)};

size_t pci_rprof_header_text(uint8_t *to, const struct pci_rprof_flags *flags)
{
    static const char *const words[] = {"memory profiling: ", "GC profiling: ", "line profiling: "};
    static const char interval[] = "sample.interval=";
    const int set[] = {flags->memory, flags->gc, flags->line};
    uint8_t *p = to;
    for (int i = 0; i < 3; i++)
        if (set[i]) {
            memcpy(p, words[i], strlen(words[i]));
            p += strlen(words[i]);
        }
    memcpy(p, interval, strlen(interval));
    p = pci_out_digits(p + strlen(interval), flags->interval_us);
    return (size_t)(p - to);
}

void pci_rprof_note_header(struct pci_rprof_samples *samples, uint32_t source,
                           const struct pci_rprof_flags *flags)
{
    struct pci_rprof_samples *s = samples;
    if (!s->has_header) {
        s->has_header = 1;
        s->first_source = source;
        s->first_has_lines = flags->line;
        s->first_has_memory = flags->memory;
        s->first_interval_us = flags->interval_us;
    }
    s->is_misread |= source != s->first_source && ((flags->line && !s->first_has_lines) ||
                                                   (flags->memory && !s->first_has_memory) ||
                                                   flags->interval_us != s->first_interval_us);
}

static pcol_status open_segments(struct pci_rprof_segments *s, const pcol_file *file,
                                 pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"rprof_segments", "source", PCI_TYPES_ROW, &s->source},
        {"rprof_segments", "first_sample", PCI_TYPES_INT, &s->first},
        {"rprof_segments", "memory", PCI_TYPE(PCF_BOOL), &s->memory},
        {"rprof_segments", "gc", PCI_TYPE(PCF_BOOL), &s->gc},
        {"rprof_segments", "line", PCI_TYPE(PCF_BOOL), &s->line},
        {"rprof_segments", "interval_us", PCI_TYPES_INT, &s->interval},
        {"rprof_segments", "crlf", PCI_TYPE(PCF_BOOL), &s->crlf},
        {"rprof_segments", "text", PCI_TYPES_TEXT, &s->text},
        {"rprof_files", "segment", PCI_TYPES_ROW, &s->file_segment},
        {"rprof_files", "before_sample", PCI_TYPES_INT, &s->file_before},
        {"rprof_files", "number", PCI_TYPES_INT, &s->file_number},
        {"rprof_files", "path", PCI_TYPES_TEXT, &s->file_path},
        {"rprof_files", "text", PCI_TYPES_TEXT, &s->file_text},
    };
    memset(s, 0, sizeof *s);
    PCI_TRY(pci_check_row_count(file, "rprof_segments", err));
    PCI_TRY(pci_check_row_count(file, "rprof_files", err));
    s->rows = pci_rows(file, "rprof_segments");
    s->file_rows = pci_rows(file, "rprof_files");
    return pci_find_verified_columns(file, columns, sizeof columns / sizeof *columns, err);
}

/* ---- text of a group */

/* Append the text of a group that was imported from Rprof: [ref] "NAME" . */
static pcol_status unit_text(void *context, uint64_t group, struct pci_strbuf *to, pcol_error *err)
{
    struct pci_rprof_writer *w = context;
    const struct pci_rprof_locations *locations = &w->locations;
    struct pci_rprof_frame frame;
    uint64_t first, end;
    int64_t number;
    int numbered;
    uint8_t ref[48], *p = ref;
    PCI_TRY(pci_rprof_lines_of(locations, group, &first, &end, err));
    if (end - first != 1)
        return pci_corrupt(err, "location_groups", "first_location", group,
                           "a frame of Rprof has one line");
    PCI_TRY(pci_rprof_frame_at(locations, first, &frame, err));
    PCI_TRY(pci_get(locations->file, locations->file_number, group, &number, &numbered, err));
    if (numbered && frame.has_line) {
        if (number > w->samples->highest_file)
            w->samples->highest_file = number;
        p = pci_out_digits(p, number);
        *p++ = '#';
        p = pci_out_digits(p, frame.line);
        *p++ = ' ';
        PCI_TRY(pci_strbuf_append(to, ref, (size_t)(p - ref), err));
    }
    if (!frame.has_name && p != ref)
        return PCOL_OK;
    w->has_line_feed =
        w->has_line_feed || (frame.name.size && memchr(frame.name.data, '\n', frame.name.size));
    PCI_TRY(pci_strbuf_append(to, "\"", 1, err));
    PCI_TRY(pci_strbuf_append(to, frame.name.data, frame.name.size, err));
    return pci_strbuf_append(to, "\" ", 2, err);
}

/* ---- lines */

static pcol_status put_eol(const struct pci_rprof_writer *w, const struct segment *s,
                           pcol_error *err)
{
    return pci_out(w->out, s->crlf ? "\r\n" : "\n", s->crlf ? 2 : 1, err);
}

static pcol_status put_string(const struct pci_rprof_writer *w, int64_t code, pcol_error *err)
{
    return pci_rprof_put_string(w->out, w->file, code, err);
}

static pcol_status put_sample(struct pci_rprof_writer *w, const struct segment *s, size_t i,
                              pcol_error *err)
{
    const struct pci_rprof_samples *b = w->samples;
    uint8_t prefix[4 * 22 + 1], *p = prefix;
    if (b->text.valid[i])
        return put_string(w, b->text.value[i], err);
    if (b->value[1].valid[i]) {
        if (!s->has_memory)
            return pci_corrupt(err, "rprof_segments", "memory", s->row,
                               "its samples have memory columns");
        for (int k = 1; k < PCI_RPROF_VALUES; k++) {
            *p++ = ':';
            p = pci_out_digits(p, b->value[k].valid[i] ? b->value[k].value[i] : 0);
        }
        *p++ = ':';
        PCI_TRY(pci_out(w->out, prefix, (size_t)(p - prefix), err));
    }
    if (b->stack.valid[i]) {
        const uint8_t *text;
        size_t size;
        PCI_TRY(
            pci_rprof_stack_text_text(&w->stacks, (uint64_t)b->stack.value[i], &text, &size, err));
        PCI_TRY(pci_rprof_put_feeds(w->out, text, size, s->crlf && w->has_line_feed, err));
    }
    return put_eol(w, s, err);
}

static pcol_status put_header(struct pci_rprof_writer *w, uint32_t source, struct segment *s,
                              pcol_error *err)
{
    const struct pci_rprof_segments *t = w->segments;
    struct pci_rprof_flags flags;
    int64_t memory, gc, line, crlf, interval, text;
    int valid, known;
    uint8_t header[96];
    PCI_TRY(pci_get(w->file, t->crlf, s->row, &crlf, &valid, err));
    s->crlf = crlf != 0;
    PCI_TRY(pci_get(w->file, t->memory, s->row, &memory, &valid, err));
    PCI_TRY(pci_get(w->file, t->line, s->row, &line, &valid, err));
    s->has_memory = memory != 0;
    s->has_lines = line != 0;
    PCI_TRY(pci_get(w->file, t->gc, s->row, &gc, &valid, err));
    PCI_TRY(pci_get(w->file, t->interval, s->row, &interval, &known, err));
    flags = (struct pci_rprof_flags){s->has_memory, gc != 0, s->has_lines,
                                     known ? interval : PCI_RPROF_INTERVAL_US};
    pci_rprof_note_header(w->samples, source, &flags);
    PCI_TRY(pci_get(w->file, t->text, s->row, &text, &valid, err));
    if (valid)
        return put_string(w, text, err);
    PCI_TRY(pci_out(w->out, header, pci_rprof_header_text(header, &flags), err));
    return put_eol(w, s, err);
}

/* Write the segment's file lines that precede the sample `row`. *next: the sample that the next
 * one precedes. */
static pcol_status put_files(struct pci_rprof_writer *w, uint32_t source, const struct segment *s,
                             uint64_t row, uint64_t *next, pcol_error *err)
{
    struct pci_rprof_segments *t = w->segments;
    for (*next = UINT64_MAX; t->file_at < t->file_rows; t->file_at++) {
        int64_t segment, before, number, text, path;
        int valid, has_text, numbered, has_path;
        uint8_t word[32] = "#File ", *p = word + 6;
        PCI_TRY(pci_get(w->file, t->file_segment, t->file_at, &segment, &valid, err));
        if ((uint64_t)segment > s->row)
            break;
        if ((uint64_t)segment < s->row)
            continue;
        PCI_TRY(pci_get(w->file, t->file_before, t->file_at, &before, &valid, err));
        if ((uint64_t)before > row) {
            *next = (uint64_t)before;
            break;
        }
        PCI_TRY(pci_get(w->file, t->file_number, t->file_at, &number, &numbered, err));
        PCI_TRY(pci_get(w->file, t->file_path, t->file_at, &path, &has_path, err));
        if (numbered)
            PCI_TRY(pci_rprof_note_file(w->samples, source, number, path, err));
        PCI_TRY(pci_get(w->file, t->file_text, t->file_at, &text, &has_text, err));
        if (has_text) {
            PCI_TRY(put_string(w, text, err));
            continue;
        }
        if (!s->has_lines)
            return pci_corrupt(err, "rprof_segments", "line", s->row, "it has rows of rprof_files");
        if (numbered)
            p = pci_out_digits(p, number);
        *p++ = ':';
        *p++ = ' ';
        PCI_TRY(pci_out(w->out, word, (size_t)(p - word), err));
        if (has_path)
            PCI_TRY(put_string(w, path, err));
        PCI_TRY(put_eol(w, s, err));
    }
    return PCOL_OK;
}

/* ---- segments */

static pcol_status put_segment(struct pci_rprof_writer *w, uint32_t source, struct segment *s,
                               pcol_error *err)
{
    uint64_t next_file = 0;
    PCI_TRY(put_header(w, source, s, err));
    for (uint64_t row = s->first; row < s->end; row++) {
        PCI_TRY(pci_rprof_samples_load(w->samples, row, err));
        size_t i = (size_t)(row - w->samples->first);
        if (w->samples->source.value[i] != (int64_t)source)
            continue;
        if (row >= next_file)
            PCI_TRY(put_files(w, source, s, row, &next_file, err));
        PCI_TRY(put_sample(w, s, i, err));
    }
    return put_files(w, source, s, UINT64_MAX, &next_file, err);
}

/* Find the segment's range of samples. */
static pcol_status find_samples(struct pci_rprof_writer *w, struct segment *s, pcol_error *err)
{
    const struct pci_rprof_segments *t = w->segments;
    int64_t first, end = (int64_t)w->samples->total;
    int valid;
    PCI_TRY(pci_get(w->file, t->first, s->row, &first, &valid, err));
    if (s->row + 1 < t->rows)
        PCI_TRY(pci_get(w->file, t->first, s->row + 1, &end, &valid, err));
    s->first = (uint64_t)first;
    s->end = (uint64_t)end;
    if (s->first > s->end || s->end > w->samples->total)
        return pci_corrupt(err, "rprof_segments", "first_sample", s->row,
                           "segments are not in order or beyond the samples");
    return PCOL_OK;
}

/* *counted: the segment is written. R counts each header but the first as a sample: of several
 * sources, segments without samples are left out, unless nothing else is written. */
static pcol_status is_counted(struct pci_rprof_writer *w, uint32_t source, const struct segment *s,
                              int *counted, pcol_error *err)
{
    *counted = w->export->first_source == w->export->last_source ||
               (source == w->export->last_source && !w->samples->has_header);
    for (uint64_t row = s->first; row < s->end && !*counted; row++) {
        PCI_TRY(pci_rprof_samples_load(w->samples, row, err));
        *counted = w->samples->source.value[row - w->samples->first] == (int64_t)source;
    }
    return PCOL_OK;
}

/* *found: the source has segments. */
static pcol_status write_segments(struct pci_rprof_writer *w, uint32_t source, int *found,
                                  pcol_error *err)
{
    struct pci_rprof_segments *t = w->segments;
    int counted;
    *found = 0;
    for (; t->at < t->rows; t->at++) {
        struct segment segment = {.row = t->at};
        int64_t owner;
        int valid;
        PCI_TRY(pci_get(w->file, t->source, t->at, &owner, &valid, err));
        if (owner > (int64_t)source)
            break;
        if (owner < (int64_t)source)
            continue;
        *found = 1;
        PCI_TRY(find_samples(w, &segment, err));
        PCI_TRY(is_counted(w, source, &segment, &counted, err));
        if (counted)
            PCI_TRY(put_segment(w, source, &segment, err));
    }
    return PCOL_OK;
}

static pcol_status has_samples(struct pci_rprof_writer *w, uint32_t source, int *found,
                               pcol_error *err)
{
    uint64_t row = w->samples->turns.next;
    PCI_TRY(pci_rprof_samples_next(w->samples, source, &row, err));
    *found = row < w->samples->total;
    return PCOL_OK;
}

/* *has: a segment of the source has a memory prefix in its lines. */
static pcol_status has_memory(const struct pci_rprof_writer *w, uint32_t source, int *has,
                              pcol_error *err)
{
    struct pci_rprof_segments *t = w->segments;
    *has = 0;
    for (uint64_t row = t->at; row < t->rows && !*has; row++) {
        int64_t owner, memory;
        int valid;
        PCI_TRY(pci_get(w->file, t->source, row, &owner, &valid, err));
        PCI_TRY(pci_get(w->file, t->memory, row, &memory, &valid, err));
        if (owner > (int64_t)source)
            break;
        if (owner < (int64_t)source)
            t->at = row + 1;
        else
            *has = memory != 0;
    }
    return PCOL_OK;
}

/* *has: the source has all sample types of a memory prefix. */
static pcol_status has_memory_types(const struct pci_rprof_writer *w, uint32_t source, int *has,
                                    pcol_error *err)
{
    const struct pci_types *types = &w->samples->types;
    uint32_t *list, count;
    unsigned found = 0;
    PCI_TRY(PCI_MALLOC(list, (size_t)types->count + 1, err));
    pcol_status status = pci_types_of_source(types, source, list, &count, err);
    for (uint32_t i = 0; status == PCOL_OK && i < count; i++)
        for (unsigned k = 1; k < PCI_RPROF_VALUES; k++)
            if (types->columns[list[i]] && types->columns[list[i]] == w->samples->value[k].column)
                found |= 1u << k;
    pci_free(list);
    *has = found == (1u << PCI_RPROF_VALUES) - 2;
    return status;
}

/* *lacks: lines of the source need a memory prefix, of which a selection of sample types has left
 * out values. */
static pcol_status lacks_memory(struct pci_rprof_writer *w, uint32_t source, int *lacks,
                                pcol_error *err)
{
    int has_prefix, has_types = 1;
    *lacks = 0;
    PCI_TRY(has_memory(w, source, &has_prefix, err));
    if (has_prefix)
        PCI_TRY(has_memory_types(w, source, &has_types, err));
    for (uint64_t row = w->samples->turns.next; !has_types && !*lacks; row++) {
        PCI_TRY(pci_rprof_samples_next(w->samples, source, &row, err));
        if (row >= w->samples->total)
            break;
        *lacks = !w->samples->text.valid[row - w->samples->first];
    }
    return PCOL_OK;
}

static pcol_status write_samples(struct pci_rprof_writer *w, pcol_str type, uint32_t source,
                                 pcol_error *err)
{
    if (pci_str_is(type, "rprof")) {
        int found = 0, remains = 0, left_out = 0;
        if (w->export->options->sample_type)
            PCI_TRY(pci_rprof_is_left_out(w->export, w->samples, source, &left_out, err));
        if (left_out)
            return PCOL_OK;
        PCI_TRY(lacks_memory(w, source, &remains, err));
        if (!remains)
            PCI_TRY(write_segments(w, source, &found, err));
        if (!found && !remains) /* another writer may have added samples without segments */
            PCI_TRY(has_samples(w, source, &remains, err));
        if (!remains)
            return PCOL_OK;
        w->was_converted = 1;
    }
    return pci_rprof_write_generic(w->export, w->out, w->samples, source, &w->lost, err);
}

static pcol_status write_source(struct pci_rprof_writer *w, pcol_str type, uint32_t source,
                                pcol_error *err)
{
    const struct pci_rprof_flags flags = {.interval_us = PCI_RPROF_INTERVAL_US};
    uint8_t header[96];
    PCI_TRY(write_samples(w, type, source, err));
    if (w->export->first_source == source || w->export->last_source != source ||
        w->samples->has_header)
        return PCOL_OK;
    /* All of several sources are left out or empty: a file without a header is none of R. */
    size_t size = pci_rprof_header_text(header, &flags);
    header[size++] = '\n';
    return pci_out(w->out, header, size, err);
}

static pcol_status open_and_write(struct pci_rprof_writer *w, const struct pci_rprof_type *types,
                                  pci_rprof_write_source *write_one, pcol_error *err)
{
    const struct pci_column *source_types;
    PCI_TRY(pci_rprof_samples_open(w->samples, w->file, types, err));
    PCI_TRY(pci_rprof_locations_open(&w->locations, w->file, err));
    PCI_TRY(pci_rprof_stack_text_open(&w->stacks, w->file, w->locations.group_count, unit_text, w,
                                      err));
    PCI_TRY(
        pci_find_verified_column(w->file, "sources", "type", PCI_TYPES_TEXT, &source_types, err));
    for (uint64_t s = w->export->first_source; s <= w->export->last_source; s++) {
        pcol_str type;
        int valid;
        PCI_TRY(pci_out_line_end(w->out, err));
        PCI_TRY(pci_get_str(w->file, source_types, s, &type, &valid, err));
        PCI_TRY(write_one(w, type, (uint32_t)s, err));
    }
    return pci_out_flush(w->out, err);
}

pcol_status pci_rprof_write_sources(struct pci_rprof_writer *writer,
                                    const struct pci_rprof_type *types,
                                    pci_rprof_write_source *write_one, pcol_error *err)
{
    pcol_status status;
    writer->out = pci_malloc(1, sizeof *writer->out);
    writer->samples = pci_calloc(1, sizeof *writer->samples);
    if (writer->out && writer->samples) {
        pci_out_open(writer->out, writer->export->sink);
        status = open_and_write(writer, types, write_one, err);
    } else {
        status = pci_fail_memory(err);
    }
    pci_rprof_stack_text_close(&writer->stacks);
    if (writer->samples) {
        writer->is_misread = writer->samples->is_misread;
        writer->has_blanks = writer->samples->has_blanks;
        pci_rprof_samples_close(writer->samples);
    }
    pci_free(writer->samples);
    pci_free(writer->out);
    return status;
}

pcol_status pci_rprof_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_rprof_segments segments;
    struct pci_rprof_writer w = {.export = export, .file = export->file, .segments = &segments};
    PCI_TRY(open_segments(&segments, w.file, err));
    PCI_TRY(pci_rprof_write_sources(&w, rprof_types, write_source, err));
    PCI_TRY(pci_rprof_report_losses(export, w.lost, err));
    if (w.has_blanks)
        pci_export_warning("summaryRprof() splits names at blanks");
    if (w.is_misread)
        pci_export_warning("summaryRprof() goes by the first header and has one list of files: it "
                           "misreads intervals, lines or memory of later sources");
    return pci_export_losses(export, w.was_converted ? NULL : "rprof", err);
}
