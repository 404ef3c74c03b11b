/*
 * field_scanner.c - framing the top level, and recognising a profile by its first fields
 */
#include "formats/pprof/field_scanner.h"
#include "formats/pprof/pprof.h"

#define LONGEST_KEY 20u /* bytes of a key and a length */

/* See that `size` bytes stand behind `at` in the window, as far as the input has them. */
static pcol_status want(struct pci_pprof_scanner *c, uint64_t size, pcol_error *err)
{
    while (c->input->size - c->at < size && !c->input->end) {
        size_t consumed = c->at;
        c->at = 0;
        PCI_TRY(pci_input_more(c->input, consumed, err));
    }
    return PCOL_OK;
}

/* Bytes of the whole field at the front of [p, end), 0 if key or length are damaged. */
static uint64_t extent(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    uint64_t key, size;
    p = pci_pprof_varint(p, end, &key);
    if (!p || (key & 7) != PCI_PB_BYTES)
        return 0; /* at most LONGEST_KEY bytes, which are there */
    p = pci_pprof_varint(p, end, &size);
    if (!p)
        return 0;
    return size > UINT64_MAX - LONGEST_KEY ? UINT64_MAX : size + (uint64_t)(p - start);
}

pcol_status pci_pprof_scanner_next(struct pci_pprof_scanner *cursor, int *end, pcol_error *err)
{
    struct pci_pprof_scanner *c = cursor;
    const struct pci_input *input = c->input;
    PCI_TRY(want(c, LONGEST_KEY, err));
    *end = c->at == input->size;
    if (*end)
        return PCOL_OK;
    uint64_t size = extent(input->data + c->at, input->data + input->size);
    if (size > input->size - c->at)
        PCI_TRY(want(c, size, err));
    c->message = pci_pprof_message("Profile", input->data + c->at, input->size - c->at,
                                   input->offset + c->at);
    PCI_TRY(pci_pprof_next(&c->message, &c->field, err));
    c->at = (size_t)(c->message.p - input->data);
    return PCOL_OK;
}

/* ---- recognising ---- */

/* Wire types by number, as bits; of an unknown number, none. */
static const uint8_t top[16] = {0, 4, 4, 4, 4, 4, 4, 1, 1, 1, 1, 4, 1, 5, 1, 1};
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

/* Could the field be one of a message with these types? Unknown numbers could. */
static int allowed(const struct pci_pprof_field *field, const uint8_t *types, uint64_t count)
{
    return field->number > 0 && (field->number >= count || types[field->number] >> field->type & 1);
}

static int fits(struct pci_pprof_message m, const uint8_t *types, uint64_t count)
{
    struct pci_pprof_field field;
    while (m.p < m.end)
        if (pci_pprof_next(&m, &field, NULL) != PCOL_OK || !allowed(&field, types, count))
            return 0;
    return 1;
}

/* How many whole fields at the front are those of a profile; -1 if something there is none. */
static int plausible(const uint8_t *data, size_t size, int all)
{
    struct pci_pprof_message m = pci_pprof_message("Profile", data, size, 0);
    struct pci_pprof_field field;
    int count = 0;
    while (m.p < m.end) {
        size_t left = (size_t)(m.end - m.p);
        if (!all && (left < LONGEST_KEY || extent(m.p, m.end) > left))
            return count; /* the rest of it was not read yet */
        if (pci_pprof_next(&m, &field, NULL) != PCOL_OK || !allowed(&field, top, 16))
            return -1;
        if (field.number < 16 && inner[field.number].types &&
            !fits(pci_pprof_inner("", &m, &field), inner[field.number].types,
                  inner[field.number].count))
            return -1;
        count += field.number < 16;
    }
    return count;
}

int pci_pprof_sniff(const uint8_t *data, size_t size, int all)
{
    int count = plausible(data, size, all);
    return count < 0 ? 0 : count > 1 ? 2 : 1;
}
