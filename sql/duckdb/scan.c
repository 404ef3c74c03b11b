/*
 * scan.c - execution of read_pcol(), pcol_scan(), pcol_stacks() and pcol_top()
 *
 * Threads take units, a part of a file each, from a counter. A unit has a scan of its own, with
 * batches as large as vectors. A selection, or ignored errors, make a unit of each file: the
 * selection is worked out once, and errors precede the first row. Tests: sql/tests.
 */
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

enum { UNIT_ROWS = 1 << 17, MOST_PARTS = 1024, MOST_FRAMES = 1 << 26 };

struct unit {
    size_t file;
    uint64_t first, count;
};

struct execution {
    struct unit *units;
    size_t unit_count;
    atomic_size_t next;
    idx_t *columns; /* of the union, by output column */
    idx_t column_count;
};

/* The reader of one thread. */
struct scan {
    struct relation *relation;
    int is_own; /* the relation is closed at the end of the unit */
    const struct stacks *stacks;
    const struct column **from; /* of each output column; NULL: the file lacks it */
    uint32_t *slots;            /* of each output column: its place in a batch */
    uint32_t stack_slot;
    pcol_scan *scan;
    pcol_batch batch;
    size_t capacity; /* rows of a vector */
    int64_t *i64;
    double *f64;
    uint8_t *valid;
    uint32_t *codes;
    uint64_t *rows; /* of stacks; UINT64_MAX: none */
    const pcol_str **names;
    size_t name_capacity;
};

/* ---- starting */

static void free_execution(void *pointer)
{
    struct execution *e = pointer;
    free(e->units);
    free(e->columns);
    free(e);
}

static int add_unit(struct execution *e, struct unit unit)
{
    if ((e->unit_count & (e->unit_count - 1)) == 0) {
        size_t capacity = e->unit_count == 0 ? 1 : 2 * e->unit_count;
        struct unit *grown = realloc(e->units, capacity * sizeof *grown);
        if (grown == NULL)
            return 0;
        e->units = grown;
    }
    e->units[e->unit_count++] = unit;
    return 1;
}

static pcol_status split_file(const struct binding *b, struct execution *e, size_t file,
                              pcol_error *err)
{
    uint64_t bounds[MOST_PARTS + 1];
    const struct relation *r = b->relations[file];
    int is_whole =
        r == NULL || b->ignores_errors || (!b->selection.is_empty && !b->selection.is_time);
    uint64_t rows = is_whole ? 0 : pcol_table_rows(r->table), parts = rows / UNIT_ROWS;
    if (is_whole || parts < 2)
        return add_unit(e, (struct unit){file, 0, 0})
                   ? PCOL_OK
                   : pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    parts = parts > MOST_PARTS ? MOST_PARTS : parts;
    pcol_status status = pcol_table_split(r->table, (uint32_t)parts, bounds, err);
    for (uint64_t i = 0; i < parts && status == PCOL_OK; i++)
        if (bounds[i] < bounds[i + 1] &&
            !add_unit(e, (struct unit){file, bounds[i], bounds[i + 1] - bounds[i]}))
            status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    return status;
}

static void init(duckdb_init_info info)
{
    const struct binding *b = duckdb_init_get_bind_data(info);
    struct execution *e = calloc(1, sizeof *e);
    pcol_error err = {0};
    pcol_status status = PCOL_OK;
    char text[SQL_MESSAGE_SIZE];
    size_t file = 0;
    if (e == NULL) {
        duckdb_init_set_error(info, "out of memory");
        return;
    }
    e->column_count = duckdb_init_get_column_count(info);
    e->columns = calloc(e->column_count + 1, sizeof *e->columns);
    for (idx_t i = 0; i < e->column_count && e->columns != NULL; i++)
        e->columns[i] = duckdb_init_get_column_index(info, i);
    for (; file < b->paths.count && status == PCOL_OK && e->columns != NULL; file++)
        if (!b->is_ignored[file])
            status = split_file(b, e, file, &err);
    if (status != PCOL_OK || e->columns == NULL) {
        duckdb_init_set_error(info, status == PCOL_OK ? "out of memory"
                                                      : sql_message(text, sizeof text,
                                                                    b->paths.list[file - 1], &err));
        free_execution(e);
        return;
    }
    duckdb_init_set_max_threads(info, e->unit_count < 1 ? 1 : e->unit_count);
    duckdb_init_set_init_data(info, e, free_execution);
}

static void end_unit(struct scan *s)
{
    pcol_scan_free(s->scan);
    s->scan = NULL;
    if (s->is_own)
        relation_close(s->relation);
    s->relation = NULL;
    s->stacks = NULL;
}

static void free_scan(void *pointer)
{
    struct scan *s = pointer;
    end_unit(s);
    free(s->from);
    free(s->slots);
    free(s->i64);
    free(s->f64);
    free(s->valid);
    free(s->codes);
    free(s->rows);
    free(s->names);
    free(s);
}

static void init_thread(duckdb_init_info info)
{
    struct scan *s = calloc(1, sizeof *s);
    idx_t count = duckdb_init_get_column_count(info);
    if (s != NULL) {
        s->capacity = duckdb_vector_size();
        s->from = calloc(count + 1, sizeof *s->from);
        s->slots = calloc(count + 1, sizeof *s->slots);
        s->i64 = malloc(s->capacity * sizeof *s->i64);
        s->f64 = malloc(s->capacity * sizeof *s->f64);
        s->valid = malloc(s->capacity);
        s->codes = malloc(s->capacity * sizeof *s->codes);
        s->rows = malloc(s->capacity * sizeof *s->rows);
    }
    if (s == NULL || s->from == NULL || s->slots == NULL || s->i64 == NULL || s->f64 == NULL ||
        s->valid == NULL || s->codes == NULL || s->rows == NULL) {
        if (s != NULL)
            free_scan(s);
        duckdb_init_set_error(info, "out of memory");
        return;
    }
    duckdb_init_set_init_data(info, s, free_scan);
}

/* ---- units */

static int is_of_stack(const struct column *column)
{
    return column != NULL && column->origin >= FROM_STACK && column->origin <= FROM_FRAMES;
}

/* A range of time is a condition, which skips blocks of rows, where samples have no duration: one
 * that has a duration is selected by what it overlaps. */
static void select_rows(const struct binding *b, const struct relation *r,
                        pcol_scan_options *options, pcol_condition *where)
{
    const pcol_selection *s = &b->selection.selection;
    uint32_t column;
    if (b->selection.is_empty || b->request.view == VIEW_TOP)
        return;
    if (!b->selection.is_time || b->request.view != VIEW_SAMPLES ||
        pcol_table_column_by_name(r->table, "duration", NULL) != NULL ||
        pcol_table_column_by_name(r->table, "time", &column) == NULL) {
        options->selection = s;
        return;
    }
    options->where = where;
    options->where_count = 2;
    where[0] = (pcol_condition){.column = column, .op = PCOL_OP_GE, .type = PCOL_F64};
    where[1] = (pcol_condition){.column = column, .op = PCOL_OP_LT, .type = PCOL_F64};
    where[0].value.f64 = (double)s->time_from_ns / 1e6;
    where[1].value.f64 = (double)s->time_to_ns / 1e6;
}

static pcol_status start_scan(const struct binding *b, const struct execution *e, struct scan *s,
                              const struct unit *unit, pcol_error *err)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    uint32_t *columns = malloc((e->column_count + 1) * sizeof *columns);
    int has_stacks = 0;
    if (columns == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (idx_t i = 0; i < e->column_count; i++) {
        idx_t column = e->columns[i];
        s->from[i] =
            column < b->count ? relation_column(s->relation, b->columns[column].name) : NULL;
        has_stacks |= is_of_stack(s->from[i]);
        if (s->from[i] == NULL || s->from[i]->origin != FROM_TABLE)
            continue;
        s->slots[i] = options.column_count;
        columns[options.column_count++] = s->from[i]->number;
    }
    s->stack_slot = PCOL_NONE;
    if (has_stacks && s->relation->stack_column != PCOL_NONE) {
        s->stack_slot = options.column_count;
        columns[options.column_count++] = s->relation->stack_column;
    }
    options.columns = columns;
    options.flags = PCOL_SCAN_CODES;
    options.batch_rows = (uint32_t)s->capacity;
    options.first_row = unit->first;
    options.row_count = unit->count;
    pcol_condition where[2];
    select_rows(b, s->relation, &options, where);
    pcol_status status = has_stacks ? relation_stacks(s->relation, 1, &s->stacks, err) : PCOL_OK;
    if (status == PCOL_OK)
        status = pcol_scan_new(s->relation->table, &options, &s->scan, err);
    free(columns);
    return status;
}

static pcol_status start_unit(const struct binding *b, const struct execution *e, struct scan *s,
                              const struct unit *unit, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    s->is_own = b->relations[unit->file] == NULL;
    if (s->is_own)
        status = relation_open(b->paths.list[unit->file], &b->request, &s->relation, err);
    else
        s->relation = b->relations[unit->file];
    if (status == PCOL_OK)
        status = pcol_file_intact(s->relation->file, err);
    if (status == PCOL_OK)
        status = start_scan(b, e, s, unit, err);
    if (status != PCOL_OK && s->relation != NULL)
        status = relation_failed(s->relation, status, err);
    if (status != PCOL_OK)
        end_unit(s);
    return status;
}

/* ---- columns that the scan does not read */

/* Rows of samples in runs, since cells of the physical table are read by range; @values are as
 * wide for both types. */
static pcol_status read_values(struct scan *s, const struct column *from, void *values,
                               pcol_error *err)
{
    const pcol_column *column = pcol_table_column(s->relation->physical, from->number);
    int64_t *i64 = values;
    double *f64 = values;
    pcol_status status = PCOL_OK;
    for (size_t i = 0, end; i < s->batch.rows && status == PCOL_OK; i = end) {
        const uint64_t *rows = s->batch.row_numbers;
        uint64_t first = rows == NULL ? s->batch.first_row : rows[i];
        end = rows == NULL ? s->batch.rows : i + 1;
        while (rows != NULL && end < s->batch.rows && rows[end] == rows[end - 1] + 1)
            end++;
        if (from->type == PCOL_F64)
            status = pcol_column_read_f64(column, first, end - i, f64 + i, s->valid + i, err);
        else
            status = pcol_column_read_i64(column, first, end - i, i64 + i, s->valid + i, err);
    }
    return status;
}

static pcol_status put_values(struct scan *s, const struct target *t, const struct column *from,
                              int *is_put, pcol_error *err)
{
    pcol_cells cells = {.type = from->type, .i64 = s->i64, .f64 = s->f64, .valid = s->valid};
    if (from->is_constant) {
        target_constant(t, from->constant, s->batch.rows);
        return PCOL_OK;
    }
    int is_direct = target_has_layout(t, from->type);
    void *own = from->type == PCOL_F64 ? (void *)s->f64 : s->i64;
    pcol_status status = read_values(s, from, is_direct ? t->data : own, err);
    if (status != PCOL_OK)
        return status;
    if (!is_direct)
        *is_put = target_cells(t, &cells, s->batch.rows);
    else if (from->is_nullable)
        target_nulls(t, s->valid, s->batch.rows);
    return PCOL_OK;
}

static void find_stack_rows(struct scan *s)
{
    const pcol_cells *cells = s->stack_slot == PCOL_NONE ? NULL : &s->batch.columns[s->stack_slot];
    const uint64_t *numbers = s->batch.row_numbers;
    size_t rows = s->batch.rows;
    if (s->relation->is_of_stacks)
        for (size_t i = 0; i < rows; i++)
            s->rows[i] = numbers != NULL ? numbers[i] : s->batch.first_row + i;
    else
        for (size_t i = 0; i < rows; i++)
            s->rows[i] = cells != NULL && cells->valid[i] ? (uint64_t)cells->i64[i] : UINT64_MAX;
}

static uint32_t leaf_of(const struct scan *s, size_t row)
{
    return s->rows[row] < s->stacks->stack_count ? s->stacks->leaves[s->rows[row]] : PCOL_NONE;
}

/* @without: the code where a stack has no frame. */
static void put_names(struct scan *s, const struct target *t, const struct dictionary *d,
                      uint32_t without)
{
    size_t rows = s->batch.rows;
    for (size_t i = 0; i < rows; i++) {
        uint32_t leaf = leaf_of(s, i);
        s->codes[i] = leaf != PCOL_NONE          ? d->codes[leaf]
                      : s->rows[i] == UINT64_MAX ? PCOL_NONE
                                                 : without;
    }
    if (t->shown == SHOWN_FUNCTIONS || t->shown == SHOWN_FILES)
        target_codes(t, s->codes, rows, d->count);
    else
        for (size_t i = 0; i < rows; i++)
            if (s->codes[i] == PCOL_NONE)
                target_null(t, i);
            else
                target_text(t, i, d->texts[s->codes[i]]);
}

static void put_lines(struct scan *s, const struct target *t)
{
    for (size_t i = 0; i < s->batch.rows; i++) {
        uint32_t leaf = leaf_of(s, i);
        if (leaf == PCOL_NONE || !s->stacks->has_line[leaf])
            target_null(t, i);
        else
            target_i64(t, i, s->stacks->lines[leaf]);
    }
}

/* Depths, and lists of frames: their sizes first, for the child is allocated once. */
static pcol_status put_frames(struct scan *s, const struct target *t, pcol_error *err)
{
    duckdb_list_entry *entries = t->data;
    size_t total = 0;
    for (size_t i = 0; i < s->batch.rows; i++) {
        size_t depth = stacks_frames(s->stacks, s->rows[i], NULL, 0);
        entries[i] = (duckdb_list_entry){total, depth};
        total += depth;
    }
    if (total > MOST_FRAMES)
        return pcol_error_set(
            err, PCOL_E_LIMIT, 0,
            "the frames of %zu rows are more than 2^26; leave out the column frames",
            s->batch.rows);
    if (total > s->name_capacity) {
        const pcol_str **grown = realloc(s->names, 2 * total * sizeof *grown);
        if (grown == NULL)
            return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
        s->names = grown;
        s->name_capacity = 2 * total;
    }
    if (duckdb_list_vector_reserve(t->vector, total) != DuckDBSuccess ||
        duckdb_list_vector_set_size(t->vector, total) != DuckDBSuccess)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    duckdb_vector child = duckdb_list_vector_get_child(t->vector);
    struct target texts = {child, duckdb_vector_get_data(child), SHOWN_VARCHAR, t->pool,
                           t->is_copied};
    for (size_t i = 0; i < s->batch.rows; i++) {
        uint64_t first = entries[i].offset, depth = entries[i].length;
        (void)stacks_frames(s->stacks, s->rows[i], s->names, depth);
        for (uint64_t k = 0; k < depth; k++)
            target_text(&texts, first + k, *s->names[k]);
        if (s->rows[i] == UINT64_MAX)
            target_null(t, i);
    }
    return PCOL_OK;
}

static void put_stack_numbers(struct scan *s, const struct target *t, enum origin origin)
{
    for (size_t i = 0; i < s->batch.rows; i++)
        if (s->rows[i] == UINT64_MAX)
            target_null(t, i);
        else
            target_i64(t, i,
                       origin == FROM_STACK
                           ? (int64_t)s->rows[i]
                           : (int64_t)stacks_frames(s->stacks, s->rows[i], NULL, 0));
}

/* ---- chunks */

static pcol_status put_column(struct scan *s, const struct target *t, idx_t output, pcol_error *err)
{
    const struct column *from = s->from[output];
    pcol_status status = PCOL_OK;
    int is_put = 1;
    switch (from->origin) {
    case FROM_TABLE:
        is_put = target_cells(t, &s->batch.columns[s->slots[output]], s->batch.rows);
        break;
    case FROM_VALUES:
        status = put_values(s, t, from, &is_put, err);
        break;
    case FROM_STACK:
    case FROM_DEPTH:
        put_stack_numbers(s, t, from->origin);
        break;
    case FROM_FUNCTION:
        put_names(s, t, &s->stacks->names, s->stacks->no_stack);
        break;
    case FROM_FILENAME:
        put_names(s, t, &s->stacks->files, PCOL_NONE);
        break;
    case FROM_LINE:
        put_lines(s, t);
        break;
    case FROM_FRAMES:
        status = put_frames(s, t, err);
        break;
    case FROM_PATH:
        for (size_t i = 0; i < s->batch.rows; i++)
            target_text(t, i, (pcol_str){s->relation->path, strlen(s->relation->path)});
        break;
    }
    if (!is_put)
        status = pcol_error_set(err, PCOL_E_IO, 0,
                                "column %s has another type than when the query began", from->name);
    return status;
}

static pcol_status put_chunk(const struct binding *b, const struct execution *e, struct scan *s,
                             duckdb_data_chunk chunk, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    if (s->stacks != NULL || s->relation->is_of_stacks)
        find_stack_rows(s);
    for (idx_t i = 0; i < e->column_count && status == PCOL_OK; i++) {
        if (e->columns[i] >= b->count)
            continue; /* the row id that DuckDB requests where it needs no column */
        struct target t =
            target_of(chunk, i, b->columns[e->columns[i]].shown, &s->relation->pool, s->is_own);
        if (s->from[i] != NULL)
            status = put_column(s, &t, i, err);
        else
            for (size_t row = 0; row < s->batch.rows; row++)
                target_null(&t, row);
    }
    return status;
}

/* The next batch of this thread; s->relation is NULL at the end. Reads notice a file that was cut;
 * one that was written to is noticed at the begin and at the end of each unit. */
static pcol_status next_batch(const struct binding *b, struct execution *e, struct scan *s,
                              size_t *file, pcol_error *err)
{
    for (;;) {
        if (s->relation == NULL) {
            size_t number = atomic_fetch_add(&e->next, 1);
            if (number >= e->unit_count)
                return PCOL_OK;
            *file = e->units[number].file;
            pcol_status status = start_unit(b, e, s, &e->units[number], err);
            int is_about_file = status != PCOL_E_NO_MEMORY && status != PCOL_E_ARGUMENT;
            if (status != PCOL_OK && is_about_file && b->ignores_errors)
                continue;
            if (status != PCOL_OK)
                return status;
        }
        s->batch = (pcol_batch)PCOL_INIT(pcol_batch);
        pcol_status status = pcol_scan_next(s->scan, &s->batch, err);
        if (status == PCOL_OK && s->batch.rows == 0)
            status = pcol_file_intact(s->relation->file, err);
        if (status != PCOL_OK || s->batch.rows > 0)
            return status;
        end_unit(s);
    }
}

static void execute(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const struct binding *b = duckdb_function_get_bind_data(info);
    struct execution *e = duckdb_function_get_init_data(info);
    struct scan *s = duckdb_function_get_local_init_data(info);
    pcol_error err = {0};
    char text[SQL_MESSAGE_SIZE];
    size_t file = 0;
    pcol_status status = next_batch(b, e, s, &file, &err);
    if (status == PCOL_OK && s->relation != NULL)
        status = put_chunk(b, e, s, chunk, &err);
    if (status != PCOL_OK) {
        const char *path = s->relation != NULL ? s->relation->path : b->paths.list[file];
        if (s->relation != NULL)
            (void)relation_failed(s->relation, status, &err);
        duckdb_function_set_error(info, sql_message(text, sizeof text, path, &err));
        return;
    }
    duckdb_data_chunk_set_size(chunk, s->relation == NULL ? 0 : s->batch.rows);
}

/* ---- registering */

enum { HAS_TABLE_NAME = 1, HAS_TABLE = 2, HAS_SELECTION = 4, HAS_BY = 8 };

static void add_function(duckdb_connection connection, const char *name,
                         duckdb_table_function_bind_t bind, unsigned flags)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type flag = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_table_function_set_name(function, name);
    duckdb_table_function_add_parameter(function, any);
    if (flags & HAS_TABLE)
        duckdb_table_function_add_parameter(function, text);
    if (flags & HAS_TABLE_NAME)
        duckdb_table_function_add_named_parameter(function, "table_name", text);
    if (flags & (HAS_TABLE | HAS_TABLE_NAME))
        duckdb_table_function_add_named_parameter(function, "model", text);
    if (flags & HAS_BY)
        duckdb_table_function_add_named_parameter(function, "by", text);
    if (flags & HAS_SELECTION)
        sql_add_selection_parameters(function);
    duckdb_table_function_add_named_parameter(function, "profile", flag);
    duckdb_table_function_add_named_parameter(function, "ignore_errors", flag);
    duckdb_table_function_set_bind(function, bind);
    duckdb_table_function_set_init(function, init);
    duckdb_table_function_set_local_init(function, init_thread);
    duckdb_table_function_set_function(function, execute);
    duckdb_table_function_supports_projection_pushdown(function, true);
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&flag);
    sql_register_function(connection, &function);
}

void scan_register(duckdb_connection connection)
{
    add_function(connection, "read_pcol", bind_read, HAS_TABLE_NAME | HAS_SELECTION);
    add_function(connection, "pcol_scan", bind_scan, HAS_TABLE | HAS_SELECTION);
    add_function(connection, "pcol_stacks", bind_stacks, 0);
    add_function(connection, "pcol_top", bind_top, HAS_BY | HAS_SELECTION);
}
