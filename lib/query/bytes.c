/*
 * bytes.c - sets of bytes: classes, ranges, brackets
 *
 * POSIX says what stands in brackets; an escape there is one of RE2, or refused where POSIX would
 * take the backslash for itself. A character beyond ASCII is several bytes, which no set can hold.
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
    struct pci_bytes these = {{0}};
    switch (letter | 32) {
    case 'd':
        add_range(&these, '0', '9');
        break;
    case 'w':
        for (unsigned i = 0; i < 256; i++)
            if (pci_is_word((uint8_t)i))
                pci_bytes_add(&these, (uint8_t)i);
        break;
    case 's':
        add_range(&these, '\t', '\r');
        pci_bytes_add(&these, ' ');
        break;
    default:
        return 0;
    }
    if (!(letter & 32))
        negate(&these);
    for (int i = 0; i < 4; i++)
        set->bits[i] |= these.bits[i];
    return 1;
}

uint8_t pci_control_of(uint8_t letter)
{
    static const char letters[] = "atnvfr", meant[] = "\a\t\n\v\f\r";
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (uint8_t)meant[at - letters] : 0;
}

/* Where a bracket is read. */
struct reading {
    const uint8_t *at, *end;
};

/* [:alpha:] and its like, as pairs of bytes from and to. */
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

/* [:name:], [.c.] or [=c=]. *byte: the one it stands for, -1 for a class. */
static const char *named(struct reading *p, struct pci_bytes *set, int *byte)
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
        return add_class(set, name, (size_t)(end - name))
                   ? NULL
                   : "has a class of characters that is not known";
    if (end - name != 1)
        return "names a collating element, which only a single character can be";
    *byte = *name;
    return NULL;
}

/* The next one of a bracket: a byte, or something that is added at once, and *byte is -1. */
static const char *member(struct reading *p, struct pci_bytes *set, int *byte)
{
    uint8_t c = *p->at;
    if (c == '[' && p->end - p->at > 2 && strchr(".:=", p->at[1]) && p->at[1])
        return named(p, set, byte);
    if (c == '\\' && p->end - p->at > 1) {
        /* POSIX knows no escape here, and takes a backslash for itself; RE2 has them. */
        c = p->at[1];
        if (c == ']' || c == '[' || c == '-')
            return "has an escape within brackets: put ] first and - last instead";
        p->at += 2;
        *byte = -1;
        if (pci_bytes_add_shorthand(set, c))
            return NULL;
        *byte = pci_control_of(c) ? pci_control_of(c) : c;
        if (!pci_control_of(c) && (pci_is_word(c) && c != '_'))
            return "has an escape within brackets that is not known";
        return NULL;
    }
    if (c >= 0x80)
        return "has a character beyond ASCII within brackets: write (x|y) instead";
    p->at++;
    *byte = c;
    return NULL;
}

static int closes(const struct reading *p)
{
    return p->at < p->end && *p->at == ']';
}

/* Does a range go on here? A - before the closing bracket is itself. */
static int is_range(const struct reading *p)
{
    return p->end - p->at > 1 && p->at[0] == '-' && p->at[1] != ']';
}

const char *pci_bytes_read(const uint8_t **at, const uint8_t *end, int fold, struct pci_bytes *set)
{
    struct reading p = {*at + 1, end};
    const char *why = NULL;
    int not = 0, first = 1;
    memset(set, 0, sizeof *set);
    if (p.at < end && *p.at == '^')
        not = 1, p.at++;
    for (; first || !closes(&p); first = 0) {
        int from, to;
        if (p.at == end)
            return "has an unmatched [";
        if ((why = member(&p, set, &from)) != NULL)
            return why;
        to = from;
        if (is_range(&p)) {
            p.at++;
            if ((why = member(&p, set, &to)) != NULL)
                return why;
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
    if (not )
        negate(set);
    return NULL;
}
