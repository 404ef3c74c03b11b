/*
 * pattern.c - compiler of extended regular expressions for names
 *
 * Patterns and names come from untrusted files. Backtracking matchers and unbounded DFAs take
 * minutes and gigabytes for some of them; therefore a pattern becomes a program of limited length
 * that automaton.c runs in linear time and bounded memory.
 *
 * Syntax: POSIX extended, on bytes in any locale, plus `(?:`, flags, lazy quantifiers (they match
 * the same names) and \d etc. of RE2 and Perl. A brace that starts no repeat is a literal, as in
 * RE2: Rust names contain {{closure}}. Unknown syntax is rejected. Tests:
 * tests/unit/test_pattern.c, suite patterns.
 */
#include "query/automaton.h"
#include "query/query.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <stdio.h>
#include <string.h>

#define MAX_PATTERN_SIZE 65536u
#define MAX_STEPS 100000u
#define MAX_DEPTH 200
#define MAX_REPEATS 1000u

struct pcol_pattern {
    struct pci_automaton *automaton;
    char owner[64];
    const char *option; /* pcol_error.option; "": none */
    uint8_t *known;     /* by string code; NULL: none was tested */
};

/* Results of strings. */
enum { UNTESTED, FAILS, MATCHES };

/* An open group, or the whole pattern. */
struct group {
    size_t start, end_branch; /* first step of the group, and of its last branch */
    size_t jumps;             /* 1 + the jump at the end of the last branch, a linked list */
    int fold;                 /* value before the group */
};

/* Quantifiers of the last atom; a further one is merged with them. */
enum last_quantifier { ONCE, OPTIONAL, SEVERAL, ANY_NUMBER };

struct parser {
    const char *owner;
    const uint8_t *at, *end;
    struct pci_pattern_step *steps;
    size_t count, capacity;
    struct pci_bytes *sets;
    size_t set_count, set_capacity;
    uint32_t letter_sets[26]; /* 1 + the case-insensitive set of a letter; 0: not made */
    int fold;                 /* case-insensitive */
    int has_atom;
    size_t atom; /* first step of the last atom */
    enum last_quantifier last_quantifier;
    int depth;
    struct group groups[MAX_DEPTH + 1];
    pcol_error *err;
};

static pcol_status reject(const struct parser *p, const char *problem)
{
    return pci_fail(p->err, PCOL_E_ARGUMENT, "%s%sthe pattern %s", p->owner, *p->owner ? ": " : "",
                    problem);
}

/* ---- steps */

/* Reserves memory for `more` steps. */
static pcol_status reserve(struct parser *p, size_t more)
{
    if (more > MAX_STEPS - p->count)
        return reject(p, "is too large with all of its repeats");
    PCI_TRY(PCI_GROW(p->steps, p->capacity, p->count + more, p->err));
    return PCOL_OK;
}

static pcol_status append(struct parser *p, enum pci_pattern_step_kind kind, uint8_t byte,
                          size_t to)
{
    PCI_TRY(reserve(p, 1));
    p->steps[p->count++] = (struct pci_pattern_step){(uint8_t)kind, byte, (int32_t)to};
    return PCOL_OK;
}

/* Inserts a split to `to` before the step `at`. Jumps are relative, and all that are moved are
 * moved together. */
static pcol_status insert_split(struct parser *p, size_t at, size_t to)
{
    PCI_TRY(reserve(p, 1));
    memmove(p->steps + at + 1, p->steps + at, (p->count++ - at) * sizeof *p->steps);
    p->steps[at] = (struct pci_pattern_step){PCI_STEP_SPLIT, 0, (int32_t)to};
    return PCOL_OK;
}

static pcol_status append_backward(struct parser *p, enum pci_pattern_step_kind kind, size_t to)
{
    PCI_TRY(append(p, kind, 0, 0));
    p->steps[p->count - 1].to = -(int32_t)(p->count - 1 - to);
    return PCOL_OK;
}

static void begin_atom(struct parser *p)
{
    p->has_atom = 1;
    p->atom = p->count;
    p->last_quantifier = ONCE;
}

static pcol_status append_set(struct parser *p, const struct pci_bytes *set)
{
    PCI_TRY(PCI_GROW(p->sets, p->set_capacity, p->set_count + 1, p->err));
    p->sets[p->set_count] = *set;
    return append(p, PCI_STEP_SET, 0, p->set_count++);
}

static pcol_status append_byte(struct parser *p, uint8_t byte)
{
    if (!p->fold || !pci_is_letter(byte))
        return append(p, PCI_STEP_BYTE, byte, 0);
    uint32_t *set = &p->letter_sets[(byte | 32) - 'a'];
    if (*set)
        return append(p, PCI_STEP_SET, 0, *set - 1);
    struct pci_bytes both = {{0}};
    pci_bytes_add(&both, byte);
    pci_bytes_fold(&both);
    PCI_TRY(append_set(p, &both));
    *set = (uint32_t)p->set_count;
    return PCOL_OK;
}

static pcol_status parse_bracket(struct parser *p)
{
    struct pci_bytes set;
    const char *problem = pci_bytes_read(&p->at, p->end, p->fold, &set);
    if (problem)
        return reject(p, problem);
    begin_atom(p);
    return append_set(p, &set);
}

/* ---- quantifiers */

/* Repeats the last atom `min` to `max` times. */
static pcol_status repeat_atom(struct parser *p, uint32_t min, uint32_t max)
{
    size_t size = p->count - p->atom;
    if (size == 0 || (min == 1 && max == 1))
        return PCOL_OK;
    if (max == 0) {
        p->count = p->atom;
        return PCOL_OK;
    }
    p->last_quantifier = ONCE;
    PCI_TRY(reserve(p, (max - 1) * (size + 1) + 1));
    /* x{2,4} is xx(x(x)?)?: each optional copy may exit to the end. */
    size_t last = p->atom + min * size + (max - min) * (size + 1);
    for (uint32_t i = min ? 1 : 0; i < max; i++) {
        if (i == 0) {
            PCI_TRY(insert_split(p, p->atom, last - p->atom));
            continue;
        }
        if (i >= min)
            PCI_TRY(append(p, PCI_STEP_SPLIT, 0, last - p->count));
        memcpy(p->steps + p->count, p->steps + p->atom + (min == 0), size * sizeof *p->steps);
        p->count += size;
    }
    return PCOL_OK;
}

/* Applies ? (OPTIONAL), + (SEVERAL) or * (ANY_NUMBER) to the last atom. */
static pcol_status loop_atom(struct parser *p, enum last_quantifier quantifier)
{
    if (p->count == p->atom || p->last_quantifier == quantifier || p->last_quantifier == ANY_NUMBER)
        return PCOL_OK;
    if (p->last_quantifier != ONCE)
        quantifier = ANY_NUMBER; /* (x+)? and (x?)+ equal x* */
    p->last_quantifier = quantifier;
    if (quantifier == SEVERAL)
        return append_backward(p, PCI_STEP_SPLIT, p->atom);
    size_t size = p->count - p->atom;
    PCI_TRY(insert_split(p, p->atom, size + 1 + (quantifier == ANY_NUMBER)));
    return quantifier == ANY_NUMBER ? append_backward(p, PCI_STEP_JUMP, p->atom) : PCOL_OK;
}

/* Parses digits, at most 1000; -1: none. */
static pcol_status parse_number(struct parser *p, const uint8_t **at, long *value)
{
    *value = -1;
    for (; *at < p->end && **at >= '0' && **at <= '9'; ++*at) {
        *value = (*value < 0 ? 0 : *value) * 10 + (**at - '0');
        if (*value > (long)MAX_REPEATS)
            return reject(p, "repeats an item more than 1000 times");
    }
    return PCOL_OK;
}

/* Parses {n} {n,} {n,m} {,m}. *is_repeat: 0 if the brace is a literal. */
static pcol_status parse_braces(struct parser *p, int *is_repeat)
{
    const uint8_t *at = p->at + 1;
    long min, max;
    PCI_TRY(parse_number(p, &at, &min));
    max = min;
    *is_repeat = 0;
    if (at < p->end && *at == ',') {
        at++;
        PCI_TRY(parse_number(p, &at, &max));
        if (min < 0 && max < 0)
            return PCOL_OK;
    } else if (min < 0) {
        return PCOL_OK;
    }
    if (at == p->end || *at != '}')
        return PCOL_OK;
    *is_repeat = 1;
    if (!p->has_atom)
        return reject(p, "repeats nothing");
    p->at = at + 1;
    min = min < 0 ? 0 : min;
    if (max >= 0 && max < min)
        return reject(p, "has a repeat whose minimum is above its maximum");
    if (max >= 0)
        return repeat_atom(p, (uint32_t)min, (uint32_t)max);
    if (min == 0)
        return loop_atom(p, ANY_NUMBER);
    if (min == 1)
        return loop_atom(p, SEVERAL);
    /* x{3,} is xxx+: the loop covers the last copy. */
    size_t size = p->count - p->atom;
    PCI_TRY(repeat_atom(p, (uint32_t)min, (uint32_t)min));
    return size ? append_backward(p, PCI_STEP_SPLIT, p->count - size) : PCOL_OK;
}

static pcol_status parse_quantifier(struct parser *p)
{
    uint8_t c = *p->at;
    if (!p->has_atom)
        return reject(p, "repeats nothing");
    p->at++;
    return loop_atom(p, c == '*' ? ANY_NUMBER : c == '+' ? SEVERAL : OPTIONAL);
}

/* ---- groups and branches */

/* Ends a branch: a jump to the end of the group, which is patched by patch_jumps(). */
static pcol_status end_branch(struct parser *p)
{
    struct group *g = &p->groups[p->depth];
    p->at++;
    PCI_TRY(insert_split(p, g->end_branch, p->count - g->end_branch + 2));
    PCI_TRY(append(p, PCI_STEP_JUMP, 0, g->jumps));
    g->jumps = p->count;
    g->end_branch = p->count;
    p->has_atom = 0;
    return PCOL_OK;
}

/* Patches the jumps of all branches to the end of the group. */
static void patch_jumps(struct parser *p)
{
    struct group *g = &p->groups[p->depth];
    for (size_t link = g->jumps; link;) {
        struct pci_pattern_step *jump = &p->steps[link - 1];
        size_t next_link = (size_t)jump->to;
        jump->to = (int32_t)(p->count - (link - 1));
        link = next_link;
    }
}

static void start_group(struct parser *p, int fold_before)
{
    p->groups[p->depth] = (struct group){p->count, p->count, 0, fold_before};
    p->has_atom = 0;
}

/* Parses (?flags) and (?flags:. Only `i` affects matching: a dot matches any byte anyway, and
 * greediness does not matter. */
static pcol_status parse_flags(struct parser *p, int *group)
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
    return reject(p, "has an unsupported (? group");
}

static pcol_status open_group(struct parser *p)
{
    int fold = p->fold, group = 1;
    p->at++;
    if (p->at < p->end && *p->at == '?')
        PCI_TRY(parse_flags(p, &group));
    if (!group) {
        p->has_atom = 0;
        return PCOL_OK;
    }
    if (p->depth == MAX_DEPTH)
        return reject(p, "nests too deeply");
    p->depth++;
    start_group(p, fold);
    return PCOL_OK;
}

static pcol_status close_group(struct parser *p)
{
    if (p->depth == 0) { /* an unmatched ) is a literal */
        begin_atom(p);
        return append_byte(p, *p->at++);
    }
    patch_jumps(p);
    p->has_atom = 1;
    p->last_quantifier = ONCE;
    p->atom = p->groups[p->depth].start;
    p->fold = p->groups[p->depth].fold;
    p->depth--;
    p->at++;
    return PCOL_OK;
}

/* ---- parser */

static pcol_status append_assertion(struct parser *p, enum pci_assertion assertion)
{
    p->has_atom = 0; /* assertions cannot be repeated */
    return append(p, PCI_STEP_ASSERT, (uint8_t)assertion, 0);
}

static pcol_status parse_escape(struct parser *p)
{
    static const char letters[] = "bB<>`'Az";
    static const uint8_t assertions[] = {
        PCI_ASSERT_WORD_EDGE, PCI_ASSERT_NO_EDGE, PCI_ASSERT_WORD_START, PCI_ASSERT_WORD_END,
        PCI_ASSERT_START,     PCI_ASSERT_END,     PCI_ASSERT_START,      PCI_ASSERT_END};
    struct pci_bytes set = {{0}};
    uint8_t c;
    if (p->end - p->at < 2)
        return reject(p, "ends in a backslash");
    c = p->at[1];
    p->at += 2;
    if (c >= '0' && c <= '9')
        return reject(p, "has a back reference");
    const char *assertion = strchr(letters, c);
    if (assertion)
        return append_assertion(p, assertions[assertion - letters]);
    begin_atom(p);
    if (pci_bytes_add_shorthand(&set, c))
        return append_set(p, &set);
    if (pci_control_of(c))
        return append_byte(p, pci_control_of(c));
    if (pci_is_letter(c))
        return reject(p, "has an unknown escape");
    return append_byte(p, c);
}

static pcol_status parser(struct parser *p)
{
    start_group(p, 0);
    while (p->at < p->end) {
        uint8_t c = *p->at;
        int is_repeat = 0;
        if (c == '{')
            PCI_TRY(parse_braces(p, &is_repeat));
        if (c == '*' || c == '+' || c == '?') {
            PCI_TRY(parse_quantifier(p));
            is_repeat = 1;
        }
        if (is_repeat) {
            if (p->at < p->end && *p->at == '?') /* a lazy quantifier matches the same names */
                p->at++;
        } else if (c == '[') {
            PCI_TRY(parse_bracket(p));
        } else if (c == '\\') {
            PCI_TRY(parse_escape(p));
        } else if (c == '(') {
            PCI_TRY(open_group(p));
        } else if (c == ')') {
            PCI_TRY(close_group(p));
        } else if (c == '|') {
            PCI_TRY(end_branch(p));
        } else {
            p->at++;
            if (c == '^' || c == '$') {
                PCI_TRY(append_assertion(p, c == '^' ? PCI_ASSERT_START : PCI_ASSERT_END));
            } else {
                begin_atom(p);
                PCI_TRY(c == '.' ? append(p, PCI_STEP_ANY, 0, 0) : append_byte(p, c));
                while (c >= 0xc0 && p->at < p->end && *p->at >> 6 == 2) /* continuation bytes of a
                                                                         * UTF-8 character */
                    PCI_TRY(append_byte(p, *p->at++));
            }
        }
    }
    if (p->depth)
        return reject(p, "has an unmatched (");
    patch_jumps(p);
    return PCOL_OK;
}

static pcol_status compile(struct parser *p, int is_whole, struct pci_automaton **automaton)
{
    if (memchr(p->at, '\0', (size_t)(p->end - p->at)))
        return reject(p, "contains a NUL byte");
    if (is_whole)
        PCI_TRY(append(p, PCI_STEP_ASSERT, PCI_ASSERT_START, 0));
    PCI_TRY(parser(p));
    if (is_whole)
        PCI_TRY(append(p, PCI_STEP_ASSERT, PCI_ASSERT_END, 0));
    PCI_TRY(append(p, PCI_STEP_MATCH, 0, 0));
    struct pci_pattern_step *steps = p->steps;
    struct pci_bytes *sets = p->sets;
    p->steps = NULL;
    p->sets = NULL;
    return pci_automaton_new(steps, p->count, sets, p->set_count, automaton, p->err);
}

pcol_status pcol_pattern_new(const char *text, size_t size, const char *owner, int is_whole,
                             pcol_pattern **pattern, pcol_error *err)
{
    struct parser p = {0};
    pcol_pattern *compiled;
    if (!pattern)
        return pci_fail(err, PCOL_E_ARGUMENT, "no pattern given");
    *pattern = NULL;
    if (!text || !owner)
        return pci_fail(err, PCOL_E_ARGUMENT, "no text or no owner of the pattern given");
    if (size > MAX_PATTERN_SIZE)
        return pci_fail(err, PCOL_E_ARGUMENT, "%s%sthe pattern is longer than %u bytes", owner,
                        *owner ? ": " : "", MAX_PATTERN_SIZE);
    PCI_TRY(PCI_CALLOC(compiled, 1, err));
    snprintf(compiled->owner, sizeof compiled->owner, "%s", owner);
    compiled->option = "";
    p.owner = owner;
    p.at = (const uint8_t *)text;
    p.end = p.at + size;
    p.err = err;
    pcol_status status = compile(&p, is_whole, &compiled->automaton);
    pci_free(p.steps);
    pci_free(p.sets);
    if (status == PCOL_OK)
        *pattern = compiled;
    else
        pcol_pattern_free(compiled);
    return status;
}

pcol_status pci_pattern_new(const char *text, const char *option, pcol_pattern **pattern,
                            pcol_error *err)
{
    PCI_TRY(
        pci_error_option(err, option, pcol_pattern_new(text, strlen(text), "", 0, pattern, err)));
    (*pattern)->option = option;
    return PCOL_OK;
}

pcol_status pcol_pattern_test(pcol_pattern *pattern, pcol_str name, int *matches, pcol_error *err)
{
    PCI_REQUIRE(matches, err);
    *matches = 0;
    PCI_REQUIRE(pattern, err);
    PCI_REQUIRE_MANY(name.data, name.size, err);
    return pci_error_option(
        err, pattern->option,
        pci_automaton_test(pattern->automaton, pattern->owner, name, matches, err));
}

pcol_status pci_get_coded(const pcol_file *file, const struct pci_column *column, uint64_t row,
                          struct pci_coded_text *text, pcol_error *err)
{
    int64_t code;
    int valid;
    *text = (struct pci_coded_text){{"", 0}, PCI_NO_CODE};
    if (column && column->desc->type != PCF_STRING)
        return pci_get_str(file, column, row, &text->text, &valid, err);
    PCI_TRY(pci_get(file, column, row, &code, &valid, err));
    if (!valid)
        return PCOL_OK;
    text->code = code;
    return pci_string(file, (uint64_t)code, &text->text, err);
}

int pci_pattern_knows(const pcol_pattern *pattern, int64_t code)
{
    return code != PCI_NO_CODE && pattern->known && pattern->known[code] != UNTESTED;
}

pcol_status pci_pattern_test_coded(pcol_pattern *pattern, const pcol_file *file,
                                   const struct pci_coded_text *text, int *matches, pcol_error *err)
{
    if (text->code == PCI_NO_CODE)
        return pcol_pattern_test(pattern, text->text, matches, err);
    if (!pattern->known) {
        PCI_TRY(pci_check_row_count(file, "strings", err));
        PCI_TRY(PCI_CALLOC(pattern->known, (size_t)pci_rows(file, "strings") + 1, err));
    }
    if (!pci_pattern_knows(pattern, text->code)) {
        PCI_TRY(pcol_pattern_test(pattern, text->text, matches, err));
        pattern->known[text->code] = *matches ? MATCHES : FAILS;
    }
    *matches = pattern->known[text->code] == MATCHES;
    return PCOL_OK;
}

void pcol_pattern_free(pcol_pattern *pattern)
{
    if (!pattern)
        return;
    pci_free(pattern->known);
    pci_automaton_free(pattern->automaton);
    pci_free(pattern);
}
