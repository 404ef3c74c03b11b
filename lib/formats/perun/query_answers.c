/*
 * query_answers.c - result table of Perun's queries: columns, cells, flattening, and the public API
 *
 * Rows of a profile share frames and stacks. The flat form, JSON and lines of each are cached by
 * (use, kind, row), so that a row costs a few copies for each key.
 */
#include "formats/perun/query_answers.h"

#include "model/check.h"
#include "model/keyed_json.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"

#include <inttypes.h>
#include <string.h>

/* ---- columns and cells */

pcol_status pci_result_new_column(struct pcol_answers *a, pcol_str name, uint32_t *column,
                                  pcol_error *err)
{
    size_t known = a->columns.count;
    PCI_TRY(pci_string_pool_intern(&a->columns, name.data, name.size, column, err));
    if (a->columns.count == known)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(a->cells, a->cell_capacity, a->columns.count, err));
    a->cells[*column].kind = PCOL_ANSWER_ABSENT;
    return PCOL_OK;
}

pcol_status pci_result_column(struct pcol_answers *a, const char *name, pcol_error *err)
{
    uint32_t column;
    return pci_result_new_column(a, (pcol_str){name, strlen(name)}, &column, err);
}

pcol_status pci_result_count(struct pcol_answers *a, uint64_t rows, pcol_error *err)
{
    uint64_t columns = a->columns.count;
    if (columns && rows > a->cells_left / columns)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the table has implausibly many cells, in %" PRIu64 " columns", columns);
    a->cells_left -= rows * columns;
    return PCOL_OK;
}

pcol_status pci_result_row(struct pcol_answers *a, pcol_error *err)
{
    if (a->columns.count >= a->touched_capacity) {
        PCI_TRY(PCI_GROW(a->touched, a->touched_capacity, a->columns.count + 1, err));
    }
    for (size_t i = 0; i < a->touched_count; i++)
        a->cells[a->touched[i]].kind = PCOL_ANSWER_ABSENT;
    a->touched_count = 0;
    a->json.size = 0;
    return PCOL_OK;
}

static pcol_status append_to_strbuf(void *context, const void *data, size_t size, pcol_error *err)
{
    return pci_strbuf_append(context, data, size, err);
}

/* Append the JSON text of an array or object. */
static pcol_status append_json(struct pcol_answers *a, const struct pci_value *value,
                               struct pci_strbuf *to, pcol_error *err)
{
    struct pci_json_writer *w = &a->writer;
    if (!w->buffer)
        PCI_TRY(pci_json_writer_open(w, (pcol_sink){append_to_strbuf, NULL},
                                     PCI_JSON_POINT | PCI_JSON_WTF8, err));
    w->sink.context = to;
    w->comma = 0;
    PCI_TRY(pci_value_json(&a->resources.values, value, w, NULL, NULL, err));
    PCI_TRY(pci_json_writer_finish(w, err));
    to->size--; /* the final line feed */
    return PCOL_OK;
}

static pcol_status push_cell(struct pci_flat_cell **cells, size_t *count, size_t *capacity,
                             uint32_t field, const struct pci_value *value, pcol_error *err)
{
    if (*count == *capacity) {
        PCI_TRY(PCI_GROW(*cells, *capacity, *count + 1, err));
    }
    (*cells)[(*count)++] = (struct pci_flat_cell){field, *value};
    return PCOL_OK;
}

int pci_value_shared(const struct pci_value *value)
{
    return value->kind >= PCI_VALUE_FRAME && value->kind < PCI_VALUE_NODE;
}

/* Find the cache entry of a shared value for a use (the number of a field, or PCI_USE_*);
 * PCOL_NONE: none. */
static uint32_t find_shared(const struct pcol_answers *a, uint32_t use,
                            const struct pci_value *value, uint64_t *hash)
{
    uint32_t id;
    *hash = pci_hash_pair((uint64_t)use << 8 | value->kind, (uint64_t)value->as.i64);
    size_t at = pci_hash_start(&a->shared_hash, *hash);
    while ((id = pci_hash_next(&a->shared_hash, *hash, &at)) != PCI_HASH_NONE)
        if (a->shared[id].field == use && a->shared[id].kind == value->kind &&
            a->shared[id].row == value->as.i64)
            return id;
    return PCOL_NONE;
}

static pcol_status add_shared(struct pcol_answers *a, uint32_t use, const struct pci_value *value,
                              uint64_t hash, uint32_t *id, pcol_error *err)
{
    PCI_TRY(PCI_GROW(a->shared, a->shared_capacity, a->shared_count + 1, err));
    a->shared[a->shared_count] =
        (struct pci_cached_value){use, value->kind, value->as.i64, a->shared_item_count, 0};
    PCI_TRY(pci_hash_add(&a->shared_hash, hash, (uint32_t)a->shared_count, err));
    *id = (uint32_t)a->shared_count++;
    return PCOL_OK;
}

pcol_status pci_result_cache_find(struct pcol_answers *a, uint32_t use,
                                  const struct pci_value *value, struct pci_cached_value **shared,
                                  int *is_new, pcol_error *err)
{
    uint64_t hash;
    uint32_t id = find_shared(a, use, value, &hash);
    *is_new = id == PCOL_NONE;
    if (*is_new)
        PCI_TRY(add_shared(a, use, value, hash, &id, err));
    *shared = &a->shared[id];
    return PCOL_OK;
}

pcol_status pci_result_cache_add(struct pcol_answers *a, struct pci_cached_value *shared,
                                 uint32_t field, const struct pci_value *value, pcol_error *err)
{
    struct pci_value cached = *value;
    if (value->kind == PCI_VALUE_TEXT) {
        char *text;
        PCI_TRY(pci_arena_alloc(&a->cache_arena, value->as.text.size, &text, err));
        if (value->as.text.size)
            memcpy(text, value->as.text.data, value->as.text.size);
        cached.as.text.data = text;
    }
    PCI_TRY(push_cell(&a->shared_items, &a->shared_item_count, &a->shared_item_capacity, field,
                      &cached, err));
    shared->count++;
    return PCOL_OK;
}

/* Set a cell to JSON. JSON of frames and stacks is cached. That of other values is appended to
 * a->json, which may move: pci_result_locate_json() sets the pointer when the row is complete. */
static pcol_status set_json(struct pcol_answers *a, pcol_answer *cell,
                            const struct pci_value *value, pcol_error *err)
{
    struct pci_cached_value *shared;
    size_t begin = a->json.size;
    int is_new;
    cell->kind = PCOL_ANSWER_JSON;
    cell->stable = pci_value_shared(value);
    if (!cell->stable) {
        PCI_TRY(append_json(a, value, &a->json, err));
        cell->as.text = (pcol_str){NULL, a->json.size - begin};
        return PCOL_OK;
    }
    PCI_TRY(pci_result_cache_find(a, PCI_USE_JSON, value, &shared, &is_new, err));
    if (is_new) {
        a->text.size = 0;
        PCI_TRY(append_json(a, value, &a->text, err));
        struct pci_value text = {.kind = PCI_VALUE_TEXT, .as.text = {a->text.data, a->text.size}};
        PCI_TRY(pci_result_cache_add(a, shared, 0, &text, err));
    }
    cell->as.text = a->shared_items[shared->first].value.as.text;
    return PCOL_OK;
}

pcol_status pci_result_cell(struct pcol_answers *a, pcol_answer *cell,
                            const struct pci_value *value, pcol_error *err)
{
    switch ((enum pci_value_kind)value->kind) {
    case PCI_VALUE_NULL:
        cell->kind = PCOL_ANSWER_NULL;
        return PCOL_OK;
    case PCI_VALUE_BOOL:
    case PCI_VALUE_INTEGER:
        cell->kind = value->kind == PCI_VALUE_BOOL ? PCOL_ANSWER_BOOL : PCOL_ANSWER_I64;
        cell->as.i64 = value->as.i64;
        return PCOL_OK;
    case PCI_VALUE_DOUBLE:
        cell->kind = PCOL_ANSWER_F64;
        cell->as.f64 = value->as.f64;
        return PCOL_OK;
    case PCI_VALUE_BIG:
    case PCI_VALUE_STRING:
    case PCI_VALUE_TEXT:
        cell->kind = value->kind == PCI_VALUE_BIG ? PCOL_ANSWER_DIGITS : PCOL_ANSWER_TEXT;
        cell->stable = value->kind != PCI_VALUE_TEXT || !value->brief;
        cell->as.text = value->as.text;
        return PCOL_OK;
    case PCI_VALUE_FRAME:
    case PCI_VALUE_STACK:
    case PCI_VALUE_RSTACK:
    case PCI_VALUE_NODE:
        break;
    }
    return set_json(a, cell, value, err);
}

pcol_status pci_result_set(struct pcol_answers *a, uint32_t column, const struct pci_value *value,
                           pcol_error *err)
{
    pcol_answer *cell = &a->cells[column];
    if (cell->kind == PCOL_ANSWER_ABSENT)
        a->touched[a->touched_count++] = column;
    return pci_result_cell(a, cell, value, err);
}

void pci_result_locate_json(pcol_answer *cell, const char **json)
{
    if (cell->kind == PCOL_ANSWER_JSON && !cell->as.text.data) {
        cell->as.text.data = *json;
        *json += cell->as.text.size;
    }
}

pcol_status pci_result_int(struct pcol_answers *a, uint32_t column, int64_t value, pcol_error *err)
{
    struct pci_value cell = {.kind = PCI_VALUE_INTEGER, .as.i64 = value};
    return pci_result_set(a, column, &cell, err);
}

pcol_status pci_result_push(struct pcol_answers *a, int64_t x, int64_t y, pcol_error *err)
{
    PCI_TRY(PCI_GROW(a->list, a->list_capacity, a->list_count + 1, err));
    a->list[a->list_count++] = (struct pci_pair){x, y};
    return PCOL_OK;
}

static int compare_pairs(const void *a, const void *b, const void *context)
{
    const struct pci_pair *x = a, *y = b;
    (void)context;
    return (x->a > y->a) - (x->a < y->a);
}

pcol_status pci_result_sort(struct pcol_answers *a, pcol_error *err)
{
    return pci_sort(a->list, a->list_count, sizeof *a->list, compare_pairs, NULL, err);
}

pcol_status pci_result_object(struct pcol_answers *a, int models, int *more, pcol_error *err)
{
    return models ? pci_models_next(&a->resources, more, err)
                  : pci_resources_next(&a->resources, more, err);
}

/* ---- flattening */

/* The field of an item within a member; the last item is the member itself. */
static pcol_status find_field(struct pcol_answers *a, uint32_t outer, size_t item, uint32_t *field,
                              pcol_error *err)
{
    *field = outer;
    if (item + 1 == a->flat.count)
        return PCOL_OK;
    const pcol_str inner = a->flat.items[item].key;
    pcol_str key = pci_string_pool_get(&a->fields, outer);
    a->text.size = 0;
    PCI_TRY(pci_strbuf_append(&a->text, key.data, key.size, err));
    PCI_TRY(pci_strbuf_append(&a->text, ":", 1, err));
    PCI_TRY(pci_strbuf_append(&a->text, inner.data, inner.size, err));
    return pci_string_pool_intern(&a->fields, a->text.data, a->text.size, field, err);
}

static pcol_status flatten_shared(struct pcol_answers *a, uint32_t field,
                                  const struct pci_value *value, struct pci_cached_value *shared,
                                  pcol_error *err)
{
    a->flat.count = 0;
    PCI_TRY(pci_flatten(&a->resources.values, value, &a->flat, &a->cache_arena, err));
    for (size_t i = 0; i < a->flat.count; i++) {
        uint32_t inner;
        struct pci_flat_item *item = &a->flat.items[i];
        item->value.brief = 0;
        PCI_TRY(find_field(a, field, i, &inner, err));
        PCI_TRY(push_cell(&a->shared_items, &a->shared_item_count, &a->shared_item_capacity, inner,
                          &item->value, err)); /* its text is in the arena */
        shared->count++;
    }
    return PCOL_OK;
}

static pcol_status add_flat_shared(struct pcol_answers *a, uint32_t field,
                                   const struct pci_value *value, pcol_error *err)
{
    struct pci_cached_value *s;
    int is_new;
    PCI_TRY(pci_result_cache_find(a, field, value, &s, &is_new, err));
    if (is_new)
        PCI_TRY(flatten_shared(a, field, value, s, err));
    for (size_t i = 0; i < s->count; i++) {
        const struct pci_flat_cell *item = &a->shared_items[s->first + i];
        PCI_TRY(push_cell(&a->flat_cells, &a->flat_count, &a->flat_capacity, item->field,
                          &item->value, err));
    }
    return PCOL_OK;
}

static pcol_status add_flat_node(struct pcol_answers *a, uint32_t field,
                                 const struct pci_value *value, pcol_error *err)
{
    a->flat.count = 0;
    PCI_TRY(pci_flatten(&a->resources.values, value, &a->flat, &a->row_texts, err));
    for (size_t i = 0; i < a->flat.count; i++) {
        uint32_t inner;
        struct pci_flat_item *item = &a->flat.items[i];
        item->value.brief = 1;
        PCI_TRY(find_field(a, field, i, &inner, err));
        PCI_TRY(
            push_cell(&a->flat_cells, &a->flat_count, &a->flat_capacity, inner, &item->value, err));
    }
    return PCOL_OK;
}

/* Fields of the members' own keys, valid while the plan is. */
pcol_status pci_result_slots(struct pcol_answers *a, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    PCI_TRY(PCI_GROW(a->slot_fields, a->slot_capacity, r->count + 1, err));
    PCI_TRY(PCI_GROW(a->slot_cells, a->slot_cell_capacity, r->count + 1, err));
    for (size_t i = 0; i < r->count; i++)
        PCI_TRY(pci_string_pool_intern(&a->fields, r->members[i].key.data, r->members[i].key.size,
                                       &a->slot_fields[i], err));
    a->plan = r->plan;
    return PCOL_OK;
}

pcol_status pci_result_flat(struct pcol_answers *a, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    a->flat_count = 0;
    if (a->row_texts.block_count)
        pci_arena_clear(&a->row_texts);
    if (a->plan != r->plan)
        PCI_TRY(pci_result_slots(a, err));
    for (size_t i = 0; i < r->count; i++) {
        const struct pci_value *value = &r->members[i].value;
        a->slot_cells[i] = (uint32_t)a->flat_count;
        if (value->kind < PCI_VALUE_FRAME)
            PCI_TRY(push_cell(&a->flat_cells, &a->flat_count, &a->flat_capacity, a->slot_fields[i],
                              value, err));
        else if (value->kind < PCI_VALUE_NODE)
            PCI_TRY(add_flat_shared(a, a->slot_fields[i], value, err));
        else
            PCI_TRY(add_flat_node(a, a->slot_fields[i], value, err));
    }
    return PCOL_OK;
}

/* Copy the name of a field for cells, since the string pool moves when it grows. */
static pcol_status copy_field_name(struct pcol_answers *a, uint32_t field, pcol_error *err)
{
    pcol_str name = pci_string_pool_get(&a->fields, field);
    char *text;
    PCI_TRY(PCI_GROW(a->field_names, a->field_name_capacity, a->fields.count, err));
    for (; a->field_name_count < a->fields.count; a->field_name_count++)
        a->field_names[a->field_name_count] = (pcol_str){NULL, 0};
    PCI_TRY(pci_arena_alloc(&a->cache_arena, name.size, &text, err));
    if (name.size)
        memcpy(text, name.data, name.size);
    a->field_names[field] = (pcol_str){text, name.size};
    return PCOL_OK;
}

pcol_status pci_result_name(struct pcol_answers *a, pcol_answer *cell, uint32_t field,
                            pcol_error *err)
{
    if (field >= a->field_name_count || !a->field_names[field].data)
        PCI_TRY(copy_field_name(a, field, err));
    const struct pci_value name = {.kind = PCI_VALUE_STRING, .as.text = a->field_names[field]};
    return pci_result_cell(a, cell, &name, err);
}

pcol_status pci_result_set_field(struct pcol_answers *a, uint32_t column, uint32_t field,
                                 pcol_error *err)
{
    if (a->cells[column].kind == PCOL_ANSWER_ABSENT)
        a->touched[a->touched_count++] = column;
    return pci_result_name(a, &a->cells[column], field, err);
}

/* ---- public functions */

static pcol_status start_query(struct pcol_answers *a, pcol_error *err)
{
    a->cache_arena.most = a->row_texts.most = PCI_FLAT_MOST;
    /* no limit for all stacks together: bounded by the distinct ones of the file */
    a->cache_arena.most = 0;
    PCI_TRY(pci_resources_open(&a->resources, a->file, err));
    switch (a->question) {
    case PCOL_ASK_RESOURCES:
    case PCOL_ASK_MODELS:
        return pci_perun_query_table(a, err);
    case PCOL_ASK_SNAPSHOT_ROWS:
    case PCOL_ASK_SNAPSHOTS:
        return pci_perun_query_snapshots(a, err);
    case PCOL_ASK_ITEMS:
    case PCOL_ASK_FIELDS:
        return pci_perun_query_fields(a, err);
    case PCOL_ASK_VALUES:
        return pci_perun_query_values(a, err);
    case PCOL_ASK_BEST_MODELS:
        return pci_perun_query_best(a, err);
    case PCOL_ASK_FLAME:
        return pci_perun_query_flame(a, err);
    case PCOL_ASK_PLOT:
        return pci_perun_query_plot(a, err);
    }
    return pci_fail(err, PCOL_E_ARGUMENT, "unknown query");
}

static pcol_status keep_text(struct pcol_answers *a, const char **text, pcol_error *err)
{
    char *copy;
    if (!*text)
        return PCOL_OK;
    size_t size = strlen(*text) + 1;
    PCI_TRY(pci_arena_alloc(&a->given_texts, size, &copy, err));
    memcpy(copy, *text, size);
    *text = copy;
    return PCOL_OK;
}

static pcol_status keep_options(struct pcol_answers *a, const pcol_ask_options *options,
                                pcol_error *err)
{
    a->options = *options;
    PCI_TRY(keep_text(a, &a->options.path, err));
    PCI_TRY(keep_text(a, &a->options.group, err));
    return keep_text(a, &a->options.filter, err);
}

pcol_status pcol_ask(const pcol_file *file, pcol_question question, const pcol_ask_options *options,
                     pcol_answers **answers, pcol_error *err)
{
    PCI_REQUIRE(answers, err);
    *answers = NULL;
    pcol_ask_options own;
    PCI_REQUIRE(file, err);
    PCI_STRUCT_READ(pcol_ask_options, own, options, err);
    PCI_TRY(pci_schema_verify(file, err));
    struct pcol_answers *a;
    PCI_TRY(PCI_CALLOC(a, 1, err));
    a->file = file;
    a->question = question;
    own.all_rows = options ? own.all_rows : 1;
    a->plan = UINT64_MAX;
    a->cells_left = pci_file_limit(file, PCI_CELLS, PCI_CELLS_PER_BYTE);
    void *cells = NULL; /* allocated from the start: rows may have no columns */
    pcol_status status =
        pci_grow(&cells, &a->cell_capacity, 1, sizeof *a->cells) ? pci_fail_memory(err) : PCOL_OK;
    a->cells = cells;
    PCI_THEN(status, keep_options(a, &own, err));
    PCI_THEN(status, pci_control_init(&a->control, own.control, "query", err));
    if (status == PCOL_OK)
        PCI_CONTROLLED(&a->control, status, start_query(a, err), err);
    if (status == PCOL_OK)
        *answers = a;
    else
        pcol_answers_free(a);
    return status;
}

size_t pcol_answers_column_count(const pcol_answers *answers)
{
    if (!answers)
        return 0;
    return answers->columns.count;
}

pcol_str pcol_answers_column(const pcol_answers *answers, size_t index)
{
    return answers && index < answers->columns.count
               ? pci_string_pool_get(&answers->columns, (uint32_t)index)
               : (pcol_str){"", 0};
}

/* Locate the JSON texts, which are in the order in which cells were set. */
static void settle_row(struct pcol_answers *a)
{
    const char *text = a->json.data;
    for (size_t i = 0; a->json.size && i < a->touched_count; i++)
        pci_result_locate_json(&a->cells[a->touched[i]], &text);
}

pcol_status pci_answers_require(const struct pcol_answers *a, pcol_error *err)
{
    return a->failed ? pci_fail(err, PCOL_E_STATE, "the answers have failed before") : PCOL_OK;
}

pcol_status pcol_answers_next(pcol_answers *answers, const pcol_answer **cells, pcol_error *err)
{
    PCI_REQUIRE(cells, err);
    *cells = NULL;
    PCI_REQUIRE(answers, err);
    struct pcol_answers *a = answers;
    int more = 0;
    PCI_TRY(pci_answers_require(a, err));
    pcol_status status = pci_control_enter(&a->control, err);
    if (status == PCOL_OK && !a->partial)
        status = pci_result_row(a, err);
    PCI_THEN(status, a->next(a, &more, err));
    pci_control_leave(&a->control);
    if (more)
        PCI_THEN(status, pci_result_count(a, 1, err));
    a->failed = status != PCOL_OK;
    if (status != PCOL_OK || !more)
        return status;
    settle_row(a);
    *cells = a->cells;
    return PCOL_OK;
}

void pcol_answers_free(pcol_answers *answers)
{
    struct pcol_answers *a = answers;
    if (!a)
        return;
    pci_resources_close(&a->resources);
    pci_string_pool_clear(&a->columns);
    pci_string_pool_clear(&a->fields);
    pci_string_pool_clear(&a->seen);
    pci_hash_clear(&a->shared_hash);
    pci_pair_set_clear(&a->seen_ids);
    pci_arena_clear(&a->cache_arena);
    pci_arena_clear(&a->row_texts);
    pci_arena_clear(&a->given_texts);
    pci_json_writer_close(&a->writer);
    pci_strbuf_clear(&a->json);
    pci_strbuf_clear(&a->text);
    pci_strbuf_clear(&a->other);
    pci_free(a->cells);
    pci_free(a->touched);
    pci_free(a->shared);
    pci_free(a->shared_items);
    pci_free(a->field_names);
    pci_free(a->flat.items);
    pci_free(a->flat_cells);
    pci_free(a->slot_fields);
    pci_free(a->columns_of);
    pci_free(a->list);
    pci_free(a->numeric);
    pci_free(a->found);
    pci_free(a->found_next);
    pci_free(a->slot_cells);
    pci_free(a->block_cells);
    pci_free(a->block_parts);
    pci_free(a->numbers);
    pci_free(a);
}
