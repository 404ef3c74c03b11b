/*
 * cmd_top.c - top: functions, files, lines, threads, ... with the highest values
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#define TERMINAL_ROWS 20

const struct cli_option cmd_top_options[] = {
    {0, "by", "WHAT",
     "function (default), file, line (function, file, line), srcline (file, line), location "
     "(address), mapping (binary), thread, process, source, label:KEY or "
     "meta:KEY (metadata of the source)",
     CLI_TEXT, CLI_AT(by), 0,
     "function|file|line|srcline|location|mapping|thread|process|source|label:|meta:|"},
    {0, "sort", "HOW", "self (default) or total; flat and cum are synonyms", CLI_TEXT, CLI_AT(sort),
     0, "self|total|flat|cum"},
    CLI_OPTION_CUM,
    {'n', "rows", "N", "at most N rows; 0: all (default: 20 on a terminal, all elsewhere)",
     CLI_COUNT, CLI_AT(rows), 0, NULL},
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT_LIST,
    CLI_OPTION_END,
};

/* Contents of a column of the table, each at most once. */
enum shown {
    SHOW_SELF,
    SHOW_SELF_PERCENT,
    SHOW_TOTAL,
    SHOW_TOTAL_PERCENT,
    SHOW_NAME,
    SHOW_FILE,
    SHOW_LINE,
    SHOW_ADDRESS,
    SHOW_ID,
    SHOW_SELF_TIME,
    SHOW_TOTAL_TIME,
    SHOW_UNIT,
    SHOW_COUNT
};

struct layout {
    struct cli_amounts amounts;
    size_t count;
    struct cli_table_column columns[SHOW_COUNT];
    enum shown shown[SHOW_COUNT];
};

static void add_column(struct layout *layout, enum shown shown, const char *name, int flags)
{
    layout->columns[layout->count].name = name;
    layout->columns[layout->count].flags = flags;
    layout->shown[layout->count++] = shown;
}

/* The columns of machine formats are stable: further ones only on request. */
static void lay_out(struct layout *layout, pcol_by by, int verbose)
{
    int people = layout->amounts.people;
    int timed = layout->amounts.info.seconds_per_value > 0;

    add_column(layout, SHOW_SELF, "self", CLI_RIGHT | CLI_KEEP);
    add_column(layout, SHOW_SELF_PERCENT, people ? "self%" : "self_pct", CLI_RIGHT | CLI_SHARE);
    add_column(layout, SHOW_TOTAL, "total", CLI_RIGHT | CLI_KEEP);
    add_column(layout, SHOW_TOTAL_PERCENT, people ? "total%" : "total_pct", CLI_RIGHT | CLI_SHARE);
    if (people && timed && layout->amounts.unit == CLI_UNIT_PLAIN) {
        add_column(layout, SHOW_SELF_TIME, "self time", CLI_RIGHT | CLI_FURTHER(1));
        add_column(layout, SHOW_TOTAL_TIME, "total time", CLI_RIGHT | CLI_FURTHER(1));
    }
    if (people && by == PCOL_BY_LOCATION)
        add_column(layout, SHOW_ADDRESS, "address", CLI_RIGHT | CLI_ADDRESS);
    add_column(layout, SHOW_NAME, "name", CLI_KEEP);
    if (by == PCOL_BY_THREAD || by == PCOL_BY_SOURCE)
        add_column(layout, SHOW_ID, by == PCOL_BY_THREAD ? "thread_id" : "source_id", 1);
    if (by == PCOL_BY_LINE || by == PCOL_BY_LOCATION || (!people && by == PCOL_BY_SRCLINE)) {
        add_column(layout, SHOW_FILE, "file", CLI_FILE);
        add_column(layout, SHOW_LINE, "line", CLI_RIGHT | CLI_FILE);
    } else if (!people && by == PCOL_BY_FILE) {
        add_column(layout, SHOW_FILE, "file", 0);
    }
    if (!people && by == PCOL_BY_LOCATION)
        add_column(layout, SHOW_ADDRESS, "address", 1);
    if (!people && verbose) { /* on a terminal the line above the table has the unit */
        if (timed) {
            add_column(layout, SHOW_SELF_TIME, "self_time_s", 1);
            add_column(layout, SHOW_TOTAL_TIME, "total_time_s", 1);
        }
        add_column(layout, SHOW_UNIT, "unit", 0);
    }
}

/* Fills cells in place: a returned cell would be copied while it is still being written. */
static void set_cell(const struct layout *layout, const struct cli_result_row *row,
                     enum shown shown, char *buffer, struct cli_cell *cell)
{
    const struct cli_amounts *amounts = &layout->amounts;
    const struct cli_frame *frame = &row->frame;

    cell->kind = CLI_CELL_NULL;
    cell->stable = 0;
    switch (shown) {
    case SHOW_SELF:
    case SHOW_TOTAL:
        cli_amount_set(amounts, shown == SHOW_SELF ? row->self : row->total, buffer, cell);
        return;
    case SHOW_SELF_PERCENT:
    case SHOW_TOTAL_PERCENT:
        cell->kind = CLI_CELL_PERCENT;
        cell->as.f64 =
            cli_amount_share(amounts, shown == SHOW_SELF_PERCENT ? row->self : row->total);
        return;
    case SHOW_SELF_TIME:
        *cell = cli_amount_seconds(amounts, row->self, buffer);
        return;
    case SHOW_TOTAL_TIME:
        *cell = cli_amount_seconds(amounts, row->total, buffer);
        return;
    case SHOW_UNIT:
        *cell = cli_cell_str(amounts->info.unit);
        return;
    case SHOW_NAME:
    case SHOW_FILE:
        if (shown == SHOW_NAME ? frame->has_name : frame->has_file) {
            const pcol_str *text = shown == SHOW_NAME ? &frame->name : &frame->file;
            cell->kind = CLI_CELL_TEXT;
            cell->as.text.data = text->data;
            cell->as.text.size = text->size;
        }
        return;
    case SHOW_LINE:
        cell->kind = frame->has_line ? CLI_CELL_I64 : CLI_CELL_NULL;
        cell->as.i64 = frame->line;
        return;
    case SHOW_ID:
        cell->kind = frame->has_id ? CLI_CELL_U64 : CLI_CELL_NULL;
        cell->as.u64 = frame->id;
        return;
    case SHOW_ADDRESS:
        if (frame->has_address) {
            snprintf(buffer, CLI_NUMBER_SIZE, "0x%llx", (unsigned long long)frame->address);
            *cell = cli_cell_text(buffer);
        }
        return;
    case SHOW_COUNT:
        return;
    }
}

static int print_rows(const struct cli_args *args, const struct cli_result *top,
                      struct layout *layout, struct cli_out *out, uint64_t limit)
{
    struct cli_table *table;
    struct cli_names names;
    size_t count = top->count;
    int code = cli_table_begin(&table, out, args, layout->columns, layout->count);

    if (code != CLI_OK)
        return code;
    cli_names_init(&names, args, layout->amounts.people);
    for (size_t i = 0; i < count && i < limit && out->code == 0; i++) {
        struct cli_cell cells[SHOW_COUNT];
        char buffer[SHOW_COUNT][CLI_NUMBER_SIZE];
        struct cli_result_row row;
        cli_result_get(top, i, &row);
        row.frame.name = cli_name(&names, row.frame.name);
        for (size_t c = 0; c < layout->count; c++)
            set_cell(layout, &row, layout->shown[c], buffer[c], &cells[c]);
        cli_table_row(table, cells);
    }
    cli_names_free(&names);
    return cli_table_end(table, CLI_OK);
}

static int print(const struct cli_args *args, pcol_query *query, const struct cli_result *top,
                 pcol_by by)
{
    static struct cli_out out;
    struct layout layout = {0};
    size_t count = top->count;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&layout.amounts, query, args, &out);
    lay_out(&layout, by, args->verbose);
    uint64_t limit = cli_row_limit(args, layout.amounts.people ? TERMINAL_ROWS : UINT64_MAX);

    if (layout.amounts.people)
        cli_out_fold(&out);
    if (layout.amounts.people && !args->no_header) {
        cli_amounts_header(&layout.amounts, &out);
        if (limit < count)
            cli_out_printf(&out, "the first %llu of %zu rows\n", (unsigned long long)limit, count);
    }
    code = print_rows(args, top, &layout, &out, limit);
    return cli_out_finish(&out, code);
}

static void note_places(const struct cli_args *args, const char *name, const struct cli_result *top,
                        pcol_by by)
{
    struct cli_positions places = {0, 0};
    size_t count = top->count;

    if (by != PCOL_BY_FILE && by != PCOL_BY_LINE && by != PCOL_BY_SRCLINE)
        return;
    for (size_t i = 0; i < count; i++) {
        struct cli_result_row row;
        cli_result_get(top, i, &row);
        cli_positions_add(&places, &row.frame);
    }
    if (count > 0)
        cli_warn_positions(&places, by, name, args);
}

int cmd_top(struct cli_args *args)
{
    struct cli_input input;
    pcol_query *query = NULL;
    pcol_top_options options = PCOL_INIT(pcol_top_options);
    pcol_result *result = NULL;
    struct cli_result top = {0};
    pcol_error err;
    int code = cli_parse_by(args->by, 0, &options.by, &options.label);

    if (code == CLI_OK)
        code = cli_input_open_all(&input, args);
    if (code != CLI_OK)
        return code;
    options.order = cli_order(args);
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK && pcol_query_top(query, &options, &result, &err) != PCOL_OK)
        code = cli_fail_error(input.name, &err);
    if (code == CLI_OK)
        code = cli_result_open(&top, result, input.name);
    if (code == CLI_OK)
        note_places(args, input.name, &top, options.by);
    if (code == CLI_OK)
        code = print(args, query, &top, options.by);
    cli_result_close(&top);
    pcol_result_free(result);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}
