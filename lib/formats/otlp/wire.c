/*
 * wire.c - protobuf wire format of OpenTelemetry profiles
 */
#include "formats/otlp/otlp.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

pcol_status pci_otlp_fail(const struct pci_otlp *r, const uint8_t *at, pcol_error *err,
                          const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!r->is_json)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, (uint64_t)(at - r->input.data), "%s", text);
    size_t offset = (size_t)(at - (const uint8_t *)r->bytes.data), first = 0;
    for (size_t end = r->place_count; end - first > 1;) { /* the last place up to `offset` */
        size_t middle = first + (end - first) / 2;
        if (r->places[middle].at <= offset)
            first = middle;
        else
            end = middle;
    }
    return pci_fail_text(err, PCOL_E_SYNTAX, r->places[first].line, r->places[first].column, "%s",
                         text);
}

static int take_long_varint(struct pci_otlp_span *m, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 10 && i < m->size; i++) {
        *value |= (uint64_t)(m->data[i] & 127) << (7 * i & 63);
        if (m->data[i] < 128) {
            m->data += i + 1;
            m->size -= i + 1;
            return 1;
        }
    }
    return 0;
}

/* Decode a LEB128 varint of at most ten bytes; 0 if it is truncated. */
static inline int take_varint(struct pci_otlp_span *m, uint64_t *value)
{
    if (!m->size || m->data[0] > 127)
        return take_long_varint(m, value);
    *value = *m->data++;
    m->size--;
    return 1;
}

static void take_fixed(struct pci_otlp_span *m, size_t size, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)m->data[i] << 8 * i;
    m->data += size;
    m->size -= size;
}

pcol_status pci_otlp_next(const struct pci_otlp *r, struct pci_otlp_span *message,
                          struct pci_otlp_field *field, pcol_error *err)
{
    struct pci_otlp_span m = *message;
    uint64_t key;
    field->at = m.data;
    if (!take_varint(&m, &key))
        return pci_otlp_fail(r, field->at, err, "the message ends inside a field");
    field->number = key >> 3;
    field->type = key & 7;
    size_t fixed = field->type == PCI_OTLP_FIXED64 ? 8 : field->type == PCI_OTLP_FIXED32 ? 4 : 0;
    if (!field->number ||
        (!fixed && field->type != PCI_OTLP_VARINT && field->type != PCI_OTLP_BYTES))
        return pci_otlp_fail(r, field->at, err, "not a field of a protobuf message: key %" PRIu64,
                             key);
    if (fixed ? m.size < fixed : !take_varint(&m, &field->value))
        return pci_otlp_fail(r, field->at, err, "the message ends inside a field");
    if (fixed)
        take_fixed(&m, fixed, &field->value);
    field->bytes = (struct pci_otlp_span){m.data, 0};
    if (field->type == PCI_OTLP_BYTES) {
        if (field->value > m.size)
            return pci_otlp_fail(r, field->at, err,
                                 "a field of %" PRIu64 " bytes exceeds its message", field->value);
        field->bytes.size = (size_t)field->value;
        m.data += field->bytes.size;
        m.size -= field->bytes.size;
    }
    *message = m;
    return PCOL_OK;
}

pcol_status pci_otlp_expect(const struct pci_otlp *r, const struct pci_otlp_field *field,
                            unsigned type, pcol_error *err)
{
    if (field->type == type)
        return PCOL_OK;
    return pci_otlp_fail(r, field->at, err, "field %" PRIu64 " has wire type %u instead of %u",
                         field->number, field->type, type);
}

pcol_status pci_otlp_collect(const struct pci_otlp *r, const struct pci_otlp_field *field,
                             unsigned type, struct pci_otlp_list *list, pcol_error *err)
{
    struct pci_otlp_span packed = field->bytes;
    if (field->type != PCI_OTLP_BYTES) {
        PCI_TRY(pci_otlp_expect(r, field, type, err));
        PCI_TRY(PCI_GROW(list->values, list->capacity, list->count + 1, err));
        list->values[list->count++] = field->value;
    }
    while (field->type == PCI_OTLP_BYTES && packed.size) {
        const uint8_t *at = packed.data;
        PCI_TRY(PCI_GROW(list->values, list->capacity, list->count + 1, err));
        if (type == PCI_OTLP_FIXED64 ? packed.size < 8
                                     : !take_varint(&packed, &list->values[list->count]))
            return pci_otlp_fail(r, at, err, "a packed field ends inside a number");
        if (type == PCI_OTLP_FIXED64)
            take_fixed(&packed, 8, &list->values[list->count]);
        list->count++;
    }
    return PCOL_OK;
}

pcol_status pci_otlp_numbers(const struct pci_otlp *r, struct pci_otlp_span message, unsigned count,
                             uint64_t *values, pcol_error *err)
{
    struct pci_otlp_field field;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number > count)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_VARINT, err));
        values[field.number] = field.value;
    }
    return PCOL_OK;
}
