/*
 * read.c - folded stacks: recognition and import
 *
 * A line becomes a row of samples, in order. Column `text` contains the original bytes only if
 * stack and count do not reproduce the line (two blanks, "007", another line end) or comments and
 * blank lines precede it.
 *
 * Counts wait in a spill buffer until the end of the input, since a source has one sample type:
 * doubles if any count is one. Front coding: complete frames shared with the previous line reuse
 * its nodes:
 *
 *     previous line  main;parse;read 5
 *     this line      main;parse;skip 3
 *                    ^^^^^^^^^^^ shared prefix
 *
 * The beginning of the text decides whether frames contain files and lines (frame_form.h), which
 * become columns, as do the threads before such stacks.
 */
#include "formats/folded/folded.h"
#include "formats/folded/frame_form.h"
#include "formats/folded/line_parser.h"
#include "stream/lines.h"

#include "builder/builder.h"
#include "builder/string_pool.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

#define LARGEST INT64_C(9007199254740992) /* 2^53: integers up to it are exact as doubles */

struct level {
    size_t end; /* offset in the line of the semicolon after the frame */
    uint32_t node;
};

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_lines lines;
    int is_started, crlf, is_double;
    struct pci_spill counts; /* 8 bytes per sample: the first `integers` are int64, then doubles */
    uint64_t integers;
    uint64_t first_sample; /* row of samples */
    uint64_t samples;
    struct pci_strbuf previous; /* previous line with its line end */
    struct pci_strbuf pending;  /* text before the next sample */
    size_t previous_stack_size; /* size of its stack */
    int has_previous_text;      /* its text must be stored, and is not yet */
    struct level *levels;       /* of the previous line, outermost first; without the innermost */
    size_t depth, level_capacity;
    struct pci_string_pool frames; /* their texts, if there is a form */
    uint32_t *groups; /* by frame, or by string without a form: location group + 1; 0: none yet */
    size_t group_capacity;
    uint32_t text; /* column; PCOL_NONE until needed */
    enum pci_folded_form form;
    struct pci_strbuf prefix; /* of the previous stack, and its thread */
    uint32_t thread;
    struct pci_tolerated invalid_lines;
};

/* ---- recognition ---- */

static int is_comment(const uint8_t *text, size_t size)
{
    struct pci_folded_parts parts;
    if (!size || text[0] != '#')
        return 0;
    return size == 1 || text[1] == ' ' || text[1] == '\t' || !pci_folded_split(text, size, &parts);
}

/* Metrics of Prometheus have lines like stacks, `requests{type="text/html; charset=utf-8"} 5`. */
static int is_of_metrics(const uint8_t *text, size_t size)
{
    return size > 7 && (!memcmp(text, "# HELP ", 7) || !memcmp(text, "# TYPE ", 7));
}

static int is_empty(const uint8_t *text, size_t size)
{
    while (size && (*text == ' ' || *text == '\t'))
        text++, size--;
    return !size;
}

/* At least 8 semicolons and no line end in the first 4096 bytes of text: a deep stack. */
static int looks_deep(const uint8_t *data, size_t size)
{
    int semicolons = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] < ' ' && data[i] != '\t')
            return 0;
        semicolons += data[i] == ';';
    }
    return semicolons >= 8 && !strchr("{[<\"(", data[0]);
}

int pci_folded_sniff(const uint8_t *data, size_t size, int all)
{
    struct pci_folded_parts parts;
    size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    int found = 0, frames = 0;
    while (at < size) {
        const uint8_t *text = data + at, *feed = memchr(text, '\n', size - at);
        size_t length = feed ? (size_t)(feed - text) : size - at;
        at += length + 1;
        if (!feed && !all)
            break; /* a truncated line */
        length -= length && text[length - 1] == '\r';
        if (is_of_metrics(text, length))
            return 0;
        if (is_empty(text, length) || is_comment(text, length))
            continue;
        if (!pci_folded_split(text, length, &parts) || memchr(text, 0, length))
            return 0;
        found = 1;
        frames |= memchr(text, ';', parts.stack) != NULL;
    }
    if (!found)
        return !all && looks_deep(data, size) ? 2 : 0;
    return frames ? 2 : 1;
}

/* ---- text that stack and count do not reproduce ---- */

/* Store the text of the previous sample, which is complete now. */
static pcol_status set_text(struct reader *r, pcol_error *err)
{
    if (!r->has_previous_text)
        return PCOL_OK;
    r->has_previous_text = 0;
    if (r->text == PCOL_NONE)
        PCI_TRY(
            pci_builder_column(r->builder, PCI_T_SAMPLES, "text", PCOL_STRING, 0, &r->text, err));
    return pcol_builder_set_str(r->builder, r->text, r->first_sample + r->samples - 1,
                                r->previous.data, r->previous.size, err);
}

/* Store text after the last sample with that sample; without any sample, with the source. */
static pcol_status set_trailing_text(struct reader *r, pcol_error *err)
{
    uint32_t column;
    if (r->pending.size && r->samples) {
        PCI_TRY(pci_strbuf_append(&r->previous, r->pending.data, r->pending.size, err));
        r->has_previous_text = 1;
    } else if (r->pending.size) {
        PCI_TRY(
            pci_builder_column(r->builder, PCI_T_SOURCES, "text", PCOL_STRING, 0, &column, err));
        return pcol_builder_set_str(r->builder, column, r->import->source, r->pending.data,
                                    r->pending.size, err);
    }
    return set_text(r, err);
}

/* ---- stacks ---- */

/* The function and the line of a new frame. */
static pcol_status add_function(struct reader *r, const uint8_t *text, size_t size, pcol_line *line,
                                pcol_error *err)
{
    struct pci_folded_frame frame;
    pcol_function function = PCOL_INIT(pcol_function);
    function.system_name = function.filename = PCOL_NONE;
    if (pci_folded_parse_frame(r->form, text, size, &frame)) {
        PCI_TRY(pcol_builder_string(r->builder, frame.file.data, frame.file.size,
                                    &function.filename, err));
        line->line = frame.line;
        line->flags = PCOL_LINE_HAS_LINE;
    } else {
        frame.function = (pcol_str){(const char *)text, size};
    }
    PCI_TRY(pcol_builder_string(r->builder, frame.function.data, frame.function.size,
                                &function.name, err));
    return pcol_builder_function(r->builder, &function, &line->function, err);
}

static pcol_status find_or_add_group(struct reader *r, const uint8_t *text, size_t size,
                                     uint32_t *group, pcol_error *err)
{
    const char *name = (const char *)text;
    uint32_t frame;
    PCI_TRY(r->form ? pci_string_pool_intern(&r->frames, name, size, &frame, err)
                    : pcol_builder_string(r->builder, name, size, &frame, err));
    if (frame >= r->group_capacity) {
        size_t old_capacity = r->group_capacity;
        PCI_TRY(PCI_GROW(r->groups, r->group_capacity, (size_t)frame + 1, err));
        memset(r->groups + old_capacity, 0, (r->group_capacity - old_capacity) * sizeof *r->groups);
    }
    if (!r->groups[frame]) {
        pcol_group new_group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        PCI_TRY(add_function(r, text, size, &line, err));
        new_group.lines = &line;
        new_group.line_count = 1;
        new_group.mapping = PCOL_NONE;
        PCI_TRY(pcol_builder_group(r->builder, &new_group, &r->groups[frame], err));
        r->groups[frame]++;
    }
    *group = r->groups[frame] - 1;
    return PCOL_OK;
}

static size_t common_prefix(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t shared = 0;
    while (shared + 8 <= size && !memcmp(a + shared, b + shared, 8))
        shared += 8;
    while (shared < size && a[shared] == b[shared])
        shared++;
    return shared;
}

/* Find or add the node of the stack [text + start, text + size), which follows the prefix of a
 * thread; update the levels for the next line. */
static pcol_status add_stack(struct reader *r, const uint8_t *text, size_t start, size_t size,
                             uint32_t *node, pcol_error *err)
{
    size_t limit = r->previous_stack_size < size ? r->previous_stack_size : size;
    size_t shared = r->samples ? common_prefix((const uint8_t *)r->previous.data, text, limit) : 0;
    /* A frame is shared only with its semicolon, so that the innermost never is. */
    while (r->depth && r->levels[r->depth - 1].end >= shared)
        r->depth--;
    size_t at = r->depth ? r->levels[r->depth - 1].end + 1 : start;
    *node = r->depth ? r->levels[r->depth - 1].node : 0;
    if (at == size && (!at || text[at - 1] != ';'))
        return PCOL_OK;
    for (;;) {
        const uint8_t *end = memchr(text + at, ';', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        uint32_t group;
        PCI_TRY(find_or_add_group(r, text + at, length, &group, err));
        PCI_TRY(pcol_builder_stack(r->builder, *node, group, node, err));
        if (!end)
            return PCOL_OK;
        PCI_TRY(PCI_GROW(r->levels, r->level_capacity, r->depth + 1, err));
        r->levels[r->depth++] = (struct level){at + length, *node};
        at += length + 1;
    }
}

/* The thread whose prefix the stack has, and the size of the prefix. */
static pcol_status add_thread(struct reader *r, const uint8_t *text, size_t size, uint32_t *thread,
                              size_t *prefix, pcol_error *err)
{
    struct pci_import_thread cells = {PCOL_NONE, PCOL_NONE, PCOL_NONE, PCOL_NONE, 0};
    pcol_str pid, tid;
    *thread = PCOL_NONE;
    *prefix = r->form ? pci_folded_parse_thread(text, size, &pid, &tid) : 0;
    if (!*prefix)
        return PCOL_OK;
    if (r->prefix.size != *prefix || memcmp(r->prefix.data, text, *prefix) != 0) {
        r->prefix.size = 0;
        PCI_TRY(pci_strbuf_append(&r->prefix, text, *prefix, err));
        PCI_TRY(pcol_builder_string(r->builder, tid.data, tid.size, &cells.tid, err));
        if (pid.size)
            PCI_TRY(pcol_builder_string(r->builder, pid.data, pid.size, &cells.pid, err));
        PCI_TRY(pci_import_thread(r->import, &cells, &r->thread, err));
    }
    *thread = r->thread;
    return PCOL_OK;
}

/* ---- samples ---- */

/* Does printing the count reproduce the same bytes? */
static int is_count_reproduced(const struct pci_folded_count *count, const uint8_t *text,
                               size_t size)
{
    char printed[PCI_FOLDED_COUNT_SIZE];
    if (!count->is_double && (count->as.i64 > LARGEST || count->as.i64 < -LARGEST))
        return 0; /* not exact if it becomes a double */
    size_t length = pci_folded_print(count, printed);
    return length == size && !memcmp(printed, text, size);
}

static pcol_status add_count(struct reader *r, struct pci_folded_count count, pcol_error *err)
{
    uint64_t bits;
    if (count.is_double && !r->is_double) {
        r->is_double = 1;
        r->integers = r->samples;
    }
    if (r->is_double && !count.is_double)
        count.as.f64 = (double)count.as.i64;
    memcpy(&bits, &count.as, sizeof bits);
    return pci_spill_append_u64(&r->counts, bits, err);
}

static pcol_status add_line(struct reader *r, const struct pci_line *line,
                            const struct pci_folded_parts *parts, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    size_t tail = line->size - parts->count, prefix;
    PCI_TRY(set_text(r, err));
    if (!r->samples)
        r->crlf = line->end == PCI_LINE_CRLF;
    int has_usual_end = line->end == (r->crlf ? PCI_LINE_CRLF : PCI_LINE_LF);
    int reproduced = parts->plain && has_usual_end &&
                     is_count_reproduced(&parts->value, line->text + parts->count, tail);
    sample.source = r->import->source;
    PCI_TRY(add_thread(r, line->text, parts->stack, &sample.thread, &prefix, err));
    PCI_TRY(add_stack(r, line->text, prefix, parts->stack, &sample.stack, err));
    PCI_TRY(add_count(r, parts->value, err));
    PCI_TRY(pcol_builder_sample(r->builder, &sample, NULL, err));
    r->samples++;
    /* `previous` begins with the stack of this line, for comparison with the next line. */
    r->previous.size = 0;
    r->previous_stack_size = parts->stack;
    r->has_previous_text = !reproduced || r->pending.size;
    if (r->pending.size) {
        PCI_TRY(pci_strbuf_append(&r->pending, line->text, line->whole, err));
        PCI_TRY(pci_strbuf_append(&r->previous, r->pending.data, r->pending.size, err));
        r->previous_stack_size = 0; /* `previous` begins with other text */
        r->depth = 0;
        r->pending.size = 0;
        return PCOL_OK;
    }
    return pci_strbuf_append(&r->previous, line->text, line->whole, err);
}

static pcol_status read_line(struct reader *r, struct pci_line *line, pcol_error *err)
{
    struct pci_folded_parts parts;
    size_t skipped = 0;
    if (line->number == 1 && line->size >= 3 && !memcmp(line->text, "\xef\xbb\xbf", 3)) {
        PCI_TRY(pci_strbuf_append(&r->pending, line->text, 3, err));
        skipped = 3;
        line->text += 3, line->size -= 3, line->whole -= 3;
    }
    if (is_empty(line->text, line->size) || is_comment(line->text, line->size))
        return pci_strbuf_append(&r->pending, line->text, line->whole, err);
    if (pci_folded_split(line->text, line->size, &parts))
        return add_line(r, line, &parts, err);
    PCI_TRY(pci_import_tolerate(r->import, &r->invalid_lines, line->number,
                                parts.fault + skipped + 1, parts.message, err));
    return pci_strbuf_append(&r->pending, line->text, line->whole, err);
}

/* ---- import ---- */

/* Copy the counts to the column of the sample type. */
static pcol_status set_counts(struct reader *r, pcol_error *err)
{
    uint32_t type;
    uint64_t batch[256];
    PCI_TRY(pcol_builder_sample_type(r->builder, "samples", "count",
                                     r->is_double ? PCOL_SAMPLE_TYPE_DOUBLE : 0, 0, &type, err));
    struct pci_column_buffer *column = r->builder->columns[r->builder->types[type].column];
    for (uint64_t at = 0; at < r->samples; at += 256) {
        size_t count = r->samples - at < 256 ? (size_t)(r->samples - at) : 256;
        PCI_TRY(pci_spill_read(&r->counts, at * 8, batch, count * 8, err));
        for (size_t i = 0; i < count; i++) {
            int64_t value;
            memcpy(&value, &batch[i], sizeof value);
            if (r->is_double && at + i < r->integers) {
                double number = (double)value;
                memcpy(&value, &number, sizeof value);
            }
            PCI_TRY(pci_column_buffer_set(column, r->first_sample + at + i, value, err));
        }
    }
    return PCOL_OK;
}

/* Set the form of frames from the beginning of the text. */
static pcol_status find_form(struct reader *r, pcol_error *err)
{
    struct pci_input *input = r->import->input;
    uint32_t column;
    while (input->size < PCI_FOLDED_FORM_BYTES && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    size_t size = input->size < PCI_FOLDED_FORM_BYTES ? input->size : PCI_FOLDED_FORM_BYTES;
    r->form = pci_folded_find_form(input->data, size, input->end && size == input->size);
    const char *name = pci_folded_form_texts[r->form];
    if (!name)
        return PCOL_OK;
    PCI_TRY(
        pci_builder_column(r->builder, PCI_T_SOURCES, "frame_form", PCOL_STRING, 0, &column, err));
    return pcol_builder_set_str(r->builder, column, r->import->source, name, strlen(name), err);
}

static pcol_status read_all(struct reader *r, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_line line;
    uint32_t column;
    int found;
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(find_form(r, err));
    for (;;) {
        PCI_TRY(pci_lines_next(&r->lines, &line, &found, err));
        if (!found)
            break;
        if (line.number == 1 && line.size >= 2 &&
            (!memcmp(line.text, "\xff\xfe", 2) || !memcmp(line.text, "\xfe\xff", 2)))
            return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1,
                                 "text in UTF-16: convert it to UTF-8 first");
        PCI_TRY(read_line(r, &line, err));
    }
    PCI_TRY(set_trailing_text(r, err));
    PCI_TRY(set_counts(r, err));
    if (!r->crlf)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(r->builder, PCI_T_SOURCES, "crlf", PCOL_BOOL, 0, &column, err));
    return pcol_builder_set_i64(r->builder, column, r->import->source, 1, err);
}

pcol_status pci_folded_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import,
                       .builder = import->builder,
                       .lines = {.input = import->input},
                       .first_sample = import->builder->sample_count,
                       .text = PCOL_NONE};
    pci_spill_init(&r.counts, &import->builder->store);
    pcol_status status = read_all(&r, err);
    if (status == PCOL_OK)
        pci_import_report_tolerated(&r.invalid_lines, "lines without a count imported as text");
    pci_spill_clear(&r.counts);
    pci_strbuf_clear(&r.previous);
    pci_strbuf_clear(&r.pending);
    pci_strbuf_clear(&r.prefix);
    pci_string_pool_clear(&r.frames);
    pci_free(r.levels);
    pci_free(r.groups);
    return status;
}
