/*
 * pattern.c - patterns for names: extended regular expressions
 *
 * Patterns come from users and, as drop_frames, out of files; the names they are held against come
 * out of files, too. Matchers that try one way after another, or keep every state they ever met,
 * take minutes and gigabytes for some patterns over some names; so a pattern becomes a program of
 * steps here, of limited length, which automaton.c runs in linear time and bounded memory.
 *
 * The language is that of POSIX, in bytes, whatever the locale, with what RE2 and Perl write more
 * shortly and pprof's own patterns use: `(?:`, flags, lazy quantifiers (which match the same
 * names), \d and its like. A brace that begins no repeat is itself, as in RE2: the names of Rust
 * have {{closure}} in them. What is not known is refused, never taken for something else.
 */
#include "query/automaton.h"
#include "query/query.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <stdio.h>
#include <string.h>

#define PATTERN_SIZE 65536u
#define PATTERN_STEPS 100000u
#define PATTERN_DEPTH 200
#define PATTERN_REPEATS 1000u

struct pcol_pattern {
    struct pci_automaton *automaton;
    char what[64];
};

/* An open group, or the whole pattern. */
struct group {
    size_t start, branch; /* the first step of it, and of its last branch */
    size_t jumps;         /* 1 + the jump behind the branch before, which names the one before it */
    int fold;             /* as it was before the group */
};

/* What the last quantifier made of the last atom: another one may say nothing new. */
enum repeated { ONCE, OPTIONAL, SEVERAL, ANY_NUMBER };

struct parse {
    const char *what;
    const uint8_t *at, *end;
    struct pci_step *steps;
    size_t count, capacity;
    struct pci_bytes *sets;
    size_t set_count, set_capacity;
    uint32_t letters[26]; /* 1 + the set of a letter, large or small; 0: there is none */
    int fold;             /* letters match large and small */
    int has_atom;
    size_t atom; /* the first step of the last atom */
    enum repeated repeated;
    int depth;
    struct group groups[PATTERN_DEPTH + 1];
    pcol_error *err;
};

static pcol_status refuse(const struct parse *p, const char *why)
{
    return pci_fail(p->err, PCOL_E_ARGUMENT, "%s: the pattern %s", p->what, why);
}

/* ---- steps */

/* Room for so many more. */
static pcol_status reserve(struct parse *p, size_t more)
{
    if (more > PATTERN_STEPS - p->count)
        return refuse(p, "is too large with all of its repeats");
    if (pci_grow((void **)&p->steps, &p->capacity, p->count + more, sizeof *p->steps))
        return pci_fail_memory(p->err);
    return PCOL_OK;
}

static pcol_status append(struct parse *p, enum pci_step_kind kind, uint8_t byte, size_t to)
{
    PCI_TRY(reserve(p, 1));
    p->steps[p->count++] = (struct pci_step){(uint8_t)kind, byte, (int32_t)to};
    return PCOL_OK;
}

/* A split before the step `at`, to the one that is `to` from it. Jumps are relative, and those that
 * move all move together. */
static pcol_status insert_split(struct parse *p, size_t at, size_t to)
{
    PCI_TRY(reserve(p, 1));
    memmove(p->steps + at + 1, p->steps + at, (p->count++ - at) * sizeof *p->steps);
    p->steps[at] = (struct pci_step){PCI_STEP_SPLIT, 0, (int32_t)to};
    return PCOL_OK;
}

static pcol_status append_back(struct parse *p, enum pci_step_kind kind, size_t to)
{
    PCI_TRY(append(p, kind, 0, 0));
    p->steps[p->count - 1].to = -(int32_t)(p->count - 1 - to);
    return PCOL_OK;
}

static void begin_atom(struct parse *p)
{
    p->has_atom = 1;
    p->atom = p->count;
    p->repeated = ONCE;
}

static pcol_status append_set(struct parse *p, const struct pci_bytes *set)
{
    if (pci_grow((void **)&p->sets, &p->set_capacity, p->set_count + 1, sizeof *p->sets))
        return pci_fail_memory(p->err);
    p->sets[p->set_count] = *set;
    return append(p, PCI_STEP_SET, 0, p->set_count++);
}

static pcol_status append_byte(struct parse *p, uint8_t byte)
{
    if (!p->fold || !pci_is_letter(byte))
        return append(p, PCI_STEP_BYTE, byte, 0);
    uint32_t *known = &p->letters[(byte | 32) - 'a'];
    if (*known)
        return append(p, PCI_STEP_SET, 0, *known - 1);
    struct pci_bytes both = {{0}};
    pci_bytes_add(&both, byte);
    pci_bytes_fold(&both);
    PCI_TRY(append_set(p, &both));
    *known = (uint32_t)p->set_count;
    return PCOL_OK;
}

static pcol_status bracket(struct parse *p)
{
    struct pci_bytes set;
    const char *why = pci_bytes_read(&p->at, p->end, p->fold, &set);
    if (why)
        return refuse(p, why);
    begin_atom(p);
    return append_set(p, &set);
}

/* ---- what repeats */

/* The last atom that often and, up to `most`, if need be. */
static pcol_status repeat(struct parse *p, uint32_t least, uint32_t most)
{
    size_t size = p->count - p->atom;
    if (size == 0 || (least == 1 && most == 1))
        return PCOL_OK;
    if (most == 0) {
        p->count = p->atom;
        return PCOL_OK;
    }
    p->repeated = ONCE;
    PCI_TRY(reserve(p, (most - 1) * (size + 1) + 1));
    /* x{2,4} is xx(x(x)?)?: each of the last ones may be the way out. */
    size_t last = p->atom + least * size + (most - least) * (size + 1);
    for (uint32_t i = least ? 1 : 0; i < most; i++) {
        if (i == 0) {
            PCI_TRY(insert_split(p, p->atom, last - p->atom));
            continue;
        }
        if (i >= least)
            PCI_TRY(append(p, PCI_STEP_SPLIT, 0, last - p->count));
        memcpy(p->steps + p->count, p->steps + p->atom + (least == 0), size * sizeof *p->steps);
        p->count += size;
    }
    return PCOL_OK;
}

/* The last atom once or not (OPTIONAL), once or more (SEVERAL), or as often as there is. */
static pcol_status loop(struct parse *p, enum repeated how)
{
    if (p->count == p->atom || p->repeated == how || p->repeated == ANY_NUMBER)
        return PCOL_OK;
    if (p->repeated != ONCE)
        how = ANY_NUMBER; /* (x+)? and (x?)+ are x* */
    p->repeated = how;
    if (how == SEVERAL)
        return append_back(p, PCI_STEP_SPLIT, p->atom);
    size_t size = p->count - p->atom;
    PCI_TRY(insert_split(p, p->atom, size + 1 + (how == ANY_NUMBER)));
    return how == ANY_NUMBER ? append_back(p, PCI_STEP_JUMP, p->atom) : PCOL_OK;
}

/* Digits up to 1000; -1: there are none. */
static pcol_status number(struct parse *p, const uint8_t **at, long *value)
{
    *value = -1;
    for (; *at < p->end && **at >= '0' && **at <= '9'; ++*at) {
        *value = (*value < 0 ? 0 : *value) * 10 + (**at - '0');
        if (*value > (long)PATTERN_REPEATS)
            return refuse(p, "repeats something more than 1000 times");
    }
    return PCOL_OK;
}

/* {n} {n,} {n,m} {,m}. *is_one: 0 if it is none of them; a brace is then an ordinary character. */
static pcol_status braces(struct parse *p, int *is_one)
{
    const uint8_t *at = p->at + 1;
    long least, most;
    PCI_TRY(number(p, &at, &least));
    most = least;
    *is_one = 0;
    if (at < p->end && *at == ',') {
        at++;
        PCI_TRY(number(p, &at, &most));
        if (least < 0 && most < 0)
            return PCOL_OK;
    } else if (least < 0) {
        return PCOL_OK;
    }
    if (at == p->end || *at != '}')
        return PCOL_OK;
    *is_one = 1;
    if (!p->has_atom)
        return refuse(p, "repeats nothing");
    p->at = at + 1;
    least = least < 0 ? 0 : least;
    if (most >= 0 && most < least)
        return refuse(p, "repeats something at least more often than at most");
    if (most >= 0)
        return repeat(p, (uint32_t)least, (uint32_t)most);
    if (least == 0)
        return loop(p, ANY_NUMBER);
    if (least == 1)
        return loop(p, SEVERAL);
    /* x{3,} is xxx+: the loop goes back over the last one only. */
    size_t size = p->count - p->atom;
    PCI_TRY(repeat(p, (uint32_t)least, (uint32_t)least));
    return size ? append_back(p, PCI_STEP_SPLIT, p->count - size) : PCOL_OK;
}

static pcol_status quantifier(struct parse *p)
{
    uint8_t c = *p->at;
    if (!p->has_atom)
        return refuse(p, "repeats nothing");
    p->at++;
    return loop(p, c == '*' ? ANY_NUMBER : c == '+' ? SEVERAL : OPTIONAL);
}

/* ---- groups and branches */

/* A branch is over: past the others, to the end of the group, which is not known yet. */
static pcol_status branch(struct parse *p)
{
    struct group *g = &p->groups[p->depth];
    p->at++;
    PCI_TRY(insert_split(p, g->branch, p->count - g->branch + 2));
    PCI_TRY(append(p, PCI_STEP_JUMP, 0, g->jumps));
    g->jumps = p->count;
    g->branch = p->count;
    p->has_atom = 0;
    return PCOL_OK;
}

/* The group is over: so this is where its branches' jumps go. */
static void join(struct parse *p)
{
    struct group *g = &p->groups[p->depth];
    for (size_t at = g->jumps; at;) {
        struct pci_step *jump = &p->steps[at - 1];
        size_t before = (size_t)jump->to;
        jump->to = (int32_t)(p->count - (at - 1));
        at = before;
    }
}

static void enter(struct parse *p, int fold_before)
{
    p->groups[p->depth] = (struct group){p->count, p->count, 0, fold_before};
    p->has_atom = 0;
}

/* (?flags) and (?flags:. `i` is the one that changes what matches: a dot is any byte in any case,
 * and which of the longest or shortest is meant makes no difference here. */
static pcol_status flags(struct parse *p, int *group)
{
    int value = 1;
    for (p->at++; p->at < p->end; p->at++) {
        if (*p->at == ':' || *p->at == ')') {
            *group = *p->at++ == ':';
            return PCOL_OK;
        }
        if (*p->at == '-')
            value = 0;
        else if (*p->at == 'i')
            p->fold = value;
        else if (*p->at != 's' && *p->at != 'U')
            break;
    }
    return refuse(p, "has a (? that is not known here");
}

static pcol_status open_group(struct parse *p)
{
    int fold = p->fold, group = 1;
    p->at++;
    if (p->at < p->end && *p->at == '?')
        PCI_TRY(flags(p, &group));
    if (!group) {
        p->has_atom = 0;
        return PCOL_OK;
    }
    if (p->depth == PATTERN_DEPTH)
        return refuse(p, "nests too deeply");
    p->depth++;
    enter(p, fold);
    return PCOL_OK;
}

static pcol_status close_group(struct parse *p)
{
    if (p->depth == 0) { /* what closes no group is itself */
        begin_atom(p);
        return append_byte(p, *p->at++);
    }
    join(p);
    p->has_atom = 1;
    p->repeated = ONCE;
    p->atom = p->groups[p->depth].start;
    p->fold = p->groups[p->depth].fold;
    p->depth--;
    p->at++;
    return PCOL_OK;
}

/* ---- the whole */

static pcol_status assert_here(struct parse *p, enum pci_assertion what)
{
    p->has_atom = 0; /* it cannot be repeated */
    return append(p, PCI_STEP_ASSERT, (uint8_t)what, 0);
}

static pcol_status escape(struct parse *p)
{
    static const char letters[] = "bB<>`'Az";
    static const uint8_t meant[] = {PCI_ASSERT_WORD_EDGE, PCI_ASSERT_NO_EDGE, PCI_ASSERT_WORD_START,
                                    PCI_ASSERT_WORD_END,  PCI_ASSERT_START,   PCI_ASSERT_END,
                                    PCI_ASSERT_START,     PCI_ASSERT_END};
    struct pci_bytes set = {{0}};
    uint8_t c;
    if (p->end - p->at < 2)
        return refuse(p, "ends in a backslash");
    c = p->at[1];
    p->at += 2;
    if (c >= '0' && c <= '9')
        return refuse(p, "has a back reference");
    const char *assertion = strchr(letters, c);
    if (assertion)
        return assert_here(p, meant[assertion - letters]);
    begin_atom(p);
    if (pci_bytes_add_shorthand(&set, c))
        return append_set(p, &set);
    if (pci_control_of(c))
        return append_byte(p, pci_control_of(c));
    if (pci_is_letter(c))
        return refuse(p, "has an escape that is not known");
    return append_byte(p, c);
}

static pcol_status parse(struct parse *p)
{
    enter(p, 0);
    while (p->at < p->end) {
        uint8_t c = *p->at;
        int is_repeat = 0;
        if (c == '{')
            PCI_TRY(braces(p, &is_repeat));
        if (c == '*' || c == '+' || c == '?') {
            PCI_TRY(quantifier(p));
            is_repeat = 1;
        }
        if (is_repeat) {
            if (p->at < p->end && *p->at == '?') /* a lazy one matches the same names */
                p->at++;
        } else if (c == '[') {
            PCI_TRY(bracket(p));
        } else if (c == '\\') {
            PCI_TRY(escape(p));
        } else if (c == '(') {
            PCI_TRY(open_group(p));
        } else if (c == ')') {
            PCI_TRY(close_group(p));
        } else if (c == '|') {
            PCI_TRY(branch(p));
        } else {
            p->at++;
            if (c == '^' || c == '$') {
                PCI_TRY(assert_here(p, c == '^' ? PCI_ASSERT_START : PCI_ASSERT_END));
            } else {
                begin_atom(p);
                PCI_TRY(c == '.' ? append(p, PCI_STEP_ANY, 0, 0) : append_byte(p, c));
                while (c >= 0xc0 && p->at < p->end && *p->at >> 6 == 2) /* the same character */
                    PCI_TRY(append_byte(p, *p->at++));
            }
        }
    }
    if (p->depth)
        return refuse(p, "has an unmatched (");
    join(p);
    return PCOL_OK;
}

static pcol_status compile(struct parse *p, int whole, struct pci_automaton **automaton)
{
    if (memchr(p->at, '\0', (size_t)(p->end - p->at)))
        return refuse(p, "holds a NUL");
    if (whole)
        PCI_TRY(append(p, PCI_STEP_ASSERT, PCI_ASSERT_START, 0));
    PCI_TRY(parse(p));
    if (whole)
        PCI_TRY(append(p, PCI_STEP_ASSERT, PCI_ASSERT_END, 0));
    PCI_TRY(append(p, PCI_STEP_MATCH, 0, 0));
    struct pci_step *steps = p->steps;
    struct pci_bytes *sets = p->sets;
    p->steps = NULL;
    p->sets = NULL;
    return pci_automaton_new(steps, p->count, sets, p->set_count, automaton, p->err);
}

pcol_status pcol_pattern_new(const char *text, size_t size, const char *what, int whole,
                             pcol_pattern **pattern, pcol_error *err)
{
    struct parse p = {0};
    pcol_pattern *made;
    if (!pattern)
        return pci_fail(err, PCOL_E_ARGUMENT, "no place for the pattern");
    *pattern = NULL;
    if (!text || !what)
        return pci_fail(err, PCOL_E_ARGUMENT, "no text, or nobody whose pattern it is");
    if (size > PATTERN_SIZE)
        return pci_fail(err, PCOL_E_ARGUMENT, "%s: the pattern is longer than %u bytes", what,
                        PATTERN_SIZE);
    made = pci_calloc(1, sizeof *made);
    if (!made)
        return pci_fail_memory(err);
    snprintf(made->what, sizeof made->what, "%s", what);
    p.what = what;
    p.at = (const uint8_t *)text;
    p.end = p.at + size;
    p.err = err;
    pcol_status status = compile(&p, whole, &made->automaton);
    pci_free(p.steps);
    pci_free(p.sets);
    if (status == PCOL_OK)
        *pattern = made;
    else
        pcol_pattern_free(made);
    return status;
}

pcol_status pcol_pattern_test(pcol_pattern *pattern, pcol_str name, int *matches, pcol_error *err)
{
    PCI_REQUIRE(matches, err);
    *matches = 0;
    PCI_REQUIRE(pattern, err);
    PCI_REQUIRE_MANY(name.data, name.size, err);
    return pci_automaton_test(pattern->automaton, pattern->what, name, matches, err);
}

void pcol_pattern_free(pcol_pattern *pattern)
{
    if (!pattern)
        return;
    pci_automaton_free(pattern->automaton);
    pci_free(pattern);
}
