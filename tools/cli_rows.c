/*
 * cli_rows.c - the table, columns and rows that the options of cat, head, tail and count select
 *
 * --columns and --where choose among all columns of the table, with --join the joined one
 * (pcol_table_joined()), which shows names instead of ids. Only chosen columns are scanned.
 */
#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

/* ---- which table ---- */

static void offer_tables(struct cli_suggest *suggest, const pcol_file *file, pcol_model model)
{
    uint32_t count = pcol_file_table_count(file, model);

    for (uint32_t i = 0; i < count; i++) {
        const char *name = pcol_file_table_name(file, model, i);
        if (name != NULL)
            cli_suggest_offer(suggest, name, strlen(name));
    }
}

static int has_perun(const pcol_file *file)
{
    const pcol_table *sources;
    uint64_t rows;
    struct cli_cell type;

    return cli_find_table(file, PCOL_MODEL_V2, "sources", &sources, &rows, NULL) == PCOL_OK &&
           rows > 0 && cli_cell_find(sources, "source_type", 0, &type, NULL) == PCOL_OK &&
           cli_cell_is(&type, "perun");
}

/* "no table 'x', did you mean 'y'? tables: a, b, c" */
static int fail_table(const struct cli_rows *rows, const char *name)
{
    struct cli_name_list list = {"", 0, 0};
    char hint[96];
    struct cli_suggest suggest;
    uint32_t count = pcol_file_table_count(rows->file, rows->model);

    cli_suggest_start(&suggest, name);
    offer_tables(&suggest, rows->file, rows->model);
    for (uint32_t i = 0; i < count; i++)
        cli_name_list_add(&list, pcol_file_table_name(rows->file, rows->model, i));
    if (rows->model == PCOL_MODEL_V2) {
        offer_tables(&suggest, rows->file, PCOL_MODEL_PHYSICAL);
        count = pcol_file_table_count(rows->file, PCOL_MODEL_PHYSICAL);
        for (uint32_t i = 0; i < count; i++)
            if (!pcol_file_table_is_internal(rows->file, i))
                cli_name_list_add(&list, pcol_file_table_name(rows->file, PCOL_MODEL_PHYSICAL, i));
        if (has_perun(rows->file))
            cli_name_list_add(&list, "resources");
    }
    cli_suggest_text(&suggest, hint, sizeof hint);
    if (*hint != '\0')
        return cli_fail(CLI_USAGE, "%s: no table '%s'%s (pcol schema FILE lists all)",
                        rows->file_name, name, hint);
    return cli_fail(CLI_USAGE, "%s: no table '%s'; tables: %s%s", rows->file_name, name, list.text,
                    cli_name_list_end(&list));
}

static int find_table(struct cli_rows *rows, const struct cli_args *args)
{
    const char *name = args->table != NULL ? args->table : "samples";
    pcol_error err;
    pcol_status status;

    rows->model = args->physical                                          ? PCOL_MODEL_PHYSICAL
                  : args->model != NULL && strcmp(args->model, "v1") == 0 ? PCOL_MODEL_V1
                                                                          : PCOL_MODEL_V2;
    if (args->physical && args->model != NULL)
        return cli_usage("--model and --physical exclude each other");
    status = pcol_file_table_by_name(rows->file, rows->model, name, &rows->table, &err);
    if (status == PCOL_E_NOT_FOUND && rows->model == PCOL_MODEL_V2) {
        status = pcol_file_table_by_name(rows->file, PCOL_MODEL_FURTHER, name, &rows->table, &err);
        if (status == PCOL_OK)
            rows->model = PCOL_MODEL_FURTHER;
    }
    if (status == PCOL_E_NOT_FOUND)
        return fail_table(rows, name);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(rows->file_name, &err);
}

/* ---- which columns ---- */

int cli_columns_new(const pcol_table *table, struct cli_columns *columns)
{
    columns->count = pcol_table_column_count(table);
    columns->list = calloc(columns->count + 1, sizeof *columns->list);
    if (columns->list == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < columns->count; i++)
        columns->list[i] = cli_describe(pcol_table_column(table, (uint32_t)i));
    return CLI_OK;
}

void cli_columns_free(struct cli_columns *columns)
{
    free(columns->list);
    *columns = (struct cli_columns){NULL, 0};
}

/* List all columns; those that joined columns replace are not shown. */
static int list_columns(struct cli_rows *rows)
{
    int code = cli_columns_new(rows->table, &rows->table_columns);

    if (code != CLI_OK)
        return code;
    rows->column_count = rows->table_columns.count;
    rows->columns = calloc(rows->column_count + 1, sizeof *rows->columns);
    rows->shown = calloc(rows->column_count + 1, sizeof *rows->shown);
    if (rows->columns == NULL || rows->shown == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < rows->column_count; i++) {
        const pcol_column_info *info = &rows->table_columns.list[i];
        rows->columns[i] =
            (struct cli_rows_column){.name = info->name,
                                     .type = info->type,
                                     .number = (uint32_t)i,
                                     .is_composed = (info->flags & PCOL_COLUMN_IS_COMPOSED) != 0,
                                     .info = info};
        if ((info->flags & PCOL_COLUMN_IS_REPLACED) == 0)
            rows->shown[rows->shown_count++] = i;
    }
    return CLI_OK;
}

/* The physical name of a column; that of ids names the first column that replaces them. */
static const char *physical_name(const struct cli_rows *rows, size_t i)
{
    if ((rows->columns[i].info->flags & PCOL_COLUMN_IS_JOINED) != 0)
        while ((rows->columns[i].info->flags & PCOL_COLUMN_IS_REPLACED) == 0)
            i++;
    return rows->columns[i].info->physical_name;
}

/* Find a column by its name, with or without its dot, or by its physical name; exact names
 * first. */
static size_t find_column(const struct cli_rows *rows, const char *name, size_t size)
{
    int passes = rows->model == PCOL_MODEL_FURTHER ? 3 : 2;

    for (int pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < rows->column_count; i++) {
            const struct cli_rows_column *column = &rows->columns[i];
            const char *own = pass < 2 ? column->name : physical_name(rows, i);
            if (own == NULL || (pass == 1 && *own++ != '.'))
                continue;
            if (strlen(own) == size && memcmp(own, name, size) == 0)
                return i;
        }
    return SIZE_MAX;
}

static int fail_column(const struct cli_rows *rows, const char *name, size_t size)
{
    struct cli_name_list list = {"", 0, 0};
    char wanted[64];
    char hint[96];
    struct cli_suggest suggest;
    size_t kept = size < sizeof wanted - 1 ? size : sizeof wanted - 1;

    memcpy(wanted, name, kept);
    wanted[kept] = '\0';
    cli_suggest_start(&suggest, wanted);
    for (size_t i = 0; i < rows->column_count; i++) {
        cli_suggest_offer(&suggest, rows->columns[i].name, strlen(rows->columns[i].name));
        cli_name_list_add(&list, rows->columns[i].name);
    }
    cli_suggest_text(&suggest, hint, sizeof hint);
    if (*hint != '\0')
        return cli_fail(CLI_USAGE, "table %s has no column '%s'%s (pcol schema FILE lists all)",
                        pcol_table_name(rows->table), wanted, hint);
    return cli_fail(CLI_USAGE, "table %s has no column '%s'; columns: %s%s",
                    pcol_table_name(rows->table), wanted, list.text, cli_name_list_end(&list));
}

/* Parse --columns a,b; a column may occur twice. */
static int choose_columns(struct cli_rows *rows, const char *list)
{
    size_t commas = 0;

    for (const char *at = list; *at != '\0'; at++)
        commas += *at == ',';
    size_t *shown = realloc(rows->shown, (commas + 1) * sizeof *shown);
    if (shown == NULL)
        return cli_fail_memory();
    rows->shown = shown;
    rows->shown_count = 0;
    for (;;) {
        size_t size = strcspn(list, ",");
        size_t found = find_column(rows, list, size);
        if (found == SIZE_MAX)
            return fail_column(rows, list, size);
        rows->shown[rows->shown_count++] = found;
        if (list[size] == '\0')
            return CLI_OK;
        list += size + 1;
    }
}

/* Collect the table columns that the wanted columns need. */
static int plan_scan(struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->shown_count; i++)
        rows->columns[rows->shown[i]].wanted = 1;
    rows->scanned = calloc(rows->column_count + 1, sizeof *rows->scanned);
    if (rows->scanned == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < rows->column_count; i++) {
        struct cli_rows_column *column = &rows->columns[i];
        uint32_t k = 0;
        if (!column->wanted)
            continue;
        while (k < rows->scanned_count && rows->scanned[k] != column->number)
            k++;
        column->scan = k;
        if (k == rows->scanned_count)
            rows->scanned[rows->scanned_count++] = column->number;
    }
    return CLI_OK;
}

/* ---- which rows ---- */

static int is_filtered(const struct cli_rows *rows)
{
    return cli_where_count(rows->where) > 0 || rows->selects;
}

static void cell_at(const struct cli_rows *rows, const pcol_batch *batch, size_t column, size_t row,
                    struct cli_cell *cell)
{
    const struct cli_rows_column *what = &rows->columns[column];

    *cell = cli_cell_of(&batch->columns[what->scan], row);
    if (what->is_composed)
        cell->stable = 0;
}

/* Whether a row that the scan takes satisfies the conditions that the scan cannot test. */
static pcol_status is_match(struct cli_rows *rows, const pcol_batch *batch, size_t row, int *yes,
                            pcol_error *err)
{
    size_t count = cli_where_count(rows->where);

    *yes = 1;
    for (size_t i = 0; i < count && *yes == 1; i++) {
        if (cli_where_is_pushed(rows->where, i))
            continue;
        struct cli_cell cell;
        cell_at(rows, batch, cli_where_column(rows->where, i), row, &cell);
        pcol_status status = cli_where_test(rows->where, i, &cell, yes, err);
        if (status != PCOL_OK)
            return status;
    }
    return PCOL_OK;
}

/* State of cli_rows_each(). */
struct walk {
    uint64_t skip, left;
    struct cli_cell *cells;
    cli_row_fn fn;
    void *context;
    int code;
    int done;
};

static pcol_status walk_batch(struct cli_rows *rows, const pcol_batch *batch, struct walk *walk,
                              pcol_error *err)
{
    for (size_t row = 0; row < batch->rows && !walk->done; row++) {
        int yes = 1;
        pcol_status status = is_match(rows, batch, row, &yes, err);
        if (status != PCOL_OK)
            return status;
        if (!yes)
            continue;
        if (walk->skip > 0) {
            walk->skip--;
            continue;
        }
        for (size_t i = 0; i < rows->shown_count && walk->fn != NULL; i++)
            cell_at(rows, batch, rows->shown[i], row, &walk->cells[i]);
        walk->left--;
        if ((walk->fn != NULL && walk->fn(walk->context, walk->cells) != 0) || walk->left == 0)
            walk->done = 1;
    }
    return PCOL_OK;
}

/* A scan of rows that the options select. Notices about the selection are given once. */
static pcol_status open_scan(struct cli_rows *rows, uint64_t first, uint64_t count,
                             pcol_scan **scan, pcol_error *err)
{
    static struct cli_notices notices; /* outlives the scan */
    pcol_control control = cli_control(&notices);
    pcol_condition *where = calloc(cli_where_count(rows->where) + 1, sizeof *where);
    pcol_scan_options options = {.size = sizeof options,
                                 .columns = rows->scanned,
                                 .column_count = rows->scanned_count,
                                 .first_row = first,
                                 .row_count = count,
                                 .where = where,
                                 .selection = rows->selects ? &rows->selection : NULL};

    *scan = NULL;
    notices = (struct cli_notices){rows->args, rows->file_name, NULL, 0};
    control.progress = NULL;
    if (where == NULL)
        return cli_set_memory(err);
    options.where_count = cli_where_push(rows->where, where);
    if (rows->noticed)
        control.notice = NULL;
    options.control = &control;
    pcol_status status = pcol_scan_new(rows->table, &options, scan, err);
    rows->noticed = 1;
    free(where);
    return status;
}

int cli_rows_open(struct cli_rows *rows, const struct cli_input *input, const struct cli_args *args)
{
    pcol_error err;
    int code;

    memset(rows, 0, sizeof *rows);
    rows->file = input->file;
    rows->file_name = input->name;
    rows->args = args;
    rows->selects = cli_selects(args);
    code = find_table(rows, args);
    if (code == CLI_OK && args->join &&
        pcol_table_joined(rows->table, &rows->table, &err) != PCOL_OK)
        code = cli_fail_error(rows->file_name, &err);
    if (code == CLI_OK)
        code = list_columns(rows);
    if (code == CLI_OK && args->columns != NULL)
        code = choose_columns(rows, args->columns);
    if (code == CLI_OK && args->where.count > 0)
        code = cli_where_new(&args->where, rows->columns, rows->column_count, &rows->where);
    if (code == CLI_OK && rows->selects)
        code = cli_selection(input, args, &rows->selection);
    if (code == CLI_OK && rows->selects &&
        cli_demangled_select(input->file, args, &rows->selection, &rows->demangled, &err) !=
            PCOL_OK)
        code = cli_fail_error(rows->file_name, &err);
    if (code == CLI_OK)
        code = plan_scan(rows);
    if (code == CLI_OK && is_filtered(rows) &&
        open_scan(rows, 0, UINT64_MAX, &rows->scan, &err) != PCOL_OK)
        code = cli_fail_error(rows->file_name, &err);
    return code;
}

void cli_rows_close(struct cli_rows *rows)
{
    cli_columns_free(&rows->table_columns);
    free(rows->columns);
    free(rows->shown);
    free(rows->scanned);
    cli_where_free(rows->where);
    pcol_scan_free(rows->scan);
    cli_demangled_free(&rows->demangled);
    memset(rows, 0, sizeof *rows);
}

static int walk_rows(struct cli_rows *rows, uint64_t first, uint64_t count, struct walk *walk)
{
    pcol_scan *scan = rows->scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    pcol_status status = scan != NULL ? PCOL_OK : open_scan(rows, first, count, &scan, &err);

    rows->scan = NULL;
    while (status == PCOL_OK && !walk->done) {
        status = pcol_scan_next(scan, &batch, &err);
        if (status != PCOL_OK || batch.rows == 0)
            break;
        status = walk_batch(rows, &batch, walk, &err);
    }
    pcol_scan_free(scan);
    return status == PCOL_OK ? walk->code : cli_fail_error(rows->file_name, &err);
}

int cli_rows_each(struct cli_rows *rows, uint64_t offset, uint64_t limit, cli_row_fn fn,
                  void *context)
{
    int filtered = is_filtered(rows);
    struct walk walk = {filtered ? offset : 0, limit, NULL, fn, context, CLI_OK, limit == 0};
    uint64_t first = filtered ? 0 : offset;
    uint64_t count = filtered ? UINT64_MAX : limit;

    if (walk.done || first >= pcol_table_rows(rows->table))
        return CLI_OK;
    walk.cells = calloc(rows->shown_count + 1, sizeof *walk.cells);
    if (walk.cells == NULL)
        return cli_fail_memory();
    int code = walk_rows(rows, first, count, &walk);
    free(walk.cells);
    return code;
}

int cli_rows_count(struct cli_rows *rows, uint64_t *count)
{
    const uint64_t all = UINT64_MAX;
    struct walk walk = {0, all, NULL, NULL, NULL, CLI_OK, 0};

    *count = pcol_table_rows(rows->table);
    if (!is_filtered(rows))
        return CLI_OK;
    int code = walk_rows(rows, 0, all, &walk);
    *count = all - walk.left;
    return code;
}
