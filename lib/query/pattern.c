/*
 * pattern.c - patterns for names: POSIX extended regular expressions
 *
 * Patterns come from users and, as drop_frames, out of files; the names they are held against come
 * out of files, too. So a pattern is looked over before it is compiled: what would take memory
 * beyond all measure (nested repeats), depth of stack (nested groups) or exponential time (back
 * references, repeats of what may be empty inside each other) is refused. The spellings of RE2 and
 * Perl that mean the same as one of POSIX are rewritten, since pprof's own patterns use them: `(?:`
 * is a group, a lazy quantifier matches the same names as a greedy one, \d is [0-9], a leading (?i)
 * is a flag.
 */
#include "query/query.h"

#include "core/alloc.h"
#include "core/given.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_SIZE 65536u
#define PATTERN_DEPTH 200
#define PATTERN_REPEATS 1000u /* product of the repeats inside each other */
#define PATTERN_ATOMS 250000u /* characters and the like, each as often as it is repeated */
/* A repeat copies what it repeats. What may be empty besides makes compilers walk the loops inside
 * each other again and again, which takes exponential time: it counts for so many. */
#define EMPTY_REPEATS 4u

struct pcol_pattern {
    regex_t regex;
    int compiled;
    char *copy; /* of the name, terminated */
    size_t capacity;
};

/* An open group, or the whole pattern. */
struct group {
    uint64_t repeats; /* largest product of repeats in it */
    uint64_t atoms;
    int may_be_empty; /* the branch so far, but for its last atom */
    int other_may_be_empty;
};

struct rewrite {
    const char *what;
    char *to;
    const char *at, *end;
    int depth;
    struct group groups[PATTERN_DEPTH + 1];
    struct group last; /* the atom before */
    pcol_error *err;
};

static pcol_status refuse(const struct rewrite *r, const char *why)
{
    return pci_fail(r->err, PCOL_E_ARGUMENT, "%s: the pattern %s", r->what, why);
}

/* The atom before has got all its repeats. */
static pcol_status settle(struct rewrite *r)
{
    struct group *g = &r->groups[r->depth];
    if (r->last.repeats > g->repeats)
        g->repeats = r->last.repeats;
    g->atoms += r->last.atoms;
    if (g->atoms > PATTERN_ATOMS)
        return refuse(r, "is too large with all of its repeats");
    g->may_be_empty &= r->last.may_be_empty;
    return PCOL_OK;
}

static pcol_status begin_atom(struct rewrite *r, int may_be_empty)
{
    PCI_TRY(settle(r));
    r->last = (struct group){1, 1, may_be_empty, 0};
    return PCOL_OK;
}

/* The branch is over. What stands before another one's first atom is nothing. */
static pcol_status end_branch(struct rewrite *r)
{
    struct group *g = &r->groups[r->depth];
    PCI_TRY(settle(r));
    g->other_may_be_empty |= g->may_be_empty;
    g->may_be_empty = 1;
    r->last = (struct group){1, 0, 1, 0};
    return PCOL_OK;
}

/* The atom before comes `times` times, or not at all. */
static pcol_status repeat(struct rewrite *r, uint64_t times, int or_not)
{
    int empty = r->last.may_be_empty && r->last.atoms;
    times = (times ? times : 1) * (empty ? EMPTY_REPEATS : 1);
    r->last.repeats *= times;
    r->last.atoms *= times;
    r->last.may_be_empty |= or_not;
    if (r->last.repeats <= PATTERN_REPEATS)
        return PCOL_OK;
    return refuse(r, empty ? "repeats what may be empty in too many ways"
                           : "repeats something more than 1000 times");
}

/* [...] as it is, up to its closing bracket. */
static pcol_status copy_bracket(struct rewrite *r)
{
    *r->to++ = *r->at++;
    if (r->at < r->end && *r->at == '^')
        *r->to++ = *r->at++;
    if (r->at < r->end && *r->at == ']')
        *r->to++ = *r->at++;
    while (r->at < r->end && *r->at != ']') {
        if (*r->at == '[' && r->end - r->at > 2 && strchr(".:=", r->at[1]) && r->at[1]) {
            char kind = r->at[1];
            *r->to++ = *r->at++;
            *r->to++ = *r->at++;
            while (r->end - r->at > 1 && !(r->at[0] == kind && r->at[1] == ']'))
                *r->to++ = *r->at++;
            if (r->end - r->at < 2)
                break;
            *r->to++ = *r->at++;
        } else if (*r->at == '\\' && r->end - r->at > 1) {
            /* A bracket of POSIX knows no escape: a backslash there is itself. */
            if (r->at[1] == '\\') {
                r->at++;
            } else if (r->at[1] == 'd') {
                memcpy(r->to, "0-9", 3);
                r->to += 3;
                r->at += 2;
                continue;
            } else if (r->at[1] == ']' || r->at[1] == '[' || r->at[1] == '-') {
                return refuse(r, "has an escape within brackets: put ] first and - last instead");
            } else {
                r->at++;
            }
        }
        *r->to++ = *r->at++;
    }
    if (r->at == r->end)
        return refuse(r, "has an unmatched [");
    *r->to++ = *r->at++;
    return begin_atom(r, 0);
}

static pcol_status copy_escape(struct rewrite *r)
{
    char c;
    if (r->end - r->at < 2)
        return refuse(r, "ends in a backslash");
    c = r->at[1];
    if (c >= '0' && c <= '9')
        return refuse(r, "has a back reference");
    if (c == 'd') {
        memcpy(r->to, "[0-9]", 5);
        r->to += 5;
    } else {
        *r->to++ = '\\';
        *r->to++ = c;
    }
    r->at += 2;
    return begin_atom(r, strchr("bB<>`'", c) != NULL);
}

/* {m,n}; anything else behind a brace is left to the compiler. */
static pcol_status copy_repeat(struct rewrite *r)
{
    uint64_t number = 0, most = 0;
    int commas = 0, or_not = 1;
    *r->to++ = *r->at++;
    while (r->at < r->end && ((*r->at >= '0' && *r->at <= '9') || *r->at == ',')) {
        if (*r->at == ',')
            number = 0, commas++;
        else
            number = number * 10 + (uint64_t)(*r->at - '0');
        or_not &= commas > 0 || number == 0;
        most = number > most ? number : most;
        if (most > PATTERN_REPEATS)
            return refuse(r, "repeats something more than 1000 times");
        *r->to++ = *r->at++;
    }
    PCI_TRY(repeat(r, most, or_not));
    if (r->at < r->end && *r->at == '}') {
        *r->to++ = *r->at++;
        if (r->at < r->end && *r->at == '?')
            r->at++;
    }
    return PCOL_OK;
}

/* * + ?, and the ? of a lazy one, which goes. Some are compiled as two. */
static pcol_status copy_quantifier(struct rewrite *r)
{
    char c = *r->at++;
    *r->to++ = c;
    if (r->at < r->end && *r->at == '?')
        r->at++;
    return repeat(r, c == '+' ? 2 : 1, c != '+');
}

static pcol_status open_group(struct rewrite *r)
{
    if (r->depth == PATTERN_DEPTH)
        return refuse(r, "nests too deeply");
    PCI_TRY(settle(r));
    *r->to++ = *r->at++;
    if (r->end - r->at > 1 && r->at[0] == '?') {
        if (r->at[1] != ':')
            return refuse(r, "has a (? that is not known here");
        r->at += 2;
    }
    r->groups[++r->depth] = (struct group){1, 0, 1, 0};
    r->last = (struct group){1, 0, 1, 0};
    return PCOL_OK;
}

static pcol_status close_group(struct rewrite *r)
{
    if (r->depth ==
        0) { /* an unmatched one is an ordinary character, which ends no group of ours */
        *r->to++ = '\\';
        *r->to++ = *r->at++;
        return begin_atom(r, 0);
    }
    *r->to++ = *r->at++;
    PCI_TRY(end_branch(r));
    struct group *g = &r->groups[r->depth--];
    r->last = (struct group){g->repeats, g->atoms + 1, g->other_may_be_empty, 0};
    return PCOL_OK;
}

static pcol_status rewrite(struct rewrite *r)
{
    while (r->at < r->end) {
        char c = *r->at;
        if (c == '[') {
            PCI_TRY(copy_bracket(r));
        } else if (c == '\\') {
            PCI_TRY(copy_escape(r));
        } else if (c == '{') {
            PCI_TRY(copy_repeat(r));
        } else if (c == '(') {
            PCI_TRY(open_group(r));
        } else if (c == ')') {
            PCI_TRY(close_group(r));
        } else if (c == '*' || c == '+' || c == '?') {
            PCI_TRY(copy_quantifier(r));
        } else {
            *r->to++ = *r->at++;
            PCI_TRY(c == '|' ? end_branch(r) : begin_atom(r, c == '^' || c == '$'));
        }
    }
    return settle(r);
}

static pcol_status compile(pcol_pattern *pattern, const char *text, size_t size, const char *what,
                           int whole, char *room, pcol_error *err)
{
    struct rewrite r = {what, room, text, text + size, 0, {{1, 0, 1, 0}}, {1, 0, 1, 0}, err};
    int flags = REG_EXTENDED | REG_NOSUB, code;
    if (memchr(text, '\0', size))
        return refuse(&r, "holds a NUL");
    if (size >= 4 && memcmp(text, "(?i)", 4) == 0) {
        r.at += 4;
        flags |= REG_ICASE;
    }
    if (whole) {
        memcpy(r.to, "^(", 2);
        r.to += 2;
    }
    PCI_TRY(rewrite(&r));
    if (r.depth)
        return refuse(&r, "has an unmatched (");
    if (whole) {
        memcpy(r.to, ")$", 2);
        r.to += 2;
    }
    *r.to = '\0';
    code = regcomp(&pattern->regex, room, flags);
    if (code) {
        char why[120];
        regerror(code, &pattern->regex, why, sizeof why);
        return code == REG_ESPACE ? pci_fail_memory(err)
                                  : pci_fail(err, PCOL_E_ARGUMENT, "%s: %s", what, why);
    }
    pattern->compiled = 1;
    return PCOL_OK;
}

pcol_status pcol_pattern_new(const char *text, size_t size, const char *what, int whole,
                             pcol_pattern **pattern, pcol_error *err)
{
    pcol_pattern *p;
    char *room;
    pcol_status status;
    if (!pattern)
        return pci_fail(err, PCOL_E_ARGUMENT, "no place for the pattern");
    *pattern = NULL;
    if (!text || !what)
        return pci_fail(err, PCOL_E_ARGUMENT, "no text, or nobody whose pattern it is");
    if (size > PATTERN_SIZE)
        return pci_fail(err, PCOL_E_ARGUMENT, "%s: the pattern is longer than %u bytes", what,
                        PATTERN_SIZE);
    p = pci_calloc(1, sizeof *p);
    room = pci_malloc(3 * size + 16, 1); /* \d grows from 2 to 5 bytes */
    status = p && room ? compile(p, text, size, what, whole, room, err) : pci_fail_memory(err);
    pci_free(room);
    if (status == PCOL_OK)
        *pattern = p;
    else
        pcol_pattern_free(p);
    return status;
}

pcol_status pcol_pattern_test(pcol_pattern *pattern, pcol_str name, int *matches, pcol_error *err)
{
    PCI_GIVEN(matches, err);
    *matches = 0;
    PCI_GIVEN(pattern, err);
    PCI_GIVEN_MANY(name.data, name.size, err);
    int code;
    if (pci_grow((void **)&pattern->copy, &pattern->capacity, name.size + 1, 1))
        return pci_fail_memory(err);
    /* A NUL would end the name early: it stands as the byte that no text has. */
    for (size_t i = 0; i < name.size; i++)
        pattern->copy[i] = name.data[i] ? name.data[i] : '\xff';
    pattern->copy[name.size] = '\0';
    /* glibc says REG_NOMATCH even where memory was out, but for errno. */
    errno = 0;
    code = regexec(&pattern->regex, pattern->copy, 0, NULL, 0);
    if (code && (code != REG_NOMATCH || errno == ENOMEM))
        return pci_fail_memory(err);
    *matches = code == 0;
    return PCOL_OK;
}

void pcol_pattern_free(pcol_pattern *pattern)
{
    if (pattern && pattern->compiled)
        regfree(&pattern->regex);
    if (pattern)
        pci_free(pattern->copy);
    pci_free(pattern);
}
