/*
 * arrays.c - `samples` and `timeDeltas` of CPU profiles, stored as what the rows of samples lack
 *
 * Rows have stacks and times, in order of time. The arrays follow from them with the id of each
 * stack's node and with the moves that sorted the samples, an insertion sort: undone from the last
 * to the first, they restore the order of the file. Stored form: docs/spec/mappings.md, 16.12.
 * Tests: tests/roundtrip/json_formats, tests/unit/test_v8_arrays.c.
 */
#include "formats/v8/v8.h"

#include "model/json_tree.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/value_ids.h"

#include <string.h>

#define BATCH 256u
#define NANOSECONDS 1000 /* in a microsecond */

/* ---- import */

/* Ids of the nodes with samples, by their first rows; *count: SIZE_MAX if two nodes have one
 * stack. */
static pcol_status list_ids(struct pci_v8 *v8, struct pci_value_ids *stacks, int64_t **list,
                            size_t *count, pcol_error *err)
{
    static const uint8_t valid = 1;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < v8->sample_count; i++) {
        struct pci_v8_node *node = &v8->nodes[v8->samples[i].node];
        int64_t stack = node->stack;
        uint32_t number;
        if (i % BATCH == 0)
            PCI_TRY(pci_work(BATCH * sizeof *v8->samples, err));
        if (node->is_sampled)
            continue;
        node->is_sampled = 1;
        PCI_TRY(pci_value_ids_assign(stacks, &stack, &valid, 1, &number, err));
        if (number < *count) {
            *count = SIZE_MAX;
            return PCOL_OK;
        }
        PCI_TRY(PCI_GROW(*list, capacity, *count + 1, err));
        (*list)[(*count)++] = node->id;
    }
    return PCOL_OK;
}

static pcol_status add_integers(struct pci_v8 *v8, uint64_t parent, const char *key,
                                const int64_t *values, size_t count, pcol_error *err)
{
    uint64_t node;
    PCI_TRY(pci_document_node(&v8->document, parent, key, PCI_NODE_INTEGERS, &node, err));
    return count ? pci_builder_node_elements(v8->builder, 0, node, values, count, err) : PCOL_OK;
}

static pcol_status add_integer(struct pci_v8 *v8, uint64_t parent, const char *key, int64_t value,
                               pcol_error *err)
{
    struct pci_new_node number = {
        .parent = parent, .tag = PCI_NODE_INTEGER, .text = PCOL_NONE, .as.i64 = value};
    uint64_t node;
    PCI_TRY(pci_document_key(&v8->document, key, &number.key, err));
    return pci_builder_node(v8->builder, &number, &node, err);
}

/* late: distances between the samples that were moved, in the file; by: how far. */
static pcol_status add_moves(struct pci_v8 *v8, uint64_t parent, pcol_error *err)
{
    static const char *const keys[] = {"late", "by"};
    int64_t values[BATCH];
    for (int k = 0; v8->move_count && k < 2; k++) {
        uint32_t before = 0;
        uint64_t node;
        PCI_TRY(pci_document_node(&v8->document, parent, keys[k], PCI_NODE_INTEGERS, &node, err));
        for (size_t i = 0, n; i < v8->move_count; i += n) {
            n = v8->move_count - i < BATCH ? v8->move_count - i : BATCH;
            for (size_t j = 0; j < n; j++) {
                const struct pci_v8_move *move = &v8->moves[i + j];
                values[j] = k ? move->by : move->at - before;
                before = move->at;
            }
            PCI_TRY(pci_builder_node_elements(v8->builder, 0, node, values, n, err));
        }
    }
    return PCOL_OK;
}

static pcol_status store_ids(struct pci_v8 *v8, const int64_t *ids, size_t count, pcol_error *err)
{
    struct pci_document *document = &v8->document;
    uint64_t element;
    PCI_TRY(pci_document_place(document, document->root, "samples", err));
    PCI_TRY(pci_document_node(document, document->arrays, NULL, PCI_NODE_OBJECT, &element, err));
    PCI_TRY(add_integers(v8, element, "ids", ids, count, err));
    PCI_TRY(add_integer(v8, element, "count", (int64_t)v8->sample_count, err));
    return add_moves(v8, element, err);
}

pcol_status pci_v8_store_samples(struct pci_v8 *v8, int *stored, pcol_error *err)
{
    struct pci_value_ids *stacks;
    int64_t *ids = NULL;
    size_t count;
    *stored = 0;
    if (!v8->has_moves)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(stacks, 1, err));
    pci_value_ids_init(stacks);
    pcol_status status = list_ids(v8, stacks, &ids, &count, err);
    if (status == PCOL_OK && count != SIZE_MAX) {
        *stored = 1;
        status = store_ids(v8, ids, count, err);
    }
    pci_value_ids_clear(stacks);
    pci_free(stacks);
    pci_free(ids);
    return status;
}

pcol_status pci_v8_store_deltas(struct pci_v8 *v8, int64_t start, pcol_error *err)
{
    struct pci_document *document = &v8->document;
    uint64_t element;
    PCI_TRY(pci_document_place(document, document->root, "timeDeltas", err));
    PCI_TRY(pci_document_node(document, document->arrays, NULL, PCI_NODE_OBJECT, &element, err));
    return add_integer(v8, element, "start", start, err);
}

/* ---- export */

struct arrays {
    const struct pci_export *export;
    struct pci_document_writer *writer;
    int is_open, has_deltas;
    const struct pci_column *stack, *time;
    uint64_t element;      /* of samples */
    uint64_t first, count; /* rows */
    uint64_t stack_count;
    uint32_t *order;   /* by number in the file: the row, from `first` on */
    uint32_t *numbers; /* by stack: the number of its id; PCOL_NONE: none */
    int64_t *ids, *late, *by;
    uint64_t id_count, late_count, by_count;
};

static pcol_status corrupt(const struct arrays *a, const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "nodes", NULL, a->element, "%s", problem);
}

/* Elements of an array, at most `limit`; once. */
static pcol_status load_integers(struct arrays *a, const struct pci_node_value *node,
                                 uint64_t limit, int64_t **values, uint64_t *count, pcol_error *err)
{
    *count = node->end - node->first;
    if (node->tag != PCI_NODE_INTEGERS || *values || *count > limit)
        return corrupt(a, "a member of samples must be integers, once and not more than rows", err);
    PCI_TRY(PCI_MALLOC(*values, (size_t)*count + 1, err));
    for (uint64_t at = 0, n; at < *count; at += n) {
        n = *count - at < BATCH ? *count - at : BATCH;
        PCI_TRY(pci_nodes_elements(&a->writer->nodes, node, at, (size_t)n, *values + at, err));
    }
    return PCOL_OK;
}

/* The element of `samples`: the object whose first member is `ids`. */
static pcol_status find_element(struct arrays *a, pcol_error *err)
{
    struct pci_document_writer *w = a->writer;
    struct pci_node_value node;
    uint64_t row, member;
    PCI_TRY(pci_nodes_first(&w->nodes, w->arrays, &row, err));
    while (row != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(&w->nodes, row, &node, err));
        member = PCI_NO_NODE;
        if (node.tag == PCI_NODE_OBJECT)
            PCI_TRY(pci_nodes_first(&w->nodes, row, &member, err));
        if (member != PCI_NO_NODE)
            PCI_TRY(pci_nodes_get(&w->nodes, member, &node, err));
        a->element = row;
        if (member != PCI_NO_NODE && node.has_key && pci_str_is(node.key, "ids"))
            return PCOL_OK;
        PCI_TRY(pci_nodes_next(&w->nodes, w->arrays, &row, err));
    }
    a->element = w->arrays;
    return corrupt(a, "timeDeltas need an element of samples", err);
}

static pcol_status load_element(struct arrays *a, pcol_error *err)
{
    const struct pci_node_reader *nodes = &a->writer->nodes;
    struct pci_node_value node;
    uint64_t member, rows = pci_rows(a->writer->file, "samples");
    PCI_TRY(pci_document_find_member(nodes, a->element, "count", &member, err));
    PCI_TRY(pci_nodes_get(nodes, member, &node, err));
    if (node.tag != PCI_NODE_INTEGER || node.integer < 0 || node.integer >= PCOL_NONE ||
        (uint64_t)node.integer > rows)
        return corrupt(a, "the count of samples is not one of rows", err);
    a->count = (uint64_t)node.integer;
    PCI_TRY(pci_nodes_first(nodes, a->element, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(nodes, member, &node, err));
        if (pci_str_is(node.key, "ids"))
            PCI_TRY(load_integers(a, &node, a->count, &a->ids, &a->id_count, err));
        else if (pci_str_is(node.key, "late"))
            PCI_TRY(load_integers(a, &node, a->count, &a->late, &a->late_count, err));
        else if (pci_str_is(node.key, "by"))
            PCI_TRY(load_integers(a, &node, a->count, &a->by, &a->by_count, err));
        PCI_TRY(pci_nodes_next(nodes, a->element, &member, err));
    }
    return a->late_count == a->by_count ? PCOL_OK
                                        : corrupt(a, "late and by are of different length", err);
}

/* The first `count` rows of the source are its samples, without a gap. */
static pcol_status find_rows(struct arrays *a, pcol_error *err)
{
    const pcol_file *file = a->writer->file;
    const struct pci_column *source;
    uint64_t rows = pci_rows(file, "samples"), found = 0;
    PCI_TRY(pci_find_verified_column(file, "samples", "source", PCI_TYPES_ROW, &source, err));
    for (uint64_t row = 0; row < rows && found < a->count; row++) {
        int64_t of = 0;
        if (source)
            PCI_TRY(pci_get(file, source, row, &of, &(int){0}, err));
        if (of != a->export->first_source && found)
            break;
        if (of != a->export->first_source)
            continue;
        if (!found++)
            a->first = row;
    }
    return found == a->count ? PCOL_OK : corrupt(a, "the source has fewer samples in a row", err);
}

/* Number the ids by the first rows of the stacks. */
static pcol_status number_stacks(struct arrays *a, pcol_error *err)
{
    const pcol_file *file = a->writer->file;
    uint32_t next = 0;
    PCI_TRY(pci_check_row_count(file, "stacks", err));
    a->stack_count = pci_rows(file, "stacks");
    PCI_TRY(PCI_MALLOC(a->numbers, (size_t)a->stack_count + 1, err));
    memset(a->numbers, 0xff, ((size_t)a->stack_count + 1) * sizeof *a->numbers);
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t stack = 0;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        PCI_TRY(pci_get(file, a->stack, a->first + i, &stack, &(int){0}, err));
        if (a->numbers[stack] == PCOL_NONE)
            a->numbers[stack] = next++;
    }
    return next == a->id_count ? PCOL_OK : corrupt(a, "there must be an id for each stack", err);
}

/* Undo the moves. */
static pcol_status restore_order(struct arrays *a, pcol_error *err)
{
    uint64_t at = 0, steps = 0;
    PCI_TRY(PCI_MALLOC(a->order, (size_t)a->count + 1, err));
    for (uint64_t i = 0; i < a->count; i++)
        a->order[i] = (uint32_t)i;
    for (uint64_t i = 0; i < a->late_count; i++) {
        if (a->late[i] < 1 || (uint64_t)a->late[i] >= a->count - at)
            return corrupt(a, "late is not an ascending list of samples", err);
        at += (uint64_t)a->late[i];
        if (a->by[i] < 1 || (uint64_t)a->by[i] > at ||
            (steps += (uint64_t)a->by[i]) > PCI_V8_STEPS(a->count))
            return corrupt(a, "by goes too far", err);
    }
    for (uint64_t i = a->late_count; i-- > 0; at -= (uint64_t)a->late[i]) {
        uint32_t *to = &a->order[at], *from = to - a->by[i], row = *from;
        memmove(from, from + 1, (size_t)a->by[i] * sizeof *from);
        *to = row;
    }
    return PCOL_OK;
}

static pcol_status open_arrays(struct arrays *a, pcol_error *err)
{
    const pcol_file *file = a->writer->file;
    PCI_TRY(find_element(a, err));
    PCI_TRY(load_element(a, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW, &a->stack, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "time", PCI_TYPES_INT, &a->time, err));
    if (a->count && !a->stack)
        return corrupt(a, "samples have no stacks", err);
    PCI_TRY(find_rows(a, err));
    PCI_TRY(number_stacks(a, err));
    PCI_TRY(restore_order(a, err));
    a->is_open = 1;
    return PCOL_OK;
}

static pcol_status put_ids(struct arrays *a, struct pci_json_writer *json, pcol_error *err)
{
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t stack = 0;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        PCI_TRY(pci_get(a->writer->file, a->stack, a->first + a->order[i], &stack, &(int){0}, err));
        pci_json_put_int(json, a->ids[a->numbers[stack]], err);
        if (json->status != PCOL_OK)
            return json->status;
    }
    return PCOL_OK;
}

static pcol_status put_deltas(struct arrays *a, struct pci_json_writer *json, int64_t before,
                              pcol_error *err)
{
    if (a->count && !a->time)
        return corrupt(a, "samples have no times", err);
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t time, delta;
        int valid;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        PCI_TRY(pci_get(a->writer->file, a->time, a->first + a->order[i], &time, &valid, err));
        if (!valid || time % NANOSECONDS ||
            __builtin_sub_overflow(time / NANOSECONDS, before, &delta))
            return pci_corrupt(err, "samples", "time", a->first + a->order[i],
                               "not a time of full microseconds");
        before = time / NANOSECONDS;
        pci_json_put_int(json, delta, err);
        if (json->status != PCOL_OK)
            return json->status;
    }
    return PCOL_OK;
}

static pcol_status put_element(void *context, struct pci_document_writer *writer,
                               const struct pci_node_value *place,
                               const struct pci_node_value *element, pcol_error *err)
{
    struct arrays *a = context;
    struct pci_node_value first = {.tag = PCI_NODE_NULL};
    uint64_t member = PCI_NO_NODE;
    (void)place;
    a->writer = writer;
    if (element->tag == PCI_NODE_OBJECT)
        PCI_TRY(pci_nodes_first(&writer->nodes, element->row, &member, err));
    if (member != PCI_NO_NODE)
        PCI_TRY(pci_nodes_get(&writer->nodes, member, &first, err));
    int is_ids = first.tag == PCI_NODE_INTEGERS && pci_str_is(first.key, "ids");
    int is_start = first.tag == PCI_NODE_INTEGER && pci_str_is(first.key, "start");
    if (!is_ids && !is_start)
        return pci_corrupt(err, "nodes", "tag", element->row, "not an array");
    if (!a->is_open)
        PCI_TRY(open_arrays(a, err));
    if (is_ids ? element->row != a->element : a->has_deltas++)
        return corrupt(a, "samples or timeDeltas are there twice", err);
    pci_json_put_begin(&writer->json, '[', err);
    PCI_TRY(is_ids ? put_ids(a, &writer->json, err)
                   : put_deltas(a, &writer->json, first.integer, err));
    pci_json_put_end(&writer->json, ']', err);
    return writer->json.status;
}

pcol_status pci_v8_write_document(const struct pci_export *export, pcol_error *err)
{
    struct arrays a = {.export = export};
    pcol_status status = pci_document_write(export, put_element, &a, err);
    pci_free(a.order);
    pci_free(a.numbers);
    pci_free(a.ids);
    pci_free(a.late);
    pci_free(a.by);
    return status;
}
