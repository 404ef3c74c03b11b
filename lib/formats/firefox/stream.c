/*
 * stream.c - token stream across slabs, errors with positions, copies of values as text
 *
 * Readers of nested JSON slabs form a stack (readers[0..level]); the end of one continues with the
 * outer one. Every reference to a slab is charged to the import budget, since a small file can
 * refer to the same slab any number of times. Tests: tests/roundtrip/firefox, tests/hostile/bombs.
 */
#include "formats/firefox/stream.h"

#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/import_budget.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef pci_ff_fail
#undef pci_ff_fail_at

/* Strict: numbers beyond a double and invalid UTF-8 are rejected, since they could not be
 * restored. */
static const struct pci_json_options json_options = {PCI_JSON_SOUND, 0};

pcol_status pci_ff_stream_memory(struct pci_ff_stream *stream, const char *text, size_t size,
                                 pcol_error *err)
{
    struct pci_ff_reader *r = &stream->readers[0];
    memset(stream, 0, sizeof *stream);
    PCI_TRY(pci_input_open_memory(&r->input, text, size, "", NULL, err));
    stream->json = &r->json;
    pcol_status status = pci_json_open(&r->json, &r->input, &json_options, err);
    if (status != PCOL_OK)
        pci_input_close(&r->input);
    return status;
}

/* Push a JSON slab: its first token replaces the current token. */
static pcol_status enter_slab(struct pci_ff_stream *stream, const struct pci_slab *slab,
                              pcol_error *err)
{
    unsigned level = stream->json ? stream->level + 1 : 0;
    if (level >= PCI_FF_NESTING)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, slab->offset,
                                "JSON slabs nested deeper than %d", PCI_FF_NESTING);
    struct pci_ff_reader *r = &stream->readers[level];
    PCI_TRY(pci_slab_open(stream->slabs, slab, &r->input, &r->offset, err));
    r->end = (uint64_t)slab->offset + slab->size;
    pcol_status status = pci_json_open(&r->json, &r->input, &json_options, err);
    if (status != PCOL_OK) {
        pci_input_close(&r->input);
        return status;
    }
    stream->level = level;
    stream->json = &r->json;
    return PCOL_OK;
}

pcol_status pci_ff_stream_open(struct pci_ff_stream *stream, struct pci_input *input,
                               struct pci_slabs *slabs, pcol_error *err)
{
    memset(stream, 0, sizeof *stream);
    stream->slabs = slabs;
    if (slabs)
        return enter_slab(stream, &slabs->slabs[slabs->root], err);
    stream->json = &stream->readers[0].json;
    return pci_json_open(stream->json, input, &json_options, err);
}

void pci_ff_stream_close(struct pci_ff_stream *stream)
{
    if (!stream->json)
        return;
    for (unsigned i = 0; i <= stream->level; i++) {
        pci_json_close(&stream->readers[i].json);
        if (stream->readers[i].input.state)
            pci_input_close(&stream->readers[i].input);
    }
    memset(stream, 0, sizeof *stream);
}

static uint32_t depth_of(const struct pci_ff_stream *stream)
{
    uint32_t depth = 0;
    for (unsigned i = 0; i <= stream->level; i++)
        depth += stream->readers[i].json.depth;
    return depth;
}

uint64_t pci_ff_text_end(const struct pci_ff_stream *stream)
{
    return stream->slabs ? stream->readers[stream->level].end : UINT64_MAX;
}

int pci_ff_text_is(const struct pci_ff_stream *stream, const char *text)
{
    return pci_json_is(stream->json, text);
}

/* ---- positions */

struct pci_ff_position pci_ff_get_position(const struct pci_ff_stream *stream)
{
    const struct pci_ff_reader *r = &stream->readers[stream->level];
    struct pci_ff_position position = {stream->json->line, stream->json->column, 0};
    if (stream->slabs) {
        position.line = 0;
        position.offset = stream->type == PCI_FF_SLAB && stream->slab
                              ? stream->slab->offset
                              : r->offset + stream->json->offset;
    }
    return position;
}

pcol_status pci_ff_fail_at(const struct pci_ff_position *position, pcol_error *err,
                           const char *format, ...)
{
    char text[280];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (position->line)
        return pci_fail_text(err, PCOL_E_SYNTAX, position->line, position->column, "%s", text);
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, position->offset, "%s", text);
}

pcol_status pci_ff_fail(const struct pci_ff_stream *stream, pcol_error *err, const char *format,
                        ...)
{
    char text[280];
    va_list arguments;
    struct pci_ff_position position = pci_ff_get_position(stream);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_ff_fail_at(&position, err, "%s", text);
}

/* The JSON reader counts lines; in a container the offset is more useful. */
static pcol_status locate_error(struct pci_ff_stream *stream, pcol_status status, pcol_error *err)
{
    const struct pci_ff_reader *r = &stream->readers[stream->level];
    if (status != PCOL_OK && err && stream->slabs && err->line) {
        err->line = err->text_column = 0;
        err->offset = r->offset + r->json.input->offset + r->json.at;
    }
    return status;
}

pcol_status pci_ff_require_type(const struct pci_ff_stream *stream, int type, const char *what,
                                pcol_error *err)
{
    if (stream->type == type)
        return PCOL_OK;
    return pci_ff_fail(stream, err, "%s must be %s", what,
                       type == PCI_JSON_OBJECT ? "an object" : "an array");
}

/* ---- tokens */

static size_t skip_blanks(const uint8_t *data, size_t at, size_t size)
{
    while (at < size &&
           (data[at] == ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return at;
}

/* Whether the brace just read begins {"$s": N}; -1: the window ends too early to decide. */
static int match_reference(const struct pci_json *json)
{
    const uint8_t *data = json->input->data;
    size_t size = json->input->size, at = skip_blanks(data, json->at, size);
    size_t key = size - at < 4 ? size - at : 4;
    if (memcmp(data + at, "\"$s\"", key) != 0)
        return 0;
    at = skip_blanks(data, at + key, size);
    if (at < size && data[at] != ':')
        return 0;
    at = skip_blanks(data, at < size ? at + 1 : at, size);
    size_t begin = at;
    while (at < size && data[at] >= '0' && data[at] <= '9')
        at++;
    if (at == begin && at < size)
        return 0;
    at = skip_blanks(data, at, size);
    return at < size ? data[at] == '}' : -1;
}

static pcol_status is_reference(struct pci_json *json, int *is_ref, pcol_error *err)
{
    while ((*is_ref = match_reference(json)) < 0 && !json->input->end) {
        size_t consumed = json->at;
        json->at = json->start = 0;
        PCI_TRY(pci_input_more(json->input, consumed, err));
    }
    *is_ref = *is_ref > 0;
    return PCOL_OK;
}

#define OPENING_BYTES 1024u /* of expanded input: charge for opening a JSON slab */

/* A slab is read once for each reference to it. */
static pcol_status charge_slab(const struct pci_slab *slab, pcol_error *err)
{
    uint64_t bytes = slab->type == PCI_SLAB_JSON ? OPENING_BYTES + (uint64_t)slab->size
                                                 : (uint64_t)pci_slab_count(slab) * sizeof(int64_t);
    return pci_budget_charge_expansion(pci_thread_budget, bytes, err);
}

/* Replace the reference {"$s": N} by slab N. *again: the next token is the first of a JSON slab. */
static pcol_status follow_reference(struct pci_ff_stream *stream, int *again, pcol_error *err)
{
    struct pci_json *json = stream->json;
    struct pci_ff_position position = pci_ff_get_position(stream);
    PCI_TRY(pci_json_next(json, err)); /* key */
    PCI_TRY(pci_json_next(json, err)); /* number */
    int64_t number = json->type == PCI_JSON_INT ? json->integer : -1;
    PCI_TRY(pci_json_next(json, err)); /* brace */
    if (number < 0 || number >= stream->slabs->count)
        return pci_ff_fail_at(&position, err, "reference to slab %lld, there are %u slabs",
                              (long long)number, (unsigned)stream->slabs->count);
    const struct pci_slab *slab = &stream->slabs->slabs[number];
    PCI_TRY(charge_slab(slab, err));
    *again = slab->type == PCI_SLAB_JSON;
    if (*again)
        return enter_slab(stream, slab, err);
    stream->slab = slab;
    stream->type = PCI_FF_SLAB;
    return PCOL_OK;
}

pcol_status pci_ff_next(struct pci_ff_stream *stream, pcol_error *err)
{
    for (;;) {
        pcol_status status = pci_json_next(stream->json, err);
        if (status != PCOL_OK)
            return locate_error(stream, status, err);
        stream->type = (int)stream->json->type;
        if (stream->type == PCI_JSON_END && stream->level) {
            struct pci_ff_reader *r = &stream->readers[stream->level--];
            pci_json_close(&r->json);
            pci_input_close(&r->input);
            stream->json = &stream->readers[stream->level].json;
            continue;
        }
        int is_ref = 0, again = 0;
        if (stream->slabs && stream->type == PCI_JSON_OBJECT)
            PCI_TRY(is_reference(stream->json, &is_ref, err));
        if (!is_ref)
            return PCOL_OK;
        PCI_TRY(locate_error(stream, follow_reference(stream, &again, err), err));
        if (!again)
            return PCOL_OK;
    }
}

pcol_status pci_ff_member(struct pci_ff_stream *stream, int *more, pcol_error *err)
{
    *more = 0;
    PCI_TRY(pci_ff_next(stream, err));
    *more = stream->type == PCI_JSON_KEY;
    return PCOL_OK;
}

pcol_status pci_ff_element(struct pci_ff_stream *stream, int *more, pcol_error *err)
{
    *more = 0;
    PCI_TRY(pci_ff_next(stream, err));
    *more = stream->type != PCI_JSON_ARRAY_END;
    return PCOL_OK;
}

pcol_status pci_ff_skip(struct pci_ff_stream *stream, pcol_error *err)
{
    if (stream->type != PCI_JSON_OBJECT && stream->type != PCI_JSON_ARRAY)
        return PCOL_OK;
    uint32_t outer = depth_of(stream) - 1;
    do
        PCI_TRY(pci_ff_next(stream, err));
    while (depth_of(stream) > outer);
    return PCOL_OK;
}

/* ---- copies */

static void copy_number(struct pci_json_writer *w, int64_t bits, int real, pcol_error *err)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (!real)
        pci_json_put_int(w, bits, err);
    else if (number - number != 0) /* JSON cannot represent it; the front end reads null */
        pci_json_put_raw(w, "null", 4, err);
    else
        pci_json_put_double(w, number, err);
}

static pcol_status copy_slab(struct pci_ff_stream *stream, struct pci_json_writer *w,
                             pcol_error *err)
{
    const struct pci_slab *slab = stream->slab;
    size_t count = pci_slab_count(slab);
    int64_t values[64];
    uint8_t reals[64];
    pci_json_put_begin(w, '[', err);
    for (size_t i = 0; i < count; i += 64) {
        size_t n = count - i < 64 ? count - i : 64;
        int all;
        PCI_TRY(pci_slab_numbers(stream->slabs, slab, i, n, values, reals, &all, err));
        for (size_t k = 0; k < n; k++)
            copy_number(w, values[k], all < 0 ? reals[k] : all, err);
    }
    pci_json_put_end(w, ']', err);
    return PCOL_OK;
}

static pcol_status copy_token(struct pci_ff_stream *stream, struct pci_json_writer *w,
                              pcol_error *err)
{
    if (stream->type == PCI_FF_SLAB)
        return copy_slab(stream, w, err);
    pci_json_put_token(w, stream->json, err);
    return PCOL_OK;
}

/* Write the value that begins with the current token as JSON text; stop at its last token. */
static pcol_status copy_value(struct pci_ff_stream *stream, struct pci_json_writer *w,
                              pcol_error *err)
{
    int open = stream->type == PCI_JSON_OBJECT || stream->type == PCI_JSON_ARRAY;
    uint32_t outer = depth_of(stream) - (uint32_t)open;
    for (;;) {
        PCI_TRY(copy_token(stream, w, err));
        if (depth_of(stream) <= outer)
            return w->status;
        PCI_TRY(pci_ff_next(stream, err));
    }
}

static pcol_status append_text(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_ff_text *text = context;
    PCI_TRY(PCI_GROW(text->data, text->capacity, text->size + size, err));
    memcpy(text->data + text->size, data, size);
    text->size += size;
    return PCOL_OK;
}

static pcol_sink text_sink(struct pci_ff_text *text)
{
    return (pcol_sink){append_text, text};
}

pcol_status pci_ff_capture(struct pci_ff_stream *stream, struct pci_ff_text *text, pcol_error *err)
{
    struct pci_json_writer w;
    PCI_TRY(pci_json_writer_open(&w, text_sink(text), PCI_JSON_WTF8, err));
    pcol_status status = copy_value(stream, &w, err);
    PCI_THEN(status, pci_json_writer_finish(&w, err));
    pci_json_writer_close(&w);
    if (status == PCOL_OK)
        text->size--; /* the final line feed */
    return status;
}
