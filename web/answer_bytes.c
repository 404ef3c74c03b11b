/*
 * answer_bytes.c - growing buffers and JSON text of replies
 */
#include "answer_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bytes_extend(struct bytes *b, size_t size)
{
    if (size > MOST_REPLY - b->used)
        b->failed = PCOL_E_LIMIT;
    if (b->failed != PCOL_OK)
        return NULL;
    if (size > b->capacity - b->used) {
        size_t capacity = b->capacity + b->capacity / 2 + size + 64;
        uint8_t *data = capacity > b->used ? realloc(b->data, capacity) : NULL;
        if (data == NULL) {
            b->failed = PCOL_E_NO_MEMORY;
            return NULL;
        }
        b->data = data;
        b->capacity = capacity;
    }
    b->used += size;
    return b->data + b->used - size;
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
    void *place = size > 0 ? bytes_extend(b, size) : NULL;

    if (place != NULL)
        memcpy(place, data, size);
}

void bytes_text(struct bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

void bytes_integer(struct bytes *b, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    bytes_text(b, text);
}

void bytes_u32(struct bytes *b, uint32_t value)
{
    bytes_add(b, &value, sizeof value);
}

void bytes_f64(struct bytes *b, double value)
{
    bytes_add(b, &value, sizeof value);
}

/* Length of the UTF-8 sequence at text[0..size), 0 if there is none. */
static size_t sequence(const unsigned char *text, size_t size)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;

    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void bytes_utf8(struct bytes *b, pcol_str text)
{
    const unsigned char *data = (const unsigned char *)text.data;
    char escaped[8];
    size_t length;

    for (size_t at = 0; at < text.size && b->failed == PCOL_OK; at += length) {
        length = sequence(data + at, text.size - at);
        if (length > 0 && data[at] >= 0x20 && data[at] != 0x7f &&
            escaped_byte(text.data + at, text.size - at) < 0) {
            bytes_add(b, data + at, length);
            continue;
        }
        length = 1;
        snprintf(escaped, sizeof escaped, "\\x%02x", data[at]);
        bytes_text(b, escaped);
    }
}

void bytes_json(struct bytes *b, pcol_str text)
{
    struct bytes plain = {0};

    if (b->failed == PCOL_OK)
        bytes_utf8(&plain, text);
    b->failed = plain.failed != PCOL_OK ? plain.failed : b->failed;
    bytes_text(b, "\"");
    for (size_t i = 0; i < plain.used; i++) {
        if (plain.data[i] == '"' || plain.data[i] == '\\')
            bytes_text(b, "\\");
        bytes_add(b, plain.data + i, 1);
    }
    bytes_text(b, "\"");
    free(plain.data);
}

void bytes_comma(struct bytes *b)
{
    if (b->used > 0 && strchr("{[:,", b->data[b->used - 1]) == NULL)
        bytes_text(b, ",");
}

void bytes_key(struct bytes *b, const char *key)
{
    bytes_comma(b);
    bytes_text(b, "\"");
    bytes_text(b, key);
    bytes_text(b, "\":");
}

void bytes_member(struct bytes *b, const char *key, int64_t value)
{
    bytes_key(b, key);
    bytes_integer(b, value);
}

void bytes_member_text(struct bytes *b, const char *key, pcol_str text)
{
    bytes_key(b, key);
    bytes_json(b, text);
}

void bytes_member_amount(struct bytes *b, const char *key, pcol_amount amount, int is_double)
{
    char text[40];

    bytes_key(b, key);
    if (is_double)
        snprintf(text, sizeof text, "\"%.17g\"", amount.f64);
    else
        snprintf(text, sizeof text, "\"%" PRId64 "\"", amount.i64);
    bytes_text(b, text);
}
