/*
 * stacks.c - text profiles that count stacks: Go's count profiles, threads, contention
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

static int begins_section(const uint8_t *p, const uint8_t *end)
{
    return pci_gp_begins(p, end, "---");
}

/* ---- count profiles */

/* NAME profile: total NUMBER, the whole line */
static int take_count_header(const uint8_t *p, const uint8_t *end, struct pci_gp_span *name)
{
    static const char behind[] = " profile: total ";
    name->p = p;
    while (p < end && !pci_gp_space(*p))
        p++;
    name->end = p;
    if (name->p == p || !pci_gp_word(&p, end, behind) || p == end)
        return 0;
    while (p < end && pci_gp_digit(*p))
        p++;
    return p == end;
}

int pci_gp_is_count(const uint8_t *p, const uint8_t *end)
{
    struct pci_gp_span name;
    return take_count_header(p, end, &name);
}

/* COUNT @ 0x... 0x..., the whole line; Go writes nothing else. */
static pcol_status take_count(struct pci_gp_reader *r, pcol_error *err)
{
    const uint8_t *p = r->line.text, *end = p + r->line.size;
    int64_t count;
    int got = pci_gp_integer(&p, end, 0, &count);
    if (got < 0)
        return pci_gp_fail(r, r->line.text, err, "number beyond 64 bits");
    if (!got || !pci_gp_word(&p, end, " @"))
        return pci_gp_fail(r, p, err, "not a sample: COUNT @ 0x... 0x...");
    if (p == end) { /* Go's threadcreate has threads whose beginning it does not know */
        if (!r->import->options->lenient)
            return pci_gp_fail(r, p, err, "a sample without addresses");
        r->stackless++;
    }
    while (p < end) {
        const uint8_t *at = p;
        uint64_t address;
        if (!pci_gp_word(&p, end, " 0x") || !(got = pci_gp_hex_number(&p, end, 0, &address)))
            return pci_gp_fail(r, p, err, "not an address of a stack");
        if (got < 0)
            return pci_gp_fail(r, at + 1, err, "address beyond 64 bits");
        PCI_TRY(pci_gp_push(&r->profile, address - 1, err));
    }
    return pci_gp_sample(&r->profile, &count, err);
}

pcol_status pci_gp_read_count(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span name;
    if (!take_count_header(r->line.text, r->line.text + r->line.size, &name))
        return pci_gp_fail(r, r->line.text, err, "not the header of a count profile");
    size_t size = (size_t)(name.end - name.p);
    if (size >= sizeof p->type_text)
        return pci_gp_fail(r, name.p, err, "name of the profile longer than 255 bytes");
    if (memchr(name.p, '\0', size))
        return pci_gp_fail(r, name.p, err, "name of the profile holds a NUL");
    memcpy(p->type_text, name.p, size);
    p->type_text[size] = '\0';
    p->types[0] = p->period_type = (struct pci_gp_type){p->type_text, "count"};
    p->type_count = 1;
    p->period = 1;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->got)
            break;
        const uint8_t *text = r->line.text, *end = text + r->line.size;
        if (pci_gp_blank_or_comment(text, end))
            continue;
        if (begins_section(text, end))
            break;
        PCI_TRY(take_count(r, err));
    }
    if (r->stackless)
        pci_import_message(r->import, "samples without addresses kept: %" PRIu64, r->stackless);
    return pci_gp_read_map(r, err);
}

/* ---- threads */

/* `--- threadz NUMBER ---` anywhere in the line */
static int is_threadz(const uint8_t *p, const uint8_t *end)
{
    static const char begin[] = "--- threadz ";
    for (; (p = pci_gp_find(p, end, begin)); p++) {
        const uint8_t *at = p + strlen(begin);
        if (at == end || !pci_gp_digit(*at))
            continue;
        while (at < end && pci_gp_digit(*at))
            at++;
        if (pci_gp_begins(at, end, " ---"))
            return 1;
    }
    return 0;
}

/* Is /NUMBER in front of `p`, and does it begin behind `from`? */
static int slash_number_before(const uint8_t *from, const uint8_t *p)
{
    const uint8_t *digits = p;
    while (digits > from && pci_gp_digit(digits[-1]))
        digits--;
    return digits < p && digits > from && digits[-1] == '/';
}

/* `--- Thread HEX (name: NAME/NUMBER) stack: ---` anywhere in the line */
static int is_thread(const uint8_t *p, const uint8_t *end)
{
    static const char begin[] = "--- Thread ", close[] = ") stack: ---";
    for (; (p = pci_gp_find(p, end, begin)); p++) {
        const uint8_t *at = p + strlen(begin), *digits = at;
        while (at < end && pci_gp_hex(*at))
            at++;
        if (at == digits || !pci_gp_word(&at, end, " (name: "))
            continue;
        for (const uint8_t *to = at; (to = pci_gp_find(to, end, close)); to++)
            if (slash_number_before(at, to))
                return 1;
        return 0; /* what follows another head would be behind this one as well */
    }
    return 0;
}

int pci_gp_is_thread(const uint8_t *p, const uint8_t *end)
{
    return is_threadz(p, end) || is_thread(p, end);
}

/* The lines of one thread up to the next line that begins a section. A thread without any address
 * stands for one more like the thread before. */
static pcol_status take_thread(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    size_t before = p->stack_count;
    int same = 0;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->got)
            break;
        struct pci_gp_span s = pci_gp_line(&r->line);
        if (begins_section(s.p, s.end))
            break;
        if (pci_gp_find(s.p, s.end, "same as previous thread"))
            same = 1;
        else
            PCI_TRY(pci_gp_push_addresses(r, s.p, s.end, PCI_GP_LEAF_IS_PLACE, err));
    }
    if (same)
        p->stack_count = before;
    if (p->stack_count > before) {
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
        while (r->got && !pci_gp_begins(r->line.text, r->line.text + r->line.size, "-") &&
               !pci_gp_map_begins(r->line.text, r->line.text + r->line.size));
    for (;;) {
        s = pci_gp_line(&r->line);
        if (!r->got)
            return pci_gp_fail(r, r->line.text, err,
                               "the threads end without a memory map behind them");
        if (pci_gp_map_begins(s.p, s.end) || pci_gp_begins(s.p, s.end, "---- no stack trace for"))
            break;
        if (!is_thread(s.p, s.end))
            return pci_gp_fail(r, s.p, err,
                               "not a thread: --- Thread ID (name: NAME/NUMBER) stack: ---");
        PCI_TRY(take_thread(r, err));
    }
    PCI_TRY(pci_gp_read_map(r, err));
    pci_gp_drop_double_leaves(p);
    return PCOL_OK;
}

/* ---- contention */

int pci_gp_is_contention(const uint8_t *p, const uint8_t *end)
{
    return pci_gp_begins(p, end, "--- contentionz ") || pci_gp_begins(p, end, "--- mutex:") ||
           pci_gp_begins(p, end, "--- contention:");
}

static pcol_status take_attribute(struct pci_gp_reader *r, struct pci_gp_span s,
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
    if (pci_gp_integer(&at, value.end, 1, &number) <= 0 || at != value.end)
        return pci_gp_fail(r, value.p, err, "not a number of 64 bits");
    if (cycles)
        *hertz = number;
    if (period)
        p->period = number;
    if (elapsed)
        p->duration_ns = (int64_t)((uint64_t)number * 1000000u);
    return PCOL_OK;
}

/* CYCLES COUNT @ STACK, perhaps behind something else */
static pcol_status take_contention(struct pci_gp_reader *r, struct pci_gp_span s, int64_t hertz,
                                   pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    for (const uint8_t *at = s.p; at < s.end;) {
        int64_t cycles, count;
        const uint8_t *begin = at;
        int got = pci_gp_integer(&at, s.end, 0, &cycles);
        if (!got) {
            at++;
            continue;
        }
        const uint8_t *behind = at;
        pci_gp_spaces(&behind, s.end);
        int got_count = pci_gp_integer(&behind, s.end, 0, &count);
        if (!got_count || behind == at || !pci_gp_word(&behind, s.end, " @"))
            continue;
        if (got < 0 || got_count < 0)
            return pci_gp_fail(r, begin, err, "number beyond 64 bits");
        if (p->period > 0 && hertz > 0) {
            double delay = (double)cycles * (double)p->period / ((double)hertz / 1e9);
            if (!(delay < 9223372036854775808.0))
                return pci_gp_fail(r, begin, err, "delay beyond 64 bits");
            cycles = (int64_t)delay;
        }
        if (p->period > 0)
            count = (int64_t)((uint64_t)count * (uint64_t)p->period);
        PCI_TRY(pci_gp_push_stack(r, behind, s.end, PCI_GP_ALL_RETURN, err));
        return pci_gp_sample(p, (int64_t[]){count, cycles}, err);
    }
    return pci_gp_fail(r, s.p, err, "not a sample: CYCLES COUNT @ STACK");
}

pcol_status pci_gp_read_contention(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    int64_t hertz = 0;
    int in_head = 1;
    p->types[0] = p->period_type = (struct pci_gp_type){"contentions", "count"};
    p->types[1] = (struct pci_gp_type){"delay", "nanoseconds"};
    p->type_count = 2;
    p->period = 1;
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->got)
            break;
        struct pci_gp_span s = pci_gp_line(&r->line);
        if (pci_gp_blank_or_comment(s.p, s.end))
            continue;
        if (begins_section(s.p, s.end))
            break;
        const uint8_t *equals = memchr(s.p, '=', (size_t)(s.end - s.p));
        in_head = in_head && equals;
        if (in_head)
            PCI_TRY(take_attribute(r, s, equals, &hertz, err));
        else
            PCI_TRY(take_contention(r, s, hertz, err));
    }
    return pci_gp_read_map(r, err);
}
