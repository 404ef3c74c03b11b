/*
 * cmd_formats.c - formats: what can be read and written, as the library says it
 */
#include "cmd.h"

const struct cli_option cmd_formats_options[] = {
    CLI_OPTION_FORMAT, CLI_OPTION_NO_HEADER, CLI_OPTION_NULL, CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,  CLI_OPTION_NO_SYNC,   CLI_OPTION_END,
};

int cmd_formats(struct cli_args *args)
{
    static const struct cli_table_column columns[] = {{"name", 0},     {"reads", 0}, {"writes", 0},
                                                      {"suffixes", 0}, {"what", 0},  {"keeps", 0}};
    static struct cli_out out;
    struct cli_table *table;
    const pcol_format *format;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    code = cli_table_begin(&table, &out, args, columns, 6);
    for (size_t i = 0; code == CLI_OK && (format = pcol_format_at(i)) != NULL; i++) {
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
