/*
 * wire.c - decoding of protobuf fields, and collection of unknown fields
 */
#include "formats/pprof/wire.h"

#include "builder/rows.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static pcol_status fail(const struct pci_pprof_message *m, const uint8_t *at, const char *message,
                        pcol_error *err)
{
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, at), "%s: %s", m->name,
                            message);
}

static uint64_t load_little_endian(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | p[bytes];
    return value;
}

static pcol_status read_fixed(struct pci_pprof_message *m, struct pci_pprof_field *field,
                              const uint8_t *p, unsigned bytes, pcol_error *err)
{
    if ((size_t)(m->end - p) < bytes)
        return fail(m, field->key, "the field is truncated", err);
    field->value = load_little_endian(p, bytes);
    m->p = p + bytes;
    return PCOL_OK;
}

pcol_status pci_pprof_next_any(struct pci_pprof_message *m, struct pci_pprof_field *field,
                               pcol_error *err)
{
    const uint8_t *p = m->p;
    uint64_t key;
    field->key = p;
    p = pci_pprof_varint(p, m->end, &key);
    if (!p)
        return fail(m, field->key, "bad varint in place of a field", err);
    field->number = key >> 3;
    field->type = key & 7;
    field->data = p; /* of size 0, but never NULL */
    field->size = 0;
    field->value = 0;
    switch (field->type) {
    case PCI_PB_VARINT:
        m->p = pci_pprof_varint(p, m->end, &field->value);
        return m->p ? PCOL_OK : fail(m, field->key, "bad varint", err);
    case PCI_PB_FIXED64:
        return read_fixed(m, field, p, 8, err);
    case PCI_PB_FIXED32:
        return read_fixed(m, field, p, 4, err);
    case PCI_PB_BYTES:
        p = pci_pprof_varint(p, m->end, &field->value);
        if (!p)
            return fail(m, field->key, "bad varint in place of a length", err);
        if (field->value > (uint64_t)(m->end - p))
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, field->key),
                                    "%s.%s claims %" PRIu64 " bytes where %" PRIu64 " are left",
                                    m->name, pci_pprof_field_name(m->name, field->number),
                                    field->value, (uint64_t)(m->end - p));
        field->data = p;
        field->size = (size_t)field->value;
        m->p = p + field->size;
        return PCOL_OK;
    default:
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, field->key),
                                "%s: field %" PRIu64 " has wire type %u, which does not exist",
                                m->name, field->number, field->type);
    }
}

const char *pci_pprof_field_name(const char *message, uint64_t number)
{
    static const struct {
        const char *message, *fields[16];
    } names[] = {
        {"Profile",
         {NULL, "sample_type", "sample", "mapping", "location", "function", "string_table",
          "drop_frames", "keep_frames", "time_nanos", "duration_nanos", "period_type", "period",
          "comment", "default_sample_type", "doc_url"}},
        {"ValueType", {NULL, "type", "unit"}},
        {"Sample", {NULL, "location_id", "value", "label"}},
        {"Label", {NULL, "key", "str", "num", "num_unit"}},
        {"Mapping",
         {NULL, "id", "memory_start", "memory_limit", "file_offset", "filename", "build_id",
          "has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"}},
        {"Location", {NULL, "id", "mapping_id", "address", "line", "is_folded"}},
        {"Line", {NULL, "function_id", "line", "column"}},
        {"Function", {NULL, "id", "name", "system_name", "filename", "start_line"}},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].message, message) && number < 16 && names[i].fields[number])
            return names[i].fields[number];
    return "field";
}

pcol_status pci_pprof_wrong_type(const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err)
{
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, field->key),
                            "%s.%s has wire type %u", m->name,
                            pci_pprof_field_name(m->name, field->number), field->type);
}

/* ---- unknown fields ---- */

/* Fields of one message share a node up to about this size: a node for each would take thirty
 * times the size of the input. */
#define JOINED_BYTES ((size_t)1 << 20)

/* Format "99", "11.99" or "4.2.99". */
static void format_path(const struct pci_pprof_unknown_field *field, char *text, size_t size)
{
    if (!field->path.number)
        snprintf(text, size, "%" PRIu64, field->number);
    else if (field->path.index == SIZE_MAX)
        snprintf(text, size, "%u.%" PRIu64, field->path.number, field->number);
    else
        snprintf(text, size, "%u.%zu.%" PRIu64, field->path.number, field->path.index,
                 field->number);
}

void pci_pprof_unknown_clear(struct pci_pprof_unknown *unknown)
{
    pci_free(unknown->fields);
    pci_free(unknown->bytes);
    *unknown = (struct pci_pprof_unknown){0};
}

pcol_status pci_pprof_add_unknown(struct pci_pprof_unknown *unknown, struct pci_pprof_path path,
                                  const struct pci_pprof_message *m,
                                  const struct pci_pprof_field *field, pcol_error *err)
{
    size_t size = (size_t)(m->p - field->key);
    PCI_TRY(PCI_GROW(unknown->fields, unknown->capacity, unknown->count + 1, err));
    PCI_TRY(PCI_GROW(unknown->bytes, unknown->bytes_capacity, unknown->size + size, err));
    struct pci_pprof_unknown_field *last =
        &unknown->fields[unknown->count ? unknown->count - 1 : 0];
    if (unknown->count && last->path.number == path.number && last->path.index == path.index &&
        last->size < JOINED_BYTES) {
        memcpy(unknown->bytes + unknown->size, field->key, size);
        unknown->size += size;
        last->size += size;
        return PCOL_OK;
    }
    last = &unknown->fields[unknown->count++];
    last->path = path;
    last->number = field->number;
    last->at = unknown->size;
    last->size = size;
    memcpy(unknown->bytes + unknown->size, field->key, size);
    unknown->size += size;
    return PCOL_OK;
}

pcol_status pci_pprof_flush_unknown(struct pci_pprof_unknown *unknown, pcol_builder *builder,
                                    uint64_t *root, pcol_error *err)
{
    struct pci_new_node node = {.parent = PCI_NO_NODE, .key = PCOL_NONE, .tag = PCI_NODE_OBJECT};
    uint64_t row;
    char path[64];
    if (!unknown->count)
        return PCOL_OK;
    if (*root == PCI_NO_NODE)
        PCI_TRY(pci_builder_node(builder, &node, root, err));
    for (size_t i = 0; i < unknown->count; i++) {
        const struct pci_pprof_unknown_field *f = &unknown->fields[i];
        node = (struct pci_new_node){.parent = *root, .tag = PCI_NODE_BYTES};
        format_path(f, path, sizeof path);
        PCI_TRY(pcol_builder_string(builder, path, strlen(path), &node.key, err));
        PCI_TRY(pcol_builder_string(builder, (const char *)unknown->bytes + f->at, f->size,
                                    &node.text, err));
        PCI_TRY(pci_builder_node(builder, &node, &row, err));
    }
    unknown->count = 0;
    unknown->size = 0;
    return PCOL_OK;
}

/* ---- messages of numbers only ---- */

pcol_status pci_pprof_read_numbers(struct pci_pprof_message *m, unsigned count, uint64_t *values,
                                   unsigned *seen, struct pci_pprof_path path,
                                   struct pci_pprof_unknown *unknown, pcol_error *err)
{
    struct pci_pprof_field field = {0};
    *seen = 0;
    memset(values, 0, (count + 1) * sizeof *values);
    while (m->p < m->end) {
        PCI_TRY(pci_pprof_next(m, &field, err));
        if (field.number < 1 || field.number > count) {
            PCI_TRY(pci_pprof_add_unknown(unknown, path, m, &field, err));
            continue;
        }
        if (field.type != PCI_PB_VARINT)
            return pci_pprof_wrong_type(m, &field, err);
        values[field.number] = field.value;
        *seen |= 1u << field.number;
    }
    return PCOL_OK;
}
