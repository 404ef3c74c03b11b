/*
 * heap.c - text profiles of heap, heap growth and fragmentation
 *
 *     heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heap_v2/RATE
 *     OBJECTS: BYTES [OBJECTS: BYTES] @ 0x... 0x...
 *     --- Memory map: ---     or     MAPPED_LIBRARIES:
 *
 * The first pair is in use, the second was allocated; it is ignored if equal in the header. Other
 * names for heap_v2: heapz_v2, heap, heapprofile, growth, fragmentation. heap_v2 and Go's heap are
 * sampled at a mean distance of RATE bytes (Go: RATE / 2): values are divided by the probability of
 * sampling.
 */
#include "formats/gperftools/scanner.h"

#include <math.h>

enum { IN_USE, ALLOCATED };

struct pair {
    const uint8_t *count, *bytes; /* start of their texts */
    const uint8_t *count_end, *bytes_end;
    int64_t count_value, bytes_value;
    int fits; /* both within 64 bits */
};

struct heap {
    struct pair pairs[2];
    int has_allocated, sampled;
};

int pci_gp_unsample(int64_t *count, int64_t *bytes, int64_t rate)
{
    if (!*count || !*bytes) {
        *count = *bytes = 0;
        return 1;
    }
    if (rate <= 1)
        return 1; /* not sampled, or unknown rate */
    double mean = (double)*bytes / (double)*count;
    double scale = 1 / (1 - exp(-mean / (double)rate));
    double counts = (double)*count * scale, sum = (double)*bytes * scale;
    const double limit = 9223372036854775808.0; /* 2^63 */
    if (!(counts > -limit && counts < limit && sum > -limit && sum < limit))
        return 0;
    *count = (int64_t)counts;
    *bytes = (int64_t)sum;
    return 1;
}

/* INTEGER: INTEGER */
static int parse_pair(const uint8_t **p, const uint8_t *end, int sign, struct pair *pair)
{
    pair->count = *p;
    int count = pci_gp_read_integer(p, end, sign, &pair->count_value);
    pair->count_end = *p;
    if (!count || !pci_gp_accept(p, end, ":"))
        return 0;
    pci_gp_skip_spaces(p, end);
    pair->bytes = *p;
    int bytes = pci_gp_read_integer(p, end, sign, &pair->bytes_value);
    pair->bytes_end = *p;
    pair->fits = count > 0 && bytes > 0;
    return bytes != 0;
}

/* COUNT: BYTES [COUNT: BYTES] at *p; *p advances to the end or the first unexpected byte. */
static int parse_pairs(const uint8_t **p, const uint8_t *end, int sign, struct heap *h)
{
    if (!parse_pair(p, end, sign, &h->pairs[IN_USE]))
        return 0;
    pci_gp_skip_spaces(p, end);
    if (!pci_gp_accept(p, end, "["))
        return 0;
    pci_gp_skip_spaces(p, end);
    if (!parse_pair(p, end, 0, &h->pairs[ALLOCATED]))
        return 0;
    pci_gp_skip_spaces(p, end);
    return pci_gp_accept(p, end, "]");
}

static int is_equal(const uint8_t *a, const uint8_t *a_end, const uint8_t *b, const uint8_t *b_end)
{
    return a_end - a == b_end - b && !memcmp(a, b, (size_t)(a_end - a));
}

static int is_zero(const uint8_t *p, const uint8_t *end)
{
    return end - p == 1 && *p == '0';
}

/* Does the second pair of the header differ from the first and from 0? */
static int has_allocated(const struct heap *h)
{
    const struct pair *used = &h->pairs[IN_USE], *all = &h->pairs[ALLOCATED];
    return (!is_equal(used->count, used->count_end, all->count, all->count_end) &&
            !is_zero(all->count, all->count_end)) ||
           (!is_equal(used->bytes, used->bytes_end, all->bytes, all->bytes_end) &&
            !is_zero(all->bytes, all->bytes_end));
}

/* `@ heap... / RATE` after the pairs. */
static int parse_kind(const uint8_t *p, const uint8_t *end, struct heap *h, int64_t *period)
{
    const uint8_t *name;
    pci_gp_skip_spaces(&p, end);
    if (!pci_gp_accept(&p, end, "@"))
        return 0;
    pci_gp_skip_spaces(&p, end);
    for (name = p; p < end && (*p == '_' || pci_gp_is_digit(*p) || (*p >= 'a' && *p <= 'z'));)
        p++;
    size_t size = (size_t)(p - name);
    int is_go = size == 4 && !memcmp(name, "heap", size);
    h->sampled = is_go || (size == 7 && !memcmp(name, "heap_v2", size)) ||
                 (size == 8 && !memcmp(name, "heapz_v2", size));
    if (!h->sampled && !(size == 11 && !memcmp(name, "heapprofile", size)))
        return 0;
    *period = 0;
    (void)pci_gp_accept(&p, end, "/");
    if (pci_gp_read_integer(&p, end, 0, period) < 0)
        return 0;
    if (is_go)
        *period /= 2;
    if (!h->sampled)
        *period = 1;
    return 1;
}

/* Find the header anywhere in the line. */
static int parse_header(const uint8_t *p, const uint8_t *end, struct heap *h, int64_t *period)
{
    static const char begin[] = "heap profile:";
    for (; (p = pci_gp_find(p, end, begin)); p++) {
        const uint8_t *at = p + strlen(begin);
        pci_gp_skip_spaces(&at, end);
        if (!parse_pairs(&at, end, 0, h))
            continue;
        h->has_allocated = 0;
        h->sampled = 0;
        if (parse_kind(at, end, h, period)) {
            h->has_allocated = has_allocated(h);
            return 1;
        }
        if (pci_gp_has_prefix(at, end, " @ growth") ||
            pci_gp_has_prefix(at, end, " @ fragmentation")) {
            h->sampled = 0;
            *period = 1;
            return 1;
        }
    }
    return 0;
}

int pci_gp_is_heap(const uint8_t *p, const uint8_t *end)
{
    struct heap h;
    int64_t period;
    return parse_header(p, end, &h, &period);
}

static pcol_status compute_values(struct pci_gp_reader *r, const struct heap *h,
                                  const struct pair *pair, int64_t *values, int64_t *block,
                                  pcol_error *err)
{
    int64_t count = pair->count_value, bytes = pair->bytes_value;
    if (!pair->fits)
        return pci_gp_fail(r, pair->count, err, "the number exceeds 64 bits");
    if (!count && bytes)
        return pci_gp_fail(r, pair->count, err, "bytes without a block: the count is 0");
    if (count)
        *block = count == -1 ? (int64_t)(0 - (uint64_t)bytes) : bytes / count;
    if (count && h->sampled && !pci_gp_unsample(&count, &bytes, r->profile.period))
        return pci_gp_fail(r, pair->count, err, "the unsampled value exceeds 64 bits");
    values[0] = count;
    values[1] = bytes;
    return PCOL_OK;
}

/* Find the pairs and ` @` of a sample anywhere in the line. */
static int find_sample(struct pci_gp_span s, struct heap *h, const uint8_t **stack)
{
    const uint8_t *p = s.p;
    while (p < s.end) {
        const uint8_t *at = p;
        if (parse_pairs(&at, s.end, 1, h) && pci_gp_accept(&at, s.end, " @")) {
            *stack = at;
            return 1;
        }
        /* Skip to the next number; a suffix of this one would fail in the same way. */
        p += *p == '-';
        while (p < s.end && pci_gp_is_digit(*p))
            p++;
        while (p < s.end && *p != '-' && !pci_gp_is_digit(*p))
            p++;
    }
    return 0;
}

static pcol_status read_sample(struct pci_gp_reader *r, struct heap *h, pcol_error *err)
{
    struct pci_gp_span s = pci_gp_line(&r->line);
    int64_t values[PCI_GP_MAX_TYPES + 1], block = 0;
    unsigned used = 0;
    const uint8_t *stack;
    if (!find_sample(s, h, &stack))
        return pci_gp_fail(r, s.p, err, "not a sample: OBJECTS: BYTES [OBJECTS: BYTES] @ STACK");
    if (h->has_allocated) {
        PCI_TRY(compute_values(r, h, &h->pairs[ALLOCATED], values, &block, err));
        used = 2;
    }
    PCI_TRY(compute_values(r, h, &h->pairs[IN_USE], values + used, &block, err));
    values[used + 2] = block;
    PCI_TRY(pci_gp_push_stack(r, stack, s.end, PCI_GP_ALL_RETURN, err));
    return pci_gp_sample(&r->profile, values, err);
}

pcol_status pci_gp_read_heap(struct pci_gp_reader *r, pcol_error *err)
{
    static const struct pci_gp_type types[] = {{"alloc_objects", "count"},
                                               {"alloc_space", "bytes"},
                                               {"inuse_objects", "count"},
                                               {"inuse_space", "bytes"}},
                                    plain_types[] = {{"objects", "count"}, {"space", "bytes"}};
    struct pci_gp_profile *p = &r->profile;
    struct heap h;
    if (!parse_header(r->line.text, r->line.text + r->line.size, &h, &p->period))
        return pci_gp_fail(r, r->line.text, err, "not the header of a heap profile");
    p->type_count = h.has_allocated ? 4 : 2;
    p->has_bytes = 1;
    p->period_type = (struct pci_gp_type){"space", "bytes"};
    memcpy(p->types, h.has_allocated ? types : plain_types, p->type_count * sizeof *types);
    for (;;) {
        PCI_TRY(pci_gp_next(r, err));
        if (!r->found)
            break;
        struct pci_gp_span s = pci_gp_line(&r->line);
        if (pci_gp_is_blank_or_comment(s.p, s.end))
            continue;
        if (pci_gp_is_map_header(s.p, s.end))
            break;
        PCI_TRY(read_sample(r, &h, err));
    }
    return pci_gp_read_map(r, err);
}
