/*
 * callgrind.h - functions, calls and events of a Callgrind profile that is written
 */
#ifndef PCI_CALLGRAPH_CALLGRIND_H
#define PCI_CALLGRAPH_CALLGRIND_H

#include "builder/string_pool.h"
#include "formats/callgraph/callgraph.h"
#include "model/frame_names.h"
#include "util/pair_set.h"

#define PCI_CALLGRIND_LOSS_NAME 1u /* of `lost`; further ones are in callgrind.c */

#define PCI_CALLGRIND_EVENTS 64u
#define PCI_CALLGRIND_UNKNOWN "???"

/* Pools of names; each numbers its names from 1. */
enum { PCI_CG_OBJECTS, PCI_CG_FILES, PCI_CG_FUNCTIONS, PCI_CG_POOLS };

struct pci_callgrind_function {
    uint32_t name, file, object; /* strings of the pools */
    int64_t start_line;
};

struct pci_callgrind_event {
    uint32_t type;  /* row of sample_types */
    pcol_str unit;  /* as shown */
    double scale;   /* of doubles: times become nanoseconds, bytes stay */
    int64_t *selfs; /* by frame */
    int64_t *costs; /* by call */
    int64_t total;  /* of all self values */
    char name[24];
};

struct pci_callgrind {
    struct pci_callgraph graph;
    struct pci_frame_namer names;
    struct pci_stacks stacks;
    struct pci_string_pool pools[PCI_CG_POOLS];
    struct pci_text_memo long_names[PCI_CG_POOLS];
    uint32_t *defined[PCI_CG_POOLS]; /* by string: number in the output; 0: not yet */
    uint32_t numbers[PCI_CG_POOLS];
    struct pci_callgrind_function *functions;
    uint32_t function_count;
    size_t function_capacity;
    struct pci_hash function_hash;
    uint32_t *function_of; /* by frame */
    uint32_t *order;       /* frames by function, then by address and line */
    /* Caller (a frame, or the number of frames for (root)) and callee (a function). */
    struct pci_pair_set calls;
    uint32_t *call_of; /* by node of the view: its call; PCOL_NONE: none */
    uint8_t *weighed;  /* by node: stacks end in it that have a value of any event */
    uint32_t *sorted;  /* calls by caller */
    uint32_t *first;   /* by frame and for (root): its first entry of `sorted` */
    struct pci_callgrind_event events[PCI_CALLGRIND_EVENTS];
    uint32_t event_count;
    int has_addresses, has_objects;
    char *clean;
    size_t clean_capacity;
    unsigned lost;
};

/* callgrind_calls.c: finds the functions and the calls of the view, and their order. */
pcol_status pci_callgrind_build(struct pci_callgrind *writer, pcol_error *err);
/* Interns a name as a line can contain it; `otherwise` if that is empty. */
pcol_status pci_callgrind_intern(struct pci_callgrind *writer, int pool, pcol_str name,
                                 const char *otherwise, uint32_t *string, pcol_error *err);

#endif
