/*
 * query_tables.c - resources, models and snapshots as tables; their items and fields
 *
 * The columns of a table are the keys of its rows, in the order of first appearance: a first pass
 * over the rows finds the columns, a second one sets the cells.
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

/* ---- resources and models */

static int is_any_of(const struct pci_value *value, const char *const *words)
{
    for (; value && value->kind == PCI_VALUE_STRING && *words; words++)
        if (pci_str_is(value->as.text, *words))
            return 1;
    return 0;
}

int pci_model_in_group(const struct pci_resources *r, const char *group)
{
    static const char *const param[] = {"all",         "constant", "exponential", "linear",
                                        "logarithmic", "power",    "quadratic",   NULL},
                             *const nonparam[] = {"regressogram", "moving_average",
                                                  "kernel_regression", NULL};
    const struct pci_value *model = pci_resources_find(r, "model");
    if (!group || !strcmp(group, "model"))
        return 1;
    return is_any_of(model, !strcmp(group, "param") ? param : nonparam);
}

/* Move to the next object that the query is about. */
static pcol_status next_object(struct pcol_answers *a, int *more, pcol_error *err)
{
    int models = a->question == PCOL_ASK_MODELS;
    do
        PCI_TRY(pci_result_object(a, models, more, err));
    while (*more && models && !pci_model_in_group(&a->resources, a->options.group));
    return PCOL_OK;
}

/* Set the cell of a field. A field that the first pass did not find means that the file was
 * modified. */
static pcol_status set_field(struct pcol_answers *a, uint32_t field, const struct pci_value *value,
                             pcol_error *err)
{
    if (field >= a->known_fields || a->columns_of[field] == PCOL_NONE)
        return pci_fail(err, PCOL_E_CORRUPT,
                        "a key is new: the file was modified while it was read");
    return pci_result_set(a, a->columns_of[field], value, err);
}

/* Fast path for a resource that differs from the previous one only in scalars of its own row: other
 * cells stay. *done is 0 if it does not apply. */
static pcol_status set_own_cells(struct pcol_answers *a, int *done, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    *done = r->own_only && a->plan == r->plan && a->has_separate_columns && !a->json.size;
    for (size_t i = 0; i < r->own_count && *done; i++) {
        uint32_t slot = r->own_slots[i];
        if (slot == PCOL_NONE)
            continue;
        const struct pci_value *value = &r->members[slot].value;
        if (a->options.flat &&
            (value->kind >= PCI_VALUE_FRAME || pci_str_is(r->members[slot].key, "snapshot")))
            *done = 0;
        else
            PCI_TRY(set_field(a, a->slot_fields[slot], value, err));
    }
    return PCOL_OK;
}

static pcol_status next_row(struct pcol_answers *a, int *more, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    int done;
    PCI_TRY(next_object(a, more, err));
    if (!*more)
        return PCOL_OK;
    PCI_TRY(set_own_cells(a, &done, err));
    if (done)
        return PCOL_OK;
    PCI_TRY(pci_result_row(a, err));
    uint32_t first = 0;
    a->has_separate_columns = 1;
    if (a->question == PCOL_ASK_MODELS && a->options.group)
        PCI_TRY(pci_result_int(a, first++, (int64_t)r->number, err));
    if (a->question == PCOL_ASK_RESOURCES && a->options.flat) {
        const struct pci_value *snapshot = pci_resources_find(r, "snapshot");
        PCI_TRY(snapshot ? pci_result_set(a, first++, snapshot, err)
                         : pci_result_int(a, first++, 0, err));
    }
    if (a->options.flat) {
        PCI_TRY(pci_result_flat(a, err));
        for (size_t i = 0; i < a->flat_count; i++)
            PCI_TRY(set_field(a, a->flat_cells[i].field, &a->flat_cells[i].value, err));
        a->has_separate_columns = a->touched_count == first + a->flat_count;
        return PCOL_OK;
    }
    if (a->plan != r->plan)
        PCI_TRY(pci_result_slots(a, err));
    for (size_t i = 0; i < r->count; i++)
        PCI_TRY(set_field(a, a->slot_fields[i], &r->members[i].value, err));
    return PCOL_OK;
}

/* Add columns for the fields found since the last call. */
static pcol_status add_columns(struct pcol_answers *a, size_t *column_count, pcol_error *err)
{
    PCI_TRY(PCI_GROW(a->columns_of, a->columns_of_capacity, a->fields.count + 1, err));
    for (; *column_count < a->fields.count; ++*column_count) {
        pcol_str name = pci_string_pool_get(&a->fields, (uint32_t)*column_count);
        PCI_TRY(pci_result_new_column(a, name, &a->columns_of[*column_count], err));
    }
    a->known_fields = *column_count;
    return PCOL_OK;
}

/* Add columns in the order of cells: items inside a value precede the value itself, while the pool
 * has fields in the order in which it met them. */
static pcol_status add_flat_columns(struct pcol_answers *a, pcol_error *err)
{
    PCI_TRY(pci_result_flat(a, err));
    size_t known = a->known_fields;
    if (a->fields.count > known) {
        PCI_TRY(PCI_GROW(a->columns_of, a->columns_of_capacity, a->fields.count, err));
        memset(a->columns_of + known, 0xff, (a->fields.count - known) * sizeof *a->columns_of);
        a->known_fields = a->fields.count;
    }
    for (size_t i = 0; i < a->flat_count; i++) {
        uint32_t field = a->flat_cells[i].field;
        if (a->columns_of[field] == PCOL_NONE)
            PCI_TRY(pci_result_new_column(a, pci_string_pool_get(&a->fields, field),
                                          &a->columns_of[field], err));
    }
    return PCOL_OK;
}

pcol_status pci_perun_query_table(struct pcol_answers *a, pcol_error *err)
{
    const char *group = a->options.group;
    size_t column_count = 0, count;
    int more;
    if (group && strcmp(group, "model") != 0 && strcmp(group, "param") != 0 &&
        strcmp(group, "nonparam") != 0)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown group '%.40s' (model, param or nonparam)",
                        group);
    if (a->question == PCOL_ASK_MODELS && group)
        PCI_TRY(pci_result_column(a, "row", err));
    if (a->question == PCOL_ASK_RESOURCES && a->options.flat)
        PCI_TRY(pci_result_column(a, "snapshots", err));
    pci_resources_keys(&a->resources);
    for (;;) {
        PCI_TRY(next_object(a, &more, err));
        if (!more)
            break;
        if (a->question == PCOL_ASK_RESOURCES) {
            PCI_TRY(pci_resources_run(&a->resources, &count, err));
            pci_resources_skip(&a->resources, count);
            if (a->resources.same)
                continue;
        }
        if (a->options.flat) {
            PCI_TRY(add_flat_columns(a, err));
        } else if (a->plan != a->resources.plan) {
            PCI_TRY(pci_result_slots(a, err));
            PCI_TRY(add_columns(a, &column_count, err));
        }
    }
    pci_resources_rewind(&a->resources);
    a->plan = UINT64_MAX;
    a->partial = 1;
    a->next = next_row;
    a->block = a->question == PCOL_ASK_RESOURCES ? pci_table_block : NULL;
    return PCOL_OK;
}

/* ---- snapshots */

/* Count snapshots: elements of `snapshots`, or the highest number in resources + 1. */
static pcol_status count_snapshots(struct pcol_answers *a, uint64_t *count, pcol_error *err)
{
    int more;
    *count = a->resources.snapshot_number;
    pci_resources_only(&a->resources, (pcol_str){"snapshot", 8});
    for (;;) {
        PCI_TRY(pci_resources_next(&a->resources, &more, err));
        if (!more)
            break;
        uint64_t number = (uint64_t)pci_snapshot_of(&a->resources);
        if (number >= *count)
            *count = number + 1;
    }
    pci_resources_rewind(&a->resources);
    return PCOL_OK;
}

int64_t pci_snapshot_of(const struct pci_resources *r)
{
    const struct pci_value *snapshot = pci_resources_find(r, "snapshot");
    double number;
    if (snapshot && snapshot->kind == PCI_VALUE_INTEGER && snapshot->as.i64 >= 0)
        return snapshot->as.i64;
    if (snapshot && pci_value_number(snapshot, &number) && number >= 0 && number < 1e15)
        return (int64_t)number;
    return 0;
}

/* Whether a member of a snapshot is a table of its own. */
static int is_table_member(pcol_str key)
{
    return pci_str_is(key, "resources") || pci_str_is(key, "models");
}

static pcol_status next_snapshot(struct pcol_answers *a, int *more, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    *more = a->list_at < a->skipped;
    if (!*more)
        return PCOL_OK;
    int64_t number = (int64_t)a->list_at++;
    PCI_TRY(pci_result_int(a, 0, number, err));
    for (uint64_t row = a->found_at; row < r->snapshot_rows; row++) {
        if (r->numbers[row] < 0)
            continue;
        if (r->numbers[row] != number)
            break;
        a->found_at = (size_t)row + 1;
        PCI_TRY(pci_keyed_row(&r->snapshots, row, err));
        for (size_t i = 0; i < r->snapshots.count; i++) {
            const struct pci_member *m = &r->snapshots.members[i];
            uint32_t column;
            if (m->value.kind == PCI_VALUE_NODE && is_table_member(m->key))
                continue;
            PCI_TRY(pci_result_new_column(a, m->key, &column, err));
            PCI_TRY(pci_result_set(a, column, &m->value, err));
        }
        break;
    }
    return PCOL_OK;
}

static pcol_status add_snapshot_columns(struct pcol_answers *a, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    for (uint64_t row = 0; row < r->snapshot_rows; row++) {
        if (r->numbers[row] < 0)
            continue;
        PCI_TRY(pci_keyed_row(&r->snapshots, row, err));
        for (size_t i = 0; i < r->snapshots.count; i++) {
            const struct pci_member *m = &r->snapshots.members[i];
            uint32_t column;
            if (m->value.kind != PCI_VALUE_NODE || !is_table_member(m->key))
                PCI_TRY(pci_result_new_column(a, m->key, &column, err));
        }
    }
    return PCOL_OK;
}

static pcol_status next_pair(struct pcol_answers *a, int *more, pcol_error *err)
{
    *more = a->list_at < a->list_count;
    if (!*more)
        return PCOL_OK;
    const struct pci_pair *pair = &a->list[a->list_at++];
    PCI_TRY(pci_result_int(a, 0, pair->a, err));
    return pci_result_int(a, 1, pair->b, err);
}

/* Resources in the order of their snapshots: streamed. */
static pcol_status next_sorted(struct pcol_answers *a, int *more, pcol_error *err)
{
    PCI_TRY(pci_resources_next(&a->resources, more, err));
    if (!*more)
        return PCOL_OK;
    if (!a->resources.same)
        a->list_at = (size_t)pci_snapshot_of(&a->resources);
    PCI_TRY(pci_result_int(a, 0, (int64_t)a->list_at, err));
    return pci_result_int(a, 1, (int64_t)a->resources.number, err);
}

pcol_status pci_result_sorted(struct pcol_answers *a, int *sorted, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    int64_t previous = 0, snapshot = 0;
    size_t count;
    int more;
    PCI_TRY(pci_resources_sorted(r, sorted, err));
    if (*sorted)
        return PCOL_OK;
    pci_resources_only(r, (pcol_str){"snapshot", 8});
    *sorted = 1;
    while (*sorted) {
        PCI_TRY(pci_resources_next(r, &more, err));
        if (!more)
            break;
        if (!r->same)
            snapshot = pci_snapshot_of(r);
        *sorted = snapshot >= previous;
        previous = snapshot;
        PCI_TRY(pci_resources_run(r, &count, err));
        if (!pci_run_has(r, "snapshot"))
            pci_resources_skip(r, count);
    }
    pci_resources_rewind(r);
    return PCOL_OK;
}

pcol_status pci_perun_query_snapshots(struct pcol_answers *a, pcol_error *err)
{
    int more, sorted;
    PCI_TRY(pci_result_column(a, "snapshot", err));
    if (a->question == PCOL_ASK_SNAPSHOT_ROWS) {
        PCI_TRY(add_snapshot_columns(a, err));
        PCI_TRY(count_snapshots(a, &a->skipped, err));
        a->next = next_snapshot;
        return PCOL_OK;
    }
    PCI_TRY(pci_result_column(a, "row", err));
    PCI_TRY(pci_result_sorted(a, &sorted, err));
    pci_resources_only(&a->resources, (pcol_str){"snapshot", 8});
    if (sorted) {
        a->next = next_sorted;
        a->block = pci_snapshot_block;
        return PCOL_OK;
    }
    for (;;) {
        PCI_TRY(pci_resources_next(&a->resources, &more, err));
        if (!more)
            break;
        PCI_TRY(
            pci_result_push(a, pci_snapshot_of(&a->resources), (int64_t)a->resources.number, err));
    }
    PCI_TRY(pci_result_sort(a, err));
    a->next = next_pair;
    return PCOL_OK;
}

/* ---- items and fields */

static pcol_status next_item(struct pcol_answers *a, int *more, pcol_error *err)
{
    while (a->found_at >= a->flat_count) {
        PCI_TRY(pci_resources_next(&a->resources, more, err));
        if (!*more)
            return PCOL_OK;
        if (!a->options.all_rows && a->resources.number != a->options.row)
            continue;
        PCI_TRY(pci_result_flat(a, err));
        a->found_at = 0;
    }
    *more = 1;
    const struct pci_flat_cell *cell = &a->flat_cells[a->found_at++];
    PCI_TRY(pci_result_int(a, 0, (int64_t)a->resources.number, err));
    PCI_TRY(pci_result_set_field(a, 1, cell->field, err));
    return pci_result_set(a, 2, &cell->value, err);
}

static pcol_status next_field(struct pcol_answers *a, int *more, pcol_error *err)
{
    while (a->list_at < a->list_count && a->options.numeric && !a->numeric[a->list[a->list_at].a])
        a->list_at++;
    *more = a->list_at < a->list_count;
    if (!*more)
        return PCOL_OK;
    uint32_t field = (uint32_t)a->list[a->list_at++].a;
    struct pci_value numeric = {.kind = PCI_VALUE_BOOL, .as.i64 = a->numeric[field]};
    PCI_TRY(pci_result_set_field(a, 0, field, err));
    return pci_result_set(a, 1, &numeric, err);
}

static pcol_status record_fields(struct pcol_answers *a, pcol_error *err)
{
    size_t known = a->known_fields;
    if (a->fields.count > known) {
        PCI_TRY(PCI_GROW(a->numeric, a->numeric_capacity, a->fields.count, err));
        memset(a->numeric + known, 2, a->fields.count - known); /* not found yet */
        a->known_fields = a->fields.count;
    }
    for (size_t i = 0; i < a->flat_count; i++) {
        uint32_t field = a->flat_cells[i].field;
        double number;
        if (a->numeric[field] == 2)
            PCI_TRY(pci_result_push(a, field, 0, err));
        if (a->numeric[field])
            a->numeric[field] = pci_value_number(&a->flat_cells[i].value, &number) != 0;
    }
    return PCOL_OK;
}

pcol_status pci_perun_query_fields(struct pcol_answers *a, pcol_error *err)
{
    int more;
    if (a->question == PCOL_ASK_ITEMS) {
        PCI_TRY(pci_result_column(a, "row", err));
        PCI_TRY(pci_result_column(a, "key", err));
        PCI_TRY(pci_result_column(a, "value", err));
        a->next = next_item;
        a->block = pci_item_block;
        return PCOL_OK;
    }
    PCI_TRY(pci_result_column(a, "field", err));
    PCI_TRY(pci_result_column(a, "numeric", err));
    for (;;) {
        PCI_TRY(pci_resources_next(&a->resources, &more, err));
        if (!more)
            break;
        PCI_TRY(pci_result_flat(a, err));
        PCI_TRY(record_fields(a, err));
    }
    a->next = next_field;
    return PCOL_OK;
}
