/*
 * extension.h - parts of the DuckDB extension
 *
 * A table function binds to one struct binding: the files, the union of their columns and the
 * selection. It is immutable afterwards but for locks, so that several executions may share it.
 * Each thread of an execution has one scan.
 */
#ifndef SQL_DUCKDB_EXTENSION_H
#define SQL_DUCKDB_EXTENSION_H

#include "common/common.h"
#include "common/pool.h"

#define DUCKDB_EXTENSION_NAME pcol
#include <duckdb_extension.h>

#include <pthread.h>

extern duckdb_ext_api_v1 duckdb_ext_api;

/* Registers a function and destroys it. */
void sql_register_function(duckdb_connection connection, duckdb_table_function *function);
/* The named parameters of a selection, and those that set one up. */
void sql_add_selection_parameters(duckdb_table_function function);

/* ---- parameters.c: values of parameters; texts are from malloc() */

struct paths {
    char **list;
    size_t count;
};

/* The paths of a parameter: a path, a pattern or a list of these. 0 on failure, with the error of
 * the bind set. */
int paths_from_parameter(duckdb_bind_info info, struct paths *paths);
void paths_free(struct paths *paths);

/* A selection that owns its texts. */
struct owned_selection {
    pcol_selection selection;
    char *texts[6];
    const char *labels[1];
    int is_empty; /* nothing is selected by it: every row */
    int is_time;  /* only a range of time, whose limits in ms are exact as doubles */
};

int selection_from_parameters(duckdb_bind_info info, struct owned_selection *selection);
void selection_free(struct owned_selection *selection);

/* Named parameters; NULL and @otherwise where not given or null. */
char *text_parameter(duckdb_bind_info info, const char *name);
int bool_parameter(duckdb_bind_info info, const char *name, int otherwise);

/* Set the error of a bind, about a file. bind_message() returns 0. */
void bind_error(duckdb_bind_info info, const char *path, const pcol_error *err);
int bind_message(duckdb_bind_info info, const char *path, const char *message);

/* ---- relation.c: columns of one file */

enum shown {
    SHOWN_BIGINT,
    SHOWN_UBIGINT,
    SHOWN_UINTEGER,
    SHOWN_DOUBLE,
    SHOWN_BOOLEAN,
    SHOWN_VARCHAR,
    SHOWN_BLOB,
    SHOWN_LIST,      /* BIGINT[] */
    SHOWN_TEXTS,     /* VARCHAR[] */
    SHOWN_FUNCTIONS, /* ENUM of the names of frames */
    SHOWN_FILES      /* ENUM of the names of source files */
};

/* Where the cells of a column come from. */
enum origin {
    FROM_TABLE,    /* column `number` of the scanned table */
    FROM_VALUES,   /* column `number` of the physical table samples */
    FROM_STACK,    /* row of stacks */
    FROM_DEPTH,    /* of the stack of a row: these five */
    FROM_FUNCTION, /* name of the innermost frame */
    FROM_FILENAME,
    FROM_LINE,
    FROM_FRAMES,
    FROM_PATH /* the path of the file */
};

struct column {
    char *name;
    enum origin origin;
    uint32_t number;
    pcol_type type; /* FROM_TABLE, FROM_VALUES */
    enum shown shown;
    int is_nullable; /* FROM_VALUES: these three */
    int is_constant; /* of type I64: each cell is the constant, as the index of the file says */
    int64_t constant;
};

enum view { VIEW_TABLE, VIEW_SAMPLES, VIEW_STACKS, VIEW_TOP };

/* The columns of each file. */
struct request {
    enum view view;
    pcol_model model;     /* VIEW_TABLE */
    char *table;          /* VIEW_TABLE */
    int has_path;         /* a column `profile` */
    pcol_top_options top; /* VIEW_TOP: these two */
    const struct owned_selection *selection;
};

struct stacks;

struct relation {
    char *path;
    pcol_file *file;
    const pcol_table *table;    /* that is scanned */
    const pcol_table *physical; /* samples, for FROM_VALUES */
    pcol_result *result;        /* VIEW_TOP: has `table` */
    struct sql_pool pool;       /* texts of its columns */
    uint32_t stack_column;      /* of `table`: the row of stacks; PCOL_NONE: it has none */
    int is_of_stacks;           /* rows of `table` are those of stacks */
    struct column *columns;
    size_t count;
    pthread_mutex_t lock;
    struct stacks *stacks; /* made when first needed */
};

pcol_status relation_open(const char *path, const struct request *request,
                          struct relation **relation, pcol_error *err);
void relation_close(struct relation *relation);
/* After an error: if the file was changed or cut, that is the error, not what its zeros look like.
 * Returns the status. */
pcol_status relation_failed(const struct relation *relation, pcol_status status, pcol_error *err);
const struct column *relation_column(const struct relation *relation, const char *name);
/* The names of the file, and with @has_tree its stacks; each read once. */
pcol_status relation_stacks(struct relation *relation, int has_tree, const struct stacks **stacks,
                            pcol_error *err);

/* ---- stacks.c: the call tree of a file, with names */

/* Distinct texts in the order of their bytes, and the number of one for each row. */
struct dictionary {
    char *bytes;
    pcol_str *texts;
    uint32_t count;
    uint32_t *codes; /* PCOL_NONE: null */
};

struct stacks {
    uint64_t stack_count;
    uint32_t *parents, *groups;
    uint64_t group_count, location_count;
    uint32_t *first_locations;      /* of groups, and location_count at the end */
    uint32_t *leaves;               /* of stacks: innermost location; PCOL_NONE: no frame */
    int has_tree;                   /* the arrays above are read */
    struct dictionary names, files; /* of locations */
    int64_t *lines;                 /* of locations */
    uint8_t *has_line;
    uint32_t no_stack; /* code of the name of the empty stack */
};

/* Reads the names. */
pcol_status stacks_read(const pcol_file *file, struct stacks **stacks, pcol_error *err);
pcol_status stacks_read_tree(const pcol_file *file, struct stacks *stacks, pcol_error *err);
void stacks_free(struct stacks *stacks);
/* Number of frames; with @names their names, innermost first, at most @capacity. */
size_t stacks_frames(const struct stacks *stacks, uint64_t stack, const pcol_str **names,
                     size_t capacity);

/* ---- vectors.c: cells of DuckDB */

/* Finds functions that are newer than v1.2.0; without them vectors are larger. */
void vectors_init(void);

/* A vector that is being filled. */
struct target {
    duckdb_vector vector;
    void *data;
    enum shown shown;
    const struct sql_pool *pool; /* of the codes of texts */
    int is_copied; /* texts are copied, for the file is closed before the query ends */
};

struct target target_of(duckdb_data_chunk chunk, idx_t column, enum shown shown,
                        const struct sql_pool *pool, int is_copied);
void target_null(const struct target *target, idx_t row);
void target_i64(const struct target *target, idx_t row, int64_t value);
void target_f64(const struct target *target, idx_t row, double value);
/* A text in private memory, of the relation unless it is copied. */
void target_text(const struct target *target, idx_t row, pcol_str text);
/* Codes of an ENUM with @count members; PCOL_NONE: null. */
void target_codes(const struct target *target, const uint32_t *codes, size_t rows, uint32_t count);
/* Cells of a scan; 0: the file has another type than it had. */
int target_cells(const struct target *target, const pcol_cells *cells, size_t rows);
/* Whether cells of the type have the layout of the vector: they may be read into target->data, and
 * target_nulls() follows. */
int target_has_layout(const struct target *target, pcol_type type);
void target_nulls(const struct target *target, const uint8_t *valid, size_t rows);
/* The same integer in each of @rows rows. */
void target_constant(const struct target *target, int64_t value, size_t rows);
duckdb_logical_type shown_type(enum shown shown, const struct stacks *stacks);

/* ---- scan.c: read_pcol(), pcol_scan(), pcol_stacks(), pcol_top() */

void scan_register(duckdb_connection connection);

/* ---- answers.c: pcol_tables(), pcol_errors() */

void answers_register(duckdb_connection connection);

#endif
