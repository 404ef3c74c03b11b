/*
 * cli_rust_name.c - names of Rust's older form, after the demangler of C++
 *
 * Rust mangles "<A as B>::f" like a C++ name of the components "_$LT$A$u20$as$u20$B$GT$" and "f"
 * and a hash, "h" and 16 hexadecimal digits. The escapes are decoded; the hash stays, as it tells
 * instances apart. Tests: tests/cli/query.test.
 */
#include "cli.h"

#include <string.h>

static int has_hash(const char *text, size_t size)
{
    const char *hash = text + size - 19; /* "::h" and 16 digits */

    return size > 19 && memcmp(hash, "::h", 3) == 0 && strspn(hash + 3, "0123456789abcdef") == 16;
}

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a' + 10);
}

/* The character of "$u7b$", printable ASCII; 0: another one. */
static char coded_character(const char *escape, size_t size)
{
    unsigned code;

    if (size != 5 || escape[1] != 'u' || strspn(escape + 2, "0123456789abcdef") < 2)
        return 0;
    code = hex_value(escape[2]) << 4 | hex_value(escape[3]);
    return code >= 0x20 && code < 0x7f ? (char)code : 0;
}

/* The character of an escape of `size` bytes; 0: unknown. */
static char decode_escape(const char *escape, size_t size)
{
    static const char escapes[][5] = {"$SP$", "$BP$", "$RF$", "$LT$", "$GT$", "$LP$", "$RP$"};
    static const char characters[] = "@*&<>()";

    if (size == 3 && escape[1] == 'C')
        return ',';
    for (size_t i = 0; size == 4 && i < sizeof escapes / sizeof *escapes; i++)
        if (memcmp(escape, escapes[i], 4) == 0)
            return characters[i];
    return coded_character(escape, size);
}

size_t cli_rust_name(char *text, size_t size)
{
    char *to = text;
    int is_start = 1, is_raw = 0; /* of a component; after an unknown escape in it */

    if (!has_hash(text, size))
        return size;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *close =
            *at == '$' && !is_raw ? memchr(at + 1, '$', (size_t)(end - at - 1)) : NULL;
        char decoded = close != NULL ? decode_escape(at, (size_t)(close - at) + 1) : 0;
        if (is_start && at[0] == '_' && at[1] == '$') {
            at++; /* before an escape, as components begin with a letter or an underscore */
        } else if (decoded != 0) {
            *to++ = decoded;
            at = close + 1;
        } else if (at[0] == '.' && at[1] == '.' && !is_raw) {
            *to++ = ':';
            *to++ = ':';
            at += 2;
        } else {
            is_start = at[0] == ':';
            is_raw = (is_raw || at[0] == '$') && !is_start;
            *to++ = *at++;
            continue;
        }
        is_start = 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}
