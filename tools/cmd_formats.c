/*
 * cmd_formats.c - formats: the list of formats of the library, and of the command's own
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_formats_options[] = {
    CLI_OPTIONS_TABLE,
    CLI_OPTION_END,
};

/* Written by the command itself (clickhouse.c), into a directory. */
static const pcol_format clickhouse = {
    .name = "clickhouse",
    .suffixes = "",
    .summary = "tables for ClickHouse of any number of profiles, in a directory",
    .keeps = "not read: sums by stack, labels and metadata of each profile",
    .writes = 1,
};

static const pcol_format *format_at(size_t index)
{
    const pcol_format *format = pcol_format_at(index);

    if (format == NULL && index > 0 && pcol_format_at(index - 1) != NULL)
        return &clickhouse;
    return format;
}

enum { NAME_WIDTH = 14, SUFFIXES_AT = NAME_WIDTH + 7 + 8 };

static void print_people(struct cli_out *out)
{
    const pcol_format *format;

    cli_out_fold(out);
    cli_out_printf(out, "%-*sreads  writes  suffixes\n", NAME_WIDTH, "format");
    for (size_t i = 0; (format = format_at(i)) != NULL; i++) {
        cli_out_printf(out, "%-*s%-7s%-8s", NAME_WIDTH, format->name, format->reads ? "yes" : "",
                       format->writes ? "yes" : "");
        cli_out_words(out, format->suffixes, strlen(format->suffixes), SUFFIXES_AT);
        cli_out_printf(out, "%*s", NAME_WIDTH, "");
        cli_out_words(out, format->summary, strlen(format->summary), NAME_WIDTH);
        cli_out_printf(out, "%*skeeps: ", NAME_WIDTH, "");
        cli_out_words(out, format->keeps, strlen(format->keeps), NAME_WIDTH + 7);
    }
}

int cmd_formats(struct cli_args *args)
{
    static const struct cli_table_column columns[] = {{"name", 0},         {"reads", 0},
                                                      {"writes", 0},       {"suffixes", 0},
                                                      {"what", CLI_PROSE}, {"keeps", CLI_PROSE}};
    static struct cli_out out;
    struct cli_table *table;
    const pcol_format *format;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    if (cli_for_people(args, &out)) {
        print_people(&out);
        return cli_out_finish(&out, CLI_OK);
    }
    code = cli_table_begin(&table, &out, args, columns, 6);
    for (size_t i = 0; code == CLI_OK && (format = format_at(i)) != NULL; i++) {
        struct cli_cell cells[] = {
            cli_cell_text(format->name),        cli_cell_bool(format->reads),
            cli_cell_bool(format->writes != 0), cli_cell_text(format->suffixes),
            cli_cell_text(format->summary),     cli_cell_text(format->keeps),
        };
        cli_table_row(table, cells);
    }
    code = cli_table_end(table, code);
    return cli_out_finish(&out, code);
}
