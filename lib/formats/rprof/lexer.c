/*
 * lexer.c - tokens of R's profiles (lexer.h)
 *
 * One pass, no copies. Names are short: the closing quote is found by inline SWAR code (eight bytes
 * in a 64-bit word) instead of calls of memchr.
 */
#include "formats/rprof/lexer.h"

#include "format/load.h"

#include <string.h>

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static const char MEMORY[] = "memory profiling: ";
static const char GC[] = "GC profiling: ";
static const char LINE[] = "line profiling: ";
static const char INTERVAL[] = "sample.interval=";
static const char FILE_LINE[] = "#File ";

/* p + the length of `word` if [p, end) begins with it, else p. */
static const uint8_t *skip_word(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - p) >= size && memcmp(p, word, size) == 0 ? p + size : p;
}

const uint8_t *pci_rprof_int(const uint8_t *p, const uint8_t *end, int sign,
                             struct pci_rprof_int *number)
{
    int negative = sign && p < end && *p == '-';
    const uint8_t *digits = p + negative;
    uint64_t value = 0;
    int fits = 1;
    for (p = digits; p < end && (unsigned)(*p - '0') < 10; p++) {
        if (p - digits < 18)
            value = value * 10 + (unsigned)(*p - '0');
        else
            fits = fits && !__builtin_mul_overflow(value, 10u, &value) &&
                   !__builtin_add_overflow(value, (unsigned)(*p - '0'), &value);
    }
    if (p == digits)
        return NULL;
    fits = fits && value <= (uint64_t)INT64_MAX + (unsigned)negative;
    number->value = !fits ? 0 : (int64_t)(negative ? 0 - value : value);
    number->known = (uint8_t)fits;
    number->canonical = (uint8_t)(fits && (*digits != '0' || (p - digits == 1 && !negative)));
    return p;
}

int pci_rprof_header(const uint8_t *p, const uint8_t *end, struct pci_rprof_header *header)
{
    const uint8_t *q = skip_word(p, end, MEMORY);
    header->memory = q != p;
    p = skip_word(q, end, GC);
    header->gc = p != q;
    q = skip_word(p, end, LINE);
    header->line = q != p;
    p = skip_word(q, end, INTERVAL);
    return p != q && pci_rprof_int(p, end, 0, &header->interval) == end;
}

int pci_rprof_is_header_prefix(const uint8_t *p, const uint8_t *end)
{
    static const char *const words[] = {MEMORY, GC, LINE, INTERVAL};
    for (size_t i = 0; i < 4 && p < end; i++) {
        size_t size = (size_t)(end - p), whole = strlen(words[i]);
        if (memcmp(p, words[i], size < whole ? size : whole) == 0)
            p += size < whole ? size : whole;
    }
    return p == end;
}

int pci_rprof_file(const uint8_t *p, const uint8_t *end, struct pci_rprof_file *file)
{
    const uint8_t *q = skip_word(p, end, FILE_LINE);
    if (q == p)
        return 0;
    p = pci_rprof_int(q, end, 0, &file->number);
    file->numbered = p != NULL;
    if (!p)
        p = q;
    q = skip_word(p, end, ": ");
    if (q == p)
        return 0;
    file->path = q;
    file->path_size = (size_t)(end - q);
    return 1;
}

/* Parse a number of one to seven digits; returns its end, p: none, or a longer one. SWAR: a mask of
 * the digits in eight bytes, then sums of pairs, fours and eights of them by multiplication. */
static inline const uint8_t *parse_short_number(const uint8_t *p, const uint8_t *end,
                                                uint64_t *value)
{
    if (end - p < 8)
        return p;
    uint64_t x = pcf_load64(p) ^ (ONES * '0');
    uint64_t others = (x | (x + ONES * 6)) & (ONES * 0xf0);
    unsigned digits = others ? (unsigned)__builtin_ctzll(others) >> 3 : 0;
    if (!digits)
        return p;
    x <<= 64 - 8 * digits; /* last digit in the highest byte, zeros before the first */
    x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *value = (x * 10000 + (x >> 32)) & UINT32_MAX;
    return p + digits;
}

const uint8_t *pci_rprof_memory(const uint8_t *p, const uint8_t *end,
                                struct pci_rprof_int number[4], const uint8_t **fault)
{
    for (int i = 0; i <= 4; i++) {
        const uint8_t *q = p;
        if (p == end || *p != ':') {
            *fault = p;
            return NULL;
        }
        p++;
        if (i == 4)
            break;
        /* Fast path: fits 64 bits, no sign, no leading zero. */
        uint64_t value = 0;
        q = parse_short_number(p, end, &value);
        if (q == p)
            for (; q < end && (unsigned)(*q - '0') < 10; q++)
                value = value * 10 + (unsigned)(*q - '0');
        if (q - p >= 1 && q - p <= 18 && (*p != '0' || q - p == 1)) {
            number[i] = (struct pci_rprof_int){(int64_t)value, 1, 1};
            p = q;
            continue;
        }
        q = pci_rprof_int(p, end, 1, &number[i]);
        if (!q) {
            *fault = p;
            return NULL;
        }
        p = q;
    }
    return p;
}

/* 1 if [p, end) is a reference that lacks only its blank. */
static int is_ref_without_blank(const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_int number;
    p = pci_rprof_int(p, end, 0, &number);
    return p && p < end && *p == '#' && pci_rprof_int(p + 1, end, 0, &number) == end;
}

/* 1 if the quote at p closes a name. */
static inline int closes_name(const uint8_t *p, const uint8_t *end, unsigned flags)
{
    if (end - p < 2 || p[1] != ' ')
        return 0;
    p += 2;
    if (p == end || *p == '"')
        return 1;
    if (flags & PCI_RPROF_NO_REFS)
        return 0;
    return pci_rprof_ref(p, end) != NULL ||
           ((flags & PCI_RPROF_LOOSE) && is_ref_without_blank(p, end));
}

/* Closing quote of the name at p; NULL: none. */
static const uint8_t *find_name_end(const uint8_t *p, const uint8_t *end, unsigned flags)
{
    while (end - p >= 8) {
        uint64_t x = pcf_load64(p) ^ (ONES * '"');
        uint64_t found = (x - ONES) & ~x & HIGHS; /* lowest set bit is exact */
        if (!found) {
            p += 8;
            continue;
        }
        p += (unsigned)__builtin_ctzll(found) >> 3;
        if (closes_name(p, end, flags))
            return p;
        p++;
    }
    for (; p < end; p++)
        if (*p == '"' && closes_name(p, end, flags))
            return p;
    return NULL;
}

/* pci_rprof_unit() with the search for the end of the name beginning at `resume`. */
static const uint8_t *find_unit_end(const uint8_t *p, const uint8_t *resume, const uint8_t *end,
                                    unsigned flags, struct pci_rprof_fault *fault)
{
    const uint8_t *quote = p;
    if (*p != '"') {
        quote = flags & PCI_RPROF_NO_REFS ? NULL : pci_rprof_ref(p, end);
        if (!quote) {
            int whole = (flags & PCI_RPROF_LOOSE) && !(flags & PCI_RPROF_NO_REFS) &&
                        is_ref_without_blank(p, end);
            *fault = (struct pci_rprof_fault){whole ? PCI_RPROF_NO_BLANK : PCI_RPROF_GARBAGE, p};
            return NULL;
        }
        if (quote == end || *quote != '"')
            return quote;
    }
    const uint8_t *close = find_name_end(resume > quote + 1 ? resume : quote + 1, end, flags);
    if (close)
        return close + 2;
    int whole = (flags & PCI_RPROF_LOOSE) && end - quote >= 2 && end[-1] == '"';
    *fault = (struct pci_rprof_fault){whole ? PCI_RPROF_NO_BLANK : PCI_RPROF_OPEN, p};
    return NULL;
}

const uint8_t *pci_rprof_unit(const uint8_t *p, const uint8_t *end, unsigned flags,
                              struct pci_rprof_fault *fault)
{
    return find_unit_end(p, p, end, flags, fault);
}

const uint8_t *pci_rprof_find_overflow(const uint8_t *p, const uint8_t *end, unsigned flags)
{
    struct pci_rprof_fault fault;
    for (const uint8_t *next; p < end; p = next) {
        struct pci_rprof_int number;
        next = pci_rprof_unit(p, end, flags, &fault);
        const uint8_t *q = *p == '"' ? NULL : pci_rprof_int(p, end, 0, &number);
        if (q && !number.known)
            return p;
        if (q && q < end && *q == '#' && pci_rprof_int(q + 1, end, 0, &number) && !number.known)
            return q + 1;
        if (!next)
            return NULL;
    }
    return NULL;
}

struct pci_rprof_fault pci_rprof_skip_units(const uint8_t *p, const uint8_t *resume,
                                            const uint8_t *end, unsigned flags)
{
    struct pci_rprof_fault fault = {PCI_RPROF_NO_FAULT, end};
    while (p && p < end)
        p = find_unit_end(p, resume, end, flags, &fault);
    return fault;
}

int pci_rprof_is_own_line(const uint8_t *p, const uint8_t *end)
{
    if (*p == '"' && closes_name(p, end, 0))
        return 0;
    struct pci_rprof_fault fault = pci_rprof_skip_units(p, p, end, PCI_RPROF_LOOSE);
    return fault.kind == PCI_RPROF_NO_FAULT || fault.kind == PCI_RPROF_NO_BLANK ||
           (fault.kind == PCI_RPROF_OPEN && fault.at != p);
}

void pci_rprof_parts(const uint8_t *p, const uint8_t *end, struct pci_rprof_parts *parts)
{
    memset(parts, 0, sizeof *parts);
    parts->exact = end[-1] == ' ';
    if (*p != '"') {
        parts->has_ref = 1;
        p = pci_rprof_int(p, end, 0, &parts->file) + 1;
        p = pci_rprof_int(p, end, 0, &parts->line);
        parts->exact = parts->exact && parts->file.canonical && parts->line.canonical;
        if (p < end)
            p++;
    }
    if (p < end) {
        parts->has_name = 1;
        parts->name = p + 1;
        parts->name_size = (size_t)(end - p) - (end[-1] == ' ' ? 3 : 2);
    }
}
