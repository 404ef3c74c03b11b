/*
 * svg.c - text and numbers in SVG (svg.h)
 */
#include "query/svg.h"

#include "util/long_texts.h"
#include "json/utf8.h"

#include <math.h>
#include <string.h>

pcol_status pci_svg_raw(struct pci_out *out, const char *text, pcol_error *err)
{
    return pci_out(out, text, strlen(text), err);
}

/* ---- text ---- */

/* Decodes the UTF-8 character at `text`. Returns its length; 0 if it is invalid. */
static size_t decode_utf8(const uint8_t *text, size_t size, uint32_t *code)
{
    size_t length = pci_utf8_size(text, size, 0);
    *code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        *code = *code << 6 | (text[i] & 0x3fu);
    return length;
}

static int is_shown(uint32_t code)
{
    return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0x061c && code != 0xfeff &&
           !(code >= 0x200b && code <= 0x200f) && !(code >= 0x2028 && code <= 0x202e) &&
           !(code >= 0x2060 && code <= 0x206f) && (code & 0xfffe) != 0xfffe &&
           !(code >= 0xfdd0 && code <= 0xfdef) && !(code >= 0xe0000 && code <= 0xe0fff);
}

/* Columns of a character: 2 for the common East Asian wide ones. */
static size_t count_columns(uint32_t code)
{
    int is_wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                  (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                  (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                  (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
    return is_wide ? 2 : 1;
}

/* Writes the escaped character at text[at] into `to`. Returns its columns. */
static size_t escape_character(pcol_str text, size_t *at, char to[24], size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *p = (const uint8_t *)text.data + *at;
    uint32_t code = 0;
    size_t length = decode_utf8(p, text.size - *at, &code);
    const char *entity = code == '&'    ? "&amp;"
                         : code == '<'  ? "&lt;"
                         : code == '>'  ? "&gt;"
                         : code == '"'  ? "&quot;"
                         : code == '\'' ? "&#39;"
                                        : NULL;
    if (length && is_shown(code)) {
        *used = entity ? strlen(entity) : length;
        memcpy(to, entity ? entity : (const char *)p, *used);
        *at += length;
        return count_columns(code);
    }
    length = length ? length : 1;
    for (size_t i = 0; i < length; i++) {
        to[4 * i] = '\\';
        to[4 * i + 1] = 'x';
        to[4 * i + 2] = hex[p[i] >> 4];
        to[4 * i + 3] = hex[p[i] & 15];
    }
    *used = 4 * length;
    *at += length;
    return 4 * length;
}

pcol_status pci_svg_text(struct pci_out *out, pcol_str text, size_t width, pcol_error *err)
{
    char buffer[24];
    size_t at = 0, used, width_used = 0, end = text.size;
    if (width) { /* where to cut if the text is too wide */
        size_t fit = 0;
        while (at < text.size && width_used <= width) {
            width_used += escape_character(text, &at, buffer, &used);
            if (width_used + 2 <= width)
                fit = at;
        }
        if (width_used > width)
            end = fit;
    }
    for (at = 0; at < end;) {
        escape_character(text, &at, buffer, &used);
        PCI_TRY(pci_out(out, buffer, used, err));
    }
    return end < text.size ? pci_out(out, "..", 2, err) : PCOL_OK;
}

/* A name without its path or namespace, "encoding/json.Marshal" as "json.Marshal": the part after
 * the last / or :: before any bracket. Of a long name, which many boxes may have, the beginning
 * decides. The script of the page, which cuts names again after zooming, has the same rule. */
static pcol_str cut_path(pcol_str name)
{
    static const char stops[] = {'(', '<', '[', ' '};
    size_t end = 0, start = 0;
    size_t most = name.size < PCI_LONG_TEXT ? name.size : PCI_LONG_TEXT;
    for (; end < most && !memchr(stops, name.data[end], sizeof stops); end++) {
        if (name.data[end] == '/')
            start = end + 1;
        else if (end && name.data[end] == ':' && name.data[end - 1] == ':')
            start = end + 1;
    }
    return start < name.size ? (pcol_str){name.data + start, name.size - start} : name;
}

int pci_svg_fits(pcol_str name, size_t width)
{
    enum { MIN_CHARACTERS = 5 }; /* characters of a name that is cut */
    char piece[24];
    size_t at = 0, used, width_used = 0;
    name = cut_path(name);
    while (at < name.size && width_used <= width)
        width_used += escape_character(name, &at, piece, &used);
    return width >= MIN_CHARACTERS || width_used <= width;
}

pcol_status pci_svg_name(struct pci_out *out, pcol_str name, size_t width, pcol_error *err)
{
    char piece[24];
    size_t at = 0, used, width_used = 0;
    while (at < name.size && width_used <= width)
        width_used += escape_character(name, &at, piece, &used);
    return pci_svg_text(out, width_used > width ? cut_path(name) : name, width, err);
}

/* ---- numbers ---- */

pcol_status pci_svg_number(struct pci_out *out, double value, int decimals, pcol_error *err)
{
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    char text[8];
    if (!(fabs(value) < 1e12))
        return pci_out_int(out, isnan(value) ? 0 : value > 0 ? INT64_MAX : INT64_MIN, err);
    int64_t scaled = (int64_t)floor(fabs(value) * (double)powers[decimals] + 0.5);
    int64_t part = scaled % powers[decimals];
    if (value < 0 && scaled)
        PCI_TRY(pci_out(out, "-", 1, err));
    PCI_TRY(pci_out_int(out, scaled / powers[decimals], err));
    if (!part)
        return PCOL_OK;
    size_t size = 0;
    text[size++] = '.';
    for (int i = decimals - 1; i >= 0 && part; i--) {
        text[size++] = (char)('0' + part / powers[i]);
        part %= powers[i];
    }
    return pci_out(out, text, size, err);
}

pcol_status pci_svg_grouped(struct pci_out *out, int64_t value, pcol_error *err)
{
    uint8_t digits[20];
    size_t size = (size_t)(pci_out_digits(digits, value) - digits), sign = value < 0;
    for (size_t i = 0; i < size; i++) {
        if (i > sign && (size - i) % 3 == 0)
            PCI_TRY(pci_out(out, ",", 1, err));
        PCI_TRY(pci_out(out, digits + i, 1, err));
    }
    return PCOL_OK;
}

/* Formats three significant digits. */
static pcol_status write_short_number(struct pci_out *out, double value, const char *unit,
                                      pcol_error *err)
{
    double size = fabs(value);
    PCI_TRY(pci_svg_number(out, value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, err));
    return pci_svg_raw(out, unit, err);
}

pcol_status pci_svg_seconds(struct pci_out *out, double seconds, pcol_error *err)
{
    double size = fabs(seconds);
    if (size >= 0.9995 || size == 0)
        return write_short_number(out, seconds, " s", err);
    if (size >= 0.9995e-3)
        return write_short_number(out, seconds * 1e3, " ms", err);
    if (size >= 0.9995e-6)
        return write_short_number(out, seconds * 1e6, " &#181;s", err);
    return write_short_number(out, seconds * 1e9, " ns", err);
}

pcol_status pci_svg_bytes(struct pci_out *out, double bytes, pcol_error *err)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB"};
    size_t unit = 0;
    while (unit < 4 && fabs(bytes) >= 1023.5) {
        bytes /= 1024;
        unit++;
    }
    return write_short_number(out, bytes, units[unit], err);
}
