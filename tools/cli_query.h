/*
 * cli_query.h - components of the commands that query: selections, results, source files
 */
#ifndef PCOL_TOOLS_CLI_QUERY_H
#define PCOL_TOOLS_CLI_QUERY_H

#include "cli.h"

/* ---- --root and --leaf (cli_added_frames.c) ---- */

/* The parsed options; the texts of `roots` and `leaves` belong to them. */
struct cli_added_frames {
    const char **roots, **leaves;
    size_t root_count, leaf_count;
};
/* A usage error for a kind of frame that does not exist. Close also after a failure. */
int cli_added_frames_open(struct cli_added_frames *frames, const struct cli_args *args);
void cli_added_frames_close(struct cli_added_frames *frames);
/* Replace the file of an input by a copy whose stacks have the frames, if there are any; also
 * after a failure the caller closes the input. */
int cli_add_frames(struct cli_input *input, const struct cli_added_frames *frames,
                   const struct cli_args *args);

/* ---- selections (cli_selection.c) ---- */

/* Parse --tolerance into tolerance_ns (cli_time.c). */
int cli_tolerance(struct cli_args *args);
/* A usage error for a --time that is no range. */
int cli_time_check(const struct cli_args *args);
/* Parse --time; +A-B reads the time of the first sample. */
int cli_time(const struct cli_input *input, const struct cli_args *args, pcol_selection *selection);
/* Convert the selection options; the texts are borrowed from args. */
int cli_selection(const struct cli_input *input, const struct cli_args *args,
                  pcol_selection *selection);
/* Warn if the query leaves out sources without its sample type. */
void cli_warn_left_out(const struct cli_input *input, const struct cli_args *args,
                       pcol_query *query);
/* The same, and if the query has no samples. */
void cli_warn_empty(const struct cli_input *input, const struct cli_args *args, pcol_query *query);
/* Create a query of an input, and print its warning, except of sources that it leaves out. */
int cli_query_new(const struct cli_input *input, const struct cli_args *args, pcol_query **query);
/* Create queries of an input and of `count` bases with the same sample type: the requested one, or
 * one of all. The caller frees all, also after a failure. */
int cli_query_compared(const struct cli_input *bases, size_t count, const struct cli_input *input,
                       const struct cli_args *args, pcol_query **base_queries, pcol_query **query);
/* Make a query that counts samples with a value of the type of another query, or of samples/count
 * if `like` is NULL. *fits: 0 without a query if values of the type are no samples. */
int cli_query_count(const struct cli_input *input, const struct cli_args *args, pcol_query *like,
                    pcol_query **query, int *fits);

/* What is known of an open query; it cannot fail. */
static inline void cli_query_describe(const pcol_query *query, pcol_query_info *info)
{
    *info = (pcol_query_info){.size = sizeof *info};
    (void)!pcol_query_describe(query, info, NULL);
}
static inline void cli_result_describe(const pcol_result *result, pcol_result_info *info)
{
    *info = (pcol_result_info){.size = sizeof *info};
    (void)!pcol_result_describe(result, info, NULL);
}

/* Display of the amounts of a query. */
struct cli_amounts {
    pcol_query_info info;
    int is_double; /* amounts are doubles; those of a diff may be for a query of integers */
    int people;    /* short text instead of numbers */
    int selects;   /* samples or frames were selected */
    double total;
    double scale; /* to seconds or bytes, where `unit` is one of these */
    enum { CLI_UNIT_PLAIN, CLI_UNIT_SECONDS, CLI_UNIT_BYTES } unit;
};
void cli_amounts_init(struct cli_amounts *amounts, pcol_query *query, const struct cli_args *args,
                      const struct cli_out *out);
double cli_amount_double(const struct cli_amounts *amounts, pcol_amount amount);
/* The cell of an amount; on a terminal text in `buffer` (CLI_NUMBER_SIZE). */
struct cli_cell cli_amount_cell(const struct cli_amounts *amounts, pcol_amount amount,
                                char *buffer);
void cli_amount_set(const struct cli_amounts *amounts, pcol_amount amount, char *buffer,
                    struct cli_cell *cell);
/* Share of the total in percent; NAN if the amount or the total is not finite. */
double cli_amount_share(const struct cli_amounts *amounts, pcol_amount amount);
struct cli_cell cli_amount_percent(const struct cli_amounts *amounts, pcol_amount amount);
/* The same in seconds; null if not known. */
struct cli_cell cli_amount_seconds(const struct cli_amounts *amounts, pcol_amount amount,
                                   char *buffer);
/* "samples/count, total 308 (6.16s)" and a line end. */
void cli_amounts_header(const struct cli_amounts *amounts, struct cli_out *out);
/* Columns of amounts before the names of tree and peek; omitted on a narrow terminal. */
struct cli_gutter {
    int self, percent;
    size_t columns; /* columns after the gutter, SIZE_MAX: any number */
};
#define CLI_GOOD_TEXT 32u /* width that a text should have before other columns are omitted */
/* `widest`: width of the longest line after the gutter. */
void cli_gutter_init(struct cli_gutter *gutter, const struct cli_out *out, size_t widest);
void cli_gutter_header(const struct cli_gutter *gutter, struct cli_out *out);
void cli_gutter_put(const struct cli_gutter *gutter, struct cli_out *out,
                    const struct cli_amounts *amounts, pcol_amount total, pcol_amount self);
void cli_gutter_blank(const struct cli_gutter *gutter, struct cli_out *out);
/* List the omitted columns at the end. */
void cli_gutter_end(const struct cli_gutter *gutter, struct cli_out *out);
/* Names of frames by --demangle (cli_demangle.c). */
struct cli_names {
    int wanted, is_stack;
    char *plain; /* the last name, if it was demangled */
};
/* `people`: the names are for display. `by`: what they name; those of files, binaries, threads,
 * labels and the like are shown as they are, those of stacks demangled frame by frame. */
void cli_names_init(struct cli_names *names, const struct cli_args *args, int people, pcol_by by);
/* In commands that draw graphs, "auto" shows names demangled. */
void cli_names_in_graphs(struct cli_args *args);
void cli_names_free(struct cli_names *names);
/* The time for demangling is over: further names are as they are. */
int cli_names_are_over(void);
/* Valid until the next call. */
pcol_str cli_name(struct cli_names *names, pcol_str name);
/* cli_rust_name.c: decode the escapes of a Rust name that was demangled as C++; returns its size,
 * which does not grow. Other names stay as they are. */
size_t cli_rust_name(char *text, size_t size);
/* Patterns that match demangled names, too, unless --demangle is off (cli_demangled.c). */
enum { CLI_DEMANGLED_SETS = 4 }; /* of focus, ignore, hide and show */
struct cli_demangled {
    uint32_t *rows[CLI_DEMANGLED_SETS];
    pcol_rows sets[CLI_DEMANGLED_SETS];
};
/* Give a selection the functions whose demangled names match its patterns. The caller frees `d`,
 * which the selection borrows, also after a failure. */
pcol_status cli_demangled_select(const pcol_file *file, const struct cli_args *args,
                                 pcol_selection *selection, struct cli_demangled *d,
                                 pcol_error *err);
void cli_demangled_free(struct cli_demangled *d);
/* *pattern: one of the functions whose names, demangled or not, are `wanted` or else match it; the
 * caller frees it. NULL if no demangled name does. */
pcol_status cli_demangled_name(const pcol_file *file, const struct cli_args *args,
                               const char *wanted, char **pattern, pcol_error *err);
/* The order from --sort and --cum. */
int cli_parse_order(const struct cli_args *args, pcol_order *order);

/* ---- results (cli_result.c) ---- */

/* Columns that several commands read. Those of one command follow, from CLI_FIELDS on. */
enum cli_field_name {
    CLI_FIELD_NAME,
    CLI_FIELD_FILE,
    CLI_FIELD_LINE,
    CLI_FIELD_ADDRESS,
    CLI_FIELD_SELF,
    CLI_FIELD_TOTAL,
    CLI_FIELD_PARENT,
    CLI_FIELD_DEPTH,
    CLI_FIELDS
};

enum { CLI_RESULT_BATCH = 64 };

/* A column of a result: numbers are read in place, texts in batches. */
struct cli_field {
    const pcol_column *text; /* NULL: numbers, or no such column */
    pcol_array array;        /* of numbers; `rows` 0: every cell is null */
    size_t first, read;      /* rows of the batch */
    pcol_str texts[CLI_RESULT_BATCH];
    uint8_t valid[CLI_RESULT_BATCH];
};

/* A result and its rows. */
struct cli_result {
    pcol_result *result;
    size_t count;
    struct cli_field *fields; /* CLI_FIELDS and the command's own */
};

/* Read rows->result, the answer of a query; status, err: of the query. name: of the input, for
 * errors. columns: names of the command's own fields, the last NULL; or NULL. Close also after a
 * failure. */
int cli_result_open(struct cli_result *rows, pcol_status status, const pcol_error *err,
                    const char *name, const char *const *columns);
/* The same for pcol_query_peek() of a name, with the column CLI_FIELD_RELATION. It is an error if
 * no function matches. */
int cli_peek_open(struct cli_result *rows, const struct cli_input *input,
                  const struct cli_args *args, pcol_query *query, const char *name);
enum { CLI_FIELD_RELATION = CLI_FIELDS };
void cli_result_close(struct cli_result *rows);
/* Data NULL where null. */
pcol_str cli_result_text(const struct cli_result *rows, size_t field, size_t row);
static inline int cli_result_has(const struct cli_result *rows, size_t field, size_t row)
{
    const struct cli_field *f = &rows->fields[field];

    if (f->text != NULL)
        return cli_result_text(rows, field, row).data != NULL;
    return f->array.rows > 0 &&
           (f->array.validity == NULL || (f->array.validity[row / 8] >> (row % 8) & 1));
}
/* Doubles of columns of doubles, else integers; 0 where null. */
static inline pcol_amount cli_result_amount(const struct cli_result *rows, size_t field, size_t row)
{
    const pcol_array *array = &rows->fields[field].array;
    pcol_amount amount = {0};

    if (array->rows == 0)
        return amount;
    if (array->width_bits == 64)
        amount = ((const pcol_amount *)array->values)[row];
    else if (array->width_bits == 32)
        amount.i64 = ((const uint32_t *)array->values)[row];
    else
        amount.i64 = ((const uint8_t *)array->values)[row / 8] >> (row % 8) & 1;
    return amount;
}

/* What identifies a row. */
struct cli_frame {
    int has_name, has_file, has_line, has_address;
    pcol_str name, file;
    int64_t line;
    uint64_t address;
};
struct cli_result_row {
    struct cli_frame frame;
    pcol_amount self, total;
    uint32_t parent, depth; /* of a tree */
};
void cli_result_frame(const struct cli_result *rows, size_t row, struct cli_frame *frame);
void cli_result_get(const struct cli_result *rows, size_t row, struct cli_result_row *values);

/* A box of a flame graph. */
struct cli_box {
    pcol_str name;
    uint32_t depth;
    double x, width, change;
    int is_gone;
    pcol_amount total;
};
int cli_flame_open(struct cli_result *rows, pcol_status status, const pcol_error *err,
                   const char *name);
struct cli_box cli_flame_box(const struct cli_result *rows, size_t row);

/* ---- source files (cli_source.c) ---- */

struct cli_source {
    size_t tries, read; /* paths that were tried, and bytes of files, of all functions */
    int is_limited;     /* further files were not read */
    const struct cli_list *directories;
    char *own; /* directory of the profile; NULL: none */
    char *text;
    uint32_t *lines; /* offsets: line n is [lines[n - 1], lines[n]) */
    size_t size, count;
    uint64_t device, inode; /* of the file whose text this is */
};
/* Verify the directories of --source-path; the directory of the profile is also searched. */
int cli_source_open(struct cli_source *source, const struct cli_list *directories,
                    const char *profile);
void cli_source_close(struct cli_source *source);
/* Read a file with this path, or with an end of it, below the directories; 0: there is none. */
int cli_source_find(struct cli_source *source, pcol_str file);
/* The text of a line from 1, without its end; valid until the next search. Data NULL: none. */
pcol_str cli_source_line(const struct cli_source *source, int64_t line);

/* The columns among file, line and address of a kind of rows (cli_frame.c); people: without
 * those that repeat the name. Returns their number. */
enum { CLI_FRAME_COLUMNS = 3 };
size_t cli_frame_columns(pcol_by by, int people, struct cli_table_column *columns);
/* Their cells; buffer: CLI_NUMBER_SIZE bytes for the address. */
void cli_frame_cells(const struct cli_frame *frame, size_t count, char *buffer,
                     struct cli_cell *cells);
/* Write a name in at most `width` columns, with unsafe characters as \xNN. */
void cli_frame_name(struct cli_out *out, pcol_str name, size_t width);
/* Warn if no frame of the rows has the file or line of --by. */
void cli_warn_positions(const struct cli_result *rows, pcol_by by, const char *name,
                        const struct cli_args *args);
/* Parse --by into a kind of rows, and the key of the label or NULL. frames: only kinds of
 * frames. */
int cli_parse_by(const char *text, int frames, pcol_by *by, const char **label);
/* Replace an input by a copy of its selected samples in memory. */
int cli_input_filter(struct cli_input *input, const struct cli_args *args);
/* The same without the frames that a pprof drops, unless --keep-dropped: what answers show. */
int cli_input_filter_shown(struct cli_input *input, const struct cli_args *args);
/* The same into a builder. options: NULL, or further options, whose selection is filled in. */
int cli_filter(const struct cli_input *input, const struct cli_args *args,
               const pcol_filter_options *options, pcol_builder *builder);
/* Create a builder that spills long columns to TMPDIR. */
pcol_builder_options cli_builder_options(const struct cli_args *args);
int cli_builder_new(const struct cli_args *args, pcol_builder **builder);
/* The sums of inputs, for merge --sums (cli_sums.c). */
int cli_sums(const struct cli_args *args, const char *const *inputs, size_t count,
             const char *output, pcol_builder **builder);

/* Threads that the library may use for the command: --threads, or one for each core
 * (cli_cores.c). */
unsigned cli_threads(const struct cli_args *args);

/* cli_stack.c: call the function with enough stack for the library; returns its result. */
int cli_with_stack(int (*function)(void *context), void *context);
/* Whether a table is for display rather than in a machine format. */
int cli_for_people(const struct cli_args *args, const struct cli_out *out);

/* ---- queries of Perun profiles (cli_answers.c) ---- */

/* Whether a table is one that Perun profiles have in addition to the data model. */
int cli_answers_table(const char *name, pcol_question *question);
/* Run a query and print it by --columns, --where, --rows and --offset; `last`: only the last
 * rows. */
int cli_answers_print(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, int last);
/* Number of rows that satisfy --where. */
int cli_answers_count(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, uint64_t *count);

#endif
