/*
 * write_types.c - writes resource_type_map, and resources by type
 */
#include "formats/perun/write.h"

#include "formats/perun/flatten.h"
#include "util/alloc.h"
#include "util/strbuf.h"

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

/* Make the name that the rule gives to the type whose members were read last. The rule counts the
 * type even if it has a name of its own, as the reader did. *made: the type has a uid. */
static pcol_status name_by_rule(struct pci_perun_writer *w, struct pci_perun_type_rule *rule,
                                struct pci_strbuf *name, int *made, pcol_error *err)
{
    const struct pci_value *uid = NULL;
    for (size_t i = 0; i < w->types.count; i++)
        if (pci_str_is(w->types.members[i].key, "uid"))
            uid = &w->types.members[i].value;
    name->size = 0;
    *made = uid && (uid->kind == PCI_VALUE_STRING || uid->kind == PCI_VALUE_FRAME);
    if (!*made)
        return PCOL_OK;
    PCI_TRY(uid->kind == PCI_VALUE_FRAME ? flat_frame(w, uid->as.i64, name, err)
                                         : pci_flat_text(uid, name, err));
    return pci_perun_type_rule_next(rule, name, err);
}

static pcol_status type_name(struct pci_perun_writer *w, struct pci_perun_type_rule *rule,
                             uint64_t row, struct pci_strbuf *name, pcol_error *err)
{
    pcol_str stored_name = {"", 0};
    int64_t ordinal;
    int made = 0, valid = 0, in_map;
    PCI_TRY(pci_get(w->file, w->type_map, row, &ordinal, &in_map, err));
    if (in_map) {
        PCI_TRY(pci_keyed_row(&w->types, row, err));
        PCI_TRY(name_by_rule(w, rule, name, &made, err));
    }
    PCI_TRY(pci_get_str(w->file, w->type_name, row, &stored_name, &valid, err));
    if (valid) {
        name->size = 0;
        return pci_strbuf_append(name, stored_name.data, stored_name.size, err);
    }
    if (made)
        return PCOL_OK;
    return pci_corrupt(err, "resource_types", "name", row,
                       "the type has neither a name nor a uid that determines it");
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

static pcol_status write_map(struct pci_perun_writer *w, struct pci_perun_type_rule *rule,
                             struct pci_strbuf *name, pcol_error *err)
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
        PCI_TRY(type_name(w, rule, row, name, err)); /* reads the row's members */
        pci_json_put_key_bytes(&w->json, (pcol_str){name->data, name->size}, err);
        PCI_TRY(pci_members_json(&w->values, w->types.members, w->types.count, &w->json, NULL, NULL,
                                 err));
    }
    pci_json_put_end(&w->json, '}', err);
    return w->json.status;
}

pcol_status pci_perun_write_map(struct pci_perun_writer *w, pcol_error *err)
{
    struct pci_perun_type_rule rule = {0};
    struct pci_strbuf name = {0};
    pcol_status status = write_map(w, &rule, &name, err);
    pci_perun_type_rule_clear(&rule);
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
    uint64_t *names; /* end offsets of names in `text`, by row */
    size_t name_count, name_capacity;
    struct pci_strbuf text;
    struct pci_perun_type_rule rule;
    struct pci_strbuf name;
    uint64_t first; /* row of the source's first type */
};

/* Add a type's name, which the rule gives in the order of rows, and its position in `resources`. */
static pcol_status add_to_order(struct pci_perun_writer *w, struct order *o, uint64_t row,
                                pcol_error *err)
{
    int64_t ordinal;
    int valid;
    PCI_TRY(type_name(w, &o->rule, row, &o->name, err));
    PCI_TRY(pci_strbuf_append(&o->text, o->name.data, o->name.size, err));
    PCI_TRY(PCI_GROW(o->names, o->name_capacity, o->name_count + 1, err));
    PCI_TRY(PCI_GROW(o->rows, o->capacity, o->count + 1, err));
    o->names[o->name_count++] = o->text.size;
    PCI_TRY(pci_get(w->file, w->type_resources, row, &ordinal, &valid, err));
    if (valid)
        o->rows[o->count++] = (uint64_t)ordinal << 32 | (row - o->first);
    return PCOL_OK;
}

/* Counting sort by ordinal; each ordinal must occur once. */
static pcol_status sort_order(struct order *o, pcol_error *err)
{
    uint64_t *sorted;
    PCI_TRY(PCI_MALLOC(sorted, o->count, err));
    memset(sorted, 0xff, o->count * sizeof *sorted);
    for (size_t i = 0; i < o->count; i++) {
        uint64_t ordinal = o->rows[i] >> 32;
        if (ordinal >= o->count || sorted[ordinal] != UINT64_MAX) {
            pci_free(sorted);
            return pci_corrupt(err, "resource_types", "resources_ordinal",
                               o->first + (uint32_t)o->rows[i],
                               "the ordinals are not a permutation");
        }
        sorted[ordinal] = (uint32_t)o->rows[i];
    }
    pci_free(o->rows);
    o->rows = sorted;
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
        uint64_t at = o->rows[i], begin = at ? o->names[at - 1] : 0;
        pcol_str name = {o->text.data + begin, (size_t)(o->names[at] - begin)};
        pci_json_put_key_bytes(&w->json, name, err);
        PCI_TRY(write_type(w, o->first + at, err));
    }
    pci_json_put_end(&w->json, '}', err);
    return w->json.status;
}

pcol_status pci_perun_write_types(struct pci_perun_writer *w, pcol_error *err)
{
    struct order order = {0};
    pcol_status status = write_types(w, &order, err);
    pci_free(order.rows);
    pci_free(order.names);
    pci_strbuf_clear(&order.text);
    pci_strbuf_clear(&order.name);
    pci_perun_type_rule_clear(&order.rule);
    return status;
}
