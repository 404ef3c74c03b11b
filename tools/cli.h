/*
 * cli.h - what the commands share: exit codes, options, errors, input, output, tables
 *
 * A function that can fail gives an exit code: 0, or a code whose message is already on stderr.
 */
#ifndef PCOL_TOOLS_CLI_H
#define PCOL_TOOLS_CLI_H

#include "pcol.h"

#include <stdio.h>
#include <string.h>

enum {
    CLI_OK = 0,
    CLI_NO = 1,      /* the answer is no */
    CLI_USAGE = 2,   /* called in a way that means nothing */
    CLI_INPUT = 3,   /* input that is bad or not supported */
    CLI_IO = 4,      /* input, output or memory failed */
    CLI_REFUSED = 5, /* would overwrite, would lose */
    CLI_CLOSED = -1  /* internal: nobody reads stdout any more; ends as 0, quietly */
};

#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- options (cli_options.c) ---- */

struct cli_list {
    const char **items;
    size_t count;
};

/* The value of every option of every command, so that one name means one thing everywhere. */
struct cli_args {
    const char *command; /* as the table names it */
    const char **operands;
    size_t operand_count;

    int help, version, quiet, verbose;
    const char *color, *progress;

    const char *output;
    int force, no_sync;

    const char *from;
    uint64_t max_input; /* CLI_UNSET where not given */
    int trusted;
    uint64_t threads; /* 0: as many as there are cores */
    int lenient, collapse_idle;
    const char *tolerance;
    uint64_t tolerance_ns; /* of that; 0: none */

    const char *format, *null;
    int no_header, csv_safe;

    const char *table, *columns, *model;
    int physical, join;
    uint64_t rows, offset; /* CLI_UNSET where not given */
    struct cli_list where;

    struct cli_list meta;
    const char *source_uri, *source_timestamp;
    int each, plain;
    struct cli_list archive; /* NULL, auto, lz4 or zlib */

    const char *to, *sample_type;
    uint64_t source;
    int fail_on_loss, expand_idle;

    int depth; /* pcol_check_depth */

    /* selection (cli_selection.c) */
    const char *focus, *ignore, *hide, *show, *thread, *pick_source, *time, *time_share;
    struct cli_list labels;
    int keep_dropped;

    struct cli_list drop_labels; /* keys; NULL among them: all labels */
    int anonymize;
    const char *map;

    const char *by, *sort, *demangle;
    int cum, bottom_up;
    uint64_t max_depth; /* CLI_UNSET where not given */

    int normalize;
    const char *fail_above;

    int inverted, upright, reverse;
    const char *base, *title, *min_width;
    uint64_t width; /* CLI_UNSET where not given */

    /* query (cli_answers.c) */
    int flat, unique, numeric, models;
    uint64_t row; /* CLI_UNSET where not given */
    const char *path, *group, *filter;
};

#define CLI_UNSET UINT64_MAX

enum cli_option_kind {
    CLI_FLAG,  /* int: `value` is stored */
    CLI_TEXT,  /* const char *: the argument; one of `choices` if there are any */
    CLI_COUNT, /* uint64_t: a number in digits */
    CLI_LIST,  /* struct cli_list: every argument given */
    CLI_MAYBE  /* the same; an argument only as --name=argument, else NULL is stored */
};

struct cli_option {
    char letter;          /* 0: none */
    const char *name;     /* without its dashes */
    const char *argument; /* what it is called in the help; NULL for a flag */
    const char *summary;
    enum cli_option_kind kind;
    size_t target; /* offset in struct cli_args */
    int value;
    /* "a|b|c", or one of the two below. A choice that ends in '|' and nothing allows anything. */
    const char *choices;
};

#define CLI_CHOICES_READ "<formats that read>"
#define CLI_CHOICES_WRITE "<formats that write>"

#define CLI_AT(member) offsetof(struct cli_args, member)

/* Rows that several commands have in their tables. */
#define CLI_OPTION_OUTPUT                                                                        \
    {                                                                                            \
        'o', "output", "OUT", "write to the file OUT; - is stdout", CLI_TEXT, CLI_AT(output), 0, \
            NULL                                                                                 \
    }
#define CLI_OPTION_FORCE                                                                           \
    {                                                                                              \
        'f', "force", NULL, "replace an output file that exists", CLI_FLAG, CLI_AT(force), 1, NULL \
    }
#define CLI_OPTION_NO_SYNC                                                                \
    {                                                                                     \
        0, "no-sync", NULL, "do not fsync the output", CLI_FLAG, CLI_AT(no_sync), 1, NULL \
    }
#define CLI_OPTION_FROM                                                                           \
    {0,        "from",       "FORMAT", "format of the input (default: by content, then by name)", \
     CLI_TEXT, CLI_AT(from), 0,        CLI_CHOICES_READ},                                         \
        {0,         "max-input",                                                                  \
         "BYTES",   "reject inputs that expand beyond this size (default: 64 GiB)",               \
         CLI_COUNT, CLI_AT(max_input),                                                            \
         0,         NULL},                                                                        \
        {0,        "trusted",       NULL, "import without limits on memory and expansion",        \
         CLI_FLAG, CLI_AT(trusted), 1,    NULL},                                                  \
    {                                                                                             \
        0, "threads", "N", "number of threads (default: 0, one for each core)", CLI_COUNT,        \
            CLI_AT(threads), 0, NULL                                                              \
    }
#define CLI_OPTION_LENIENT                                                                       \
    {                                                                                            \
        0, "lenient", NULL, "accept known deviations from the format, with a warning", CLI_FLAG, \
            CLI_AT(lenient), 1, NULL                                                             \
    }
#define CLI_OPTION_STRICT_IMPORT                                                                  \
    {                                                                                             \
        0, "strict", NULL, "reject malformed input (default)", CLI_FLAG, CLI_AT(lenient), 0, NULL \
    }
#define CLI_OPTION_META                                                                       \
    {                                                                                         \
        0, "meta", "KEY=VALUE", "store this metadata with each source; repeatable", CLI_LIST, \
            CLI_AT(meta), 0, NULL                                                             \
    }
#define CLI_OPTION_PLAIN                                                                           \
    {                                                                                              \
        0, "plain", NULL,                                                                          \
            "store every column as a plain array, for programs that map the file without libpcol", \
            CLI_FLAG, CLI_AT(plain), 1, NULL                                                       \
    }
#define CLI_OPTION_ARCHIVE                                                                        \
    {                                                                                             \
        0, "archive", "CODEC",                                                                    \
            "compress for cold storage with zlib, lz4 or auto (default), which chooses for each " \
            "part",                                                                               \
            CLI_MAYBE, CLI_AT(archive), 0, "auto|lz4|zlib"                                        \
    }
#define CLI_OPTION_FAIL_ON_LOSS                                                                   \
    {                                                                                             \
        0, "fail-on-loss", NULL,                                                                  \
            "if the format cannot represent everything, write nothing and exit with 5", CLI_FLAG, \
            CLI_AT(fail_on_loss), 1, NULL                                                         \
    }
#define CLI_OPTION_COLLAPSE_IDLE                                                                  \
    {                                                                                             \
        0, "collapse-idle", NULL,                                                                 \
            "join a sample to its predecessor in the thread if the stack is the same and no CPU " \
            "time was used",                                                                      \
            CLI_FLAG, CLI_AT(collapse_idle), 1, NULL                                              \
    }
#define CLI_OPTION_TOLERANCE                                                                   \
    {                                                                                          \
        0, "tolerance", "TIME",                                                                \
            "with --collapse-idle: join only samples whose times --expand-idle restores with " \
            "this "                                                                            \
            "accuracy (5us, 0.1ms)",                                                           \
            CLI_TEXT, CLI_AT(tolerance), 0, NULL                                               \
    }
#define CLI_OPTION_FORMAT                                                         \
    {                                                                             \
        0, "format", "FORMAT",                                                    \
            "table (default on a terminal), tsv (default elsewhere), csv, json, " \
            "ndjson, markdown; a suffix of OUT (.csv, .md, ...) also chooses it", \
            CLI_TEXT, CLI_AT(format), 0, "table|tsv|csv|json|ndjson|markdown"     \
    }
#define CLI_OPTION_NO_HEADER                                                                     \
    {                                                                                            \
        0, "no-header", NULL, "leave out the line of column names", CLI_FLAG, CLI_AT(no_header), \
            1, NULL                                                                              \
    }
#define CLI_OPTION_NULL                                                                     \
    {0, "null", "TEXT", "text for a null in tsv and csv", CLI_TEXT, CLI_AT(null), 0, NULL}, \
        CLI_OPTION_CSV_SAFE
#define CLI_OPTION_CSV_SAFE                                                                      \
    {                                                                                            \
        0, "csv-safe", NULL,                                                                     \
            "csv, tsv: prefix text that a spreadsheet would read as a formula with '", CLI_FLAG, \
            CLI_AT(csv_safe), 1, NULL                                                            \
    }
#define CLI_OPTION_CUM                                                                           \
    {                                                                                            \
        0, "cum", NULL, "same as --sort total, the name that pprof uses", CLI_FLAG, CLI_AT(cum), \
            1, NULL                                                                              \
    }
#define CLI_OPTION_DEMANGLE                                                                       \
    {                                                                                             \
        0, "demangle", "WHEN",                                                                    \
            "demangle C++ names: auto (default: on a terminal and in graphs), on, off", CLI_TEXT, \
            CLI_AT(demangle), 0, "auto|on|off"                                                    \
    }
/* What the commands that select have in common. */
#define CLI_OPTIONS_FRAMES                                                                      \
    {0, "focus", "RE", "only samples with a matching frame", CLI_TEXT, CLI_AT(focus), 0, NULL}, \
        {0,        "ignore",       "RE", "only samples without a matching frame",               \
         CLI_TEXT, CLI_AT(ignore), 0,    NULL},                                                 \
        {0, "hide", "RE", "remove matching frames", CLI_TEXT, CLI_AT(hide), 0, NULL},           \
    {                                                                                           \
        0, "show", "RE", "remove frames that do not match", CLI_TEXT, CLI_AT(show), 0, NULL     \
    }
#define CLI_OPTIONS_SAMPLES                                                                      \
    {0, "thread", "RE", "only threads with a matching name", CLI_TEXT, CLI_AT(thread), 0, NULL}, \
        {0,           "label",                                                                   \
         "KEY=VALUE", "only samples with this label; KEY~RE: with a matching value; repeatable", \
         CLI_LIST,    CLI_AT(labels),                                                            \
         0,           NULL},                                                                     \
        {0,                                                                                      \
         "time",                                                                                 \
         "A-B",                                                                                  \
         "only from A up to B, or A+LENGTH, by the column .time (info shows its range); +A-B: "  \
         "relative to the first sample; in ms, or with s, ms, us, ns",                           \
         CLI_TEXT,                                                                               \
         CLI_AT(time),                                                                           \
         0,                                                                                      \
         NULL},                                                                                  \
    {                                                                                            \
        0, "time-share", "HOW",                                                                  \
            "weight of samples partly in the range: proportional (default), additive, exact",    \
            CLI_TEXT, CLI_AT(time_share), 0, "proportional|additive|exact"                       \
    }
#define CLI_OPTION_KEEP_DROPPED                                                               \
    {                                                                                         \
        0, "keep-dropped", NULL, "do not apply the drop_frames of a pprof profile", CLI_FLAG, \
            CLI_AT(keep_dropped), 1, NULL                                                     \
    }
#define CLI_OPTIONS_SELECTION                                                      \
    {0,        "sample-type",                                                      \
     "TYPE",   "sample type: TYPE or TYPE/UNIT (default: that of the profile)",    \
     CLI_TEXT, CLI_AT(sample_type),                                                \
     0,        NULL},                                                              \
        CLI_OPTIONS_FRAMES, CLI_OPTIONS_SAMPLES,                                   \
        {0,        "source",                                                       \
         "ID|RE",  "only the source with this id, or sources with a matching uri", \
         CLI_TEXT, CLI_AT(pick_source),                                            \
         0,        NULL},                                                          \
        CLI_OPTION_KEEP_DROPPED
#define CLI_OPTION_END                            \
    {                                             \
        0, NULL, NULL, NULL, CLI_FLAG, 0, 0, NULL \
    }

struct cmd;

/* Options that every command has. */
extern const struct cli_option cli_common_options[];

/* Read the arguments after the command's name. args->operands and the lists are allocated. */
int cli_parse(struct cli_args *args, const struct cmd *cmd, int argc, char **argv);
/* Read common options up to the first operand, whose index it stores (argc: none). */
int cli_parse_leading(struct cli_args *args, int argc, char **argv, int *first);
/* What --plain and --archive say to pcol_builder_write(). */
int cli_write_flags(const struct cli_args *args, unsigned *flags);
void cli_args_free(struct cli_args *args);
/* Does the command have the option whose value is at `target`? */
int cli_has_option(const struct cli_args *args, size_t target);
/* Most rows to show: what -n says, where 0 is all of them; else `otherwise`, UINT64_MAX for all. */
uint64_t cli_row_limit(const struct cli_args *args, uint64_t otherwise);
/* Choice number `index` of an option, NULL past the last. *size: its length. */
const char *cli_choice(const struct cli_option *option, size_t index, size_t *size);

/* ---- names of outputs (cli_suffix.c) ---- */

/* Without regard to case, and after something. */
int cli_ends_in(const char *name, const char *suffix);
/* Is the output a file, not standard output? */
int cli_is_file_name(const char *output);
/* What a table or graph of that name is written as: "csv", "markdown", ...; NULL: not known. */
const char *cli_text_format(const char *name);
/* --format from the output's name unless it is given; a usage error if the command cannot write
 * what the name promises. */
int cli_format_by_name(struct cli_args *args, const struct cmd *cmd);

/* The format of profiles that the name of args->output asks for. NULL: a pcol file, no file or no
 * such name. A usage error if the format is only read. */
int cli_profile_by_name(const struct cli_args *args, const pcol_format **format);
/* A usage error if a profile is to be written under the name of a table, picture or archive. */
int cli_refuse_text_name(const struct cli_args *args);

/* ---- suggestions (cli_suggest.c) ---- */

/* Collects the name nearest to `wanted`; offer any number of candidates. */
struct cli_suggest {
    const char *wanted;
    size_t best_distance;
    char best[64];
};
void cli_suggest_start(struct cli_suggest *suggest, const char *wanted);
void cli_suggest_offer(struct cli_suggest *suggest, const char *candidate, size_t size);
/* ", did you mean 'x'?" or "" */
const char *cli_suggest_text(const struct cli_suggest *suggest, char *text, size_t size);

/* Some names of tables or columns for a message: a file may have any number of them, a terminal has
 * one line. */
struct cli_some {
    char text[96];
    size_t used;
    int cut;
};
void cli_some_add(struct cli_some *some, const char *name); /* NULL: nothing */
/* What stands behind the text: where the rest is. */
const char *cli_some_end(const struct cli_some *some);

/* ---- errors (cli_error.c) ---- */

/* Who speaks; the command's name, or NULL for pcol itself. */
void cli_error_command(const char *name);
/* One line `pcol CMD: message`; gives `code`. Bytes that a terminal would act on show as \xNN. */
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3);
/* cli_fail(CLI_USAGE) and a pointer to the help. */
int cli_usage(const char *format, ...) CLI_PRINTF(1, 2);
int cli_fail_memory(void);
/* The same as an error of the library, and any other one that lies in no place of its own. */
pcol_status cli_set_error(pcol_error *err, pcol_status status, const char *message);
pcol_status cli_set_memory(pcol_error *err);
/* One line with the place in `file` (NULL: none) that `err` names; gives the code of its status. */
int cli_fail_error(const char *file, const pcol_error *err);
int cli_exit_code(pcol_status status);
/* `pcol CMD: FILE: warning: message`, unless -q. */
void cli_warn(const struct cli_args *args, const char *file, const char *message);
/* `pcol CMD: message` under -v. */
void cli_verbose(const struct cli_args *args, const char *format, ...) CLI_PRINTF(2, 3);
/* The worse of two exit codes: the higher. */
int cli_worse(int a, int b);
/* Whether a failure has been told. */
int cli_has_failed(void);

/* ---- numbers and text (cli_number.c, cli_text.c) ---- */

#define CLI_NUMBER_SIZE 40 /* room that always suffices */
size_t cli_format_u64(char *text, uint64_t value);
size_t cli_format_i64(char *text, int64_t value);
/* The same, quicker where lengths differ: at least CLI_NUMBER_SIZE of text may be overwritten. */
size_t cli_format_quick(char *text, int64_t value);
/* The shortest digits that give the same double back; as Python's repr. NaN, Infinity,
 * -Infinity. */
size_t cli_format_f64(char *text, double value);
size_t cli_format_percent(char *text, double value); /* as printf's %.2f */
/* 1234567 as "1,234,567"; terminated. */
const char *cli_format_grouped(char *text, uint64_t value);
/* Decimal digits only; 0 on success. */
int cli_parse_u64(const char *text, uint64_t *value);

/* Length of the valid UTF-8 sequence at text[0..size), 0 if there is none. */
size_t cli_utf8(const char *text, size_t size, uint32_t *code);
/* May a terminal act on it: control characters, line separators, bidi controls? */
int cli_unsafe(uint32_t code);
/* Is the charset of the locale UTF-8? */
int cli_is_utf8(void);
/* What trees are drawn with, two columns each, and what stands for text that is cut out; ASCII
 * where the charset is not UTF-8. */
struct cli_signs {
    const char *pipe, *branch, *last, *first, *cut;
};
const struct cli_signs *cli_signs(void);
/* Bytes of the first character, or of a byte that is none; *columns: its width on a terminal. */
size_t cli_character(const char *text, size_t size, size_t *columns);
/* Write text with everything unsafe as \xNN, also what is not ASCII if the charset is not UTF-8,
 * and return its width in columns. `room` receives at most 4 * size bytes; *used tells how many. */
size_t cli_escape(const char *text, size_t size, char *room, size_t *used);

/* From `at` on, the first byte that is below 0x20, `a`, `b` or, if `ascii`, above 0x7e; `size` if
 * there is none. Eight bytes at a time: most text has none of them. */
size_t cli_plain(const char *text, size_t at, size_t size, char a, char b, int ascii);

/* ---- input (cli_input.c) ---- */

struct cli_input {
    const char *name; /* as given */
    pcol_file *file;
    void *memory;           /* what the file lies in, if not in a map */
    int from_library;       /* `memory` goes back to pcol_free() */
    int imported;           /* it was no .pcol */
    uint64_t bytes;         /* of the input itself; 0: not known */
    struct cli_input *next; /* of those whose file is mapped */
    unsigned write_flags;   /* how it is packed then */
    char loss[160];         /* what the selection lost; "": nothing */
};

/* Open a .pcol, or pack any other profile in memory: quickly, for it is read once. */
int cli_input_open(struct cli_input *input, const char *path, const struct cli_args *args);
/* The same for commands that tell of sizes and encodings: as `pack` would do it. */
int cli_input_open_packed(struct cli_input *input, const char *path, const struct cli_args *args);
/* All operands as one: several are merged in memory. */
int cli_input_open_all(struct cli_input *input, const struct cli_args *args);
void cli_input_close(struct cli_input *input);
/* CLI_IO, said once, if a mapped input changed while it was read; closed ones are remembered. */
int cli_inputs_intact(void);
/* Add a profile to a builder as a further source; "-" is stdin. */
/* cli_progress.c: a line on stderr while inputs are read or an output is written. One at a time. */
void cli_progress_begin(const struct cli_args *args, size_t inputs);
void cli_progress_input(void); /* the next input */
void cli_progress_bytes(const char *name, uint64_t done, uint64_t total);
/* So much of an output file has been written. */
void cli_progress_written(const char *name, uint64_t done);
void cli_progress_clear(void); /* before anything else is said */
void cli_progress_end(void);

int cli_import(pcol_builder *builder, const char *path, const struct cli_args *args);

/* ---- output (cli_output.c) ---- */

#define CLI_OUT_SIZE 65536
#define CLI_LINE_SIZE 16384

/* Where a command's answer goes: a buffer before stdout or before a file that is put in place
 * whole. Errors stick: what is written after one goes nowhere, and cli_out_finish() tells. */
struct cli_out {
    const char *name; /* for messages */
    pcol_output *file;
    int memory;   /* nobody reads it: see cli_out_open_memory() */
    int terminal; /* a terminal reads it */
    int color;
    int code;         /* 0, or the exit code of the failure that stuck */
    uint64_t written; /* bytes to the file */
    size_t slot;      /* of the signal handlers, which unlink the file */
    unsigned fold;    /* columns; 0: lines are not folded */
    size_t line_used, line_columns, line_indent;
    size_t used;
    char buffer[CLI_OUT_SIZE];
    char line[CLI_LINE_SIZE]; /* the last line so far, if lines are folded */
};

#define CLI_OUT_BINARY 1u
#define CLI_OUT_PRIVATE 2u /* a file for nobody else */
#define CLI_OUT_FILES 2    /* open at a time */

/* What -o, -f and --no-sync say, with `path` for -o; NULL or "-" is stdout. */
int cli_out_open_path(struct cli_out *out, const struct cli_args *args, const char *path,
                      unsigned flags);
int cli_out_open(struct cli_out *out, const struct cli_args *args);
/* Flush and put the file in place if `code` is 0 or 1, else drop it; gives the exit code. */
int cli_out_finish(struct cli_out *out, int code);
/* `one` for each operand, into one output; gives the worst exit code. `keep`: the output stays even
 * if an operand could not be read. */
int cli_each_operand(const struct cli_args *args,
                     int (*one)(const struct cli_args *args, const char *path, struct cli_out *out),
                     int keep);
/* Nothing but a buffer: what does not fit into it makes out->code 4, without a message. `like`: for
 * the same reader. */
void cli_out_open_memory(struct cli_out *out, const struct cli_out *like);
void cli_out_flush(struct cli_out *out);
void cli_out_long(struct cli_out *out, const void *data,
                  size_t size); /* what the buffer has no room for */
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
/* From now on fold lines that are longer than the terminal, at blanks where there are some. */
void cli_out_fold(struct cli_out *out);
/* Safe text (cli_escape) in at most `width` columns: its middle is left out. */
void cli_out_cut(struct cli_out *out, const char *text, size_t size, size_t width);
void cli_out_printf(struct cli_out *out, const char *format, ...) CLI_PRINTF(2, 3);
/* Words up to column 79, further lines `indent` columns in as the first, and a line end. */
void cli_out_words(struct cli_out *out, const char *text, size_t size, size_t indent);
/* Text of unknown origin for people: everything unsafe as \xNN. */
void cli_out_safe(struct cli_out *out, const char *text, size_t size);
/* At least `size` bytes of room, to be filled in place; then tell how many were. */
static inline char *cli_out_room(struct cli_out *out, size_t size)
{
    if (size > CLI_OUT_SIZE - out->used)
        cli_out_flush(out);
    return out->buffer + out->used;
}
static inline void cli_out_took(struct cli_out *out, size_t size)
{
    out->used += size;
}
pcol_sink cli_out_sink(struct cli_out *out);
/* An output that is one of the inputs would be lost while it is read. */
int cli_refuse_input(const char *output, const char *const *inputs, size_t count);
/* Columns of the terminal that stdout is, else what COLUMNS says, else 80; 20 to 2000. */
unsigned cli_terminal_columns(void);
/* What the handlers of cli_signals() need; call once, first thing. */
void cli_signals(void);

/* ---- writing profiles (cli_export.c) ---- */

/* What a command that writes profiles writes to args->output: NULL is a pcol file. A usage error if
 * the name promises something else. */
int cli_profile_output(const struct cli_args *args, const pcol_format **format);
/* Write what the builder holds: as a pcol file (`format` NULL), or as unpack would. */
int cli_write_profile(pcol_builder *builder, const pcol_format *format, const struct cli_args *args,
                      struct cli_out *out);
/* Export a profile, with one warning for what the format cannot represent; under --fail-on-loss
 * that is exit code 5, and nothing is written. */
int cli_export(const struct cli_input *input, const char *format, const struct cli_args *args,
               struct cli_out *out);

/* ---- tables (cli_table.c, cli_json.c) ---- */

enum cli_cell_kind {
    CLI_CELL_NULL,
    CLI_CELL_I64,
    CLI_CELL_U64,
    CLI_CELL_F64,
    CLI_CELL_BOOL,
    CLI_CELL_PERCENT, /* f64 with two digits */
    CLI_CELL_TEXT,
    CLI_CELL_LIST,
    CLI_CELL_ABSENT, /* a null, but that ndjson leaves the key out */
    CLI_CELL_RAW     /* text that is a piece of JSON, or a number of any size */
};

struct cli_cell {
    enum cli_cell_kind kind;
    int stable; /* text: what lies at its address stays there, so that it need not be made twice */
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
/* What a physical or logical cell of a batch holds. */
struct cli_cell cli_cell_of(const pcol_cells *cells, size_t row);

/* ---- single cells (cli_cell.c) ---- */

pcol_status cli_cell_read(const pcol_column *column, uint64_t row, struct cli_cell *cell,
                          pcol_error *err);
/* The same by the column's name; null if there is no such column or no table. */
pcol_status cli_cell_find(const pcol_table *table, const char *column, uint64_t row,
                          struct cli_cell *cell, pcol_error *err);
/* Is the cell this text? */
int cli_cell_is(const struct cli_cell *cell, const char *text);
/* A table that need not be there: NULL and 0 rows then. */
pcol_status cli_find_table(const pcol_file *file, pcol_model model, const char *name,
                           const pcol_table **table, uint64_t *rows, pcol_error *err);
/* E_LIMIT if a table has more rows than are read one by one for a file of this size: constant rows
 * take no bytes. */
pcol_status cli_believe_rows(const pcol_file *file, const char *table, uint64_t rows,
                             pcol_error *err);
/* Bytes of all columns of a physical table. */
uint64_t cli_table_bytes(const pcol_table *table);

struct cli_table;
struct cli_table_column {
    const char *name;
    int flags;
};
#define CLI_LEFT 0
#define CLI_RIGHT 1 /* a column of numbers, for people */
#define CLI_PROSE 2 /* our own words, no code in Markdown */
#define CLI_KEEP 4 /* left out last of all, after the texts of all columns are cut to 1 character */
/* A terminal that is too narrow cuts texts down to CLI_GOOD_TEXT and then leaves the column out:
 * the
 * highest rank first, of equal ones the last column. */
#define CLI_OPTIONAL(rank) ((rank) << 3)
/* Tables of frames leave out further forms of the values first, then files and lines, addresses and
 * shares; name, self and total are CLI_KEEP. */
#define CLI_SHARE CLI_OPTIONAL(1)
#define CLI_ADDRESS CLI_OPTIONAL(2)
#define CLI_FILE CLI_OPTIONAL(3)
#define CLI_FURTHER(rank) CLI_OPTIONAL(3 + (rank))
/* `format` NULL: table on a terminal, else by the output's name (.csv, ...), else tsv. */
int cli_table_begin(struct cli_table **table, struct cli_out *out, const struct cli_args *args,
                    const struct cli_table_column *columns, size_t count);
void cli_table_row(struct cli_table *table, const struct cli_cell *cells);
/* A cell that is a number each time. */
struct cli_part {
    size_t row, column;
    enum cli_cell_kind kind; /* I64, F64 or BOOL */
    const int64_t *values;   /* of each time; of doubles the bits */
};
/* Rows that come several times: `rows` of them `times` times, with the values of parts in their
 * cells, which are changed. */
void cli_table_block(struct cli_table *table, struct cli_cell *cells, size_t rows, size_t times,
                     const struct cli_part *parts, size_t count);
/* Cells are often those of the row before, and say so: their text is kept. */
void cli_table_reuse(struct cli_table *table);
/* Write what is left and free it. After a failure (`code`) the rows so far are written without an
 * end, so that JSON is seen to be cut. Gives `code`, or that of its own failure. */
int cli_table_end(struct cli_table *table, int code);

/* The pieces of JSON, also for info and schema. */
void cli_json_text(struct cli_out *out, const char *data, size_t size);
void cli_json_cell(struct cli_out *out, const struct cli_cell *cell);
/* `"key":` with a comma before it unless *first, which is cleared. */
void cli_json_key(struct cli_out *out, int *first, const char *key);

/* Text as a code span of Markdown, outside of tables (cli_markdown.c). */
void cli_markdown_code(struct cli_out *out, const char *text, size_t size);

/* Text of a number, boolean or list; at most CLI_NUMBER_SIZE but for lists. */
size_t cli_cell_number(const struct cli_cell *cell, char *text);

/* ---- selections (cli_selection.c) ---- */

/* --tolerance into tolerance_ns (cli_time.c). */
int cli_tolerance(struct cli_args *args);
/* What --time says; for +A-B the input is asked for its first sample. */
int cli_time(const struct cli_input *input, const struct cli_args *args, pcol_selection *selection);
/* What the selection's options say; the texts are borrowed from args. */
int cli_selection(const struct cli_input *input, const struct cli_args *args,
                  pcol_selection *selection);
/* A warning if no sample is in the query. */
void cli_note_empty(const struct cli_input *input, const struct cli_args *args,
                    const pcol_query *query);
/* A query over an input, with a warning for what it has to say. */
int cli_query_new(const struct cli_input *input, const struct cli_args *args, pcol_query **query);
/* Queries over two inputs by the same sample type: the one asked for, or one that both have. Both
 * are the caller's to free, also after a failure. */
int cli_query_pair(const struct cli_input *base, const struct cli_input *input,
                   const struct cli_args *args, pcol_query **base_query, pcol_query **query);

/* How amounts of a query are shown. */
struct cli_amounts {
    pcol_query_info info;
    int people;  /* humanised text instead of numbers */
    int selects; /* samples or frames were selected */
    double total;
    double scale; /* to seconds or bytes, where `unit` is one of these */
    enum { CLI_UNIT_PLAIN, CLI_UNIT_SECONDS, CLI_UNIT_BYTES } unit;
};
void cli_amounts_init(struct cli_amounts *amounts, const pcol_query *query,
                      const struct cli_args *args, const struct cli_out *out);
double cli_amount_double(const struct cli_amounts *amounts, pcol_amount amount);
/* A cell of the value; for people it is text, which lies in `room` (CLI_NUMBER_SIZE). */
struct cli_cell cli_amount_cell(const struct cli_amounts *amounts, pcol_amount amount, char *room);
void cli_amount_set(const struct cli_amounts *amounts, pcol_amount amount, char *room,
                    struct cli_cell *cell);
/* Of the whole, in percent. */
double cli_amount_share(const struct cli_amounts *amounts, pcol_amount amount);
struct cli_cell cli_amount_percent(const struct cli_amounts *amounts, pcol_amount amount);
/* The same in seconds; null if not known. */
struct cli_cell cli_amount_seconds(const struct cli_amounts *amounts, pcol_amount amount,
                                   char *room);
/* "samples/count, total 308 (6.16s)" and a line end. */
void cli_amounts_header(const struct cli_amounts *amounts, struct cli_out *out);
/* The columns of amounts before the names of tree and peek. What the terminal has no room for is
 * left out. */
struct cli_gutter {
    int self, percent;
    size_t room; /* columns after the gutter, SIZE_MAX: any number */
};
#define CLI_GOOD_TEXT 32u /* columns that a text should have before others are left out for it */
/* `widest`: columns that the widest line after the gutter should have. */
void cli_gutter_init(struct cli_gutter *gutter, const struct cli_out *out, size_t widest);
void cli_gutter_header(const struct cli_gutter *gutter, struct cli_out *out);
void cli_gutter_put(const struct cli_gutter *gutter, struct cli_out *out,
                    const struct cli_amounts *amounts, pcol_amount total, pcol_amount self);
void cli_gutter_blank(const struct cli_gutter *gutter, struct cli_out *out);
/* What the gutter left out, at the end. */
void cli_gutter_end(const struct cli_gutter *gutter, struct cli_out *out);
/* Names of frames as --demangle wants them (cli_demangle.c). */
struct cli_names {
    int wanted;
    char *plain; /* the last name, if it was demangled */
};
/* `people`: they will read the names. */
void cli_names_init(struct cli_names *names, const struct cli_args *args, int people);
void cli_names_free(struct cli_names *names);
/* Valid until the next call. */
pcol_str cli_name(struct cli_names *names, pcol_str name);
/* What --sort and --cum say. */
pcol_order cli_order(const struct cli_args *args);
/* The columns file, line and address of a kind of rows, as far as it has them (cli_place.c);
 * people: without those that repeat the name. Gives how many. */
enum { CLI_PLACE_COLUMNS = 3 };
size_t cli_place_columns(pcol_by by, int people, struct cli_table_column *columns);
/* Their cells; room: CLI_NUMBER_SIZE bytes for the address. */
void cli_place_cells(const pcol_frame *frame, size_t count, char *room, struct cli_cell *cells);
/* Whether the frames of an answer say where in the source they are. */
struct cli_places {
    int files, lines;
};
static inline void cli_places_see(struct cli_places *places, const pcol_frame *frame)
{
    places->files |= frame->has_file;
    places->lines |= frame->has_line;
}
/* A warning if rows were asked for by what no frame has. */
void cli_note_places(const struct cli_places *places, pcol_by by, const char *name,
                     const struct cli_args *args);
/* Read --by: gives a kind of rows, and the label's key or NULL. frames: only kinds of frames. */
int cli_parse_by(const char *text, int frames, pcol_by *by, const char **label);
/* A copy of an input with nothing but what is selected takes its place, in memory. */
int cli_input_filter(struct cli_input *input, const struct cli_args *args);
/* The same into a builder. options: what else is wanted, NULL: nothing; its selection is filled
 * in. */
int cli_filter(const struct cli_input *input, const struct cli_args *args,
               pcol_filter_options *options, pcol_builder *builder);
/* A builder that keeps long columns where TMPDIR says. */
int cli_builder_new(const struct cli_args *args, pcol_builder **builder);

/* Threads that the library may use for the command: --threads, or one for each core
 * (cli_cores.c). */
unsigned cli_threads(const struct cli_args *args);

/* cli_stack.c: what the function returns, called where there is stack for the library. */
int cli_with_stack(int (*function)(void *context), void *context);
/* Would a table be shown to people rather than written for a program? */
int cli_for_people(const struct cli_args *args, const struct cli_out *out);

/* ---- columns of a table as they are shown (cli_columns.c, cli_about.c) ---- */

#define CLI_ROW_NUMBER UINT32_MAX

struct cli_column {
    const char *name;
    const char *own; /* in the file, if that is another one; else NULL */
    pcol_type type;
    uint32_t number; /* in the table; CLI_ROW_NUMBER: the row's own number */
    enum { CLI_AS_IS, CLI_AS_ID /* a row from 1 */, CLI_AS_MS } as;
    int primary_key, nullable;
    const char *references; /* a table, or NULL */
    const char *unit;       /* NULL: none, or not one for all rows */
    const char *about;      /* one line for people, or NULL */
    char *made, *made_unit; /* owned texts */
};

struct cli_columns {
    struct cli_column *list;
    size_t count;
};

/* `further`: a physical table that is shown beside those of the data model. */
pcol_status cli_columns_new(const pcol_file *file, const pcol_table *table, int further,
                            struct cli_columns *columns, pcol_error *err);
void cli_columns_free(struct cli_columns *columns);
/* A cell of the table as the column shows it. */
void cli_column_cell(const struct cli_column *column, struct cli_cell *cell);
/* The name of physical table `index` if it is such a table, else NULL. */
const char *cli_further_table(const pcol_file *file, uint32_t index);
/* Fill in unit and about, as far as they are known. */
void cli_about(const char *table, struct cli_column *column);

/* ---- rows of a table (cli_rows.c, cli_join.c, cli_where.c) ---- */

struct cli_join;
enum cli_join_what {
    CLI_JOIN_NONE,
    CLI_JOIN_LOCATION_NAME,
    CLI_JOIN_LOCATION_FILE,
    CLI_JOIN_LOCATION_LINE,
    CLI_JOIN_FUNCTION_NAME,
    CLI_JOIN_FUNCTION_FILE,
    CLI_JOIN_SOURCE_URI,
    CLI_JOIN_SOURCE_TYPE,
    CLI_JOIN_STACK,
    /* names of rows that are counted from 0 */
    CLI_JOIN_THREAD,
    CLI_JOIN_CATEGORY,
    CLI_JOIN_MAPPING
};
pcol_status cli_join_new(const pcol_file *file, pcol_model model, struct cli_join **join,
                         pcol_error *err);
void cli_join_free(struct cli_join *join);
/* Many rows are joined: columns are verified whole before the first. */
void cli_join_whole(struct cli_join *join);
/* What stands in the place of an id. Text lives until the next call of the same kind. */
pcol_status cli_join_cell(struct cli_join *join, enum cli_join_what what, const struct cli_cell *id,
                          struct cli_cell *cell, pcol_error *err);

/* A column that can be shown or asked about. */
struct cli_rows_column {
    const char *name;
    pcol_type type;
    uint32_t number; /* of the table's column that it comes from */
    enum cli_join_what join;
    uint32_t scan; /* place in the scan, once it is wanted */
    int wanted;
    const struct cli_column *shown; /* how its cells are shown */
    int made;                       /* a cell is made from what the scan gives */
};

#define CLI_TYPE_OPEN 0 /* in place of a pcol_type: each cell has its own */

struct cli_where;
/* Compile --where against the columns; marks those that it needs as wanted. */
int cli_where_new(const struct cli_list *texts, struct cli_rows_column *columns, size_t count,
                  struct cli_where **where);
void cli_where_free(struct cli_where *where);
size_t cli_where_count(const struct cli_where *where);
/* The column that test number `index` asks about. */
size_t cli_where_column(const struct cli_where *where, size_t index);
/* *yes: 1 or 0. Fails if memory is out, or as pcol_pattern_test(). */
pcol_status cli_where_test(struct cli_where *where, size_t index, const struct cli_cell *cell,
                           int *yes, pcol_error *err);

struct cli_pick;
struct cli_rows;
/* Are samples or frames selected at all? */
int cli_selects(const struct cli_args *args);
/* What the selection takes of a table of samples; marks the columns that it needs as wanted. */
int cli_pick_new(const struct cli_input *input, const struct cli_args *args, struct cli_rows *rows,
                 struct cli_pick **pick);
void cli_pick_free(struct cli_pick *pick);
pcol_status cli_pick_test(struct cli_pick *pick, const struct cli_rows *rows,
                          const pcol_batch *batch, size_t row, int *yes, pcol_error *err);

/* A table with what the options select from it. */
struct cli_rows {
    const pcol_file *file;
    const char *file_name;
    const pcol_table *table;
    pcol_model model;
    int further; /* a physical table that is shown beside those of the data model */
    struct cli_columns table_columns;
    struct cli_rows_column *columns; /* all that there are */
    size_t column_count;
    size_t *shown; /* those to print, in order */
    size_t shown_count;
    uint32_t *scanned; /* table columns to scan */
    uint32_t scanned_count;
    struct cli_where *where;
    struct cli_pick *pick; /* NULL: all samples */
    struct cli_join *join;
};

/* Called for each row that passes; non-zero ends the iteration. `cells`: the shown ones. */
typedef int (*cli_row_fn)(void *context, const struct cli_cell *cells);

int cli_rows_open(struct cli_rows *rows, const struct cli_input *input,
                  const struct cli_args *args);
void cli_rows_close(struct cli_rows *rows);
/* Rows that pass --where. */
int cli_rows_count(struct cli_rows *rows, uint64_t *count);
/* `limit` rows that pass, after skipping `offset` of them. */
int cli_rows_each(struct cli_rows *rows, uint64_t offset, uint64_t limit, cli_row_fn fn,
                  void *context);

/* ---- answers about Perun profiles (cli_answers.c) ---- */

/* Whether a table's name is one that Perun profiles have beside those of the data model. */
int cli_answers_table(const char *name, pcol_question *question);
/* Ask and print, with what --columns, --where, --rows and --offset say; `last`: only the last
 * rows. */
int cli_answers_print(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, int last);
/* Rows that pass --where. */
int cli_answers_count(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, uint64_t *count);

#endif
