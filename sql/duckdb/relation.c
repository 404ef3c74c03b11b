/*
 * relation.c - the columns of one file under a request
 *
 * Wide samples have a row for each sample: the columns of the table samples, a column for each
 * sample type, the innermost frame and all frames, and a column for each label. Tests: sql/tests.
 */
#include "extension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static pcol_status no_memory(pcol_error *err)
{
    return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
}

/* ---- collecting columns */

/* Takes the name. */
static pcol_status add(struct relation *r, char *name, struct column column, pcol_error *err)
{
    if (name == NULL)
        return no_memory(err);
    if ((r->count & (r->count - 1)) == 0) {
        size_t capacity = r->count == 0 ? 1 : 2 * r->count;
        struct column *grown = realloc(r->columns, capacity * sizeof *grown);
        if (grown == NULL) {
            free(name);
            return no_memory(err);
        }
        r->columns = grown;
    }
    column.name = name;
    r->columns[r->count++] = column;
    return PCOL_OK;
}

static pcol_status add_named(struct relation *r, const char *name, enum origin origin,
                             enum shown shown, pcol_error *err)
{
    return add(r, strdup(name), (struct column){.origin = origin, .shown = shown}, err);
}

/* All texts of the pool, or none, are VARCHAR, so that no query depends on the rows it reads. */
static enum shown shown_of(pcol_type type, int is_utf8)
{
    switch (type) {
    case PCOL_I64:
        return SHOWN_BIGINT;
    case PCOL_U64:
        return SHOWN_UBIGINT;
    case PCOL_F64:
        return SHOWN_DOUBLE;
    case PCOL_U32:
        return SHOWN_UINTEGER;
    case PCOL_BOOL:
        return SHOWN_BOOLEAN;
    case PCOL_STRING:
        return is_utf8 ? SHOWN_VARCHAR : SHOWN_BLOB;
    case PCOL_BYTES:
        return SHOWN_BLOB;
    case PCOL_LIST:
        return SHOWN_LIST;
    }
    return SHOWN_BLOB;
}

/* The columns are those of a table, so that describing them cannot fail. */
static pcol_column_info describe(const pcol_table *table, uint32_t number)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(pcol_table_column(table, number), &info, NULL) != PCOL_OK)
        info = (pcol_column_info){.name = "", .type = PCOL_BYTES, .encoding = ""};
    return info;
}

static pcol_status add_from_table(struct relation *r, uint32_t number, const char *name,
                                  int is_utf8, pcol_error *err)
{
    pcol_column_info info = describe(r->table, number);
    struct column column = {.origin = FROM_TABLE,
                            .number = number,
                            .type = info.type,
                            .shown = shown_of(info.type, is_utf8)};
    return add(r, sql_name(name, strlen(name)), column, err);
}

static pcol_status add_table(struct relation *r, int is_utf8, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    for (uint32_t i = 0; i < pcol_table_column_count(r->table) && status == PCOL_OK; i++)
        status = add_from_table(r, i, describe(r->table, i).name, is_utf8, err);
    return status;
}

/* ---- wide samples */

#define LABEL ".label."

static int is_label(const char *name)
{
    return strncmp(name, LABEL, strlen(LABEL)) == 0;
}

/* Names that are not those of labels in any file: a label of such a name is "label.NAME". */
static int is_reserved(const char *name)
{
    static const char *const names[] = {"sample_id", "source_id", "time",   "duration", "cpu_delta",
                                        "thread_id", "stack_id",  "text",   "depth",    "function",
                                        "filename",  "line",      "frames", "profile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i], name) == 0)
            return 1;
    return 0;
}

static pcol_status add_sample_columns(struct relation *r, int labels, int is_utf8, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    for (uint32_t i = 0; i < pcol_table_column_count(r->table) && status == PCOL_OK; i++) {
        const char *name = describe(r->table, i).name;
        if (is_label(name) != labels)
            continue;
        if (!labels)
            name += *name == '.';
        else if (!is_reserved(name + strlen(LABEL)))
            name += strlen(LABEL);
        else
            name += 1;
        status = add_from_table(r, i, name, is_utf8, err);
    }
    return status;
}

static int is_reserved_text(pcol_str text)
{
    char name[16] = "";
    if (text.size < sizeof name && text.size > 0)
        memcpy(name, text.data, text.size);
    return is_reserved(name);
}

/* "samples"; "samples/count" if the file has several sample types of that name, or other columns
 * have it. */
static pcol_status value_name(const pcol_table *types, uint64_t row, char **name, pcol_error *err)
{
    const pcol_column *type = pcol_table_column_by_name(types, "type", NULL);
    const pcol_column *unit = pcol_table_column_by_name(types, "unit", NULL);
    pcol_str text = {"", 0}, other, of = {"", 0};
    int same = 0;
    pcol_status status = type == NULL ? PCOL_OK : pcol_column_str(type, row, &text, NULL, err);
    for (uint64_t i = 0; i < pcol_table_rows(types) && status == PCOL_OK && type != NULL; i++) {
        status = pcol_column_str(type, i, &other, NULL, err);
        same += status == PCOL_OK && other.size == text.size &&
                memcmp(other.data, text.data, text.size) == 0;
    }
    int is_ambiguous = status == PCOL_OK && (same > 1 || is_reserved_text(text));
    if (is_ambiguous && unit != NULL)
        status = pcol_column_str(unit, row, &of, NULL, err);
    if (status != PCOL_OK)
        return status;
    char *both = malloc(text.size + of.size + 2);
    if (both == NULL)
        return no_memory(err);
    size_t size = text.size;
    memcpy(both, text.data == NULL ? "" : text.data, text.size);
    if (of.size > 0) {
        both[size++] = '/';
        memcpy(both + size, of.data, of.size);
        size += of.size;
    }
    *name = sql_name(both, size);
    free(both);
    return *name == NULL ? no_memory(err) : PCOL_OK;
}

static pcol_status add_values(struct relation *r, pcol_error *err)
{
    const pcol_table *types;
    pcol_status status =
        pcol_file_table_by_name(r->file, PCOL_MODEL_PHYSICAL, "sample_types", &types, err);
    if (status == PCOL_E_NOT_FOUND || r->physical == NULL)
        return PCOL_OK;
    for (uint64_t row = 0; status == PCOL_OK && row < pcol_table_rows(types); row++) {
        char text[40], *name = NULL;
        struct column column = {.origin = FROM_VALUES};
        snprintf(text, sizeof text, "value.%llu", (unsigned long long)row);
        if (pcol_table_column_by_name(r->physical, text, &column.number) == NULL)
            continue;
        pcol_column_info info = describe(r->physical, column.number);
        column.type = info.type;
        column.is_nullable = info.nullable;
        column.is_constant = info.type == PCOL_I64 && !info.nullable && info.step == 0 &&
                             strcmp(info.encoding, "linear") == 0;
        column.constant = info.base;
        column.shown = shown_of(column.type, 1);
        status = value_name(types, row, &name, err);
        if (status == PCOL_OK)
            status = add(r, name, column, err);
    }
    return status;
}

static pcol_status add_frames(struct relation *r, pcol_error *err)
{
    pcol_status status = add_named(r, "function", FROM_FUNCTION, SHOWN_FUNCTIONS, err);
    if (status == PCOL_OK)
        status = add_named(r, "filename", FROM_FILENAME, SHOWN_FILES, err);
    if (status == PCOL_OK)
        status = add_named(r, "line", FROM_LINE, SHOWN_BIGINT, err);
    return status == PCOL_OK ? add_named(r, "frames", FROM_FRAMES, SHOWN_TEXTS, err) : status;
}

static pcol_status add_samples(struct relation *r, int is_utf8, pcol_error *err)
{
    pcol_status status =
        pcol_file_table_by_name(r->file, PCOL_MODEL_PHYSICAL, "samples", &r->physical, err);
    if (status == PCOL_E_NOT_FOUND) {
        r->physical = NULL;
        status = PCOL_OK;
    }
    (void)pcol_table_column_by_name(r->table, "stack_id", &r->stack_column);
    if (status == PCOL_OK)
        status = add_sample_columns(r, 0, is_utf8, err);
    if (status == PCOL_OK)
        status = add_values(r, err);
    if (status == PCOL_OK)
        status = add_frames(r, err);
    return status == PCOL_OK ? add_sample_columns(r, 1, is_utf8, err) : status;
}

static pcol_status add_stacks(struct relation *r, pcol_error *err)
{
    pcol_status status = add_named(r, "stack_id", FROM_STACK, SHOWN_UINTEGER, err);
    if (status == PCOL_OK)
        status = add_named(r, "depth", FROM_DEPTH, SHOWN_BIGINT, err);
    return status == PCOL_OK ? add_frames(r, err) : status;
}

static pcol_status make_unique(struct relation *r, pcol_error *err)
{
    char **names = malloc((r->count + 1) * sizeof *names);
    if (names == NULL)
        return no_memory(err);
    for (size_t i = 0; i < r->count; i++)
        names[i] = r->columns[i].name;
    int is_made = sql_unique(names, r->count);
    for (size_t i = 0; i < r->count; i++)
        r->columns[i].name = names[i];
    free(names);
    return is_made ? PCOL_OK : no_memory(err);
}

/* ---- opening */

/* The rows of the answer are those of its table; it has only one type of samples. */
static pcol_status ask_top(struct relation *r, const struct request *request, pcol_error *err)
{
    pcol_query *query = NULL;
    pcol_status status = pcol_query_new(r->file, &request->selection->selection, NULL, &query, err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, &request->top, &r->result, err);
    pcol_query_free(query);
    r->table = pcol_result_table(r->result);
    return status;
}

static pcol_status find_table(struct relation *r, const struct request *request, pcol_error *err)
{
    r->stack_column = PCOL_NONE;
    r->is_of_stacks = request->view == VIEW_STACKS;
    if (r->is_of_stacks)
        return pcol_file_table_by_name(r->file, PCOL_MODEL_PHYSICAL, "stacks", &r->table, err);
    if (request->view == VIEW_TOP)
        return ask_top(r, request, err);
    if (request->view == VIEW_SAMPLES)
        return pcol_file_table_by_name(r->file, PCOL_MODEL_V2, "samples", &r->table, err);
    return sql_find_table(r->file, request->model, request->table, &r->table, err);
}

static pcol_status add_columns(struct relation *r, const struct request *request, pcol_error *err)
{
    pcol_status status = sql_pool_read(r->file, &r->pool, err);
    int is_utf8 = r->pool.is_utf8;
    if (status == PCOL_OK)
        status = request->view == VIEW_SAMPLES  ? add_samples(r, is_utf8, err)
                 : request->view == VIEW_STACKS ? add_stacks(r, err)
                                                : add_table(r, is_utf8, err);
    if (status == PCOL_OK && request->has_path)
        status = add_named(r, "profile", FROM_PATH, SHOWN_VARCHAR, err);
    if (status == PCOL_OK)
        status = make_unique(r, err);
    return status == PCOL_OK ? pcol_file_intact(r->file, err) : status;
}

pcol_status relation_open(const char *path, const struct request *request,
                          struct relation **relation, pcol_error *err)
{
    struct relation *r = calloc(1, sizeof *r);
    *relation = NULL;
    if (r == NULL || (r->path = strdup(path)) == NULL) {
        free(r);
        return no_memory(err);
    }
    (void)pthread_mutex_init(&r->lock, NULL);
    pcol_status status = sql_open(path, NULL, NULL, &r->file, err);
    if (status == PCOL_OK)
        status = find_table(r, request, err);
    if (status == PCOL_OK)
        status = add_columns(r, request, err);
    if (status == PCOL_OK) {
        *relation = r;
        return PCOL_OK;
    }
    status = relation_failed(r, status, err);
    relation_close(r);
    return status;
}

pcol_status relation_failed(const struct relation *r, pcol_status status, pcol_error *err)
{
    pcol_error change = {0};
    if (r->file == NULL || status == PCOL_E_NO_MEMORY ||
        pcol_file_intact(r->file, &change) == PCOL_OK)
        return status;
    *err = change;
    return change.status;
}

void relation_close(struct relation *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        free(r->columns[i].name);
    free(r->columns);
    stacks_free(r->stacks);
    sql_pool_free(&r->pool);
    pcol_result_free(r->result);
    pcol_file_close(r->file);
    (void)pthread_mutex_destroy(&r->lock);
    free(r->path);
    free(r);
}

const struct column *relation_column(const struct relation *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcasecmp(r->columns[i].name, name) == 0)
            return &r->columns[i];
    return NULL;
}

pcol_status relation_stacks(struct relation *r, int has_tree, const struct stacks **stacks,
                            pcol_error *err)
{
    pcol_status status = PCOL_OK;
    (void)pthread_mutex_lock(&r->lock);
    if (r->stacks == NULL)
        status = stacks_read(r->file, &r->stacks, err);
    if (status == PCOL_OK && has_tree && !r->stacks->has_tree)
        status = stacks_read_tree(r->file, r->stacks, err);
    *stacks = r->stacks;
    (void)pthread_mutex_unlock(&r->lock);
    return status == PCOL_OK ? PCOL_OK : relation_failed(r, status, err);
}
