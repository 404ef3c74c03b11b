/*
 * cursor.c - rows of a virtual table: a scan under conditions, or one row that is read by cell
 *
 * The row id is the row number plus 1, as ids of the data models are. One row is read by cells if
 * the row id or the key of the table is given: joins look up one row each. Tests: sql/tests.
 */
#include "sqlite.h"

#include <stdlib.h>

enum mode { AT_END, ONE_ROW, SCANNING };

struct cursor {
    sqlite3_vtab_cursor base;
    enum mode mode;
    uint64_t row;     /* ONE_ROW */
    unsigned lookups; /* ended; a look at the file costs as much as several of them */
    pcol_scan *scan;
    pcol_batch batch;
    size_t at;       /* row of the batch */
    uint32_t *slots; /* for each column of the table its place in batches; PCOL_NONE */
    struct interrupt interrupt;
};

/* The selection of the arguments of xFilter. */
struct selected {
    uint64_t first, end;   /* rows */
    pcol_condition *where; /* `few`, or from malloc() */
    pcol_condition few[8];
    size_t where_count;
    int is_empty;
    int has_row; /* `first` is the only row that can satisfy the constraints */
};

static struct table *table_of(struct cursor *c)
{
    return (struct table *)c->base.pVtab;
}

/* Sets the message of the table; returns the code. */
static int fail(struct cursor *c, const pcol_error *err)
{
    struct table *t = table_of(c);
    c->mode = AT_END;
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg =
        err->status == PCOL_E_CANCELLED ? NULL : error_text(files_path(t->opened), err);
    return error_code(err->status);
}

int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
    struct table *t = (struct table *)base;
    struct cursor *c = calloc(1, sizeof *c);
    if (c == NULL || (c->slots = malloc((t->count + 1) * sizeof *c->slots)) == NULL) {
        free(c);
        return SQLITE_NOMEM;
    }
    interrupt_init(&c->interrupt, t->db);
    *cursor = &c->base;
    return SQLITE_OK;
}

static void end_scan(struct cursor *c)
{
    pcol_scan_free(c->scan);
    c->scan = NULL;
    c->mode = AT_END;
}

int cursor_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    end_scan(c);
    interrupt_end(&c->interrupt);
    free(c->slots);
    free(c);
    return SQLITE_OK;
}

/* ---- what is selected */

static pcol_operator operator_of(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_LT:
        return PCOL_OP_LT;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return PCOL_OP_LE;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return PCOL_OP_GT;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return PCOL_OP_GE;
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
        return PCOL_OP_IS_NULL;
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
        return PCOL_OP_NOT_NULL;
    default:
        return PCOL_OP_EQ;
    }
}

/* Rows from a comparison of the row id with an integer. */
static void restrict_rows(struct selected *s, int op, int64_t id)
{
    uint64_t below = id < 1 ? 0 : (uint64_t)id - 1; /* rows with a smaller id */
    uint64_t through = id < 1 ? 0 : (uint64_t)id;   /* rows with this id or a smaller one */
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE)
        s->first = s->first > below ? s->first : below;
    if (op == SQLITE_INDEX_CONSTRAINT_GT)
        s->first = s->first > through ? s->first : through;
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE)
        s->end = s->end < through ? s->end : through;
    if (op == SQLITE_INDEX_CONSTRAINT_LT)
        s->end = s->end < below ? s->end : below;
}

/* Integers up to 2^53 on both sides compare in SQLite as they do here. Values of u64 beyond
 * 2^63 - 1 are texts in SQLite, which may be converted to doubles. */
static int is_comparable(pcol_type type, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return type != PCOL_STRING && type != PCOL_BYTES;
    case SQLITE_FLOAT:
        return type == PCOL_F64 ||
               ((type == PCOL_I64 || type == PCOL_U32 || type == PCOL_BOOL || type == PCOL_U64) &&
                sqlite3_value_double(value) < 9e15 && sqlite3_value_double(value) > -9e15);
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        return type == PCOL_STRING || type == PCOL_BYTES;
    default:
        return 0;
    }
}

static void add_condition(const struct table *t, struct selected *s, int column, int op,
                          sqlite3_value *value)
{
    pcol_condition *where = &s->where[s->where_count];
    *where = (pcol_condition){.column = (uint32_t)column, .op = (uint32_t)operator_of(op)};
    if (where->op == PCOL_OP_IS_NULL || where->op == PCOL_OP_NOT_NULL) {
        s->where_count++;
        return;
    }
    if (!is_comparable(t->types[column], value))
        return;
    s->where_count++;
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        where->type = PCOL_I64;
        where->value.i64 = sqlite3_value_int64(value);
    } else if (sqlite3_value_type(value) == SQLITE_FLOAT) {
        where->type = PCOL_F64;
        where->value.f64 = sqlite3_value_double(value);
    } else {
        const void *data = sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_text(value)
                                                                    : sqlite3_value_blob(value);
        where->type = PCOL_STRING;
        where->value.str.size = (size_t)sqlite3_value_bytes(value);
        where->value.str.data = data == NULL ? "" : data;
    }
}

/* The row whose key is @id, if it is where rows of ids or of row numbers are. */
static pcol_status find_key_row(struct table *t, int64_t id, uint64_t *row, pcol_error *err)
{
    uint64_t rows = pcol_table_rows(t->table);
    *row = rows;
    if (id < 0 || (uint64_t)id > rows)
        return PCOL_OK;
    for (uint64_t back = 0; back < 2; back++) {
        int64_t key;
        uint8_t valid;
        uint64_t candidate = (uint64_t)id - back;
        if (candidate >= rows)
            continue;
        pcol_status status = lookup_i64(t, t->key, candidate, &key, &valid, err);
        if (status != PCOL_OK)
            return status;
        if (valid && key == id)
            *row = candidate;
    }
    return PCOL_OK;
}

static pcol_status select_row(struct table *t, struct selected *s, int column, int op,
                              sqlite3_value *value, pcol_error *err)
{
    uint64_t row;
    if (op != SQLITE_INDEX_CONSTRAINT_EQ || column < 0 || (uint32_t)column != t->key ||
        sqlite3_value_type(value) != SQLITE_INTEGER)
        return PCOL_OK;
    pcol_status status = find_key_row(t, sqlite3_value_int64(value), &row, err);
    if (status == PCOL_OK && row < pcol_table_rows(t->table)) {
        s->first = s->first > row ? s->first : row;
        s->end = s->end < row + 1 ? s->end : row + 1;
    }
    return status;
}

static pcol_status select_rows(struct table *t, const char *plan, int count, sqlite3_value **values,
                               struct selected *s, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    int column, op;
    for (int i = 0; i < count && status == PCOL_OK && plan_next(&plan, &column, &op); i++) {
        int is_test =
            op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
        if (!is_test && sqlite3_value_type(values[i]) == SQLITE_NULL)
            s->is_empty = 1;
        else if (column >= 0 && (uint32_t)column < t->count) {
            add_condition(t, s, column, op, values[i]);
            status = select_row(t, s, column, op, values[i], err);
        } else if (sqlite3_value_type(values[i]) == SQLITE_INTEGER)
            restrict_rows(s, op, sqlite3_value_int64(values[i]));
    }
    s->is_empty |= s->first >= s->end;
    s->has_row = !s->is_empty && s->end - s->first == 1;
    return status;
}

/* ---- reading */

static int is_used(unsigned long long mask, uint32_t column)
{
    return (int)(mask >> (column < 63 ? column : 63) & 1);
}

/* The next batch, or the end: then the file must still be what it was. */
static int next_batch(struct cursor *c)
{
    pcol_error err = {0};
    c->at = 0;
    c->batch = (pcol_batch)PCOL_INIT(pcol_batch);
    pcol_status status = pcol_scan_next(c->scan, &c->batch, &err);
    if (status == PCOL_OK)
        status = pcol_file_intact(files_file(table_of(c)->opened), &err);
    if (status != PCOL_OK)
        return fail(c, &err);
    if (c->batch.rows == 0)
        c->mode = AT_END;
    return SQLITE_OK;
}

static int start_scan(struct cursor *c, unsigned long long mask, const struct selected *s)
{
    const struct table *t = table_of(c);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_error err = {0};
    uint32_t *columns = malloc((t->count + 1) * sizeof *columns);
    if (columns == NULL)
        return SQLITE_NOMEM;
    for (uint32_t i = 0; i < t->count; i++) {
        c->slots[i] = is_used(mask, i) ? options.column_count : PCOL_NONE;
        if (c->slots[i] != PCOL_NONE)
            columns[options.column_count++] = i;
    }
    options.columns = columns;
    options.first_row = s->first;
    options.row_count = s->end - s->first;
    options.where = s->where;
    options.where_count = s->where_count;
    options.control = &c->interrupt.control;
    pcol_status status = pcol_scan_new(t->table, &options, &c->scan, &err);
    free(columns);
    if (status != PCOL_OK)
        return fail(c, &err);
    c->mode = SCANNING;
    return next_batch(c);
}

/* The row of PLAN_ROW_ID and PLAN_KEY; 0: the value needs a scan. */
static int find_row(struct cursor *c, int number, sqlite3_value *value, int *code)
{
    struct table *t = table_of(c);
    uint64_t rows = pcol_table_rows(t->table);
    pcol_error err; /* large; filled by what fails */
    if (sqlite3_value_type(value) != SQLITE_INTEGER)
        return 0;
    int64_t id = sqlite3_value_int64(value);
    *code = SQLITE_OK;
    c->row = id < 1 ? rows : (uint64_t)id - 1;
    if (number == PLAN_KEY && find_key_row(t, id, &c->row, &err) != PCOL_OK)
        *code = fail(c, &err);
    else if (c->row < rows)
        c->mode = ONE_ROW;
    return number == PLAN_ROW_ID || c->mode == ONE_ROW || *code != SQLITE_OK;
}

/* Rows that any constraints select. */
static int filter_any(struct cursor *c, const char *plan, int count, sqlite3_value **values)
{
    struct table *t = table_of(c);
    struct selected s;
    pcol_error err = {0};
    char *rest;
    int code = SQLITE_OK;
    unsigned long long mask = strtoull(plan, &rest, 16);
    s.first = 0;
    s.end = pcol_table_rows(t->table);
    s.where_count = 0;
    s.is_empty = s.has_row = 0;
    s.where = count <= 8 ? s.few : malloc((size_t)count * sizeof *s.where);
    if (s.where == NULL)
        return SQLITE_NOMEM;
    if (select_rows(t, rest, count, values, &s, &err) != PCOL_OK)
        code = fail(c, &err);
    else if (s.has_row) {
        c->mode = ONE_ROW; /* SQLite evaluates the other conditions */
        c->row = s.first;
    } else if (!s.is_empty)
        code = start_scan(c, mask, &s);
    if (s.where != s.few)
        free(s.where);
    return code;
}

int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
                  sqlite3_value **values)
{
    struct cursor *c = (struct cursor *)base;
    int code = SQLITE_OK;
    if (c->scan != NULL)
        end_scan(c);
    c->mode = AT_END;
    if (number != PLAN_ANY && find_row(c, number, values[0], &code))
        return code;
    return filter_any(c, plan, count, values);
}

int cursor_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    pcol_error err; /* large; filled by what fails */
    if (c->mode == SCANNING && ++c->at < c->batch.rows)
        return SQLITE_OK;
    if (c->mode == SCANNING)
        return next_batch(c);
    c->mode = AT_END;
    if (++c->lookups % 1024 == 0 &&
        pcol_file_intact(files_file(table_of(c)->opened), &err) != PCOL_OK)
        return fail(c, &err);
    return SQLITE_OK;
}

int cursor_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->mode == AT_END;
}

static uint64_t current_row(const struct cursor *c)
{
    if (c->mode == ONE_ROW)
        return c->row;
    return c->batch.row_numbers != NULL ? c->batch.row_numbers[c->at] : c->batch.first_row + c->at;
}

int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)(current_row((struct cursor *)base) + 1);
    return SQLITE_OK;
}

/* ---- values */

static void give_number(sqlite3_context *context, pcol_type type, int64_t value)
{
    char digits[24];
    if (type != PCOL_U64 || value >= 0) {
        sqlite3_result_int64(context, value);
        return;
    }
    sqlite3_snprintf((int)sizeof digits, digits, "%llu", (unsigned long long)value);
    sqlite3_result_text(context, digits, -1, SQLITE_TRANSIENT);
}

/* A text with NUL, or that is not UTF-8, is a blob. */
static void give_text(sqlite3_context *context, pcol_str text, int is_text,
                      sqlite3_destructor_type destructor)
{
    const char *data = text.data == NULL ? "" : text.data;
    if (is_text)
        sqlite3_result_text64(context, data, text.size, destructor, SQLITE_UTF8);
    else
        sqlite3_result_blob64(context, data, text.size, destructor);
}

/* SQLite copies it: memory of the file changes if that is cut. */
static void give_mapped(sqlite3_context *context, pcol_str text)
{
    int has_nul;
    int is_utf8 = sql_is_utf8(text, &has_nul);
    give_text(context, text, is_utf8 && !has_nul, SQLITE_TRANSIENT);
}

/* Stays where it is until the file is closed, which no statement outlives. */
static void give_pooled(sqlite3_context *context, const struct sql_pool *pool, pcol_str text)
{
    int has_nul;
    int is_text = (pool->is_utf8 && !pool->has_nul) || (sql_is_utf8(text, &has_nul) && !has_nul);
    give_text(context, text, is_text, SQLITE_STATIC);
}

static void give_list(sqlite3_context *context, const pcol_cells *cells, size_t row)
{
    sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendall(out, "[");
    for (uint64_t i = cells->list[row]; i < cells->list[row + 1]; i++)
        sqlite3_str_appendf(out, i == cells->list[row] ? "%lld" : ",%lld",
                            (long long)cells->list_values[i]);
    sqlite3_str_appendall(out, "]");
    int size = sqlite3_str_length(out);
    char *text = sqlite3_str_finish(out);
    if (text == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text64(context, text, (sqlite3_uint64)size, sqlite3_free, SQLITE_UTF8);
}

static void give_cell(sqlite3_context *context, const pcol_cells *cells, size_t row)
{
    if (!cells->valid[row])
        return;
    switch (cells->type) {
    case PCOL_I64:
    case PCOL_U64:
    case PCOL_U32:
    case PCOL_BOOL:
        give_number(context, cells->type, cells->i64[row]);
        break;
    case PCOL_F64:
        sqlite3_result_double(context, cells->f64[row]);
        break;
    case PCOL_STRING:
    case PCOL_BYTES:
        give_mapped(context, cells->str[row]);
        break;
    case PCOL_LIST:
        give_list(context, cells, row);
        break;
    }
}

/* A list of one row, which has no call of its own. */
static pcol_status read_list(sqlite3_context *context, const struct table *t, uint32_t column,
                             uint64_t row, pcol_error *err)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    options.columns = &column;
    options.column_count = 1;
    options.first_row = row;
    options.row_count = 1;
    pcol_status status = pcol_scan_new(t->table, &options, &scan, err);
    if (status == PCOL_OK)
        status = pcol_scan_next(scan, &batch, err);
    if (status == PCOL_OK && batch.rows == 1)
        give_cell(context, batch.columns, 0);
    pcol_scan_free(scan);
    return status;
}

static pcol_status read_text(sqlite3_context *context, struct table *t, uint32_t column,
                             uint64_t row, pcol_error *err)
{
    pcol_str text;
    uint8_t valid = 0;
    int is_pooled;
    pcol_status status = lookup_text(t, column, row, &text, &valid, &is_pooled, err);
    if (status != PCOL_OK || !valid)
        return status;
    if (is_pooled)
        give_pooled(context, t->pool, text);
    else
        give_mapped(context, text);
    return PCOL_OK;
}

static pcol_status read_cell(sqlite3_context *context, struct table *t, uint32_t column,
                             uint64_t row, pcol_error *err)
{
    pcol_type type = t->types[column];
    int64_t i64 = 0;
    double f64 = 0;
    uint8_t valid = 0;
    pcol_status status;
    if (type == PCOL_LIST)
        return read_list(context, t, column, row, err);
    if (type == PCOL_STRING || type == PCOL_BYTES)
        return read_text(context, t, column, row, err);
    if (type == PCOL_F64)
        status =
            pcol_column_read_f64(pcol_table_column(t->table, column), row, 1, &f64, &valid, err);
    else
        status = lookup_i64(t, column, row, &i64, &valid, err);
    pcol_cells cells = {.type = type, .i64 = &i64, .f64 = &f64, .valid = &valid};
    if (status == PCOL_OK)
        give_cell(context, &cells, 0);
    return status;
}

int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    struct table *t = table_of(c);
    pcol_error err; /* large; filled by what fails */
    if (column < 0 || (uint32_t)column >= t->count || c->mode == AT_END)
        return SQLITE_OK;
    uint32_t slot = c->mode == SCANNING ? c->slots[column] : PCOL_NONE;
    if (slot != PCOL_NONE)
        give_cell(context, &c->batch.columns[slot], c->at);
    else if (read_cell(context, t, (uint32_t)column, current_row(c), &err) != PCOL_OK)
        return fail(c, &err);
    return SQLITE_OK;
}
