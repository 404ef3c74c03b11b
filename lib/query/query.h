/*
 * query.h - declarations that the files of lib/query share
 *
 * A query is made in this order (query.c): sample type (sample_type.c), filter of samples
 * (sample_filter.c, labels.c), weight of each stack (weights.c), filter of frames (frame_filter.c).
 * Answers read the weights (top.c, calltree.c, peek.c) or the samples (samples.c, top_by_sample.c,
 * top_by_label.c, cpu.c); top_from_sums.c reads the file's own sums of functions.
 *
 * The rows of `stacks` are the nodes of a call tree in pre-order: parents precede children. Totals
 * are therefore one backward pass, and a walk with an explicit stack (walk.h) enters each frame
 * once. No function recurses. Tests: tests/unit/test_query.c, suite answers.
 */
#ifndef PCI_QUERY_H
#define PCI_QUERY_H

#include "builder/string_pool.h"
#include "model/frame_names.h"
#include "model/memory.h"
#include "model/types.h"
#include "query/answers.h"
#include "util/amount.h"
#include "util/control.h"

/* ---- sample_type.c */

/* The sample type of a query and the rows of `sample_types` that contain it. */
struct pci_query_type {
    pcol_str type, unit;
    uint32_t ordinal;
    int is_double;
    uint32_t *columns; /* rows of sample_types; their values are added up */
    uint32_t column_count;
    uint8_t *alike; /* by row of sample_types: same type, with or without values; or NULL */
    int is_memory;  /* values derived from `gauges` are added, for samples that have these */
    uint32_t gauges[PCI_MEMORY_GAUGES]; /* rows of sample_types */
    double seconds_per_value;           /* 0: unknown */
    int64_t duration_ns;                /* 0: unknown */
};

/* selected: one byte for each source. */
pcol_status pci_query_type_open(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, const struct pci_requested_type *requested,
                                struct pci_query_type *measure, pcol_error *err);
void pci_query_type_close(struct pci_query_type *measure);
/* *has_type: 1 if the source has values of the type. list, *count: all types of the source. */
pcol_status pci_query_type_in(const struct pci_query_type *measure, const struct pci_types *types,
                              uint64_t source, uint32_t *list, uint32_t *count, int *has_type,
                              pcol_error *err);

/* ---- samples.c */

/* Filter of samples. Members that are NULL or 0 do not filter. */
struct pci_label_test;
struct pci_sample_filter {
    uint64_t source_count, thread_count;
    uint8_t *sources; /* one byte for each source; NULL: all */
    uint8_t *threads;
    struct pci_label_test *labels;
    size_t label_count;
    int has_time;
    int64_t from, to; /* ns, half-open range */
    pcol_time_share share;
    int has_order;
    uint64_t first_row, end_row; /* half-open range of rows */
    uint8_t *counted; /* one byte per source: a value other than 0 counts 1; NULL: none does */
};

pcol_status pci_sample_filter_open(const pcol_file *file, const pcol_selection *selection,
                                   struct pci_sample_filter *sample_filter, pcol_error *err);
/* Remove the sources with sources[row] == 0 from the selected ones; sources: 0 or 1 by row. */
pcol_status pci_sample_filter_restrict(const pcol_file *file, const uint8_t *sources,
                                       struct pci_sample_filter *sample_filter, pcol_error *err);
/* PCOL_SELECTION_COUNT: sets `counted`. */
pcol_status pci_sample_filter_count(struct pci_sample_filter *sample_filter, const pcol_file *file,
                                    const struct pci_query_type *measure, pcol_error *err);
void pci_sample_filter_close(struct pci_sample_filter *sample_filter);
/* labels.c: makes the tests of labels and exact_labels. *made counts the tests that the caller
 * closes, also after a failure. */
pcol_status pci_label_tests_open(const pcol_file *file, const pcol_selection *selection,
                                 struct pci_label_test **tests, size_t *made, pcol_error *err);
/* *exists: 1 if the table of samples can contain labels of this key. */
pcol_status pci_label_exists(const pcol_file *file, const char *key, int *exists, pcol_error *err);
void pci_label_tests_close(struct pci_label_test *tests, size_t count);
/* Verifies the checksums of the columns that label tests read. */
pcol_status pci_sample_filter_verify(const struct pci_sample_filter *sample_filter,
                                     const pcol_file *file, pcol_error *err);
/* Clears alive[i] of each sample [row, row + n) that fails a label test. */
pcol_status pci_sample_filter_labels(const struct pci_sample_filter *sample_filter,
                                     const pcol_file *file, uint64_t row, size_t n, uint8_t *alive,
                                     pcol_error *err);
/* 1 if the filter has to be applied to single samples. */
int pci_sample_filter_any(const struct pci_sample_filter *sample_filter);

/* pattern.c: the pattern that a member of a selection gives, which errors name. */
pcol_status pci_pattern_new(const char *text, const char *option, pcol_pattern **pattern,
                            pcol_error *err);
/* A text, and the code of the string of the file that it depends on. */
#define PCI_NO_CODE (-1)
struct pci_coded_text {
    pcol_str text;
    int64_t code; /* PCI_NO_CODE: it depends on none */
};
/* The cell of a STRING or BYTES column; "" for a null, or if column is NULL. */
pcol_status pci_get_coded(const pcol_file *file, const struct pci_column *column, uint64_t row,
                          struct pci_coded_text *text, pcol_error *err);
/* Tests a text with a code once, however many rows share it. All codes are of one file. */
pcol_status pci_pattern_test_coded(pcol_pattern *pattern, const pcol_file *file,
                                   const struct pci_coded_text *text, int *matches,
                                   pcol_error *err);
/* 1 if the text of this code was tested. */
int pci_pattern_knows(const pcol_pattern *pattern, int64_t code);

/* Iterator over the selected samples with a stack and a value, in row order. */
struct pci_samples;
struct pci_sample_batch {
    size_t count; /* 0: end of the table */
    uint64_t row[PCI_BATCH];
    uint32_t stack[PCI_BATCH];
    pcol_amount amount[PCI_BATCH];
};
/* stack_count: rows of `stacks`; a larger stack number is E_CORRUPT. */
pcol_status pci_samples_open(const pcol_file *file, const struct pci_types *types,
                             const struct pci_query_type *measure,
                             const struct pci_sample_filter *sample_filter, uint32_t stack_count,
                             struct pci_samples **samples, pcol_error *err);
/* alive[i] = 1 if the filter selects sample row + i (n <= PCI_BATCH); values and stacks are not
 * tested. */
pcol_status pci_samples_pick(struct pci_samples *samples, uint64_t row, size_t n, int with_time,
                             uint8_t *alive, pcol_error *err);
/* Clears alive[i] of samples whose stack does not pass. passes: by stack; NULL: every sample
 * passes, also one without a stack. */
pcol_status pci_samples_pass(struct pci_samples *samples, uint64_t row, size_t n,
                             const uint8_t *passes, uint8_t *alive, pcol_error *err);
void pci_samples_close(struct pci_samples *samples);

typedef pcol_status pci_batch_function(void *context, const struct pci_sample_batch *batch,
                                       pcol_error *err);
/* Calls the function for each batch of the samples of a loaded query that the filter takes. */
pcol_status pci_samples_each(const pcol_query *query, const struct pci_sample_filter *sample_filter,
                             pci_batch_function *function, void *context, pcol_error *err);

/* Iterator over the samples of a query. */
pcol_status pci_query_samples(pcol_query *query, struct pci_samples **samples, pcol_error *err);

/* ---- the query */

/* The call tree of the file. */
struct pci_stack_table {
    const pcol_file *file;
    uint32_t count, group_count, location_count; /* rows of stacks, location_groups, locations */
    const struct pci_column *parents, *groups;   /* verified; NULL if count is 0 */
    uint32_t *first;                             /* group_count + 1 locations, ascending */
    /* By row of `stacks`, set and checked by pci_stack_table_load(): parents precede children,
     * groups are in range. */
    uint32_t *parent, *group;
};

struct pcol_query {
    struct pci_control control; /* of all calls for the query */
    const pcol_file *file;
    struct pci_types types;
    struct pci_sample_filter sample_filter;
    struct pci_query_type measure;
    struct pci_stack_table calls;
    int from_sums, without_weights; /* without_weights: all weights are 0; the query only
                                          selects */
    int function_sums;              /* the file's sums of functions cover the query */
    struct pcol_query *unloaded;    /* itself until `calls`, `weight` etc. are read */
    int keep_dropped;               /* argument of the deferred pci_query_load() */
    pcol_amount *weight;            /* by stack, after all filters */
    uint8_t *shown_locations;       /* by location: 0 = hidden; NULL: all are shown */
    uint8_t *joined_stacks;         /* by stack: 1 = joined with its caller; NULL: none */
    uint8_t *passes;                /* by stack: 0 = not in focus; NULL: all pass */
    pcol_amount total, selected;
    int nothing_in_focus; /* no sample with a value other than 0 passes focus, ignore, hide and
                             show */
    char note[200];       /* pcol_query_info; "": none */
    const char *note_option;
    int none_passes;                      /* the note is about this */
    struct pci_samples *selected_samples; /* iterator of pcol_query_samples(); NULL before its
                                             first call */
};

/* *sum += amount; E_LIMIT if an integer overflows. */
static inline pcol_status pci_query_add(pcol_query *query, pcol_amount *sum, pcol_amount amount,
                                        pcol_error *err)
{
    return pci_amount_add(query->measure.is_double, sum, amount)
               ? pci_amount_overflow(query->measure.type, err)
               : PCOL_OK;
}

/* Frees what a query without weights needs for nothing but its creation: pcol_query_samples() and
 * pcol_query_shows_location() still answer. */
void pci_query_release_stacks(pcol_query *query);

/* Sets the note of a query; option: member of the selection that it is about, or NULL. */
void pci_query_set_note(pcol_query *query, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the note as a notice, for calls that have no query to describe. These apply each source's
 * own drop_frames: a note that those of the first one are applied is omitted. */
void pci_query_give_note(const pcol_query *query);

/* As pcol_query_describe(), of a query that is not NULL. */
void pci_query_describe(const pcol_query *query, pcol_query_info *info);

static inline int pci_info_is_double(const pcol_query_info *info)
{
    return (info->flags & PCOL_QUERY_IS_DOUBLE) != 0;
}

/* pcol_query_new() without weights: for pcol_query_samples() and hidden locations.
 * sources: by row of `sources`, 0 excludes the source; NULL: only the selection excludes. */
pcol_status pci_query_new_unweighted(const pcol_file *file, const pcol_selection *selection,
                                     const uint8_t *sources, pcol_query **query, pcol_error *err);

/* Reads the call tree and the weights if they are not read yet. Every function that needs them
 * calls it first. */
pcol_status pci_query_load(pcol_query *query, pcol_error *err);

/* top_from_sums.c: *found: 1 if the file's sums of functions cover the sample type; the totals of
 * the query are then set. */
pcol_status pci_function_sums_open(pcol_query *query, int *found, pcol_error *err);

/* stack_table.c */
pcol_status pci_stack_table_open(const pcol_file *file, struct pci_stack_table *calls,
                                 pcol_error *err);
pcol_status pci_stack_table_load(struct pci_stack_table *calls, pcol_error *err);
void pci_stack_table_close(struct pci_stack_table *calls);

/* weights.c */
pcol_status pci_stack_weights(pcol_query *query, const pcol_selection *selection, pcol_error *err);
/* Sets the total of all weights and `nothing_in_focus` after the filters have changed the weights.
 * */
pcol_status pci_add_filtered(pcol_query *query, pcol_error *err);

/* frame_filter.c: hides frames, clears the weights of stacks out of focus, joins dropped frames
 * with their callers. */
pcol_status pci_frame_filter(pcol_query *query, const pcol_selection *selection, pcol_error *err);
/* Groups of the selected sources by equal drop_frames and keep_frames: groups[source] is the number
 * of its group, counted from 0 in order of the sources, or PCOL_NONE if the source is not selected.
 * E_ARGUMENT for more than 16 groups. */
pcol_status pci_drop_frames_groups(const pcol_query *query, uint32_t *groups, uint32_t *count,
                                   pcol_error *err);
/* 1 if a selection depends on frames: focus, ignore, hide or show. */
int pci_selects_frames(const pcol_selection *selection);
/* *any: 1 if the selection or the file has a frame filter. */
pcol_status pci_frame_filter_any(pcol_query *query, const pcol_selection *selection, int *any,
                                 pcol_error *err);

/* ---- frames.c */

#define PCI_SEVERAL_FRAMES (PCOL_NONE - 1)

/* The distinct frames at one granularity. Their texts belong to the file or to `made`. */
struct pci_frames {
    uint32_t count;
    struct pci_frame *frames;
    size_t capacity;
    uint32_t *of_location;    /* by row of locations; PCOL_NONE: no frame of this kind, or hidden */
    uint32_t *frame_of_group; /* by group; PCI_SEVERAL_FRAMES: several lines, see their
                                    locations */
    uint32_t stackless;       /* frame of samples that have frames, but none of this kind */
    uint32_t empty;           /* "<no stack>", the frame of the empty stack */
    struct pci_hash hash;
    struct pci_text_block *made; /* linked blocks of generated text */
    struct pci_frame_namer names;
};
/* Compares name, file, line, id and address; 0: both are displayed the same. */
int pci_frame_compare(const struct pci_frame *a, const struct pci_frame *b);
/* A hash of all that pci_frame_compare() compares but presence. */
uint64_t pci_frame_hash(const struct pci_frame *frame);
/* places: PCOL_BY_FUNCTION includes lines outside functions. */
pcol_status pci_frames_open(pcol_query *query, pcol_by by, int places, struct pci_frames *frames,
                            pcol_error *err);
/* Copies a temporary text; the frames own it. */
pcol_status pci_frames_copy_text(struct pci_frames *frames, pcol_str text, pcol_str *copy,
                                 pcol_error *err);
void pci_frames_close(struct pci_frames *frames);

#endif
