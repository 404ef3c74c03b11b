/*
 * labels.c - a row's open-ended keys as typed columns, with interned row shapes
 *
 * Row K of label_keys belongs to column label.K of its table. A hash lookup finds the row of
 * occurrence 0 of (table, key, unit, kind); further occurrences are a linked list, so that a row of
 * n labels takes O(n). Usually rows have the keys of the previous row in the same order: a
 * comparison with it avoids the lookup. The sequence of a row's keys is its shape, which is
 * interned, and omitted if it is the order of K. Tests: tests/unit/test_row_details.c.
 */
#include "builder/builder.h"

#include "util/alloc.h"

#include <stdio.h>

#define MAX_COLUMNS 512u /* label columns of a table */
#define NATURAL_KEYS \
    64u                /* with more label columns, shapes are never omitted, as readers check all */
#define ENTRY_EXTRA 0u /* entry of a shape, without bit 0 (joined) */
#define EXTRA PCOL_NONE /* number of an entry without a row of label_keys */
#define MAX_KEYS 0x40000000u

const char *const pci_label_kind_names[PCI_LABEL_KIND_COUNT] = {
    "string", "integer", "double",   "bigint",    "bool",     "null",    "empty",
    "frame",  "stack",   "rstack",   "value",     "whole",    "name",    "filename",
    "line",   "column",  "ownstack", "ownrstack", "ownframe", "ownname", ""};

/* Types of label.K by kind; 0: no column. */
static const struct {
    uint8_t type, references; /* table + 1 */
} kinds[PCI_LABEL_KIND_COUNT] = {
    [PCI_LABEL_STRING] = {PCF_STRING, 0},
    [PCI_LABEL_INTEGER] = {PCF_I64, 0},
    [PCI_LABEL_DOUBLE] = {PCF_F64, 0},
    [PCI_LABEL_BIGINT] = {PCF_STRING, 0},
    [PCI_LABEL_BOOL] = {PCF_BOOL, 0},
    [PCI_LABEL_NULL] = {PCF_BOOL, 0},
    [PCI_LABEL_EMPTY] = {PCF_BOOL, 0},
    [PCI_LABEL_FRAME] = {PCF_U32, PCI_T_GROUPS + 1},
    [PCI_LABEL_STACK] = {PCF_U32, PCI_T_STACKS + 1},
    [PCI_LABEL_RSTACK] = {PCF_U32, PCI_T_STACKS + 1},
    [PCI_LABEL_OWNFRAME] = {PCF_U32, 0},
    [PCI_LABEL_OWNNAME] = {PCF_U32, 0},
};

void pci_label_store_clear(struct pci_label_store *labels)
{
    for (size_t i = 0; i < labels->table_count; i++) {
        pci_free(labels->tables[i].last);
        pci_free(labels->tables[i].entries);
    }
    pci_free(labels->tables);
    pci_free(labels->keys);
    pci_free(labels->shape_entries);
    pci_free(labels->shape_starts);
    pci_hash_clear(&labels->hash);
    pci_hash_clear(&labels->shape_hash);
    *labels = (struct pci_label_store){0};
}

/* Create the three tables, always in this order. */
pcol_status pci_label_tables(pcol_builder *builder, pcol_error *err)
{
    static const char *const names[] = {"label_keys", "label_shapes", "label_shape_keys"};
    uint32_t table;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        PCI_TRY(pcol_builder_table(builder, names[i], &table, err));
    return PCOL_OK;
}

static pcol_status get_table(pcol_builder *b, uint32_t table, struct pci_label_table **out,
                             pcol_error *err)
{
    struct pci_label_store *l = &b->labels;
    for (size_t i = 0; i < l->table_count; i++)
        if (l->tables[i].table == table) {
            *out = &l->tables[i];
            return PCOL_OK;
        }
    if (table >= b->table_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "table %u does not exist", table);
    if (!l->table_count)
        PCI_TRY(pci_label_tables(b, err));
    PCI_TRY(PCI_GROW(l->tables, l->table_capacity, l->table_count + 1, err));
    *out = &l->tables[l->table_count++];
    **out = (struct pci_label_table){
        .table = table, .shape = PCOL_NONE, .extra = PCOL_NONE, .last_shape = PCOL_NONE};
    return PCOL_OK;
}

/* ---- keys */

static pcol_status append_key(pcol_builder *b, const struct pci_label_key_record *key,
                              uint32_t *number, pcol_error *err)
{
    struct pci_label_store *l = &b->labels;
    if (l->count >= MAX_KEYS)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u label keys", MAX_KEYS);
    PCI_TRY(PCI_GROW(l->keys, l->capacity, l->count + 1, err));
    *number = (uint32_t)l->count;
    l->keys[l->count] = *key;
    l->keys[l->count].column = PCOL_NONE;
    l->keys[l->count].next = PCOL_NONE;
    l->keys[l->count++].current = *number;
    return PCOL_OK;
}

static uint64_t hash_key(uint32_t table, uint32_t key, uint32_t unit, uint8_t kind)
{
    return pci_hash_pair((uint64_t)table << 32 | key, (uint64_t)kind << 32 | unit);
}

/* The row of occurrence 0, or PCOL_NONE. */
static uint32_t find_base(const struct pci_label_store *l, uint64_t hash, uint32_t table,
                          uint32_t key, uint32_t unit, uint8_t kind)
{
    size_t slot = pci_hash_start(&l->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&l->hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_label_key_record *k = &l->keys[id];
        if (k->table == table && k->key == key && k->unit == unit && k->kind == kind)
            return id;
    }
    return PCOL_NONE;
}

/* Add the occurrence after `previous`, PCOL_NONE for occurrence 0. *number is EXTRA if the table
 * has `most` label columns already. */
static pcol_status add_key(pcol_builder *b, uint32_t table, uint32_t key, uint32_t unit,
                           uint8_t kind, uint32_t previous, uint32_t most, uint32_t *number,
                           pcol_error *err)
{
    struct pci_label_store *l = &b->labels;
    struct pci_label_key_record new = {.table = table, .key = key, .unit = unit, .kind = kind};
    struct pci_label_table *t;
    PCI_TRY(get_table(b, table, &t, err));
    *number = EXTRA;
    /* Depths (OWNFRAME, OWNNAME) cannot be represented in `extra`: always a column, which are
     * few. */
    if (kinds[kind].type && kind < PCI_LABEL_OWNFRAME && t->column_count >= most)
        return PCOL_OK;
    if (previous != PCOL_NONE) {
        new.base = l->keys[previous].base;
        new.occurrence = l->keys[previous].occurrence + 1;
        PCI_TRY(append_key(b, &new, number, err));
        l->keys[previous].next = *number;
    } else {
        new.base = (uint32_t)l->count;
        PCI_TRY(append_key(b, &new, number, err));
        PCI_TRY(pci_hash_add(&l->hash, hash_key(table, key, unit, kind), *number, err));
    }
    t->column_count += kinds[kind].type != 0;
    return PCOL_OK;
}

pcol_status pci_label_key_row(pcol_builder *builder, uint32_t table, uint32_t key, uint32_t unit,
                              uint8_t kind, uint32_t occurrence, uint32_t *number, pcol_error *err)
{
    struct pci_label_store *l = &builder->labels;
    uint32_t found = find_base(l, hash_key(table, key, unit, kind), table, key, unit, kind);
    uint32_t previous = PCOL_NONE, n = 0;
    /* Callers ascend through occurrences: the search starts from the last one. */
    if (found != PCOL_NONE && l->keys[found].current != EXTRA &&
        l->keys[l->keys[found].current].occurrence <= occurrence) {
        found = l->keys[found].current;
        n = l->keys[found].occurrence;
    }
    for (;; n++) {
        if (found == PCOL_NONE)
            PCI_TRY(add_key(builder, table, key, unit, kind, previous, MAX_KEYS, &found, err));
        if (found == EXTRA || n == occurrence)
            break;
        previous = found;
        found = l->keys[found].next;
    }
    *number = found;
    if (found != EXTRA)
        l->keys[l->keys[found].base].current = found;
    return PCOL_OK;
}

pcol_status pci_label_column(pcol_builder *builder, uint32_t number, uint32_t *column,
                             pcol_error *err)
{
    struct pci_label_key_record *k = &builder->labels.keys[number];
    char name[32];
    if (k->column == PCOL_NONE && kinds[k->kind].type) {
        snprintf(name, sizeof name, "label.%u", number);
        PCI_TRY(pci_column_buffer_new(builder, k->table, name, kinds[k->kind].type,
                                      kinds[k->kind].references, PCI_DROP_NULL, &k->column, err));
    }
    *column = k->column;
    return PCOL_OK;
}

/* ---- shapes */

pcol_status pci_label_shape(pcol_builder *builder, const uint32_t *entries, size_t count,
                            uint32_t *shape, pcol_error *err)
{
    struct pci_label_store *l = &builder->labels;
    uint64_t hash = pci_hash_bytes(entries, count * sizeof *entries);
    size_t slot = pci_hash_start(&l->shape_hash, hash);
    while ((*shape = pci_hash_next(&l->shape_hash, hash, &slot)) != PCI_HASH_NONE) {
        uint64_t start = l->shape_starts[*shape], end = l->shape_starts[*shape + 1];
        if (end - start == count &&
            (!count || !memcmp(l->shape_entries + start, entries, count * sizeof *entries)))
            return PCOL_OK;
    }
    *shape = 0;
    if (l->shape_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 shapes of labels");
    PCI_TRY(PCI_GROW(l->shape_entries, l->entry_capacity, l->entry_count + count + 1, err));
    PCI_TRY(PCI_GROW(l->shape_starts, l->shape_capacity, l->shape_count + 2, err));
    PCI_TRY(pci_hash_add(&l->shape_hash, hash, (uint32_t)l->shape_count, err));
    if (count)
        memcpy(l->shape_entries + l->entry_count, entries, count * sizeof *entries);
    l->shape_starts[l->shape_count] = l->entry_count;
    l->entry_count += count;
    *shape = (uint32_t)l->shape_count++;
    l->shape_starts[l->shape_count] = l->entry_count;
    return PCOL_OK;
}

/* Whether a row without a shape means the same: columns in order of K, then the members of
 * extra. */
static int is_natural(const struct pci_label_store *l, const struct pci_label_table *t,
                      size_t count)
{
    if (!count || t->column_count > NATURAL_KEYS)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t entry = t->entries[i];
        if (entry & 1 || (i && entry && entry <= t->entries[i - 1]) ||
            (entry && i && t->entries[i - 1] == ENTRY_EXTRA) ||
            (entry && !kinds[l->keys[entry / 2 - 1].kind].type))
            return 0;
    }
    return 1;
}

/* ---- rows */

struct label_row {
    pcol_builder *b;
    uint32_t table;
    uint64_t row;
    uint64_t *extra;
    int same;   /* all keys so far equal those of the previous row */
    int shaped; /* the shape differs from that of the previous row */
};

/* The row of label_keys of a label: its key with the next occurrence in this row. */
static pcol_status next_occurrence(struct label_row *r, const struct pci_label *label,
                                   uint32_t *number, pcol_error *err)
{
    struct pci_label_store *l = &r->b->labels;
    uint64_t hash = hash_key(r->table, label->key, label->unit, label->kind);
    uint32_t base = find_base(l, hash, r->table, label->key, label->unit, label->kind);
    uint32_t previous = PCOL_NONE;
    if (base == PCOL_NONE) {
        PCI_TRY(add_key(r->b, r->table, label->key, label->unit, label->kind, previous, MAX_COLUMNS,
                        number, err));
        base = *number;
    } else if (l->keys[base].row_serial != l->serial) {
        *number = base;
    } else {
        previous = l->keys[base].current;
        *number = previous == EXTRA ? EXTRA : l->keys[previous].next;
        if (previous != EXTRA && *number == PCOL_NONE)
            PCI_TRY(add_key(r->b, r->table, label->key, label->unit, label->kind, previous,
                            MAX_COLUMNS, number, err));
    }
    if (base != EXTRA) {
        l->keys[base].row_serial = l->serial;
        l->keys[base].current = *number;
    }
    return PCOL_OK;
}

/* The keys differ from the previous row's from entry `count` on: record the occurrences used
 * before. */
static void record_occurrences(struct label_row *r, const struct pci_label_table *t, size_t count)
{
    struct pci_label_store *l = &r->b->labels;
    r->same = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = t->last[i].number;
        if (number == EXTRA)
            continue; /* further occurrences have no column either */
        uint32_t base = l->keys[number].base;
        l->keys[base].row_serial = l->serial;
        l->keys[base].current = number;
    }
}

static pcol_status find_number(struct label_row *r, struct pci_label_table *t, size_t i,
                               const struct pci_label *label, uint32_t *number, pcol_error *err)
{
    struct pci_label_previous *last = &t->last[i];
    if (r->same && i < t->last_count && last->key == label->key && last->unit == label->unit &&
        last->kind == label->kind) {
        *number = last->number;
        return PCOL_OK;
    }
    if (r->same)
        record_occurrences(r, t, i);
    *number = EXTRA;
    if (label->kind != PCI_LABEL_EXTRA)
        PCI_TRY(next_occurrence(r, label, number, err));
    *last = (struct pci_label_previous){label->key, label->unit, label->kind, *number};
    return PCOL_OK;
}

static pcol_status check_label(const pcol_builder *b, const struct pci_label *label,
                               pcol_error *err)
{
    int text = label->kind == PCI_LABEL_STRING || label->kind == PCI_LABEL_BIGINT;
    uint64_t limit = label->kind == PCI_LABEL_FRAME    ? b->group_count
                     : label->kind == PCI_LABEL_STACK  ? b->tree.count
                     : label->kind == PCI_LABEL_RSTACK ? b->tree.count
                                                       : UINT64_MAX;
    if (label->kind < PCI_LABEL_EXTRA && label->key < b->strings.count &&
        (label->unit == PCOL_NONE || label->unit < b->strings.count) &&
        (!text || label->text < b->strings.count) &&
        (limit == UINT64_MAX || (uint64_t)label->as.i64 < limit))
        return PCOL_OK;
    if (label->kind == PCI_LABEL_EXTRA)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "a label refers to a string, group or stack that does not exist");
}

static int64_t bits_of(const struct pci_label *label)
{
    int64_t bits = label->as.i64;
    if (label->kind == PCI_LABEL_STRING || label->kind == PCI_LABEL_BIGINT)
        return label->text;
    if (label->kind == PCI_LABEL_NULL || label->kind == PCI_LABEL_EMPTY)
        return 1;
    if (label->kind == PCI_LABEL_DOUBLE)
        memcpy(&bits, &label->as.f64, sizeof bits);
    return label->kind == PCI_LABEL_BOOL ? bits != 0 : bits;
}

/* Add a label without a column to `extra`; the unit of a number is the node's text. */
static pcol_status append_extra(struct label_row *r, const struct pci_label *label, pcol_error *err)
{
    static const uint8_t tags[] = {
        [PCI_LABEL_STRING] = PCI_NODE_STRING, [PCI_LABEL_INTEGER] = PCI_NODE_INTEGER,
        [PCI_LABEL_DOUBLE] = PCI_NODE_DOUBLE, [PCI_LABEL_BIGINT] = PCI_NODE_BIG,
        [PCI_LABEL_BOOL] = PCI_NODE_FALSE,    [PCI_LABEL_NULL] = PCI_NODE_NULL,
        [PCI_LABEL_EMPTY] = PCI_NODE_OBJECT,  [PCI_LABEL_FRAME] = PCI_NODE_ROW,
        [PCI_LABEL_STACK] = PCI_NODE_ROW,     [PCI_LABEL_RSTACK] = PCI_NODE_ROW};
    struct pci_new_node node = {.parent = *r->extra, .key = label->key, .tag = tags[label->kind]};
    uint64_t row;
    if (*r->extra == PCI_NO_NODE) {
        struct pci_new_node root = {
            .parent = PCI_NO_NODE, .key = PCOL_NONE, .tag = PCI_NODE_OBJECT};
        PCI_TRY(pci_builder_node(r->b, &root, r->extra, err));
        node.parent = *r->extra;
    }
    node.text = label->text;
    if (node.tag != PCI_NODE_STRING && node.tag != PCI_NODE_BIG && label->unit != PCOL_NONE) {
        node.text = label->unit;
        node.has_unit = 1;
    }
    node.as.i64 = bits_of(label);
    if (label->kind == PCI_LABEL_BOOL && label->as.i64)
        node.tag = PCI_NODE_TRUE;
    if (node.tag == PCI_NODE_ROW) {
        const char *table = label->kind == PCI_LABEL_FRAME ? "location_groups" : "stacks";
        PCI_TRY(pcol_builder_string(r->b, table, strlen(table), &node.text, err));
    }
    node.reversed = label->kind == PCI_LABEL_RSTACK;
    return pci_builder_node(r->b, &node, &row, err);
}

static pcol_status set_label(struct label_row *r, struct pci_label_table *t, size_t i,
                             const struct pci_label *label, pcol_error *err)
{
    uint32_t number, column, entry;
    PCI_TRY(check_label(r->b, label, err));
    PCI_TRY(find_number(r, t, i, label, &number, err));
    entry = (number == EXTRA ? ENTRY_EXTRA : 2 * (number + 1)) + (label->joined != 0);
    r->shaped |= i >= t->last_count || t->entries[i] != entry;
    t->entries[i] = entry;
    if (label->kind == PCI_LABEL_EXTRA)
        return PCOL_OK;
    if (number == EXTRA)
        return append_extra(r, label, err);
    column = r->b->labels.keys[number].column;
    if (column == PCOL_NONE)
        PCI_TRY(pci_label_column(r->b, number, &column, err));
    return column == PCOL_NONE
               ? PCOL_OK
               : pci_column_buffer_set(r->b->columns[column], r->row, bits_of(label), err);
}

static pcol_status set_shape(struct label_row *r, struct pci_label_table *t, size_t count,
                             pcol_error *err)
{
    pcol_builder *b = r->b;
    uint32_t shapes;
    if (r->shaped || count != t->last_count || !count) {
        t->last_shape = PCOL_NONE;
        if (!is_natural(&b->labels, t, count))
            PCI_TRY(pci_label_shape(b, t->entries, count, &t->last_shape, err));
    }
    t->last_count = count;
    if (t->last_shape == PCOL_NONE)
        return PCOL_OK;
    if (t->shape == PCOL_NONE) {
        PCI_TRY(pcol_builder_table(b, "label_shapes", &shapes, err));
        PCI_TRY(
            pci_builder_column(b, t->table, "label_shape", PCOL_U32, shapes + 1, &t->shape, err));
    }
    return pci_column_buffer_set(b->columns[t->shape], r->row, t->last_shape, err);
}

pcol_status pci_builder_labels(pcol_builder *builder, uint32_t table, uint64_t row,
                               const struct pci_label *labels, size_t count, uint64_t *extra,
                               pcol_error *err)
{
    uint64_t root = PCI_NO_NODE;
    struct label_row r = {builder, table, row, extra ? extra : &root, 1, 0};
    struct pci_label_table *t = NULL;
    pcol_status status = get_table(builder, table, &t, err);
    if (!t)
        return status;
    if (row < t->next_row)
        return pci_fail(err, PCOL_E_ARGUMENT, "labels of row %llu were set before",
                        (unsigned long long)row);
    t->next_row = row + 1;
    PCI_TRY(PCI_GROW(t->last, t->last_capacity, count + 1, err));
    PCI_TRY(PCI_GROW(t->entries, t->entry_capacity, count + 1, err));
    builder->labels.serial++;
    for (size_t i = 0; i < count; i++)
        PCI_TRY(set_label(&r, t, i, &labels[i], err));
    PCI_TRY(set_shape(&r, t, count, err));
    return !extra && root != PCI_NO_NODE ? pci_builder_extra(builder, table, row, root, err)
                                         : PCOL_OK;
}

/* ---- labels of samples, by programs */

static pcol_status convert_label(const pcol_builder *b, const pcol_label *from,
                                 struct pci_label *to, pcol_error *err)
{
    *to = (struct pci_label){.key = from->key, .unit = from->unit, .as.i64 = from->as.i64};
    switch (from->type) {
    case PCOL_STRING:
        if (from->as.string >= b->strings.count)
            return pci_fail(err, PCOL_E_ARGUMENT, "a label refers to a string that does not exist");
        if (from->unit != PCOL_NONE)
            return pci_fail(err, PCOL_E_ARGUMENT, "a label with a text has no unit");
        to->kind = PCI_LABEL_STRING;
        to->text = (uint32_t)from->as.string;
        break;
    case PCOL_I64:
        to->kind = PCI_LABEL_INTEGER;
        break;
    case PCOL_F64:
        to->kind = PCI_LABEL_DOUBLE;
        to->as.f64 = from->as.f64;
        break;
    case PCOL_BOOL:
        to->kind = PCI_LABEL_BOOL;
        break;
    default:
        return pci_fail(err, PCOL_E_ARGUMENT, "no label can be of the type %u", from->type);
    }
    return from->reserved ? pci_fail(err, PCOL_E_ARGUMENT, "reserved member of a pcol_label is set")
                          : check_label(b, to, err);
}

static pcol_status set_sample_labels(pcol_builder *b, uint64_t sample, const pcol_label *labels,
                                     struct pci_label *converted, size_t count, pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        PCI_TRY(convert_label(b, &labels[i], &converted[i], err));
    return pci_builder_labels(b, PCI_T_SAMPLES, sample, converted, count, NULL, err);
}

#define FEW_LABELS 16u /* without an allocation */

pcol_status pcol_builder_labels(pcol_builder *builder, uint64_t sample, const pcol_label *labels,
                                size_t count, pcol_error *err)
{
    struct pci_label few[FEW_LABELS], *converted = few;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE_MANY(labels, count, err);
    if (sample >= builder->sample_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample %llu does not exist",
                        (unsigned long long)sample);
    if (count > FEW_LABELS && !(converted = pci_malloc(count, sizeof *converted)))
        return pci_fail_memory(err);
    pcol_status status = set_sample_labels(builder, sample, labels, converted, count, err);
    if (converted != few)
        pci_free(converted);
    return status;
}

/* ---- conversion to columns */

static pcol_status finish_keys(pcol_builder *b, uint32_t table, pcol_error *err)
{
    static const struct {
        const char *name;
        uint8_t type, drop;
    } columns[] = {{"table", PCF_STRING, PCI_DROP_NEVER},
                   {"key", PCF_STRING, PCI_DROP_NEVER},
                   {"kind", PCF_STRING, PCI_DROP_NEVER},
                   {"unit", PCF_STRING, PCI_DROP_NULL},
                   {"occurrence", PCF_U32, PCI_DROP_ZERO}};
    const struct pci_label_store *l = &b->labels;
    struct pci_column_buffer *c[5];
    uint32_t number, text;
    for (size_t i = 0; i < 5; i++) {
        PCI_TRY(pci_column_buffer_new(b, table, columns[i].name, columns[i].type, 0,
                                      columns[i].drop, &number, err));
        c[i] = b->columns[number];
    }
    for (size_t i = 0; i < l->count; i++) {
        const struct pci_label_key_record *k = &l->keys[i];
        const char *name = b->tables[k->table].name, *kind = pci_label_kind_names[k->kind];
        PCI_TRY(pcol_builder_string(b, name, strlen(name), &text, err));
        PCI_TRY(pci_column_buffer_set(c[0], i, text, err));
        PCI_TRY(pci_column_buffer_set(c[1], i, k->key, err));
        PCI_TRY(pcol_builder_string(b, kind, strlen(kind), &text, err));
        PCI_TRY(pci_column_buffer_set(c[2], i, text, err));
        if (k->unit != PCOL_NONE)
            PCI_TRY(pci_column_buffer_set(c[3], i, k->unit, err));
        PCI_TRY(pci_column_buffer_set(c[4], i, k->occurrence, err));
    }
    return PCOL_OK;
}

static pcol_status finish_shapes(pcol_builder *b, uint32_t shapes, uint32_t keys, uint32_t labels,
                                 pcol_error *err)
{
    const struct pci_label_store *l = &b->labels;
    uint32_t first, key, joined;
    PCI_TRY(pci_column_buffer_new(b, shapes, "first_key", PCF_U64, 0, PCI_DROP_NEVER, &first, err));
    PCI_TRY(
        pci_column_buffer_new(b, keys, "label_key", PCF_U32, labels + 1, PCI_DROP_NULL, &key, err));
    PCI_TRY(pci_column_buffer_new(b, keys, "joined", PCF_BOOL, 0, PCI_DROP_ZERO, &joined, err));
    for (size_t i = 0; i < l->shape_count; i++)
        PCI_TRY(pci_column_buffer_set(b->columns[first], i, (int64_t)l->shape_starts[i], err));
    for (size_t i = 0; i < l->entry_count; i++) {
        uint32_t entry = l->shape_entries[i];
        if (entry / 2 != ENTRY_EXTRA)
            PCI_TRY(pci_column_buffer_set(b->columns[key], i, entry / 2 - 1, err));
        PCI_TRY(pci_column_buffer_set(b->columns[joined], i, entry & 1, err));
    }
    b->tables[keys].rows = l->entry_count;
    return PCOL_OK;
}

pcol_status pci_label_store_finish(pcol_builder *builder, pcol_error *err)
{
    const struct pci_label_store *l = &builder->labels;
    uint32_t labels, shapes, keys;
    if (!l->count && !l->shape_count)
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(builder, "label_keys", &labels, err));
    PCI_TRY(pcol_builder_table(builder, "label_shapes", &shapes, err));
    PCI_TRY(pcol_builder_table(builder, "label_shape_keys", &keys, err));
    builder->tables[labels].fixed = builder->tables[shapes].fixed = builder->tables[keys].fixed = 1;
    PCI_TRY(finish_keys(builder, labels, err));
    return finish_shapes(builder, shapes, keys, labels, err);
}
