/*
 * read.c - import of Rprof() output
 *
 * One pass over the lines. A line that the exporter reproduces is stored as rows only; other lines
 * (leading zeros, a missing blank, another line end) also store their bytes. The tokens decide
 * which; the tests export and compare. Tests: tests/unit/test_rprof*.c.
 *     complete line     a sample
 *     open name         lines that cannot be separate are appended (lines.c)
 *     truncated file    the complete units, and the text
 *     anything else     E_SYNTAX; lenient: the complete units, and the text
 */
#include "formats/rprof/builder_sink.h"
#include "formats/rprof/parallel_chunks.h"
#include "formats/rprof/rprof.h"
#include "formats/rprof/sample_pipeline.h"
#include "formats/rprof/text.h"

#include "builder/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* R up to 4.2 adds no frame once a line has this many bytes, and leaves no mark. */
#define LONGEST_LINE 10000u

#define NO_FRAME "neither a frame nor a line reference"

enum { T_SAMPLES, T_SMALL, T_BIG, T_NODES, T_DUP, T_COUNT };
static_assert(T_COUNT == PCI_RPROF_TYPES, "the queue has a slot for each type");

struct reader {
    struct pci_import *import;
    struct pci_rprof_text text;
    struct pci_rprof_record record;
    struct pci_rprof_pipeline queue;
    struct pci_rprof_chunks *parts; /* NULL: single-threaded */
    uint64_t stop;                  /* end of the reader's own chunk */
    uint64_t headers, files;        /* numbers of such lines so far */
    struct pci_rprof_header header; /* of the segment */
    struct pci_rprof_int interval;  /* that of all segments so far, if known */
    int has_source;                 /* the first header was read */
    int memory_types;               /* the sample types of the memory columns exist */
    struct pci_tolerated tolerated; /* malformed lines */
    uint64_t too_long;
    int is_truncated; /* the last line ends within a word */
};

/* A line with a sample. */
struct sample {
    struct pci_rprof_units units;
    struct pci_rprof_int memory[4];
    int has_memory; /* -1: malformed */
    int exact;
};

int pci_rprof_sniff(const uint8_t *data, size_t size, int all)
{
    struct pci_rprof_header header;
    const uint8_t *end = pci_rprof_first_line_end(data, size, all);
    return end && pci_rprof_header(data, end, &header) ? 2 : 0;
}

static int is_own_line(const void *context, const uint8_t *p, const uint8_t *end)
{
    const struct reader *r = context;
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    struct pci_rprof_int number[4];
    const uint8_t *fault;
    if (p == end)
        return 0;
    if (*p == '"' || pci_rprof_ref(p, end))
        return pci_rprof_is_own_line(p, end);
    return pci_rprof_header(p, end, &header) || (r->header.line && pci_rprof_file(p, end, &file)) ||
           (r->header.memory && pci_rprof_memory(p, end, number, &fault));
}

/* ---- numbers ---- */

/* Report a number beyond 64 bits at `at`. Lenient: it is null, and the text is stored. */
static pcol_status report_overflow(struct reader *r, uint64_t start, const uint8_t *at,
                                   pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, start);
    return pci_import_tolerate(r->import, &r->tolerated, r->text.lines.number,
                               (uint64_t)(at - text) + 1, PCI_RPROF_OVERFLOW, err);
}

/* The first number beyond 64 bits in a line with a sample; NULL: none. */
static const uint8_t *find_overflow(const struct reader *r, const struct sample *s)
{
    const uint8_t *start = pci_rprof_at(&r->text.lines, s->units.line.start), *p = start;
    const uint8_t *end = pci_rprof_at(&r->text.lines, s->units.line.end);
    for (int i = 0; s->has_memory > 0 && i < 4; i++) {
        struct pci_rprof_int number;
        p++; /* the colon */
        if (!s->memory[i].known)
            return p;
        p = pci_rprof_int(p, end, 1, &number);
    }
    return s->has_memory < 0 ? NULL
                             : pci_rprof_find_overflow(pci_rprof_at(&r->text.lines, s->units.start),
                                                       end, PCI_RPROF_LOOSE);
}

/* ---- lines that are not samples ---- */

static pcol_status new_source(struct reader *r, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    PCI_TRY(pci_import_source(r->import, &source, err));
    return pcol_builder_sample_type(r->import->builder, "samples", "count", 0, 0,
                                    &r->queue.types[T_SAMPLES], err);
}

static pcol_status new_memory_types(struct reader *r, pcol_error *err)
{
    static const struct {
        const char *type, *unit;
        unsigned flags;
    } types[T_COUNT] = {
        [T_SMALL] = {"small_v", "cells", PCOL_SAMPLE_TYPE_GAUGE},
        [T_BIG] = {"big_v", "cells", PCOL_SAMPLE_TYPE_GAUGE},
        [T_NODES] = {"nodes", "bytes", PCOL_SAMPLE_TYPE_GAUGE},
        [T_DUP] = {"dup_count", "count", 0},
    };
    if (r->memory_types)
        return PCOL_OK;
    r->memory_types = 1;
    for (int i = T_SMALL; i < T_COUNT; i++)
        PCI_TRY(pcol_builder_sample_type(r->import->builder, types[i].type, types[i].unit,
                                         types[i].flags, 0, &r->queue.types[i], err));
    return PCOL_OK;
}

static pcol_status begin_segment(struct reader *r, const struct pci_rprof_line *line,
                                 const struct pci_rprof_header *header, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, line->start);
    if (!r->has_source) {
        PCI_TRY(new_source(r, err));
        r->interval = header->interval;
    } else if (!header->interval.known || header->interval.value != r->interval.value) {
        r->interval.known = 0;
    }
    r->has_source = 1;
    r->headers++;
    if (header->memory)
        PCI_TRY(new_memory_types(r, err));
    r->header = *header;
    r->text.crlf = line->eol == PCI_RPROF_CRLF;
    pci_rprof_frames_segment(&r->text.frames);
    int exact = header->interval.canonical && line->eol != PCI_RPROF_NO_EOL;
    return pci_rprof_record_segment(&r->record, header, r->text.crlf, exact ? NULL : text,
                                    (size_t)(line->next - line->start), err);
}

static pcol_status read_file(struct reader *r, const struct pci_rprof_line *line,
                             const struct pci_rprof_file *file, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, line->start);
    int exact =
        pci_rprof_has_usual_eol(&r->text, line) && (!file->numbered || file->number.canonical);
    uint32_t path;
    if (file->numbered && !file->number.known)
        PCI_TRY(report_overflow(r, line->start, text + strlen("#File "), err));
    r->text.frames.previous_size = 0;
    r->files++;
    PCI_TRY(pci_rprof_record_file(&r->record, file, exact ? NULL : text,
                                  (size_t)(line->next - line->start), &path, err));
    if (!file->numbered || !file->number.known)
        return PCOL_OK;
    return pci_rprof_frames_file(&r->text.frames, file->number.value, path, err);
}

/* Report a malformed line. Lenient: its text is stored. `at`: the unexpected byte. */
static pcol_status read_malformed(struct reader *r, const struct pci_rprof_line *line,
                                  const uint8_t *at, const char *what, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, line->start);
    uint32_t path;
    r->text.frames.previous_size = 0; /* so that the window need not retain it */
    PCI_TRY(pci_import_tolerate(r->import, &r->tolerated, r->text.lines.number,
                                (uint64_t)(at - text) + 1, what, err));
    return pci_rprof_record_file(&r->record, NULL, text, (size_t)(line->next - line->start), &path,
                                 err);
}

/* *done: the truncated last line is a prefix of a header or #File line. */
static pcol_status read_truncated(struct reader *r, const struct pci_rprof_line *line, int *done,
                                  pcol_error *err)
{
    static const char word[] = "#File ";
    const uint8_t *p = pci_rprof_at(&r->text.lines, line->start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
    size_t size = (size_t)(end - p);
    struct pci_rprof_header header = {0};
    *done = 1;
    if (pci_rprof_is_header_prefix(p, end))
        return begin_segment(r, line, &header, err);
    if (r->header.line && memcmp(p, word, size < strlen(word) ? size : strlen(word)) == 0) {
        const uint8_t *q = size > strlen(word) ? p + strlen(word) : end;
        while (q < end && (unsigned)(*q - '0') < 10)
            q++;
        uint32_t path;
        if (end - q <= 1 && (q == end || *q == ':'))
            return pci_rprof_record_file(&r->record, NULL, p, size, &path, err);
    }
    *done = 0;
    return PCOL_OK;
}

/* ---- samples ---- */

/* 1 if [p, end) is a prefix of memory columns. */
static int is_memory_prefix(const uint8_t *p, const uint8_t *end)
{
    int colons = 0;
    for (; p < end; p++)
        if (*p == ':')
            colons++;
        else if ((unsigned)(*p - '0') >= 10 && !(*p == '-' && p[-1] == ':'))
            return 0;
    return colons < 5;
}

/* 1 if [p, end) is a prefix of a reference. */
static int is_ref_prefix(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *digits = p;
    while (p < end && (unsigned)(*p - '0') < 10)
        p++;
    if (p == digits)
        return 0;
    if (p < end && *p == '#')
        p++;
    while (p < end && (unsigned)(*p - '0') < 10)
        p++;
    return p == end;
}

/* Report the fault unless the file is truncated there or the import is lenient. */
static pcol_status check_fault(struct reader *r, struct sample *s, pcol_error *err)
{
    const uint8_t *start = pci_rprof_at(&r->text.lines, s->units.line.start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, s->units.line.end);
    int cut = s->units.line.eol == PCI_RPROF_NO_EOL;
    s->exact = 0;
    if (s->units.fault.kind == PCI_RPROF_NO_BLANK)
        return PCOL_OK;
    r->is_truncated = (s->units.fault.kind == PCI_RPROF_OPEN && s->units.line.is_last) ||
                      (cut && (s->has_memory < 0 ? is_memory_prefix(start, end)
                                                 : is_ref_prefix(s->units.fault.at, end)));
    if (r->is_truncated)
        return PCOL_OK;
    return pci_import_tolerate(r->import, &r->tolerated, r->text.lines.number,
                               (uint64_t)(s->units.fault.at - start) + 1,
                               s->has_memory < 0                       ? "malformed memory columns"
                               : s->units.fault.kind == PCI_RPROF_OPEN ? "unterminated frame name"
                                                                       : NO_FRAME,
                               err);
}

static pcol_status add_sample(struct reader *r, const struct sample *s, pcol_error *err)
{
    int64_t values[T_COUNT] = {[T_SAMPLES] = 1};
    unsigned present = 1u << T_SAMPLES;
    for (int i = 0; s->has_memory > 0 && i < 4; i++)
        if (s->memory[i].known) {
            values[T_SMALL + i] = s->memory[i].value;
            present |= 1u << (T_SMALL + i);
        }
    PCI_TRY(pci_rprof_pipeline_sample(&r->queue, &r->text.frames, s->units.has_stack, present,
                                      values, err));
    if (s->exact)
        return PCOL_OK;
    return pci_rprof_record_text(&r->record, pci_rprof_at(&r->text.lines, s->units.line.start),
                                 (size_t)(s->units.line.next - s->units.line.start), err);
}

static void read_memory(struct reader *r, struct sample *s)
{
    const uint8_t *p = pci_rprof_at(&r->text.lines, s->units.line.start);
    const uint8_t *q = pci_rprof_memory(p, pci_rprof_at(&r->text.lines, s->units.line.end),
                                        s->memory, &s->units.fault.at);
    if (!q) {
        s->has_memory = -1;
        s->units.fault.kind = PCI_RPROF_GARBAGE;
        return;
    }
    s->has_memory = 1;
    s->units.start += (uint64_t)(q - p);
    s->exact = s->memory[0].canonical & s->memory[1].canonical & s->memory[2].canonical &
               s->memory[3].canonical;
}

/* *line: extended by lines that continue its names. */
static pcol_status read_sample(struct reader *r, struct pci_rprof_line *line, pcol_error *err)
{
    struct sample s = {.units = {.line = *line, .start = line->start}, .exact = 1};
    struct pci_rprof_units *u = &s.units;
    if (r->header.memory && *pci_rprof_at(&r->text.lines, line->start) == ':')
        read_memory(r, &s);
    if (s.has_memory >= 0) {
        PCI_TRY(pci_rprof_text_units(&r->text, 0, is_own_line, r, u, err));
        s.exact = s.exact && u->exact;
    } else {
        r->text.frames.previous_size = 0;
    }
    if (u->fault.kind == PCI_RPROF_GARBAGE && s.has_memory == 0 && u->count == 0 &&
        !(u->line.eol == PCI_RPROF_NO_EOL &&
          is_ref_prefix(u->fault.at, pci_rprof_at(&r->text.lines, u->line.end))))
        return read_malformed(r, line, u->fault.at, NO_FRAME, err);
    if (u->fault.kind != PCI_RPROF_NO_FAULT)
        PCI_TRY(check_fault(r, &s, err));
    const uint8_t *overflow = s.exact ? NULL : find_overflow(r, &s);
    if (overflow)
        PCI_TRY(report_overflow(r, u->line.start, overflow, err));
    PCI_TRY(add_sample(r, &s, err));
    r->too_long += u->line.next - u->line.start >= LONGEST_LINE;
    r->text.previous_end = u->line.end;
    r->text.lines.keep = r->text.frames.previous_size ? u->start : u->line.next;
    *line = u->line;
    return PCOL_OK;
}

/* ---- file ---- */

static pcol_status read_line(struct reader *r, struct pci_rprof_line *line, pcol_error *err)
{
    const uint8_t *p = pci_rprof_at(&r->text.lines, line->start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    int done;
    /* The most frequent lines first. */
    if (r->has_source && p < end && (*p == '"' || (*p == ':' && r->header.memory)))
        return read_sample(r, line, err);
    if (pci_rprof_header(p, end, &header)) {
        const uint8_t *digits = end;
        while (digits[-1] != '=')
            digits--;
        if (!header.interval.known)
            PCI_TRY(report_overflow(r, line->start, digits, err));
        return begin_segment(r, line, &header, err);
    }
    if (!r->has_source)
        return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1,
                             "not an Rprof file: no sample.interval header");
    if (p == end)
        return read_malformed(r, line, p, "blank line", err);
    if (r->header.line && pci_rprof_file(p, end, &file))
        return read_file(r, line, &file, err);
    if (line->eol == PCI_RPROF_NO_EOL) {
        PCI_TRY(read_truncated(r, line, &done, err));
        r->is_truncated = done;
        if (done)
            return PCOL_OK;
    }
    if (*p == '#')
        return read_malformed(
            r, line, p,
            r->header.line ? "malformed #File line" : "#File line without line profiling", err);
    return read_sample(r, line, err);
}

/* Read the lines that begin before r->stop, which becomes UINT64_MAX at the end of the input. */
static pcol_status read_chunk(void *context, pcol_error *err)
{
    struct reader *r = context;
    while (r->text.lines.at < r->stop) {
        struct pci_rprof_line line;
        int got;
        PCI_TRY(pci_rprof_peek(&r->text.lines, r->text.lines.at, &line, &got, err));
        if (!got) {
            r->stop = UINT64_MAX;
            break;
        }
        PCI_TRY(read_line(r, &line, err));
        pci_rprof_text_pass(&r->text, &line);
    }
    return PCOL_OK;
}

/* Read the reader's chunk and, in parallel, the following ones. */
static pcol_status read_round(struct reader *r, pcol_error *err)
{
    struct pci_rprof_lines *lines = &r->text.lines;
    struct pci_input *input = r->import->input;
    struct pci_rprof_parse_state state = {&r->text.frames,  r->headers,   r->files,
                                          r->header.memory, r->text.crlf, LONGEST_LINE};
    uint64_t at, passed, too_long;
    PCI_TRY(pci_rprof_chunks_plan(r->parts, lines->at, &state, &r->stop, err));
    if (r->stop == UINT64_MAX)
        return read_chunk(r, err);
    input->pause = r->stop;
    PCI_TRY(pci_rprof_chunks_run(r->parts, read_chunk, r, err));
    input->pause = 0;
    at = lines->at;
    state.headers = r->headers;
    state.files = r->files;
    PCI_TRY(pci_rprof_chunks_merge(r->parts, &state, &r->queue, &at, &passed, &too_long, err));
    if (at == lines->at)
        return PCOL_OK;
    r->too_long += too_long;
    r->text.frames.previous_size = 0;
    lines->number += passed;
    lines->at = lines->keep = at;
    return pci_input_skip(input, at, err);
}

static pcol_status read_lines(struct reader *r, pcol_error *err)
{
    r->stop = 1; /* only the first line: the header */
    PCI_TRY(read_chunk(r, err));
    while (r->stop != UINT64_MAX) {
        if (r->parts && r->has_source) {
            PCI_TRY(read_round(r, err));
        } else {
            r->stop = UINT64_MAX;
            PCI_TRY(read_chunk(r, err));
        }
    }
    if (!r->has_source)
        return new_source(r, err);
    return r->interval.known && r->interval.value <= INT64_MAX / 1000
               ? pci_builder_source_interval(r->import->builder, r->import->source,
                                             r->interval.value * 1000, err)
               : PCOL_OK;
}

static void report_deviations(const struct reader *r)
{
    pci_rprof_report_deviations(&r->tolerated, r->is_truncated, r->text.is_unended);
    if (r->too_long)
        pci_import_message("lines of %u bytes or more: %" PRIu64
                           " (R before 4.3 leaves out the outermost frames there)",
                           LONGEST_LINE, r->too_long);
}

pcol_status pci_rprof_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import, .record = {.import = import}};
    pcol_status status;
    pci_rprof_text_init(&r.text, import);
    r.queue.record = &r.record;
    status = pci_rprof_chunks_new(import, &r.parts, err);
    PCI_THEN(status, read_lines(&r, err));
    if (status == PCOL_OK)
        report_deviations(&r);
    pci_rprof_chunks_free(r.parts);
    pci_rprof_pipeline_clear(&r.queue);
    pci_rprof_text_clear(&r.text);
    return status;
}
