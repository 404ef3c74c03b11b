/*
 * maps.c - the memory map behind a profile
 *
 * A line is one of
 *
 *     START-LIMIT PERMISSIONS OFFSET MAJOR:MINOR INODE FILE    as in /proc/PID/maps
 *     START-LIMIT: FILE (@OFFSET) BUILD_ID                short; all behind LIMIT is optional
 *     NAME=VALUE                                          $NAME in later lines stands for VALUE
 *
 * with, perhaps, the head of a log's line before it. Other lines mean nothing. Afterwards the list
 * is put in order as pprof does: pieces of one file are joined, and the program stands first.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

/* Names are short words, so that a line of something else with a '=' in it is not taken for one; a
 * value that names others may make it longer, which must not go on without end. */
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

/* The next word behind at least one blank; empty if there is none. */
static struct token next_token(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *at = p;
    while (at < end && pci_gp_space(*at))
        at++;
    struct token t = {at, at};
    if (at == p)
        return t;
    while (t.end < end && !pci_gp_space(*t.end))
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

static int take_hex(const uint8_t **p, const uint8_t *end, uint64_t *value, int *overflow)
{
    const uint8_t *at = *p;
    if (pci_gp_word(&at, end, "0x") && at < end && pci_gp_hex(*at))
        *p = at;
    int got = pci_gp_hex_number(p, end, 1, value);
    *overflow |= got < 0;
    return got != 0;
}

/* START-LIMIT: one byte of a blank or '-' between them, and then blanks. Where nothing of the kind
 * follows START, pprof takes its last digit for LIMIT; so does this with `split`. */
static int take_range(const uint8_t **p, const uint8_t *end, int split, struct entry *e)
{
    const uint8_t *at;
    while (*p < end && pci_gp_space(**p))
        ++*p;
    at = *p;
    e->overflow = 0;
    if (!take_hex(p, end, &e->start, &e->overflow))
        return 0;
    if (split) {
        --*p;
        e->overflow = 0;
        if (!take_hex(&at, *p, &e->start, &e->overflow))
            return 0;
    } else {
        if (*p == end || !(pci_gp_space(**p) || **p == '-'))
            return 0;
        ++*p;
        while (*p < end && pci_gp_space(**p))
            ++*p;
    }
    if (!take_hex(p, end, &e->limit, &e->overflow))
        return 0;
    *p += *p < end && **p == ':';
    return 1;
}

static int all_hex(struct token t)
{
    const uint8_t *p = t.p;
    while (p < t.end && pci_gp_hex(*p))
        p++;
    return t.p < t.end && p == t.end;
}

static int is_device(struct token t)
{
    const uint8_t *colon = t.p < t.end ? memchr(t.p, ':', (size_t)(t.end - t.p)) : NULL;
    return colon && all_hex((struct token){t.p, colon}) &&
           all_hex((struct token){colon + 1, t.end});
}

/* What follows the range in the form of /proc. */
static int take_proc(const uint8_t *p, const uint8_t *end, struct entry *e)
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
    if (all_hex(t)) {
        at = t.p;
        e->overflow |= pci_gp_hex_number(&at, t.end, 1, &e->offset) < 0;
        t = next_token(t.end, end);
    }
    if (!is_device(t))
        return 0;
    t = next_token(t.end, end);
    for (at = t.p; at < t.end && pci_gp_digit(*at);)
        at++;
    if (at == t.p)
        return 0;
    if (at == t.end)
        e->file = next_token(t.end, end);
    return 1;
}

static void take_brief(const uint8_t *p, const uint8_t *end, struct entry *e)
{
    struct token t = next_token(p, end);
    e->permissions = e->file = e->build_id = (struct token){p, p};
    e->offset = 0;
    if (t.p < t.end && is_permission(*t.p)) {
        e->permissions.p = e->permissions.end = t.p;
        while (e->permissions.end < t.end && is_permission(*e->permissions.end))
            e->permissions.end++;
        if (e->permissions.end < t.end)
            return; /* the word goes on: pprof reads no further either */
        t = next_token(t.end, end);
    }
    e->file = t;
    t = next_token(t.end, end);
    const uint8_t *at = t.p;
    uint64_t offset;
    if (pci_gp_word(&at, t.end, "(@")) {
        int got = pci_gp_hex_number(&at, t.end, 1, &offset);
        if (got && at < t.end && *at == ')') {
            e->overflow |= got < 0;
            e->offset = offset;
            t = at + 1 == t.end ? next_token(t.end, end) : (struct token){at, at};
        }
    }
    e->build_id = (struct token){t.p, t.p};
    while (e->build_id.end < t.end && pci_gp_hex(*e->build_id.end))
        e->build_id.end++;
}

/* Both forms, the long one first, which says more. */
static int parse_entry(const uint8_t *text, const uint8_t *end, struct entry *e)
{
    for (int form = 0; form < 2; form++)
        for (int split = 0; split < 2; split++) {
            const uint8_t *p = text;
            memset(e, 0, sizeof *e);
            if (!take_range(&p, end, split, e))
                continue;
            if (form)
                take_brief(p, end, e);
            else if (!take_proc(p, end, e))
                continue;
            return !e->overflow;
        }
    return 0;
}

/* Behind "FILE:LINE] " of a log's line. */
static const uint8_t *behind_log_head(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *at = p;
    while (at < end && *at != '[' && *at != ']')
        at++;
    if (end - at < 2 || *at != ']' || !pci_gp_space(at[1]))
        return p;
    const uint8_t *digit = at;
    while (digit > p && pci_gp_digit(digit[-1]))
        digit--;
    return digit < at && digit - p > 1 && digit[-1] == ':' ? at + 2 : p;
}

/* ---- names for parts of lines */

static pcol_status append(struct map_reader *m, const void *data, size_t size, pcol_error *err)
{
    void *grown = m->expanded;
    if (m->expanded_size + size > MAX_EXPANDED)
        return pci_gp_fail(m->reader, m->reader->line.text, err,
                           "line of the memory map becomes longer than 65536 bytes");
    if (pci_grow(&grown, &m->expanded_capacity, m->expanded_size + size, 1))
        return pci_fail_memory(err);
    m->expanded = grown;
    if (size)
        memcpy(m->expanded + m->expanded_size, data, size);
    m->expanded_size += size;
    return PCOL_OK;
}

/* Put values in place of $NAME; *p and *end then delimit the new line. */
static pcol_status expand(struct map_reader *m, const uint8_t **p, const uint8_t **end,
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
    *p = m->expanded;
    *end = m->expanded + m->expanded_size;
    return PCOL_OK;
}

static pcol_status take_assignment(struct map_reader *m, const uint8_t *p, const uint8_t *end,
                                   pcol_error *err)
{
    const uint8_t *equals = p < end ? memchr(p, '=', (size_t)(end - p)) : NULL;
    if (!equals || m->name_count == MAX_NAMES)
        return PCOL_OK;
    struct pci_gp_span name = pci_gp_trim(p, equals), value = pci_gp_trim(equals + 1, end);
    for (const uint8_t *at = name.p; at < name.end; at++)
        if (!(pci_gp_digit(*at) || *at == '_' || ((*at | 32) >= 'a' && (*at | 32) <= 'z')))
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

static pcol_status take_line(struct map_reader *m, pcol_error *err)
{
    struct pci_gp_profile *profile = &m->reader->profile;
    const uint8_t *p = m->reader->line.text, *end = p + m->reader->line.size;
    struct entry e;
    p = behind_log_head(p, end);
    PCI_TRY(expand(m, &p, &end, err));
    if (!parse_entry(p, end, &e))
        return take_assignment(m, p, end, err);
    size_t permissions = (size_t)(e.permissions.end - e.permissions.p);
    if (permissions && !memchr(e.permissions.p, 'x', permissions))
        return PCOL_OK; /* nothing runs there */
    struct pci_gp_mapping mapping = {.start = e.start, .limit = e.limit, .offset = e.offset};
    void *rows = profile->mappings;
    if (profile->mapping_count >= PCOL_NONE / 8)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u mappings", PCOL_NONE / 8);
    if (pci_grow(&rows, &profile->mapping_capacity, profile->mapping_count + 1, sizeof mapping))
        return pci_fail_memory(err);
    profile->mappings = rows;
    PCI_TRY(pci_gp_text(profile, e.file.p, (size_t)(e.file.end - e.file.p), &mapping.file, err));
    PCI_TRY(pci_gp_text(profile, e.build_id.p, (size_t)(e.build_id.end - e.build_id.p),
                        &mapping.build_id, err));
    profile->mappings[profile->mapping_count++] = mapping;
    return PCOL_OK;
}

/* ---- the list put in order */

static int differ(const struct pci_gp_profile *p, const struct pci_gp_text *a,
                  const struct pci_gp_text *b)
{
    return a->size && b->size &&
           (a->size != b->size || memcmp(p->texts + a->at, p->texts + b->at, a->size) != 0);
}

/* Whether `b` is the next piece of the mapping `a`. */
static int adjacent(const struct pci_gp_profile *p, const struct pci_gp_mapping *a,
                    const struct pci_gp_mapping *b)
{
    if (differ(p, &a->file, &b->file) || differ(p, &a->build_id, &b->build_id) ||
        a->limit != b->start)
        return 0;
    return !a->offset || !b->offset || a->offset + (a->limit - a->start) == b->offset;
}

static void join_pieces(struct pci_gp_profile *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct pci_gp_mapping *m = &p->mappings[i];
        struct pci_gp_mapping *last = &p->mappings[kept ? kept - 1 : 0];
        if (!kept || !adjacent(p, last, m)) {
            p->mappings[kept++] = *m;
            continue;
        }
        last->limit = m->limit;
        if (m->file.size)
            last->file = m->file;
        if (m->build_id.size)
            last->build_id = m->build_id;
    }
    p->mapping_count = kept;
}

/* NAME.so, NAME.so.1, NAME.so_1 */
static int is_shared_library(const uint8_t *p, const uint8_t *end)
{
    for (; (p = pci_gp_find(p, end, ".so")); p++)
        if (end - p == 3 || (end - p > 4 && (p[3] == '.' || p[3] == '_') && pci_gp_digit(p[4])))
            return 1;
    return 0;
}

/* A file of that name is what ran, not a library or a region of the kernel. */
static int may_be_program(const struct pci_gp_profile *p, const struct pci_gp_mapping *m)
{
    static const char deleted[] = "(deleted)";
    const uint8_t *name = p->texts + m->file.at, *end = name + m->file.size;
    if (m->file.size >= strlen(deleted) && pci_gp_begins(end - strlen(deleted), end, deleted))
        end -= strlen(deleted);
    return name < end && *name != '[' && !is_shared_library(name, end);
}

static void put_program_first(struct pci_gp_profile *p)
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

/* What a program does to itself: its first part was moved to huge pages, or it says an offset that
 * only shifts the usual start. */
static void mend_program(struct pci_gp_profile *p)
{
    static const char huge[] = "/anon_hugepage";
    if (p->mapping_count > 1 && p->mappings[0].limit == p->mappings[1].start &&
        pci_gp_begins(p->texts + p->mappings[0].file.at,
                      p->texts + p->mappings[0].file.at + p->mappings[0].file.size, huge)) {
        p->mapping_count--;
        memmove(p->mappings, p->mappings + 1, p->mapping_count * sizeof *p->mappings);
    }
    if (p->mapping_count && p->mappings[0].start - p->mappings[0].offset == 0x400000) {
        p->mappings[0].start = 0x400000;
        p->mappings[0].offset = 0;
    }
}

pcol_status pci_gp_read_map_here(struct pci_gp_reader *r, pcol_error *err)
{
    struct map_reader m = {.reader = r};
    pcol_status status = pci_gp_next(r, err);
    while (status == PCOL_OK && r->got) {
        status = take_line(&m, err);
        if (status == PCOL_OK)
            status = pci_gp_next(r, err);
    }
    pci_free(m.expanded);
    PCI_TRY(status);
    join_pieces(&r->profile);
    put_program_first(&r->profile);
    PCI_TRY(pci_gp_number_locations(&r->profile, err));
    mend_program(&r->profile);
    return pci_gp_locate(&r->profile, err);
}

pcol_status pci_gp_read_map(struct pci_gp_reader *r, pcol_error *err)
{
    while (r->got && !pci_gp_map_begins(r->line.text, r->line.text + r->line.size))
        PCI_TRY(pci_gp_next(r, err));
    return pci_gp_read_map_here(r, err);
}
