/*
 * read.c - importing Rprof() output
 *
 * One pass over the lines. A line that prints the same from what it says leaves only that in the
 * builder; another (numbers with leading zeros, a missing blank, a foreign line end, a cut) leaves
 * its bytes beside it. Whether it does follows from its words, so nothing is printed to find out;
 * the tests print and compare.
 *
 *     whole             a sample
 *     an open name      lines that cannot stand alone are taken in, see lines.c
 *     cut at the end    the units before the cut, and the text
 *     anything else     E_SYNTAX; lenient: what is whole, and the text
 */
#include "formats/rprof/builder_sink.h"
#include "formats/rprof/parallel_chunks.h"
#include "formats/rprof/rprof.h"
#include "formats/rprof/sample_pipeline.h"
#include "formats/rprof/text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* R up to 4.2 adds no frame once a line has this many bytes, and leaves no mark. */
#define LONGEST_LINE 10000u

#define NO_FRAME "neither a frame nor a line reference"

enum { T_SAMPLES, T_SMALL, T_BIG, T_NODES, T_DUP, T_COUNT };
static_assert(T_COUNT == PCI_RPROF_TYPES, "the queue has room for all types");

struct reader {
    struct pci_import *import;
    struct pci_rprof_text text;
    struct pci_rprof_record record;
    struct pci_rprof_pipeline queue;
    struct pci_rprof_chunks *parts;      /* NULL: others read nothing */
    uint64_t stop;                       /* of the reader's own stretch */
    uint64_t headers, files;             /* lines of that kind so far */
    struct pci_rprof_header header;      /* of the segment */
    int begun;                           /* there is a segment */
    int memory_types;                    /* the types of the memory columns are known */
    uint64_t tolerated, first_tolerated; /* lines, and the first one's number */
    uint64_t too_long;
    int cut; /* the last line breaks off inside a word */
};

/* What one line says. */
struct sample {
    struct pci_rprof_units units;
    struct pci_rprof_int memory[4];
    int has_memory; /* -1: damaged */
    int exact;
};

int pci_rprof_sniff(const uint8_t *data, size_t size, int all)
{
    struct pci_rprof_header header;
    const uint8_t *end = memchr(data, '\n', size);
    if (!end && !all)
        return 0;
    end = end ? end : data + size;
    if (end > data && end[-1] == '\r')
        end--;
    return pci_rprof_header(data, end, &header) ? 2 : 0;
}

static int stands_alone(const void *context, const uint8_t *p, const uint8_t *end)
{
    const struct reader *r = context;
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    struct pci_rprof_int number[4];
    const uint8_t *fault;
    if (p == end)
        return 0;
    if (*p == '"' || pci_rprof_ref(p, end))
        return pci_rprof_units_alone(p, end);
    return pci_rprof_header(p, end, &header) || (r->header.line && pci_rprof_file(p, end, &file)) ||
           (r->header.memory && pci_rprof_memory(p, end, number, &fault));
}

/* ---- numbers ---- */

/* A number beyond 64 bits at `at`: an error, or the line is kept as text and the number unknown. */
static pcol_status read_beyond(struct reader *r, uint64_t start, const uint8_t *at, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, start);
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->text.lines.number, (uint64_t)(at - text) + 1,
                             "%s", PCI_RPROF_BEYOND);
    if (r->tolerated++ == 0)
        r->first_tolerated = r->text.lines.number;
    return PCOL_OK;
}

/* The first number beyond 64 bits of a sample's line; NULL: none. */
static const uint8_t *find_beyond(const struct reader *r, const struct sample *s)
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
                             : pci_rprof_beyond(pci_rprof_at(&r->text.lines, s->units.start), end,
                                                PCI_RPROF_LOOSE);
}

/* ---- lines that are not samples ---- */

static pcol_status new_source(struct reader *r, const struct pci_rprof_header *header,
                              pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    if (header && header->interval.known && header->interval.value <= INT64_MAX / 1000) {
        source.flags |= PCOL_SOURCE_HAS_INTERVAL;
        source.interval_ns = header->interval.value * 1000;
    }
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
    if (!r->begun)
        PCI_TRY(new_source(r, header, err));
    r->begun = 1;
    r->headers++;
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
    if (header->memory)
        PCI_TRY(new_memory_types(r, err));
    r->header = *header;
    r->text.crlf = line->eol == PCI_RPROF_CRLF;
    pci_rprof_frames_segment(&r->text.frames);
    int exact = header->interval.canonical && line->eol != PCI_RPROF_CUT;
    return pci_rprof_record_segment(&r->record, header, r->text.crlf, exact ? NULL : text,
                                    (size_t)(line->next - line->start), err);
}

static pcol_status read_file(struct reader *r, const struct pci_rprof_line *line,
                             const struct pci_rprof_file *file, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, line->start);
    int exact = pci_rprof_own_eol(&r->text, line) && (!file->numbered || file->number.canonical);
    uint32_t path;
    if (file->numbered && !file->number.known)
        PCI_TRY(read_beyond(r, line->start, text + strlen("#File "), err));
    r->text.frames.before = 0;
    r->files++;
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
    PCI_TRY(pci_rprof_record_file(&r->record, file, exact ? NULL : text,
                                  (size_t)(line->next - line->start), &path, err));
    if (!file->numbered || !file->number.known)
        return PCOL_OK;
    return pci_rprof_frames_file(&r->text.frames, file->number.value, path, err);
}

/* A line that fits nowhere: an error, or kept as it is. `at`: the byte that does not fit. */
static pcol_status read_stray(struct reader *r, const struct pci_rprof_line *line,
                              const uint8_t *at, const char *what, pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->text.lines, line->start);
    uint32_t path;
    r->text.frames.before = 0; /* so that the window lets go of it */
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->text.lines.number, (uint64_t)(at - text) + 1,
                             "%s", what);
    if (r->tolerated++ == 0)
        r->first_tolerated = r->text.lines.number;
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
    return pci_rprof_record_file(&r->record, NULL, text, (size_t)(line->next - line->start), &path,
                                 err);
}

/* The last line breaks off before it is known what it was going to be. */
static pcol_status read_cut(struct reader *r, const struct pci_rprof_line *line, int *done,
                            pcol_error *err)
{
    static const char word[] = "#File ";
    const uint8_t *p = pci_rprof_at(&r->text.lines, line->start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
    size_t size = (size_t)(end - p);
    struct pci_rprof_header header = {0};
    *done = 1;
    if (pci_rprof_header_begun(p, end))
        return begin_segment(r, line, &header, err);
    if (r->header.line && memcmp(p, word, size < strlen(word) ? size : strlen(word)) == 0) {
        const uint8_t *q = size > strlen(word) ? p + strlen(word) : end;
        while (q < end && (unsigned)(*q - '0') < 10)
            q++;
        uint32_t path;
        PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
        if (end - q <= 1 && (q == end || *q == ':'))
            return pci_rprof_record_file(&r->record, NULL, p, size, &path, err);
    }
    *done = 0;
    return PCOL_OK;
}

/* ---- samples ---- */

/* Could [p, end) go on to be memory columns? */
static int memory_begun(const uint8_t *p, const uint8_t *end)
{
    int colons = 0;
    for (; p < end; p++)
        if (*p == ':')
            colons++;
        else if ((unsigned)(*p - '0') >= 10 && !(*p == '-' && p[-1] == ':'))
            return 0;
    return colons < 5;
}

/* Could [p, end) go on to be a reference? */
static int ref_begun(const uint8_t *p, const uint8_t *end)
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

/* May the fault stand, because the file is cut there or the user wants it? */
static pcol_status judge(struct reader *r, struct sample *s, pcol_error *err)
{
    const uint8_t *start = pci_rprof_at(&r->text.lines, s->units.line.start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, s->units.line.end);
    int cut = s->units.line.eol == PCI_RPROF_CUT;
    s->exact = 0;
    if (s->units.fault.kind == PCI_RPROF_NO_BLANK)
        return PCOL_OK;
    r->cut =
        (s->units.fault.kind == PCI_RPROF_OPEN && s->units.line.last) ||
        (cut && (s->has_memory < 0 ? memory_begun(start, end) : ref_begun(s->units.fault.at, end)));
    if (r->cut)
        return PCOL_OK;
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->text.lines.number,
                             (uint64_t)(s->units.fault.at - start) + 1, "%s",
                             s->has_memory < 0                       ? "malformed memory columns"
                             : s->units.fault.kind == PCI_RPROF_OPEN ? "unterminated frame name"
                                                                     : NO_FRAME);
    if (r->tolerated++ == 0)
        r->first_tolerated = r->text.lines.number;
    return PCOL_OK;
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
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
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

/* *line becomes longer if names go over several lines. */
static pcol_status read_sample(struct reader *r, struct pci_rprof_line *line, pcol_error *err)
{
    struct sample s = {.units = {.line = *line, .start = line->start}, .exact = 1};
    struct pci_rprof_units *u = &s.units;
    if (r->header.memory && *pci_rprof_at(&r->text.lines, line->start) == ':')
        read_memory(r, &s);
    if (s.has_memory >= 0) {
        PCI_TRY(pci_rprof_text_units(&r->text, 0, stands_alone, r, u, err));
        s.exact = s.exact && u->exact;
    } else {
        r->text.frames.before = 0;
    }
    if (u->fault.kind == PCI_RPROF_GARBAGE && s.has_memory == 0 && u->count == 0 &&
        !(u->line.eol == PCI_RPROF_CUT &&
          ref_begun(u->fault.at, pci_rprof_at(&r->text.lines, u->line.end))))
        return read_stray(r, line, u->fault.at, NO_FRAME, err);
    if (u->fault.kind != PCI_RPROF_WHOLE)
        PCI_TRY(judge(r, &s, err));
    const uint8_t *beyond = s.exact ? NULL : find_beyond(r, &s);
    if (beyond)
        PCI_TRY(read_beyond(r, u->line.start, beyond, err));
    PCI_TRY(add_sample(r, &s, err));
    r->too_long += u->line.next - u->line.start >= LONGEST_LINE;
    r->text.before_end = u->line.end;
    r->text.lines.keep = r->text.frames.before ? u->start : u->line.next;
    *line = u->line;
    return PCOL_OK;
}

/* ---- the whole ---- */

static pcol_status read_line(struct reader *r, struct pci_rprof_line *line, pcol_error *err)
{
    const uint8_t *p = pci_rprof_at(&r->text.lines, line->start);
    const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    int done;
    /* Nearly all lines begin with these. */
    if (r->begun && p < end && (*p == '"' || (*p == ':' && r->header.memory)))
        return read_sample(r, line, err);
    if (pci_rprof_header(p, end, &header)) {
        const uint8_t *digits = end;
        while (digits[-1] != '=')
            digits--;
        if (!header.interval.known)
            PCI_TRY(read_beyond(r, line->start, digits, err));
        return begin_segment(r, line, &header, err);
    }
    if (!r->begun)
        return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1,
                             "not an Rprof file: no sample.interval header");
    if (p == end)
        return read_stray(r, line, p, "blank line", err);
    if (r->header.line && pci_rprof_file(p, end, &file))
        return read_file(r, line, &file, err);
    if (line->eol == PCI_RPROF_CUT) {
        PCI_TRY(read_cut(r, line, &done, err));
        r->cut = done;
        if (done)
            return PCOL_OK;
    }
    if (*p == '#')
        return read_stray(
            r, line, p,
            r->header.line ? "malformed #File line" : "#File line without line profiling", err);
    return read_sample(r, line, err);
}

/* The lines that begin before r->stop; it is UINT64_MAX behind the last one of all. */
static pcol_status read_stretch(void *context, pcol_error *err)
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

/* A stretch, and beside it those behind it as far as there are any for others to read. */
static pcol_status read_round(struct reader *r, pcol_error *err)
{
    struct pci_rprof_lines *lines = &r->text.lines;
    struct pci_input *input = r->import->input;
    struct pci_rprof_terms terms = {&r->text.frames,  r->headers,   r->files,
                                    r->header.memory, r->text.crlf, LONGEST_LINE};
    uint64_t at, passed, too_long;
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
    PCI_TRY(pci_rprof_chunks_plan(r->parts, lines->at, &terms, &r->stop, err));
    r->queue.alone = r->stop != UINT64_MAX;
    if (!r->queue.alone)
        return read_stretch(r, err);
    input->pause = r->stop;
    PCI_TRY(pci_rprof_chunks_run(r->parts, read_stretch, r, err));
    input->pause = 0;
    at = lines->at;
    terms.headers = r->headers;
    terms.files = r->files;
    PCI_TRY(pci_rprof_chunks_take(r->parts, &terms, &r->queue, &at, &passed, &too_long, err));
    if (at == lines->at)
        return PCOL_OK;
    r->too_long += too_long;
    r->text.frames.before = 0;
    lines->number += passed;
    lines->at = lines->keep = at;
    return pci_input_skip(input, at, err);
}

static pcol_status read_lines(struct reader *r, pcol_error *err)
{
    r->stop = 1; /* the first line, so that there is a header */
    PCI_TRY(read_stretch(r, err));
    while (r->stop != UINT64_MAX) {
        if (r->parts && r->begun) {
            PCI_TRY(read_round(r, err));
        } else {
            r->stop = UINT64_MAX;
            PCI_TRY(read_stretch(r, err));
        }
    }
    PCI_TRY(pci_rprof_pipeline_flush(&r->queue, err));
    return r->begun ? PCOL_OK : new_source(r, NULL, err);
}

static void say_what_was_odd(const struct reader *r)
{
    if (r->tolerated)
        pci_import_message("malformed lines kept as text: %" PRIu64 ", the first is line %" PRIu64,
                           r->tolerated, r->first_tolerated);
    if (r->cut)
        pci_import_message("the last line is cut: kept as far as it goes");
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
    if (status == PCOL_OK)
        status = read_lines(&r, err);
    if (status == PCOL_OK)
        say_what_was_odd(&r);
    pci_rprof_chunks_free(r.parts);
    pci_rprof_pipeline_clear(&r.queue);
    pci_rprof_text_clear(&r.text);
    return status;
}
