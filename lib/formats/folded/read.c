/*
 * read.c - importing folded stacks
 *
 * A line is a row of samples, in order. What comes back from its frames and its count is not kept
 * twice; a line that would come back otherwise (two blanks, "007", a foreign line end), and what
 * stands between lines (comments, blank lines), is text beside the sample.
 *
 * Whether counts are integers or doubles is known only at the end, and a file has one sample type:
 * so counts wait in a spool of their own, and become integers unless one of them had a point.
 *
 * Sorted files repeat the beginning of the line before. Frames that end within the part in common
 * are the same nodes of the tree of stacks, without a look at any table:
 *
 *     line before   main;parse;read 5
 *     this line     main;parse;skip 3
 *                   ^^^^^^^^^^^ in common
 */
#include "formats/folded/folded.h"
#include "formats/folded/line_parser.h"
#include "stream/lines.h"

#include "builder/builder.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST INT64_C(9007199254740992) /* 2^53: an integer count that every double has */

struct level {
    size_t end; /* where the frame ends in the line, at its semicolon */
    uint32_t node;
};

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_lines lines;
    int begun, crlf, is_double;
    struct pci_spill counts; /* 8 bytes for each sample: integers up to `integers`, then doubles */
    uint64_t integers;
    uint64_t first_sample; /* row */
    uint64_t samples;
    struct pci_strbuf before;  /* the line before, whole */
    struct pci_strbuf pending; /* what stood before the next sample */
    size_t before_stack;       /* bytes of its stack */
    int before_odd;            /* it needs its text, which is not set yet */
    struct level *levels; /* of the line before, outermost first; the innermost has no semicolon */
    size_t depth, level_capacity;
    uint32_t *groups; /* by string: its group + 1; 0: none yet */
    size_t group_capacity;
    uint32_t text; /* column; PCOL_NONE until needed */
    uint64_t tolerated, first_tolerated;
};

/* ---- recognising ---- */

static int is_comment(const uint8_t *text, size_t size)
{
    struct pci_folded_parts parts;
    if (!size || text[0] != '#')
        return 0;
    return size == 1 || text[1] == ' ' || text[1] == '\t' || !pci_folded_split(text, size, &parts);
}

static int is_empty(const uint8_t *text, size_t size)
{
    while (size && (*text == ' ' || *text == '\t'))
        text++, size--;
    return !size;
}

/* 8 frames and more in the first 4096 bytes, and no line end: a deep stack, if it is text. */
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
            break; /* a line whose end is not here */
        length -= length && text[length - 1] == '\r';
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

/* ---- text that frames and counts do not give back ---- */

/* The text of the sample before, now that nothing more can belong to it. */
static pcol_status set_text(struct reader *r, pcol_error *err)
{
    if (!r->before_odd)
        return PCOL_OK;
    r->before_odd = 0;
    if (r->text == PCOL_NONE)
        PCI_TRY(
            pcol_builder_column(r->builder, PCI_T_SAMPLES, "text", PCOL_STRING, 0, &r->text, err));
    return pcol_builder_set_str(r->builder, r->text, r->first_sample + r->samples - 1,
                                r->before.data, r->before.size, err);
}

/* What stands behind the last sample belongs to it; without any sample, to the source. */
static pcol_status set_last(struct reader *r, pcol_error *err)
{
    uint32_t column;
    if (r->pending.size && r->samples) {
        PCI_TRY(pci_strbuf_put(&r->before, r->pending.data, r->pending.size, err));
        r->before_odd = 1;
    } else if (r->pending.size) {
        PCI_TRY(
            pcol_builder_column(r->builder, PCI_T_SOURCES, "text", PCOL_STRING, 0, &column, err));
        return pcol_builder_set_str(r->builder, column, r->import->source, r->pending.data,
                                    r->pending.size, err);
    }
    return set_text(r, err);
}

/* ---- stacks ---- */

static pcol_status group_of(struct reader *r, const uint8_t *name, size_t size, uint32_t *group,
                            pcol_error *err)
{
    uint32_t string;
    PCI_TRY(pcol_builder_string(r->builder, (const char *)name, size, &string, err));
    if (string >= r->group_capacity) {
        size_t had = r->group_capacity;
        if (pci_grow((void **)&r->groups, &r->group_capacity, (size_t)string + 1,
                     sizeof *r->groups))
            return pci_fail_memory(err);
        memset(r->groups + had, 0, (r->group_capacity - had) * sizeof *r->groups);
    }
    if (!r->groups[string]) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group fresh = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        function.name = string;
        function.system_name = function.filename = PCOL_NONE;
        PCI_TRY(pcol_builder_function(r->builder, &function, &line.function, err));
        fresh.lines = &line;
        fresh.line_count = 1;
        fresh.mapping = PCOL_NONE;
        PCI_TRY(pcol_builder_group(r->builder, &fresh, &r->groups[string], err));
        r->groups[string]++;
    }
    *group = r->groups[string] - 1;
    return PCOL_OK;
}

static size_t in_common(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t same = 0;
    while (same + 8 <= size && !memcmp(a + same, b + same, 8))
        same += 8;
    while (same < size && a[same] == b[same])
        same++;
    return same;
}

/* The node of [text, size), and the levels for the line after. */
static pcol_status add_stack(struct reader *r, const uint8_t *text, size_t size, uint32_t *node,
                             pcol_error *err)
{
    size_t least = r->before_stack < size ? r->before_stack : size;
    size_t same = r->samples ? in_common((const uint8_t *)r->before.data, text, least) : 0;
    /* A frame is the same if its semicolon is, so the innermost never counts. */
    while (r->depth && r->levels[r->depth - 1].end >= same)
        r->depth--;
    size_t at = r->depth ? r->levels[r->depth - 1].end + 1 : 0;
    *node = r->depth ? r->levels[r->depth - 1].node : 0;
    if (!size)
        return PCOL_OK;
    for (;;) {
        const uint8_t *end = memchr(text + at, ';', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        uint32_t group;
        PCI_TRY(group_of(r, text + at, length, &group, err));
        PCI_TRY(pcol_builder_stack(r->builder, *node, group, node, err));
        if (!end)
            return PCOL_OK;
        if (pci_grow((void **)&r->levels, &r->level_capacity, r->depth + 1, sizeof *r->levels))
            return pci_fail_memory(err);
        r->levels[r->depth++] = (struct level){at + length, *node};
        at += length + 1;
    }
}

/* ---- samples ---- */

/* Does the count come back as the same bytes? */
static int same_count(const struct pci_folded_count *count, const uint8_t *text, size_t size)
{
    char printed[PCI_FOLDED_COUNT_SIZE];
    if (!count->is_double && (count->as.i64 > LARGEST || count->as.i64 < -LARGEST))
        return 0; /* as a double, perhaps not */
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
    size_t tail = line->size - parts->count;
    PCI_TRY(set_text(r, err));
    if (!r->samples)
        r->crlf = line->end == PCI_LINE_CRLF;
    int own_end = line->end == (r->crlf ? PCI_LINE_CRLF : PCI_LINE_LF);
    int same =
        parts->plain && own_end && same_count(&parts->value, line->text + parts->count, tail);
    sample.source = r->import->source;
    sample.thread = PCOL_NONE;
    PCI_TRY(add_stack(r, line->text, parts->stack, &sample.stack, err));
    PCI_TRY(add_count(r, parts->value, err));
    PCI_TRY(pcol_builder_sample(r->builder, &sample, NULL, err));
    r->samples++;
    /* The stack of the line stands first in `before`, so that the next line can be compared. */
    r->before.size = 0;
    r->before_stack = parts->stack;
    r->before_odd = !same || r->pending.size;
    if (r->pending.size) {
        PCI_TRY(pci_strbuf_put(&r->pending, line->text, line->whole, err));
        PCI_TRY(pci_strbuf_put(&r->before, r->pending.data, r->pending.size, err));
        r->before_stack = 0; /* it does not */
        r->depth = 0;
        r->pending.size = 0;
        return PCOL_OK;
    }
    return pci_strbuf_put(&r->before, line->text, line->whole, err);
}

static pcol_status read_line(struct reader *r, struct pci_line *line, pcol_error *err)
{
    struct pci_folded_parts parts;
    size_t skipped = 0;
    if (line->number == 1 && line->size >= 3 && !memcmp(line->text, "\xef\xbb\xbf", 3)) {
        PCI_TRY(pci_strbuf_put(&r->pending, line->text, 3, err));
        skipped = 3;
        line->text += 3, line->size -= 3, line->whole -= 3;
    }
    if (is_empty(line->text, line->size) || is_comment(line->text, line->size))
        return pci_strbuf_put(&r->pending, line->text, line->whole, err);
    if (pci_folded_split(line->text, line->size, &parts))
        return add_line(r, line, &parts, err);
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, line->number, parts.fault + skipped + 1, "%s",
                             parts.what);
    if (!r->tolerated++)
        r->first_tolerated = line->number;
    return pci_strbuf_put(&r->pending, line->text, line->whole, err);
}

/* ---- the whole ---- */

/* The counts become a column. */
static pcol_status set_counts(struct reader *r, pcol_error *err)
{
    uint32_t type;
    uint64_t piece[256];
    PCI_TRY(pcol_builder_sample_type(r->builder, "samples", "count",
                                     r->is_double ? PCOL_SAMPLE_TYPE_DOUBLE : 0, 0, &type, err));
    struct pci_column_buffer *column = r->builder->columns[r->builder->types[type].column];
    for (uint64_t at = 0; at < r->samples; at += 256) {
        size_t count = r->samples - at < 256 ? (size_t)(r->samples - at) : 256;
        PCI_TRY(pci_spill_read(&r->counts, at * 8, piece, count * 8, err));
        for (size_t i = 0; i < count; i++) {
            int64_t value;
            memcpy(&value, &piece[i], sizeof value);
            if (r->is_double && at + i < r->integers) {
                double number = (double)value;
                memcpy(&value, &number, sizeof value);
            }
            PCI_TRY(pci_column_buffer_set(column, r->first_sample + at + i, value, err));
        }
    }
    return PCOL_OK;
}

static pcol_status read_all(struct reader *r, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_line line;
    uint32_t column;
    int got;
    PCI_TRY(pci_import_source(r->import, &source, err));
    for (;;) {
        PCI_TRY(pci_lines_next(&r->lines, &line, &got, err));
        if (!got)
            break;
        if (line.number == 1 && line.size >= 2 &&
            (!memcmp(line.text, "\xff\xfe", 2) || !memcmp(line.text, "\xfe\xff", 2)))
            return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1,
                                 "text in UTF-16: only UTF-8 and what it contains is read");
        PCI_TRY(read_line(r, &line, err));
    }
    PCI_TRY(set_last(r, err));
    PCI_TRY(set_counts(r, err));
    if (!r->crlf)
        return PCOL_OK;
    PCI_TRY(pcol_builder_column(r->builder, PCI_T_SOURCES, "crlf", PCOL_BOOL, 0, &column, err));
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
    if (status == PCOL_OK && r.tolerated)
        pci_import_message(
            import, "lines without a count kept as text: %" PRIu64 ", the first is line %" PRIu64,
            r.tolerated, r.first_tolerated);
    pci_spill_clear(&r.counts);
    pci_strbuf_clear(&r.before);
    pci_strbuf_clear(&r.pending);
    pci_free(r.levels);
    pci_free(r.groups);
    return status;
}
