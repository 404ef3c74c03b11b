/*
 * query.h - what the files of this room share
 *
 *     sample_type.c   which sample type, of which sources, and how long one unit of it lasts
 *     sample_filter.c     which samples: sources, threads, labels (labels.c), time
 * (model/time_overlap.c)
 *     samples.c   samples under a selection, batch by batch: (row, stack, amount)
 *     top_from_sums.c      the file's sums of functions, where they answer all that is asked
 *     weights.c   a weight for each row of `stacks`, from the file's sums or from samples
 *     frames.c    what the rows of an answer are: a small key for each row of `locations`
 *     frame_filter.c    focus, ignore, hide, show, drop_frames: on the weights, before any answer
 *     labels.c, label_members.c   labels of samples: tests, and values as text
 *     pattern.c, bytes.c, automaton.c   which names a pattern means
 *     walk.h      all stacks in one pass, each frame entered and left once
 *     top.c, calltree.c, peek.c; by what samples carry: top_by_sample.c, top_by_label.c
 *                 the answers; sort.c puts the rows of a top in order
 *
 * The call tree of the file is an array in pre-order in which parents come first, so totals are one
 * pass from the back, and a walk with a stack of rows enters each frame once. Nothing recurses.
 */
#ifndef PCI_QUERY_H
#define PCI_QUERY_H

#include "builder/string_pool.h"
#include "model/frame_names.h"
#include "model/memory.h"
#include "model/types.h"
#include "query/amount.h"

/* ---- sample_type.c */

/* The sample type of a query: the columns that hold it. */
struct pci_query_type {
    pcol_str type, unit;
    int is_double;
    uint32_t *columns; /* rows of sample_types whose values are added up */
    uint32_t column_count;
    uint8_t *alike; /* by row of sample_types: it is the type, with values or without; or NULL */
    int is_memory;  /* derived: from the levels that follow */
    uint32_t levels[PCI_MEMORY_LEVELS]; /* rows of sample_types */
    double seconds_per_value;           /* 0: not known */
    int64_t duration_ns;                /* 0: not known */
};

/* `selected`: a byte for each source. name: NULL for the default. */
pcol_status pci_query_type_open(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, const char *name,
                                struct pci_query_type *measure, pcol_error *err);
void pci_query_type_close(struct pci_query_type *measure);

/* ---- samples.c */

/* Which samples: all members NULL or 0 select all. */
struct pci_label_test;
struct pci_sample_filter {
    uint64_t source_count, thread_count;
    uint8_t *sources; /* a byte for each; NULL: all */
    uint8_t *threads;
    struct pci_label_test *labels;
    size_t label_count;
    int has_time;
    int64_t from, to; /* ns, half open */
    pcol_time_share share;
};

pcol_status pci_sample_filter_open(const pcol_file *file, const pcol_selection *selection,
                                   struct pci_sample_filter *picks, pcol_error *err);
void pci_sample_filter_close(struct pci_sample_filter *picks);
/* labels.c: tests KEY=VALUE and KEY~PATTERN; *made of them are there, also after a failure. */
pcol_status pci_label_tests_open(const pcol_file *file, const char *const *texts, size_t count,
                                 struct pci_label_test **tests, size_t *made, pcol_error *err);
/* Whether samples have labels of this key. */
pcol_status pci_label_exists(const pcol_file *file, const char *key, int *exists, pcol_error *err);
void pci_label_tests_close(struct pci_label_test *tests, size_t count);
/* Checksums of the columns that label tests read. */
pcol_status pci_sample_filter_verify(const struct pci_sample_filter *picks, const pcol_file *file,
                                     pcol_error *err);
/* Samples [row, row + n) that fail a label test die. */
pcol_status pci_sample_filter_labels(const struct pci_sample_filter *picks, const pcol_file *file,
                                     uint64_t row, size_t n, uint8_t *alive, pcol_error *err);
/* Whether samples must be looked at one by one. */
int pci_sample_filter_any(const struct pci_sample_filter *picks);

/* Those that are selected, have a stack and a value, in order of rows. */
struct pci_samples;
struct pci_sample_batch {
    size_t count; /* 0: the end */
    uint64_t row[PCI_BATCH];
    uint32_t stack[PCI_BATCH];
    pcol_amount amount[PCI_BATCH];
};
/* stack_count: rows of `stacks`, which is what a stack is checked against. */
pcol_status pci_samples_open(const pcol_file *file, const struct pci_types *types,
                             const struct pci_query_type *measure,
                             const struct pci_sample_filter *picks, uint32_t stack_count,
                             struct pci_samples **samples, pcol_error *err);
pcol_status pci_samples_next(struct pci_samples *samples, struct pci_sample_batch *batch,
                             pcol_error *err);
/* Which of the rows [row, row + n), n <= PCI_BATCH, the selection takes by what they carry, values
 * and stacks aside. Not to be mixed with pci_samples_next(). */
pcol_status pci_samples_pick(struct pci_samples *samples, uint64_t row, size_t n, int with_time,
                             uint8_t *alive, pcol_error *err);
/* Of these, those whose stack passes; NULL: all do, even those without a stack. */
pcol_status pci_samples_pass(struct pci_samples *samples, uint64_t row, size_t n,
                             const uint8_t *passes, uint8_t *alive, pcol_error *err);
void pci_samples_close(struct pci_samples *samples);

/* Those of a query. */
pcol_status pci_query_samples(const pcol_query *query, struct pci_samples **samples,
                              pcol_error *err);

/* ---- the query */

/* The call tree. */
struct pci_stack_table {
    const pcol_file *file;
    uint32_t count, group_count, location_count; /* rows of stacks, location_groups, locations */
    const struct pci_column *parents, *groups;   /* verified; NULL where count is 0 */
    uint32_t *first;                             /* group_count + 1 rows of `locations`, rising */
    /* By row of `stacks` after pci_stack_table_load(), checked: parents before children, groups in
     * range. */
    uint32_t *parent, *group;
};

struct pcol_query {
    const pcol_file *file;
    struct pci_types types;
    struct pci_sample_filter picks;
    struct pci_query_type measure;
    struct pci_stack_table calls;
    int from_sums, unweighed;    /* unweighed: all weights are 0, for those who only pick */
    int function_sums;           /* the file's sums of functions are about what is asked */
    struct pcol_query *unloaded; /* itself: `calls`, `weight` and what follows are not there yet */
    int keep_dropped;            /* for loading */
    pcol_amount *weight;         /* by stack, with all filters applied */
    uint8_t *kept;               /* by location: 0 = hidden; NULL: all are kept */
    uint8_t *cut;                /* by stack: 1 = drop_frames join it with its caller; NULL: none */
    uint8_t *passes;             /* by stack: 0 = not in focus; NULL: all pass */
    pcol_amount total, selected;
    int none_passes; /* no sample with a value other than 0 passes focus to show */
    const char *note;
    char note_text[96];          /* for notes with numbers */
    struct pci_samples *picking; /* of pcol_query_samples(); NULL: not made yet */
};

/* pcol_query_new() without weights: for pcol_query_samples() and what is hidden. */
pcol_status pci_query_pick(const pcol_file *file, const pcol_selection *selection,
                           pcol_query **query, pcol_error *err);

/* What needs the call tree or weights begins with this: they may not have been read yet. */
pcol_status pci_query_load(const pcol_query *query, pcol_error *err);

/* top_from_sums.c: whether the file's sums of functions cover the sample type; if so, the query's
 * totals. */
pcol_status pci_function_sums_open(pcol_query *query, int *found, pcol_error *err);

/* stack_table.c */
pcol_status pci_stack_table_open(const pcol_file *file, struct pci_stack_table *calls,
                                 pcol_error *err);
pcol_status pci_stack_table_load(struct pci_stack_table *calls, pcol_error *err);
void pci_stack_table_close(struct pci_stack_table *calls);

/* weights.c */
pcol_status pci_stack_weights(pcol_query *query, const pcol_selection *selection, pcol_error *err);
/* The sum of all weights, and `none_passes`, once the filters have changed the weights. */
pcol_status pci_add_filtered(pcol_query *query, pcol_error *err);

/* frame_filter.c: frames out, weights of samples without focus out, dropped frames joined with
 * callers */
pcol_status pci_frame_filter(pcol_query *query, const pcol_selection *selection, pcol_error *err);
/* Whether there is anything to filter by. */
pcol_status pci_frame_filter_any(pcol_query *query, const pcol_selection *selection, int *any,
                                 pcol_error *err);

/* ---- frames.c */

#define PCI_SEVERAL (PCOL_NONE - 1)

/* The distinct frames at one granularity. Texts of the file are borrowed, made ones are in
 * `made`. */
struct pci_frames {
    uint32_t count;
    pcol_frame *frames;
    size_t capacity;
    uint32_t *of_location; /* frame of each row of locations; PCOL_NONE: none, or hidden */
    uint32_t *of_group;    /* of each group of one line; PCI_SEVERAL: look at its locations */
    uint32_t stackless;    /* frame of samples that have frames, but none of this kind */
    uint32_t empty;        /* "<no stack>": frame of the empty stack */
    struct pci_hash hash;
    struct pci_made *made; /* blocks of text, linked */
    struct pci_names names;
};
int pci_str_compare(pcol_str a, pcol_str b);
/* By name, file, line, id, address; 0: both show the same. */
int pci_frame_compare(const pcol_frame *a, const pcol_frame *b);
/* places: with lines outside functions, which are not functions, for PCOL_BY_FUNCTION. */
pcol_status pci_frames_open(const pcol_query *query, pcol_by by, int places,
                            struct pci_frames *frames, pcol_error *err);
void pci_frames_close(struct pci_frames *frames);

#endif
