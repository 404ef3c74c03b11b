/*
 * java.c - text profiles of Java programs, and the names behind them
 *
 *     --- heapz 1 ---      or     --- contentionz 1 ---
 *     format = java
 *     resolution = bytes
 *           7048     1 @ 0x00000003 0x00000004            BYTES OBJECTS, or DELAY COUNT
 *      0x00000003 com.example.f (Source.java:31)
 *
 * The addresses are numbers that the writer made up: what they stand for follows the samples.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

/* Java samples its heap at this mean distance. */
#define HEAP_RATE 524288

static int is_line(const uint8_t *p, const uint8_t *end, const char *text)
{
    struct pci_gp_span s = pci_gp_trim(p, end);
    return (size_t)(s.end - s.p) == strlen(text) && pci_gp_begins(s.p, s.end, text);
}

static int is_heap(const uint8_t *p, const uint8_t *end)
{
    return is_line(p, end, "--- heapz 1 ---");
}

int pci_gp_is_java(const uint8_t *p, const uint8_t *end)
{
    return is_heap(p, end) || is_line(p, end, "--- contentionz 1 ---");
}

/* ---- attributes */

struct java {
    struct pci_gp_reader *reader;
    int heap;
};

static int word_or_blank(uint8_t c)
{
    return c == ' ' || c == '_' || pci_gp_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static int is(struct pci_gp_span s, const char *word)
{
    return (size_t)(s.end - s.p) == strlen(word) && pci_gp_begins(s.p, s.end, word);
}

static pcol_status take_resolution(struct java *j, struct pci_gp_span value, pcol_error *err)
{
    struct pci_gp_profile *p = &j->reader->profile;
    size_t size = (size_t)(value.end - value.p);
    if (size >= sizeof p->type_text)
        return pci_gp_fail(j->reader, value.p, err, "name of the unit longer than 255 bytes");
    memcpy(p->type_text, value.p, size);
    p->type_text[size] = '\0';
    p->types[0] = (struct pci_gp_type){j->heap ? "inuse_objects" : "contentions", "count"};
    p->types[1] = (struct pci_gp_type){j->heap ? "inuse_space" : "delay", p->type_text};
    p->type_count = 2;
    return PCOL_OK;
}

/* KEY=VALUE in the current line; *got is 0 if there is none, and the samples begin. */
static pcol_status take_attribute(struct java *j, int *got, pcol_error *err)
{
    struct pci_gp_reader *r = j->reader;
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span s = pci_gp_line(&r->line);
    const uint8_t *equals = memchr(s.p, '=', (size_t)(s.end - s.p)), *from = equals, *to;
    *got = 0;
    if (!equals)
        return PCOL_OK;
    while (from > s.p && word_or_blank(from[-1]))
        from--;
    for (to = equals + 1; to < s.end && word_or_blank(*to);)
        to++;
    *got = from < equals && to > equals + 1;
    if (!*got)
        return PCOL_OK;
    struct pci_gp_span key = pci_gp_trim(from, equals), value = pci_gp_trim(equals + 1, to);
    if (is(key, "format"))
        return is(value, "java") ? PCOL_OK : pci_gp_fail(r, value.p, err, "format is not 'java'");
    if (is(key, "resolution"))
        return take_resolution(j, value, err);
    int period = is(key, "sampling period");
    const uint8_t *at = value.p;
    int64_t number = 0;
    if (j->heap || (!period && !is(key, "ms since reset")))
        return pci_gp_fail(r, key.p, err, "unknown attribute of a Java profile");
    if (pci_gp_integer(&at, value.end, 1, &number) <= 0 || at != value.end)
        return pci_gp_fail(r, value.p, err, "not a number of 64 bits");
    if (period) {
        p->period_type = (struct pci_gp_type){"contentions", "count"};
        p->period = number;
    } else {
        p->duration_ns = (int64_t)((uint64_t)number * 1000000u);
    }
    return PCOL_OK;
}

/* ---- samples */

/* BYTES OBJECTS @ STACK, or DELAY COUNT @ STACK; *got is 0 if the line is none, and names begin. */
static pcol_status take_sample(struct java *j, int *got, pcol_error *err)
{
    struct pci_gp_reader *r = j->reader;
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span s = pci_gp_line(&r->line);
    for (const uint8_t *at = s.p; at < s.end;) {
        int64_t values[3] = {0};
        const uint8_t *begin = at;
        int second = pci_gp_integer(&at, s.end, 0, &values[1]);
        if (!second) {
            at++;
            continue;
        }
        const uint8_t *next = at, *sign, *behind;
        pci_gp_spaces(&next, s.end);
        behind = next;
        int first = pci_gp_integer(&next, s.end, 0, &values[0]);
        sign = next;
        pci_gp_spaces(&sign, s.end);
        if (!first || behind == at || sign == next || !pci_gp_word(&sign, s.end, "@") ||
            !pci_gp_begins(sign, s.end, " "))
            continue;
        *got = 1;
        if (second < 0 || first < 0)
            return pci_gp_fail(r, begin, err, "number beyond 64 bits");
        if (!p->type_count)
            return pci_gp_fail(r, begin, err, "a sample without a resolution before it");
        if (j->heap) {
            if (!values[0])
                return pci_gp_fail(r, behind, err, "the number of objects is 0");
            values[2] = values[1] / values[0];
            if (!pci_gp_unsample(&values[0], &values[1], HEAP_RATE))
                return pci_gp_fail(r, begin, err, "unsampled value beyond 64 bits");
        } else if (p->period) {
            values[0] = (int64_t)((uint64_t)values[0] * (uint64_t)p->period);
            values[1] = (int64_t)((uint64_t)values[1] * (uint64_t)p->period);
        }
        PCI_TRY(pci_gp_push_stack(r, sign, s.end, PCI_GP_NONE_RETURNS, err));
        return pci_gp_sample(p, values, err);
    }
    *got = 0;
    return PCOL_OK;
}

/* ---- names */

/* The last " (" of [p, end), NULL if none: the blank's place. */
static const uint8_t *last_open(const uint8_t *p, const uint8_t *end)
{
    for (const uint8_t *at = end; at - p >= 2; at--)
        if (at[-1] == '(' && pci_gp_space(at[-2]))
            return at - 2;
    return NULL;
}

/* NAME (FILE:LINE), NAME (PATH), or NAME. */
static void split_name(struct pci_gp_span whole, struct pci_gp_span *name, struct pci_gp_span *file,
                       int64_t *line)
{
    *name = whole;
    *file = (struct pci_gp_span){whole.end, whole.end};
    *line = 0;
    const uint8_t *close = whole.end - 1, *open;
    if (whole.p < whole.end && *close == ')' && (open = last_open(whole.p, close))) {
        const uint8_t *digits = close;
        while (digits > open && pci_gp_digit(digits[-1]))
            digits--;
        const uint8_t *colon = digits - (digits[-1] == '-') - 1, *at = digits;
        *name = (struct pci_gp_span){whole.p, open};
        *file = (struct pci_gp_span){open + 2, close};
        if (digits < close && colon > open + 2 && *colon == ':') {
            file->end = colon;
            if (digits[-1] == '-' || pci_gp_integer(&at, close, 0, line) < 0)
                *line = 0;
            return;
        }
        /* No line: the path of a library, of which the last part tells enough. */
        while (file->end > file->p + 1 && file->end[-1] == '/')
            file->end--;
        for (at = file->end; at > file->p && at[-1] != '/';)
            at--;
        if (at < file->end)
            file->p = at;
    } else if (pci_gp_find(whole.p, whole.end, "generated stub/JIT")) {
        static const uint8_t stub[] = {'S', 'T', 'U', 'B'};
        *name = (struct pci_gp_span){stub, stub + sizeof stub};
    }
}

static pcol_status take_name(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_span s = pci_gp_line(&r->line), name, file;
    const uint8_t *at = s.p;
    uint64_t address;
    int64_t line;
    uint32_t number;
    if (!pci_gp_word(&at, s.end, "0x"))
        return PCOL_OK;
    int got = pci_gp_hex_number(&at, s.end, 1, &address);
    if (!got || at == s.end || !pci_gp_space(*at))
        return PCOL_OK;
    if (got < 0)
        return pci_gp_fail(r, s.p, err, "address beyond 64 bits");
    uint32_t location = pci_gp_find_location(&r->profile, address);
    if (location == PCI_HASH_NONE)
        return PCOL_OK;
    split_name(pci_gp_trim(at, s.end), &name, &file, &line);
    PCI_TRY(pci_gp_function(&r->profile, name.p, (size_t)(name.end - name.p), file.p,
                            (size_t)(file.end - file.p), &number, err));
    r->profile.locations[location].function = number + 1;
    r->profile.locations[location].line = line;
    return PCOL_OK;
}

/* Leave out functions that another name for the same address has replaced; number the others in the
 * order of locations. */
static pcol_status number_functions(struct pci_gp_profile *p, pcol_error *err)
{
    uint32_t *numbers = pci_calloc(p->function_count + 1, sizeof *numbers), count = 0;
    struct pci_gp_function *kept = pci_malloc(p->function_count + 1, sizeof *kept);
    if (!numbers || !kept) {
        pci_free(numbers);
        pci_free(kept);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < p->order_count; i++) {
        struct pci_gp_location *l = &p->locations[p->order[i]];
        if (!l->function)
            continue;
        uint32_t *number = &numbers[l->function - 1];
        if (!*number) {
            kept[count] = p->functions[l->function - 1];
            *number = ++count;
        }
        l->function = *number;
    }
    pci_free(numbers);
    pci_free(p->functions);
    p->functions = kept;
    p->function_count = count;
    return PCOL_OK;
}

pcol_status pci_gp_read_java_names(struct pci_gp_reader *r, pcol_error *err)
{
    while (r->got) {
        PCI_TRY(take_name(r, err));
        PCI_TRY(pci_gp_next(r, err));
    }
    PCI_TRY(pci_gp_number_locations(&r->profile, err));
    PCI_TRY(number_functions(&r->profile, err));
    r->profile.hide_addresses = 1;
    return pci_gp_locate(&r->profile, err);
}

pcol_status pci_gp_read_java(struct pci_gp_reader *r, pcol_error *err)
{
    struct java j = {r, is_heap(r->line.text, r->line.text + r->line.size)};
    int got = 1;
    if (!pci_gp_is_java(r->line.text, r->line.text + r->line.size))
        return pci_gp_fail(r, r->line.text, err, "not the header of a Java profile");
    r->profile.has_bytes = j.heap;
    r->profile.period_type = (struct pci_gp_type){"", ""};
    PCI_TRY(pci_gp_next(r, err));
    while (r->got && got) {
        if (!pci_gp_blank(&r->line))
            PCI_TRY(take_attribute(&j, &got, err));
        if (got)
            PCI_TRY(pci_gp_next(r, err));
    }
    for (got = 1; r->got && got;) {
        if (!pci_gp_blank(&r->line))
            PCI_TRY(take_sample(&j, &got, err));
        if (got)
            PCI_TRY(pci_gp_next(r, err));
    }
    return pci_gp_read_java_names(r, err);
}
