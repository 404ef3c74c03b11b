/*
 * maps.c - memory map at the end of a profile
 *
 *     START-LIMIT PERMISSIONS OFFSET MAJOR:MINOR INODE FILE    as in /proc/PID/maps
 *     START-LIMIT: FILE (@OFFSET) BUILD_ID                     brief; all after LIMIT is optional
 *     NAME=VALUE                                               defines $NAME for later lines
 *
 * The prefix of a log line may precede. Other lines are ignored. Afterwards the list is arranged as
 * in pprof: adjacent pieces of a file are joined, and the program is first.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"
#include "util/import_budget.h"

/* Limits of variables, whose values may refer to earlier ones: number, and size of an expanded
 * line. */
#define MAX_NAMES 64u
#define MAX_EXPANDED 65536u

struct assignment {
    struct pci_gp_text name, value;
};

struct map_reader {
    struct pci_gp_reader *reader;
    struct assignment names[MAX_NAMES];
    unsigned name_count;
    uint8_t *expanded;
    size_t expanded_size, expanded_capacity;
};

struct token {
    const uint8_t *p, *end;
};

/* The next word after at least one space; empty if there is none. */
static struct token next_token(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *at = p;
    while (at < end && pci_gp_is_space(*at))
        at++;
    struct token t = {at, at};
    if (at == p)
        return t;
    while (t.end < end && !pci_gp_is_space(*t.end))
        t.end++;
    return t;
}

static int is_permission(uint8_t c)
{
    return c == '-' || c == 'r' || c == 'w' || c == 'x' || c == 'p';
}

/* ---- a line */

struct entry {
    uint64_t start, limit, offset;
    struct token permissions, file, build_id;
    int overflow;
};

static int parse_hex(const uint8_t **p, const uint8_t *end, uint64_t *value, int *overflow)
{
    const uint8_t *at = *p;
    if (pci_gp_accept(&at, end, "0x") && at < end && pci_gp_is_hex(*at))
        *p = at;
    int found = pci_gp_read_hex(p, end, 1, value);
    *overflow |= found < 0;
    return found != 0;
}

/* Parse START-LIMIT, separated by one space or '-' and further spaces. `split`: like pprof, without
 * a separator the last digit of START is LIMIT. */
static int parse_range(const uint8_t **p, const uint8_t *end, int split, struct entry *e)
{
    const uint8_t *at;
    while (*p < end && pci_gp_is_space(**p))
        ++*p;
    at = *p;
    e->overflow = 0;
    if (!parse_hex(p, end, &e->start, &e->overflow))
        return 0;
    if (split) {
        --*p;
        e->overflow = 0;
        if (!parse_hex(&at, *p, &e->start, &e->overflow))
            return 0;
    } else {
        if (*p == end || !(pci_gp_is_space(**p) || **p == '-'))
            return 0;
        ++*p;
        while (*p < end && pci_gp_is_space(**p))
            ++*p;
    }
    if (!parse_hex(p, end, &e->limit, &e->overflow))
        return 0;
    *p += *p < end && **p == ':';
    return 1;
}

static int is_all_hex(struct token t)
{
    const uint8_t *p = t.p;
    while (p < t.end && pci_gp_is_hex(*p))
        p++;
    return t.p < t.end && p == t.end;
}

static int is_device(struct token t)
{
    const uint8_t *colon = t.p < t.end ? memchr(t.p, ':', (size_t)(t.end - t.p)) : NULL;
    return colon && is_all_hex((struct token){t.p, colon}) &&
           is_all_hex((struct token){colon + 1, t.end});
}

/* Parse the rest of a line of /proc/PID/maps. */
static int parse_proc_line(const uint8_t *p, const uint8_t *end, struct entry *e)
{
    struct token t = next_token(p, end), none = {p, p};
    const uint8_t *at = t.p;
    while (at < t.end && is_permission(*at))
        at++;
    e->permissions = e->file = e->build_id = none;
    if (t.p < t.end && at == t.end) {
        e->permissions = t;
        t = next_token(t.end, end);
    }
    if (is_all_hex(t)) {
        at = t.p;
        e->overflow |= pci_gp_read_hex(&at, t.end, 1, &e->offset) < 0;
        t = next_token(t.end, end);
    }
    if (!is_device(t))
        return 0;
    t = next_token(t.end, end);
    for (at = t.p; at < t.end && pci_gp_is_digit(*at);)
        at++;
    if (at == t.p)
        return 0;
    if (at == t.end)
        e->file = next_token(t.end, end);
    return 1;
}

static void parse_brief_line(const uint8_t *p, const uint8_t *end, struct entry *e)
{
    struct token t = next_token(p, end);
    e->permissions = e->file = e->build_id = (struct token){p, p};
    e->offset = 0;
    if (t.p < t.end && is_permission(*t.p)) {
        e->permissions.p = e->permissions.end = t.p;
        while (e->permissions.end < t.end && is_permission(*e->permissions.end))
            e->permissions.end++;
        if (e->permissions.end < t.end)
            return; /* longer word: pprof stops here, too */
        t = next_token(t.end, end);
    }
    e->file = t;
    t = next_token(t.end, end);
    const uint8_t *at = t.p;
    uint64_t offset;
    if (pci_gp_accept(&at, t.end, "(@")) {
        int found = pci_gp_read_hex(&at, t.end, 1, &offset);
        if (found && at < t.end && *at == ')') {
            e->overflow |= found < 0;
            e->offset = offset;
            t = at + 1 == t.end ? next_token(t.end, end) : (struct token){at, at};
        }
    }
    e->build_id = (struct token){t.p, t.p};
    while (e->build_id.end < t.end && pci_gp_is_hex(*e->build_id.end))
        e->build_id.end++;
}

/* Parse either form, first that of /proc. */
static int parse_entry(const uint8_t *text, const uint8_t *end, struct entry *e)
{
    for (int form = 0; form < 2; form++)
        for (int split = 0; split < 2; split++) {
            const uint8_t *p = text;
            memset(e, 0, sizeof *e);
            if (!parse_range(&p, end, split, e))
                continue;
            if (form)
                parse_brief_line(p, end, e);
            else if (!parse_proc_line(p, end, e))
                continue;
            return !e->overflow;
        }
    return 0;
}

/* Skip the prefix "FILE:LINE] " of a log line. */
static const uint8_t *skip_log_prefix(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *at = p;
    while (at < end && *at != '[' && *at != ']')
        at++;
    if (end - at < 2 || *at != ']' || !pci_gp_is_space(at[1]))
        return p;
    const uint8_t *digit = at;
    while (digit > p && pci_gp_is_digit(digit[-1]))
        digit--;
    return digit < at && digit - p > 1 && digit[-1] == ':' ? at + 2 : p;
}

/* ---- variables */

static pcol_status append(struct map_reader *m, const void *data, size_t size, pcol_error *err)
{
    if (m->expanded_size + size > MAX_EXPANDED)
        return pci_gp_fail(m->reader, m->reader->line.text, err,
                           "the expanded line of the memory map exceeds 65536 bytes");
    PCI_TRY(PCI_GROW(m->expanded, m->expanded_capacity, m->expanded_size + size, err));
    if (size)
        memcpy(m->expanded + m->expanded_size, data, size);
    m->expanded_size += size;
    return PCOL_OK;
}

/* Expand $NAME; *p and *end then delimit the expanded line. */
static pcol_status expand_variables(struct map_reader *m, const uint8_t **p, const uint8_t **end,
                                    pcol_error *err)
{
    const struct pci_gp_profile *profile = &m->reader->profile;
    const uint8_t *at = *p, *dollar;
    if (!m->name_count || at == *end || !memchr(at, '$', (size_t)(*end - at)))
        return PCOL_OK;
    m->expanded_size = 0;
    while (at < *end && (dollar = memchr(at, '$', (size_t)(*end - at)))) {
        unsigned i = 0;
        PCI_TRY(append(m, at, (size_t)(dollar - at), err));
        for (; i < m->name_count; i++) {
            const struct pci_gp_text *name = &m->names[i].name;
            if ((size_t)(*end - dollar - 1) >= name->size &&
                !memcmp(dollar + 1, profile->texts + name->at, name->size))
                break;
        }
        at = dollar + 1;
        if (i == m->name_count) {
            PCI_TRY(append(m, dollar, 1, err));
            continue;
        }
        at += m->names[i].name.size;
        PCI_TRY(append(m, profile->texts + m->names[i].value.at, m->names[i].value.size, err));
    }
    PCI_TRY(append(m, at, (size_t)(*end - at), err));
    PCI_TRY(pci_budget_charge_expansion(pci_thread_budget, m->expanded_size, err));
    *p = m->expanded;
    *end = m->expanded + m->expanded_size;
    return PCOL_OK;
}

static pcol_status read_assignment(struct map_reader *m, const uint8_t *p, const uint8_t *end,
                                   pcol_error *err)
{
    const uint8_t *equals = p < end ? memchr(p, '=', (size_t)(end - p)) : NULL;
    if (!equals || m->name_count == MAX_NAMES)
        return PCOL_OK;
    struct pci_gp_span name = pci_gp_trim(p, equals), value = pci_gp_trim(equals + 1, end);
    for (const uint8_t *at = name.p; at < name.end; at++)
        if (!(pci_gp_is_digit(*at) || *at == '_' || ((*at | 32) >= 'a' && (*at | 32) <= 'z')))
            return PCOL_OK;
    if (name.p == name.end)
        return PCOL_OK;
    struct assignment *a = &m->names[m->name_count];
    PCI_TRY(pci_gp_text(&m->reader->profile, name.p, (size_t)(name.end - name.p), &a->name, err));
    PCI_TRY(
        pci_gp_text(&m->reader->profile, value.p, (size_t)(value.end - value.p), &a->value, err));
    m->name_count++;
    return PCOL_OK;
}

static pcol_status read_line(struct map_reader *m, pcol_error *err)
{
    struct pci_gp_profile *profile = &m->reader->profile;
    const uint8_t *p = m->reader->line.text, *end = p + m->reader->line.size;
    struct entry e;
    p = skip_log_prefix(p, end);
    PCI_TRY(expand_variables(m, &p, &end, err));
    if (!parse_entry(p, end, &e))
        return read_assignment(m, p, end, err);
    size_t permissions = (size_t)(e.permissions.end - e.permissions.p);
    if (permissions && !memchr(e.permissions.p, 'x', permissions))
        return PCOL_OK; /* not executable */
    struct pci_gp_mapping mapping = {.start = e.start, .limit = e.limit, .offset = e.offset};
    if (profile->mapping_count >= PCOL_NONE / 8)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u mappings", PCOL_NONE / 8);
    PCI_TRY(
        PCI_GROW(profile->mappings, profile->mapping_capacity, profile->mapping_count + 1, err));
    PCI_TRY(pci_gp_text(profile, e.file.p, (size_t)(e.file.end - e.file.p), &mapping.file, err));
    PCI_TRY(pci_gp_text(profile, e.build_id.p, (size_t)(e.build_id.end - e.build_id.p),
                        &mapping.build_id, err));
    profile->mappings[profile->mapping_count++] = mapping;
    return PCOL_OK;
}

/* ---- arrangement of the list */

static int are_different(const struct pci_gp_profile *p, const struct pci_gp_text *a,
                         const struct pci_gp_text *b)
{
    return a->size && b->size &&
           (a->size != b->size || memcmp(p->texts + a->at, p->texts + b->at, a->size) != 0);
}

/* Is `b` the next piece of the mapping `a`? */
static int is_adjacent(const struct pci_gp_profile *p, const struct pci_gp_mapping *a,
                       const struct pci_gp_mapping *b)
{
    if (are_different(p, &a->file, &b->file) || are_different(p, &a->build_id, &b->build_id) ||
        a->limit != b->start)
        return 0;
    return !a->offset || !b->offset || a->offset + (a->limit - a->start) == b->offset;
}

static void join_pieces(struct pci_gp_profile *p)
{
    size_t joined = 0;
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct pci_gp_mapping *m = &p->mappings[i];
        struct pci_gp_mapping *last = &p->mappings[joined ? joined - 1 : 0];
        if (!joined || !is_adjacent(p, last, m)) {
            p->mappings[joined++] = *m;
            continue;
        }
        last->limit = m->limit;
        if (m->file.size)
            last->file = m->file;
        if (m->build_id.size)
            last->build_id = m->build_id;
    }
    p->mapping_count = joined;
}

/* NAME.so, NAME.so.1, NAME.so_1 */
static int is_shared_library(const uint8_t *p, const uint8_t *end)
{
    for (; (p = pci_gp_find(p, end, ".so")); p++)
        if (end - p == 3 || (end - p > 4 && (p[3] == '.' || p[3] == '_') && pci_gp_is_digit(p[4])))
            return 1;
    return 0;
}

/* Is it neither a shared library nor a region of the kernel? */
static int may_be_program(const struct pci_gp_profile *p, const struct pci_gp_mapping *m)
{
    static const char deleted[] = "(deleted)";
    const uint8_t *name = p->texts + m->file.at, *end = name + m->file.size;
    if (m->file.size >= strlen(deleted) && pci_gp_has_prefix(end - strlen(deleted), end, deleted))
        end -= strlen(deleted);
    return name < end && *name != '[' && !is_shared_library(name, end);
}

static void move_program_first(struct pci_gp_profile *p)
{
    for (size_t i = 0; i < p->mapping_count; i++) {
        struct pci_gp_mapping m = p->mappings[i];
        if (!may_be_program(p, &m))
            continue;
        p->mappings[i] = p->mappings[0];
        p->mappings[0] = m;
        return;
    }
}

/* Correct the mapping of the program: its first part was moved to huge pages, or its offset only
 * shifts the usual start. */
static void correct_program(struct pci_gp_profile *p)
{
    static const char huge[] = "/anon_hugepage";
    if (p->mapping_count > 1 && p->mappings[0].limit == p->mappings[1].start &&
        pci_gp_has_prefix(p->texts + p->mappings[0].file.at,
                          p->texts + p->mappings[0].file.at + p->mappings[0].file.size, huge)) {
        p->mapping_count--;
        memmove(p->mappings, p->mappings + 1, p->mapping_count * sizeof *p->mappings);
    }
    if (p->mapping_count && p->mappings[0].start - p->mappings[0].offset == 0x400000) {
        p->mappings[0].start = 0x400000;
        p->mappings[0].offset = 0;
    }
}

pcol_status pci_gp_read_map_lines(struct pci_gp_reader *r, pcol_error *err)
{
    struct map_reader m = {.reader = r};
    pcol_status status = pci_gp_next(r, err);
    while (status == PCOL_OK && r->found) {
        status = read_line(&m, err);
        PCI_THEN(status, pci_gp_next(r, err));
    }
    pci_free(m.expanded);
    PCI_TRY(status);
    join_pieces(&r->profile);
    move_program_first(&r->profile);
    PCI_TRY(pci_gp_number_locations(&r->profile, err));
    correct_program(&r->profile);
    return pci_gp_assign_mappings(&r->profile, err);
}

pcol_status pci_gp_read_map(struct pci_gp_reader *r, pcol_error *err)
{
    while (r->found && !pci_gp_is_map_header(r->line.text, r->line.text + r->line.size))
        PCI_TRY(pci_gp_next(r, err));
    return pci_gp_read_map_lines(r, err);
}
