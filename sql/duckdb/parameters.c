/*
 * parameters.c - parameters of table functions: paths, patterns of paths, selections
 *
 * Tests: sql/tests.
 */
#include "extension.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

DUCKDB_EXTENSION_EXTERN

void bind_error(duckdb_bind_info info, const char *path, const pcol_error *err)
{
    char text[SQL_MESSAGE_SIZE];
    duckdb_bind_set_error(info, sql_message(text, sizeof text, path, err));
}

int bind_message(duckdb_bind_info info, const char *path, const char *message)
{
    pcol_error err = {0};
    err.offset = err.inflated_offset = err.row = PCOL_POSITION_UNKNOWN;
    snprintf(err.message, sizeof err.message, "%s", message);
    bind_error(info, path, &err);
    return 0;
}

/* ---- paths */

void paths_free(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->list[i]);
    free(paths->list);
    *paths = (struct paths){NULL, 0};
}

static int add_path(struct paths *paths, const char *path)
{
    if ((paths->count & (paths->count - 1)) == 0) {
        size_t capacity = paths->count == 0 ? 1 : 2 * paths->count;
        char **grown = realloc(paths->list, capacity * sizeof *grown);
        if (grown == NULL)
            return 0;
        paths->list = grown;
    }
    paths->list[paths->count] = strdup(path);
    return paths->list[paths->count] != NULL && ++paths->count > 0;
}

/* A path, or the files that a pattern matches, by name. A file of that very name wins. */
static int add_pattern(duckdb_bind_info info, struct paths *paths, const char *path)
{
    glob_t found;
    if (strpbrk(path, "*?[") == NULL || access(path, F_OK) == 0)
        return add_path(paths, path) || bind_message(info, path, "out of memory");
    if (strstr(path, "**") != NULL)
        return bind_message(info, path, "** is not supported; use * for each directory, or a list");
    int code = glob(path, 0, NULL, &found);
    if (code == GLOB_NOMATCH)
        return bind_message(info, path, "no file matches");
    if (code != 0)
        return bind_message(info, path, "cannot read a directory of the pattern");
    int is_done = 1;
    for (size_t i = 0; i < found.gl_pathc && is_done; i++)
        is_done = add_path(paths, found.gl_pathv[i]);
    globfree(&found);
    return is_done || bind_message(info, path, "out of memory");
}

static duckdb_type type_of(duckdb_value value)
{
    /* Borrowed from the value. */
    return duckdb_get_type_id(duckdb_get_value_type(value));
}

static int add_value(duckdb_bind_info info, struct paths *paths, duckdb_value value)
{
    if (value == NULL || duckdb_is_null_value(value) || type_of(value) != DUCKDB_TYPE_VARCHAR) {
        duckdb_bind_set_error(info, "pcol: the first parameter must be a path, a pattern, or a "
                                    "list of these");
        return 0;
    }
    char *path = duckdb_get_varchar(value);
    int is_added = path != NULL && add_pattern(info, paths, path);
    duckdb_free(path);
    return is_added;
}

int paths_from_parameter(duckdb_bind_info info, struct paths *paths)
{
    duckdb_value value = duckdb_bind_get_parameter(info, 0);
    int is_read = 1;
    *paths = (struct paths){NULL, 0};
    if (value == NULL || duckdb_is_null_value(value) || type_of(value) != DUCKDB_TYPE_LIST)
        is_read = add_value(info, paths, value);
    else
        for (idx_t i = 0; i < duckdb_get_list_size(value) && is_read; i++) {
            duckdb_value child = duckdb_get_list_child(value, i);
            is_read = add_value(info, paths, child);
            duckdb_destroy_value(&child);
        }
    duckdb_destroy_value(&value);
    if (is_read && paths->count == 0) {
        duckdb_bind_set_error(info, "pcol: the list of paths is empty");
        is_read = 0;
    }
    if (!is_read)
        paths_free(paths);
    return is_read;
}

/* ---- named parameters */

static duckdb_value named(duckdb_bind_info info, const char *name)
{
    duckdb_value value = duckdb_bind_get_named_parameter(info, name);
    if (value != NULL && duckdb_is_null_value(value))
        duckdb_destroy_value(&value);
    return value;
}

char *text_parameter(duckdb_bind_info info, const char *name)
{
    duckdb_value value = named(info, name);
    if (value == NULL)
        return NULL;
    char *text = duckdb_get_varchar(value), *copy = text == NULL ? NULL : strdup(text);
    duckdb_free(text);
    duckdb_destroy_value(&value);
    return copy;
}

int bool_parameter(duckdb_bind_info info, const char *name, int otherwise)
{
    duckdb_value value = named(info, name);
    if (value == NULL)
        return otherwise;
    int given = duckdb_get_bool(value);
    duckdb_destroy_value(&value);
    return given;
}

/* Milliseconds as nanoseconds; 0: not given. */
static int time_parameter(duckdb_bind_info info, const char *name, int64_t *ns)
{
    duckdb_value value = named(info, name);
    if (value == NULL)
        return 0;
    double ms = duckdb_get_double(value) * 1e6;
    *ns = !(ms > -9.2e18) ? INT64_MIN : ms > 9.2e18 ? INT64_MAX : (int64_t)llround(ms);
    duckdb_destroy_value(&value);
    return 1;
}

static const char *const selection_names[] = {"sample_type", "focus",  "ignore",
                                              "thread",      "source", "label"};

void sql_add_selection_parameters(duckdb_table_function function)
{
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
    for (size_t i = 0; i < sizeof selection_names / sizeof *selection_names; i++)
        duckdb_table_function_add_named_parameter(function, selection_names[i], text);
    duckdb_table_function_add_named_parameter(function, "time_from", number);
    duckdb_table_function_add_named_parameter(function, "time_to", number);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&number);
}

/* Whether no other number of nanoseconds has the same number of milliseconds as a double. */
static int is_exact(int64_t ns, int64_t no_limit)
{
    const int64_t most = (int64_t)1 << 50;
    return ns == no_limit || (ns > -most && ns < most);
}

int selection_from_parameters(duckdb_bind_info info, struct owned_selection *o)
{
    pcol_selection *s = &o->selection;
    *o = (struct owned_selection){.selection = PCOL_INIT(pcol_selection)};
    for (size_t i = 0; i < 6; i++)
        o->texts[i] = text_parameter(info, selection_names[i]);
    s->sample_type = o->texts[0];
    s->focus = o->texts[1];
    s->ignore = o->texts[2];
    s->thread = o->texts[3];
    s->source = o->texts[4];
    o->labels[0] = o->texts[5];
    if (o->texts[5] != NULL) {
        s->labels = o->labels;
        s->label_count = 1;
    }
    s->time_from_ns = INT64_MIN;
    s->time_to_ns = INT64_MAX;
    s->has_time = time_parameter(info, "time_from", &s->time_from_ns);
    s->has_time |= time_parameter(info, "time_to", &s->time_to_ns);
    o->is_empty = !s->has_time;
    o->is_time = is_exact(s->time_from_ns, INT64_MIN) && is_exact(s->time_to_ns, INT64_MAX);
    for (size_t i = 0; i < 6; i++) {
        o->is_empty &= o->texts[i] == NULL;
        o->is_time &= o->texts[i] == NULL;
    }
    o->is_time &= s->has_time;
    return 1;
}

void selection_free(struct owned_selection *selection)
{
    for (size_t i = 0; i < 6; i++)
        free(selection->texts[i]);
}
