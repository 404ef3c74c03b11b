/*
 * stacks.c - text profiles with counts of stacks: Go's count profiles, threads, contention
 *
 *     goroutine profile: total 13           --- contentionz 1 ---    --- mutex:
 *     7 @ 0x437cd6 0x4061db                 cycles/second = 3201000000
 *                                           sampling period = 100
 *     --- threadz 1 ---                     19490304 27 @ 0xbccc97 0xc61202
 *     --- Thread 7f79 (name: main/14748) stack: ---
 *       PC: 0x00bc8f1c: helper(arg *)
 *       0x0040be31: main
 *     --- Thread 7f80 (name: worker/14750) stack: ---
 *       [same as previous thread]
 *     --- Memory map: ---
 */
#include "formats/gperftools/scanner.h"

#include <inttypes.h>

static int is_section_header(const uint8_t *p, const uint8_t *end)
{
    return pci_gp_has_prefix(p, end, "---");
}

/* ---- count profiles */

/* NAME profile: total NUMBER, the whole line */
static int parse_count_header(const uint8_t *p, const uint8_t *end, struct pci_gp_span *name)
{
    static const char after_name[] = " profile: total ";
    name->p = p;
    while (p < end && !pci_gp_is_space(*p))
        p++;
    name->end = p;
    if (name->p == p || !pci_gp_accept(&p, end, after_name) || p == end)
        return 0;
    while (p < end && pci_gp_is_digit(*p))
        p++;
    return p == end;
}

int pci_gp_is_count(const uint8_t *p, const uint8_t *end)
{
    struct pci_gp_span name;
    return parse_count_header(p, end, &name);
}

/* COUNT @ 0x... 0x..., the whole line */
static pcol_status read_count(struct pci_gp_reader *r, pcol_error *err)
{
    const uint8_t *p = r->line.text, *end = p + r->line.size;
    int64_t count;
    int found = pci_gp_read_integer(&p, end, 0, &count);
    if (found < 0)
        return pci_gp_fail(r, r->line.text, err, "the number exceeds 64 bits");
    if (!found || !pci_gp_accept(&p, end, " @"))
        return pci_gp_fail(r, p, err, "not a sample: COUNT @ 0x... 0x...");
    if (p == end) { /* Go's threadcreate lists threads of unknown origin */
        if (!r->import->options->lenient)
            return pci_error_option(err, "lenient",
                                    pci_gp_fail(r, p, err, "the sample has no addresses"));
        r->stackless++;
    }
    while (p < end) {
        const uint8_t *at = p;
        uint64_t address;
        if (!pci_gp_accept(&p, end, " 0x") || !(found = pci_gp_read_hex(&p, end, 0, &address)))
            return pci_gp_fail(r, p, err, "not an address of a stack");
        if (found < 0)
            return pci_gp_fail(r, at + 1, err, "the address exceeds 64 bits");
        PCI_TRY(pci_gp_push(&r->profile, address - 1, err));
    }
    return pci_gp_sample(&r->profile, &count, err);
}

pcol_status pci_gp_read_count(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span name;
    if (!parse_count_header(r->line.text, r->line.text + r->line.size, &name))
        return pci_gp_fail(r, r->line.text, err, "not the header of a count profile");
    size_t size = (size_t)(name.end - name.p);
    if (size >= sizeof p->type_text)
        return pci_gp_fail(r, name.p, err, "the name of the profile exceeds 255 bytes");
    if (memchr(name.p, '\0', size))
        return pci_gp_fail(r, name.p, err, "the name of the profile contains a NUL");
    memcpy(p->type_text, name.p, size);
    p->type_text[size] = '\0';
    p->types[0] = p->period_type = (struct pci_gp_type){p->type_text, "count"};
    p->type_count = 1;
    p->period = 1;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->found)
            break;
        const uint8_t *text = r->line.text, *end = text + r->line.size;
        if (pci_gp_is_blank_or_comment(text, end))
            continue;
        if (is_section_header(text, end))
            break;
        PCI_TRY(read_count(r, err));
    }
    if (r->stackless)
        pci_import_message("samples imported without addresses: %" PRIu64, r->stackless);
    return pci_gp_read_map(r, err);
}

/* ---- threads */

/* `--- threadz NUMBER ---` anywhere in the line */
static int is_threadz(const uint8_t *p, const uint8_t *end)
{
    static const char begin[] = "--- threadz ";
    for (; (p = pci_gp_find(p, end, begin)); p++) {
        const uint8_t *at = p + strlen(begin);
        if (at == end || !pci_gp_is_digit(*at))
            continue;
        while (at < end && pci_gp_is_digit(*at))
            at++;
        if (pci_gp_has_prefix(at, end, " ---"))
            return 1;
    }
    return 0;
}

/* Does [from, p) end with a non-empty text and /NUMBER? */
static int ends_with_number(const uint8_t *from, const uint8_t *p)
{
    const uint8_t *digits = p;
    while (digits > from && pci_gp_is_digit(digits[-1]))
        digits--;
    return digits < p && digits > from && digits[-1] == '/';
}

/* `--- Thread HEX (name: NAME/NUMBER) stack: ---` anywhere in the line */
static int is_thread(const uint8_t *p, const uint8_t *end)
{
    static const char begin[] = "--- Thread ", close[] = ") stack: ---";
    for (; (p = pci_gp_find(p, end, begin)); p++) {
        const uint8_t *at = p + strlen(begin), *digits = at;
        while (at < end && pci_gp_is_hex(*at))
            at++;
        if (at == digits || !pci_gp_accept(&at, end, " (name: "))
            continue;
        for (const uint8_t *close_at = at; (close_at = pci_gp_find(close_at, end, close));
             close_at++)
            if (ends_with_number(at, close_at))
                return 1;
        return 0; /* the end of a later match would also be an end of this one */
    }
    return 0;
}

int pci_gp_is_thread(const uint8_t *p, const uint8_t *end)
{
    return is_threadz(p, end) || is_thread(p, end);
}

/* Read a thread up to the next section. A thread without addresses increments the count of the
 * previous one. */
static pcol_status read_thread(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    size_t old_stack_count = p->stack_count;
    int is_repeated = 0;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->found)
            break;
        struct pci_gp_span s = pci_gp_line(&r->line);
        if (is_section_header(s.p, s.end))
            break;
        if (pci_gp_find(s.p, s.end, "same as previous thread"))
            is_repeated = 1;
        else
            PCI_TRY(pci_gp_push_addresses(r, s.p, s.end, PCI_GP_LEAF_IS_EXACT, err));
    }
    if (is_repeated)
        p->stack_count = old_stack_count;
    if (p->stack_count > old_stack_count) {
        const int64_t one = 1;
        return pci_gp_sample(p, &one, err);
    }
    if (p->value_count)
        p->values[p->value_count - 1]++;
    return PCOL_OK;
}

pcol_status pci_gp_read_thread(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span s = pci_gp_line(&r->line);
    p->types[0] = p->period_type = (struct pci_gp_type){"thread", "count"};
    p->type_count = 1;
    p->period = 1;
    if (is_threadz(s.p, s.end))
        do
            PCI_TRY(pci_gp_next(r, err));
        while (r->found && !pci_gp_has_prefix(r->line.text, r->line.text + r->line.size, "-") &&
               !pci_gp_is_map_header(r->line.text, r->line.text + r->line.size));
    for (;;) {
        s = pci_gp_line(&r->line);
        if (!r->found)
            return pci_gp_fail(r, r->line.text, err, "no memory map after the threads");
        if (pci_gp_is_map_header(s.p, s.end) ||
            pci_gp_has_prefix(s.p, s.end, "---- no stack trace for"))
            break;
        if (!is_thread(s.p, s.end))
            return pci_gp_fail(r, s.p, err,
                               "not a thread: --- Thread ID (name: NAME/NUMBER) stack: ---");
        PCI_TRY(read_thread(r, err));
    }
    PCI_TRY(pci_gp_read_map(r, err));
    pci_gp_drop_double_leaves(p);
    return PCOL_OK;
}

/* ---- contention */

int pci_gp_is_contention(const uint8_t *p, const uint8_t *end)
{
    return pci_gp_has_prefix(p, end, "--- contentionz ") ||
           pci_gp_has_prefix(p, end, "--- mutex:") || pci_gp_has_prefix(p, end, "--- contention:");
}

static pcol_status read_attribute(struct pci_gp_reader *r, struct pci_gp_span s,
                                  const uint8_t *equals, int64_t *hertz, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span key = pci_gp_trim(s.p, equals), value = pci_gp_trim(equals + 1, s.end);
    size_t size = (size_t)(key.end - key.p);
    const uint8_t *at = value.p;
    int64_t number = 0;
#define IS(word) (size == strlen(word) && !memcmp(key.p, word, size))
    int cycles = IS("cycles/second"), period = IS("sampling period");
    int elapsed = IS("ms since reset");
    if (IS("discarded samples"))
        return PCOL_OK;
#undef IS
    if (!cycles && !period && !elapsed)
        return pci_gp_fail(r, key.p, err, "unknown attribute of a contention profile");
    at += at < value.end && *at == '+';
    if (pci_gp_read_integer(&at, value.end, 1, &number) <= 0 || at != value.end)
        return pci_gp_fail(r, value.p, err, "not a number of 64 bits");
    if (cycles)
        *hertz = number;
    if (period)
        p->period = number;
    if (elapsed) {
        PCI_TRY(pci_gp_multiply(r, value.p, 1000000, &number, err));
        p->duration_ns = number;
    }
    return PCOL_OK;
}

/* CYCLES COUNT @ STACK, anywhere in the line */
static pcol_status read_contention(struct pci_gp_reader *r, struct pci_gp_span s, int64_t hertz,
                                   pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    for (const uint8_t *at = s.p; at < s.end;) {
        int64_t cycles, count;
        const uint8_t *begin = at;
        int found = pci_gp_read_integer(&at, s.end, 0, &cycles);
        if (!found) {
            at++;
            continue;
        }
        const uint8_t *after_cycles = at;
        pci_gp_skip_spaces(&after_cycles, s.end);
        int got_count = pci_gp_read_integer(&after_cycles, s.end, 0, &count);
        if (!got_count || after_cycles == at || !pci_gp_accept(&after_cycles, s.end, " @"))
            continue;
        if (found < 0 || got_count < 0)
            return pci_gp_fail(r, begin, err, "the number exceeds 64 bits");
        if (p->period > 0 && hertz > 0) {
            double delay = (double)cycles * (double)p->period / ((double)hertz / 1e9);
            if (!(delay < 9223372036854775808.0))
                return pci_gp_fail(r, begin, err, "the delay exceeds 64 bits");
            cycles = (int64_t)delay;
        }
        if (p->period > 0)
            PCI_TRY(pci_gp_multiply(r, begin, p->period, &count, err));
        PCI_TRY(pci_gp_push_stack(r, after_cycles, s.end, PCI_GP_ALL_RETURN, err));
        return pci_gp_sample(p, (int64_t[]){count, cycles}, err);
    }
    return pci_gp_fail(r, s.p, err, "not a sample: CYCLES COUNT @ STACK");
}

pcol_status pci_gp_read_contention(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    int64_t hertz = 0;
    int in_header = 1;
    p->types[0] = p->period_type = (struct pci_gp_type){"contentions", "count"};
    p->types[1] = (struct pci_gp_type){"delay", "nanoseconds"};
    p->type_count = 2;
    p->period = 1;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->found)
            break;
        struct pci_gp_span s = pci_gp_line(&r->line);
        if (pci_gp_is_blank_or_comment(s.p, s.end))
            continue;
        if (is_section_header(s.p, s.end))
            break;
        const uint8_t *equals = memchr(s.p, '=', (size_t)(s.end - s.p));
        in_header = in_header && equals;
        if (in_header)
            PCI_TRY(read_attribute(r, s, equals, &hertz, err));
        else
            PCI_TRY(read_contention(r, s, hertz, err));
    }
    return pci_gp_read_map(r, err);
}
