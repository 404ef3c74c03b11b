/*
 * write_types.c - writes resource_type_map, and resources by type
 */
#include "formats/perun/write.h"

#include "formats/perun/flatten.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CELLS 65536u /* greatest number of buffered cells of a type, of as many of its keys */

/* ---- names */

static pcol_status flat_frame(struct pci_perun_writer *w, int64_t group, struct pci_strbuf *to,
                              pcol_error *err)
{
    uint32_t order[PCI_FLAT_KEYS];
    struct pci_keyed_reader *frames = &w->values.frames;
    PCI_TRY(pci_keyed_row(frames, (uint64_t)group, err));
    uint32_t count = frames->count < PCI_FLAT_KEYS ? (uint32_t)frames->count : PCI_FLAT_KEYS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0; at--) {
            if (pci_flat_compare(frames->members[order[at - 1]].key, frames->members[i].key) <= 0)
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            PCI_TRY(pci_strbuf_append(to, ":", 1, err));
        PCI_TRY(pci_flat_text(&frames->members[order[i]].value, to, err));
    }
    return PCOL_OK;
}

/* Append the flattened uid of the type whose members were read last. */
static pcol_status append_uid(struct pci_perun_writer *w, uint64_t row, struct pci_strbuf *to,
                              pcol_error *err)
{
    for (size_t i = 0; i < w->types.count; i++) {
        const struct pci_value *uid = &w->types.members[i].value;
        if (!pci_str_is(w->types.members[i].key, "uid"))
            continue;
        return uid->kind == PCI_VALUE_FRAME ? flat_frame(w, uid->as.i64, to, err)
                                            : pci_flat_text(uid, to, err);
    }
    return pci_corrupt(err, "resource_types", "number", row, "the type has no uid");
}

/* Read the members of a type, and write its name as a key. name: buffer. */
static pcol_status put_name(struct pci_perun_writer *w, uint64_t row, struct pci_strbuf *name,
                            pcol_error *err)
{
    pcol_str stored_name;
    char text[PCI_FLAT_NUMBER];
    int64_t number;
    int valid;
    name->size = 0;
    PCI_TRY(pci_keyed_row(&w->types, row, err));
    PCI_TRY(pci_get(w->file, w->type_number, row, &number, &valid, err));
    if (valid) {
        PCI_TRY(append_uid(w, row, name, err));
        PCI_TRY(pci_strbuf_append(name, "#", 1, err));
        PCI_TRY(pci_strbuf_append(name, text, pci_flat_integer(number, text), err));
        pci_json_put_key_bytes(&w->json, (pcol_str){name->data, name->size}, err);
        return w->json.status;
    }
    PCI_TRY(pci_get_str(w->file, w->type_name, row, &stored_name, &valid, err));
    if (!valid)
        return pci_corrupt(err, "resource_types", "name", row,
                           "the type has neither a name nor a number");
    pci_json_put_key_bytes(&w->json, stored_name, err);
    return w->json.status;
}

/* ---- map */

static pcol_status is_own_type(const struct pci_perun_writer *w, uint64_t row, int *is_own,
                               pcol_error *err)
{
    int64_t owner;
    int valid;
    pcol_status status = pci_get(w->file, w->type_source, row, &owner, &valid, err);
    *is_own = owner == (int64_t)w->source;
    return status;
}

static pcol_status write_map(struct pci_perun_writer *w, struct pci_strbuf *name, pcol_error *err)
{
    pci_json_put_begin(&w->json, '{', err);
    for (uint64_t row = 0; row < w->type_rows; row++) {
        int64_t ordinal;
        int is_own, in_map;
        PCI_TRY(is_own_type(w, row, &is_own, err));
        if (!is_own)
            continue;
        PCI_TRY(pci_get(w->file, w->type_map, row, &ordinal, &in_map, err));
        if (!in_map)
            continue;
        PCI_TRY(put_name(w, row, name, err));
        PCI_TRY(pci_members_json(&w->values, w->types.members, w->types.count, &w->json, NULL, NULL,
                                 err));
    }
    pci_json_put_end(&w->json, '}', err);
    return w->json.status;
}

pcol_status pci_perun_write_map(struct pci_perun_writer *w, pcol_error *err)
{
    struct pci_strbuf name = {0};
    pcol_status status = write_map(w, &name, err);
    pci_strbuf_clear(&name);
    return status;
}

/* ---- resources of one type */

/* Count the rows of the type from the cursor on. */
static pcol_status count_rows(struct pci_perun_writer *w, uint64_t type, uint64_t *count,
                              pcol_error *err)
{
    uint64_t row = w->sample;
    *count = 0;
    for (; row < w->sample_rows; row++) {
        int64_t owner, source;
        int typed, valid;
        PCI_TRY(pci_get(w->file, w->sample_source, row, &source, &valid, err));
        PCI_TRY(pci_get(w->file, w->sample_type, row, &owner, &typed, err));
        if (source != (int64_t)w->source || !typed || (uint64_t)owner != type)
            break;
    }
    *count = row - w->sample;
    return PCOL_OK;
}

/* Keys [first, first + count) of a type, whose cells are buffered in w->cells, row by row; count 0:
 * the type has too many rows. */
struct keys {
    size_t first, count;
};

/* Write cell `k` of row `i` of the type. */
static pcol_status put_cell(struct pci_perun_writer *w, uint64_t i, size_t k,
                            const struct keys *buffered, pcol_str key, pcol_error *err)
{
    const struct pci_member *member;
    if (buffered->count) {
        member = &w->cells[i * buffered->count + (k - buffered->first)];
    } else {
        PCI_TRY(pci_keyed_row(&w->samples, w->sample + i, err));
        member = k < w->samples.count ? &w->samples.members[k] : NULL;
    }
    if (!member || member->key.size != key.size ||
        memcmp(member->key.data, key.data, key.size) != 0)
        return pci_corrupt(err, "samples", "label_shape", w->sample + i,
                           "the resource's keys differ from those of its type");
    return pci_value_json(&w->values, &member->value, &w->json, NULL, NULL, err);
}

/* Buffer the cells of some keys of all rows of the type, which have `width` keys each. */
static pcol_status buffer_cells(struct pci_perun_writer *w, uint64_t rows, size_t width,
                                const struct keys *buffered, pcol_error *err)
{
    PCI_TRY(PCI_GROW(w->cells, w->cell_capacity, (size_t)rows * buffered->count + 1, err));
    for (uint64_t i = 0; i < rows; i++) {
        PCI_TRY(pci_keyed_row(&w->samples, w->sample + i, err));
        if (w->samples.count != width)
            return pci_corrupt(err, "samples", "label_shape", w->sample + i,
                               "the resource's keys differ from those of its type");
        memcpy(&w->cells[i * buffered->count], w->samples.members + buffered->first,
               buffered->count * sizeof *w->cells);
    }
    return PCOL_OK;
}

static pcol_status put_array(struct pci_perun_writer *w, uint64_t rows, size_t k,
                             const struct keys *buffered, pcol_str key, pcol_error *err)
{
    for (uint64_t i = 0; i < rows; i++)
        PCI_TRY(put_cell(w, i, k, buffered, key, err));
    return PCOL_OK;
}

/* Write the elements beyond the shortest array. */
static pcol_status put_remaining_elements(struct pci_perun_writer *w, uint64_t row, pcol_error *err)
{
    struct pci_value rest = {.kind = PCI_VALUE_NODE};
    struct pci_member_iterator each;
    int valid, more = 1;
    PCI_TRY(pci_get(w->file, w->array_rest, row, &rest.as.i64, &valid, err));
    if (!valid)
        return PCOL_OK;
    pcol_status status = pci_member_iterator_open(&each, &w->values, &rest, err);
    while (status == PCOL_OK && more) {
        struct pci_member member;
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status == PCOL_OK && more)
            status = pci_value_json(&w->values, &member.value, &w->json, NULL, NULL, err);
    }
    pci_member_iterator_close(&each);
    return status;
}

/* Count the rows of resource_arrays from the cursor on that belong to the type. */
static pcol_status count_arrays(struct pci_perun_writer *w, uint64_t type, uint64_t *count,
                                pcol_error *err)
{
    for (*count = 0; w->array + *count < w->array_rows; ++*count) {
        int64_t owner;
        int valid;
        PCI_TRY(pci_get(w->file, w->array_type, w->array + *count, &owner, &valid, err));
        if ((uint64_t)owner != type)
            break;
    }
    return PCOL_OK;
}

static pcol_status write_type(struct pci_perun_writer *w, uint64_t type, pcol_error *err)
{
    uint64_t rows, arrays;
    size_t width = 0;
    PCI_TRY(count_rows(w, type, &rows, err));
    PCI_TRY(count_arrays(w, type, &arrays, err));
    if (rows) {
        PCI_TRY(pci_keyed_row(&w->samples, w->sample, err));
        width = w->samples.count;
    }
    if (arrays && rows && arrays != width)
        return pci_corrupt(err, "resource_arrays", NULL, w->array,
                           "the arrays differ from the keys of the type's resources");
    size_t max_keys = rows && rows <= MAX_CELLS ? (size_t)(MAX_CELLS / rows) : 0;
    struct keys buffered = {0, 0};
    pci_json_put_begin(&w->json, '{', err);
    for (size_t k = 0; k < (arrays ? arrays : width); k++) {
        pcol_str key = {"", 0};
        int valid;
        if (max_keys && k == buffered.first + buffered.count) {
            buffered = (struct keys){k, max_keys < width - k ? max_keys : width - k};
            PCI_TRY(buffer_cells(w, rows, width, &buffered, err));
        }
        if (arrays && w->array_key) {
            PCI_TRY(pci_get_str(w->file, w->array_key, w->array, &key, &valid, err));
        } else if (!arrays && buffered.count) {
            key = w->cells[k - buffered.first].key;
        } else if (!arrays) {
            PCI_TRY(pci_keyed_row(&w->samples, w->sample, err));
            key = w->samples.members[k].key;
        }
        pci_json_put_key_bytes(&w->json, key, err);
        pci_json_put_begin(&w->json, '[', err);
        PCI_TRY(put_array(w, rows, k, &buffered, key, err));
        if (arrays)
            PCI_TRY(put_remaining_elements(w, w->array++, err));
        pci_json_put_end(&w->json, ']', err);
    }
    pci_json_put_end(&w->json, '}', err);
    w->sample += rows;
    return w->json.status;
}

/* ---- resources by type */

struct order {
    uint64_t *rows; /* of resource_types, by position in `resources` */
    size_t count, capacity;
    struct pci_strbuf name;
    uint64_t first; /* row of the source's first type */
};

/* Add a type's position in `resources`. */
static pcol_status add_to_order(struct pci_perun_writer *w, struct order *o, uint64_t row,
                                pcol_error *err)
{
    int64_t ordinal;
    int valid;
    PCI_TRY(pci_get(w->file, w->type_resources, row, &ordinal, &valid, err));
    if (!valid)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(o->rows, o->capacity, o->count + 1, err));
    o->rows[o->count++] = (uint64_t)ordinal << 32 | (row - o->first);
    return PCOL_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sort by ordinal; selections leave gaps. */
static pcol_status sort_order(struct order *o, pcol_error *err)
{
    if (o->count)
        qsort(o->rows, o->count, sizeof *o->rows, compare_numbers);
    for (size_t i = 0; i < o->count; i++) {
        if (i && o->rows[i] >> 32 == o->rows[i - 1] >> 32)
            return pci_corrupt(err, "resource_types", "resources_ordinal",
                               o->first + (uint32_t)o->rows[i], "the ordinal occurs twice");
    }
    for (size_t i = 0; i < o->count; i++)
        o->rows[i] = (uint32_t)o->rows[i];
    return PCOL_OK;
}

static pcol_status write_types(struct pci_perun_writer *w, struct order *o, pcol_error *err)
{
    uint64_t row = 0;
    int is_own = 0;
    for (; row < w->type_rows && !is_own; row += !is_own)
        PCI_TRY(is_own_type(w, row, &is_own, err));
    o->first = row;
    for (; row < w->type_rows && row - o->first < UINT32_MAX; row++) {
        PCI_TRY(is_own_type(w, row, &is_own, err));
        if (!is_own)
            break;
        PCI_TRY(add_to_order(w, o, row, err));
    }
    PCI_TRY(sort_order(o, err));
    for (; w->array < w->array_rows; w->array++) {
        int64_t owner;
        int valid;
        PCI_TRY(pci_get(w->file, w->array_type, w->array, &owner, &valid, err));
        if ((uint64_t)owner >= o->first)
            break;
    }
    pci_json_put_begin(&w->json, '{', err);
    for (size_t i = 0; i < o->count; i++) {
        uint64_t type = o->first + o->rows[i];
        PCI_TRY(put_name(w, type, &o->name, err));
        PCI_TRY(write_type(w, type, err));
    }
    pci_json_put_end(&w->json, '}', err);
    return w->json.status;
}

pcol_status pci_perun_write_types(struct pci_perun_writer *w, pcol_error *err)
{
    struct order order = {0};
    pcol_status status = write_types(w, &order, err);
    pci_free(order.rows);
    pci_strbuf_clear(&order.name);
    return status;
}
