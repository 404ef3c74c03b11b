/*
 * write.c - JSON writer and string escaping
 *
 * Output is buffered in 64 KiB. Punctuation depends on three flags: the container has an element, a
 * key waits for its value, a line feed is pending. As a closed container is an element itself, no
 * stack is needed. Tests: tests/unit/test_json.c.
 */
#include "json/json.h"

#include "util/alloc.h"
#include "json/number.h"
#include "json/utf8.h"

#include <math.h>
#include <string.h>

#define BUFFER_SIZE 65536u

pcol_status pci_json_writer_open(struct pci_json_writer *w, pcol_sink sink, unsigned flags,
                                 pcol_error *err)
{
    memset(w, 0, sizeof *w);
    w->sink = sink;
    w->flags = flags;
    w->buffer = pci_malloc(BUFFER_SIZE, 1);
    w->status = w->buffer ? PCOL_OK : pci_fail_memory(err);
    return w->status;
}

static void flush(struct pci_json_writer *w, pcol_error *err)
{
    if (w->status == PCOL_OK && w->size)
        w->status = pci_sink_write(w->sink, w->buffer, w->size, err);
    w->size = 0;
}

static void put(struct pci_json_writer *w, const char *data, size_t size, pcol_error *err)
{
    while (w->status == PCOL_OK && size) {
        if (w->size == BUFFER_SIZE)
            flush(w, err);
        size_t part = BUFFER_SIZE - w->size < size ? BUFFER_SIZE - w->size : size;
        memcpy(w->buffer + w->size, data, part);
        w->size += part;
        data += part;
        size -= part;
    }
}

/* Write the comma and line feed before an element. */
static void begin_element(struct pci_json_writer *w, pcol_error *err)
{
    if (w->keyed) {
        w->keyed = 0;
        return;
    }
    if (w->comma)
        put(w, ",", 1, err);
    if (w->newline)
        put(w, "\n", 1, err);
    w->newline = 0;
}

void pci_json_put_token(struct pci_json_writer *w, const struct pci_json *json, pcol_error *err)
{
    switch (json->type) {
    case PCI_JSON_OBJECT:
        pci_json_put_begin(w, '{', err);
        break;
    case PCI_JSON_OBJECT_END:
        pci_json_put_end(w, '}', err);
        break;
    case PCI_JSON_ARRAY:
        pci_json_put_begin(w, '[', err);
        break;
    case PCI_JSON_ARRAY_END:
        pci_json_put_end(w, ']', err);
        break;
    case PCI_JSON_KEY:
        pci_json_put_key_bytes(w, json->text, err);
        break;
    case PCI_JSON_STRING:
        pci_json_put_string(w, json->text, err);
        break;
    case PCI_JSON_TRUE:
    case PCI_JSON_FALSE:
    case PCI_JSON_NULL:
    case PCI_JSON_INT:
    case PCI_JSON_BIG:
    case PCI_JSON_DOUBLE:
    case PCI_JSON_END:
        pci_json_put_raw(w, json->text.data, json->text.size, err);
        break;
    }
}

void pci_json_put_newline(struct pci_json_writer *w)
{
    w->newline = 1;
}

void pci_json_put_begin(struct pci_json_writer *w, char bracket, pcol_error *err)
{
    begin_element(w, err);
    put(w, &bracket, 1, err);
    w->depth++;
    w->comma = 0;
}

void pci_json_put_end(struct pci_json_writer *w, char bracket, pcol_error *err)
{
    if (w->newline)
        put(w, "\n", 1, err);
    w->newline = 0;
    put(w, &bracket, 1, err);
    w->depth--;
    w->comma = 1;
}

static void put_unicode_escape(struct pci_json_writer *w, unsigned unit, pcol_error *err)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
    put(w, text, sizeof text, err);
}

static void put_escape(struct pci_json_writer *w, uint8_t c, pcol_error *err)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *simple = memchr(from, c, sizeof from - 1);
    if (!simple) {
        put_unicode_escape(w, c, err);
        return;
    }
    char text[2] = {'\\', to[simple - from]};
    put(w, text, 2, err);
}

static void put_invalid_byte(struct pci_json_writer *w, uint8_t c, pcol_error *err)
{
    w->replaced = 1;
    if (w->flags & PCI_JSON_REPLACE)
        put(w, "\xef\xbf\xbd", 3, err);
    else
        put_unicode_escape(w, 0xdc00u + c, err);
}

static void put_escaped(struct pci_json_writer *w, const char *text, size_t size, pcol_error *err)
{
    const uint8_t *data = (const uint8_t *)text;
    size_t plain = 0, i = 0;
    if (w->status != PCOL_OK) /* a text may be long */
        return;
    while (i < size) {
        uint8_t c = data[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t step = pci_utf8_size(data + i, size - i, w->flags & PCI_JSON_WTF8);
        int surrogate = step == 3 && c == 0xed && data[i + 1] >= 0xa0;
        if (step > 1 && !surrogate) {
            i += step;
            continue;
        }
        put(w, text + plain, i - plain, err);
        if (surrogate)
            put_unicode_escape(w, 0xd000u | (data[i + 1] & 0x3fu) << 6 | (data[i + 2] & 0x3fu),
                               err);
        else if (step)
            put_escape(w, c, err);
        else
            put_invalid_byte(w, c, err);
        i += step ? step : 1;
        plain = i;
    }
    if (size > plain)
        put(w, text + plain, size - plain, err);
}

static void put_quoted(struct pci_json_writer *w, const char *text, size_t size, pcol_error *err)
{
    put(w, "\"", 1, err);
    put_escaped(w, text, size, err);
    put(w, "\"", 1, err);
}

void pci_json_put_key_bytes(struct pci_json_writer *w, pcol_str key, pcol_error *err)
{
    begin_element(w, err);
    put_quoted(w, key.data, key.size, err);
    put(w, ":", 1, err);
    w->comma = 0;
    w->keyed = 1;
}

void pci_json_put_key(struct pci_json_writer *w, const char *key, pcol_error *err)
{
    pci_json_put_key_bytes(w, (pcol_str){key, strlen(key)}, err);
}

void pci_json_put_string(struct pci_json_writer *w, pcol_str text, pcol_error *err)
{
    begin_element(w, err);
    put_quoted(w, text.data, text.size, err);
    w->comma = 1;
}

void pci_json_put_prefixed(struct pci_json_writer *w, const char *prefix, pcol_str text,
                           pcol_error *err)
{
    begin_element(w, err);
    put(w, "\"", 1, err);
    put_escaped(w, prefix, strlen(prefix), err);
    put_escaped(w, text.data, text.size, err);
    put(w, "\"", 1, err);
    w->comma = 1;
}

void pci_json_put_raw(struct pci_json_writer *w, const char *text, size_t size, pcol_error *err)
{
    begin_element(w, err);
    put(w, text, size, err);
    w->comma = 1;
}

void pci_json_put_int(struct pci_json_writer *w, int64_t value, pcol_error *err)
{
    char text[24], *end = text + sizeof text, *p = end;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--p = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (value < 0)
        *--p = '-';
    pci_json_put_raw(w, p, (size_t)(end - p), err);
}

void pci_json_put_double(struct pci_json_writer *w, double value, pcol_error *err)
{
    char text[PCI_NUMBER_SIZE + 2];
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
        if (w->flags & PCI_JSON_BARE_NONFINITE)
            pci_json_put_raw(w, word, strlen(word), err);
        else
            pci_json_put_string(w, (pcol_str){word, strlen(word)}, err);
        return;
    }
    size_t size = pci_number_format(value, text);
    if (w->flags & PCI_JSON_POINT && !memchr(text, '.', size) && !memchr(text, 'e', size)) {
        text[size++] = '.';
        text[size++] = '0';
    }
    pci_json_put_raw(w, text, size, err);
}

pcol_status pci_json_writer_finish(struct pci_json_writer *w, pcol_error *err)
{
    put(w, "\n", 1, err);
    flush(w, err);
    return w->status;
}

void pci_json_writer_close(struct pci_json_writer *w)
{
    pci_free(w->buffer);
    memset(w, 0, sizeof *w);
}
