/*
 * cli_text.c - characters that are safe on a terminal, and their widths
 *
 * On a terminal whose charset is not UTF-8 all characters except ASCII are escaped: it would show
 * other characters, or interpret bytes of a sequence as control characters. Files and pipes are
 * UTF-8 in every locale.
 */
#include "cli.h"
#include "cli_lock.h"
#include "cli_widths.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int utf8;

/* Uses its own locale object: the locale of the program remains "C", so that numbers do not
 * vary. */
static void ask_locale(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

    if (locale == (locale_t)0)
        return;
    const char *charset = nl_langinfo_l(CODESET, locale);
    utf8 = strcasecmp(charset, "UTF-8") == 0 || strcasecmp(charset, "UTF8") == 0;
    freelocale(locale);
}

int cli_is_ascii(int fd)
{
    static cli_once once = CLI_ONCE_INITIALIZER;

    if (!isatty(fd))
        return 0;
    cli_call_once(&once, ask_locale);
    return !utf8;
}

const struct cli_signs *cli_signs(int is_ascii)
{
    static const struct cli_signs ascii = {"| ", "+ ", "` ", ", ", "..."},
                                  drawn = {"\xe2\x94\x82 ", "\xe2\x94\x9c ", "\xe2\x94\x94 ",
                                           "\xe2\x94\x8c ", "\xe2\x80\xa6"};

    return is_ascii ? &ascii : &drawn;
}

/* Binary search for the run of the character. */
static size_t width_of(uint32_t code)
{
    size_t low = 0, high = sizeof character_widths / sizeof *character_widths;

    if (code < 0x300)
        return 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (character_widths[middle] / 4 <= code)
            low = middle;
        else
            high = middle;
    }
    return character_widths[low] % 4;
}

size_t cli_character(const char *text, size_t size, size_t *columns)
{
    uint32_t code = 0;
    size_t length = cli_utf8(text, size, &code);

    *columns = length > 0 ? width_of(code) : 1;
    return length > 0 ? length : 1;
}

size_t cli_utf8(const char *text, size_t size, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length;
    uint32_t value, least;

    if (size == 0)
        return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2;
        value = s[0] & 0x1fu;
        least = 0x80;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        length = 3;
        value = s[0] & 0x0fu;
        least = 0x800;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4;
        value = s[0] & 0x07u;
        least = 0x10000;
    } else {
        return 0;
    }
    if (size < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0u) != 0x80u)
            return 0;
        value = value << 6 | (s[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

int cli_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Printable ASCII characters at the beginning of a text. */
static size_t printable(const char *text, size_t size)
{
    size_t i = 0;

    while (i < size && text[i] >= 0x20 && text[i] < 0x7f)
        i++;
    return i;
}

size_t cli_escape(const char *text, size_t size, int is_ascii, char *buffer, size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    size_t width = 0;
    char *to = buffer;

    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t length = printable(text + i, size - i);

        if (length > 0) {
            memcpy(to, text + i, length);
            to += length;
            i += length;
            width += length;
            continue;
        }
        length = cli_utf8(text + i, size - i, &code);
        if (length > 0 && !cli_unsafe(code) && (code < 0x80 || !is_ascii)) {
            memcpy(to, text + i, length);
            to += length;
            i += length;
            width += width_of(code);
            continue;
        }
        for (size_t end = i + (length > 0 ? length : 1); i < end; i++) {
            unsigned char byte = (unsigned char)text[i];
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[byte >> 4];
            *to++ = hex[byte & 15];
            width += 4;
        }
    }
    *used = (size_t)(to - buffer);
    return width;
}

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

typedef unsigned char block __attribute__((vector_size(16)));

/* Whether one of 16 bytes matches. */
static inline int sought_in_block(const char *text, char a, char b, int ascii)
{
    block bytes, hit;
    uint64_t halves[2];

    memcpy(&bytes, text, sizeof bytes);
    hit = (block)(bytes < 0x20) | (block)(bytes == (unsigned char)a) |
          (block)(bytes == (unsigned char)b);
    if (ascii)
        hit |= (block)(bytes >= 0x7f);
    memcpy(halves, &hit, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* Whether one of eight bytes matches. */
static inline int sought(const char *text, uint64_t as, uint64_t bs, int ascii)
{
    uint64_t word, x, y, hit;

    memcpy(&word, text, 8);
    x = word ^ as;
    y = word ^ bs;
    /* Each term has the high bit of a matching byte. No match is missed, but the byte after a
     * match may be marked too. */
    hit = ((word - ONES * 0x20) & ~word) | ((x - ONES) & ~x) | ((y - ONES) & ~y);
    if (ascii)
        hit |= word | (word + ONES); /* 0x7f + 1 has the high bit */
    return (hit & HIGHS) != 0;
}

size_t cli_find_special(const char *text, size_t at, size_t size, char a, char b, int ascii)
{
    const uint64_t as = ONES * (unsigned char)a, bs = ONES * (unsigned char)b;
    const size_t first = at;

    while (size - at >= 16 && !sought_in_block(text + at, a, b, ascii))
        at += 16;
    if (at < size && size - at < 16 && size - first >= 16 &&
        !sought_in_block(text + size - 16, a, b, ascii))
        return size;
    while (size - at >= 8 && !sought(text + at, as, bs, ascii))
        at += 8;
    /* The last bytes, overlapping with ones already tested. */
    if (at < size && size - at < 8 && size - first >= 8 && !sought(text + size - 8, as, bs, ascii))
        return size;
    while (at < size && (unsigned char)text[at] >= 0x20 && text[at] != a && text[at] != b &&
           (!ascii || (unsigned char)text[at] < 0x7f))
        at++;
    return at;
}
