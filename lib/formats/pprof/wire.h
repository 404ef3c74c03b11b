/*
 * wire.h - fields of protobuf messages, as pprof reads them
 *
 * A message is a run of fields: a key (number and wire type), then a varint, 4 or 8 bytes, or a
 * counted run of bytes. What pprof's own parser takes is taken, what it refuses is refused: a
 * varint has at most ten bytes, of which bits beyond 64 are dropped; groups do not exist; a field
 * of a wire type other than its own is an error; a field of an unknown number is kept aside.
 */
#ifndef PCI_PPROF_WIRE_H
#define PCI_PPROF_WIRE_H

#include "util/error.h"

enum pci_pprof_type { PCI_PB_VARINT = 0, PCI_PB_FIXED64 = 1, PCI_PB_BYTES = 2, PCI_PB_FIXED32 = 5 };

/* A message that is being read; `p` is where the next field begins. */
struct pci_pprof_message {
    const char *name; /* as profile.proto calls it, for errors */
    const uint8_t *p, *begin, *end;
    uint64_t offset; /* of `begin` in the (inflated) input */
};

struct pci_pprof_field {
    uint64_t number;
    unsigned type;
    uint64_t value;      /* varint and fixed */
    const uint8_t *data; /* bytes */
    size_t size;
    const uint8_t *key; /* where the field begins */
};

static inline struct pci_pprof_message pci_pprof_message(const char *name, const uint8_t *data,
                                                         size_t size, uint64_t offset)
{
    return (struct pci_pprof_message){name, data, data, data + size, offset};
}

/* Where `at` lies in the input. */
static inline uint64_t pci_pprof_place(const struct pci_pprof_message *m, const uint8_t *at)
{
    return m->offset + (uint64_t)(at - m->begin);
}

/* The message in a field of another one. */
static inline struct pci_pprof_message pci_pprof_inner(const char *name,
                                                       const struct pci_pprof_message *outer,
                                                       const struct pci_pprof_field *field)
{
    return pci_pprof_message(name, field->data, field->size, pci_pprof_place(outer, field->data));
}

/* Behind the varint at p, or NULL if it is cut or has more than ten bytes. */
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

/* The next field; there must be bytes left. E_SYNTAX with the place. */
pcol_status pci_pprof_next_any(struct pci_pprof_message *m, struct pci_pprof_field *field,
                               pcol_error *err);
/* The same; bytes with a key and a size of one byte each, as nearly all have, are read in place. */
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
/* E_SYNTAX for a field of a wire type that is not its own. */
pcol_status pci_pprof_wrong_type(const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err);
/* Name of a field of a message ("function_id"), "field" if it is not known. */
const char *pci_pprof_field_name(const char *message, uint64_t number);

/* ---- fields that this version does not know */

/* Where a message stands in the row's own: entry `index` of field `number`. */
struct pci_pprof_path {
    unsigned number; /* 0: it is the row's own */
    size_t index;    /* SIZE_MAX: the field is there once */
};
#define PCI_PB_OWN ((struct pci_pprof_path){0, 0})

/* They are kept as they are, keys included, those of one message together, under the path of
 * numbers that leads to the first: "99" for field 99 of the row's own message, "4.2.99" for field
 * 99 of the third entry of field 4. */
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
/* Field `field` of `m`. */
pcol_status pci_pprof_keep(struct pci_pprof_unknown *unknown, struct pci_pprof_path path,
                           const struct pci_pprof_message *m, const struct pci_pprof_field *field,
                           pcol_error *err);
/* Put all that was kept under an object, *root; if that is PCI_NO_NODE, under a new one, unless
 * there is nothing. Forgets them. */
pcol_status pci_pprof_unknown_nodes(struct pci_pprof_unknown *unknown, pcol_builder *builder,
                                    uint64_t *root, pcol_error *err);

/* ---- messages of numbers only */

/* Read a message whose fields 1..count are all numbers: values[n] and bit n of *seen. */
pcol_status pci_pprof_numbers(struct pci_pprof_message *m, unsigned count, uint64_t *values,
                              unsigned *seen, struct pci_pprof_path path,
                              struct pci_pprof_unknown *unknown, pcol_error *err);

#endif
