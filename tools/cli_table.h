/*
 * cli_table.h - state that the formats of tables share; for cli_table.c and cli_lines.c only
 */
#ifndef PCOL_TOOLS_CLI_TABLE_H
#define PCOL_TOOLS_CLI_TABLE_H

#include "cli.h"

enum layout { LAYOUT_TABLE, LAYOUT_MARKDOWN, LAYOUT_TSV, LAYOUT_CSV, LAYOUT_JSON, LAYOUT_NDJSON };

/* Text of a buffered cell until its column is measured. */
struct kept {
    size_t start, size, width;
};

struct cli_table {
    struct cli_out *out;
    enum layout layout;
    const struct cli_table_column *columns;
    size_t count;
    const char *null;
    int header;
    int safe; /* prefix text that a spreadsheet would read as a formula */
    uint64_t rows;
    int failed; /* out of memory */
    /* the aligned table */
    size_t *widths;
    int chosen;              /* --columns can choose columns */
    unsigned char *hidden;   /* columns omitted on the terminal: listed below the table */
    unsigned char *constant; /* optional columns with equal cells in all measured rows */
    struct kept *kept;       /* MEASURED_ROWS * count cells; NULL once measured */
    size_t kept_rows;
    char *text;
    size_t text_size, text_capacity;
    /* the other formats */
    struct cli_lines *lines; /* NULL: unused, or no memory */
    struct cli_blocks *blocks;
};

/* TSV, CSV, JSON and ndjson (cli_lines.c). */
void cli_lines_begin(struct cli_table *table);
void cli_lines_row(struct cli_table *table, const struct cli_cell *cells);
void cli_lines_end(struct cli_table *table);

/* The pieces of a row, for cli_blocks.c: separator, cells, end. */
void cli_lines_open(struct cli_table *table, int first);
void cli_lines_piece(struct cli_table *table, size_t i, const struct cli_cell *cell, int *first);
/* The separator before cell number i; *first: it is the first cell of the row. */
void cli_lines_before(struct cli_table *table, size_t i, int *first);
void cli_lines_close(struct cli_table *table);

/* Markdown (cli_markdown.c). */
void cli_markdown_begin(struct cli_table *table);
void cli_markdown_row(struct cli_table *table, const struct cli_cell *cells);

/* Free the buffers of blocks (cli_blocks.c). */
void cli_blocks_end(struct cli_table *table);

#endif
