/*
 * field_scanner.c - scanning of the top-level fields of a profile, and recognition by content
 */
#include "formats/pprof/field_scanner.h"
#include "formats/pprof/pprof.h"
#include "util/import_budget.h"

#define LONGEST_KEY 20u /* maximum size of a key and a length */
/* A field takes as long as so many bytes of others, however few it has. */
#define FIELD_COST 16u
#define CHARGED_AT_ONCE ((uint64_t)1 << 20)

/* Extend the window to `size` bytes after c->at, or to the end of the input. */
static pcol_status ensure_available(struct pci_pprof_scanner *c, uint64_t size, pcol_error *err)
{
    while (c->input->size - c->at < size && !c->input->end) {
        size_t consumed = c->at;
        c->at = 0;
        PCI_TRY(pci_input_more(c->input, consumed, err));
    }
    return PCOL_OK;
}

/* Size of the field at p with key and length; 0 if it has no length or a damaged one. */
static uint64_t field_size(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    uint64_t key, size;
    p = pci_pprof_varint(p, end, &key);
    if (!p || (key & 7) != PCI_PB_BYTES)
        return 0; /* at most LONGEST_KEY bytes, already in the window */
    p = pci_pprof_varint(p, end, &size);
    if (!p)
        return 0;
    return size > UINT64_MAX - LONGEST_KEY ? UINT64_MAX : size + (uint64_t)(p - start);
}

/* A compressed input may have a hundred fields in each byte. */
static pcol_status charge(struct pci_pprof_scanner *c, size_t size, pcol_error *err)
{
    c->charged += size < FIELD_COST ? FIELD_COST - size : 0;
    if (c->charged < CHARGED_AT_ONCE)
        return PCOL_OK;
    uint64_t bytes = c->charged;
    c->charged = 0;
    return pci_budget_charge_expansion(pci_thread_budget, bytes, err);
}

pcol_status pci_pprof_scanner_next(struct pci_pprof_scanner *cursor, int *end, pcol_error *err)
{
    struct pci_pprof_scanner *c = cursor;
    const struct pci_input *input = c->input;
    PCI_TRY(ensure_available(c, LONGEST_KEY, err));
    *end = c->at == input->size;
    if (*end)
        return PCOL_OK;
    uint64_t size = field_size(input->data + c->at, input->data + input->size);
    if (size > input->size - c->at)
        PCI_TRY(ensure_available(c, size, err));
    c->message = pci_pprof_message("Profile", input->data + c->at, input->size - c->at,
                                   input->offset + c->at);
    PCI_TRY(pci_pprof_next(&c->message, &c->field, err));
    c->at = (size_t)(c->message.p - input->data);
    return charge(c, (size_t)(c->message.p - c->field.key), err);
}

/* ---- recognition ---- */

/* Bit set of the allowed wire types, by field number. */
static const uint8_t profile_types[16] = {0, 4, 4, 4, 4, 4, 4, 1, 1, 1, 1, 4, 1, 5, 1, 1};
static const uint8_t value_type[3] = {0, 1, 1}, sample[4] = {0, 5, 5, 4},
                     mapping[11] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                     location[6] = {0, 1, 1, 1, 4, 1}, function[6] = {0, 1, 1, 1, 1, 1};
static const struct inner {
    const uint8_t *types;
    uint64_t count;
} inner[16] = {{0},           {value_type, 3},
               {sample, 4},   {mapping, 11},
               {location, 6}, {function, 6},
               {0},           {0},
               {0},           {0},
               {0},           {value_type, 3}};

/* Is the field allowed in a message with these types? Unknown numbers are. */
static int is_allowed(const struct pci_pprof_field *field, const uint8_t *types, uint64_t count)
{
    return field->number > 0 && (field->number >= count || types[field->number] >> field->type & 1);
}

static int is_valid_message(struct pci_pprof_message m, const uint8_t *types, uint64_t count)
{
    struct pci_pprof_field field;
    while (m.p < m.end)
        if (pci_pprof_next(&m, &field, NULL) != PCOL_OK || !is_allowed(&field, types, count))
            return 0;
    return 1;
}

/* Number of complete known fields at the start, but for integers and a first string that is not
 * empty, as many texts look like them; -1 if the bytes are not a profile. */
static int count_profile_fields(const uint8_t *data, size_t size, int all)
{
    struct pci_pprof_message m = pci_pprof_message("Profile", data, size, 0);
    struct pci_pprof_field field;
    int count = 0, has_strings = 0;
    while (m.p < m.end) {
        size_t left = (size_t)(m.end - m.p);
        if (!all && (left < LONGEST_KEY || field_size(m.p, m.end) > left))
            return count; /* a truncated field */
        if (pci_pprof_next(&m, &field, NULL) != PCOL_OK || !is_allowed(&field, profile_types, 16))
            return -1;
        if (field.number < 16 && inner[field.number].types &&
            !is_valid_message(pci_pprof_inner("", &m, &field), inner[field.number].types,
                              inner[field.number].count))
            return -1;
        if (field.number == 6 && !has_strings && field.size)
            return 0;
        has_strings |= field.number == 6;
        count += field.number < 16 && field.type == 2;
    }
    return count;
}

int pci_pprof_sniff(const uint8_t *data, size_t size, int all)
{
    int count = count_profile_fields(data, size, all);
    return count < 0 ? 0 : count > 1 ? 2 : 1;
}
