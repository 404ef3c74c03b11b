/*
 * query_resources.c - iterator over resources and models of Perun profiles
 *
 * A resource merges the members of its row, its type and its snapshot. Most resources have the keys
 * of the previous one, so the merged positions of a row's cells are cached as a plan; while the
 * labels of row, type and snapshot are the same, only values are replaced. Runs of rows that differ
 * only in numbers are returned as arrays of the file's batches. More than 600 lines: all parts use
 * the plan.
 */
#include "formats/perun/query_resources.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <string.h>

#define NO_ROW UINT64_MAX
#define ROWS 256u
#define LINEAR_MEMBERS 16u /* number of members that are searched linearly */

/* A column that is read in batches; a missing one is null. */
struct column {
    const struct pci_column *column;
    uint64_t first, count;
    int64_t values[ROWS];
    uint8_t valid[ROWS];
};

/* Cells of one row in the plan. */
struct part {
    const struct pci_label_key **keys; /* of the cells; NULL: a member of `extra` */
    uint32_t *slots; /* members that the values go to; PCOL_NONE: overridden by another cell */
    size_t count, capacity;
};

/* The cell that a member takes its value from. */
struct owner {
    struct part *part; /* NULL: none */
    size_t cell;
};

struct pci_resources_state {
    struct owner *owners; /* by member */
    size_t owner_capacity;
    struct pci_hash hash; /* of keys, from member LINEAR_MEMBERS on */
    struct column source, type, snapshot;
    uint64_t row, model_row;         /* next rows */
    uint64_t type_row, snapshot_row; /* rows whose members are merged; NO_ROW: none */
    struct part own_part, type_part;
    int planned;
    int shared_only;  /* the row's own cells are not needed */
    int keys_only;    /* only keys are needed */
    int plain;        /* the row's own cells are scalars */
    uint64_t repeats; /* if shared_only: number of following rows that are equal */
    size_t capacity;
    struct pci_member number, time; /* members added by a snapshot */
    uint32_t number_slot, time_slot;
};

/* ---- opening */

static pcol_status open_sources(struct pci_resources *r, pcol_error *err)
{
    const struct pci_column *type;
    int any = 0;
    PCI_TRY(pci_find_column(r->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_check_row_count(r->file, "sources", err));
    r->source_count = pci_rows(r->file, "sources");
    PCI_TRY(PCI_CALLOC(r->is_perun, (size_t)r->source_count + 1, err));
    for (uint64_t i = 0; type && i < r->source_count; i++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(r->file, type, i, &text, &valid, err));
        r->is_perun[i] = pci_str_is(text, "perun") != 0;
        any |= r->is_perun[i];
    }
    return any ? PCOL_OK
               : pci_fail(err, PCOL_E_FORMAT,
                          "not a Perun profile, and only these have resources "
                          "(an export as perun makes one)");
}

/* Number the snapshots within their source. */
static pcol_status number_snapshots(struct pci_resources *r, pcol_error *err)
{
    int64_t source, previous = -1, next = 0;
    PCI_TRY(pci_check_row_count(r->file, "snapshots", err));
    PCI_TRY(PCI_MALLOC(r->numbers, (size_t)r->snapshot_rows + 1, err));
    for (uint64_t row = 0; row < r->snapshot_rows; row++) {
        pcol_str region = {"", 0};
        int valid;
        source = 0;
        PCI_TRY(pci_get(r->file, r->snapshot_source, row, &source, &valid, err));
        PCI_TRY(pci_get_str(r->file, r->snapshot_region, row, &region, &valid, err));
        if (source != previous)
            next = 0;
        previous = source;
        int counted = pci_str_is(region, "snapshots");
        r->numbers[row] = counted ? next : -1;
        next += counted;
        if ((uint64_t)next > r->snapshot_number)
            r->snapshot_number = (uint64_t)next;
    }
    return PCOL_OK;
}

pcol_status pci_resources_open(struct pci_resources *r, const pcol_file *file, pcol_error *err)
{
    memset(r, 0, sizeof *r);
    r->file = file;
    PCI_TRY(PCI_CALLOC(r->state, 1, err));
    PCI_TRY(open_sources(r, err));
    PCI_TRY(pci_values_open(&r->values, file, err));
    PCI_TRY(pci_keyed_open(&r->samples, file, "samples", err));
    PCI_TRY(pci_keyed_open(&r->types, file, "resource_types", err));
    PCI_TRY(pci_keyed_open(&r->snapshots, file, "snapshots", err));
    PCI_TRY(pci_keyed_open(&r->models, file, "models", err));
    const struct pci_column_request columns[] = {
        {"samples", "source", PCI_TYPES_ROW, &r->sample_source},
        {"samples", "resource_type", PCI_TYPES_ROW, &r->sample_type},
        {"samples", "snapshot", PCI_TYPES_ROW, &r->sample_snapshot},
        {"models", "source", PCI_TYPES_ROW, &r->model_source},
        {"snapshots", "source", PCI_TYPES_ROW, &r->snapshot_source},
        {"snapshots", "region", PCI_TYPES_TEXT, &r->snapshot_region},
    };
    PCI_TRY(pci_find_columns(file, columns, sizeof columns / sizeof *columns, err));
    PCI_TRY(pci_check_row_count(file, "samples", err));
    r->sample_rows = pci_rows(file, "samples");
    r->model_rows = pci_rows(file, "models");
    r->snapshot_rows = pci_rows(file, "snapshots");
    r->state->source.column = r->sample_source;
    r->state->type.column = r->sample_type;
    r->state->snapshot.column = r->sample_snapshot;
    pci_resources_rewind(r);
    return number_snapshots(r, err);
}

void pci_resources_close(struct pci_resources *r)
{
    struct pci_resources_state *s = r->state;
    pci_values_close(&r->values);
    pci_keyed_close(&r->samples);
    pci_keyed_close(&r->types);
    pci_keyed_close(&r->snapshots);
    pci_keyed_close(&r->models);
    if (s) {
        pci_free(s->owners);
        pci_hash_clear(&s->hash);
        pci_free(s->own_part.keys);
        pci_free(s->own_part.slots);
        pci_free(s->type_part.keys);
        pci_free(s->type_part.slots);
    }
    pci_free(s);
    pci_free(r->is_perun);
    pci_free(r->numbers);
    pci_free(r->members);
    pci_free(r->run_parts);
    memset(r, 0, sizeof *r);
}

/* keys: NULL for all. */
static void set_wanted(struct pci_keyed_reader *keyed, const pcol_str *keys, size_t count)
{
    for (size_t i = 0; i < keyed->labels.key_count; i++) {
        struct pci_label_key *key = &keyed->labels.keys[i];
        key->unwanted = keys != NULL;
        for (size_t k = 0; k < count && key->unwanted; k++)
            key->unwanted = !pci_str_equal(key->key, keys[k]);
    }
}

void pci_resources_want(struct pci_resources *r, const pcol_str *keys, size_t count)
{
    set_wanted(&r->samples, keys, count);
    set_wanted(&r->types, keys, count);
}

void pci_resources_rewind(struct pci_resources *r)
{
    struct pci_resources_state *s = r->state;
    s->row = s->model_row = 0;
    s->type_row = s->snapshot_row = NO_ROW;
    s->planned = s->keys_only = s->shared_only = 0;
    s->repeats = 0;
    r->number = UINT64_MAX; /* the first one makes it 0 */
    pci_resources_want(r, NULL, 0);
}

void pci_resources_keys(struct pci_resources *r)
{
    r->state->keys_only = 1;
}

/* ---- members */

static uint32_t find_member(const struct pci_resources *r, pcol_str key, uint64_t hash)
{
    for (size_t i = 0; i < r->count && i < LINEAR_MEMBERS; i++)
        if (pci_str_equal(r->members[i].key, key))
            return (uint32_t)i;
    if (r->count <= LINEAR_MEMBERS)
        return PCOL_NONE;
    size_t at = pci_hash_start(&r->state->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&r->state->hash, hash, &at)) != PCI_HASH_NONE)
        if (pci_str_equal(r->members[id].key, key))
            return id;
    return PCOL_NONE;
}

/* Set a member to the value of a cell of a part; a cell that set it before is overridden. */
static pcol_status set_member(struct pci_resources *r, const struct pci_member *member,
                              struct part *part, size_t cell, uint32_t *slot, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    uint64_t hash =
        r->count >= LINEAR_MEMBERS ? pci_hash_bytes(member->key.data, member->key.size) : 0;
    *slot = find_member(r, member->key, hash);
    if (*slot != PCOL_NONE) {
        struct owner *previous = &s->owners[*slot];
        if (previous->part)
            previous->part->slots[previous->cell] = PCOL_NONE;
        *previous = (struct owner){part, cell};
        r->members[*slot].value = member->value;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(r->members, s->capacity, r->count + 1, err));
    PCI_TRY(PCI_GROW(s->owners, s->owner_capacity, r->count + 1, err));
    if (r->count >= LINEAR_MEMBERS)
        PCI_TRY(pci_hash_add(&s->hash, hash, (uint32_t)r->count, err));
    *slot = (uint32_t)r->count;
    s->owners[*slot] = (struct owner){part, cell};
    r->members[r->count++] = *member;
    return PCOL_OK;
}

/* Remove all members. */
static void clear_members(struct pci_resources *r)
{
    if (r->count > LINEAR_MEMBERS)
        pci_hash_clear(&r->state->hash);
    r->count = 0;
    r->plan++;
}

static pcol_status plan_part(struct pci_resources *r, struct part *part,
                             const struct pci_keyed_reader *keyed, pcol_error *err)
{
    size_t count = keyed->count;
    if (count > part->capacity) {
        pci_free(part->keys);
        pci_free(part->slots);
        part->slots = NULL;
        part->capacity = part->count = 0;
        PCI_TRY(PCI_MALLOC(part->keys, count, err));
        PCI_TRY(PCI_MALLOC(part->slots, count, err));
        part->capacity = count;
    }
    part->count = count;
    for (size_t i = 0; i < count; i++) {
        part->keys[i] = keyed->labels.cells[i].key;
        PCI_TRY(set_member(r, &keyed->members[i], part, i, &part->slots[i], err));
    }
    return PCOL_OK;
}

/* Whether a row has the cells that the plan was made for; members of `extra` can have any key, so
 * they never fit. */
static int fits_plan(const struct part *part, const struct pci_keyed_reader *keyed)
{
    if (keyed->count != part->count)
        return 0;
    for (size_t i = 0; i < part->count; i++)
        if (!part->keys[i] || keyed->labels.cells[i].key != part->keys[i])
            return 0;
    return 1;
}

static void fill_values(struct pci_resources *r, const struct part *part,
                        const struct pci_keyed_reader *keyed)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->slots[i] != PCOL_NONE)
            r->members[part->slots[i]].value = keyed->members[i].value;
}

/* ---- rows */

/* Whether rows can have a key, as a label or in `extra`. */
static int can_have(const struct pci_keyed_reader *keyed, const char *table, pcol_str key)
{
    const struct pci_table *t = pci_table_find(keyed->file, table);
    for (size_t i = 0; i < keyed->labels.key_count; i++)
        if (pci_str_equal(keyed->labels.keys[i].key, key))
            return 1;
    return t && pci_column_find(t, "extra");
}

void pci_resources_only(struct pci_resources *r, pcol_str key)
{
    r->state->shared_only = !can_have(&r->samples, "samples", key);
    pci_resources_want(r, &key, 1);
}

static pcol_status get_cell(const pcol_file *file, struct column *c, uint64_t row, int64_t *value,
                            int *valid, pcol_error *err)
{
    *value = 0;
    *valid = 0;
    if (!c->column)
        return PCOL_OK;
    if (row - c->first >= c->count) {
        uint64_t rows = c->column->desc->rows, first = row - row % ROWS;
        c->count = 0;
        PCI_TRY(pci_read(file, c->column, first, rows - first < ROWS ? rows - first : ROWS,
                         c->values, c->valid, err));
        c->first = first;
        c->count = rows - first < ROWS ? rows - first : ROWS;
    }
    *value = c->values[row - c->first];
    *valid = c->valid[row - c->first];
    return PCOL_OK;
}

/* Read the members that a snapshot adds to its resources unless they have them. */
static pcol_status read_snapshot(struct pci_resources *r, uint64_t row, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    s->number.key = s->time.key = (pcol_str){"", 0};
    if (row == NO_ROW)
        return PCOL_OK;
    if (row >= r->snapshot_rows)
        return pci_corrupt(err, "samples", "snapshot", s->row - 1, "the snapshot does not exist");
    if (r->numbers[row] >= 0) {
        s->number.key = (pcol_str){"snapshot", 8};
        s->number.value.kind = PCI_VALUE_INTEGER;
        s->number.value.as.i64 = r->numbers[row];
    }
    PCI_TRY(pci_keyed_row(&r->snapshots, row, err));
    for (size_t i = 0; i < r->snapshots.count; i++)
        if (pci_str_equal(r->snapshots.members[i].key, (pcol_str){"time", 4}))
            s->time = r->snapshots.members[i];
    return PCOL_OK;
}

static pcol_status add_if_absent(struct pci_resources *r, const struct pci_member *member,
                                 uint32_t *slot, pcol_error *err)
{
    uint64_t hash = pci_hash_bytes(member->key.data, member->key.size);
    *slot = PCOL_NONE;
    if (!member->key.size || find_member(r, member->key, hash) != PCOL_NONE)
        return PCOL_OK;
    return set_member(r, member, NULL, 0, slot, err);
}

static pcol_status make_plan(struct pci_resources *r, int typed, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    clear_members(r);
    s->type_part.count = 0;
    PCI_TRY(plan_part(r, &s->own_part, &r->samples, err));
    if (typed)
        PCI_TRY(plan_part(r, &s->type_part, &r->types, err));
    PCI_TRY(add_if_absent(r, &s->number, &s->number_slot, err));
    return add_if_absent(r, &s->time, &s->time_slot, err);
}

static int are_scalars(const struct pci_keyed_reader *keyed)
{
    for (size_t i = 0; i < keyed->count; i++)
        if (keyed->members[i].value.kind >= PCI_VALUE_FRAME)
            return 0;
    return 1;
}

/* Merge the row's cells into the members. fresh: the plan must be made again. */
static pcol_status merge_cells(struct pci_resources *r, uint64_t type_row, uint64_t snapshot_row,
                               int fresh, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    int new_type = type_row != s->type_row, typed = type_row != NO_ROW;
    if (new_type) {
        s->planned = 0;
        if (typed)
            PCI_TRY(pci_keyed_row(&r->types, type_row, err));
        fresh |= typed ? s->type_row == NO_ROW || !fits_plan(&s->type_part, &r->types) : 1;
        s->type_row = type_row;
    }
    if (snapshot_row != s->snapshot_row) {
        s->planned = 0;
        PCI_TRY(read_snapshot(r, snapshot_row, err));
        fresh = 1;
        s->snapshot_row = snapshot_row;
    }
    r->own_only = !fresh && !new_type;
    if (fresh) {
        PCI_TRY(make_plan(r, typed, err));
        s->plain = are_scalars(&r->samples);
        r->own_slots = s->own_part.slots;
        r->own_count = s->own_part.count;
    } else {
        fill_values(r, &s->own_part, &r->samples);
        if (new_type)
            fill_values(r, &s->type_part, &r->types);
    }
    s->planned = 1;
    return PCOL_OK;
}

static pcol_status merge_row(struct pci_resources *r, uint64_t row, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    int64_t type, snapshot;
    int typed, in_snapshot, fresh = !s->planned;
    PCI_TRY(get_cell(r->file, &s->type, row, &type, &typed, err));
    PCI_TRY(get_cell(r->file, &s->snapshot, row, &snapshot, &in_snapshot, err));
    uint64_t type_row = typed ? (uint64_t)type : NO_ROW;
    uint64_t snapshot_row = in_snapshot ? (uint64_t)snapshot : NO_ROW;
    int known = s->planned && type_row == s->type_row && snapshot_row == s->snapshot_row;
    r->same = known && (s->shared_only || (s->keys_only && s->plain &&
                                           pci_labels_same_shape(&r->samples.labels, row)));
    if (r->same)
        return PCOL_OK;
    PCI_TRY(pci_keyed_row(&r->samples, row, err));
    fresh |= !r->samples.labels.same && !fits_plan(&s->own_part, &r->samples);
    return merge_cells(r, type_row, snapshot_row, fresh, err);
}

static pcol_status is_perun_source(const struct pci_resources *r, int64_t source, const char *table,
                                   uint64_t row, int *is_perun, pcol_error *err)
{
    if ((uint64_t)source >= r->source_count)
        return pci_corrupt(err, table, "source", row, "the source does not exist");
    *is_perun = r->is_perun[source];
    return PCOL_OK;
}

/* Length of the run of equal cells in a column, from `row` on, at most `most` and within its
 * batch. */
static size_t count_equal(const struct column *c, uint64_t row, size_t most)
{
    if (!c->column)
        return most;
    size_t at = (size_t)(row - c->first), left = (size_t)c->count - at;
    return pci_run_of_equal(c->values + at, c->valid + at, most < left ? most : left);
}

/* Length of the run of rows with the same type, snapshot and source, at most `most`. */
static size_t count_equal_rows(const struct pci_resources *r, uint64_t row, size_t most)
{
    const struct pci_resources_state *s = r->state;
    if (r->sample_rows - row < most)
        most = (size_t)(r->sample_rows - row);
    most = count_equal(&s->type, row, most); /* the column that differs most often first */
    most = count_equal(&s->snapshot, row, most);
    return count_equal(&s->source, row, most);
}

static pcol_status add_run_part(struct pci_resources *r, size_t cell, uint64_t row, pcol_error *err)
{
    const uint32_t slot = r->state->own_part.slots[cell];
    const int64_t *values = pci_keyed_run_values(&r->samples, cell, row);
    if (slot == PCOL_NONE || !values)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(r->run_parts, r->run_part_capacity, r->run_part_count + 1, err));
    r->run_parts[r->run_part_count++] =
        (struct pci_run_part){slot, r->members[slot].value.kind, values};
    return PCOL_OK;
}

/* Length of the run of rows. The limit grows geometrically from 2, so that a short run is found
 * fast. */
static size_t count_run(const struct pci_resources *r, uint64_t row)
{
    const struct pci_resources_state *s = r->state;
    int shaped = s->keys_only && s->plain;
    if (!shaped && s->own_part.count != r->samples.count)
        return 1;
    for (size_t most = 2;; most *= 16) {
        size_t count = count_equal_rows(r, row, most);
        if (count > 1)
            count = shaped ? pci_labels_shape_run(&r->samples.labels, row, count)
                           : pci_keyed_run_length(&r->samples, row, count);
        if (count < most)
            return count;
    }
}

pcol_status pci_resources_run(struct pci_resources *r, size_t *count, pcol_error *err)
{
    const struct pci_resources_state *s = r->state;
    uint64_t row = s->row - 1;
    r->run_part_count = 0;
    if (s->shared_only) {
        *count = (size_t)s->repeats + 1;
        return PCOL_OK;
    }
    size_t run = *count = count_run(r, row);
    for (size_t i = 0; i < s->own_part.count && run > 1 && !s->keys_only; i++)
        PCI_TRY(add_run_part(r, i, row, err));
    return PCOL_OK;
}

int pci_run_has(const struct pci_resources *r, const char *key)
{
    const pcol_str wanted = {key, strlen(key)};
    for (size_t i = 0; i < r->run_part_count; i++)
        if (pci_str_equal(r->members[r->run_parts[i].slot].key, wanted))
            return 1;
    return 0;
}

void pci_resources_skip(struct pci_resources *r, size_t count)
{
    struct pci_resources_state *s = r->state;
    s->row += count - 1;
    r->number += count - 1;
    s->repeats = s->repeats > count - 1 ? s->repeats - (count - 1) : 0;
}

pcol_status pci_resources_next(struct pci_resources *r, int *more, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    if (s->repeats) {
        s->repeats--;
        s->row++;
        r->number++;
        r->same = *more = 1;
        return PCOL_OK;
    }
    for (*more = 0; s->row < r->sample_rows;) {
        uint64_t row = s->row++;
        int64_t source;
        int valid;
        PCI_TRY(get_cell(r->file, &s->source, row, &source, &valid, err));
        PCI_TRY(is_perun_source(r, source, "samples", row, more, err));
        if (*more) {
            r->number++;
            PCI_TRY(merge_row(r, row, err));
            s->repeats = s->shared_only ? count_equal_rows(r, row, SIZE_MAX) - 1 : 0;
            return PCOL_OK;
        }
    }
    return PCOL_OK;
}

pcol_status pci_models_next(struct pci_resources *r, int *more, pcol_error *err)
{
    struct pci_resources_state *s = r->state;
    s->planned = r->own_only = 0;
    for (*more = 0; s->model_row < r->model_rows;) {
        uint64_t row = s->model_row++;
        int64_t source = 0;
        int valid;
        PCI_TRY(pci_get(r->file, r->model_source, row, &source, &valid, err));
        PCI_TRY(is_perun_source(r, source, "models", row, more, err));
        if (!*more)
            continue;
        PCI_TRY(pci_keyed_row(&r->models, row, err));
        r->number++;
        clear_members(r);
        for (size_t i = 0; i < r->models.count; i++) {
            uint32_t slot;
            PCI_TRY(set_member(r, &r->models.members[i], NULL, 0, &slot, err));
        }
        return PCOL_OK;
    }
    return PCOL_OK;
}

pcol_status pci_resources_sorted(struct pci_resources *r, int *sorted, pcol_error *err)
{
    const pcol_str key = {"snapshot", 8};
    struct column *c = &r->state->snapshot;
    uint64_t previous = 0;
    *sorted = 0;
    if (r->source_count > 1 || can_have(&r->samples, "samples", key) ||
        can_have(&r->types, "resource_types", key))
        return PCOL_OK;
    for (uint64_t row = 0; row < r->sample_rows; row++) {
        int64_t snapshot;
        int valid;
        PCI_TRY(get_cell(r->file, c, row, &snapshot, &valid, err));
        int64_t number = valid && (uint64_t)snapshot < r->snapshot_rows ? r->numbers[snapshot] : 0;
        if (number > 0 ? (uint64_t)number < previous : previous > 0)
            return PCOL_OK;
        previous = number > 0 ? (uint64_t)number : 0;
    }
    *sorted = 1;
    return PCOL_OK;
}

pcol_status pci_models_seek(struct pci_resources *r, uint64_t number, pcol_error *err)
{
    int more = 1;
    if (r->number != UINT64_MAX && number <= r->number)
        pci_resources_rewind(r);
    while (more && (r->number == UINT64_MAX || r->number < number))
        PCI_TRY(pci_models_next(r, &more, err));
    return PCOL_OK;
}

const struct pci_value *pci_resources_find(const struct pci_resources *r, const char *key)
{
    for (size_t i = 0; i < r->count; i++)
        if (pci_str_equal(r->members[i].key, (pcol_str){key, strlen(key)}))
            return &r->members[i].value;
    return NULL;
}
