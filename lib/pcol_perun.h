/*
 * pcol_perun.h - questions about the resources and models of Perun profiles
 *
 * The conventions of pcol.h hold. Since 1.0.
 */
#ifndef PCOL_PERUN_H
#define PCOL_PERUN_H

#include "pcol.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The questions that Perun asks of its profiles. An answer is a table whose cells have a type each,
 * since the keys and values of resources are open.
 */
typedef enum pcol_question {
    PCOL_ASK_RESOURCES = 0,     /* the keys of all resources; flat: `snapshots`, then the fields */
    PCOL_ASK_MODELS = 1,        /* the keys (flat: fields) of all models; group: row goes first */
    PCOL_ASK_SNAPSHOT_ROWS = 2, /* members of `snapshots`: snapshot, then their keys */
    PCOL_ASK_SNAPSHOTS = 3,     /* snapshot, row: the resources of each snapshot */
    PCOL_ASK_ITEMS = 4,         /* row, key, value: what is in a resource, flattened */
    PCOL_ASK_FIELDS = 5,        /* field, numeric: the flat keys of all resources */
    PCOL_ASK_VALUES = 6,        /* row, value: what a path leads to; unique: value */
    PCOL_ASK_BEST_MODELS = 7,   /* uid, model, r_square, b0, b1, b2, x_start, x_end, by a filter */
    PCOL_ASK_FLAME = 8,         /* line: a stack and its amount, as text */
    PCOL_ASK_PLOT = 9           /* row, x, y: 51 points of each model with coefficients */
} pcol_question;

typedef struct pcol_ask_options {
    size_t size;
    int flat;     /* objects and arrays as keys such as uid:function, and as text */
    int all_rows; /* 0: only row number `row`, from 0 (ITEMS, PLOT) */
    uint64_t row;
    int numeric;        /* FIELDS: only those whose values are all numbers */
    int models;         /* VALUES: of models, not of resources */
    int unique;         /* VALUES: each value once; 1, 1.0 and true are one */
    const char *path;   /* VALUES: keys with a colon between them; an empty one: every member */
    const char *group;  /* MODELS: "model", "param" or "nonparam"; NULL: all, without rows */
    const char *filter; /* BEST_MODELS: "best-model", "best-param", "best-nonparam", "all-param" or
                         * "all-nonparam" */
    /* Must remain valid until the answers are freed. Notices: PCOL_NOTICE_SELECTION for what an
     * answer leaves out. */
    const pcol_control *control;
} pcol_ask_options;

/* A cell of an answer. */
typedef enum pcol_answer_kind {
    PCOL_ANSWER_ABSENT = 0, /* the row has no such key: not the same as a null */
    PCOL_ANSWER_NULL = 1,
    PCOL_ANSWER_BOOL = 2, /* i64: 0 or 1 */
    PCOL_ANSWER_I64 = 3,
    PCOL_ANSWER_F64 = 4,
    PCOL_ANSWER_TEXT = 5,   /* text: a string */
    PCOL_ANSWER_DIGITS = 6, /* text: an integer beyond 64 bits */
    PCOL_ANSWER_JSON = 7    /* text: an array or object as JSON; NaN and infinities are strings */
} pcol_answer_kind;

typedef struct pcol_answer {
    pcol_answer_kind kind;
    int stable; /* the text is there until pcol_answers_free(), so two of one address and size are
                 * one text: what was made of it can be used again */
    union {
        int64_t i64;
        double f64;
        pcol_str text;
    } as;
} pcol_answer;

typedef struct pcol_answers pcol_answers;

/**
 * pcol_ask() - ask a question of the Perun profiles in a file
 * @options: NULL for the defaults (not flat, all rows)
 * @answers: receives the table; the caller frees it with pcol_answers_free()
 * Cost: O(1) to O(resources), since the columns of most answers are what the rows have.
 * Errors: E_FORMAT (no Perun profile in the file), E_ARGUMENT (options that mean nothing),
 * E_CORRUPT, E_NO_MEMORY, E_LIMIT (a flat text longer than 64 MiB).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_ask(const pcol_file *file, pcol_question question,
                                             const pcol_ask_options *options,
                                             pcol_answers **answers, pcol_error *err);
PCOL_API size_t pcol_answers_column_count(const pcol_answers *answers);
/* Name of column @index, which may hold any bytes; empty if out of range. */
PCOL_API pcol_str pcol_answers_column(const pcol_answers *answers, size_t index);
/* The next row: *cells has as many cells as there are columns, valid until the next call; NULL at
 * the end. Rows come in the order of the document. E_LIMIT (unless the file or the imported input
 * was trusted): rows times columns exceed 2^28 and 64 for each byte of it; E_STATE after a
 * failure. */
PCOL_API PCOL_NODISCARD pcol_status pcol_answers_next(pcol_answers *answers,
                                                      const pcol_answer **cells, pcol_error *err);

/* A cell of a block that is a number each time. */
typedef struct pcol_answer_part {
    size_t row, column;    /* which cell */
    pcol_answer_kind kind; /* I64, BOOL, or F64, then values are the bits of doubles */
    pcol_str before;       /* not empty: the cell is a text, this followed by the number */
    const int64_t *values; /* `times` of them; equal parts may share them */
} pcol_answer_part;

/* Rows that are repeated, with other numbers each time: */
typedef struct pcol_answer_block {
    size_t size;
    size_t rows;                   /* of one time; 0: the end */
    size_t times;                  /* at least 1 */
    const pcol_answer *cells;      /* rows * columns, row by row, as they are the first time */
    const pcol_answer_part *parts; /* what differs, in no order, each cell at most once */
    size_t part_count;
} pcol_answer_block;

/**
 * pcol_answers_block() - the next rows, several at a time
 * @block: size set by the caller (PCOL_INIT); what it points to is valid until the next call
 * The rows are those that pcol_answers_next() would give next, times * rows of them; the two may be
 * called in turn. Resources mostly differ from the one before only in a few numbers, so that a
 * program which makes what is equal once, and then sets in the numbers, is several times as fast.
 * Errors: those of pcol_answers_next(); E_ARGUMENT (no size).
 */
PCOL_API PCOL_NODISCARD pcol_status pcol_answers_block(pcol_answers *answers,
                                                       pcol_answer_block *block, pcol_error *err);
PCOL_API void pcol_answers_free(pcol_answers *answers);

#ifdef __cplusplus
}
#endif

#endif
