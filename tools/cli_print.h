/*
 * cli_print.h - output of the commands: files, tables, cells, exported profiles
 */
#ifndef PCOL_TOOLS_CLI_PRINT_H
#define PCOL_TOOLS_CLI_PRINT_H

#include "cli.h"

/* ---- names of outputs (cli_suffix.c) ---- */

/* Ignores case; the name must be longer than the suffix. */
int cli_ends_in(const char *name, const char *suffix);
/* Whether the output is a file rather than standard output. */
int cli_is_file_name(const char *output);
/* The format of a table or graph from its suffix: "csv", "markdown", ...; NULL: unknown. */
const char *cli_text_format(const char *name);
/* Set --format from the suffix of the output unless it is given; a usage error if the command
 * cannot write that format. */
int cli_format_by_name(struct cli_args *args, const struct cmd *cmd);

/* The profile format from the suffix of args->output. NULL: a pcol file, no file or an unknown
 * suffix. A usage error if the format is read-only. */
int cli_profile_by_name(const struct cli_args *args, const pcol_format **format);
/* A usage error if the output has the suffix of another format than HTML. */
int cli_require_html_name(const struct cli_args *args);
/* A usage error if its suffix is that of another format than .txt: for plain text. */
int cli_require_text_name(const struct cli_args *args);
/* A usage error if the output of a profile has the suffix of a table, picture or archive. */
int cli_reject_text_name(const struct cli_args *args);

/* ---- output (cli_output.c) ---- */

#define CLI_OUT_SIZE 65536
#define CLI_LINE_SIZE 16384

/* Output of a command: a buffer for stdout or for a file that is renamed into place. Errors are
 * sticky: later writes are discarded, and cli_out_finish() returns the code. */
struct cli_out {
    const char *name; /* for messages */
    pcol_output *file;
    pcol_sink sink; /* without `file`; no function: stdout */
    int memory;     /* a buffer only: see cli_out_open_memory() */
    int terminal;   /* stdout is a terminal */
    int is_ascii;   /* its charset is not UTF-8 */
    int color;
    int code;         /* 0, or the exit code of the first failure */
    uint64_t written; /* bytes to the file */
    size_t slot;      /* in the signal handlers, which unlink the file */
    unsigned fold;    /* columns; 0: lines are not folded */
    size_t line_used, line_columns, line_indent;
    int line_continued; /* the last line continues a folded one: its further lines align */
    size_t used;
    char buffer[CLI_OUT_SIZE];
    char line[CLI_LINE_SIZE]; /* the last line so far, if lines are folded */
};

#define CLI_OUT_BINARY 1u
#define CLI_OUT_PRIVATE 2u /* readable for its owner only */
#define CLI_OUT_FILES 2    /* maximum number open at a time */

/* Open an output by -o (here `path`; NULL or "-" is stdout), -f and --no-sync. */
int cli_out_open_path(struct cli_out *out, const struct cli_args *args, const char *path,
                      unsigned flags);
int cli_out_open(struct cli_out *out, const struct cli_args *args);
/* Whether two open outputs will replace the same file. */
int cli_outs_equal(const struct cli_out *a, const struct cli_out *b);
/* Write everything out, so that cli_out_finish() only renames; returns the exit code. */
int cli_out_complete(struct cli_out *out, int code);
/* Flush and rename the file into place if `code` is 0 or 1, else delete it; returns the exit
 * code. */
int cli_out_finish(struct cli_out *out, int code);
/* Call `one` for each operand, with one output; returns the highest exit code. `keep`: write the
 * output even if an operand could not be read. */
int cli_each_operand(const struct cli_args *args,
                     int (*one)(const struct cli_args *args, const char *path, struct cli_out *out),
                     int keep);
/* Open a buffer only; text beyond its size sets out->code to 4, without a message. `like`: an
 * output with the same reader. */
void cli_out_open_memory(struct cli_out *out, const struct cli_out *like);
/* Open an output to a sink; cli_out_finish() flushes it. */
void cli_out_open_sink(struct cli_out *out, pcol_sink sink);
void cli_out_flush(struct cli_out *out);
void cli_out_long(struct cli_out *out, const void *data,
                  size_t size); /* for data that does not fit the buffer */
static inline void cli_out_write(struct cli_out *out, const void *data, size_t size)
{
    if (size > CLI_OUT_SIZE - out->used) {
        cli_out_long(out, data, size);
    } else if (size > 0 && data != NULL) {
        memcpy(out->buffer + out->used, data, size);
        out->used += size;
    }
}
void cli_out_text(struct cli_out *out, const char *text);
/* Fold later lines that exceed the terminal, at blanks if possible. */
void cli_out_fold(struct cli_out *out);
/* Write escaped text (cli_escape) in at most `width` columns, without its middle if necessary. */
void cli_out_cut(struct cli_out *out, const char *text, size_t size, size_t width);
void cli_out_printf(struct cli_out *out, const char *format, ...) CLI_PRINTF(2, 3);
/* Write words up to column 79, with `indent` columns before further lines, and a line end. */
void cli_out_words(struct cli_out *out, const char *text, size_t size, size_t indent);
/* Write untrusted text with unsafe characters as \xNN. */
void cli_out_safe(struct cli_out *out, const char *text, size_t size);
/* Write untrusted text unchanged, but on a terminal as cli_out_safe(). */
static inline void cli_out_plain(struct cli_out *out, const char *text, size_t size)
{
    if (out->terminal)
        cli_out_safe(out, text, size);
    else
        cli_out_write(out, text, size);
}
/* Reserve at least `size` bytes of the buffer; cli_out_commit() commits those written. */
static inline char *cli_out_reserve(struct cli_out *out, size_t size)
{
    if (size > CLI_OUT_SIZE - out->used)
        cli_out_flush(out);
    return out->buffer + out->used;
}
static inline void cli_out_commit(struct cli_out *out, size_t size)
{
    out->used += size;
}
pcol_sink cli_out_sink(struct cli_out *out);
/* A failure if the output is one of the inputs, which would be lost. */
int cli_reject_input(const char *output, const char *const *inputs, size_t count);
/* Columns of the terminal on stdout, else the value of COLUMNS, else 80; from 20 to 2000. */
unsigned cli_terminal_columns(void);
/* Install the signal handlers; call once, before everything else. */
void cli_signals(void);

/* ---- writing profiles (cli_export.c) ---- */

/* The format of the profile in args->output; NULL is a pcol file. A usage error if the suffix is
 * that of another kind of file. */
int cli_profile_output(const struct cli_args *args, const pcol_format **format);
/* Write the content of a builder as a pcol file (`format` NULL) or, like unpack, in another
 * format. */
int cli_write_profile(pcol_builder *builder, const pcol_format *format, const struct cli_args *args,
                      struct cli_out *out);
/* The share from 0 to 1 that an option gives, as pcol_export_options has it: below 0 for none. */
int cli_fraction(const char *option, const char *text, double *share);
/* Export a profile, with one warning for content that the format cannot represent. With
 * --fail-on-loss that is exit code 5, and nothing is written. */
int cli_export(const struct cli_input *input, const char *format, const struct cli_args *args,
               struct cli_out *out);

/* ---- tables (cli_table.c, cli_json.c) ---- */

enum cli_cell_kind {
    CLI_CELL_NULL,
    CLI_CELL_I64,
    CLI_CELL_U64,
    CLI_CELL_F64,
    CLI_CELL_BOOL,
    CLI_CELL_PERCENT, /* f64 with two decimals */
    CLI_CELL_TEXT,
    CLI_CELL_LIST,
    CLI_CELL_ABSENT, /* a null whose key json and ndjson omit */
    CLI_CELL_RAW     /* JSON text, or a number with any number of digits */
};

struct cli_cell {
    enum cli_cell_kind kind;
    int stable; /* text: the bytes at its address do not change, so its rendering can be cached */
    union {
        int64_t i64; /* BOOL too */
        uint64_t u64;
        double f64;
        struct {
            const char *data;
            size_t size;
        } text;
        struct {
            const int64_t *values;
            size_t count;
        } list;
    } as;
};

struct cli_cell cli_cell_text(const char *text); /* NULL: null */
struct cli_cell cli_cell_str(pcol_str text);
struct cli_cell cli_cell_u64(uint64_t value);
struct cli_cell cli_cell_bool(int value);
/* A physical or logical cell of a batch. */
struct cli_cell cli_cell_of(const pcol_cells *cells, size_t row);

/* ---- single cells (cli_cell.c) ---- */

/* The description of a column; of NULL an empty one. */
pcol_column_info cli_describe(const pcol_column *column);
pcol_status cli_cell_read(const pcol_column *column, uint64_t row, struct cli_cell *cell,
                          pcol_error *err);
/* The same by the column's name; null if there is no such column or no table. */
pcol_status cli_cell_find(const pcol_table *table, const char *column, uint64_t row,
                          struct cli_cell *cell, pcol_error *err);
/* Whether the cell has this text. */
int cli_cell_is(const struct cli_cell *cell, const char *text);
/* Find an optional table; NULL and 0 rows if it is absent. */
pcol_status cli_find_table(const pcol_file *file, pcol_model model, const char *name,
                           const pcol_table **table, uint64_t *rows, pcol_error *err);
/* E_LIMIT for an implausible number of rows for the size of the file, before reading them one by
 * one: constant columns take no bytes. */
pcol_status cli_verify_row_count(const pcol_file *file, const char *table, uint64_t rows,
                                 pcol_error *err);
/* Bytes of all columns of a physical table. */
uint64_t cli_table_bytes(const pcol_table *table);

struct cli_table;
struct cli_table_column {
    const char *name;
    int flags;
};
#define CLI_LEFT 0
#define CLI_RIGHT 1 /* a column of numbers, in aligned tables */
#define CLI_PROSE 2 /* text of pcol, not code in Markdown */
#define CLI_KEEP 4  /* omitted last, after the texts of all columns are cut to 1 character */
#define CLI_REPEATED (1 << 12) /* a column before it is the same one: not for JSON */
/* A narrow terminal cuts texts down to CLI_GOOD_TEXT and then omits columns: the highest rank
 * first, among equal ranks the last column. */
#define CLI_OPTIONAL(rank) ((rank) << 3)
/* Tables of frames omit further forms of the values first, then files and lines, addresses and
 * shares; name, self and total are CLI_KEEP. */
#define CLI_SHARE CLI_OPTIONAL(1)
#define CLI_ADDRESS CLI_OPTIONAL(2)
#define CLI_FILE CLI_OPTIONAL(3)
#define CLI_FURTHER(rank) CLI_OPTIONAL(3 + (rank))
/* Usage errors of the options of tables, before any output, for all commands alike. */
int cli_table_check(const struct cli_args *args);
/* `format` NULL: table on a terminal, else by the suffix of the output (.csv, ...), else tsv. */
int cli_table_begin(struct cli_table **table, struct cli_out *out, const struct cli_args *args,
                    const struct cli_table_column *columns, size_t count);
void cli_table_row(struct cli_table *table, const struct cli_cell *cells);
/* A cell that is a number in each repetition. */
struct cli_part {
    size_t row, column;
    enum cli_cell_kind kind; /* I64, F64 or BOOL */
    const int64_t *values;   /* by repetition; of doubles the bits */
};
/* Write `rows` rows `times` times; each repetition first stores the values of the parts in their
 * cells. */
void cli_table_block(struct cli_table *table, struct cli_cell *cells, size_t rows, size_t times,
                     const struct cli_part *parts, size_t count);
/* Enable the cache for tables whose stable cells often repeat from row to row. */
void cli_table_reuse(struct cli_table *table);
/* Write the buffered rows and free the table. After a failure (`code`) the end is omitted, so
 * that readers of JSON notice the truncation. Returns `code`, or that of its own failure. */
int cli_table_end(struct cli_table *table, int code);

/* Parts of JSON, also for info and schema. */
void cli_json_text(struct cli_out *out, const char *data, size_t size);
void cli_json_cell(struct cli_out *out, const struct cli_cell *cell);
/* `"key":` with a comma before it unless *first, which is cleared. */
void cli_json_key(struct cli_out *out, int *first, const char *key);

/* Text as a code span of Markdown, outside of tables (cli_markdown.c). */
void cli_markdown_code(struct cli_out *out, const char *text, size_t size);

/* Text of a number, boolean or list; at most CLI_NUMBER_SIZE except for lists. */
size_t cli_cell_number(const struct cli_cell *cell, char *text);

/* ---- columns of a table ---- */

struct cli_columns {
    pcol_column_info *list;
    size_t count;
};

/* Describe all columns of a table. */
int cli_columns_new(const pcol_table *table, struct cli_columns *columns);
void cli_columns_free(struct cli_columns *columns);

#endif
