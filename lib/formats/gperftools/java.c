/*
 * java.c - text profiles of Java programs, and the names of their addresses
 *
 *     --- heapz 1 ---      or     --- contentionz 1 ---
 *     format = java
 *     resolution = bytes
 *           7048     1 @ 0x00000003 0x00000004            BYTES OBJECTS, or DELAY COUNT
 *      0x00000003 com.example.f (Source.java:31)
 *
 * Addresses are arbitrary ids of the writer; their names follow the samples.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

/* mean distance in bytes of Java's heap samples */
#define HEAP_RATE 524288

static int is_line(const uint8_t *p, const uint8_t *end, const char *text)
{
    struct pci_gp_span s = pci_gp_trim(p, end);
    return (size_t)(s.end - s.p) == strlen(text) && pci_gp_has_prefix(s.p, s.end, text);
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

static int is_word_or_blank(uint8_t c)
{
    return c == ' ' || c == '_' || pci_gp_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static int is_equal(struct pci_gp_span s, const char *word)
{
    return (size_t)(s.end - s.p) == strlen(word) && pci_gp_has_prefix(s.p, s.end, word);
}

static pcol_status set_resolution(struct java *j, struct pci_gp_span value, pcol_error *err)
{
    struct pci_gp_profile *p = &j->reader->profile;
    size_t size = (size_t)(value.end - value.p);
    if (size >= sizeof p->type_text)
        return pci_gp_fail(j->reader, value.p, err, "the name of the unit exceeds 255 bytes");
    memcpy(p->type_text, value.p, size);
    p->type_text[size] = '\0';
    p->types[0] = (struct pci_gp_type){j->heap ? "inuse_objects" : "contentions", "count"};
    p->types[1] = (struct pci_gp_type){j->heap ? "inuse_space" : "delay", p->type_text};
    p->type_count = 2;
    return PCOL_OK;
}

/* Read KEY=VALUE in the current line; *found is 0 at the first sample. */
static pcol_status read_attribute(struct java *j, int *found, pcol_error *err)
{
    struct pci_gp_reader *r = j->reader;
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span s = pci_gp_line(&r->line);
    const uint8_t *equals = memchr(s.p, '=', (size_t)(s.end - s.p)), *key_start = equals,
                  *value_end;
    *found = 0;
    if (!equals)
        return PCOL_OK;
    while (key_start > s.p && is_word_or_blank(key_start[-1]))
        key_start--;
    for (value_end = equals + 1; value_end < s.end && is_word_or_blank(*value_end);)
        value_end++;
    *found = key_start < equals && value_end > equals + 1;
    if (!*found)
        return PCOL_OK;
    struct pci_gp_span key = pci_gp_trim(key_start, equals),
                       value = pci_gp_trim(equals + 1, value_end);
    if (is_equal(key, "format"))
        return is_equal(value, "java") ? PCOL_OK
                                       : pci_gp_fail(r, value.p, err, "format is not 'java'");
    if (is_equal(key, "resolution"))
        return set_resolution(j, value, err);
    int period = is_equal(key, "sampling period");
    const uint8_t *at = value.p;
    int64_t number = 0;
    if (j->heap || (!period && !is_equal(key, "ms since reset")))
        return pci_gp_fail(r, key.p, err, "unknown attribute of a Java profile");
    if (pci_gp_read_integer(&at, value.end, 1, &number) <= 0 || at != value.end)
        return pci_gp_fail(r, value.p, err, "not a number of 64 bits");
    if (period) {
        p->period_type = (struct pci_gp_type){"contentions", "count"};
        p->period = number;
    } else {
        PCI_TRY(pci_gp_multiply(r, value.p, 1000000, &number, err));
        p->duration_ns = number;
    }
    return PCOL_OK;
}

/* ---- samples */

/* Read BYTES OBJECTS @ STACK or DELAY COUNT @ STACK; *found is 0 at the first name. */
static pcol_status read_sample(struct java *j, int *found, pcol_error *err)
{
    struct pci_gp_reader *r = j->reader;
    struct pci_gp_profile *p = &r->profile;
    struct pci_gp_span s = pci_gp_line(&r->line);
    for (const uint8_t *at = s.p; at < s.end;) {
        int64_t values[3] = {0};
        const uint8_t *number_start = at;
        int second_state = pci_gp_read_integer(&at, s.end, 0, &values[1]);
        if (!second_state) {
            at++;
            continue;
        }
        const uint8_t *next = at, *after_values, *first_start;
        pci_gp_skip_spaces(&next, s.end);
        first_start = next;
        int first_state = pci_gp_read_integer(&next, s.end, 0, &values[0]);
        after_values = next;
        pci_gp_skip_spaces(&after_values, s.end);
        if (!first_state || first_start == at || after_values == next ||
            !pci_gp_accept(&after_values, s.end, "@") ||
            !pci_gp_has_prefix(after_values, s.end, " "))
            continue;
        *found = 1;
        if (second_state < 0 || first_state < 0)
            return pci_gp_fail(r, number_start, err, "the number exceeds 64 bits");
        if (!p->type_count)
            return pci_gp_fail(r, number_start, err, "a sample without a resolution before it");
        if (j->heap) {
            if (!values[0])
                return pci_gp_fail(r, first_start, err, "the number of objects is 0");
            values[2] = values[1] / values[0];
            if (!pci_gp_unsample(&values[0], &values[1], HEAP_RATE))
                return pci_gp_fail(r, number_start, err, "the unsampled value exceeds 64 bits");
        } else if (p->period) {
            PCI_TRY(pci_gp_multiply(r, first_start, p->period, &values[0], err));
            PCI_TRY(pci_gp_multiply(r, number_start, p->period, &values[1], err));
        }
        PCI_TRY(pci_gp_push_stack(r, after_values, s.end, PCI_GP_NO_RETURNS, err));
        return pci_gp_sample(p, values, err);
    }
    *found = 0;
    return PCOL_OK;
}

/* ---- names */

/* Find the last " (" of [p, end), NULL if none. */
static const uint8_t *find_last_paren(const uint8_t *p, const uint8_t *end)
{
    for (const uint8_t *at = end; at - p >= 2; at--)
        if (at[-1] == '(' && pci_gp_is_space(at[-2]))
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
    if (whole.p < whole.end && *close == ')' && (open = find_last_paren(whole.p, close))) {
        const uint8_t *digits = close;
        while (digits > open && pci_gp_is_digit(digits[-1]))
            digits--;
        const uint8_t *colon = digits - (digits[-1] == '-') - 1, *at = digits;
        *name = (struct pci_gp_span){whole.p, open};
        *file = (struct pci_gp_span){open + 2, close};
        if (digits < close && colon > open + 2 && *colon == ':') {
            file->end = colon;
            if (digits[-1] == '-' || pci_gp_read_integer(&at, close, 0, line) < 0)
                *line = 0;
            return;
        }
        /* Without a line it is the path of a library: keep its last component. */
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

static pcol_status read_name(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_span s = pci_gp_line(&r->line), name, file;
    const uint8_t *at = s.p;
    uint64_t address;
    int64_t line;
    uint32_t number;
    if (!pci_gp_accept(&at, s.end, "0x"))
        return PCOL_OK;
    int found = pci_gp_read_hex(&at, s.end, 1, &address);
    if (!found || at == s.end || !pci_gp_is_space(*at))
        return PCOL_OK;
    if (found < 0)
        return pci_gp_fail(r, s.p, err, "the address exceeds 64 bits");
    uint32_t location = pci_gp_find_location(&r->profile, address);
    if (location == PCI_HASH_NONE)
        return PCOL_OK;
    split_name(pci_gp_trim(at, s.end), &name, &file, &line);
    PCI_TRY(pci_gp_add_function(&r->profile, name.p, (size_t)(name.end - name.p), file.p,
                                (size_t)(file.end - file.p), &number, err));
    r->profile.locations[location].function = number + 1;
    r->profile.locations[location].line = line;
    return PCOL_OK;
}

/* Remove unused functions, whose address got another name later; number the others in the order of
 * locations. */
static pcol_status number_functions(struct pci_gp_profile *p, pcol_error *err)
{
    uint32_t *numbers = pci_calloc(p->function_count + 1, sizeof *numbers), count = 0;
    struct pci_gp_add_function *used_functions =
        pci_malloc(p->function_count + 1, sizeof *used_functions);
    if (!numbers || !used_functions) {
        pci_free(numbers);
        pci_free(used_functions);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < p->order_count; i++) {
        struct pci_gp_location *l = &p->locations[p->order[i]];
        if (!l->function)
            continue;
        uint32_t *number = &numbers[l->function - 1];
        if (!*number) {
            used_functions[count] = p->functions[l->function - 1];
            *number = ++count;
        }
        l->function = *number;
    }
    pci_free(numbers);
    pci_free(p->functions);
    p->functions = used_functions;
    p->function_count = count;
    return PCOL_OK;
}

pcol_status pci_gp_read_java_names(struct pci_gp_reader *r, pcol_error *err)
{
    while (r->found) {
        PCI_TRY(read_name(r, err));
        PCI_TRY(pci_gp_next(r, err));
    }
    PCI_TRY(pci_gp_number_locations(&r->profile, err));
    PCI_TRY(number_functions(&r->profile, err));
    r->profile.hide_addresses = 1;
    return pci_gp_assign_mappings(&r->profile, err);
}

pcol_status pci_gp_read_java(struct pci_gp_reader *r, pcol_error *err)
{
    struct java j = {r, is_heap(r->line.text, r->line.text + r->line.size)};
    int found = 1;
    if (!pci_gp_is_java(r->line.text, r->line.text + r->line.size))
        return pci_gp_fail(r, r->line.text, err, "not the header of a Java profile");
    r->profile.has_bytes = j.heap;
    r->profile.period_type = (struct pci_gp_type){"", ""};
    PCI_TRY(pci_gp_next(r, err));
    while (r->found && found) {
        if (!pci_gp_is_blank(&r->line))
            PCI_TRY(read_attribute(&j, &found, err));
        if (found)
            PCI_TRY(pci_gp_next(r, err));
    }
    for (found = 1; r->found && found;) {
        if (!pci_gp_is_blank(&r->line))
            PCI_TRY(read_sample(&j, &found, err));
        if (found)
            PCI_TRY(pci_gp_next(r, err));
    }
    return pci_gp_read_java_names(r, err);
}
