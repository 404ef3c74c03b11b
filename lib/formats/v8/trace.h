/*
 * trace.h - events of Chrome's trace format
 */
#ifndef PCI_V8_TRACE_H
#define PCI_V8_TRACE_H

#include "formats/v8/v8.h"
#include "util/pair_set.h"

/* A span of an X event, or of a B and an E event. */
struct pci_span {
    int64_t start, duration; /* ns; the duration is -1 while the span is open */
    uint32_t thread, name;
    uint32_t outer; /* the span of a B event that is open below; PCOL_NONE: none */
};

struct pci_trace_thread {
    uint32_t pid, tid, name; /* strings */
    uint32_t open;           /* innermost span of a B event; PCOL_NONE: none */
    int64_t last;            /* latest time */
};

struct pci_trace_profile {
    uint32_t pid, thread; /* string; thread of the trace */
    struct pci_v8_clock clock;
    int64_t start_ns;
    int64_t last_ts; /* of the last event in the file, for events without ts */
};

/* An event Profile or ProfileChunk; events are in any order in a file. */
struct pci_trace_chunk {
    int64_t ts; /* ns */
    uint32_t profile;
    uint64_t first, count; /* elements of `samples` */
    uint64_t first_delta;
    uint64_t line, column;
};

/* Members of the event that is being read. */
struct pci_trace_event {
    char phase;                             /* 0: none */
    uint32_t name, pid, tid, id, args_name; /* strings or PCOL_NONE */
    int is_profile, is_chunk, is_thread_name, is_process_name;
    int64_t ts, duration, start; /* ts and duration: ns */
    int has_ts, has_duration, has_start;
    uint64_t line, column;
};

struct pci_trace {
    struct pci_v8 v8;
    int only_spans;
    struct pci_number_array samples, deltas; /* of all events */
    struct pci_trace_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct pci_pair_set thread_ids; /* pid, tid */
    struct pci_trace_thread *threads;
    size_t thread_capacity;
    struct pci_pair_set process_ids; /* pid, 0 */
    uint32_t *processes;             /* names */
    size_t process_capacity;
    struct pci_pair_set profile_ids; /* pid, id */
    struct pci_trace_profile *profiles;
    size_t profile_capacity;
    struct pci_span *spans;
    size_t span_count, span_capacity;
    uint64_t without_begin, without_end, overlapping;
};

/* spans.c: */
pcol_status pci_trace_add_span(struct pci_trace *trace, const struct pci_trace_event *event,
                               pcol_error *err);
/* Add a row for each interval of a span without an inner one. */
pcol_status pci_trace_put_spans(struct pci_trace *trace, pcol_error *err);
/* The thread of an event, which is added; the row of threads of one. */
pcol_status pci_trace_thread(struct pci_trace *trace, uint32_t pid, uint32_t tid, uint32_t *thread,
                             pcol_error *err);
pcol_status pci_trace_thread_row(struct pci_trace *trace, uint32_t thread, uint32_t *row,
                                 pcol_error *err);

#endif
