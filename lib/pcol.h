/*
 * pcol.h - read, write and convert pcol files: performance profiles in columns
 *
 * The only header of libpcol. What is not declared here is not published. The format itself is
 * described in spec.md.
 *
 * Conventions of all functions:
 *   - A function that can fail returns a pcol_status and takes a caller-owned pcol_error, which may
 *     be NULL and is not written to on success. Out-parameters are 0 or NULL after a failure.
 *   - Handles belong to the caller that opened them; close and free accept NULL. Pointers obtained
 *     from a handle are borrowed: they are valid until the handle is closed and are not written to.
 *   - Inputs are borrowed for the call; what must live longer is copied.
 *   - One pcol_file may be read by several threads at once; closing must not race with any other
 *     call. A pcol_scan, a pcol_builder and a pcol_output belong to one thread at a time. The
 *     library starts no threads but where `threads` in the options of a call requests them; these
 *     have ended when it returns. A call takes less than 128 KiB of stack.
 *   - Every value that comes out of a file is checked before it is used: a damaged file gives an
 *     error that names the table, the column and the row, never a read out of bounds.
 *   - The library never prints, never exits and reads neither the environment nor the clock.
 *   - NULL where an object, a text or a place for an answer is needed, and values of an enum or
 *     flags that are not declared, are E_ARGUMENT; functions without a status return 0,
 *     NULL or an empty struct for them, and for an index beyond the last one. The library cannot
 *     detect freed handles, and sizes larger than the memory that a pointer refers to.
 *   - A thread must not be cancelled or exit, and a function that the library calls must not jump
 *     out of it, while a call runs: locks would stay taken. After fork() a child may go on reading
 *     the files that were open, if no other thread was within a call.
 *   - Row numbers count from 0, ids shown in the logical tables from 1.
 *   - Structs that a caller fills start with a `size` field: set it to sizeof the struct (PCOL_INIT
 *     does); one that is not set is E_ARGUMENT. Later versions append members: a library takes a
 *     struct without them as one where they are 0, and refuses one in which members that it does
 *     not know are not 0 (E_ARGUMENT). Options may be NULL: the defaults.
 *
 * A mapped file that another process cuts while it is read raises SIGBUS in the reader, as with
 * any mapping. PCOL_OPEN_GUARD makes that an error of the file; PCOL_OPEN_COPY reads the file into
 * memory instead. Without either the library touches no signal.
 *
 * A library built with PCOL_NO_MMAP reads every file into memory, as PCOL_OPEN_COPY does; one built
 * with PCOL_NO_THREADS starts no threads and may be used by one thread only.
 *
 * Since 1.0 unless a declaration states otherwise.
 */
#ifndef PCOL_H
#define PCOL_H

#include <stddef.h> /* size_t */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCOL_VERSION_MAJOR 1
#define PCOL_VERSION_MINOR 0
#define PCOL_VERSION_PATCH 0
#define PCOL_VERSION_SUFFIX "-dev" /* "" in a release */

#if defined(__GNUC__)
#define PCOL_API __attribute__((visibility("default")))
#define PCOL_NODISCARD __attribute__((warn_unused_result))
#define PCOL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PCOL_API
#define PCOL_NODISCARD
#define PCOL_PRINTF(text, first)
#endif

/* Initialiser of a struct with a size: `pcol_open_options o = PCOL_INIT(pcol_open_options);` */
#ifdef __cplusplus
#define PCOL_INIT(type)        \
    ([] {                      \
        type own = type();     \
        own.size = sizeof own; \
        return own;            \
    }())
#else
#define PCOL_INIT(type)      \
    {                        \
        .size = sizeof(type) \
    }
#endif

/* ---------------------------------------------------------------------------------------------
 * Status and errors
 * ------------------------------------------------------------------------------------------- */

/* X(name, value, text). Values are stable; gaps of ten separate where the cause is: in the call,
 * the machine, the pcol file, the input that is imported or exported. */
#define PCOL_STATUS_LIST(X)                                      \
    X(OK, 0, "no error")                                         \
    X(E_ARGUMENT, 1, "invalid argument")                         \
    X(E_STATE, 2, "call not allowed in this state")              \
    X(E_NOT_FOUND, 3, "no such table, column, format or source") \
    X(E_NO_MEMORY, 10, "out of memory")                          \
    X(E_IO, 11, "input or output failed")                        \
    X(E_EXISTS, 12, "output exists")                             \
    X(E_LIMIT, 13, "limit exceeded")                             \
    X(E_CANCELLED, 14, "cancelled by the caller")                \
    X(E_MAGIC, 20, "not a pcol file")                            \
    X(E_VERSION, 21, "needs a newer reader")                     \
    X(E_TRUNCATED, 22, "file is cut")                            \
    X(E_CORRUPT, 23, "file is damaged")                          \
    X(E_CHECKSUM, 24, "checksum mismatch")                       \
    X(E_UNSUPPORTED, 25, "not supported by this library")        \
    X(E_FORMAT, 30, "format not recognised")                     \
    X(E_SYNTAX, 31, "input is malformed")                        \
    X(E_LOSS, 32, "target format cannot hold the profile")

typedef enum pcol_status {
#define PCOL_STATUS_ENUM(name, value, text) PCOL_##name = value,
    PCOL_STATUS_LIST(PCOL_STATUS_ENUM)
#undef PCOL_STATUS_ENUM
} pcol_status;

#define PCOL_POSITION_UNKNOWN UINT64_MAX

/* Position and reason of a failure. Unknown fields are PCOL_POSITION_UNKNOWN, 0 or "". */
typedef struct pcol_error {
    pcol_status status;
    int32_t os_error;         /* errno of the system call that failed; 0: no system call did */
    uint64_t offset;          /* byte of the file or input, from 0; or PCOL_POSITION_UNKNOWN */
    uint64_t inflated_offset; /* byte of the decompressed input; PCOL_POSITION_UNKNOWN if none */
    uint64_t line;            /* text input: line from 1; 0 if unknown */
    uint64_t text_column;     /* byte in the line from 1 */
    uint64_t row;             /* row of `table`, or PCOL_POSITION_UNKNOWN */
    char table[48];
    char column[48];
    char message[320]; /* one sentence, lower case, no full stop, no line feed */
    /* E_ARGUMENT: member of the options or of the selection whose value is at fault, "focus";
     * otherwise a member or flag that permits the call, "lenient", "PCOL_IMPORT_TRUSTED"; "" if
     * none. */
    char option[32];
    uint64_t reserved[4]; /* 0 */
} pcol_error;

/* Name of a status ("E_CORRUPT"); never NULL. */
PCOL_API const char *pcol_status_name(pcol_status status);
/* Text of a status ("file is damaged"); never NULL. */
PCOL_API const char *pcol_status_text(pcol_status status);

/**
 * pcol_error_place() - the place of an error as text
 * @err:  a filled error
 * @text: receives "1842:17", "byte 40213", "byte 40213 (inflated 311870)" or
 *        "table samples, column stack, row 5"; "" if no place is known
 * @size: bytes at @text, at least 1; 192 always suffice
 * Returns @text.
 */
PCOL_API const char *pcol_error_place(const pcol_error *err, char *text, size_t size);

/**
 * pcol_error_set() - fill an error, for sinks and readers that a program provides
 * @err:      receives the error, with all places unknown; may be NULL
 * @status:   of a failure; any other value is replaced by PCOL_E_ARGUMENT
 * @os_error: errno, or 0
 * @format:   as for printf(); NULL: the text of the status. A message that does not fit is cut
 *            between two characters of UTF-8; the arguments may point into @err
 * Returns the status, so that a callback can `return pcol_error_set(err, PCOL_E_IO, errno, ...)`.
 * Any thread; allocates nothing.
 */
PCOL_API pcol_status pcol_error_set(pcol_error *err, pcol_status status, int os_error,
                                    const char *format, ...) PCOL_PRINTF(4, 5);

/* The library's version, "1.0.0", with PCOL_VERSION_SUFFIX. Static text. */
PCOL_API const char *pcol_version(void);
/* The versions of the libraries that libpcol runs with, "zlib 1.2.13, xxHash 0.8.1, ...", as
 * snprintf() writes it: at most @size bytes with a NUL. Returns the bytes that the whole text needs
 * without it. */
PCOL_API size_t pcol_libraries(char *text, size_t size);

/* ---------------------------------------------------------------------------------------------
 * Control of long calls
 * ------------------------------------------------------------------------------------------- */

/* The subject of a notice. Values are stable; later versions may add further ones. */
typedef enum pcol_notice_code {
    PCOL_NOTICE_INPUT = 1, /* a fault of the input that was tolerated, or content left out */
    PCOL_NOTICE_LOSS = 2,  /* content that the target format cannot represent */
    PCOL_NOTICE_TARGET =
        3, /* nothing is lost, but a reader of the target may reject or misread it */
    PCOL_NOTICE_SELECTION = 4 /* a condition that selects nothing, or content outside of it */
} pcol_notice_code;

typedef struct pcol_notice {
    size_t size; /* set by the library */
    pcol_notice_code code;
    const char *format;  /* name of the pcol_format read or written; "" if none */
    const char *subject; /* PCOL_NOTICE_LOSS: the content, a part of the text; "" if none */
    const char *text;    /* one sentence, lower case, no full stop, no line feed */
    /* PCOL_NOTICE_SELECTION: member of the selection that the notice is about; otherwise a member
     * or flag with which the content is imported or exported otherwise; "" if none. */
    const char *option;
} pcol_notice;

/**
 * struct pcol_control - progress, cancellation and notices of a call
 * @context:  passed to both functions
 * @progress: called after every 256 KiB of work, about a millisecond. phase: "read", "write",
 *            "check", "query", ...; done and total: bytes, total 0 if it is not known. Any result
 *            but 0 cancels the call, which then fails with PCOL_E_CANCELLED, releases its
 *            memory and removes its temporary files. May be NULL
 * @notice:   called for each thing that the user should know; valid during the call. May be NULL
 *
 * Both functions are called by the thread that made the call, also where the library uses further
 * threads. They must return; they must not call the library with the handles of the call.
 * A control given to pcol_query_new() is also in force in later calls for that query, and must
 * remain valid until the query is freed; so must that of a scan. A query whose call was cancelled
 * can be asked again.
 */
typedef struct pcol_control {
    size_t size;
    void *context;
    int (*progress)(void *context, const char *phase, uint64_t done, uint64_t total);
    void (*notice)(void *context, const pcol_notice *notice);
} pcol_control;

/* A borrowed byte string: not terminated, may hold NUL and bytes that are not UTF-8. */
typedef struct pcol_str {
    const char *data;
    size_t size;
} pcol_str;

/* Release memory that a function of this library handed over ("the caller frees it"). */
PCOL_API void pcol_free(void *memory);

/* Functions that replace malloc(), realloc() and free(); any thread may call them. Results are
 * aligned for every type; NULL: out of memory. memory is never NULL. */
typedef struct pcol_allocator {
    size_t size;
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *memory, size_t size);
    void (*release)(void *context, void *memory);
} pcol_allocator;

/**
 * pcol_set_allocator() - take all memory of the library from functions of the program
 * To be called before any other call, while no other thread uses the library; the functions stay in
 * force for the life of the process. zlib and LZ4 use them as well; not so maps of files and of
 * blocks of archives, and what the C library allocates itself (qsort(), threads).
 * Errors: E_ARGUMENT (no size, a function is NULL), E_STATE (memory was allocated before).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_set_allocator(const pcol_allocator *allocator,
                                                       pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------- */

typedef struct pcol_file pcol_file;

#define PCOL_OPEN_COPY 0x1u /* read the whole file into memory instead of mapping it */
/* Survive SIGBUS in the map, which comes if the file is cut or the disk fails: from then on the
 * file reads as zeros, and calls that read it fail with E_IO. In force while a file is open so: a
 * handler for SIGBUS, for all threads, which hands every other SIGBUS to the handler that was set
 * before; a handler that the program sets later must do the same. A thread must not block SIGBUS.
 * Keeps one descriptor open. Without effect on copies and on memory. */
#define PCOL_OPEN_GUARD 0x2u
/* Do not verify the checksums of sections. Without it a column is verified once per file before its
 * first value is used, by whatever reads it: scans, queries, exports, filters, imports and
 * pcol_column_data() fail with E_CHECKSUM. Exempt are pcol_column_i64(), _f64() and _str(); and
 * sections above 4 MiB as long as pcol_column_read_*(), scans and pcol_stack_locations() touch less
 * than a tenth of their rows, all calls for this file together. Blocks of archives are verified
 * whenever they are decompressed, and pcol_file_check() verifies everything, with this flag as
 * well. The directories of a column (counts of marked rows, block and byte offsets, run ends) are
 * compared with what they index when its checksums are, and the order of plain strings of the pool,
 * also with this flag: E_CORRUPT. */
#define PCOL_OPEN_UNVERIFIED 0x4u

typedef struct pcol_open_options {
    size_t size;
    unsigned flags; /* PCOL_OPEN_* */
    /* Archives: so many bytes of decompressed numbers are kept at most, but those that are being
     * read, and texts; 0: 256 MiB. What is read again after that is decompressed again. Columns
     * that are requested as arrays (pcol_column_data()) stay, and so do the few that are encoded in
     * ways that scatter their rows. */
    uint64_t archive_bytes;
} pcol_open_options;

/**
 * pcol_file_open() - map a pcol file for reading
 * @path: file to open
 * @options: NULL for the defaults
 * @file: receives the handle; the caller closes it with pcol_file_close()
 *
 * Reads the index into private memory and checks every range in it. Costs O(sections),
 * independent of the number of samples.
 *
 * Errors: E_IO, E_NO_MEMORY, E_MAGIC, E_VERSION, E_TRUNCATED, E_CORRUPT, E_CHECKSUM.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_open(const char *path,
                                                   const pcol_open_options *options,
                                                   pcol_file **file, pcol_error *err);

/* The same from an open descriptor of a regular file, at any position; it is neither moved nor
 * closed, and not needed after the call. */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_open_fd(int fd, const pcol_open_options *options,
                                                      pcol_file **file, pcol_error *err);
/* The same over @size bytes at @data, which must stay unchanged until the file is closed. */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_open_memory(const void *data, size_t size,
                                                          const pcol_open_options *options,
                                                          pcol_file **file, pcol_error *err);

PCOL_API void pcol_file_close(pcol_file *file);
/* A further reference to an open file, for objects of other languages: the file is closed by the
 * last pcol_file_close(), of which each reference needs one. Any thread. Returns @file. */
PCOL_API pcol_file *pcol_file_retain(const pcol_file *file);

/**
 * pcol_file_intact() - whether what was read so far is what the file held when it was opened
 * To be asked at the end of the work on a file opened with PCOL_OPEN_GUARD, since values may have
 * been read through borrowed pointers, and a file may be written to without any signal. Looks at
 * the file's size and time of change: what is written within the same tick of the clock as the
 * opening goes unseen. Other files: always PCOL_OK. Cost: one system call. Errors: E_IO.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_intact(const pcol_file *file, pcol_error *err);

/* Size of the file in bytes. */
PCOL_API uint64_t pcol_file_size(const pcol_file *file);
/* Size of the file without any compression. Columns that were read take no more in
 * memory, besides strings that share their beginnings (256 MiB in an archive) and parents of trees,
 * put together; numbers beyond pcol_open_options.archive_bytes are released again. The file's size,
 * unless it is an archive (PCOL_WRITE_ARCHIVE). */
PCOL_API uint64_t pcol_file_unpacked_size(const pcol_file *file);
/* 1 if the file is an archive. */
PCOL_API int pcol_file_is_archive(const pcol_file *file);
/* 1 if pcol_open_any_*() imported the file from another format. */
PCOL_API int pcol_file_is_imported(const pcol_file *file);
/* Version of the format that the file declares. */
PCOL_API void pcol_file_version(const pcol_file *file, unsigned *major, unsigned *minor);

/* ---------------------------------------------------------------------------------------------
 * Tables and columns
 * ------------------------------------------------------------------------------------------- */

/* Views of the same bytes (spec.md, "Logical tables"). */
typedef enum pcol_model {
    PCOL_MODEL_V2 = 0,       /* meta, sources, samples, sample_values, sample_locations, ... */
    PCOL_MODEL_V1 = 1,       /* meta, sample_types, samples, locations, functions */
    PCOL_MODEL_PHYSICAL = 2, /* the tables as stored in the file */
    /* The physical tables in the form of v2: a first column `row` (from 0), ids of rows of v2's
     * tables, times in ms, labels by their keys; without columns for exact restoration. */
    PCOL_MODEL_FURTHER = 3
} pcol_model;

typedef struct pcol_table pcol_table;
typedef struct pcol_column pcol_column;

/* The type of the cells of a column. */
typedef enum pcol_type {
    PCOL_I64 = 1,
    PCOL_U64 = 2,
    PCOL_F64 = 3,
    PCOL_U32 = 4,    /* read as i64 */
    PCOL_STRING = 5, /* string of the file's pool */
    PCOL_BYTES = 6,  /* string of the column's own */
    PCOL_BOOL = 7,   /* 0 or 1, read as i64 */
    PCOL_LIST = 8    /* list of i64; only in logical tables */
} pcol_type;

/* "i64", "string", ...; never NULL. */
PCOL_API const char *pcol_type_name(pcol_type type);

/* Number of tables that the file shows under a model. */
PCOL_API uint32_t pcol_file_table_count(const pcol_file *file, pcol_model model);

/**
 * pcol_file_table() - the table number @index of a model, 0 <= @index < pcol_file_table_count()
 * @table: receives the table, borrowed from the file
 * Errors: E_ARGUMENT; E_UNSUPPORTED and E_CORRUPT if the columns that the table is made of are
 * missing or of the wrong type; E_NO_MEMORY; E_LOSS if v1 cannot express the profile.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_table(const pcol_file *file, pcol_model model,
                                                    uint32_t index, const pcol_table **table,
                                                    pcol_error *err);
/* The same by name; E_NOT_FOUND if there is none. */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_table_by_name(const pcol_file *file, pcol_model model,
                                                            const char *name,
                                                            const pcol_table **table,
                                                            pcol_error *err);
/* Name of table @index of a model, or NULL; costs nothing and cannot fail otherwise. */
PCOL_API const char *pcol_file_table_name(const pcol_file *file, pcol_model model, uint32_t index);

/* 1 if v2 shows the content of a physical table, or only a reader of the file needs it: lists of
 * the tables of a profile are those of v2 and all further tables that are not internal. */
PCOL_API int pcol_file_table_is_internal(const pcol_file *file, uint32_t index);

/**
 * pcol_file_default_types() - which sample type each of some sources is about
 * @first_source: row of the first source
 * @count:        how many sources, and the length of @sample_types
 * @sample_types: receives rows of the physical table sample_types: the type that the source names
 *                as its default, else for pprof its last, else its first; a gauge only where it has
 *                nothing else; PCOL_NONE for a source without types
 * Cost: one read of sample_types and source_types. Errors: E_ARGUMENT (sources that the file has
 * not), E_NO_MEMORY, E_CORRUPT, E_UNSUPPORTED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_default_types(const pcol_file *file,
                                                            uint64_t first_source, size_t count,
                                                            uint32_t *sample_types,
                                                            pcol_error *err);

/**
 * pcol_file_default_type() - the sample type of queries for which none is asked
 * @sample_type: receives its row of the physical table sample_types: the type that the first pprof
 *               source names, if only pprof sources precede it, as in a merge by pprof; else that
 *               of the first source that is not about a level; PCOL_NONE if there are no types
 * Cost: one read of sample_types and source_types. Errors: E_ARGUMENT, E_NO_MEMORY, E_CORRUPT,
 * E_UNSUPPORTED, E_LIMIT (implausibly many sources).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_default_type(const pcol_file *file,
                                                           uint32_t *sample_type, pcol_error *err);

/**
 * pcol_file_times() - the first and the last time of the samples of one source
 * @source: row of the source; each source has a clock of its own
 * @first:  receives nanoseconds; @first > @last: no sample of the source has a time
 * Found in the cells, not in the statistics of the column. Cost: up to a read of samples.time; much
 * less where times are sorted. Errors: E_ARGUMENT (a source that the file has not), E_NO_MEMORY,
 * E_CORRUPT, E_UNSUPPORTED, E_LIMIT (implausibly many rows).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_times(const pcol_file *file, uint64_t source,
                                                    int64_t *first, int64_t *last, pcol_error *err);

/**
 * pcol_label_keys() - the keys of labels by which queries sum and select samples
 * @keys:     receives up to @capacity keys, each once, in the order of their bytes; a key may hold
 *            any bytes and is borrowed from the file
 * @capacity: places at @keys; 0: only count
 * @count:    receives the number of keys, which may exceed @capacity
 * Call stacks and amounts of Perun are no labels of queries. Not listed are keys without a column,
 * as those beyond the first 512 of a source; queries find them by name. Cost: O(rows of
 * label_keys). Errors: E_ARGUMENT, E_NO_MEMORY, E_CORRUPT, E_UNSUPPORTED, E_LIMIT (implausibly many
 * rows or labels).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_label_keys(const pcol_file *file, pcol_str *keys,
                                                    size_t capacity, size_t *count,
                                                    pcol_error *err);

PCOL_API const char *pcol_table_name(const pcol_table *table);
PCOL_API uint64_t pcol_table_rows(const pcol_table *table);
PCOL_API uint32_t pcol_table_column_count(const pcol_table *table);
/* Column @index, NULL if out of range. */
PCOL_API const pcol_column *pcol_table_column(const pcol_table *table, uint32_t index);
/* Column by name, with or without its leading dot; NULL if there is none. @index may be NULL. */
PCOL_API const pcol_column *pcol_table_column_by_name(const pcol_table *table, const char *name,
                                                      uint32_t *index);

#define PCOL_COLUMN_IS_JOINED 0x1u   /* pcol_table_joined(): what ids stand for */
#define PCOL_COLUMN_IS_REPLACED 0x2u /* ids before which such columns are */
#define PCOL_COLUMN_IS_COMPOSED 0x4u /* texts of a scan are valid until its next call */

/* The description of a column. All pointers are borrowed from the file. */
typedef struct pcol_column_info {
    size_t size;
    const char *name;
    pcol_type type;
    /* "plain", "linear", "packed", "sparse", "runs", "chain", "deltas", "front", "split",
     * "dictionary", "tree"; "view": computed */
    const char *encoding;
    const char *codec;      /* archives: "zlib" or "lz4" if sections are compressed; else "none" */
    const char *references; /* table whose rows (or ids) the values name, or NULL */
    int primary_key;        /* part of the table's primary key (logical tables) */
    int nullable;
    uint64_t rows;
    uint64_t null_count; /* physical columns: as stored in the file; 0 for computed ones */
    uint64_t bytes;      /* on disk, with all sections */
    /* Position of a physical column's values in the file; PCOL_POSITION_UNKNOWN if they have no
     * section of their own or it is compressed. */
    uint64_t values_offset;
    uint64_t values_bytes;
    uint64_t validity_offset; /* PCOL_POSITION_UNKNOWN: no validity section */
    uint64_t data_offset;     /* PCOL_BYTES: the bytes; values_offset is then that of the offsets */
    uint64_t data_bytes;
    unsigned width_bits; /* of a plain or packed value */
    int64_t base, step;  /* parameters of the encoding (spec.md, "Encodings") */
    uint64_t scale;
    const char *codes_of; /* dictionary: the column before whose codes it shares, or NULL */
    int has_stats;        /* min and max, as stored in the file: pcol_file_check() compares them */
    int64_t min, max;     /* PCOL_F64: bits of the double */
    const char *physical_name; /* of the physical column with its cells, if different; or NULL */
    const char *unit;          /* logical columns: unit of the values; NULL: none, or by row */
    const char *documentation; /* logical columns: description in one line, or NULL */
    uint32_t flags;            /* PCOL_COLUMN_* */
    uint32_t reserved;
} pcol_column_info;

/* @info: size set by the caller (PCOL_INIT). Cost: O(sections of the column). Any thread. Errors:
 * E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_describe(const pcol_column *column,
                                                         pcol_column_info *info, pcol_error *err);

/* One cell. Cost: O(1) for physical and most logical columns, so neither checksum nor directories
 * of the column are verified for it: in a damaged file it is in bounds, and may be another row's.
 * *valid is 0 for a null (the value is then 0 or empty); @valid may be NULL.
 * Errors: E_ARGUMENT (row or type), E_CORRUPT. Integers of every width are read as i64; a u64
 * above INT64_MAX keeps its bits. f64 reads integers too, rounded to nearest. */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_i64(const pcol_column *column, uint64_t row,
                                                    int64_t *value, int *valid, pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_column_f64(const pcol_column *column, uint64_t row,
                                                    double *value, int *valid, pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_column_str(const pcol_column *column, uint64_t row,
                                                    pcol_str *value, int *valid, pcol_error *err);

/* @count cells from @row into the caller's arrays; @valid (bytes 0 and 1) may be NULL. Checksums
 * and directories of the column are verified first (E_CHECKSUM, E_CORRUPT): PCOL_OPEN_UNVERIFIED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_read_i64(const pcol_column *column, uint64_t row,
                                                         size_t count, int64_t *values,
                                                         uint8_t *valid, pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_column_read_f64(const pcol_column *column, uint64_t row,
                                                         size_t count, double *values,
                                                         uint8_t *valid, pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_column_read_str(const pcol_column *column, uint64_t row,
                                                         size_t count, pcol_str *values,
                                                         uint8_t *valid, pcol_error *err);

/* Number of strings in the file's pool: codes are below it. */
PCOL_API uint64_t pcol_file_string_count(const pcol_file *file);
/* The string of a code, valid until the file is closed: the same code gives the same pointer, and
 * different codes different strings. Cost: O(1), of front-coded pools one block. Errors: E_ARGUMENT
 * (no such code), E_CORRUPT, E_CHECKSUM. */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_string(const pcol_file *file, uint64_t code,
                                                     pcol_str *string, pcol_error *err);
/* As pcol_column_read_str() for strings of the pool, as codes without the texts; 0 where null.
 * Errors: E_UNSUPPORTED (the column's texts are not of the pool: PCOL_BYTES, or computed). */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_read_codes(const pcol_column *column, uint64_t row,
                                                           size_t count, uint32_t *codes,
                                                           uint8_t *valid, pcol_error *err);

/* Compare the checksums of all that a read of the whole column touches, once per file, as the calls
 * above and pcol_scan_new() do for whole columns; in a file opened with PCOL_OPEN_UNVERIFIED only
 * the directories. Meant for programs that are going to read many single cells. Errors: E_CHECKSUM,
 * E_CORRUPT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_verify(const pcol_column *column, pcol_error *err);

/* A column as it is stored in the file, without copying; of an archive, decompressed. Valid
 * until the file is closed. */
typedef struct pcol_buffer {
    const void *values;      /* rows * width_bytes bytes; PCOL_BYTES: (rows + 1) i64 offsets */
    const uint8_t *validity; /* Arrow bitmap, NULL if there are no nulls */
    const void *data;        /* PCOL_BYTES: the bytes, else NULL */
    uint64_t data_bytes;
    uint64_t rows;
    unsigned width_bytes; /* 1, 2, 4 or 8: little-endian, unsigned where narrower than the type */
    pcol_type type;
} pcol_buffer;

/**
 * pcol_column_data() - the column's values in place
 * Works for columns that are plain, or packed to 8, 16, 32 or 64 bits without base, step or scale;
 * every column of a file packed with --plain is, but for bool (bits). Verifies the checksum on
 * first use, and that offsets ascend from 0 to @data_bytes. A column of an archive is decompressed
 * as a whole then, into memory that the file owns; any number of threads may ask at once. Values
 * are not checked: a row number may be beyond the table that it refers to, which
 * pcol_column_read_*() rejects. Errors: E_UNSUPPORTED (encoded or computed: use
 * pcol_column_read_*), E_CHECKSUM, E_CORRUPT; archives: E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_data(const pcol_column *column, pcol_buffer *buffer,
                                                     pcol_error *err);

#define PCOL_ARRAY_TEXT 0x1u        /* offsets and bytes: BYTES, strings that are not of the pool */
#define PCOL_ARRAY_UTF8 0x2u        /* every text is UTF-8 */
#define PCOL_ARRAY_NANOSECONDS 0x4u /* times as stored, where the column shows milliseconds */

/* A whole column in the layout of an Arrow array. */
typedef struct pcol_array {
    size_t size;
    uint32_t type;       /* pcol_type of the values */
    uint32_t flags;      /* PCOL_ARRAY_* */
    uint32_t width_bits; /* of a value: 1 (BOOL), 32 (U32, codes of the pool) or 64 */
    uint32_t reserved;
    uint64_t rows, null_count;
    const uint8_t *validity; /* bitmap, LSB first; NULL: no nulls */
    const void *values;      /* PCOL_ARRAY_TEXT: rows + 1 i64 offsets into `data` */
    const void *data;
    uint64_t data_bytes;
} pcol_array;

/**
 * pcol_column_array() - the column as one array
 * @control: of this call; NULL: none. Nothing is kept of a column whose decoding was cancelled
 * @array: size set by the caller (PCOL_INIT); its pointers are valid until the file is closed
 * In place, without a copy, where the column is plain and not compressed: every column of a file
 * packed with PCOL_WRITE_PLAIN. Any other column is decoded as a whole on first use and kept in the
 * file: rows * width_bits / 8 bytes, and the texts. Strings of the pool are codes
 * (pcol_file_string()); references and codes are checked. Any thread.
 * Errors: E_UNSUPPORTED (lists), E_NO_MEMORY, E_LIMIT (implausibly large), E_CHECKSUM, E_CORRUPT.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_column_array(const pcol_column *column,
                                                      const pcol_control *control,
                                                      pcol_array *array, pcol_error *err);

/**
 * pcol_table_joined() - a table with names in addition to its ids
 * @joined: receives the table, borrowed from the file; @table itself if nothing can be joined: no
 *          such ids, a physical table, the table of a result
 * The rows are those of @table. Before each column of ids are columns of what these stand for, null
 * where the ids are:
 *
 *   location_id           name (as in pcol_names_location()), filename, line
 *   function_id           name, filename; the name of a row of `locations` is that of its frame
 *   source_id             source_uri, source_type
 *   .stack_id, stack      stack: the names of the frames, outermost first, "main;parse;read";
 *                         "<no stack>" for the empty stack
 *   .thread_id, thread    thread: its name, else its tid
 *   .category, category   category: its name
 *   .mapping_id, mapping  mapping: its filename
 *
 * The ids that a table gives to its own rows stay alone. Ids whose name is that of the joined
 * column get the suffix "_id". PCOL_COLUMN_* of pcol_column_info tell the columns apart.
 *
 * Scans with projection, conditions and selections, single cells, arrays and Arrow streams read
 * the table as any other. Names of frames and stacks are composed as they are read
 * (PCOL_COLUMN_IS_COMPOSED): a scan holds the texts of one batch; pcol_column_str() and _read_str()
 * read the whole column first, as pcol_column_array() does, and keep it. All other texts are those
 * of the file, mostly with codes.
 * Cost: O(columns), and that of pcol_file_table() for the tables that ids refer to. Reading: a few
 * nanoseconds for each repeated id, else that of a cell; of stacks, those frames that the stack
 * before does not have. Any thread. Errors: those of pcol_file_table(); reading fails with E_LIMIT
 * if the texts of 1024 rows take more than 64 MiB and 64 times the size of the file.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_table_joined(const pcol_table *table,
                                                      const pcol_table **joined, pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Iterating over rows
 * ------------------------------------------------------------------------------------------- */

typedef struct pcol_scan pcol_scan;

typedef enum pcol_operator {
    PCOL_OP_EQ = 0,
    PCOL_OP_NE = 1,
    PCOL_OP_LT = 2,
    PCOL_OP_LE = 3,
    PCOL_OP_GT = 4,
    PCOL_OP_GE = 5,
    PCOL_OP_MATCH = 6,     /* a pattern (pcol_pattern) matches anywhere in the text */
    PCOL_OP_NOT_MATCH = 7, /* the text is not null and the pattern does not match */
    PCOL_OP_IS_NULL = 8,
    PCOL_OP_NOT_NULL = 9
} pcol_operator;

/* A value of a pcol_type: I64, U32 and BOOL as i64, U64, F64, STRING and BYTES as str. */
typedef union pcol_scalar {
    int64_t i64;
    uint64_t u64;
    double f64;
    pcol_str str;
} pcol_scalar;

/* A condition on the cells of a column. Numbers compare exactly, whatever the types of column and
 * value; NaN satisfies only PCOL_OP_NE. Texts compare by bytes. A null satisfies only
 * PCOL_OP_IS_NULL. */
typedef struct pcol_condition {
    uint32_t column;   /* number in the table */
    uint32_t op;       /* pcol_operator */
    uint32_t type;     /* pcol_type of `value`: I64, U64, F64 or STRING; not read for the nulls */
    uint32_t reserved; /* 0 */
    pcol_scalar value;
} pcol_condition;

/* A condition on values that a program has outside of tables, tested as scans test cells. */
typedef struct pcol_value_test pcol_value_test;

/* @condition: `column` is not read. @test: receives the test, freed with pcol_value_test_free().
 * Errors: E_ARGUMENT (operator, type, pattern), E_NO_MEMORY. */
PCOL_API PCOL_NODISCARD pcol_status pcol_value_test_new(const pcol_condition *condition,
                                                        pcol_value_test **test, pcol_error *err);
/* @type: of @value; numbers and texts exclude each other. @value: NULL: null. @holds: receives 1 or
 * 0. One thread at a time, as pcol_pattern_test(). Errors: E_ARGUMENT (@type does not fit the
 * condition); E_LIMIT and E_NO_MEMORY of a pattern. */
PCOL_API PCOL_NODISCARD pcol_status pcol_value_test_holds(const pcol_value_test *test,
                                                          pcol_type type, const pcol_scalar *value,
                                                          int *holds, pcol_error *err);
PCOL_API void pcol_value_test_free(pcol_value_test *test);

/* Strings of the file's pool as codes: pcol_cells.codes instead of .str. Other texts stay texts. */
#define PCOL_SCAN_CODES 0x1u

struct pcol_selection;

typedef struct pcol_scan_options {
    size_t size;
    const uint32_t *columns;     /* numbers of columns, in any order; NULL: all of them */
    uint32_t column_count;       /* of `columns` */
    uint32_t batch_rows;         /* of a batch at most; 0: 1024; at most 2^20 */
    uint64_t first_row;          /* the range is cut at the table's end */
    uint64_t row_count;          /* 0: to the end */
    const pcol_condition *where; /* all must hold */
    size_t where_count;
    /* Only rows of the samples that pass (pcol_query_samples()): for samples, sample_values and
     * sample_locations of PCOL_MODEL_V2. sample_type also selects rows of sample_values, and hide
     * and show those of sample_locations. NULL: all. */
    const struct pcol_selection *selection;
    const pcol_control *control; /* of the scan and each of its batches; NULL: none */
    uint32_t flags;              /* PCOL_SCAN_* */
    uint32_t reserved;
} pcol_scan_options;

/* Cells of one column of a batch: one of the arrays, by type. */
typedef struct pcol_cells {
    pcol_type type;
    uint32_t reserved;
    const int64_t *i64;    /* I64, U32, BOOL; U64 as bits */
    const double *f64;     /* F64 */
    const pcol_str *str;   /* STRING, BYTES; valid until the file is closed, unless the column is
                            * PCOL_COLUMN_IS_COMPOSED */
    const uint32_t *codes; /* PCOL_SCAN_CODES: instead of `str`; 0 where null */
    const uint64_t *list;  /* LIST: rows + 1 offsets into list_values */
    const int64_t *list_values;
    const uint8_t *valid; /* 1 = value, 0 = null; never NULL */
    const void *more[2];  /* NULL */
} pcol_cells;

typedef struct pcol_batch {
    size_t size;
    uint64_t first_row; /* row of the first cells */
    size_t rows;        /* 0: the scan is at its end */
    /* Row of the table for each row of the batch, ascending; NULL: contiguous from first_row. */
    const uint64_t *row_numbers;
    const pcol_cells *columns; /* in the order of pcol_scan_options.columns */
    uint32_t column_count;
    uint32_t reserved;
} pcol_batch;

/**
 * pcol_scan_new() - iterate over rows of a table
 * @options: columns, range, conditions; NULL: all rows and columns
 * @scan: receives the scan, which borrows the file; freed with pcol_scan_free(). @options and what
 * it points to are not used after the call.
 * Rows of computed tables (sample_locations, sample_values) are generated as the scan goes: memory
 * follows batch_rows, not the range. Finding the first row costs O(log zones + 8192 samples),
 * and one pass over the samples of the file when pcol_file_table() first gives the table.
 * Conditions on ids select rows without reading them; blocks of 1024 rows whose encoding shows that
 * no value satisfies a condition (times, sorted columns) are not read. Other columns are read only
 * for blocks with hits. A scan over all rows compares the checksums of what it reads first, with
 * conditions those of a column when it first reads it.
 * Errors: E_ARGUMENT (a column that the table does not have; a condition whose type does not fit
 * its column; a bad pattern; batch_rows; a selection for another table), E_UNSUPPORTED (a column
 * that needs a newer reader), E_NO_MEMORY, E_CORRUPT, E_CHECKSUM, and those of pcol_query_new() for
 * a selection.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_scan_new(const pcol_table *table,
                                                  const pcol_scan_options *options,
                                                  pcol_scan **scan, pcol_error *err);
/**
 * pcol_scan_next() - the next rows
 * @batch: size set by the caller (PCOL_INIT); what it points to is valid until the next call
 * A batch has at most batch_rows rows, and fewer before the end under conditions, for lists and for
 * composed texts.
 * A scan that has failed can only be freed (E_STATE). Errors: those of reading the columns;
 * E_LIMIT (a pattern that takes too many steps; conditions that read more than 1 GiB of names and
 * stacks, and 1 KiB more for each byte of the file).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_scan_next(pcol_scan *scan, pcol_batch *batch,
                                                   pcol_error *err);
PCOL_API void pcol_scan_free(pcol_scan *scan);

/* Splits the rows of a table into @parts ranges for as many threads: part i is rows[i] to
 * rows[i + 1] - 1, and @rows has @parts + 1 places. Boundaries are those of blocks and, in computed
 * tables, where reading starts without a search; parts may be empty. Costs O(parts).
 * Errors: E_ARGUMENT, E_CORRUPT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_table_split(const pcol_table *table, uint32_t parts,
                                                     uint64_t *rows, pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Arrow
 * ------------------------------------------------------------------------------------------- */

/* The structs of the Arrow C data and C stream interfaces, as the specification prescribes them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/**
 * pcol_table_arrow() - a table as a stream of Arrow record batches
 * @options: as for pcol_scan_new(); batch_rows 0: 8192; PCOL_SCAN_CODES has no effect
 * @out: receives the stream, which the caller releases; *@out is not released before
 * Each batch is a struct array with one child per column. Strings of the pool are
 * dictionary-encoded, with the whole pool of the file as dictionary; times are int64 nanoseconds,
 * with the unit in the metadata (docs/api.md has all types). Plain columns that are not compressed
 * are not copied, unless there are conditions or a selection: arrays point into the file. Stream
 * and arrays retain the file, and may be released in any order, also after pcol_file_close() and by
 * any thread; the stream itself belongs to one thread at a time. A failed get_next() returns an
 * errno value, and get_last_error() the message with its place.
 * Errors: those of pcol_scan_new(); E_LIMIT and E_NO_MEMORY of pcol_column_array() for the pool and
 * for computed texts.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_table_arrow(const pcol_table *table,
                                                     const pcol_scan_options *options,
                                                     struct ArrowArrayStream *out, pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Frames
 * ------------------------------------------------------------------------------------------- */

typedef struct pcol_frames pcol_frames;

/**
 * pcol_frames_open() - the call tree of a file, decoded for reading many stacks
 * @control: of this call; NULL: none
 * @frames: receives it; borrows the file; freed with pcol_frames_free(). Any number of threads may
 * read it.
 * Cost: O(stacks), 16 bytes of memory for each. Errors: E_CORRUPT, E_CHECKSUM, E_LIMIT,
 * E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_frames_open(const pcol_file *file,
                                                     const pcol_control *control,
                                                     pcol_frames **frames, pcol_error *err);
PCOL_API void pcol_frames_free(pcol_frames *frames);

/**
 * pcol_frames_read() - the call stacks of a range of samples
 * @first_sample, @count: rows of samples
 * @offsets: receives @samples_read + 1 offsets into @locations, the first is 0: the layout of an
 * Arrow list; @count + 1 places
 * @locations: receives rows of `locations`, innermost first, inlined calls included; none for a
 * sample without a stack
 * @capacity: places at @locations
 * @samples_read: receives the number of samples whose stacks fit. If the stack of the first sample
 * does not fit it is 0, and offsets[1] is the depth of that stack.
 * Cost: O(frames), a few nanoseconds each. Errors: E_ARGUMENT (rows), E_CORRUPT, E_CHECKSUM.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_frames_read(const pcol_frames *frames,
                                                     uint64_t first_sample, size_t count,
                                                     uint64_t *offsets, uint32_t *locations,
                                                     size_t capacity, size_t *samples_read,
                                                     pcol_error *err);

/**
 * pcol_frames_offsets() - where the call stack of each of a range of samples starts in a list of
 * all their frames
 * @first_sample, @count: rows of samples
 * @offsets: receives @count + 1 offsets, the first is 0, the last the number of frames
 * Cost: O(@count). Errors: E_ARGUMENT (rows), E_CORRUPT, E_CHECKSUM, E_LIMIT.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_frames_offsets(const pcol_frames *frames,
                                                        uint64_t first_sample, size_t count,
                                                        uint64_t *offsets, pcol_error *err);

/**
 * pcol_frames_gather() - one value for each frame of a range of samples, innermost first
 * @first_sample, @count: rows of samples
 * @offsets: of pcol_frames_offsets() for these rows
 * @values: a value of @width bytes (1, 2, 4, 8) for each row of `locations`, such as the number of
 * its function; NULL: the row itself, of 4 bytes
 * @control: of this call; NULL: none
 * @out: receives @offsets[@count] values; aligned to their width
 * Cost: O(stacks + values): each node of the call tree is looked up once and its samples get
 * copies. Memory: 4 bytes for each stack, and for each sample up to the larger of their number and
 * 1 Mi. Errors: E_ARGUMENT (rows, width, or offsets of other rows), E_CORRUPT, E_CHECKSUM,
 * E_NO_MEMORY, E_CANCELLED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_frames_gather(const pcol_frames *frames,
                                                       uint64_t first_sample, size_t count,
                                                       const uint64_t *offsets, const void *values,
                                                       size_t width, const pcol_control *control,
                                                       void *out, pcol_error *err);

/* The function of the innermost frame of @count rows of `stacks`, as rows of `functions`; PCOL_NONE
 * for the empty stack and where the frame has no function. With pcol_query_weights() these are the
 * self weights of functions. Errors: E_ARGUMENT (rows), E_CORRUPT, E_CHECKSUM. */
PCOL_API PCOL_NODISCARD pcol_status pcol_frames_leaf_functions(const pcol_frames *frames,
                                                               uint64_t first_stack, size_t count,
                                                               uint32_t *functions,
                                                               pcol_error *err);

/**
 * pcol_stack_locations() - the call stack of a node of the table `stacks`
 * @stack: row of `stacks`; 0 is the empty stack
 * @locations: receives up to @capacity rows of `locations`, innermost first
 * @depth: receives the depth, which may exceed @capacity
 * Cost: O(depth). Errors: E_ARGUMENT, E_CORRUPT.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_stack_locations(const pcol_file *file, uint64_t stack,
                                                         uint32_t *locations, size_t capacity,
                                                         size_t *depth, pcol_error *err);

/* A hash that identifies content: XXH3-128 in canonical form, the highest byte first. */
typedef struct pcol_hash {
    uint8_t bytes[16];
} pcol_hash;

/* The tables whose rows have a hash. */
typedef enum pcol_hash_kind {
    PCOL_HASH_FUNCTIONS = 0, /* name, system name and file */
    PCOL_HASH_LOCATIONS = 1, /* function, line, column; binary and offset if it has no name */
    PCOL_HASH_STACKS = 2     /* frames from the root; the empty stack has 16 zero bytes */
} pcol_hash_kind;

/**
 * pcol_file_hashes() - the content hashes of all rows of functions, locations or stacks
 * @control: of this call; NULL: none
 * @hashes: receives a hash for each row, borrowed from the file
 * @count: receives the number of rows
 * Equal content has equal hashes in all files, whatever the order of rows, the ids and the
 * addresses of the binaries; spec.md, section 7.1, defines the bytes. Logical tables show them as
 * the column `.hash`.
 * Cost: the first call for a kind O(rows), about 20 ns for each stack and 150 ns for each function,
 * and 16 bytes a row until the file is closed; later calls O(1). Any thread; threads that ask at
 * the same time for the first time compute the hashes each. Errors: E_ARGUMENT, E_CORRUPT,
 * E_CHECKSUM, E_LIMIT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_hashes(const pcol_file *file, pcol_hash_kind kind,
                                                     const pcol_control *control,
                                                     const pcol_hash **hashes, uint64_t *count,
                                                     pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Checking
 * ------------------------------------------------------------------------------------------- */

typedef enum pcol_check_depth {
    PCOL_CHECK_QUICK = 0,   /* what opening does, and the end mark */
    PCOL_CHECK_DEFAULT = 1, /* checksums, padding, keys, order */
    PCOL_CHECK_STRICT = 2   /* every rule of the data models, proof of derived data */
} pcol_check_depth;

typedef struct pcol_fault {
    int note; /* 1: worth knowing, not a fault (a v2 key that this kind of source cannot satisfy) */
    const char *table;  /* "" if the fault is in none */
    const char *column; /* "" */
    uint64_t row;       /* PCOL_POSITION_UNKNOWN */
    const char *message;
} pcol_fault;

/* Called for each fault; return non-zero to stop. */
typedef int (*pcol_fault_fn)(void *context, const pcol_fault *fault);

/**
 * pcol_file_check() - look for damage
 * @faults: receives the number of faults, notes not counted; 0 means sound
 * Returns PCOL_OK whether or not faults were found. Reads every byte once or twice from the
 * default depth on. Errors: E_ARGUMENT (@depth), E_NO_MEMORY, E_IO.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_file_check(const pcol_file *file, pcol_check_depth depth,
                                                    pcol_fault_fn report, void *context,
                                                    const pcol_control *control, uint64_t *faults,
                                                    pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Output
 * ------------------------------------------------------------------------------------------- */

/* Where bytes go: a function that takes all of them, or fails and fills @err (never NULL; without
 * that, the message is only that the sink failed). */
typedef struct pcol_sink {
    pcol_status (*write)(void *context, const void *data, size_t size, pcol_error *err);
    void *context;
} pcol_sink;

typedef struct pcol_output pcol_output;

#define PCOL_OUTPUT_OVERWRITE 0x1u /* replace an existing file */
#define PCOL_OUTPUT_NO_SYNC 0x2u   /* do not wait for the disk */
#define PCOL_OUTPUT_PRIVATE 0x4u   /* readable by nobody else, whatever was there before */

/**
 * pcol_output_open() - write a file aside, to be put in place whole
 * Opens ".NAME.pcol-XXXXXX" in the target's folder. Nothing is visible under @path until
 * pcol_output_commit(); a symbolic link is followed and its target replaced; only regular files
 * are replaced. A pipe, a device and a descriptor of the process (/dev/stdout, /dev/fd/3) are
 * written as the bytes come. Errors: E_EXISTS, E_IO, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_output_open(const char *path, unsigned flags,
                                                     pcol_output **output, pcol_error *err);
/* A sink that appends to the output; valid until commit or abort. */
PCOL_API pcol_sink pcol_output_sink(pcol_output *output);
/* Path of the temporary file, "" if there is none (pipes, devices, descriptors); valid until commit
 * or abort. A program that signals can end copies the path, and unlinks it in its handlers: these
 * cannot use the output itself, which commit or abort may be releasing. */
PCOL_API const char *pcol_output_temporary(const pcol_output *output);
/* Write and sync all bytes of the temporary file, after which the sink takes no more: of several
 * outputs that belong together none is put in place before all are complete. Optional. E_IO. */
PCOL_API PCOL_NODISCARD pcol_status pcol_output_complete(pcol_output *output, pcol_error *err);
/* Sync, rename, sync the folder; frees the output whether it succeeds or not. */
PCOL_API PCOL_NODISCARD pcol_status pcol_output_commit(pcol_output *output, pcol_error *err);
/* Remove the temporary file and free the output. */
PCOL_API void pcol_output_abort(pcol_output *output);

/* ---------------------------------------------------------------------------------------------
 * Building a file
 * ------------------------------------------------------------------------------------------- */

/*
 * A builder takes strings, functions, locations, call stacks and samples in the order in which a
 * program meets them, keeps each distinct one once, and writes the file at the end. Memory follows
 * the distinct content and a few bytes per sample; long columns go to an unlinked temporary file.
 * The same calls give the same bytes on any machine.
 */
typedef struct pcol_builder pcol_builder;

typedef struct pcol_builder_options {
    size_t size;
    uint64_t memory_bytes;        /* of column data before it goes to a temporary file; 0: 24 MiB */
    const char *temporary_folder; /* NULL: "/tmp" */
    unsigned
        threads; /* that may work on writing at a time, the caller's included; 0 and 1: no other.
                       * The bytes written are the same for any number. */
} pcol_builder_options;

PCOL_API PCOL_NODISCARD pcol_status pcol_builder_new(const pcol_builder_options *options,
                                                     pcol_builder **builder, pcol_error *err);
PCOL_API void pcol_builder_free(pcol_builder *builder);

#define PCOL_NONE UINT32_MAX /* "no such row" wherever a row number may be missing */

/* Each pcol_builder_* below that yields an id returns the row of an equal one added before, if any.
 * Cost: O(length of the strings), amortised. Errors of all: E_ARGUMENT, which leaves the builder as
 * it was; E_NO_MEMORY, E_IO, E_LIMIT, after which it can only be freed; E_STATE once it has been
 * written. */

/* Code of a string; codes are final only within the builder. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_string(pcol_builder *builder, const char *data,
                                                        size_t size, uint32_t *string,
                                                        pcol_error *err);

#define PCOL_FUNCTION_HAS_START_LINE 0x1u
#define PCOL_FUNCTION_HAS_ID 0x2u

typedef struct pcol_function {
    size_t size;
    uint32_t flags;       /* PCOL_FUNCTION_HAS_*: which numbers below are set */
    uint32_t name;        /* strings; PCOL_NONE: null */
    uint32_t system_name; /* PCOL_NONE: the same as name */
    uint32_t filename;
    int64_t start_line;
    uint64_t id;      /* the source's own id: not part of what makes a row equal to another */
    uint32_t variant; /* distinguishes rows that are equal in all else; not stored */
} pcol_function;
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_function(pcol_builder *builder,
                                                          const pcol_function *function,
                                                          uint32_t *row, pcol_error *err);

/* One line of a location group: an inlined call, or the only line. */
#define PCOL_LINE_HAS_LINE 0x1u
#define PCOL_LINE_HAS_COLUMN 0x2u

typedef struct pcol_line {
    uint32_t function; /* row of functions; PCOL_NONE: none */
    uint32_t filename; /* string; only where there is no function */
    int64_t line;
    int64_t column;
    uint32_t flags;    /* PCOL_LINE_HAS_* */
    uint32_t reserved; /* 0 */
} pcol_line;

/* The location group of a node of a call stack: lines innermost first, and where the code is. */
#define PCOL_GROUP_HAS_ADDRESS 0x1u
#define PCOL_GROUP_HAS_ID 0x2u
#define PCOL_GROUP_HAS_FILE_NUMBER 0x4u
#define PCOL_GROUP_FOLDED 0x8u /* several functions at one address share their code */

typedef struct pcol_group {
    size_t size;
    uint32_t flags;         /* PCOL_GROUP_* */
    const pcol_line *lines; /* may be NULL where line_count is 0 */
    size_t line_count;
    uint32_t mapping; /* row of mappings, there at the latest when the file is written; PCOL_NONE */
    uint64_t address;
    uint64_t id;         /* the source's own id: not part of what makes a row equal to another */
    uint32_t variant;    /* distinguishes rows that are equal in all else; not stored */
    int64_t file_number; /* Rprof: number of the file in its segment */
} pcol_group;
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_group(pcol_builder *builder,
                                                       const pcol_group *group, uint32_t *row,
                                                       pcol_error *err);

/* The stack that has @group called from @parent (0: the empty stack); valid in this builder
 * only. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_stack(pcol_builder *builder, uint32_t parent,
                                                       uint32_t group, uint32_t *stack,
                                                       pcol_error *err);

/* A source; always a new row. Text may be NULL: null. */
#define PCOL_SOURCE_HAS_PERIOD 0x1u
#define PCOL_SOURCE_HAS_INTERVAL 0x2u
#define PCOL_SOURCE_HAS_DURATION 0x4u
#define PCOL_SOURCE_COLLAPSED 0x8u /* idle samples were joined (collapse_idle) */

typedef struct pcol_source {
    size_t size;
    uint32_t flags;   /* PCOL_SOURCE_* */
    const char *type; /* "rprof", "pprof", ... */
    const char *uri;
    const char *timestamp;
    const char *period_type, *period_unit;
    const char *default_sample_type;
    int64_t period, interval_ns, duration_ns;
} pcol_source;
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_source(pcol_builder *builder,
                                                        const pcol_source *source, uint32_t *row,
                                                        pcol_error *err);
/* A key and value that a source keeps (--meta); neither may be NULL. A key once for each source:
 * one that it has already, be it of a file that was imported, is E_ARGUMENT, and nothing is
 * added. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_source_meta(pcol_builder *builder, uint32_t source,
                                                             const char *key, const char *value,
                                                             pcol_error *err);

#define PCOL_SAMPLE_TYPE_GAUGE 0x1u  /* a gauge such as a heap size: never summed */
#define PCOL_SAMPLE_TYPE_DOUBLE 0x2u /* values are doubles, else int64 */
/* A sample type; equal (type, unit, flags, ordinal) give the same row. @ordinal distinguishes
 * repeated types of one source: 0 for the first. The newest source has the types named since it was
 * added, in that order; each source also has, after its own, the other types of its samples. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_sample_type(pcol_builder *builder,
                                                             const char *type, const char *unit,
                                                             unsigned flags, uint32_t ordinal,
                                                             uint32_t *row, pcol_error *err);

/* One value of a sample. */
typedef struct pcol_value {
    uint32_t sample_type;
    union {
        int64_t i64;
        double f64;
    } as;
} pcol_value;

#define PCOL_SAMPLE_HAS_TIME 0x1u
#define PCOL_SAMPLE_HAS_DURATION 0x2u
#define PCOL_SAMPLE_HAS_CPU_DELTA 0x4u

typedef struct pcol_sample {
    size_t size;
    uint32_t flags; /* PCOL_SAMPLE_HAS_* */
    uint32_t source;
    uint32_t stack; /* from pcol_builder_stack(); 0: the empty stack; PCOL_NONE: no stack at all */
    const pcol_value *values;
    size_t value_count;
    uint32_t thread; /* row of threads, of the same source, which is not verified; there at the
                               latest when the file is written; PCOL_NONE */
    int64_t time_ns, duration_ns, cpu_delta_ns;
} pcol_sample;
/* Append a sample; @row may be NULL. E_ARGUMENT: two values of a type, a duration below 0 or, from
 * the time on, beyond INT64_MAX. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_sample(pcol_builder *builder,
                                                        const pcol_sample *sample, uint64_t *row,
                                                        pcol_error *err);

/* Values of one sample type for consecutive samples. */
typedef struct pcol_value_column {
    uint32_t sample_type;
    uint32_t reserved; /* 0 */
    union {
        const int64_t *i64;
        const double *f64; /* PCOL_SAMPLE_TYPE_DOUBLE */
    } as;
    const uint8_t *valid; /* bytes, 0: no value; NULL: every sample has a value */
} pcol_value_column;

/* Consecutive samples as columns. Every array has `count` elements; NULL: the column is null. */
typedef struct pcol_sample_columns {
    size_t size;
    uint64_t count;
    uint32_t source;         /* of all */
    uint32_t thread;         /* of all, if `threads` is NULL: row of threads, or PCOL_NONE */
    const uint32_t *stacks;  /* from pcol_builder_stack(); PCOL_NONE: no stack at all */
    const uint32_t *threads; /* rows of threads or PCOL_NONE */
    const int64_t *times_ns, *durations_ns, *cpu_deltas_ns;
    const pcol_value_column *values;
    size_t value_count; /* of @values, each of another sample type */
    uint32_t flags;     /* 0 */
    uint32_t reserved;  /* 0 */
} pcol_sample_columns;

/**
 * pcol_builder_samples() - append samples given as columns
 * @first_row: receives the row of the first one; may be NULL
 * The same samples as pcol_builder_sample() would append one by one, several times as fast. Arrays
 * are borrowed for the call. All are checked before anything is appended. Cost: O(count * columns).
 * Errors: those of pcol_builder_sample().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_samples(pcol_builder *builder,
                                                         const pcol_sample_columns *samples,
                                                         uint64_t *first_row, pcol_error *err);

/* A label of a sample: a key with a text or a number. */
typedef struct pcol_label {
    uint32_t key;      /* string */
    uint32_t unit;     /* string, of numbers only; PCOL_NONE: none */
    uint32_t type;     /* PCOL_STRING, PCOL_I64, PCOL_F64 or PCOL_BOOL */
    uint32_t reserved; /* 0 */
    union {
        uint64_t string; /* code of a string */
        int64_t i64;     /* PCOL_BOOL: 0 or 1 */
        double f64;
    } as;
} pcol_label;

/**
 * pcol_builder_labels() - set the labels of a sample
 * @sample: row of a sample that was appended; rows ascend from call to call
 * @labels: all labels of the sample, in the order that exports keep. A key may come several times
 * A sample without a call has no labels. Cost: O(count). Errors: E_ARGUMENT (no such sample or
 * string, an unknown type, a sample not after that of the last call), which leaves the builder as
 * it was, and those of the other calls.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_labels(pcol_builder *builder, uint64_t sample,
                                                        const pcol_label *labels, size_t count,
                                                        pcol_error *err);

/* A physical table of any name; the same name gives the same table. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_table(pcol_builder *builder, const char *name,
                                                       uint32_t *table, pcol_error *err);
/* A column of it; the same name gives the same column. @references: table number + 1, or 0; a
 * column that names rows is of integers. Columns that the calls above fill are the builder's own:
 * E_ARGUMENT here or when it is written, as is a row beyond those that these calls appended. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_column(pcol_builder *builder, uint32_t table,
                                                        const char *name, pcol_type type,
                                                        uint32_t references, uint32_t *column,
                                                        pcol_error *err);
/* Append a cell. Columns of a table may be filled one after the other; rows that a column lacks
 * before @row, or at the end, are null, and cost time like others. @row must not fall.
 * E_LIMIT: more than 2^48 rows. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_set_i64(pcol_builder *builder, uint32_t column,
                                                         uint64_t row, int64_t value,
                                                         pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_set_f64(pcol_builder *builder, uint32_t column,
                                                         uint64_t row, double value,
                                                         pcol_error *err);
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_set_str(pcol_builder *builder, uint32_t column,
                                                         uint64_t row, const char *data,
                                                         size_t size, pcol_error *err);

#define PCOL_WRITE_PLAIN 0x1u /* every column plain, sample_values and sample_locations real */
#define PCOL_WRITE_QUICK 0x2u /* no search for small encodings: for a file that is read once */
/* For cold storage: compressed, each section by the better of zlib and LZ4, or by one of them. Such
 * a file is read as any other, but blocks of its columns are decompressed on first use. Not with
 * the others. */
#define PCOL_WRITE_ARCHIVE 0x4u
#define PCOL_WRITE_ARCHIVE_LZ4 0xcu
#define PCOL_WRITE_ARCHIVE_ZLIB 0x14u

/* Write the file to a sink, once; the builder can only be freed afterwards.
 * Errors: E_ARGUMENT (@flags; a row that is named and missing; a cell beyond the last string,
 * source, sample type, function, location, stack or sample), E_STATE (written before, or an input
 * failed), those of the sink, E_NO_MEMORY, E_IO, E_LIMIT (a stack of 2^32 frames;
 * PCOL_WRITE_PLAIN: more than 2^26 rows of sample_locations plus 1024 for each sample and each
 * stack, of untrusted input 64 for each, or for each byte if these are fewer). */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_write(pcol_builder *builder, unsigned flags,
                                                       const pcol_control *control, pcol_sink sink,
                                                       pcol_error *err);
/* The same into memory; the caller frees *data with pcol_free(). */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_write_memory(pcol_builder *builder, unsigned flags,
                                                              const pcol_control *control,
                                                              void **data, size_t *size,
                                                              pcol_error *err);
/* The same into memory, opened; the caller closes *file with pcol_file_close(), which releases the
 * memory. */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_file(pcol_builder *builder, unsigned flags,
                                                      const pcol_control *control, pcol_file **file,
                                                      pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Importing and exporting
 * ------------------------------------------------------------------------------------------- */

#define PCOL_WRITES_COMPRESSED 2 /* pcol_format.writes: with gzip, unless asked otherwise */

typedef struct pcol_format {
    const char *name;     /* "rprof" */
    const char *summary;  /* "R's Rprof() output" */
    const char *suffixes; /* blank-separated: ".Rprof .out"; "" if none */
    const char *keeps;    /* what survives a round trip, one sentence */
    int reads, writes;
} pcol_format;

/* Format number @index, NULL past the last. */
PCOL_API const pcol_format *pcol_format_at(size_t index);

typedef struct pcol_import_options {
    size_t size;
    const char *format;      /* NULL: by content, then by name */
    const char *uri;         /* source_uri; NULL: the input's name */
    const char *timestamp;   /* source_timestamp; NULL: the source's own */
    const char *const *meta; /* key, value, key, value, ...; 2 * meta_count strings */
    size_t meta_count;
    int lenient;              /* accept known deviations from formats, with a notice */
    uint64_t max_input_bytes; /* of decompressed input, of pcol files as stored; 0: 64 GiB */
    int collapse_idle; /* a sample of the same thread and stack as the one before it that used
                                 no CPU time joins that: weights add up, and it gets a duration;
                                 samples without a value of samples/count do not join */
    const pcol_control *control; /* may be NULL */
    unsigned open_flags;         /* PCOL_OPEN_*, for inputs that are pcol files */
    unsigned
        threads; /* 2 or more: a large compressed input is inflated by a thread of its own, and the
                         samples of pprof are read by two;
                         functions given here are called by the caller's only */
    /* With collapse_idle: samples, of the value 1 each, join only as long as all their times are
     * within this what expand_idle gives. 0: however far they are. Noted as source_meta
     * `collapse_tolerance_ns`. */
    uint64_t idle_tolerance_ns;
    /* Descriptors and readers: bytes that were read before, to see what the input holds, and that
     * precede what it still has; at most 64 KiB. */
    const void *start;
    size_t start_size;
    unsigned flags; /* PCOL_IMPORT_* */
} pcol_import_options;

/* No import budget. Without this flag all inputs of a builder together may take 256 MiB of memory
 * and 64 bytes for each byte of input (as it came, compressed), and may expand to 64 MiB and 200
 * times their size (a field of a pprof is at least 16, a node 16 more); nodes of call stacks may
 * be 4 Mi and 4 for each byte of input, samples times the sample types beyond 64 may be 64 Mi and
 * 64 for each byte; E_LIMIT beyond, from the import or from pcol_builder_write(). What an import
 * takes at a time depends on its threads and their order: close to the limit of memory, several
 * may fail where one succeeds. The flag holds for all that the builder is given afterwards.
 * max_input_bytes is a limit with and without it. Copies of an open file have this budget, too:
 * pcol_filter(), pcol_add_frames() and pcol_symbolize() of a file that pcol_open_any_*() opened
 * with the flag have none. */
#define PCOL_IMPORT_TRUSTED 0x1u
/* pcol_open_any_*(): the file in memory has the encodings of pcol_builder_write() without flags,
 * else those of PCOL_WRITE_QUICK. */
#define PCOL_IMPORT_PACKED 0x2u
/* pcol_import_*(), pcol_builder_add_file(): mappings are moved to where their file would be mapped
 * from address 0, and the addresses of their code with them, so that code that processes loaded at
 * different addresses is the same. Names and content hashes do not change, except names that are an
 * address in no file. The addresses of the source are not kept. */
#define PCOL_IMPORT_REBASE 0x4u

/**
 * pcol_import_path() - add the profile at @path to a builder, as a further source
 * Any format of pcol_format_at() that reads, gzip-compressed or not, and pcol itself. The input is
 * read as a stream: memory follows what is distinct in it. A failure before anything was added
 * leaves the builder as it was: wrong options, a file that cannot be opened, content of no format,
 * a call cancelled at its beginning. After any other the builder can only be freed (E_STATE).
 * Errors: E_IO, E_FORMAT, E_SYNTAX with line and column or byte, E_LIMIT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_import_path(pcol_builder *builder, const char *path,
                                                     const pcol_import_options *options,
                                                     pcol_error *err);
/* The same from an open descriptor (a pipe, say); @name is used as the path. Not closed. */
PCOL_API PCOL_NODISCARD pcol_status pcol_import_fd(pcol_builder *builder, int fd, const char *name,
                                                   const pcol_import_options *options,
                                                   pcol_error *err);
/* The same from memory. */
PCOL_API PCOL_NODISCARD pcol_status pcol_import_memory(pcol_builder *builder, const void *data,
                                                       size_t size, const char *name,
                                                       const pcol_import_options *options,
                                                       pcol_error *err);

/* Where bytes come from: a function that stores up to @size bytes, @size > 0, and returns their
 * number, 0 at the end. A negative result is a failure; the function then fills @err (never NULL;
 * pcol_error_set()), else the message is only that the reader failed. */
typedef struct pcol_reader {
    int64_t (*read)(void *context, void *data, size_t size, pcol_error *err);
    void *context;
} pcol_reader;

/* The same from a function of the program, which only the calling thread calls. It may be called
 * again after the end, not after a failure. Errors: also those of the reader. */
PCOL_API PCOL_NODISCARD pcol_status pcol_import_reader(pcol_builder *builder, pcol_reader reader,
                                                       const char *name,
                                                       const pcol_import_options *options,
                                                       pcol_error *err);

/**
 * pcol_builder_add_file() - add all sources of an open file to a builder
 * @options: NULL, or uri, timestamp, meta, collapse_idle, idle_tolerance_ns, control and flags; the
 *           others are about reading and have no effect
 * Nothing is lost: a file built from it alone has the same tables. Cost: O(size of the file).
 * Memory counts for the import budget as if the file had been imported. The builder after a failure
 * is that of pcol_import_path(). Errors: E_ARGUMENT, E_STATE, E_CORRUPT, E_CHECKSUM, E_UNSUPPORTED,
 * E_LIMIT, E_IO, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_builder_add_file(pcol_builder *builder,
                                                          const pcol_file *file,
                                                          const pcol_import_options *options,
                                                          pcol_error *err);

/**
 * pcol_open_any_path() - open a profile in any format
 * @options: NULL for the defaults
 * @file:    receives the file; the caller closes it with pcol_file_close()
 * A pcol file is opened as by pcol_file_open(), with the flags `open_flags`. Any other profile, and
 * a pcol file if the options name a format or change its content (uri, timestamp, meta,
 * collapse_idle), is imported into memory that the file owns: pcol_file_is_imported(). What a name
 * ends in counts only if it is ".pcol": then other content is E_MAGIC, not guessed.
 * Cost: that of pcol_file_open(), or of pcol_import_path() and pcol_builder_write().
 * Errors: those of these calls.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_open_any_path(const char *path,
                                                       const pcol_import_options *options,
                                                       pcol_file **file, pcol_error *err);
/* The same from an open descriptor, which is read to its end and not closed; a pcol file is read
 * into memory that the file owns. @name: for errors and the uri. */
PCOL_API PCOL_NODISCARD pcol_status pcol_open_any_fd(int fd, const char *name,
                                                     const pcol_import_options *options,
                                                     pcol_file **file, pcol_error *err);
/* The same from memory, which must stay unchanged until the file is closed. */
PCOL_API PCOL_NODISCARD pcol_status pcol_open_any_memory(const void *data, size_t size,
                                                         const char *name,
                                                         const pcol_import_options *options,
                                                         pcol_file **file, pcol_error *err);
/* The same from a function of the program (pcol_import_reader()). */
PCOL_API PCOL_NODISCARD pcol_status pcol_open_any_reader(pcol_reader reader, const char *name,
                                                         const pcol_import_options *options,
                                                         pcol_file **file, pcol_error *err);

#define PCOL_COMPRESS_AUTO 0u /* as is usual for the format: pprof is compressed, others are not */
#define PCOL_COMPRESS_NONE 1u
#define PCOL_COMPRESS_GZIP 2u

typedef struct pcol_export_options {
    size_t size;
    uint64_t source_id; /* 1..n: only this source; 0: all */
    const char
        *sample_type;  /* "TYPE" or "TYPE/UNIT" for targets with one type; NULL: the default */
    unsigned compress; /* PCOL_COMPRESS_* */
    int expand_idle;  /* a sample that represents several (collapse_idle) is written as all of them,
                          at even distances, not as its first one and the others at its end */
    unsigned threads; /* 2 or more: what is compressed is compressed by a thread of its own, which
                         calls the sink, until pcol_export() returns */
    int keep_dropped; /* 1: write the frames that a pprof's drop_frames take away */
    /* Notices: PCOL_NOTICE_LOSS once for each kind of content that is lost, PCOL_NOTICE_TARGET. */
    const pcol_control *control;
    /* dot: at most so many functions, and only functions and calls of at least these shares of the
     * total. 0: 80, 0.005 and 0.001, as pprof; PCOL_NONE and negative shares: no limit. */
    uint32_t node_count;
    uint32_t reserved; /* 0 */
    double node_fraction, edge_fraction;
} pcol_export_options;

/**
 * pcol_export() - write a profile in another format
 * @format: name of a pcol_format that writes
 *
 * A notice PCOL_NOTICE_LOSS is given for each kind of content that the exported sources have and
 * the output lacks: columns of the tables, labels, sample types, rows. Ids, the order of a source's
 * own tables, derived sums and the source's uri are not content. Frames that a pprof's drop_frames
 * take away are left out, and reported, unless the target is pprof, which gets the expressions.
 *
 * Errors: E_NOT_FOUND (format, source, sample type), E_LOSS (the target cannot express the profile
 * at all, such as a sum beyond 64 bits), E_LIMIT (unless the file or the imported input was
 * trusted: more than 4 GiB and 4 KiB for each byte of it, or 256 MiB of memory and 64 bytes; perf
 * and perun would repeat the stacks of samples with more than 2^23 frames, v1 and pprof with 2^26,
 * other targets with 2^28, and 1,024 more for each sample, up to one sample for each byte;
 * expand_idle: more samples than PCOL_IDLE_EXPAND allows), E_UNSUPPORTED (drop_frames that are no
 * pattern), those of the sink and of reading the file.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_export(const pcol_file *file, const char *format,
                                                const pcol_export_options *options, pcol_sink sink,
                                                pcol_error *err);

/* ---------------------------------------------------------------------------------------------
 * Asking
 * ------------------------------------------------------------------------------------------- */

/*
 * Which names are meant: a POSIX extended regular expression over bytes, the same in every locale.
 * Understood as well: `(?:`, the flags of `(?i)` and `(?i:`, lazy quantifiers, \d \w \s \D \W \S,
 * \b \B \< \> \A \z, \t and its like; a brace that begins no repeat is itself. (?i) folds ASCII.
 *
 * A pattern is hostile until shown otherwise, and so are names: it is matched in time linear in
 * them, and in at most 12 MB. Back references, repeats of more than 1000 times, patterns of more
 * than 64 KiB or 100,000 steps, and unknown constructs are rejected.
 */
typedef struct pcol_pattern pcol_pattern;

/*
 * @what: name of the pattern, which begins the messages of errors: "filter"; "": no name
 * @whole: 1: it must match a name from end to end; 0: anywhere in it
 * @pattern: to be freed with pcol_pattern_free(); NULL on failure
 *
 * Errors: E_ARGUMENT (with the reason), E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_pattern_new(const char *text, size_t size,
                                                     const char *what, int whole,
                                                     pcol_pattern **pattern, pcol_error *err);

/*
 * @matches: receives 0 or 1. A NUL in the name is no end of it.
 *
 * One thread at a time, for it keeps what it has worked out. Cost: mostly a look into a table for
 * each byte of the name; at worst a step of the pattern for each of its parts and each byte.
 * Errors: E_LIMIT (the pattern has taken more than 2^28 steps, and 64 for each byte it was given),
 * E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_pattern_test(pcol_pattern *pattern, pcol_str name,
                                                      int *matches, pcol_error *err);
PCOL_API void pcol_pattern_free(pcol_pattern *pattern);

/*
 * A query is one sample type of a file under a selection of samples and frames: a weight for each
 * row of the table `stacks`. A question about the whole file reads the sums that the file carries
 * and never its samples; its cost follows the number of distinct stacks. Every answer below is made
 * from these weights, so all answers agree. A call tree may have 2^29 inlined calls and 64 more for
 * each stack; answers that visit more of them fail with E_LIMIT.
 */
typedef struct pcol_query pcol_query;

/* A sum of values: `f64` with PCOL_QUERY_IS_DOUBLE or PCOL_RESULT_IS_DOUBLE, else `i64`. A sum of
 * integers that does not fit, and finite doubles whose sum is infinite, are E_LIMIT, never a wrong
 * number. */
typedef union pcol_amount {
    int64_t i64;
    double f64;
} pcol_amount;

/* How a sample of weight w that covers [time, time + duration) counts in a range [a, b) that it
 * overlaps in part. A sample without a duration counts whole if a <= time < b. Values that are
 * doubles are always shared exactly; integers are rounded also where other sources make the sample
 * type one of doubles, so that a query and a file that pcol_filter() made agree. */
typedef enum pcol_time_share {
    PCOL_SHARE_PROPORTIONAL = 0, /* floor(w * overlap / duration + 0.5) */
    PCOL_SHARE_ADDITIVE = 1, /* R(b) - R(a), R(x) = floor(w * clamp((x - time) / duration) + 0.5):
                              * the counts of adjoining ranges add up to w */
    PCOL_SHARE_EXACT = 2     /* w * overlap / duration; makes the query one of doubles */
} pcol_time_share;

#define PCOL_SELECTION_HAS_ORDER 0x1u
/* For pcol_query_new(): amounts are numbers of samples. In sources whose rows are single samples
 * (Linux perf), a value other than 0 counts 1; other values are counts, and E_ARGUMENT if their
 * unit is neither count nor samples. Those of samples/count always are. */
#define PCOL_SELECTION_COUNT 0x2u

/* A set of rows of a table, in any order. */
typedef struct pcol_rows {
    const uint32_t *rows;
    size_t count;
} pcol_rows;

/* A sample type exactly. A name can be ambiguous: "a/b" in "c" and "a" in "b/c" are both a/b/c, and
 * a source can repeat a type. */
typedef struct pcol_sample_type {
    pcol_str type, unit; /* both empty: the default if the file has no such type */
    uint32_t ordinal;    /* of the types that a source repeats under this type and unit, from 0 */
} pcol_sample_type;

/* Samples with this text as value of a key, a number with its unit: a name of pcol_query_top() by
 * label. Any bytes. */
typedef struct pcol_label_value {
    pcol_str key, value;
} pcol_label_value;

/* Which part of a file is asked about. A member that is NULL or 0 selects everything. Patterns
 * (pcol_pattern) match anywhere in a name, and are held against each distinct name once. */
typedef struct pcol_selection {
    size_t size;
    /* "TYPE" or "TYPE/UNIT", "memory" (derived, Rprof). NULL: the default of the first source
     * selected: its own, else its last for pprof, else its first. Of several pprofs the first that
     * names its default decides, as where pprof merges them. Sources without the type are left out;
     * a note tells how many if it is a default. */
    const char *sample_type;
    /* Frames. A pattern matches a frame's function name, its file or the file of its mapping.
     * focus: samples with a matching frame; ignore: samples with frames, none of which matches;
     * hide: all frames that do not match; show: only frames that match. */
    const char *focus, *ignore, *hide, *show;
    /* Samples. thread: pattern on the thread's name, or on its tid if it has no name; source: a
     * source's id in digits, or a pattern on its uri; labels: "KEY=VALUE" (equal), "KEY~PATTERN",
     * "KEY!=VALUE", "KEY!~PATTERN" (no value of the key passes, or the sample has none), all of
     * which must hold. KEY ends at the first = or ~; if the text begins with a longer key of the
     * file, after the longest one. Numbers are compared by value: 1.0 is 1, -0 is 0. For numbers
     * VALUE may be a closed range, "1kb:64kb" or "10:20", or one without an end, "64kb:" or ":20";
     * units are those of pprof (1 kb is 1024 bytes), and a number without a unit has that of its
     * key's name.
     * Traces and amounts of Perun are no labels: they are call stacks and values of samples. */
    const char *thread, *source;
    const char *const *labels;
    size_t label_count;
    /* Half open, on the clock of each source; samples without a time are outside every range. */
    int has_time;
    int64_t time_from_ns, time_to_ns;
    pcol_time_share time_share;
    int keep_dropped; /* do not apply a pprof's drop_frames and keep_frames */
    uint32_t flags;   /* PCOL_SELECTION_* */
    /* Half open range of the ids of samples: rows of the table samples, counted from 1, across all
     * sources. For profiles whose samples have no times. In force with PCOL_SELECTION_HAS_ORDER. */
    uint64_t order_from, order_to;
    /* The same as focus, ignore, hide and show for programs that match names themselves: frames
     * whose function is in the set. With a pattern as well either suffices. NULL: not set; an empty
     * set matches no frame. */
    const pcol_rows *focus_functions, *ignore_functions, *hide_functions, *show_functions;
    /* Sources by metadata: "KEY=VALUE" (equal) or "KEY~PATTERN", all of which must hold. KEY ends
     * at the first = or ~. A source without the key fails. E_ARGUMENT: no source passes. */
    const char *const *source_metas;
    size_t source_meta_count;
    /* Instead of sample_type; NULL: sample_type, or the default. Valid until the query is made. */
    const pcol_sample_type *exact_type;
    /* The same as thread and labels for programs that have the names: any bytes, no pattern, no
     * KEY=VALUE. Threads whose name, or tid without one, is this text, instead of thread (data
     * NULL: thread); values, all of which must hold, besides labels. */
    pcol_str exact_thread;
    const pcol_label_value *exact_labels;
    size_t exact_label_count;
    /* Besides focus and focus_functions: frames without a function's name that have one of these
     * names in answers, such as "[libc.so.6]" or "0x401136". */
    const pcol_str *focus_names;
    size_t focus_name_count;
} pcol_selection;

/**
 * pcol_query_new() - weigh the stacks of a file
 * @selection: NULL for the whole file and its default sample type
 * @control: NULL, or valid until the query is freed
 * @query: receives the query, which borrows @file; the caller frees it with pcol_query_free()
 *
 * Cost: O(stacks + locations) if nothing selects samples and the file carries sums, else also
 * O(samples); under a time range only blocks of samples that may overlap it are read. If
 * nothing is selected and the file carries the sums of its functions it is O(functions): stacks are
 * then read by the first call that requests more than the top functions, which may have to fail for
 * them. Samples without any stack are outside every query. A query belongs to one thread at a time.
 *
 * Errors: E_ARGUMENT (unknown sample type or a gauge, one that no selected source has, bad pattern,
 * no such source), E_LIMIT (a sum beyond 64 bits), E_CORRUPT, E_CHECKSUM, E_UNSUPPORTED,
 * E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_new(const pcol_file *file,
                                                   const pcol_selection *selection,
                                                   const pcol_control *control, pcol_query **query,
                                                   pcol_error *err);
PCOL_API void pcol_query_free(pcol_query *query);

/**
 * pcol_query_shared_type() - the sample type under which files can be compared
 * @bases: @base_count files, at least one
 * @selection: its source determines whose defaults count; NULL: those of the first sources
 * @shared: receives the default of @other if all bases have it, else that of the first base if all
 * files have it, else the first type of @other that all have; for exact_type of the selections of
 * all queries. Its texts are borrowed from @other, and empty if the selected sources of a file have
 * no types. Gauges are skipped.
 * @is_default: receives whether it is the default of all files
 *
 * Cost: O(sample types + sources).
 * Errors: E_ARGUMENT (no type in common; the message lists them), E_CORRUPT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_shared_type(
    const pcol_file *const *bases, size_t base_count, const pcol_file *other,
    const pcol_selection *selection, pcol_sample_type *shared, int *is_default, pcol_error *err);

#define PCOL_QUERY_IS_DOUBLE 0x1u
#define PCOL_QUERY_IS_EMPTY 0x2u  /* no sample that passes has a value other than 0 */
#define PCOL_QUERY_FROM_SUMS 0x4u /* the samples were not read */
/* The note tells that no sample passes the selection. Set with IS_EMPTY unless there is another
 * note, or nothing was selected. */
#define PCOL_QUERY_NONE_PASSES 0x8u

typedef struct pcol_query_info {
    size_t size;
    pcol_str type, unit;   /* of the sample type */
    uint32_t flags;        /* PCOL_QUERY_* */
    uint32_t type_ordinal; /* the sample type's ordinal, as in pcol_sample_type */
    /* The base of percentages, as in pprof: the magnitudes of all samples before focus, ignore,
     * hide and show; where some are labelled pprof::base=true (a base that was subtracted), of
     * these. */
    pcol_amount total;
    pcol_amount selected;     /* sum of the weights that pass focus and ignore */
    double seconds_per_value; /* 0: not known */
    int64_t duration_ns;      /* of the selected sources, one after the other; 0: one has none,
                               * or a range of time is selected */
    const char *note;         /* a warning, one sentence, or NULL */
    const char *note_option;  /* member of the selection that the note is about, or NULL */
} pcol_query_info;
/* @info: size set by the caller (PCOL_INIT). Errors: E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_describe(const pcol_query *query,
                                                        pcol_query_info *info, pcol_error *err);

/**
 * pcol_query_weights() - the weight of each row of `stacks`
 * @weights: receives the weights, after all filters: i64 or f64, by pcol_query_info.is_double;
 * borrowed from the query
 * @stacks: receives their number
 * Samples whose innermost frame is a stack of weight w add w. Errors: E_CORRUPT, E_NO_MEMORY,
 * E_LIMIT (a query that was answered from the file's sums reads the stacks now).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_weights(pcol_query *query,
                                                       const pcol_amount **weights,
                                                       uint64_t *stacks, pcol_error *err);

/**
 * pcol_query_samples() - which samples the selection takes
 * @first, @count: rows of the table samples
 * @taken: receives @count bytes: 1 for a sample that passes all of the selection
 * Other than for sums, a sample needs no value here, and no stack unless frames are asked about.
 * Cost: O(count). Errors: E_ARGUMENT (rows), E_CORRUPT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_samples(pcol_query *query, uint64_t first,
                                                       size_t count, uint8_t *taken,
                                                       pcol_error *err);
/* 0: hide, show or drop_frames leave out the row @location of `locations`. */
PCOL_API int pcol_query_shows_location(pcol_query *query, uint64_t location);

/* The treatment of samples of a thread that waits (pcol_import_options.collapse_idle). */
typedef enum pcol_idle {
    PCOL_IDLE_KEEP = 0,
    PCOL_IDLE_COLLAPSE = 1, /* those that add nothing to the one before them join it */
    /* A sample of a source with PCOL_SOURCE_COLLAPSED that represents several, by its count or its
     * only value, becomes all of them, evenly spaced. E_LIMIT: more than 2^24, and more than 64 for
     * each sample of the file. */
    PCOL_IDLE_EXPAND = 2
} pcol_idle;

/* A name and its pseudonym; kind: "function", "file", "module" (of a mapping), "build",
 * "thread", "process", "number" (an id of a thread or process), "key", "value", "unit" (of labels),
 * "source" (a uri). */
typedef void (*pcol_pseudonym_fn)(void *context, const char *kind, pcol_str pseudonym,
                                  pcol_str name);

/* Pseudonyms of several calls of pcol_filter(), so that equal names of their files get equal ones.
 * One call at a time. */
typedef struct pcol_pseudonyms pcol_pseudonyms;
/* @names: receives them; freed with pcol_pseudonyms_free(). Errors: E_NO_MEMORY. */
PCOL_API PCOL_NODISCARD pcol_status pcol_pseudonyms_new(pcol_pseudonyms **names, pcol_error *err);
PCOL_API void pcol_pseudonyms_free(pcol_pseudonyms *names);

typedef struct pcol_filter_options {
    size_t size;
    const pcol_selection *selection;    /* NULL: all */
    int drop_labels;                    /* 1: samples lose their labels */
    const char *const *drop_label_keys; /* samples lose the labels of these keys */
    size_t drop_label_key_count;
    pcol_idle idle;
    /* 1: names become pseudonyms; what can hold names and is not known to be replaced is left
     * out. */
    int anonymize;
    /* Called for each name at the end, in the order of kinds and numbers; may be NULL. */
    pcol_pseudonym_fn pseudonym;
    void *pseudonym_context;
    uint64_t idle_tolerance_ns; /* with PCOL_IDLE_COLLAPSE: as in pcol_import_options */
    /* 1: the frames that a pprof drops go, and its drop_frames and keep_frames with them (unless
     * keep_dropped); 0: only where hide or show rebuild the stacks. */
    int apply_drop_frames;
    /* Notices: PCOL_NOTICE_SELECTION for content that is left out; PCOL_NOTICE_LOSS for what hide
     * and show change beyond the stacks: drop_frames and keep_frames that they applied, labels that
     * are hidden frames, types of resources with the documents around them. */
    const pcol_control *control;
    /* With `anonymize`: names of earlier calls keep their pseudonyms, and those of this call are
     * added; NULL: all names are new. */
    pcol_pseudonyms *pseudonyms;
} pcol_filter_options;

/**
 * pcol_filter() - add a part of a file to a builder
 * The samples that the selection takes (pcol_query_samples()) with all that they carry, and only
 * the strings, stacks, code, mappings, threads, label keys and sources that they need. A whole-file
 * question to the part has the answer that the same question has under the selection.
 *
 * hide and show take frames out of stacks, and then frames that a pprof drops go as well (unless
 * keep_dropped). If sources drop different frames, each loses its own, and sources that drop the
 * same ones follow each other; E_ARGUMENT for more than 64 kinds. A sample_type leaves only its
 * values. A sample with a duration that reaches out of the range of time is cut: its time and
 * duration are those of the part inside, its values are shared by time_share, gauges and CPU
 * deltas stay. The metadata of a source stays, and an Rprof file's header lines at their new
 * places; what the source wrote of samples word for word stays where samples are whole. Markers,
 * allocations and counters are taken by source, thread and time as samples are (one that reaches
 * into the range stays whole; counters only where all threads of their source stay), and not if
 * focus, ignore or labels select. What else belongs to no sample (models) is left out, with a
 * notice.
 *
 * With `anonymize` equal names of a kind have the same pseudonym: f1, f2, ... for functions,
 * file1.R for files, in order of first use. Numbers, structure, names of sample types and R's
 * `<GC>` stay.
 *
 * Cost: that of pcol_query_new() and O(samples + stacks). Errors: those of pcol_query_new() and of
 * importing; E_ARGUMENT for PCOL_SHARE_EXACT, which integers cannot hold.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_filter(pcol_builder *builder, const pcol_file *file,
                                                const pcol_filter_options *options,
                                                pcol_error *err);

/* A function at an address, or one inlined there. */
typedef struct pcol_symbol {
    pcol_str function; /* data not NULL */
    pcol_str filename; /* data NULL: unknown */
    int64_t line;      /* 0: unknown */
} pcol_symbol;

#define PCOL_SYMBOLS_FUNCTIONS 0x1u /* functions of a mapping are known */
#define PCOL_SYMBOLS_FILENAMES 0x2u
#define PCOL_SYMBOLS_LINES 0x4u
#define PCOL_SYMBOLS_INLINED 0x8u

typedef struct pcol_symbolize_options {
    size_t size;
    /* By row of the physical table location_groups: symbols [first[g], first[g + 1]), the innermost
     * first. group_count: its rows; `first` has one element more and begins with 0. */
    const pcol_symbol *symbols;
    const uint64_t *first;
    uint64_t group_count;
    /* By row of mappings: PCOL_SYMBOLS_* to set; mapping_count: its rows. */
    const uint8_t *mapping_flags;
    uint64_t mapping_count;
    /* meta_count pairs of key and value for each source; they replace those of equal keys. */
    const char *const *meta;
    size_t meta_count;
    const pcol_control *control;
} pcol_symbolize_options;

/**
 * pcol_symbolize() - add a file to a builder, with functions for locations that have none
 * @options: the symbols; read during the call only
 * A group without lines (no function, file or line) gets the lines of its symbols; all other groups
 * and all other content are copied as they are. The library opens no binaries: `pcol symbolize`
 * shows how symbols are found. Cost: that of pcol_builder_add_file() and O(symbols).
 * Errors: E_ARGUMENT (counts or an order that do not fit the file, a symbol without function), and
 * those of pcol_builder_add_file().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_symbolize(pcol_builder *builder, const pcol_file *file,
                                                   const pcol_symbolize_options *options,
                                                   pcol_error *err);

/* ---- sums */

typedef struct pcol_sums pcol_sums;

#define PCOL_SUMS_REBASE 0x1u  /* as PCOL_IMPORT_REBASE */
#define PCOL_SUMS_TRUSTED 0x2u /* as PCOL_IMPORT_TRUSTED */
/* For programs that write sums of their own, by names, files and lines of frames, keys and times of
 * recording: files are only searched for what such sums lack. pcol_sums_finish() reports it, and
 * gives no builder. Cost: O(values of the columns without content). */
#define PCOL_SUMS_LOSSES 0x4u

typedef struct pcol_sums_options {
    size_t size;
    const char *const *keys; /* of labels and of metadata of sources, whose values are kept */
    size_t key_count;
    const pcol_builder_options *builder; /* NULL: the defaults */
    unsigned flags;                      /* PCOL_SUMS_* */
} pcol_sums_options;

/**
 * pcol_sums_new() - reduce profiles to one sample for each call stack and values of the keys
 * @sums: receives the sums, of one thread at a time; freed with pcol_sums_free()
 * Values of samples with the same stack and the same labels of these keys are added up if their
 * sources agree in the metadata of these keys, in sample types, default sample type, period,
 * interval and frames to drop. Stacks are the same if names, files, lines, columns and libraries
 * are; code without a name also needs the same build id and offset in its binary. Times, threads,
 * ids, gauges and all else are left out: pcol_sums_finish() gives PCOL_NOTICE_LOSS for each kind
 * that an input has. Answers about functions, files, lines, mappings and trees of frames are those
 * of the inputs merged. Sums of sums are the sums of all inputs, with the same bytes, whatever the
 * grouping; of doubles up to rounding.
 * Errors: E_ARGUMENT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_sums_new(const pcol_sums_options *options,
                                                  pcol_sums **sums, pcol_error *err);
/* Add a file, which may be closed afterwards. Memory follows what is distinct in the sums. After a
 * failure the sums can only be freed. Cost: O(samples + stacks). Errors: E_CORRUPT, E_CHECKSUM,
 * E_LIMIT (a sum beyond 64 bits), E_STATE, E_NO_MEMORY, E_IO. */
PCOL_API PCOL_NODISCARD pcol_status pcol_sums_add(pcol_sums *sums, const pcol_file *file,
                                                  const pcol_control *control, pcol_error *err);
/* A builder with the sums, which the caller writes and frees; NULL with PCOL_SUMS_LOSSES. @sums can
 * only be freed. Errors:
 * E_STATE, E_LIMIT, E_NO_MEMORY, E_IO. */
PCOL_API PCOL_NODISCARD pcol_status pcol_sums_finish(pcol_sums *sums, const pcol_control *control,
                                                     pcol_builder **builder, pcol_error *err);
PCOL_API void pcol_sums_free(pcol_sums *sums);

/* Frames to add, outermost first. Each is "label:KEY", "thread" (name, else tid), "process" (pid),
 * "source" (uri, else id) or "mapping" (path of the binary of the sample's innermost frame). */
typedef struct pcol_add_frames_options {
    size_t size;
    const char *const *roots; /* above the outermost frame */
    size_t root_count;
    const char *const *leaves; /* below the innermost frame */
    size_t leaf_count;
    int keep_dropped; /* 1: a pprof's drop_frames and keep_frames stay in the copy, not applied */
    uint32_t reserved;
    const pcol_control *control; /* notices: PCOL_NOTICE_SELECTION for content left out */
} pcol_add_frames_options;

/**
 * pcol_add_frames() - add a copy of a file whose stacks have frames made of labels, threads, ...
 * The copy has all samples with all that they carry, as one of pcol_filter(), and each stack gets
 * all of these frames. A frame is a function: its name is the value, its file the key or the word
 * of the option. A label with several values has all of them, texts before numbers, joined by
 * commas; bytes and times are rounded as by Go's pprof ("1.50kB"). Without a value it is
 * "<unknown>". Samples without a stack stay without one. Frames that a pprof drops are removed
 * first.
 *
 * Queries, views and exports of the copy see the frames as any others: patterns match their names.
 *
 * Cost: O(samples + stacks of the copy), of which there is one for each stack below each distinct
 * list of roots. Errors: those of pcol_filter(); E_ARGUMENT (no such kind of frame, no sample has
 * the label), E_LIMIT (more than 2^24 stacks below roots, and 32 for each sample).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_add_frames(pcol_builder *builder, const pcol_file *file,
                                                    const pcol_add_frames_options *options,
                                                    pcol_error *err);

/* The kinds of rows of a result. */
typedef enum pcol_by {
    PCOL_BY_FUNCTION = 0, /* name */
    PCOL_BY_FILE = 1,     /* source file */
    PCOL_BY_LINE = 2,     /* function, file, line */
    PCOL_BY_SRCLINE = 3,  /* file and line; frames without a line are passed over, and samples
                           * without any such frame are "<no location>" */
    PCOL_BY_LOCATION = 4, /* address, function, file, line */
    PCOL_BY_MAPPING = 5,  /* binary or library, its path as name */
    PCOL_BY_THREAD = 6,   /* these four of the sample: pcol_query_top(), pcol_diff() only */
    PCOL_BY_PROCESS = 7,  /* its pid as name: the sum of its threads */
    PCOL_BY_SOURCE = 8,
    PCOL_BY_LABEL = 9,
    PCOL_BY_STACK = 10, /* whole call stack, "main;parse;read": pcol_diff() only */
    PCOL_BY_META = 11   /* metadata of its source, the value of a key as name: pcol_query_top(),
                         * pcol_diff() only */
} pcol_by;

typedef enum pcol_order {
    PCOL_ORDER_SELF = 0,  /* descending by magnitude; ties by total, then by name */
    PCOL_ORDER_TOTAL = 1, /* descending by magnitude; ties by self, then by name */
    PCOL_ORDER_NAME = 2   /* by the bytes of the name */
} pcol_order;

typedef struct pcol_names pcol_names;

/**
 * pcol_names_new() - the names of functions and frames in answers, for programs that read tables
 * @names: receives them; borrows the file; freed with pcol_names_free()
 * Cost: checking the columns that hold names against their checksums.
 * Errors: E_CORRUPT, E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_names_new(const pcol_file *file, pcol_names **names,
                                                   pcol_error *err);
/* The name of row @row of functions, without a library; *valid: it has one. Text is borrowed.
 * E_ARGUMENT: no such row. */
PCOL_API PCOL_NODISCARD pcol_status pcol_names_function(const pcol_names *names, uint64_t row,
                                                        pcol_str *name, int *valid,
                                                        pcol_error *err);
/* The name of the frame in row @row of locations, valid until the next call with these names.
 * Errors: E_ARGUMENT (no such row), E_CORRUPT, E_NO_MEMORY. */
PCOL_API PCOL_NODISCARD pcol_status pcol_names_location(pcol_names *names, uint64_t row,
                                                        pcol_str *name, pcol_error *err);
PCOL_API void pcol_names_free(pcol_names *names);

/*
 * The answer to a question: a table (pcol_table) whose rows are functions, nodes, calls, boxes, ...
 * Columns of all rows that are frames (top, tree, peek, flame; diff without the last three):
 *
 *   name      string  the name of a frame is the same in every result, export and joined table: its
 *                     function's name ("libc.so.6+0x9a03e" if that is only an address in a known
 *                     binary or library); "FILE:LINE" or "<top level>:LINE" of a line outside
 *                     functions, without a mapping and an address, which PCOL_BY_FUNCTION leaves
 *                     out; else "[BINARY]", the last part of its mapping's path, without a second
 *                     pair of brackets around "[vdso]"; else its address, "0x9a03e"; else
 *                     "<unknown>". The empty stack is "<no stack>". Of a file the file, of a source
 *                     line FILE#LINE. Patterns match these names.
 *   file      string  null where the kind of rows or the profile has none; so are the next two
 *   line      i64
 *   address   u64
 *   location  u32     row of the physical table locations, functions or mappings, from 0; null
 *   function  u32     where the row represents several of them or none, and for a function
 *   mapping   u32     where several have its name. PCOL_BY_FUNCTION has only `function`
 *
 * Amounts (self, total, ...) are f64 if flags have PCOL_RESULT_IS_DOUBLE, else i64, and
 * pcol_column_info.unit is their unit. Columns of numbers are arrays in memory: pcol_column_data(),
 * pcol_column_array() and pcol_table_arrow() read them in place. Strings are not of the file's
 * pool.
 *
 * A result retains the files that it was made from: result, query and file may be released in any
 * order. Its table, columns and texts are valid until the last reference to it is released; the
 * stream and the arrays of pcol_table_arrow() hold one each. Any number of threads may read a
 * result.
 */
typedef struct pcol_result pcol_result;

#define PCOL_RESULT_IS_DOUBLE 0x1u   /* amounts are doubles */
#define PCOL_RESULT_TOTAL_ABOVE 0x2u /* diff: the total exceeds fail_total */

/* Numbers that summarize the values of several bases. */
typedef struct pcol_spread {
    double median; /* of an even number: mean of the two in the middle */
    double min, max;
    double mad; /* median of the distances to the median, without a factor */
} pcol_spread;

typedef struct pcol_result_info {
    size_t size;
    const char *kind;     /* "top", "tree", "peek", "diff", "flame" or "cpu": name of the table */
    pcol_str type, unit;  /* of the sample type */
    uint32_t flags;       /* PCOL_RESULT_* */
    uint32_t by;          /* pcol_by: what the rows are */
    pcol_amount total[2]; /* what percentages are of: of the base of a comparison (of several the
                           * median), else the same as the next; of the query. A diff has both as
                           * scaled, of one type */
    double scale;         /* diff: what the other's values were multiplied by; else 1 */
    pcol_spread base_totals; /* diff: of the totals of the bases, before scaling; else 0 */
    uint32_t base_count;     /* diff: number of bases; else 0 */
    uint32_t reserved;
} pcol_result_info;

/* The rows, in the order of the result; belongs to the result. NULL for NULL. */
PCOL_API const pcol_table *pcol_result_table(const pcol_result *result);
/* @info: size set by the caller (PCOL_INIT). Errors: E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_result_describe(const pcol_result *result,
                                                         pcol_result_info *info, pcol_error *err);
/* A further reference, which pcol_result_free() releases. Any thread. Returns @result. */
PCOL_API pcol_result *pcol_result_retain(const pcol_result *result);
/* Releases a reference, and the result with the last one. Any thread. */
PCOL_API void pcol_result_free(pcol_result *result);

typedef struct pcol_top_options {
    size_t size;
    pcol_by by;
    pcol_order order;
    const char *label; /* key for PCOL_BY_LABEL and PCOL_BY_META, else NULL */
    uint32_t flags;    /* 0 */
    uint32_t reserved;
} pcol_top_options;

/**
 * pcol_query_top() - self and total of each function, file, line, thread, ...
 * @options: NULL: by function, by self
 * @result: receives the rows; freed with pcol_result_free(). Columns: those of frames; by thread,
 *          process, source, label or metadata only name (of a thread without a name its tid), and
 *          `thread` or `source` (u32, row of the physical table threads or sources, from 0); then
 *   self   samples whose innermost frame this is
 *   total  samples that hold it at least once
 * Rows whose self and total are both 0 are left out. Cost: O(stacks + rows log rows), however deep
 * stacks and recursion are; by function O(rows log rows) where the file carries their sums; by
 * thread, process, source, label or metadata O(samples). Errors: as pcol_query_new(); E_LIMIT also
 * for more than 2^21 numbers as values of a label, and one more for each byte of the file.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_top(pcol_query *query,
                                                   const pcol_top_options *options,
                                                   pcol_result **result, pcol_error *err);

#define PCOL_TREE_BOTTOM_UP 0x1u /* stacks are turned round: children of a node are its callers */

typedef struct pcol_tree_options {
    size_t size;
    pcol_by by;         /* a kind of frame */
    pcol_order order;   /* of siblings; PCOL_ORDER_SELF is taken as PCOL_ORDER_TOTAL */
    uint32_t flags;     /* PCOL_TREE_* */
    uint32_t max_depth; /* deeper frames are left out of the tree, not of the totals; 0: no limit */
    /* 0: all nodes. Else nodes that are not among so many with the largest totals may be left out:
     * only those are made, unless values are negative or doubles. */
    uint32_t heaviest;
    uint32_t reserved;
} pcol_tree_options;

/**
 * pcol_query_tree() - the call tree of what is selected, equal frames of siblings joined
 * @options: NULL: functions, top-down, siblings by total
 * @result: receives the nodes in depth-first pre-order; row 0 is the root, the sum of all, whose
 *          name is null. Nodes without weight in or below them are left out. Columns:
 *   parent     u32   row of its caller (bottom-up: callee); null for the root
 *   end        u32   rows [this + 1, end) are its descendants
 *   depth      u32   0: the root
 *   frame_id   u32   the same for the same frame: 0, 1, ...; null for the root
 *   those of frames, self, total
 *   truncated  bool  max_depth or heaviest omitted descendants with weight
 * Cost: O(stacks); bottom-up O(sum of the depths of stacks with weight).
 * Errors: E_LIMIT if a bottom-up tree takes more than 2^28 steps, or the tree has more nodes than
 * 2^22 and, of S stacks of the file, the smaller of 256 S and 2^22 + 2 S (give a max_depth then),
 * and as pcol_query_new().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_tree(pcol_query *query,
                                                    const pcol_tree_options *options,
                                                    pcol_result **result, pcol_error *err);

#define PCOL_PEEK_WHOLE 0x1u /* a function of that name only: @name is no pattern */

typedef struct pcol_peek_options {
    size_t size;
    uint32_t flags; /* PCOL_PEEK_* */
    uint32_t reserved;
} pcol_peek_options;

/**
 * pcol_query_peek() - who calls a function, and what it calls
 * @name: a function's whole name, or "[BINARY]", that of frames of a mapping without symbols; if
 *        the file has none of that name, a pattern for names
 * @options: NULL for the defaults
 * @result: receives, for each function that matches in order of total: its callers, itself, its
 *          callees, callers and callees by total. No match gives no rows. Columns:
 *   relation  string  "caller", "function" or "callee"
 *   those of frames
 *   self      of a call: those of its total whose innermost call it is
 *   total     of a call: samples with it; a repeated call counts once
 * Cost: O(stacks). Errors: as pcol_query_new().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_peek(pcol_query *query, const char *name,
                                                    const pcol_peek_options *options,
                                                    pcol_result **result, pcol_error *err);

/**
 * pcol_query_cpu() - CPU time that each thread used, from the CPU deltas of its samples
 * @result: receives a row for each thread. Columns:
 *   thread           u32     row of threads, from 0; null: samples without a thread
 *   name, tid, pid   string  null where not known
 *   samples          u64     in the range of time
 *   samples_without  u64     of these, those without a delta
 *   cpu_ns           f64
 * Samples are selected by source, thread, label and time. A delta counts for the interval from the
 * end of the thread's sample before it to its own time, in proportion to its part in the
 * range; that of a thread's first sample counts whole if its time is in the range. No rows if the
 * file has no times or no deltas. Cost: O(samples). Errors: as pcol_query_new().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_cpu(pcol_query *query, pcol_result **result,
                                                   pcol_error *err);

/* ---- comparing */

#define PCOL_DIFF_NORMALIZE \
    0x1u /* the values of all profiles are scaled so that their totals are that of the base */
#define PCOL_DIFF_FAIL_ABOVE 0x2u /* `fail_above` is set */
#define PCOL_DIFF_FAIL_TOTAL 0x4u /* `fail_total` is set */

typedef struct pcol_diff_options {
    size_t size;
    pcol_by by;
    pcol_order order;  /* descending by the change's magnitude: of self, of total; or by name */
    const char *label; /* key for PCOL_BY_LABEL and PCOL_BY_META, else NULL */
    uint32_t flags;    /* PCOL_DIFF_* */
    uint32_t reserved;
    /* Bases beyond the first, at most 4096; NULL: none. Read during the call only. */
    pcol_query *const *further_bases;
    size_t further_base_count;
    /* Limits in percent of the base's total, not negative: of rows (column `above`), and of the
     * total of the profile (PCOL_RESULT_TOTAL_ABOVE), which is compared before scaling. */
    double fail_above, fail_total;
    /* Rows with fewer samples in every profile do not fail. */
    uint64_t min_samples;
    /* Queries of the same selections whose values count samples (PCOL_SELECTION_COUNT): of the
     * base, the further bases, the other. NULL: the compared values count samples. */
    pcol_query *const *counts;
} pcol_diff_options;

/**
 * pcol_diff() - what changed between a profile and a base, or several bases
 * @base, @other: queries of the same sample type, over the same file or two
 * @options: NULL: by function, by self
 * @result: receives the rows. Columns: name (by stack: the path), file, line, address;
 *   self_base, self_new, self_delta, total_base, total_new, total_delta: new - base
 *   in_base, in_new  bool  the row has a value there
 *   with several bases, whose median is the base (a row that a base lacks has the value 0 there):
 *   self_min, self_max, total_min, total_max  of the bases
 *   total_mad        median of the distances of the bases' totals to their median
 *   with PCOL_DIFF_FAIL_ABOVE:
 *   above  bool  the total exceeds the highest base by more than `fail_above` percent of the base's
 *                total, and with three bases or more also total_base + 3 total_mad
 * Rows are matched by what is shown of them (name, file, line, address), never by ids: threads, or
 * sources, of one name are one row, with the sum of their values and without an id. Rows without
 * any value are left out, rows without a change are there. With several bases amounts are doubles,
 * and PCOL_DIFF_NORMALIZE scales every profile to the median of the bases' totals. Cost: that of
 * pcol_query_top() or pcol_query_tree() for each query, rows log rows, and 40 bytes for each row
 * and base.
 * Errors: E_ARGUMENT (other types or units; a total of 0 to be scaled), E_LIMIT (a difference
 * beyond 64 bits, more bases; a total that is not finite, to be scaled or with a limit), and those
 * of the two calls.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_diff(pcol_query *base, pcol_query *other,
                                              const pcol_diff_options *options,
                                              pcol_result **result, pcol_error *err);

/* ---- flame graphs */

#define PCOL_FLAME_INVERTED 0x1u      /* the SVG has the root at the top */
#define PCOL_FLAME_INVERTED_HIGH 0x2u /* the same if it would be higher than 900 px */
#define PCOL_FLAME_REVERSE 0x4u       /* stacks are turned round, callers above their callees */

typedef struct pcol_flame_options {
    size_t size;
    pcol_query *base;    /* compared with: how did the share of each frame change? */
    uint32_t flags;      /* PCOL_FLAME_* */
    uint32_t width_px;   /* of the picture; 0: 1200 */
    double min_width_px; /* narrower frames are left out; 0: 0.3; negative: none */
    /* The name of a frame in the SVG, valid until the next call; NULL: its name. Called while
     * pcol_flame_svg() runs. */
    pcol_str (*rename)(void *context, pcol_str name);
    void *context; /* for rename */
} pcol_flame_options;

/**
 * pcol_query_flame() - the call tree of what is selected, laid out as a flame graph
 * @options: NULL: the defaults
 * @result: receives the boxes that are drawn, by depth, then from left to right; row 0 is the root.
 *          Siblings are in order of names. Columns:
 *   depth            u32   0: the root
 *   x_px, width_px   f64   of the graph, which is 20 px narrower than the picture
 *   those of frames (with a base only the name), self, total
 *   change           f64   of its share, -1 to 1; 0 without a base
 *   new              bool  the base has no such stack
 *   gone             bool  only the base has it: width_px is of its share there; self and total
 *                          are 0
 * Frames deeper than 1000 are left out. With a base the stacks that only it has are there, too, as
 * wide as their share of it would be here.
 * Errors: those of pcol_query_tree(); E_ARGUMENT (width, base of another sample type).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_query_flame(pcol_query *query,
                                                     const pcol_flame_options *options,
                                                     pcol_result **result, pcol_error *err);

/**
 * pcol_flame_svg() - the graph as one SVG document
 * @flame: result of pcol_query_flame()
 * @title: UTF-8; NULL: "Flame graph"
 * The document needs nothing else and loads nothing. Without scripts it shows each frame with a
 * tooltip; with scripts a click zooms in, and there are a search, a reset and the keys / and
 * Escape. The same profile gives the same bytes. Names are text whatever is in them; bytes that
 * cannot be shown are written as \xNN. Errors: those of the sink, E_NO_MEMORY, E_ARGUMENT (another
 * kind of result).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_flame_svg(const pcol_result *flame, const char *title,
                                                   pcol_sink sink, pcol_error *err);

/* ---- views: flame graphs and trees of which only the visible part is computed */

/*
 * All stacks of a file, or of two files, as one tree of frames that is built once. Another
 * selection only changes its weights (pcol_view_weigh()); a window (pcol_view_window()) makes the
 * boxes that are wide enough to be drawn, and no other nodes. Frames of two files are one if
 * everything shown of them is the same (name, file, line, address). A view retains the files of its
 * queries; the queries may be released after the call. It belongs to one thread at a time.
 */
typedef struct pcol_view pcol_view;

typedef struct pcol_view_options {
    size_t size;
    pcol_by by;     /* a kind of frame */
    uint32_t flags; /* 0 */
} pcol_view_options;

/**
 * pcol_view_new() - build the tree of frames of a query, or of two
 * @base: NULL, or the query to compare with: of the same sample type, over the same file or another
 * @options: NULL: functions
 * @view: receives the view; the caller frees it with pcol_view_free()
 * Cost: O(stacks of each file). Memory: 32 bytes for each node of the tree, with a base 57, and 4
 * for each stack. The control of @query is in force.
 * Errors: E_ARGUMENT (other types or units, not a kind of frame), E_LIMIT (more nodes than
 * pcol_query_tree() allows), E_CORRUPT, E_CHECKSUM, E_UNSUPPORTED, E_NO_MEMORY, E_CANCELLED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_new(pcol_query *query, pcol_query *base,
                                                  const pcol_view_options *options,
                                                  pcol_view **view, pcol_error *err);
PCOL_API void pcol_view_free(pcol_view *view);

/**
 * pcol_view_weigh() - give the frames of a view the weights of another selection
 * @query, @base: of the files that the view was made of, and with the same hide, show and
 *         keep_dropped; everything else may differ, also the sample type. base: NULL if the view
 *         has none
 * Cost: O(stacks + nodes); no node of the tree is made. Boxes and their `node` become invalid;
 * frames keep their numbers and marks. After a failure other than E_ARGUMENT all weights are 0.
 * Errors: E_ARGUMENT (another file, other frames are hidden, other types or units), E_LIMIT,
 * E_NO_MEMORY, E_CANCELLED, and those of reading the stacks of a query.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_weigh(pcol_view *view, pcol_query *query,
                                                    pcol_query *base, pcol_error *err);

#define PCOL_VIEW_IS_DOUBLE 0x1u      /* amounts of the query are doubles */
#define PCOL_VIEW_BASE_IS_DOUBLE 0x2u /* those of the base are */
#define PCOL_VIEW_HAS_BASE 0x4u

typedef struct pcol_view_info {
    size_t size;
    pcol_str type, unit; /* of the sample type; borrowed from the view */
    uint32_t flags;      /* PCOL_VIEW_* */
    uint32_t frame_count, marked_count;
    uint32_t node_count;               /* of the tree, with the root */
    pcol_amount total, base_total;     /* what percentages are of: pcol_query_info.total */
    pcol_amount matched, base_matched; /* weight of the stacks with a marked frame */
} pcol_view_info;

/* @info: size set by the caller (PCOL_INIT). Cost: O(1). Errors: E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_describe(const pcol_view *view, pcol_view_info *info,
                                                       pcol_error *err);

#define PCOL_VIEW_FRAME_HAS_FILE 0x1u
#define PCOL_VIEW_FRAME_HAS_LINE 0x2u
#define PCOL_VIEW_FRAME_HAS_ADDRESS 0x4u
#define PCOL_VIEW_FRAME_IS_MARKED 0x8u

typedef struct pcol_view_frame {
    size_t size;
    uint32_t flags; /* PCOL_VIEW_FRAME_* */
    uint32_t reserved;
    pcol_str name, file; /* as in pcol_query_top(); borrowed from the view */
    int64_t line;
    uint64_t address;
    /* First row of `locations` that is shown as this frame, and its row of `functions`; PCOL_NONE:
     * none. Of the query's file, and of that of the base. */
    uint32_t location, function, base_location, base_function;
    pcol_amount self, base_self;   /* stacks whose innermost frame this is */
    pcol_amount total, base_total; /* stacks that hold it at least once */
} pcol_view_frame;

/* Frame @index < frame_count; @frame: size set by the caller. Cost: O(1), the first call for new
 * weights O(nodes). Errors: E_ARGUMENT, E_NO_MEMORY. */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_get(pcol_view *view, uint32_t index,
                                                  pcol_view_frame *frame, pcol_error *err);

/* Frames to be marked: those of rows of `functions`, of the query's file and of that of the base,
 * and frames of the view by number (frames without a function have no other). */
typedef struct pcol_marks {
    size_t size;
    const uint32_t *functions, *base_functions, *frames;
    size_t function_count, base_function_count, frame_count;
} pcol_marks;

/**
 * pcol_view_mark() - mark frames: in boxes, in bins of lanes, and in the sums `matched`
 * @marks: NULL: none. Replaces all earlier marks.
 * Cost: O(nodes + locations + marks). Errors: E_ARGUMENT (no such row or frame), E_NO_MEMORY.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_mark(pcol_view *view, const pcol_marks *marks,
                                                   pcol_error *err);

typedef enum pcol_view_kind {
    PCOL_VIEW_FLAME = 0,    /* from the outermost frames inwards */
    PCOL_VIEW_INVERTED = 1, /* from the innermost frames outwards; children of a box are callers */
    PCOL_VIEW_CALLERS = 2,  /* from one frame outwards */
    PCOL_VIEW_CALLEES = 3   /* from one frame inwards */
} pcol_view_kind;

typedef struct pcol_window {
    size_t size;
    pcol_view_kind kind;
    /* CALLERS, CALLEES: the frame. Each stack with it counts once: at its outermost occurrence, if
     * recursion repeats it. */
    uint32_t frame;
    pcol_order order; /* of siblings; PCOL_ORDER_SELF is taken as PCOL_ORDER_TOTAL */
    /* Depths of the boxes that are returned, the root's is 0; max_depth 0: no limit. */
    uint32_t first_depth, max_depth;
    uint32_t flags;  /* 0 */
    double from, to; /* part of the root's width, 0 to 1; to 0: 1 */
    double width_px; /* of that part; 0: 1200 */
    double least_px; /* narrower boxes are left out, with all above them; 0: 0.3; negative: none */
    const pcol_control *control;
    uint64_t max_boxes; /* more are E_LIMIT; 0: no limit */
} pcol_window;

#define PCOL_BOX_IS_MARKED 0x1u
#define PCOL_BOX_IS_NEW 0x2u  /* the base has no such stack */
#define PCOL_BOX_IS_GONE 0x4u /* only the base has */

/* A box of a flame graph. Its width is the sum of the magnitudes of the stacks in it; a stack that
 * only the base has is as wide as its share of the base's total. */
typedef struct pcol_box {
    double from, to;       /* part of the root's width */
    double x_px, width_px; /* x_px: of the window; outside of it if the box reaches out */
    uint32_t frame;        /* PCOL_NONE: the root of FLAME and INVERTED */
    uint32_t depth;
    uint32_t parent; /* index of its box; PCOL_NONE: is not in this window */
    uint32_t node;   /* the same in all windows of this kind, frame and order of the same weights */
    uint32_t flags;  /* PCOL_BOX_* */
    uint32_t reserved;
    pcol_amount self, base_self; /* stacks that end here: in the last frame of this direction */
    pcol_amount total, base_total;
} pcol_box;

/**
 * pcol_view_window() - the boxes of a part of a flame graph
 * @boxes: receives them by depth, then from left to right; valid until the next call for the view
 * @count: receives their number
 * Only visible nodes and their siblings are made, and kept for later windows of the same kind,
 * frame and order; eight such trees are kept. Cost: O(boxes + their children); the first window of
 * a kind and frame other than FLAME also O(nodes), and each of its boxes O(its stacks) when it is
 * made. Memory of a tree: at most 8 bytes for each node of the view, 16 while it is made, and about
 * 100 for each node that is visible or a sibling of one.
 * Errors: E_ARGUMENT (no such frame, kind or order, a range that is not in 0 to 1), E_LIMIT (more
 * nodes than pcol_query_tree() may have, 2^28 steps for INVERTED and CALLERS: give a least_px or a
 * max_depth; more boxes than max_boxes), E_NO_MEMORY, E_CANCELLED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_view_window(pcol_view *view, const pcol_window *window,
                                                     const pcol_box **boxes, size_t *count,
                                                     pcol_error *err);

/* ---- lanes: samples along an axis, by thread, source or label */

/*
 * Lanes keep the selected samples in memory, ordered by their position. They retain the file; the
 * query may be released. They belong to one thread at a time.
 */
typedef struct pcol_lanes pcol_lanes;

typedef enum pcol_axis {
    PCOL_AXIS_TIME = 0, /* ns, on the clock of each source; samples without a time are left out */
    PCOL_AXIS_ORDER = 1 /* the id of the sample, from 1, as in pcol_selection.order_from */
} pcol_axis;

typedef struct pcol_lanes_options {
    size_t size;
    pcol_by by;        /* PCOL_BY_THREAD, PCOL_BY_SOURCE or PCOL_BY_LABEL */
    const char *label; /* key of the label for PCOL_BY_LABEL, else NULL */
    pcol_axis axis;
    /* Weight of a sample that is partly in a bin: as under that range of time of a
     * selection. PCOL_SHARE_EXACT only where amounts are doubles. */
    pcol_time_share time_share;
} pcol_lanes_options;

/**
 * pcol_lanes_new() - the samples of a query as lanes
 * @query: all of its selection applies but the ranges of time and order
 * @options: `by` must be set
 * @lanes: receives the lanes; the caller frees them with pcol_lanes_free()
 * Lanes without a sample are left out. A sample with several values of the label is in several
 * lanes. Cost: O(samples). Memory: 24 bytes for each sample, 48 with durations or CPU deltas, twice
 * as much in the call. The control of @query is in force.
 * Errors: E_ARGUMENT (by, no such label), E_LIMIT, E_CORRUPT, E_CHECKSUM, E_UNSUPPORTED,
 * E_NO_MEMORY, E_CANCELLED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_lanes_new(pcol_query *query,
                                                   const pcol_lanes_options *options,
                                                   pcol_lanes **lanes, pcol_error *err);
PCOL_API void pcol_lanes_free(pcol_lanes *lanes);

#define PCOL_LANES_IS_DOUBLE 0x1u
#define PCOL_LANES_HAS_CPU 0x2u      /* samples have CPU deltas */
#define PCOL_LANES_HAS_DURATION 0x4u /* samples have durations */

typedef struct pcol_lanes_info {
    size_t size;
    pcol_str type, unit; /* of the sample type; borrowed from the lanes */
    uint32_t flags;      /* PCOL_LANES_* */
    uint32_t axis;       /* pcol_axis */
    uint64_t lane_count;
    uint64_t samples;         /* in any lane */
    uint64_t samples_without; /* left out, since they have no time */
    int64_t from, to;         /* half-open range of all lanes; both 0 if there is no sample */
} pcol_lanes_info;

/* @info: size set by the caller (PCOL_INIT). Cost: O(1). Errors: E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_lanes_describe(const pcol_lanes *lanes,
                                                        pcol_lanes_info *info, pcol_error *err);

#define PCOL_LANE_HAS_NAME 0x1u
#define PCOL_LANE_HAS_ID 0x2u

typedef struct pcol_lane {
    size_t size;
    uint32_t flags; /* PCOL_LANE_* */
    uint32_t reserved;
    pcol_str name; /* of the thread, uri of the source, value of the label; borrowed */
    uint64_t id;   /* of a thread: its row of threads; of a source: its source_id */
    uint64_t samples;
    int64_t from, to; /* half-open range of its samples, with their durations */
    pcol_amount total;
    double cpu_ns; /* sum of the CPU deltas */
} pcol_lane;

/* Lane @index < lane_count: threads and sources in order of their rows, then the samples without
 * one, without a name; labels in order of first occurrence. @lane: size set by the caller. Cost:
 * O(1). Errors: E_ARGUMENT. */
PCOL_API PCOL_NODISCARD pcol_status pcol_lanes_get(const pcol_lanes *lanes, uint64_t index,
                                                   pcol_lane *lane, pcol_error *err);

typedef struct pcol_lane_range {
    size_t size;
    uint64_t lane;
    int64_t from, to; /* half open */
    uint32_t count; /* of bins or pixels, 1 to 65536; bin i begins at from + (to - from) * i / count
                     * and ends where the next one begins */
    uint32_t max_depth; /* pcol_lanes_stacks(): deepest box, outermost frames are 1; 0: no limit */
    const pcol_control *control;
} pcol_lane_range;

/* The content of a bin. */
typedef struct pcol_bin {
    pcol_amount weight; /* as of a query for that range of time or order */
    pcol_amount marked; /* of it, that of stacks with a marked frame */
    double cpu_ns;      /* CPU deltas of the lane's samples, shared as by pcol_query_cpu() */
    uint64_t samples;   /* one with a duration counts in each bin that it reaches into */
} pcol_bin;

/**
 * pcol_lanes_bins() - sums of a lane over a range
 * @view: NULL, or a view whose marks count: its query or its base is of the same file
 * @bins: receives range->count bins
 * Cost: O(log samples of the lane + samples in the range + bins); with durations or CPU deltas
 * also the samples before it that the longest of them could bring into it, and a step for each bin
 * that a sample reaches into. Errors: E_ARGUMENT, E_LIMIT (a sum beyond 64 bits), E_NO_MEMORY,
 * E_CANCELLED.
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_lanes_bins(pcol_lanes *lanes, const pcol_lane_range *range,
                                                    pcol_view *view, pcol_bin *bins,
                                                    pcol_error *err);

/**
 * pcol_lanes_stacks() - stacks over time: in each pixel the stack of most weight
 * @view: gives the frames; its query or its base is of the same file
 * @boxes: receives boxes by depth, then from left to right; valid until the next call for the lanes
 * @count: receives their number
 * Neighbouring pixels with the same stack up to a depth share the boxes up to it. Weights count by
 * magnitude; of equal stacks the first in the tree is taken. Of a box, from and to are parts of the
 * range, total is the weight of the stacks drawn in its pixels, self that of those which end there;
 * node is that of the stack in the tree, base sums are 0. Cost: that of pcol_lanes_bins(), and
 * O(boxes). Errors: those of pcol_lanes_bins().
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_lanes_stacks(pcol_lanes *lanes,
                                                      const pcol_lane_range *range, pcol_view *view,
                                                      const pcol_box **boxes, size_t *count,
                                                      pcol_error *err);
#ifdef __cplusplus
}
#endif

#endif
