/*
 * records.c - records of resources, types, models and snapshots, stored until the document is read
 *
 * Records of one kind mostly have the same keys and kinds of values. This list, the shape, is
 * interned; a record has the number of its shape and 8 bytes for each value.
 */
#include "formats/perun/perun.h"

#include "util/alloc.h"

static const char *const role_names[PCI_PERUN_ROLES] = {
    [PCI_PERUN_UID] = "uid",         [PCI_PERUN_TRACE_ROLE] = "trace", [PCI_PERUN_TYPE] = "type",
    [PCI_PERUN_SUBTYPE] = "subtype", [PCI_PERUN_AMOUNT] = "amount",    [PCI_PERUN_TIME] = "time",
};

pcol_status pci_perun_shapes_init(struct pci_perun *p, pcol_error *err)
{
    for (int i = 0; i < PCI_PERUN_ROLES; i++)
        PCI_TRY(pcol_builder_string(p->builder, role_names[i], strlen(role_names[i]),
                                    &p->shapes.role_keys[i], err));
    return PCOL_OK;
}

static int is_shape(const struct pci_perun_shapes *s, uint32_t id,
                    const struct pci_perun_cell *cells, size_t count)
{
    const struct pci_perun_shape *shape = &s->shapes[id];
    const uint64_t *entries = s->entries + shape->first;
    if (shape->count != count)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (entries[i] != ((uint64_t)cells[i].key << 8 | cells[i].kind))
            return 0;
    return 1;
}

static void find_roles(const struct pci_perun_shapes *s, struct pci_perun_shape *shape)
{
    for (int role = 0; role < PCI_PERUN_ROLES; role++) {
        shape->roles[role] = PCOL_NONE;
        for (uint32_t i = 0; i < shape->count; i++)
            if (s->entries[shape->first + i] >> 8 == s->role_keys[role])
                shape->roles[role] = i;
    }
}

static pcol_status add_shape(struct pci_perun_shapes *s, const struct pci_perun_cell *cells,
                             size_t count, uint64_t hash, pcol_error *err)
{
    if (s->count >= PCOL_NONE - 1 || count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 different lists of keys");
    PCI_TRY(PCI_GROW(s->shapes, s->capacity, s->count + 1, err));
    PCI_TRY(PCI_GROW(s->entries, s->entry_capacity, s->entry_count + count + 1, err));
    PCI_TRY(pci_hash_add(&s->hash, hash, (uint32_t)s->count, err));
    struct pci_perun_shape *shape = &s->shapes[s->count];
    shape->first = s->entry_count;
    shape->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        s->entries[s->entry_count + i] = (uint64_t)cells[i].key << 8 | cells[i].kind;
    s->entry_count += count;
    find_roles(s, shape);
    s->last = (uint32_t)s->count++;
    return PCOL_OK;
}

static pcol_status intern_shape(struct pci_perun_shapes *s, const struct pci_perun_cell *cells,
                                size_t count, uint32_t *id, pcol_error *err)
{
    if (s->count && is_shape(s, s->last, cells, count)) {
        *id = s->last;
        return PCOL_OK;
    }
    uint64_t hash = pci_hash_pair(count, 0);
    for (size_t i = 0; i < count; i++)
        hash = pci_hash_pair(hash, (uint64_t)cells[i].key << 8 | cells[i].kind);
    size_t at = pci_hash_start(&s->hash, hash);
    uint32_t found;
    while ((found = pci_hash_next(&s->hash, hash, &at)) != PCI_HASH_NONE)
        if (is_shape(s, found, cells, count)) {
            *id = s->last = found;
            return PCOL_OK;
        }
    PCI_TRY(add_shape(s, cells, count, hash, err));
    *id = s->last;
    return PCOL_OK;
}

pcol_status pci_perun_add_record(struct pci_perun *p, struct pci_perun_records *records,
                                 uint32_t owner, const struct pci_perun_cell *cells, size_t count,
                                 pcol_error *err)
{
    uint32_t shape;
    PCI_TRY(intern_shape(&p->shapes, cells, count, &shape, err));
    PCI_TRY(pci_spill_append_u64(&records->data, (uint64_t)owner << 32 | shape, err));
    for (size_t i = 0; i < count; i++)
        PCI_TRY(pci_spill_append_u64(&records->data, (uint64_t)cells[i].value, err));
    records->count++;
    return PCOL_OK;
}

pcol_status pci_perun_read_record(const struct pci_perun *p,
                                  const struct pci_perun_records *records, uint64_t offset,
                                  struct pci_perun_record *record, pcol_error *err)
{
    uint64_t head;
    PCI_TRY(pci_spill_read(&records->data, offset, &head, sizeof head, err));
    record->owner = (uint32_t)(head >> 32);
    record->shape = &p->shapes.shapes[(uint32_t)head];
    record->entries = p->shapes.entries + record->shape->first;
    size_t count = record->shape->count;
    PCI_TRY(PCI_GROW(record->values, record->capacity, count + 1, err));
    record->next = offset + sizeof head + count * sizeof *record->values;
    return pci_spill_read(&records->data, offset + sizeof head, record->values,
                          count * sizeof *record->values, err);
}

int pci_perun_get_role(const struct pci_perun_record *record, enum pci_perun_role role,
                       struct pci_perun_cell *cell)
{
    uint32_t i_entry = record->shape->roles[role];
    if (i_entry == PCOL_NONE)
        return 0;
    cell->key = (uint32_t)(record->entries[i_entry] >> 8);
    cell->kind = (uint8_t)record->entries[i_entry];
    cell->value = record->values[i_entry];
    return 1;
}

pcol_status pci_perun_push_cell(struct pci_perun *p, const struct pci_perun_cell *cell,
                                pcol_error *err)
{
    PCI_TRY(PCI_GROW(p->cells, p->cell_capacity, p->cell_count + 1, err));
    p->cells[p->cell_count++] = *cell;
    return PCOL_OK;
}

pcol_status pci_perun_push_record(struct pci_perun *p, const struct pci_perun_record *record,
                                  uint32_t first, pcol_error *err)
{
    for (uint32_t i = first; i < record->shape->count; i++) {
        struct pci_perun_cell cell = {(uint32_t)(record->entries[i] >> 8),
                                      (uint8_t)record->entries[i], record->values[i]};
        PCI_TRY(pci_perun_push_cell(p, &cell, err));
    }
    return PCOL_OK;
}
