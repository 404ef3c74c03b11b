/*
 * cli_frame.c - columns that identify a row of a result besides its name: file, line, address
 *
 * Machine formats have all columns of the kind of rows, so that the cells alone identify a row. On
 * a terminal columns that repeat the name are omitted: a file, or FILE#LINE. Tests:
 * tests/oracle/answers.
 */
#include "cli.h"

#include <stdlib.h>

enum shown { SHOW_FILE, SHOW_LINE, SHOW_ADDRESS };

/* Number of the columns file, line, address for each kind of rows. */
static size_t count_of(pcol_by by, int people)
{
    switch (by) {
    case PCOL_BY_FILE:
        return people ? 0 : 1;
    case PCOL_BY_SRCLINE:
        return people ? 0 : 2;
    case PCOL_BY_LINE:
        return 2;
    case PCOL_BY_LOCATION:
        return 3;
    case PCOL_BY_FUNCTION:
    case PCOL_BY_MAPPING:
    case PCOL_BY_THREAD:
    case PCOL_BY_PROCESS:
    case PCOL_BY_SOURCE:
    case PCOL_BY_LABEL:
    case PCOL_BY_STACK:
    case PCOL_BY_META:
        break;
    }
    return 0;
}

size_t cli_frame_columns(pcol_by by, int people, struct cli_table_column *columns)
{
    static const struct cli_table_column all[CLI_FRAME_COLUMNS] = {
        [SHOW_FILE] = {"file", CLI_LEFT | CLI_FILE},
        [SHOW_LINE] = {"line", CLI_RIGHT | CLI_FILE},
        [SHOW_ADDRESS] = {"address", CLI_RIGHT | CLI_ADDRESS}};
    size_t count = count_of(by, people);

    for (size_t i = 0; i < count; i++)
        columns[i] = all[i];
    return count;
}

void cli_frame_cells(const struct cli_frame *frame, size_t count, char *buffer,
                     struct cli_cell *cells)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = cli_cell_text(NULL);
    if (count > SHOW_FILE && frame->has_file)
        cells[SHOW_FILE] = cli_cell_str(frame->file);
    if (count > SHOW_LINE && frame->has_line) {
        cells[SHOW_LINE].kind = CLI_CELL_I64;
        cells[SHOW_LINE].as.i64 = frame->line;
    }
    if (count > SHOW_ADDRESS && frame->has_address) {
        snprintf(buffer, CLI_NUMBER_SIZE, "0x%llx", (unsigned long long)frame->address);
        cells[SHOW_ADDRESS] = cli_cell_text(buffer);
    }
}

void cli_frame_name(struct cli_out *out, pcol_str name, size_t width)
{
    char *text = malloc(4 * name.size + 1);
    size_t used;

    if (text == NULL) {
        cli_out_safe(out, name.data, name.size);
        return;
    }
    cli_escape(name.data, name.size, out->is_ascii, text, &used);
    cli_out_cut(out, text, used, width);
    free(text);
}
