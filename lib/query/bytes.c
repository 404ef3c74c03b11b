/*
 * bytes.c - byte sets: classes, ranges and bracket expressions
 *
 * Syntax of POSIX. An escape in brackets is one of RE2, or rejected where POSIX reads the backslash
 * as itself. A non-ASCII character is several bytes and cannot be in a set.
 */
#include "query/bytes.h"

#include <string.h>

int pci_is_word(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

static void add_range(struct pci_bytes *set, unsigned from, unsigned to)
{
    for (; from <= to; from++)
        pci_bytes_add(set, (uint8_t)from);
}

int pci_is_letter(uint8_t c)
{
    return (uint8_t)((c | 32) - 'a') < 26;
}

void pci_bytes_fold(struct pci_bytes *set)
{
    for (uint8_t c = 'A'; c <= 'Z'; c++) {
        if (pci_bytes_has(set, c))
            pci_bytes_add(set, c | 32);
        else if (pci_bytes_has(set, c | 32))
            pci_bytes_add(set, c);
    }
}

static void negate(struct pci_bytes *set)
{
    for (int i = 0; i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

int pci_bytes_add_shorthand(struct pci_bytes *set, uint8_t letter)
{
    struct pci_bytes members = {{0}};
    switch (letter | 32) {
    case 'd':
        add_range(&members, '0', '9');
        break;
    case 'w':
        for (unsigned i = 0; i < 256; i++)
            if (pci_is_word((uint8_t)i))
                pci_bytes_add(&members, (uint8_t)i);
        break;
    case 's':
        add_range(&members, '\t', '\r');
        pci_bytes_add(&members, ' ');
        break;
    default:
        return 0;
    }
    if (!(letter & 32))
        negate(&members);
    for (int i = 0; i < 4; i++)
        set->bits[i] |= members.bits[i];
    return 1;
}

uint8_t pci_control_of(uint8_t letter)
{
    static const char letters[] = "atnvfr", meant[] = "\a\t\n\v\f\r";
    const char *letter_found = letter ? strchr(letters, letter) : NULL;
    return letter_found ? (uint8_t)meant[letter_found - letters] : 0;
}

/* Parser position in a bracket expression. */
struct bracket_parser {
    const uint8_t *at, *end;
};

/* Adds a POSIX class such as [:alpha:]; `bytes` are pairs (first, last). */
static int add_class(struct pci_bytes *set, const uint8_t *name, size_t size)
{
    static const struct {
        const char *name;
        unsigned pairs;
        const char *bytes;
    } classes[] = {{"alpha", 2, "AZaz"},   {"digit", 1, "09"},       {"alnum", 3, "09AZaz"},
                   {"upper", 1, "AZ"},     {"lower", 1, "az"},       {"space", 2, "\t\r  "},
                   {"blank", 2, "\t\t  "}, {"punct", 4, "!/:@[`{~"}, {"print", 1, " ~"},
                   {"graph", 1, "!~"},     {"xdigit", 3, "09AFaf"},  {"cntrl", 2, "\0\37\177\177"},
                   {"word", 4, "09AZaz__"}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strlen(classes[i].name) != size || memcmp(classes[i].name, name, size) != 0)
            continue;
        for (unsigned k = 0; k < 2 * classes[i].pairs; k += 2)
            add_range(set, (uint8_t)classes[i].bytes[k], (uint8_t)classes[i].bytes[k + 1]);
        return 1;
    }
    return 0;
}

/* Parses [:name:], [.c.] or [=c=]. *byte: the single byte, -1 for a class. */
static const char *parse_named(struct bracket_parser *p, struct pci_bytes *set, int *byte)
{
    uint8_t kind = p->at[1];
    const uint8_t *name = p->at + 2, *end = name;
    while (p->end - end > 1 && !(end[0] == kind && end[1] == ']'))
        end++;
    if (p->end - end < 2)
        return "has an unmatched [";
    *byte = -1;
    p->at = end + 2;
    if (kind == ':')
        return add_class(set, name, (size_t)(end - name)) ? NULL
                                                          : "has an unknown class of characters";
    if (end - name != 1)
        return "has a collating element of several characters: only one is supported";
    *byte = *name;
    return NULL;
}

/* Parses the next member: *byte is a single byte, or -1 for a set, which is added. */
static const char *parse_member(struct bracket_parser *p, struct pci_bytes *set, int *byte)
{
    uint8_t c = *p->at;
    if (c == '[' && p->end - p->at > 2 && strchr(".:=", p->at[1]) && p->at[1])
        return parse_named(p, set, byte);
    if (c == '\\' && p->end - p->at > 1) {
        /* POSIX has no escapes in brackets; RE2 has. */
        c = p->at[1];
        if (c == ']' || c == '[' || c == '-')
            return "has an escape within brackets: put ] first and - last instead";
        p->at += 2;
        *byte = -1;
        if (pci_bytes_add_shorthand(set, c))
            return NULL;
        *byte = pci_control_of(c) ? pci_control_of(c) : c;
        if (!pci_control_of(c) && (pci_is_word(c) && c != '_'))
            return "has an unknown escape within brackets";
        return NULL;
    }
    if (c >= 0x80)
        return "has a non-ASCII character within brackets: write (x|y) instead";
    p->at++;
    *byte = c;
    return NULL;
}

static int is_closing(const struct bracket_parser *p)
{
    return p->at < p->end && *p->at == ']';
}

/* 1 if a range continues here. A - before the closing bracket is a literal. */
static int is_range(const struct bracket_parser *p)
{
    return p->end - p->at > 1 && p->at[0] == '-' && p->at[1] != ']';
}

const char *pci_bytes_read(const uint8_t **at, const uint8_t *end, int fold, struct pci_bytes *set)
{
    struct bracket_parser p = {*at + 1, end};
    const char *problem = NULL;
    int negated = 0, first = 1;
    memset(set, 0, sizeof *set);
    if (p.at < end && *p.at == '^')
        negated = 1, p.at++;
    for (; first || !is_closing(&p); first = 0) {
        int from, to;
        if (p.at == end)
            return "has an unmatched [";
        if ((problem = parse_member(&p, set, &from)) != NULL)
            return problem;
        to = from;
        if (is_range(&p)) {
            p.at++;
            if ((problem = parse_member(&p, set, &to)) != NULL)
                return problem;
            if (from < 0 || to < from)
                return "has a range of characters that ends before it begins";
            if (is_range(&p))
                return "has a range of characters that begins with another's end";
        }
        if (from >= 0)
            add_range(set, (unsigned)from, (unsigned)to);
    }
    *at = p.at + 1;
    if (fold)
        pci_bytes_fold(set);
    if (negated)
        negate(set);
    return NULL;
}
