/*
 * scanner.c - scanning of the older text formats (scanner.h)
 */
#include "formats/gperftools/scanner.h"

struct pci_gp_span pci_gp_trim(const uint8_t *p, const uint8_t *end)
{
    while (p < end && pci_gp_is_space(*p))
        p++;
    while (p < end && pci_gp_is_space(end[-1]))
        end--;
    return (struct pci_gp_span){p, end};
}

const uint8_t *pci_gp_find(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    while ((size_t)(end - p) >= size) {
        p = memchr(p, word[0], (size_t)(end - p) - size + 1);
        if (!p || !memcmp(p, word, size))
            return p;
        p++;
    }
    return NULL;
}

int pci_gp_accept(const uint8_t **p, const uint8_t *end, const char *word)
{
    if (!pci_gp_has_prefix(*p, end, word))
        return 0;
    *p += strlen(word);
    return 1;
}

void pci_gp_skip_spaces(const uint8_t **p, const uint8_t *end)
{
    while (*p < end && **p == ' ')
        ++*p;
}

int pci_gp_read_integer(const uint8_t **p, const uint8_t *end, int sign, int64_t *value)
{
    const uint8_t *at = *p;
    uint64_t n = 0;
    int fits = 1, minus = sign && at < end && *at == '-';
    at += minus;
    if (at == end || !pci_gp_is_digit(*at))
        return 0;
    for (; at < end && pci_gp_is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (n > ((UINT64_C(1) << 63) - digit) / 10)
            fits = 0;
        else
            n = n * 10 + digit;
    }
    *p = at;
    if (n > (uint64_t)INT64_MAX && !minus)
        fits = 0;
    *value = minus ? (int64_t)(0 - n) : (int64_t)n;
    return fits ? 1 : -1;
}

int pci_gp_read_hex(const uint8_t **p, const uint8_t *end, int upper, uint64_t *value)
{
    const uint8_t *at = *p;
    int fits = 1;
    *value = 0;
    for (; at < end && (upper ? pci_gp_is_hex(*at) : pci_gp_is_lower_hex(*at)); at++) {
        unsigned digit = pci_gp_is_digit(*at) ? *at - 48u : (*at | 32u) - 'a' + 10;
        if (*value >> 60)
            fits = 0;
        *value = *value << 4 | digit;
    }
    if (at == *p)
        return 0;
    *p = at;
    return fits ? 1 : -1;
}

int pci_gp_is_blank_or_comment(const uint8_t *p, const uint8_t *end)
{
    struct pci_gp_span s = pci_gp_trim(p, end);
    return s.p == s.end || *s.p == '#';
}

int pci_gp_is_map_header(const uint8_t *p, const uint8_t *end)
{
    return pci_gp_find(p, end, "--- Memory map: ---") || pci_gp_find(p, end, "MAPPED_LIBRARIES:");
}

pcol_status pci_gp_next(struct pci_gp_reader *r, pcol_error *err)
{
    PCI_TRY(pci_lines_next(&r->lines, &r->line, &r->found, err));
    r->has_cut_line |= r->found && r->line.end == PCI_LINE_CUT;
    return PCOL_OK;
}

pcol_status pci_gp_fail(const struct pci_gp_reader *r, const uint8_t *at, pcol_error *err,
                        const char *message)
{
    /* At the end of the input there is no line: report the one after the last. */
    return pci_fail_text(err, PCOL_E_SYNTAX, r->line.number + !r->found,
                         (uint64_t)(at - r->line.text) + 1, "%s", message);
}

pcol_status pci_gp_multiply(const struct pci_gp_reader *r, const uint8_t *at, int64_t factor,
                            int64_t *number, pcol_error *err)
{
    return __builtin_mul_overflow(*number, factor, number)
               ? pci_gp_fail(r, at, err, "the number in its unit exceeds 64 bits")
               : PCOL_OK;
}

pcol_status pci_gp_push_addresses(struct pci_gp_reader *r, const uint8_t *p, const uint8_t *end,
                                  enum pci_gp_returns returns, pcol_error *err)
{
    const struct pci_gp_profile *profile = &r->profile;
    size_t stack_start =
        profile->sample_count ? profile->samples[profile->sample_count - 1].end : 0;
    while ((p = pci_gp_find(p, end, "0x"))) {
        const uint8_t *digits = p + 2;
        uint64_t address;
        int fits = pci_gp_read_hex(&digits, end, 0, &address);
        if (fits < 0)
            return pci_gp_fail(r, p, err, "the address exceeds 64 bits");
        int is_return = returns == PCI_GP_ALL_RETURN ||
                        (returns == PCI_GP_LEAF_IS_EXACT && profile->stack_count > stack_start);
        if (fits)
            PCI_TRY(pci_gp_push(&r->profile, address - (is_return != 0), err));
        p = digits;
    }
    return PCOL_OK;
}

pcol_status pci_gp_push_stack(struct pci_gp_reader *r, const uint8_t *p, const uint8_t *end,
                              enum pci_gp_returns returns, pcol_error *err)
{
    const uint8_t *stop = p;
    while (stop < end && (*stop == ' ' || *stop == 'x' || pci_gp_is_lower_hex(*stop)))
        stop++;
    return pci_gp_push_addresses(r, p, stop, returns, err);
}
