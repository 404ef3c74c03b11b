/*
 * vtab.c - the module `pcol`: arguments and columns of a virtual table, and the choice of a plan
 *
 *     CREATE VIRTUAL TABLE t USING pcol('x.pcol', samples[, v1])
 *
 * xBestIndex pushes comparisons of numbers, equality of texts and tests for null. SQLite evaluates
 * all of them again, so pushed conditions may select too many rows, never too few.
 * Tests: sql/tests.
 */
#include "sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An argument of the module without its quotes; from sqlite3_malloc(). */
static char *argument(const char *text)
{
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\r\n", *text) != NULL)
        text++, size--;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
        size--;
    char *out = sqlite3_malloc64(size + 1);
    if (out == NULL)
        return NULL;
    char quote = size > 1 && strchr("'\"`[", text[0]) != NULL ? text[0] : '\0';
    char end = quote == '[' ? ']' : quote;
    size_t length = 0;
    if (quote != '\0' && text[size - 1] == end) {
        for (size_t i = 1; i + 1 < size; i++) {
            out[length++] = text[i];
            if (text[i] == end && i + 2 < size && text[i + 1] == end)
                i++;
        }
    } else {
        memcpy(out, text, size);
        length = size;
    }
    out[length] = '\0';
    return out;
}

/* ---- columns */

static const char *declared_type(pcol_type type)
{
    switch (type) {
    case PCOL_I64:
    case PCOL_U32:
    case PCOL_BOOL:
        return "INTEGER";
    case PCOL_F64:
        return "REAL";
    case PCOL_LIST:
        return "TEXT";
    case PCOL_U64:    /* TEXT beyond 2^63 - 1, */
    case PCOL_STRING: /* and BLOB if it is not UTF-8: no affinity that would convert them */
    case PCOL_BYTES:
        return "";
    }
    return "";
}

static int is_number(pcol_type type)
{
    return type == PCOL_I64 || type == PCOL_U64 || type == PCOL_F64 || type == PCOL_U32 ||
           type == PCOL_BOOL;
}

static void find_key(struct table *t)
{
    uint32_t keys = 0;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    t->key = PCOL_NONE;
    for (uint32_t i = 0; i < t->count; i++) {
        if (pcol_column_describe(pcol_table_column(t->table, i), &info, NULL) != PCOL_OK)
            continue;
        t->types[i] = info.type;
        if (!info.primary_key)
            continue;
        t->has_key_prefix |= i == 0 && is_number(info.type) && info.type != PCOL_F64;
        t->key = keys++ == 0 && is_number(info.type) && info.type != PCOL_F64 ? i : PCOL_NONE;
    }
}

/* "CREATE TABLE x(...)", from sqlite3_malloc(); NULL: out of memory. */
static char *declaration(const struct table *t)
{
    char **names = calloc(t->count + 1, sizeof *names);
    char *text = NULL;
    int is_made = names != NULL;
    for (uint32_t i = 0; i < t->count && is_made; i++) {
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        is_made = pcol_column_describe(pcol_table_column(t->table, i), &info, NULL) == PCOL_OK &&
                  (names[i] = sql_name(info.name, strlen(info.name))) != NULL;
    }
    if (is_made && sql_unique(names, t->count)) {
        sqlite3_str *out = sqlite3_str_new(t->db);
        sqlite3_str_appendall(out, "CREATE TABLE x(");
        for (uint32_t i = 0; i < t->count; i++)
            sqlite3_str_appendf(out, "%s\"%w\" %s", i == 0 ? "" : ", ", names[i],
                                declared_type(t->types[i]));
        sqlite3_str_appendall(out, ")");
        text = sqlite3_str_finish(out);
    }
    for (uint32_t i = 0; i < t->count && names != NULL; i++)
        free(names[i]);
    free(names);
    return text;
}

/* ---- creating */

static int disconnect(sqlite3_vtab *base)
{
    struct table *t = (struct table *)base;
    files_release(t->opened);
    free(t->types);
    for (uint32_t i = 0; i < t->count && t->lookups != NULL; i++)
        lookups_free(&t->lookups[i]);
    free(t->lookups);
    free(t);
    return SQLITE_OK;
}

static int find_table(struct table *t, pcol_model model, const char *name, char **text)
{
    pcol_error err = {0};
    pcol_status status = sql_find_table(files_file(t->opened), model, name, &t->table, &err);
    if (status != PCOL_OK) {
        *text = error_text(files_path(t->opened), &err);
        return error_code(status);
    }
    t->count = pcol_table_column_count(t->table);
    if (t->count == 0) {
        *text = sqlite3_mprintf("%s: table %s has no columns", files_path(t->opened), name);
        return SQLITE_ERROR;
    }
    t->types = calloc(t->count + 1, sizeof *t->types);
    t->lookups = calloc(t->count + (size_t)1, sizeof *t->lookups);
    if (t->types == NULL || t->lookups == NULL)
        return SQLITE_NOMEM;
    find_key(t);
    return SQLITE_OK;
}

static int declare(const struct table *t, char **text)
{
    char *sql = declaration(t);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(t->db, sql);
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(t->db, SQLITE_VTAB_DIRECTONLY);
    else
        *text = sqlite3_mprintf("%s: table %s: %s", files_path(t->opened),
                                pcol_table_name(t->table), sqlite3_errmsg(t->db));
    return code;
}

static int connect_arguments(sqlite3 *db, struct files *files, char *const *arguments,
                             sqlite3_vtab **made, char **text)
{
    int model = arguments[2] == NULL ? (int)PCOL_MODEL_V2 : sql_model(arguments[2]);
    if (model < 0) {
        *text = sqlite3_mprintf("pcol: unknown model %s; use v2, v1 or physical", arguments[2]);
        return SQLITE_ERROR;
    }
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    t->db = db;
    int code = files_open(files, arguments[0], &t->opened, text);
    if (code == SQLITE_OK)
        code = find_table(t, (pcol_model)model, arguments[1], text);
    if (code == SQLITE_OK)
        code = declare(t, text);
    if (code == SQLITE_OK)
        *made = &t->base;
    else
        (void)disconnect(&t->base);
    return code;
}

static int connect_table(sqlite3 *db, void *files, int count, const char *const *texts,
                         sqlite3_vtab **made, char **text)
{
    char *arguments[3] = {NULL, NULL, NULL};
    int code = SQLITE_OK;
    if (count < 5 || count > 6) {
        *text = sqlite3_mprintf("pcol: needs a file and a table: USING pcol('x.pcol', samples)");
        return SQLITE_ERROR;
    }
    for (int i = 3; i < count && code == SQLITE_OK; i++)
        if ((arguments[i - 3] = argument(texts[i])) == NULL)
            code = SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = connect_arguments(db, files, arguments, made, text);
    for (size_t i = 0; i < 3; i++)
        sqlite3_free(arguments[i]);
    return code;
}

/* Another function than xConnect: else SELECT FROM pcol would be a table. */
static int create_table(sqlite3 *db, void *files, int count, const char *const *texts,
                        sqlite3_vtab **made, char **text)
{
    return connect_table(db, files, count, texts, made, text);
}

/* ---- choosing a plan */

int plan_next(const char **at, int *column, int *op)
{
    char *end;
    long value = strtol(*at, &end, 10);
    if (end == *at)
        return 0;
    *column = (int)value;
    *op = (int)strtol(end, &end, 10);
    *at = end;
    return 1;
}

/* Whether the constraint can be a condition of a scan; the value's type is only known later. */
static int is_pushed(const struct table *t, int column, int op)
{
    pcol_type type = column < 0 ? PCOL_I64 : t->types[column];
    if (type == PCOL_LIST)
        return 0;
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return 1;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return is_number(type);
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
        return column >= 0 && type != PCOL_F64; /* NaN is null in SQLite only */
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
        return column >= 0;
    default:
        return 0;
    }
}

struct cost {
    enum plan plan;
    double rows; /* that are given */
    double work; /* in rows that are read */
    int is_one;
};

static void add_cost(const struct table *t, struct cost *cost, int column, int op)
{
    int is_key = column < 0 || (uint32_t)column == t->key;
    int is_prefix = column == 0 && t->has_key_prefix;
    if (op == SQLITE_INDEX_CONSTRAINT_EQ && is_key) {
        cost->is_one = 1;
        cost->rows = 1;
        cost->work = 2;
    } else if (op == SQLITE_INDEX_CONSTRAINT_EQ && is_prefix) {
        cost->rows = cost->rows > 25 ? 25 : cost->rows;
        cost->work = cost->work > 60 ? 60 : cost->work;
    } else if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
        cost->rows /= 20;
        cost->work *= 0.3;
    } else if (op != SQLITE_INDEX_CONSTRAINT_ISNOTNULL && (is_key || is_prefix)) {
        cost->rows /= 4;
        cost->work /= 4;
    } else {
        cost->rows /= 2;
        cost->work *= 0.6;
    }
}

/* IN gives one scan for each value: only worth it where a value is found without reading. */
static int is_list(sqlite3_index_info *info, int number)
{
    return sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_in(info, number, -1);
}

static int push(const struct table *t, sqlite3_index_info *info, sqlite3_str *plan,
                struct cost *cost)
{
    int pushed = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        int column = c->iColumn < 0 ? -1 : c->iColumn;
        if (!c->usable || !is_pushed(t, column, c->op))
            continue;
        int is_text = column >= 0 && !is_number(t->types[column]);
        if (is_text && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        int is_cheap =
            column < 0 || (uint32_t)column == t->key || (column == 0 && t->has_key_prefix);
        if (!is_cheap && is_list(info, i))
            continue;
        info->aConstraintUsage[i].argvIndex = ++pushed;
        cost->plan = c->op != SQLITE_INDEX_CONSTRAINT_EQ || pushed > 1 ? PLAN_ANY
                     : column < 0                                      ? PLAN_ROW_ID
                     : (uint32_t)column == t->key                      ? PLAN_KEY
                                                                       : PLAN_ANY;
        sqlite3_str_appendf(plan, " %d %d", column, (int)c->op);
        add_cost(t, cost, column, c->op);
    }
    return pushed;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct table *t = (const struct table *)base;
    double rows = (double)pcol_table_rows(t->table);
    struct cost cost = {PLAN_ANY, rows, rows + 10, 0};
    sqlite3_str *plan = sqlite3_str_new(t->db);
    sqlite3_str_appendf(plan, "%llx", (unsigned long long)info->colUsed);
    (void)push(t, info, plan, &cost);
    info->idxStr = sqlite3_str_finish(plan);
    if (info->idxStr == NULL)
        return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->idxNum = (int)cost.plan;
    info->estimatedCost = cost.work + 1;
    info->estimatedRows = cost.rows < 1 ? 1 : (sqlite3_int64)cost.rows;
    info->idxFlags = cost.is_one ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn < 0 && !info->aOrderBy[0].desc)
        info->orderByConsumed = 1;
    return SQLITE_OK;
}

int vtab_register(sqlite3 *db, struct files *files)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xCreate = create_table,
        .xConnect = connect_table,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xDestroy = disconnect,
        .xOpen = cursor_open,
        .xClose = cursor_close,
        .xFilter = cursor_filter,
        .xNext = cursor_next,
        .xEof = cursor_eof,
        .xColumn = cursor_column,
        .xRowid = cursor_rowid,
    };
    return sqlite3_create_module_v2(db, "pcol", &module, files, files_free);
}
