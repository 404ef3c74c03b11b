/*
 * cli.h - components that the commands share: exit codes, options, errors, numbers, input, rows
 *
 * It includes those of output (cli_print.h) and of queries (cli_query.h).
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
    const pcol_sample_type *exact_type; /* instead of sample_type */
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

    const char *by, *sort;
    const char *demangle; /* NULL in commands without the option */
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

/* Rows of tables of options, by kind. */
#define CLI_OPTION(letter, name, argument, kind, member, value, choices, summary) \
    {                                                                             \
        letter, name, argument, summary, kind, CLI_AT(member), value, choices     \
    }
#define CLI_FLAG_OPTION(letter, name, member, summary) \
    CLI_OPTION(letter, name, NULL, CLI_FLAG, member, 1, NULL, summary)
#define CLI_FLAG_VALUE(letter, name, member, value, summary) \
    CLI_OPTION(letter, name, NULL, CLI_FLAG, member, value, NULL, summary)
#define CLI_TEXT_OPTION(letter, name, argument, member, summary) \
    CLI_OPTION(letter, name, argument, CLI_TEXT, member, 0, NULL, summary)
#define CLI_TEXT_CHOICE(letter, name, argument, member, choices, summary) \
    CLI_OPTION(letter, name, argument, CLI_TEXT, member, 0, choices, summary)
#define CLI_COUNT_OPTION(letter, name, argument, member, summary) \
    CLI_OPTION(letter, name, argument, CLI_COUNT, member, 0, NULL, summary)
#define CLI_LIST_OPTION(letter, name, argument, member, summary) \
    CLI_OPTION(letter, name, argument, CLI_LIST, member, 0, NULL, summary)
#define CLI_LIST_CHOICE(letter, name, argument, member, choices, summary) \
    CLI_OPTION(letter, name, argument, CLI_LIST, member, 0, choices, summary)
#define CLI_MAYBE_OPTION(letter, name, argument, member, choices, summary) \
    CLI_OPTION(letter, name, argument, CLI_MAYBE, member, 0, choices, summary)

/* Options that several commands share. */
#define CLI_OPTION_OUTPUT \
    CLI_TEXT_OPTION('o', "output", "OUT", output, "write to the file OUT; - is stdout")
#define CLI_OPTION_FORCE CLI_FLAG_OPTION('f', "force", force, "replace an output file that exists")
#define CLI_OPTION_NO_SYNC CLI_FLAG_OPTION(0, "no-sync", no_sync, "do not fsync the output")
#define CLI_OPTION_FROM                                                                      \
    CLI_TEXT_CHOICE(0, "from", "FORMAT", from, CLI_CHOICES_READ,                             \
                    "format of the input (default: by content, then by name)"),              \
        CLI_COUNT_OPTION(0, "max-input", "BYTES", max_input,                                 \
                         "reject inputs that expand beyond this size; 0: 64 GiB (default)"), \
        CLI_FLAG_OPTION(0, "trusted", trusted,                                               \
                        "read without limits on memory, expansion and time"),                \
        CLI_COUNT_OPTION(0, "threads", "N", threads,                                         \
                         "number of threads (default: 0, one for each core)")
#define CLI_OPTION_FILES_FROM                            \
    CLI_LIST_OPTION(0, "files-from", "LIST", files_from, \
                    "also read the files in LIST, one path a line; - is stdin; repeatable")
#define CLI_OPTION_LENIENT                 \
    CLI_FLAG_OPTION(0, "lenient", lenient, \
                    "accept known deviations from the format, with a warning")
#define CLI_OPTION_STRICT_IMPORT \
    CLI_FLAG_VALUE(0, "strict", lenient, 0, "reject malformed input (default)")
#define CLI_OPTION_META                           \
    CLI_LIST_OPTION(0, "meta", "KEY=VALUE", meta, \
                    "store this metadata with each source, KEY without ~; repeatable")
#define CLI_OPTION_PLAIN   \
    CLI_FLAG_OPTION(       \
        0, "plain", plain, \
        "store every column as a plain array, for programs that map the file without libpcol")
#define CLI_OPTION_ARCHIVE                               \
    CLI_MAYBE_OPTION(                                    \
        0, "archive", "CODEC", archive, "auto|lz4|zlib", \
        "compress for cold storage with zlib, lz4 or auto (default), which chooses for each part")
#define CLI_OPTION_SUMS                                                                           \
    CLI_MAYBE_OPTION(0, "sums", "KEY,...", sums, NULL,                                            \
                     "add up samples: one for each call stack and values of the keys, which are " \
                     "labels or metadata of sources; without times, threads and addresses")
#define CLI_OPTION_REBASE                                                                          \
    CLI_FLAG_OPTION(0, "rebase", rebase,                                                           \
                    "make addresses offsets in their binary, so that processes that loaded it at " \
                    "different addresses share stacks")
#define CLI_OPTION_FAIL_ON_LOSS                      \
    CLI_FLAG_OPTION(0, "fail-on-loss", fail_on_loss, \
                    "if the format cannot represent everything, write nothing and exit with 5")
#define CLI_OPTION_COLLAPSE_IDLE                                                                   \
    CLI_FLAG_OPTION(0, "collapse-idle", collapse_idle,                                             \
                    "join a sample to its predecessor in the thread if the stack is the same and " \
                    "no CPU time was used")
#define CLI_OPTION_TOLERANCE                                                                      \
    CLI_TEXT_OPTION(0, "tolerance", "TIME", tolerance,                                            \
                    "with --collapse-idle: join only samples whose times --expand-idle restores " \
                    "with this accuracy (5us, 0.1ms)")
#define CLI_OPTION_FORMAT                                                                         \
    CLI_TEXT_CHOICE(0, "format", "FORMAT", format, "table|tsv|csv|json|ndjson|markdown",          \
                    "table (default on a terminal), tsv (default elsewhere), csv, json, ndjson, " \
                    "markdown; a suffix of OUT (.csv, .md, ...) also chooses it")
#define CLI_OPTION_NO_HEADER \
    CLI_FLAG_OPTION(0, "no-header", no_header, "leave out the line of column names")
#define CLI_OPTION_NULL \
    CLI_TEXT_OPTION(0, "null", "TEXT", null, "text for a null in tsv and csv"), CLI_OPTION_CSV_SAFE
#define CLI_OPTION_CSV_SAFE                  \
    CLI_FLAG_OPTION(0, "csv-safe", csv_safe, \
                    "csv, tsv: prefix text that a spreadsheet would read as a formula with '")
#define CLI_OPTION_CUM \
    CLI_FLAG_OPTION(0, "cum", cum, "same as --sort total, the name that pprof uses")
#define CLI_OPTION_DEMANGLE                                         \
    CLI_TEXT_CHOICE(0, "demangle", "WHEN", demangle, "auto|on|off", \
                    "demangle C++ names: auto (default: on a terminal and in graphs), on, off")
/* Of commands that print no names of frames. */
#define CLI_OPTION_DEMANGLE_PATTERNS                           \
    CLI_TEXT_CHOICE(0, "demangle", "WHEN", demangle, "on|off", \
                    "patterns match demangled C++ names, too: on (default), off")
/* Selection options. */
#define CLI_OPTIONS_FRAMES                                                                   \
    CLI_TEXT_OPTION(0, "focus", "RE", focus, "only samples with a matching frame"),          \
        CLI_TEXT_OPTION(0, "ignore", "RE", ignore, "only samples without a matching frame"), \
        CLI_TEXT_OPTION(0, "hide", "RE", hide, "remove matching frames"),                    \
        CLI_TEXT_OPTION(0, "show", "RE", show, "remove frames that do not match")
#define CLI_OPTIONS_SAMPLES                                                                        \
    CLI_TEXT_OPTION(0, "thread", "RE", thread, "only threads with a matching name"),               \
        CLI_LIST_OPTION(                                                                           \
            0, "label", "KEY=VALUE", labels,                                                       \
            "only samples with this label; KEY=A:B: a number in this range (bytes=1kb:64kb, "      \
            "bytes=64kb:); "                                                                       \
            "KEY~RE: with a matching value; KEY!=VALUE, KEY!~RE: without; repeatable"),            \
        CLI_TEXT_OPTION(                                                                           \
            0, "time", "A-B", time,                                                                \
            "only from A up to B, or A+LENGTH, by the column .time (info shows its range); +A-B: " \
            "relative to the first sample; in ms, or with s, ms, us, ns"),                         \
        CLI_TEXT_CHOICE(                                                                           \
            0, "time-share", "HOW", time_share, "proportional|additive|exact",                     \
            "weight of samples partly in the range: proportional (default), additive, exact")
#define CLI_OPTION_ORDER                                                                       \
    CLI_TEXT_OPTION(0, "order", "A-B", order,                                                  \
                    "only samples with a sample_id from A up to, but not including B, in the " \
                    "order of the profile; A-: to the end; A+N: N samples")
#define CLI_OPTION_KEEP_DROPPED                      \
    CLI_FLAG_OPTION(0, "keep-dropped", keep_dropped, \
                    "do not apply the drop_frames of a pprof profile")
#define CLI_OPTION_SOURCE_META                                   \
    CLI_LIST_OPTION(0, "source-meta", "KEY=VALUE", source_metas, \
                    "only sources with this metadata; KEY~RE: with a matching value; repeatable")
#define CLI_OPTIONS_SELECTION                                                            \
    CLI_TEXT_OPTION(0, "sample-type", "TYPE", sample_type,                               \
                    "sample type: TYPE or TYPE/UNIT (default: that of the profile)"),    \
        CLI_OPTIONS_FRAMES, CLI_OPTIONS_SAMPLES, CLI_OPTION_ORDER,                       \
        CLI_TEXT_OPTION(0, "source", "ID|RE", pick_source,                               \
                        "only the source with this id, or sources with a matching uri"), \
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
#define CLI_OPTIONS_ADDED_FRAMES                                                                  \
    CLI_LIST_CHOICE(0, "root", "WHAT,...", roots, "thread|process|source|mapping|label:|",        \
                    "put a frame above each stack: thread, process, source, mapping (binary of "  \
                    "the innermost frame) or label:KEY; the first is the outermost; repeatable"), \
        CLI_LIST_CHOICE(0, "leaf", "WHAT,...", leaves, "thread|process|source|mapping|label:|",   \
                        "the same below each stack; the last is the innermost")
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
/* Fill an error; return its status. */
pcol_status cli_set_error(pcol_error *err, pcol_status status, const char *message);
/* For lack of memory. */
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
/* Parse decimal digits at *text, which it moves past them; 0 on success. */
int cli_parse_digits(const char **text, uint64_t *value);
/* Decimal digits only; 0 on success. */
int cli_parse_u64(const char *text, uint64_t *value);
/* Seconds since 1970 of a time in ISO 8601, UTC without a zone (cli_timestamp.c); 0: no such time.
 */
int cli_timestamp(const char *text, int64_t *seconds);

/* Length of the valid UTF-8 sequence at text[0..size), 0 if there is none. */
size_t cli_utf8(const char *text, size_t size, uint32_t *code);
/* Whether a terminal may interpret it: control characters, line separators, bidi controls. */
int cli_unsafe(uint32_t code);
/* Whether the file descriptor is a terminal whose charset is not UTF-8. */
int cli_is_ascii(int fd);
/* Branches of trees, two columns each, and the sign for omitted text. */
struct cli_signs {
    const char *pipe, *branch, *last, *first, *ellipsis;
};
const struct cli_signs *cli_signs(int is_ascii);
/* Length of the first character, or of an invalid byte; *columns: its width on a terminal. */
size_t cli_character(const char *text, size_t size, size_t *columns);
/* Write text with unsafe characters as \xNN, and all but ASCII if is_ascii. Returns its width in
 * columns. `buffer` receives *used bytes, at most 4 * size. */
size_t cli_escape(const char *text, size_t size, int is_ascii, char *buffer, size_t *used);

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

/* cli_heap.c: reserve a heap of huge pages for an input of this size if it is large; the first call
 * counts. */
void cli_heap_reserve(uint64_t input_bytes);
/* Size of all inputs that were opened; UINT64_MAX: they are trusted. */
uint64_t cli_input_bytes(void);
/* Whether `count` things are more than `free` ones and so many for each byte of the inputs. */
int cli_is_beyond(uint64_t count, uint64_t free, unsigned per_byte);
/* The budget of memory of an import (lib/util/import_budget.h). */
#define CLI_FREE_BYTES (UINT64_C(256) << 20)
#define CLI_BYTES_PER_BYTE 64u
/* Fails if an output has more bytes than the inputs allow: a few bytes of input may have names and
 * stacks that an output repeats any number of times. */
int cli_check_written(uint64_t written);
/* cli_cpu_limit.c: limit the CPU time from here on, unless the inputs are trusted; until the output
 * is complete, which ends the limit. */
void cli_cpu_limit_begin(const struct cli_args *args);
/* The same limit again, from here on, as for each request to a server. */
void cli_cpu_limit_renew(void);
void cli_cpu_limit_end(void);
/* Raise the limit for a file that is read. A stream, whose size is not known, lifts it. */
void cli_cpu_limit_input(const char *path);
void cli_cpu_limit_lift(void);
void cli_cpu_limit_samples(uint64_t samples);
/* For the handler of SIGPROF: print the message; 0 if no limit was set. Async-signal-safe. */
int cli_cpu_limit_report(void);
/* Open a .pcol, or pack another profile in memory with fast encodings for a single reading. */
int cli_input_open(struct cli_input *input, const char *path, const struct cli_args *args);
/* The same with the encodings of `pack`, for commands that show sizes and encodings. */
int cli_input_open_packed(struct cli_input *input, const char *path, const struct cli_args *args);
/* Open all operands; several are merged in memory. */
int cli_input_open_all(struct cli_input *input, const struct cli_args *args);
void cli_input_close(struct cli_input *input);
/* CLI_IO, reported once, if a mapped input changed during reading, also if it is closed. */
int cli_inputs_intact(void);
/* A usage error for the operands FILE NAME instead of NAME FILE. */
int cli_require_name_first(const struct cli_args *args);
/* CLI_NO, reported, for a function that is not in an input; CLI_IO if the input changed. */
int cli_no_function(const char *input, const char *name);

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

#include "cli_print.h"
#include "cli_query.h"

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
    struct cli_demangled demangled; /* what `selection` borrows */
    int noticed;                    /* notices about the selection were given */
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

#endif
