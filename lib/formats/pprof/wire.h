/*
 * wire.h - protobuf wire format, with the tolerance of pprof's own parser
 *
 * A message is a sequence of fields: a key (number and wire type), then a varint, 4 or 8 bytes, or
 * length and bytes. As in pprof, a varint has at most ten bytes, of which bits beyond 64 are
 * ignored; groups are rejected; a field with another wire type than its own is an error; unknown
 * fields are preserved.
 */
#ifndef PCI_PPROF_WIRE_H
#define PCI_PPROF_WIRE_H

#include "util/error.h"

enum pci_pprof_type { PCI_PB_VARINT = 0, PCI_PB_FIXED64 = 1, PCI_PB_BYTES = 2, PCI_PB_FIXED32 = 5 };

/* A message being read; `p` is the start of the next field. */
struct pci_pprof_message {
    const char *name; /* in profile.proto, for error messages */
    const uint8_t *p, *begin, *end;
    uint64_t offset; /* of `begin` in the (decompressed) input */
};

struct pci_pprof_field {
    uint64_t number;
    unsigned type;
    uint64_t value;      /* varint and fixed */
    const uint8_t *data; /* bytes */
    size_t size;
    const uint8_t *key; /* start of the field */
};

static inline struct pci_pprof_message pci_pprof_message(const char *name, const uint8_t *data,
                                                         size_t size, uint64_t offset)
{
    return (struct pci_pprof_message){name, data, data, data + size, offset};
}

/* Offset of `at` in the input. */
static inline uint64_t pci_pprof_offset(const struct pci_pprof_message *m, const uint8_t *at)
{
    return m->offset + (uint64_t)(at - m->begin);
}

/* The message contained in a field. */
static inline struct pci_pprof_message pci_pprof_inner(const char *name,
                                                       const struct pci_pprof_message *outer,
                                                       const struct pci_pprof_field *field)
{
    return pci_pprof_message(name, field->data, field->size, pci_pprof_offset(outer, field->data));
}

/* Decode the LEB128 varint at p. Returns the byte after it, NULL if truncated or over ten bytes. */
static inline const uint8_t *pci_pprof_varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    uint64_t u = 0;
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        uint64_t byte = *p++;
        u |= (byte & 127) << (shift & 63);
        if (byte < 128) {
            *value = u;
            return p;
        }
    }
    return NULL;
}

/* Read the next field; the message must have bytes left. E_SYNTAX with the offset. */
pcol_status pci_pprof_next_any(struct pci_pprof_message *m, struct pci_pprof_field *field,
                               pcol_error *err);
/* The same, with a fast path for the common case: byte fields with key and size of one byte
 * each. */
static inline pcol_status pci_pprof_next(struct pci_pprof_message *m, struct pci_pprof_field *field,
                                         pcol_error *err)
{
    const uint8_t *p = m->p;
    if (m->end - p < 2 || (p[0] & 0x87) != PCI_PB_BYTES || p[1] > 127 || p[1] > m->end - p - 2)
        return pci_pprof_next_any(m, field, err);
    field->key = p;
    field->number = p[0] >> 3;
    field->type = PCI_PB_BYTES;
    field->value = field->size = p[1];
    field->data = p + 2;
    m->p = field->data + field->size;
    return PCOL_OK;
}
/* Report E_SYNTAX for a field with a wrong wire type. */
pcol_status pci_pprof_wrong_type(const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err);
/* Name of a field of a message ("function_id"), "field" if unknown. */
const char *pci_pprof_field_name(const char *message, uint64_t number);

/* ---- unknown fields */

/* Position of a message within the message of the row: entry `index` of field `number`. */
struct pci_pprof_path {
    unsigned number; /* 0: the message of the row itself */
    size_t index;    /* SIZE_MAX: the field is not repeated */
};
#define PCI_PB_ROW ((struct pci_pprof_path){0, 0})

/* Unknown fields are preserved unchanged with their keys. Fields of one message are joined, under
 * the path of the first: "99" for field 99 of the message of the row, "4.2.99" for field 99 of the
 * third entry of field 4. */
struct pci_pprof_unknown {
    struct pci_pprof_unknown_field {
        struct pci_pprof_path path;
        uint64_t number;
        size_t at, size;
    } * fields;
    size_t count, capacity;
    uint8_t *bytes;
    size_t size, bytes_capacity;
};
void pci_pprof_unknown_clear(struct pci_pprof_unknown *unknown);
/* Append a field of `m`, the last one read. */
pcol_status pci_pprof_add_unknown(struct pci_pprof_unknown *unknown, struct pci_pprof_path path,
                                  const struct pci_pprof_message *m,
                                  const struct pci_pprof_field *field, pcol_error *err);
/* Add the collected fields to the object *root, a new one if *root is PCI_NO_NODE, and clear the
 * collection. *root stays unchanged without fields. */
pcol_status pci_pprof_flush_unknown(struct pci_pprof_unknown *unknown, pcol_builder *builder,
                                    uint64_t *root, pcol_error *err);

/* ---- messages of numbers only */

/* Read a message whose fields 1..count are varints: values[n], and bit n of *seen if present. */
pcol_status pci_pprof_read_numbers(struct pci_pprof_message *m, unsigned count, uint64_t *values,
                                   unsigned *seen, struct pci_pprof_path path,
                                   struct pci_pprof_unknown *unknown, pcol_error *err);

#endif
