/*
 * answer_names.c - names in requests: the page sends them as it got them, with \xNN for bytes that
 * bytes_utf8() does not show
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

int escaped_byte(const char *text, size_t size)
{
    int high = size >= 4 && memcmp(text, "\\x", 2) == 0 ? hex_digit(text[2]) : -1;
    int low = high >= 0 ? hex_digit(text[3]) : -1;
    int byte = 16 * high + low;

    return low >= 0 && (byte < 0x20 || byte >= 0x7f || byte == '\\') ? byte : -1;
}

static void add_unescaped(struct bytes *b, const char *shown, size_t size)
{
    for (size_t at = 0; at < size;) {
        int byte = escaped_byte(shown + at, size - at);
        char plain = byte >= 0 ? (char)byte : shown[at];
        bytes_add(b, &plain, 1);
        at += byte >= 0 ? 4 : 1;
    }
}

pcol_status answer_name(struct bytes *b, const char *shown, pcol_str *name, pcol_error *err)
{
    b->used = 0;
    b->failed = PCOL_OK; /* of an earlier name */
    add_unescaped(b, shown, strlen(shown));
    *name = (pcol_str){"", b->used};
    bytes_add(b, "", 1);
    if (b->failed != PCOL_OK)
        return pcol_error_set(err, b->failed, 0, NULL);
    name->data = (const char *)b->data;
    return PCOL_OK;
}

pcol_status answer_split_names(struct bytes *b, const char *shown, pcol_str **names, size_t *count,
                               pcol_error *err)
{
    size_t lines = 0, start = 0;

    for (const char *at = shown; *at != '\0'; at++)
        lines += *at == '\n';
    *count = 0;
    *names = malloc((lines + 1) * sizeof **names);
    if (*names == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (; *count < lines; shown = strchr(shown, '\n') + 1) {
        size_t before = b->used;
        add_unescaped(b, shown, strcspn(shown, "\n"));
        (*names)[(*count)++].size = b->used - before;
    }
    if (b->failed != PCOL_OK)
        return pcol_error_set(err, b->failed, 0, NULL);
    for (size_t i = 0; i < lines; start += (*names)[i++].size)
        (*names)[i].data = (const char *)b->data + start;
    return PCOL_OK;
}

pcol_status answer_check_word(pcol_str text, pcol_error *err)
{
    if (text.size > 0 && memchr(text.data, '\0', text.size) != NULL)
        return pcol_error_set(err, PCOL_E_UNSUPPORTED, 0, "names with a byte 0 have no rows");
    return PCOL_OK;
}
