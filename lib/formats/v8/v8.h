/*
 * v8.h - profiles of V8: CPU profiles, sampling heap profiles and those in Chrome traces
 *
 * A profile is a tree of nodes with ids, each with a call frame, and samples that name nodes. Nodes
 * come nested or as a list; parents are resolved when all are known.
 */
#ifndef PCI_V8_V8_H
#define PCI_V8_V8_H

#include "builder/builder.h"
#include "formats/records.h"

/* A call frame; line and column from 1. */
struct pci_v8_frame {
    uint32_t name, url; /* strings; PCOL_NONE: unknown */
    int64_t line, column;
    unsigned has_line : 1, has_column : 1, is_root : 1;
};

struct pci_v8_node {
    int64_t id, parent_id;
    uint64_t line, column; /* of its text */
    int64_t hits, size;
    uint32_t profile;
    uint32_t parent; /* node, or PCOL_NONE */
    uint32_t group;
    uint32_t stack;
    unsigned has_id : 1, has_parent_id : 1, is_root : 1;
    unsigned is_sampled : 1; /* it has rows: set by pci_v8_store_samples() */
};

struct pci_v8_child {
    uint32_t parent; /* node */
    int64_t id;
    uint64_t line, column;
};

/* An object that is being read: a node whose members continue after its children. */
struct pci_v8_level {
    uint32_t node;
    int in_children;
    struct pci_v8_frame frame;
};

struct pci_v8_sample {
    int64_t time_ns;
    uint32_t node;
    uint32_t profile; /* set to sort the samples of several profiles */
};

/* A sample that sorting by time moved: from `at`, its number in the file, `by` rows forward. */
struct pci_v8_move {
    uint32_t at, by;
};
/* The most rows that all moves of `count` samples go. */
#define PCI_V8_STEPS(count) (4 * (count) + 16)

struct pci_v8 {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_document document;
    int has_document;           /* members of nodes are kept, in `records` */
    struct pci_records records; /* of the value that is being read */
    struct pci_v8_node *nodes;
    size_t node_count, node_capacity;
    struct pci_hash by_id;
    struct pci_v8_child *children;
    size_t child_count, child_capacity;
    struct pci_v8_level *levels;
    size_t depth, level_capacity;
    uint32_t column; /* functions.column */
    uint32_t anonymous;
    int has_hits;
    struct pci_v8_sample *samples;
    size_t sample_count, sample_capacity;
    int64_t end_ns; /* endTime of a CPU profile */
    int has_end;
    struct pci_v8_move *moves; /* of the samples sorted last */
    size_t move_count, move_capacity;
    int has_moves; /* 0: many samples were out of order, `moves` lacks some */
};

/* Initializer of a reader of a profile that is one JSON object. */
#define PCI_V8_DOCUMENT(given)                                                                  \
    {                                                                                           \
        .import = (given), .builder = (given)->builder, .has_document = 1, .column = PCOL_NONE, \
        .anonymous = PCOL_NONE                                                                  \
    }
/* Reads up to the first member. name: of the kind of profile, for errors. */
pcol_status pci_v8_begin_document(struct pci_v8 *v8, const char *name, pcol_error *err);
/* Read the members of the document `key` and "head": an array, whose elements `read` reads from
 * their first token with its context, and a node. */
typedef pcol_status pci_v8_element_function(void *context, pcol_error *err);
pcol_status pci_v8_read_array(struct pci_v8 *v8, const char *key, pci_v8_element_function *read,
                              void *context, pcol_error *err);
pcol_status pci_v8_read_head(struct pci_v8 *v8, pcol_error *err);
void pci_v8_close(struct pci_v8 *v8);

/* ---- nodes.c */

/* From the first token of an object: read a node and its nested descendants. */
pcol_status pci_v8_read_node(struct pci_v8 *v8, pcol_error *err);
/* From a key: keep the member in the open object of `records`, or skip it; scalars stay current. */
pcol_status pci_v8_member(struct pci_v8 *v8, pcol_error *err);
/* The object or array that begins, and ends: keep it if there is a document. */
pcol_status pci_v8_enter(struct pci_v8 *v8, pcol_error *err);
pcol_status pci_v8_leave(struct pci_v8 *v8, pcol_error *err);
/* The node with an id in a profile, if its number is not the id less 1; PCOL_NONE: none. */
uint32_t pci_v8_find_other(const struct pci_v8 *v8, uint32_t profile, int64_t id);
/* The node with an id in a profile; PCOL_NONE: none. Ids are mostly the numbers of the nodes, from
 * 1 on; `by_id` has the others. */
static inline uint32_t pci_v8_find(const struct pci_v8 *v8, uint32_t profile, int64_t id)
{
    uint64_t number = (uint64_t)id - 1;
    if (number < v8->node_count && v8->nodes[number].has_id && v8->nodes[number].id == id &&
        v8->nodes[number].profile == profile)
        return (uint32_t)number;
    return pci_v8_find_other(v8, profile, id);
}
/* Add nodes [first, node_count) to a profile: they are found by their ids. */
pcol_status pci_v8_add_nodes(struct pci_v8 *v8, size_t first, uint32_t profile, pcol_error *err);
/* Set the parents and stacks of all nodes, once all are read. */
pcol_status pci_v8_resolve(struct pci_v8 *v8, pcol_error *err);
/* Remove nodes and children from these on, which no profile has. */
void pci_v8_forget(struct pci_v8 *v8, size_t first_node, size_t first_child);

/* ---- samples.c */

/* Sum of microseconds, exact as long as all are integers. */
struct pci_v8_clock {
    int64_t integer;
    double number;
    int is_double;
};

static inline void pci_v8_clock_add(struct pci_v8_clock *clock, int64_t bits, int is_double)
{
    clock->number += pci_number_value(bits, is_double);
    clock->is_double |= is_double || __builtin_add_overflow(clock->integer, bits, &clock->integer);
}
/* 0: beyond 64 bits of nanoseconds. */
int pci_v8_clock_double_ns(const struct pci_v8_clock *clock, int64_t *ns);
static inline int pci_v8_clock_ns(const struct pci_v8_clock *clock, int64_t *ns)
{
    return clock->is_double ? pci_v8_clock_double_ns(clock, ns)
                            : !__builtin_mul_overflow(clock->integer, 1000, ns);
}

pcol_status pci_v8_add_sample(struct pci_v8 *v8, int64_t time_ns, uint32_t node, pcol_error *err);

struct pci_v8_types {
    uint32_t samples, time, hits; /* PCOL_NONE: none */
};
/* Sort samples [first, end) by time. */
pcol_status pci_v8_sort_samples(struct pci_v8 *v8, size_t first, size_t end, pcol_error *err);
/* Add rows of samples [first, end), sorted; the value of a sample is the time until the next one.
 * The last sample has the average. */
pcol_status pci_v8_put_samples(struct pci_v8 *v8, const struct pci_v8_types *types, size_t first,
                               size_t end, uint32_t thread, pcol_error *err);
/* Add rows for hits that no sample has. */
pcol_status pci_v8_put_hits(struct pci_v8 *v8, const struct pci_v8_types *types, pcol_error *err);

/* ---- arrays.c: `samples` and `timeDeltas` of CPU profiles as what rows of samples lack */

/* Store `samples` of the document, which are all samples of the reader, sorted. *stored: 0 if rows
 * cannot tell them: nodes with one stack, or many samples out of order. */
pcol_status pci_v8_store_samples(struct pci_v8 *v8, int *stored, pcol_error *err);
/* Store `timeDeltas`, all integers, after `samples` were stored; start: the time before them. */
pcol_status pci_v8_store_deltas(struct pci_v8 *v8, int64_t start, pcol_error *err);
/* Write a source that has a document. */
pcol_status pci_v8_write_document(const struct pci_export *export, pcol_error *err);

/* ---- formats */

int pci_cpuprofile_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_cpuprofile_read(struct pci_import *import, pcol_error *err);
int pci_heapprofile_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_heapprofile_read(struct pci_import *import, pcol_error *err);
int pci_chrome_trace_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_chrome_trace_read(struct pci_import *import, pcol_error *err);
pcol_status pci_trace_event_read(struct pci_import *import, pcol_error *err);

#endif
