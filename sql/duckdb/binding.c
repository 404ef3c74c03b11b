/*
 * binding.c - binds of read_pcol(), pcol_scan(), pcol_stacks() and pcol_top(): files, their columns
 *
 * Columns are united by name without regard to case. Where files disagree on a type the column is
 * DOUBLE if all are numbers and one is DOUBLE, else VARCHAR, or BLOB if one is. Tests: sql/tests.
 */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

DUCKDB_EXTENSION_EXTERN

static void binding_free(void *pointer)
{
    struct binding *b = pointer;
    for (size_t i = 0; b->relations != NULL && i < b->paths.count; i++)
        relation_close(b->relations[i]);
    for (size_t i = 0; i < b->count; i++)
        free(b->columns[i].name);
    free(b->columns);
    free(b->relations);
    free(b->is_ignored);
    selection_free(&b->selection);
    paths_free(&b->paths);
    free(b->request.table);
    free(b->label);
    free(b);
}

/* ---- the union of columns */

static int is_text(enum shown shown)
{
    return shown == SHOWN_VARCHAR || shown == SHOWN_BLOB;
}

static int is_number(enum shown shown)
{
    return shown == SHOWN_BIGINT || shown == SHOWN_UINTEGER || shown == SHOWN_DOUBLE;
}

/* The type that shows cells of both; -1: none. */
static int unite(enum shown a, enum shown b)
{
    if (a == b)
        return (int)a;
    if (is_number(a) && is_number(b))
        return a == SHOWN_DOUBLE || b == SHOWN_DOUBLE ? SHOWN_DOUBLE : SHOWN_BIGINT;
    if (a == SHOWN_LIST || b == SHOWN_LIST || a >= SHOWN_TEXTS || b >= SHOWN_TEXTS)
        return -1;
    return (is_text(a) && a == SHOWN_BLOB) || (is_text(b) && b == SHOWN_BLOB) ? SHOWN_BLOB
                                                                              : SHOWN_VARCHAR;
}

static pcol_status add_column(struct binding *b, const struct column *column, pcol_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        if (strcasecmp(b->columns[i].name, column->name) != 0)
            continue;
        int united = unite(b->columns[i].shown, column->shown);
        if (united < 0)
            return pcol_error_set(err, PCOL_E_UNSUPPORTED, 0,
                                  "column %s is a list here and not in a file before it",
                                  column->name);
        b->columns[i].shown = (enum shown)united;
        return PCOL_OK;
    }
    if ((b->count & (b->count - 1)) == 0) {
        size_t capacity = b->count == 0 ? 1 : 2 * b->count;
        struct union_column *grown = realloc(b->columns, capacity * sizeof *grown);
        if (grown == NULL)
            return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
        b->columns = grown;
    }
    char *name = strdup(column->name);
    if (name == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    b->columns[b->count++] = (struct union_column){name, column->shown};
    return PCOL_OK;
}

static pcol_status add_file(struct binding *b, size_t number, pcol_error *err)
{
    struct relation *r;
    pcol_status status = relation_open(b->paths.list[number], &b->request, &r, err);
    if (status != PCOL_OK)
        return status;
    for (size_t i = 0; i < r->count && status == PCOL_OK; i++)
        status = add_column(b, &r->columns[i], err);
    b->rows += pcol_table_rows(r->table);
    if (b->is_kept)
        b->relations[number] = r;
    else
        relation_close(r);
    return status;
}

static int add_files(duckdb_bind_info info, struct binding *b)
{
    size_t ignored = 0;
    pcol_error err = {0};
    for (size_t i = 0; i < b->paths.count; i++) {
        err = (pcol_error){0};
        if (add_file(b, i, &err) == PCOL_OK)
            continue;
        if (!b->ignores_errors) {
            bind_error(info, b->paths.list[i], &err);
            return 0;
        }
        b->is_ignored[i] = 1;
        ignored++;
    }
    if (ignored < b->paths.count)
        return 1;
    bind_error(info, b->paths.list[b->paths.count - 1], &err);
    return 0;
}

/* ---- result columns */

/* ENUMs are of one file, and short: DuckDB hashes the members of a type at every bind. */
static int name_type(struct binding *b, struct union_column *column, const struct stacks **stacks,
                     pcol_error *err)
{
    struct relation *r = b->paths.count == 1 ? b->relations[0] : NULL;
    if (column->shown != SHOWN_FUNCTIONS && column->shown != SHOWN_FILES)
        return PCOL_OK;
    pcol_status status = r == NULL ? PCOL_OK : relation_stacks(r, 0, stacks, err);
    if (status != PCOL_OK)
        return (int)status;
    uint32_t count = *stacks == NULL                    ? 0
                     : column->shown == SHOWN_FUNCTIONS ? (*stacks)->names.count
                                                        : (*stacks)->files.count;
    if (count == 0 || count > UINT16_MAX)
        column->shown = SHOWN_VARCHAR;
    return PCOL_OK;
}

static int add_results(duckdb_bind_info info, struct binding *b)
{
    const struct stacks *stacks = NULL;
    pcol_error err = {0};
    if (b->count == 0)
        return bind_message(info, b->paths.list[0], "the table has no columns");
    for (size_t i = 0; i < b->count; i++) {
        if (name_type(b, &b->columns[i], &stacks, &err) != PCOL_OK) {
            bind_error(info, b->paths.list[0], &err);
            return 0;
        }
        duckdb_logical_type type = shown_type(b->columns[i].shown, stacks);
        duckdb_bind_add_result_column(info, b->columns[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_cardinality(info, b->rows, b->selection.is_empty && !b->ignores_errors);
    return 1;
}

/* ---- binds */

/* Sets the model by its name, which it frees. */
static int set_model(duckdb_bind_info info, struct request *request, char *name)
{
    char text[160];
    int model = name == NULL ? (int)PCOL_MODEL_V2 : sql_model(name);
    if (model < 0) {
        snprintf(text, sizeof text, "pcol: unknown model %.60s; use v2, v1 or physical", name);
        duckdb_bind_set_error(info, text);
    }
    free(name);
    request->model = (pcol_model)(model < 0 ? 0 : model);
    return model >= 0;
}

/* The rows of pcol_top(): the names of the option --by, "label:KEY" and "meta:KEY" among them. */
static int set_by(duckdb_bind_info info, struct binding *b)
{
    static const char *const names[] = {"function", "file",    "line",   "srcline",
                                        "location", "mapping", "thread", "process",
                                        "source",   "label:",  "meta:"};
    static const pcol_by kinds[] = {PCOL_BY_FUNCTION, PCOL_BY_FILE,     PCOL_BY_LINE,
                                    PCOL_BY_SRCLINE,  PCOL_BY_LOCATION, PCOL_BY_MAPPING,
                                    PCOL_BY_THREAD,   PCOL_BY_PROCESS,  PCOL_BY_SOURCE,
                                    PCOL_BY_LABEL,    PCOL_BY_META};
    char *by = text_parameter(info, "by"), text[200];
    size_t count = sizeof names / sizeof *names, found = count;
    for (size_t i = 0; by != NULL && i < count; i++)
        if (i + 2 < count ? strcmp(by, names[i]) == 0
                          : strncmp(by, names[i], strlen(names[i])) == 0)
            found = i;
    b->request.top = (pcol_top_options)PCOL_INIT(pcol_top_options);
    b->request.selection = &b->selection;
    if (by != NULL && found < count)
        b->request.top.by = kinds[found];
    if (found < count && found + 2 >= count)
        b->request.top.label = b->label = strdup(by + strlen(names[found]));
    if (by != NULL && found == count) {
        snprintf(text, sizeof text,
                 "pcol_top: unknown by := %.60s; use function, file, line, srcline, location, "
                 "mapping, thread, process, source, label:KEY or meta:KEY",
                 by);
        duckdb_bind_set_error(info, text);
    }
    int is_known = by == NULL || found < count;
    free(by);
    return is_known;
}

/* Takes the table's name; NULL: the view has none. */
static void bind(duckdb_bind_info info, enum view view, char *table)
{
    struct binding *b = calloc(1, sizeof *b);
    if (b == NULL) {
        free(table);
        duckdb_bind_set_error(info, "out of memory");
        return;
    }
    b->request.view = view;
    b->request.table = table;
    b->request.has_path = bool_parameter(info, "profile", 0);
    b->ignores_errors = bool_parameter(info, "ignore_errors", 0);
    int is_bound = set_model(info, &b->request, text_parameter(info, "model")) &&
                   selection_from_parameters(info, &b->selection) &&
                   (view != VIEW_TOP || set_by(info, b)) && paths_from_parameter(info, &b->paths);
    if (is_bound) {
        b->is_kept = b->paths.count <= KEPT_FILES;
        b->relations = calloc(b->paths.count, sizeof *b->relations);
        b->is_ignored = calloc(b->paths.count, 1);
        if (b->relations == NULL || b->is_ignored == NULL) {
            duckdb_bind_set_error(info, "out of memory");
            is_bound = 0;
        }
    }
    if (is_bound && add_files(info, b) && add_results(info, b))
        duckdb_bind_set_bind_data(info, b, binding_free);
    else
        binding_free(b);
}

void bind_read(duckdb_bind_info info)
{
    char *table = text_parameter(info, "table_name");
    char *model = text_parameter(info, "model");
    if (table == NULL && model != NULL)
        table = strdup("samples");
    free(model);
    bind(info, table == NULL ? VIEW_SAMPLES : VIEW_TABLE, table);
}

void bind_scan(duckdb_bind_info info)
{
    duckdb_value value = duckdb_bind_get_parameter(info, 1);
    char *text = duckdb_is_null_value(value) ? NULL : duckdb_get_varchar(value);
    char *table = text == NULL ? NULL : strdup(text);
    duckdb_free(text);
    duckdb_destroy_value(&value);
    if (table == NULL)
        duckdb_bind_set_error(info, "pcol_scan: needs the name of a table");
    else
        bind(info, VIEW_TABLE, table);
}

void bind_stacks(duckdb_bind_info info)
{
    bind(info, VIEW_STACKS, NULL);
}

void bind_top(duckdb_bind_info info)
{
    bind(info, VIEW_TOP, NULL);
}
