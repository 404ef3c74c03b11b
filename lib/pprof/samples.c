/*
 * samples.c - the samples of a profile: by far most of its bytes
 *
 * Decoded straight from the wire. A stack comes leaf first and is entered from the root inwards; what
 * it shares with the one entered before is not looked up again, and a stack met lately not at all.
 */
#include "core/alloc.h"
#include "pprof/read.h"

#include <inttypes.h>
#include <string.h>

enum { S_LOCATION_ID = 1, S_VALUE, S_LABEL };
enum { L_KEY = 1, L_STR, L_NUM, L_UNIT };

struct sample {
    size_t id_count, value_count, label_count, entries; /* entries: of the table of labels */
};

/* ---- numbers, packed or not ---- */

static pcol_status bad_packed(const struct pci_pprof_message *m, const uint8_t *at,
                              const char *what, pcol_error *err)
{
    return pci_fail_byte(err, PCOL_E_SYNTAX, pci_pprof_place(m, at), "Sample.%s: bad varint", what);
}

/* Ids are at most as many as their bytes. */
static pcol_status room_for_ids(struct pci_pprof_reader *r, size_t count, pcol_error *err)
{
    if (pci_grow((void **)&r->ids, &r->id_capacity, count, sizeof *r->ids))
        return pci_fail_memory(err);
    return PCOL_OK;
}

static pcol_status add_ids(struct pci_pprof_reader *r, struct sample *s,
                           const struct pci_pprof_message *m, const struct pci_pprof_field *field,
                           pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    if (s->id_count + field->size > r->most.entries * 10 || s->id_count >= r->most.entries)
        return pci_pprof_too_many(m, field->key, r->most.entries, "frames", err);
    PCI_TRY(room_for_ids(r, s->id_count + field->size + 1, err));
    if (field->type == PCI_PB_VARINT) {
        r->ids[s->id_count++] = field->value;
        return PCOL_OK;
    }
    if (field->type != PCI_PB_BYTES)
        return pci_pprof_wrong_type(m, field, err);
    uint64_t *to = r->ids + s->id_count;
    while (p < end) {
        if (*p < 128) {
            *to++ = *p++;
        } else if (end - p > 1 && p[1] < 128) {
            *to++ = (uint64_t)(p[0] & 127) | (uint64_t)p[1] << 7;
            p += 2;
        } else {
            const uint8_t *at = p;
            p = pci_pprof_varint(p, end, to++);
            if (!p)
                return bad_packed(m, at, "location_id", err);
        }
    }
    s->id_count = (size_t)(to - r->ids);
    if (s->id_count > r->most.entries)
        return pci_pprof_too_many(m, field->key, r->most.entries, "frames", err);
    return PCOL_OK;
}

/* Values beyond those that the profile has types for are counted only: they are refused. */
static void add_value(struct pci_pprof_reader *r, struct sample *s, uint64_t value)
{
    if (s->value_count < r->type_count)
        r->values[s->value_count].as.i64 = (int64_t)value;
    s->value_count++;
}

static pcol_status add_values(struct pci_pprof_reader *r, struct sample *s,
                              const struct pci_pprof_message *m,
                              const struct pci_pprof_field *field, pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    if (field->type == PCI_PB_VARINT)
        add_value(r, s, field->value);
    else if (field->type != PCI_PB_BYTES)
        return pci_pprof_wrong_type(m, field, err);
    while (p < end) {
        const uint8_t *at = p;
        uint64_t value;
        p = pci_pprof_varint(p, end, &value);
        if (!p)
            return bad_packed(m, at, "value", err);
        add_value(r, s, value);
    }
    return PCOL_OK;
}

/* ---- labels ---- */

/* The numbers of a label. Nearly all labels have keys and numbers of a byte or two, so they are read
 * in place; whatever else there is makes it begin again the long way. */
static pcol_status label_numbers(struct pci_pprof_reader *r, const struct sample *s,
                                 struct pci_pprof_message *m, uint64_t *values, unsigned *seen,
                                 pcol_error *err)
{
    const uint8_t *p = m->p, *end = m->end;
    memset(values, 0, (L_UNIT + 1) * sizeof *values);
    *seen = 0;
    while (p && p < end) {
        unsigned key = *p++;
        unsigned number = key >> 3;
        if (key & 7 || number < L_KEY || number > L_UNIT)
            break;
        *seen |= 1u << number;
        if (p < end && *p < 128)
            values[number] = *p++;
        else
            p = pci_pprof_varint(p, end, &values[number]);
    }
    if (p == end)
        return PCOL_OK;
    return pci_pprof_numbers(m, L_UNIT, values, seen,
                             (struct pci_pprof_path){S_LABEL, s->label_count}, &r->unknown, err);
}

/* One label may have a text and a number: two entries that stood in one label. */
static pcol_status add_label(struct pci_pprof_reader *r, struct sample *s,
                             struct pci_pprof_message m, pcol_error *err)
{
    uint64_t values[L_UNIT + 1];
    unsigned seen;
    uint32_t key, text;
    if (s->label_count >= r->most.entries)
        return pci_pprof_too_many(&m, m.begin, r->most.entries, "of them in a sample", err);
    PCI_TRY(label_numbers(r, s, &m, values, &seen, err));
    if (pci_grow((void **)&r->labels, &r->label_capacity, s->entries + 2, sizeof *r->labels))
        return pci_fail_memory(err);
    PCI_TRY(pci_pprof_string(r, values[L_KEY], &m, L_KEY, &key, err));
    if (key == PCOL_NONE)
        PCI_TRY(pcol_builder_string(r->b, "", 0, &key, err));
    int number = values[L_NUM] || values[L_UNIT];
    if (values[L_STR]) {
        PCI_TRY(pci_pprof_string(r, values[L_STR], &m, L_STR, &text, err));
        r->labels[s->entries++] = (struct pci_label){.key = key,
                                                     .unit = PCOL_NONE,
                                                     .kind = PCI_LABEL_STRING,
                                                     .joined = number != 0,
                                                     .text = text};
    } else {
        number = number || seen >> L_NUM & 1;
    }
    if (number || !values[L_STR]) {
        struct pci_label *l = &r->labels[s->entries++];
        *l = (struct pci_label){.key = key,
                                .unit = PCOL_NONE,
                                .kind = number ? PCI_LABEL_INTEGER : PCI_LABEL_EMPTY,
                                .as.i64 = number ? (int64_t)values[L_NUM] : 1};
        PCI_TRY(pci_pprof_string(r, values[L_UNIT], &m, L_UNIT, &l->unit, err));
    }
    s->label_count++;
    return PCOL_OK;
}

/* ---- stacks ---- */

/* The place of location id number `n` of a sample, for an error. */
static uint64_t place_of_id(const struct pci_pprof_message *message, size_t n)
{
    struct pci_pprof_message m = *message;
    struct pci_pprof_field field;
    m.p = m.begin;
    while (m.p < m.end && pci_pprof_next(&m, &field, NULL) == PCOL_OK) {
        const uint8_t *p = field.data, *end = p + field.size;
        uint64_t id;
        if (field.number != S_LOCATION_ID)
            continue;
        if (field.type == PCI_PB_VARINT && n-- == 0)
            return pci_pprof_place(&m, field.key);
        for (; p && p < end; p = pci_pprof_varint(p, end, &id))
            if (n-- == 0)
                return pci_pprof_place(&m, p);
    }
    return m.offset;
}

/* Is the stack of node `node` the one of these groups, leaf first? Parents mostly stand beside their
 * children; stepping there without waiting for the parent to be loaded saves a third of the time. */
static int is_stack(const struct pci_tree *tree, uint32_t node, const uint32_t *groups,
                    size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        const struct pci_node *at = &tree->nodes[node];
        if (!node || at->group != groups[i])
            return 0;
        if (at->parent == node - 1) {
            node--;
            __asm__("" : "+r"(node)); /* keeps the compiler from seeing that both are the same */
        } else {
            node = at->parent;
        }
    }
    return !node;
}

/* Enter a stack from the root inwards, beginning where it leaves the one entered before. */
static pcol_status enter_stack(struct pci_pprof_reader *r, size_t depth, uint32_t *stack,
                               pcol_error *err)
{
    const struct pci_tree *tree = &r->b->tree;
    uint32_t node = 0;
    size_t i = 0;
    if (pci_grow((void **)&r->path_groups, &r->path_capacity, depth, sizeof *r->path_groups) ||
        pci_grow((void **)&r->path_nodes, &r->path_node_capacity, depth, sizeof *r->path_nodes))
        return pci_fail_memory(err);
    while (i < depth && i < r->path_size && r->path_groups[i] == r->groups[depth - 1 - i])
        node = r->path_nodes[i++];
    for (; i < depth; i++) {
        uint32_t group = r->groups[depth - 1 - i];
        const struct pci_node *guess = &tree->nodes[node + 1];
        if (node + 1 < tree->count && guess->parent == node && guess->group == group)
            node++;
        else
            PCI_TRY(pci_tree_child(&r->b->tree, node, group, &node, err));
        r->path_groups[i] = group;
        r->path_nodes[i] = node;
    }
    r->path_size = depth;
    *stack = node;
    return PCOL_OK;
}

/* Stacks met before are remembered by the hash of their groups, the latest in each place, and
 * compared with the tree itself. */
static pcol_status find_stack(struct pci_pprof_reader *r, const struct sample *s,
                              const struct pci_pprof_message *m, uint32_t *stack, pcol_error *err)
{
    size_t depth = s->id_count;
    if (pci_grow((void **)&r->groups, &r->group_capacity, depth, sizeof *r->groups))
        return pci_fail_memory(err);
    for (size_t i = 0; i < depth; i++) {
        r->groups[i] = pci_pprof_ids_find(&r->location_ids, r->ids[i]);
        if (r->groups[i] == PCOL_NONE)
            return pci_fail_byte(err, PCOL_E_SYNTAX, place_of_id(m, i),
                                 "Sample.location_id %" PRIu64 " names no location", r->ids[i]);
    }
    uint64_t hash = pci_hash_bytes(r->groups, depth * sizeof *r->groups);
    uint32_t *known = &r->recent[hash % PCI_PPROF_RECENT];
    if (*known && is_stack(&r->b->tree, *known, r->groups, depth)) {
        *stack = *known;
        return PCOL_OK;
    }
    PCI_TRY(enter_stack(r, depth, stack, err));
    if (r->b->tree.count - r->first_node > r->most.nodes)
        return pci_pprof_too_many(m, m->begin, r->most.nodes, "calls in the tree of all stacks",
                                  err);
    *known = *stack;
    return PCOL_OK;
}

/* ---- samples ---- */

static pcol_status put_labels(struct pci_pprof_reader *r, const struct sample *s, uint64_t row,
                              pcol_error *err)
{
    uint64_t extra = PCI_NO_NODE;
    if (s->entries)
        PCI_TRY(pci_builder_labels(r->b, PCI_T_SAMPLES, row, r->labels, s->entries, &extra, err));
    PCI_TRY(pci_pprof_unknown_nodes(&r->unknown, r->b, &extra, err));
    if (extra != PCI_NO_NODE)
        PCI_TRY(pci_builder_extra(r->b, PCI_T_SAMPLES, row, extra, err));
    return PCOL_OK;
}

static pcol_status read_sample(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                               pcol_error *err)
{
    struct sample s = {0};
    struct pci_pprof_field field;
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint64_t row;
    while (m->p < m->end) {
        PCI_TRY(pci_pprof_next(m, &field, err));
        if (field.number == S_LOCATION_ID)
            PCI_TRY(add_ids(r, &s, m, &field, err));
        else if (field.number == S_VALUE)
            PCI_TRY(add_values(r, &s, m, &field, err));
        else if (field.number != S_LABEL)
            PCI_TRY(pci_pprof_keep(&r->unknown, PCI_PB_OWN, m, &field, err));
        else if (field.type == PCI_PB_BYTES)
            PCI_TRY(add_label(r, &s, pci_pprof_inner("Label", m, &field), err));
        else
            return pci_pprof_wrong_type(m, &field, err);
    }
    if (s.value_count != r->type_count)
        return pci_fail_byte(err, PCOL_E_SYNTAX, m->offset,
                             "Sample has %zu values where the profile has %zu sample types",
                             s.value_count, r->type_count);
    sample.source = r->import->source;
    sample.thread = PCOL_NONE;
    sample.values = r->values;
    sample.value_count = r->type_count;
    PCI_TRY(find_stack(r, &s, m, &sample.stack, err));
    PCI_TRY(pcol_builder_sample(r->b, &sample, &row, err));
    if (s.entries || r->unknown.count)
        return put_labels(r, &s, row, err);
    return PCOL_OK;
}

pcol_status pci_pprof_read_samples(struct pci_pprof_reader *r, pcol_error *err)
{
    struct pci_pprof_message m;
    r->recent = pci_calloc(PCI_PPROF_RECENT, sizeof *r->recent);
    if (!r->recent)
        return pci_fail_memory(err);
    r->first_node = r->b->tree.count;
    for (size_t i = 0; i < r->type_count; i++)
        r->values[i].sample_type = r->type_rows[i];
    for (int end;;) {
        PCI_TRY(pci_pprof_queue_take(&r->samples, &m, &end, err));
        if (end)
            return PCOL_OK;
        if (!r->type_count)
            return pci_fail_byte(err, PCOL_E_SYNTAX, m.offset,
                                 "Sample without sample types: Profile.sample_type is missing");
        PCI_TRY(read_sample(r, &m, err));
    }
}
