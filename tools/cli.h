/*
 * cli.h - components that the commands share: exit codes, options, errors, input, output, tables
 *
 * A function that can fail returns an exit code: 0, or a code whose message is already on stderr.
 */
#ifndef PCOL_TOOLS_CLI_H
#define PCOL_TOOLS_CLI_H

#include "pcol.h"
#include "pcol_perun.h"

#include <stdio.h>
#include <string.h>

enum {
    CLI_OK = 0,
    CLI_NO = 1,          /* the check or comparison failed */
    CLI_USAGE = 2,       /* wrong usage */
    CLI_INPUT = 3,       /* malformed or unsupported input */
    CLI_IO = 4,          /* input, output or memory failed */
    CLI_REFUSED = 5,     /* nothing written: would overwrite or lose data */
    CLI_CANCELLED = 130, /* interrupted */
    CLI_CLOSED = -1      /* internal: the reader of stdout exited; the process exits with 0 */
};

#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- options (cli_options.c) ---- */

struct cli_list {
    const char **items;
    size_t count;
};

/* The values of all options of all commands, so that a name has the same meaning everywhere. */
struct cli_args {
    const char *command; /* name in the table of commands */
    const char **operands;
    size_t operand_count;
    struct cli_list files_from; /* lists of further operands */
    char *files_text;           /* the text of these operands */

    int help, version, quiet, verbose;
    const char *color, *progress;

    const char *output;
    int force, no_sync;

    const char *from;
    uint64_t max_input; /* CLI_UNSET: not given */
    int trusted;
    uint64_t threads; /* 0: one for each core */
    int lenient, collapse_idle;
    const char *tolerance;
    uint64_t tolerance_ns; /* the same in ns; 0: none */

    const char *format, *null;
    int no_header, csv_safe;

    const char *table, *columns, *model;
    int physical, join;
    uint64_t rows, offset; /* CLI_UNSET: not given */
    struct cli_list where;

    struct cli_list meta;
    const char *source_uri, *source_timestamp;
    int each, plain;
    struct cli_list archive; /* NULL, auto, lz4 or zlib */
    struct cli_list sums;    /* NULL, or keys separated by commas */
    int rebase;

    const char *to, *sample_type;
    const char *node_fraction, *edge_fraction;
    uint64_t node_count; /* CLI_UNSET: not given */
    uint64_t source;
    int fail_on_loss, expand_idle;

    /* unpack --to clickhouse (clickhouse.c) */
    const char *keys;
    uint64_t shards; /* CLI_UNSET: not given */
    struct cli_list known;

    int depth; /* pcol_check_depth */

    /* selection (cli_selection.c) */
    const char *focus, *ignore, *hide, *show, *thread, *pick_source, *time, *time_share;
    const char *order;
    struct cli_list labels, source_metas;
    struct cli_list roots, leaves;
    int keep_dropped;

    struct cli_list source_paths;
    uint64_t context; /* CLI_UNSET: not given */

    struct cli_list drop_labels; /* keys; a NULL among them: all labels */
    int anonymize;
    const char *map;

    const char *by, *sort, *demangle;
    int cum, bottom_up;
    uint64_t max_depth; /* CLI_UNSET: not given */

    int normalize;
    const char *fail_above, *fail_total;
    struct cli_list bases, binaries;
    int ignore_build_id;
    const char *addr2line;
    uint64_t timeout;     /* seconds; CLI_UNSET: not given */
    uint64_t min_samples; /* 0: not given */

    int inverted, upright, reverse, open;
    const char *base, *title, *min_width;
    uint64_t width; /* CLI_UNSET: not given */
    uint64_t port;  /* CLI_UNSET: not given */

    /* query (cli_answers.c) */
    int flat, unique, numeric, models;
    uint64_t row; /* CLI_UNSET: not given */
    const char *path, *group, *filter;
};

#define CLI_UNSET UINT64_MAX

enum cli_option_kind {
    CLI_FLAG,  /* int: `value` is stored */
    CLI_TEXT,  /* const char *: the argument; one of `choices` unless that is NULL */
    CLI_COUNT, /* uint64_t: a number in digits */
    CLI_LIST,  /* struct cli_list: every argument given */
    CLI_MAYBE  /* the same with an optional argument, only as --name=argument; else NULL */
};

struct cli_option {
    char letter;          /* 0: none */
    const char *name;     /* without its dashes */
    const char *argument; /* name of the argument in the help; NULL for a flag */
    const char *summary;
    enum cli_option_kind kind;
    size_t target; /* offset in struct cli_args */
    int value;
    /* "a|b|c", or one of the two below. A list that ends in '|' allows any text. */
    const char *choices;
};

#define CLI_CHOICES_READ "<formats that read>"
#define CLI_CHOICES_WRITE "<formats that write>" /* and CLI_CLICKHOUSE */
#define CLI_CLICKHOUSE "clickhouse"

#define CLI_AT(member) offsetof(struct cli_args, member)

/* Options that several commands share. */
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
#define CLI_OPTION_FILES_FROM                                            \
    {                                                                    \
        0, "files-from", "LIST",                                         \
            "also read the files in LIST, one path a line; - is stdin; " \
            "repeatable",                                                \
            CLI_LIST, CLI_AT(files_from), 0, NULL                        \
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
#define CLI_OPTION_META                                                                            \
    {                                                                                              \
        0, "meta", "KEY=VALUE", "store this metadata with each source, KEY without ~; repeatable", \
            CLI_LIST, CLI_AT(meta), 0, NULL                                                        \
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
#define CLI_OPTION_SUMS                                                                            \
    {                                                                                              \
        0, "sums", "KEY,...",                                                                      \
            "add up samples: one for each call stack and values of the keys, which are labels or " \
            "metadata of sources; without times, threads and addresses",                           \
            CLI_MAYBE, CLI_AT(sums), 0, NULL                                                       \
    }
#define CLI_OPTION_REBASE                                                                  \
    {                                                                                      \
        0, "rebase", NULL,                                                                 \
            "make addresses offsets in their binary, so that processes that loaded it at " \
            "different addresses share stacks",                                            \
            CLI_FLAG, CLI_AT(rebase), 1, NULL                                              \
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
/* Selection options. */
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
        {0,                                                                                      \
         "label",                                                                                \
         "KEY=VALUE",                                                                            \
         "only samples with this label; KEY=A:B: a number in this range (bytes=1kb:64kb); "      \
         "KEY~RE: with a matching value; KEY!=VALUE, KEY!~RE: without; repeatable",              \
         CLI_LIST,                                                                               \
         CLI_AT(labels),                                                                         \
         0,                                                                                      \
         NULL},                                                                                  \
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
#define CLI_OPTION_ORDER                                                               \
    {                                                                                  \
        0, "order", "A-B",                                                             \
            "only samples with a sample_id from A up to, but not including B, in the " \
            "order of the profile; A-: to the end; A+N: N samples",                    \
            CLI_TEXT, CLI_AT(order), 0, NULL                                           \
    }
#define CLI_OPTION_KEEP_DROPPED                                                               \
    {                                                                                         \
        0, "keep-dropped", NULL, "do not apply the drop_frames of a pprof profile", CLI_FLAG, \
            CLI_AT(keep_dropped), 1, NULL                                                     \
    }
#define CLI_OPTION_SOURCE_META                                                            \
    {                                                                                     \
        0, "source-meta", "KEY=VALUE",                                                    \
            "only sources with this metadata; KEY~RE: with a matching value; repeatable", \
            CLI_LIST, CLI_AT(source_metas), 0, NULL                                       \
    }
#define CLI_OPTIONS_SELECTION                                                      \
    {0,        "sample-type",                                                      \
     "TYPE",   "sample type: TYPE or TYPE/UNIT (default: that of the profile)",    \
     CLI_TEXT, CLI_AT(sample_type),                                                \
     0,        NULL},                                                              \
        CLI_OPTIONS_FRAMES, CLI_OPTIONS_SAMPLES, CLI_OPTION_ORDER,                 \
        {0,        "source",                                                       \
         "ID|RE",  "only the source with this id, or sources with a matching uri", \
         CLI_TEXT, CLI_AT(pick_source),                                            \
         0,        NULL},                                                          \
        CLI_OPTION_SOURCE_META, CLI_OPTION_KEEP_DROPPED
/* Options of commands that read one profile, or several. */
#define CLI_OPTIONS_IMPORT CLI_OPTION_FROM, CLI_OPTION_STRICT_IMPORT, CLI_OPTION_LENIENT
#define CLI_OPTIONS_IMPORT_LIST \
    CLI_OPTION_FROM, CLI_OPTION_FILES_FROM, CLI_OPTION_STRICT_IMPORT, CLI_OPTION_LENIENT
/* Options of commands that write a table or a report. */
#define CLI_OPTIONS_OUTPUT CLI_OPTION_OUTPUT, CLI_OPTION_FORCE, CLI_OPTION_NO_SYNC
#define CLI_OPTIONS_TABLE \
    CLI_OPTION_FORMAT, CLI_OPTION_NO_HEADER, CLI_OPTION_NULL, CLI_OPTIONS_OUTPUT
/* Frames that stacks get (cli_added_frames.c). */
#define CLI_OPTIONS_ADDED_FRAMES                                                                 \
    {0,                                                                                          \
     "root",                                                                                     \
     "WHAT,...",                                                                                 \
     "put a frame above each stack: thread, process, source, mapping (binary of the innermost "  \
     "frame) or label:KEY; the first is the outermost; repeatable",                              \
     CLI_LIST,                                                                                   \
     CLI_AT(roots),                                                                              \
     0,                                                                                          \
     "thread|process|source|mapping|label:|"},                                                   \
    {                                                                                            \
        0, "leaf", "WHAT,...", "the same below each stack; the last is the innermost", CLI_LIST, \
            CLI_AT(leaves), 0, "thread|process|source|mapping|label:|"                           \
    }
#define CLI_OPTION_END                            \
    {                                             \
        0, NULL, NULL, NULL, CLI_FLAG, 0, 0, NULL \
    }

struct cmd;

/* Options of all commands. */
extern const struct cli_option cli_common_options[];

/* Parse the arguments after the command's name. cli_args_free() frees operands and lists. */
int cli_parse(struct cli_args *args, const struct cmd *cmd, int argc, char **argv);
/* Parse common options up to the first operand, whose index it stores (argc: none). */
int cli_parse_leading(struct cli_args *args, int argc, char **argv, int *first);
/* Append the paths of the lists of --files-from to the operands (cli_files_from.c). */
int cli_files_from(struct cli_args *args);
/* Flags of pcol_builder_write() from --plain and --archive. */
int cli_write_flags(const struct cli_args *args, unsigned *flags);
void cli_args_free(struct cli_args *args);
/* Whether the command has the option whose value is at `target`. */
int cli_has_option(const struct cli_args *args, size_t target);
/* Maximum number of rows from -n, where 0 means all; else `otherwise`. UINT64_MAX: all. */
uint64_t cli_row_limit(const struct cli_args *args, uint64_t otherwise);
/* Choice number `index` of an option, NULL past the last. *size: its length. */
const char *cli_choice(const struct cli_option *option, size_t index, size_t *size);

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
/* A usage error if the output of a profile has the suffix of a table, picture or archive. */
int cli_reject_text_name(const struct cli_args *args);

/* ---- suggestions (cli_suggest.c) ---- */

/* Search for the name nearest to `wanted` among any number of candidates. */
struct cli_suggest {
    const char *wanted;
    size_t best_distance;
    char best[64];
};
void cli_suggest_start(struct cli_suggest *suggest, const char *wanted);
void cli_suggest_offer(struct cli_suggest *suggest, const char *candidate, size_t size);
/* ", did you mean 'x'?" or "" */
const char *cli_suggest_text(const struct cli_suggest *suggest, char *text, size_t size);

/* A list of names for a message, limited to one line: a file may have any number of tables. */
struct cli_name_list {
    char text[96];
    size_t used;
    int is_truncated;
};
void cli_name_list_add(struct cli_name_list *some, const char *name); /* NULL: nothing */
/* The end of the message: how to list the other names. */
const char *cli_name_list_end(const struct cli_name_list *some);

/* ---- errors (cli_error.c) ---- */

/* Set the command of messages; NULL for pcol itself. */
void cli_error_command(const char *name);
/* Print one line `pcol CMD: message`; returns `code`. Bytes that a terminal would interpret are
 * shown as \xNN. */
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3);
/* cli_fail(CLI_USAGE) and a pointer to the help. */
int cli_usage(const char *format, ...) CLI_PRINTF(1, 2);
int cli_fail_memory(void);
/* Fill an error without a position in a file; the second for lack of memory. */
pcol_status cli_set_error(pcol_error *err, pcol_status status, const char *message);
pcol_status cli_set_memory(pcol_error *err);
/* Print one line with the position in `file` (NULL: none) from `err`; returns the exit code of
 * its status. */
int cli_fail_error(const char *file, const pcol_error *err);
/* `pcol CMD: FILE: warning: message`, unless -q. */
void cli_warn(const struct cli_args *args, const char *file, const char *message);
#define CLI_HINT_SIZE 64
/* The option of the command that sets a member of the library's structs, " (--focus)"; "" if none
 * does. is_cause: its value is at fault; 0: it helps. Returns `text`. */
const char *cli_hint(const char *member, int is_cause, char text[CLI_HINT_SIZE]);
/* The same as cli_warn() with the option of a member. */
void cli_warn_hint(const struct cli_args *args, const char *file, const char *message,
                   const char *member, int is_cause);
/* `pcol CMD: message` under -v. */
void cli_verbose(const struct cli_args *args, const char *format, ...) CLI_PRINTF(2, 3);
/* The worse of two exit codes: the higher. */
int cli_worst_code(int a, int b);
/* Whether a failure has been reported. */
int cli_has_failed(void);

/* ---- numbers and text (cli_number.c, cli_text.c) ---- */

#define CLI_NUMBER_SIZE 40 /* sufficient for every number */
size_t cli_format_u64(char *text, uint64_t value);
size_t cli_format_i64(char *text, int64_t value);
/* The same, faster for varying lengths: may overwrite CLI_NUMBER_SIZE bytes of text. */
size_t cli_format_quick(char *text, int64_t value);
/* The shortest digits that restore the double, as Python's repr. NaN, Infinity, -Infinity. */
size_t cli_format_f64(char *text, double value);
size_t cli_format_percent(char *text, double value); /* as printf's %.2f */
/* 1234567 as "1,234,567"; terminated. */
const char *cli_format_grouped(char *text, uint64_t value);
/* Decimal digits only; 0 on success. */
int cli_parse_u64(const char *text, uint64_t *value);
/* Seconds since 1970 of a time in ISO 8601, UTC without a zone (cli_timestamp.c); 0: no such time.
 */
int cli_timestamp(const char *text, int64_t *seconds);

/* Length of the valid UTF-8 sequence at text[0..size), 0 if there is none. */
size_t cli_utf8(const char *text, size_t size, uint32_t *code);
/* Whether a terminal may interpret it: control characters, line separators, bidi controls. */
int cli_unsafe(uint32_t code);
/* Whether the charset of the locale is UTF-8. */
int cli_is_utf8(void);
/* Branches of trees, two columns each, and the sign for omitted text; ASCII unless the charset
 * is UTF-8. */
struct cli_signs {
    const char *pipe, *branch, *last, *first, *ellipsis;
};
const struct cli_signs *cli_signs(void);
/* Length of the first character, or of an invalid byte; *columns: its width on a terminal. */
size_t cli_character(const char *text, size_t size, size_t *columns);
/* Write text with unsafe characters as \xNN, and all but ASCII unless the charset is UTF-8.
 * Returns its width in columns. `buffer` receives *used bytes, at most 4 * size. */
size_t cli_escape(const char *text, size_t size, char *buffer, size_t *used);

/* Index of the first byte from `at` that is below 0x20, `a`, `b` or, if `ascii`, above 0x7e;
 * `size` if none. Tests eight bytes at a time: most text has none. */
size_t cli_find_special(const char *text, size_t at, size_t size, char a, char b, int ascii);

/* ---- input (cli_input.c) ---- */

struct cli_input {
    const char *name; /* as given */
    pcol_file *file;
    uint64_t bytes;         /* size of the input; 0: unknown */
    struct cli_input *next; /* list of open inputs */
    char loss[160];         /* losses of the selection; "": none */
};

/* Open a .pcol, or pack another profile in memory with fast encodings for a single reading. */
int cli_input_open(struct cli_input *input, const char *path, const struct cli_args *args);
/* The same with the encodings of `pack`, for commands that show sizes and encodings. */
int cli_input_open_packed(struct cli_input *input, const char *path, const struct cli_args *args);
/* Open all operands; several are merged in memory. */
int cli_input_open_all(struct cli_input *input, const struct cli_args *args);

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
void cli_input_close(struct cli_input *input);
/* CLI_IO, reported once, if a mapped input changed during reading, also if it is closed. */
int cli_inputs_intact(void);
/* cli_progress.c: one line of progress on stderr while inputs are read or an output is written. */
void cli_progress_begin(const struct cli_args *args, size_t inputs);
void cli_progress_input(void); /* the next input */
void cli_progress_bytes(const char *name, uint64_t done, uint64_t total);
/* Report the bytes written to an output file. */
void cli_progress_written(const char *name, uint64_t done);
void cli_progress_clear(void); /* call before every other message */
void cli_progress_end(void);

/* Add a profile to a builder as a further source; "-" is stdin. */
int cli_import(pcol_builder *builder, const char *path, const struct cli_args *args);

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
    int color;
    int code;         /* 0, or the exit code of the first failure */
    uint64_t written; /* bytes to the file */
    size_t slot;      /* in the signal handlers, which unlink the file */
    unsigned fold;    /* columns; 0: lines are not folded */
    size_t line_used, line_columns, line_indent;
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
    CLI_CELL_ABSENT, /* a null whose key ndjson omits */
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
/* A narrow terminal cuts texts down to CLI_GOOD_TEXT and then omits columns: the highest rank
 * first, among equal ranks the last column. */
#define CLI_OPTIONAL(rank) ((rank) << 3)
/* Tables of frames omit further forms of the values first, then files and lines, addresses and
 * shares; name, self and total are CLI_KEEP. */
#define CLI_SHARE CLI_OPTIONAL(1)
#define CLI_ADDRESS CLI_OPTIONAL(2)
#define CLI_FILE CLI_OPTIONAL(3)
#define CLI_FURTHER(rank) CLI_OPTIONAL(3 + (rank))
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

/* ---- selections (cli_selection.c) ---- */

/* Parse --tolerance into tolerance_ns (cli_time.c). */
int cli_tolerance(struct cli_args *args);
/* Parse --time; +A-B reads the time of the first sample. */
int cli_time(const struct cli_input *input, const struct cli_args *args, pcol_selection *selection);
/* Convert the selection options; the texts are borrowed from args. */
int cli_selection(const struct cli_input *input, const struct cli_args *args,
                  pcol_selection *selection);
/* Warn if the query has no samples. */
void cli_warn_empty(const struct cli_input *input, const struct cli_args *args, pcol_query *query);
/* Create a query of an input, and print its warning. */
int cli_query_new(const struct cli_input *input, const struct cli_args *args, pcol_query **query);
/* Create queries of two inputs with the same sample type: the requested one, or one of both. The
 * caller frees both, also after a failure. */
int cli_query_pair(const struct cli_input *base, const struct cli_input *input,
                   const struct cli_args *args, pcol_query **base_query, pcol_query **query);
/* Make a query of the sample type of another one. */
int cli_query_like(const struct cli_input *input, const struct cli_args *args, pcol_query *like,
                   pcol_query **query);

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
/* Share of the total in percent. */
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
    int wanted;
    char *plain; /* the last name, if it was demangled */
};
/* `people`: the names are for display. */
void cli_names_init(struct cli_names *names, const struct cli_args *args, int people);
void cli_names_free(struct cli_names *names);
/* Valid until the next call. */
pcol_str cli_name(struct cli_names *names, pcol_str name);
/* The order from --sort and --cum. */
pcol_order cli_order(const struct cli_args *args);

/* ---- results (cli_result.c) ---- */

enum cli_field_name {
    CLI_FIELD_NAME,
    CLI_FIELD_FILE,
    CLI_FIELD_LINE,
    CLI_FIELD_ADDRESS,
    CLI_FIELD_THREAD,
    CLI_FIELD_SOURCE,
    CLI_FIELD_SELF,
    CLI_FIELD_TOTAL,
    CLI_FIELD_PARENT,
    CLI_FIELD_DEPTH,
    CLI_FIELD_TRUNCATED,
    CLI_FIELD_RELATION,
    CLI_FIELD_SELF_BASE,
    CLI_FIELD_SELF_NEW,
    CLI_FIELD_SELF_DELTA,
    CLI_FIELD_TOTAL_BASE,
    CLI_FIELD_TOTAL_NEW,
    CLI_FIELD_TOTAL_DELTA,
    CLI_FIELD_SELF_MIN,
    CLI_FIELD_SELF_MAX,
    CLI_FIELD_TOTAL_MIN,
    CLI_FIELD_TOTAL_MAX,
    CLI_FIELD_TOTAL_MAD,
    CLI_FIELD_ABOVE,
    CLI_FIELD_IN_BASE,
    CLI_FIELD_IN_NEW,
    CLI_FIELD_X,
    CLI_FIELD_WIDTH,
    CLI_FIELD_CHANGE,
    CLI_FIELD_GONE,
    CLI_FIELD_TID,
    CLI_FIELD_PID,
    CLI_FIELD_SAMPLES,
    CLI_FIELD_SAMPLES_WITHOUT,
    CLI_FIELD_CPU_NS,
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

/* The rows of a result, which must outlive them. */
struct cli_result {
    size_t count;
    struct cli_field *fields; /* CLI_FIELDS */
};

/* name: of the input, for errors. */
int cli_result_open(struct cli_result *rows, const pcol_result *result, const char *name);
void cli_result_close(struct cli_result *rows);
/* Data NULL where null. */
pcol_str cli_result_text(const struct cli_result *rows, enum cli_field_name field, size_t row);
static inline int cli_result_has(const struct cli_result *rows, enum cli_field_name field,
                                 size_t row)
{
    const struct cli_field *f = &rows->fields[field];

    if (f->text != NULL)
        return cli_result_text(rows, field, row).data != NULL;
    return f->array.rows > 0 &&
           (f->array.validity == NULL || (f->array.validity[row / 8] >> (row % 8) & 1));
}
/* Doubles of columns of doubles, else integers; 0 where null. */
static inline pcol_amount cli_result_amount(const struct cli_result *rows,
                                            enum cli_field_name field, size_t row)
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

/* The content of a row; id: thread, from 0, or source, from 1. */
struct cli_frame {
    int has_name, has_file, has_line, has_address, has_id;
    pcol_str name, file;
    int64_t line;
    uint64_t address, id;
};
struct cli_result_row {
    struct cli_frame frame;
    pcol_amount self, total;
    uint32_t parent, depth; /* of a tree */
};
void cli_result_frame(const struct cli_result *rows, size_t row, struct cli_frame *frame);
void cli_result_get(const struct cli_result *rows, size_t row, struct cli_result_row *values);

/* ---- source files (cli_source.c) ---- */

struct cli_source {
    const struct cli_list *directories;
    char *own; /* directory of the profile; NULL: none */
    char *text;
    uint32_t *lines; /* offsets: line n is [lines[n - 1], lines[n]) */
    size_t size, count;
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
/* Whether any frame of a result has a file or a line. */
struct cli_positions {
    int files, lines;
};
static inline void cli_positions_add(struct cli_positions *places, const struct cli_frame *frame)
{
    places->files |= frame->has_file;
    places->lines |= frame->has_line;
}
/* Warn if no frame has the file or line of --by. */
void cli_warn_positions(const struct cli_positions *places, pcol_by by, const char *name,
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

/* ---- columns of a table ---- */

struct cli_columns {
    pcol_column_info *list;
    size_t count;
};

/* Describe all columns of a table. */
int cli_columns_new(const pcol_table *table, struct cli_columns *columns);
void cli_columns_free(struct cli_columns *columns);

/* ---- rows of a table (cli_rows.c, cli_where.c) ---- */

/* A column for display or for --where. */
struct cli_rows_column {
    const char *name;
    pcol_type type;
    uint32_t number; /* of the column in the table */
    uint32_t scan;   /* index in the scan, if wanted */
    int wanted;
    int is_composed; /* its texts change from batch to batch */
    const pcol_column_info *info;
};

#define CLI_TYPE_OPEN 0 /* instead of a pcol_type: each cell has its own type */

struct cli_where;
/* Compile --where against the columns; marks the columns that it reads as wanted. */
int cli_where_new(const struct cli_list *texts, struct cli_rows_column *columns, size_t count,
                  struct cli_where **where);
void cli_where_free(struct cli_where *where);
size_t cli_where_count(const struct cli_where *where);
/* The column of test number `index`. */
size_t cli_where_column(const struct cli_where *where, size_t index);
/* Copy the conditions that a scan can test; returns their number, at most cli_where_count(). */
size_t cli_where_push(const struct cli_where *where, pcol_condition *conditions);
int cli_where_is_pushed(const struct cli_where *where, size_t index);
/* *yes: 1 or 0. Fails if memory runs out, or as pcol_pattern_test(). */
pcol_status cli_where_test(struct cli_where *where, size_t index, const struct cli_cell *cell,
                           int *yes, pcol_error *err);

/* Whether any option selects samples or frames. */
int cli_selects(const struct cli_args *args);

/* A table with the selected columns and rows. */
struct cli_rows {
    const pcol_file *file;
    const char *file_name;
    const pcol_table *table;
    pcol_model model;
    struct cli_columns table_columns;
    struct cli_rows_column *columns; /* all columns */
    size_t column_count;
    size_t *shown; /* indexes of the columns to print, in order */
    size_t shown_count;
    uint32_t *scanned; /* table columns to scan */
    uint32_t scanned_count;
    struct cli_where *where;
    const struct cli_args *args;
    int selects; /* options select samples, by `selection` */
    pcol_selection selection;
    int noticed;     /* notices about the selection were given */
    pcol_scan *scan; /* the next scan of all rows that the options select; NULL: not yet opened */
};

/* Called for each matching row; non-zero ends the iteration. `cells`: those to print. */
typedef int (*cli_row_fn)(void *context, const struct cli_cell *cells);

int cli_rows_open(struct cli_rows *rows, const struct cli_input *input,
                  const struct cli_args *args);
void cli_rows_close(struct cli_rows *rows);
/* Number of rows that satisfy --where. */
int cli_rows_count(struct cli_rows *rows, uint64_t *count);
/* Visit `limit` matching rows after skipping `offset` of them. */
int cli_rows_each(struct cli_rows *rows, uint64_t offset, uint64_t limit, cli_row_fn fn,
                  void *context);

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
