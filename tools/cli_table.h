/*
 * cli_table.h - what the formats of tables share; for cli_table.c and cli_lines.c alone
 */
#ifndef PCOL_TOOLS_CLI_TABLE_H
#define PCOL_TOOLS_CLI_TABLE_H

#include "cli.h"

enum layout { LAYOUT_TABLE, LAYOUT_MARKDOWN, LAYOUT_TSV, LAYOUT_CSV, LAYOUT_JSON, LAYOUT_NDJSON };

/* The text of a cell that waits until its column is measured. */
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
    int safe; /* no text that a spreadsheet would take for a formula */
    uint64_t rows;
    int failed; /* memory */
    /* the aligned table */
    size_t *widths;
    int chosen;            /* --columns can say which columns */
    unsigned char *hidden; /* columns that the terminal has no room for: named below the table */
    unsigned char
        *constant;     /* columns that may be left out and say the same in all measured rows */
    struct kept *kept; /* MEASURED_ROWS * count cells; NULL once measured */
    size_t kept_rows;
    char *text;
    size_t text_size, text_capacity;
    /* the other formats */
    struct cli_lines *lines; /* NULL: none needed, or no memory for them */
    struct cli_blocks *blocks;
};

/* TSV, CSV, JSON and ndjson (cli_lines.c). */
void cli_lines_begin(struct cli_table *table);
void cli_lines_row(struct cli_table *table, const struct cli_cell *cells);
void cli_lines_end(struct cli_table *table);

/* What a row is made of, for cli_blocks.c: what stands before it, its cells, and what ends it. */
void cli_lines_open(struct cli_table *table, int first);
void cli_lines_piece(struct cli_table *table, size_t i, const struct cli_cell *cell, int *first);
/* What stands before cell number i; *first: no other cell of the row does. */
void cli_lines_before(struct cli_table *table, size_t i, int *first);
void cli_lines_close(struct cli_table *table);

/* Markdown (cli_markdown.c). */
void cli_markdown_begin(struct cli_table *table);
void cli_markdown_row(struct cli_table *table, const struct cli_cell *cells);

/* Release what blocks need (cli_blocks.c). */
void cli_blocks_end(struct cli_table *table);

#endif
