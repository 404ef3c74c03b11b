/*
 * cmd_top.c - top: functions, files, lines, threads, ... with the highest values
 */
#include "cmd.h"

#include <stdlib.h>

#define TERMINAL_ROWS 20

const struct cli_option cmd_top_options[] = {
    CLI_TEXT_CHOICE(
        0, "by", "WHAT", by,
        "function|file|line|srcline|location|mapping|thread|process|source|label:|meta:|",
        "function (default), file, line (function, file, line), srcline (file, line), location "
        "(address), mapping (binary), thread, process, source, label:KEY or meta:KEY (metadata of "
        "the source)"),
    CLI_TEXT_CHOICE(0, "sort", "HOW", sort, "self|total|flat|cum",
                    "self (default) or total; flat and cum are synonyms"),
    CLI_OPTION_CUM,
    CLI_COUNT_OPTION('n', "rows", "N", rows,
                     "at most N rows; 0: all (default: 20 on a terminal, all elsewhere)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT_LIST,
    CLI_OPTION_END,
};

enum form { AMOUNT, PERCENT, SECONDS, UNIT, NAME, TEXT, NUMBER, NUMBER_FROM_1, ADDRESS };

/* A column of the output. Those of machine formats are read by position: new ones are VERBOSE. */
struct column {
    const char *people, *machine; /* headings; NULL: not there */
    const char *field;            /* column of the result */
    enum form form;
    int flags;         /* CLI_RIGHT, ... */
    unsigned by;       /* kinds of rows that have it; 0: all */
    unsigned requires; /* TIMED, VERBOSE */
};

#define BY(kind) (1u << PCOL_BY_##kind)
#define TIMED 1u   /* values represent times */
#define VERBOSE 2u /* only with --verbose */

static const struct column columns[] = {
    {"self", "self", "self", AMOUNT, CLI_RIGHT | CLI_KEEP, 0, 0},
    {"self%", "self_pct", "self", PERCENT, CLI_RIGHT | CLI_SHARE, 0, 0},
    {"total", "total", "total", AMOUNT, CLI_RIGHT | CLI_KEEP, 0, 0},
    {"total%", "total_pct", "total", PERCENT, CLI_RIGHT | CLI_SHARE, 0, 0},
    {"self time", NULL, "self", SECONDS, CLI_RIGHT | CLI_FURTHER(1), 0, TIMED},
    {"total time", NULL, "total", SECONDS, CLI_RIGHT | CLI_FURTHER(1), 0, TIMED},
    {"address", NULL, "address", ADDRESS, CLI_RIGHT | CLI_ADDRESS, BY(LOCATION), 0},
    {"name", "name", "name", NAME, CLI_KEEP, 0, 0},
    {"thread_id", "thread_id", "thread", NUMBER, CLI_RIGHT, BY(THREAD), 0},
    {"source_id", "source_id", "source", NUMBER_FROM_1, CLI_RIGHT, BY(SOURCE), 0},
    {"file", "file", "file", TEXT, CLI_FILE, BY(LINE) | BY(LOCATION), 0},
    {NULL, "file", "file", TEXT, CLI_FILE, BY(FILE) | BY(SRCLINE), 0}, /* their name has it */
    {"line", "line", "line", NUMBER, CLI_RIGHT | CLI_FILE, BY(LINE) | BY(LOCATION), 0},
    {NULL, "line", "line", NUMBER, CLI_RIGHT | CLI_FILE, BY(SRCLINE), 0},
    {NULL, "address", "address", ADDRESS, CLI_RIGHT, BY(LOCATION), 0},
    {NULL, "self_time_s", "self", SECONDS, CLI_RIGHT, 0, TIMED | VERBOSE},
    {NULL, "total_time_s", "total", SECONDS, CLI_RIGHT, 0, TIMED | VERBOSE},
    {NULL, "unit", "self", UNIT, CLI_LEFT, 0, VERBOSE}, /* on a terminal above the table */
};

enum { COLUMNS = sizeof columns / sizeof *columns };

struct layout {
    struct cli_amounts amounts;
    struct cli_names names;
    size_t count;
    size_t shown[COLUMNS]; /* indices of `columns` */
    struct cli_table_column table[COLUMNS];
};

static void lay_out(struct layout *layout, pcol_by by, int verbose)
{
    int people = layout->amounts.people;
    int timed = layout->amounts.info.seconds_per_value > 0 &&
                (!people || layout->amounts.unit == CLI_UNIT_PLAIN);
    unsigned has = (timed ? TIMED : 0) | (verbose ? VERBOSE : 0);

    for (size_t i = 0; i < COLUMNS; i++) {
        const char *heading = people ? columns[i].people : columns[i].machine;
        if (heading == NULL || (columns[i].requires & ~has) != 0 ||
            (columns[i].by != 0 && !(columns[i].by & 1u << by)))
            continue;
        layout->shown[layout->count] = i;
        layout->table[layout->count].name = heading;
        layout->table[layout->count++].flags = columns[i].flags;
    }
}

/* Fills cells in place: a returned cell would be copied while it is still being written. */
static void set_cell(struct layout *layout, const struct cli_result *top, size_t row, size_t column,
                     char *buffer, struct cli_cell *cell)
{
    const struct cli_amounts *amounts = &layout->amounts;
    size_t field = CLI_FIELDS + column;
    pcol_amount value = cli_result_amount(top, field, row);
    enum form form = columns[column].form;
    pcol_str text;

    cell->kind = CLI_CELL_NULL;
    cell->stable = 0;
    switch (form) {
    case AMOUNT:
        cli_amount_set(amounts, value, buffer, cell);
        return;
    case PERCENT:
        *cell = cli_amount_percent(amounts, value);
        return;
    case SECONDS:
        *cell = cli_amount_seconds(amounts, value, buffer);
        return;
    case UNIT:
        *cell = cli_cell_str(amounts->info.unit);
        return;
    case NAME:
    case TEXT:
        text = cli_result_text(top, field, row);
        if (text.data == NULL)
            return;
        if (form == NAME)
            text = cli_name(&layout->names, text);
        cell->kind = CLI_CELL_TEXT;
        cell->as.text.data = text.data;
        cell->as.text.size = text.size;
        return;
    case NUMBER:
    case NUMBER_FROM_1:
        cell->kind = cli_result_has(top, field, row) ? CLI_CELL_I64 : CLI_CELL_NULL;
        cell->as.i64 = value.i64 + (form == NUMBER_FROM_1);
        return;
    case ADDRESS:
        if (cli_result_has(top, field, row)) {
            snprintf(buffer, CLI_NUMBER_SIZE, "0x%llx", (unsigned long long)value.i64);
            *cell = cli_cell_text(buffer);
        }
        return;
    }
}

static int print_rows(const struct cli_args *args, const struct cli_result *top,
                      struct layout *layout, struct cli_out *out, uint64_t limit)
{
    struct cli_table *table;
    size_t count = top->count;
    int code = cli_table_begin(&table, out, args, layout->table, layout->count);

    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < count && i < limit && out->code == 0; i++) {
        struct cli_cell cells[COLUMNS];
        char buffer[COLUMNS][CLI_NUMBER_SIZE];
        for (size_t c = 0; c < layout->count; c++)
            set_cell(layout, top, i, layout->shown[c], buffer[c], &cells[c]);
        cli_table_row(table, cells);
    }
    cli_names_free(&layout->names);
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
    cli_names_init(&layout.names, args, layout.amounts.people, by);
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

int cmd_top(struct cli_args *args)
{
    struct cli_input input;
    pcol_query *query = NULL;
    pcol_top_options options = PCOL_INIT(pcol_top_options);
    struct cli_result top = {0};
    const char *fields[COLUMNS + 1] = {NULL};
    pcol_error err;
    int code = cli_parse_by(args->by, 0, &options.by, &options.label);

    if (code == CLI_OK)
        code = cli_parse_order(args, &options.order);
    if (code == CLI_OK)
        code = cli_input_open_all(&input, args);
    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < COLUMNS; i++)
        fields[i] = columns[i].field;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK)
        code = cli_result_open(&top, pcol_query_top(query, &options, &top.result, &err), &err,
                               input.name, fields);
    if (code == CLI_OK && top.count > 0)
        cli_warn_positions(&top, options.by, input.name, args);
    if (code == CLI_OK)
        code = print(args, query, &top, options.by);
    cli_result_close(&top);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}
