/*
 * perun.h - what reading and writing Perun profiles share
 *
 * A profile is read in two steps, because its keys come in any order and what a resource means (its
 * unit, its direction of traces, the other half of a type) may stand behind it:
 *
 *     read.c     goes over the text once; every resource, type, model and snapshot becomes a record
 *     records.c  keeps records: keys with their kinds (a shape, stored once) and 8 bytes a value
 *     frames.c   makes frames and traces out of objects, each distinct one once
 *     build.c     hands everything to the builder in the order of the document
 *
 * Records lie in spools of the builder, so they leave memory when there are many.
 */
#ifndef PCI_PERUN_PERUN_H
#define PCI_PERUN_PERUN_H

#include "builder/builder.h"
#include "builder/rows.h"
#include "builder/string_pool.h"
#include "formats/format.h"
#include "formats/perun/type_naming.h"
#include "json/json.h"

/* ---- cells */

enum pci_perun_kind {
    PCI_PERUN_STRING,  /* string */
    PCI_PERUN_INTEGER, /* int64 */
    PCI_PERUN_DOUBLE,  /* bits */
    PCI_PERUN_BIG,     /* string: decimal digits */
    PCI_PERUN_BOOL,    /* 0 or 1 */
    PCI_PERUN_NULL,
    PCI_PERUN_VALUE,    /* the value of the sample */
    PCI_PERUN_OWNTRACE, /* the stack of the sample */
    PCI_PERUN_OWNFRAME, /* depth in the stack of the sample */
    PCI_PERUN_OWNNAME,  /* the same: the name of the function there */
    PCI_PERUN_FRAME,    /* number of a frame */
    PCI_PERUN_TRACE,    /* number of a trace */
    PCI_PERUN_TEXT,     /* place in the spool of texts: any other value, as JSON */
    PCI_PERUN_PLACE     /* string: the table where the value of the key lies */
};

struct pci_perun_cell {
    uint32_t key; /* string */
    uint8_t kind;
    int64_t value;
};

/* ---- records */

/* Keys that say something to everybody, by their place in a shape. */
enum pci_perun_role {
    PCI_PERUN_UID,
    PCI_PERUN_TRACE_ROLE,
    PCI_PERUN_TYPE,
    PCI_PERUN_SUBTYPE,
    PCI_PERUN_AMOUNT,
    PCI_PERUN_TIME,
    PCI_PERUN_ROLES
};

struct pci_perun_shape {
    uint64_t first; /* of its entries */
    uint32_t count;
    uint32_t roles[PCI_PERUN_ROLES]; /* place of the last such key; PCOL_NONE: none */
};

struct pci_perun_shapes {
    struct pci_perun_shape *shapes;
    size_t count, capacity;
    uint64_t *entries; /* key << 8 | kind */
    size_t entry_count, entry_capacity;
    struct pci_hash hash;
    uint32_t role_keys[PCI_PERUN_ROLES];
    uint32_t last; /* found last */
};

/* Rows of one kind, in order: u64 shape and owner, then a value for each entry. */
struct pci_perun_records {
    struct pci_spill spool;
    uint64_t count;
};

/* A record read back. */
struct pci_perun_record {
    uint32_t owner;
    const struct pci_perun_shape *shape;
    const uint64_t *entries;
    int64_t *values;
    size_t capacity;
    uint64_t next; /* offset of the record behind it */
};

/* ---- frames and traces */

struct pci_perun_frame {
    uint32_t first, count; /* its cells; of a trace: its frames */
    uint32_t group;        /* of a trace: its stack, PCOL_NONE until asked for */
    uint32_t name;         /* string, PCOL_NONE if it has none */
};

struct pci_perun_frames {
    struct pci_perun_cell *cells; /* of all frames */
    size_t cell_count, cell_capacity;
    struct pci_perun_frame *frames;
    size_t frame_count, frame_capacity;
    struct pci_hash frame_hash;
    uint32_t *members; /* frames of all traces, as they come */
    size_t member_count, member_capacity;
    struct pci_perun_frame *traces;
    size_t trace_count, trace_capacity;
    struct pci_hash trace_hash;
    /* the value being read: cells of its frames, and where each begins */
    struct pci_perun_cell *fresh;
    size_t fresh_count, fresh_capacity;
    uint32_t *starts;
    size_t start_count, start_capacity;
    uint32_t function, func, source, file, line, column; /* keys */
};

/* ---- types of resources */

struct pci_perun_array {
    uint32_t key;
    uint64_t length, first; /* of its cells */
};

struct pci_perun_type {
    uint32_t name; /* in the reader's own names */
    uint32_t map_ordinal, resources_ordinal;
    uint64_t record; /* offset in the records of types */
    uint32_t first_array, array_count;
    uint32_t next; /* type of the same name; PCOL_NONE: none */
    uint32_t row;  /* of resource_types */
};

/* ---- the whole */

enum { PCI_PERUN_HEADER_TYPE, PCI_PERUN_COLLECTOR, PCI_PERUN_FACTS };

struct pci_perun_unit {
    uint32_t key, unit; /* strings */
};

struct pci_perun {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_perun_shapes shapes;
    struct pci_perun_frames frames;
    struct pci_perun_records resources, models, snapshots, type_records;
    struct pci_spill texts; /* u64 size, then JSON, for each text */
    struct pci_spill
        cell_values; /* of the arrays of types: 8 bytes each, and a byte for its kind */
    struct pci_spill cell_kinds;
    struct pci_string_pool names; /* of types: mostly made by a rule, so not in the file's strings
                                     */
    struct pci_perun_type *types;
    size_t type_count, type_capacity;
    struct pci_perun_name {
        uint32_t last;    /* type of this name; PCOL_NONE: none */
        uint32_t next[2]; /* that `resources` (the map) has not named yet; PCOL_NONE: none */
    } * by_name;
    size_t by_name_capacity;
    uint32_t *order; /* types in the order of `resources` */
    size_t order_count, order_capacity;
    uint32_t *map_order; /* types in the order of the map */
    size_t map_count, map_capacity;
    struct pci_perun_array *arrays;
    size_t array_count, array_capacity;
    struct pci_perun_unit *units;
    size_t unit_count, unit_capacity;
    uint32_t facts[PCI_PERUN_FACTS];             /* strings or PCOL_NONE */
    uint64_t before_types;                       /* resources that stand before those by type */
    uint64_t root;                               /* node: the document */
    int doubles;                                 /* some amount is a double */
    int outer_first;                             /* traces begin with the outermost frame */
    struct pci_perun_record record, type_record; /* read back */
    struct pci_label *labels;                    /* of the row being made */
    size_t label_capacity;
    struct pci_perun_type_rule rule; /* for names of types */
    struct pci_perun_cell *cells;    /* of the record being read */
    size_t cell_count, cell_capacity;
    struct pci_json_writer writer; /* of texts, into `text` */
    char *text;
    size_t text_size, text_capacity;
};

/* records.c */
pcol_status pci_perun_shapes_init(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_record(struct pci_perun *p, struct pci_perun_records *records, uint32_t owner,
                             const struct pci_perun_cell *cells, size_t count, pcol_error *err);
/* Read the record at an offset; the memory of `record` is used again and freed by the caller. */
pcol_status pci_perun_record_read(const struct pci_perun *p,
                                  const struct pci_perun_records *records, uint64_t offset,
                                  struct pci_perun_record *record, pcol_error *err);
/* The cell of a role; 0 if the record has none. */
int pci_perun_role(const struct pci_perun_record *record, enum pci_perun_role role,
                   struct pci_perun_cell *cell);

/* value.c: with the current token the first of a value, up to its last one */
pcol_status pci_perun_value(struct pci_perun *p, uint32_t key, struct pci_perun_cell *cell,
                            pcol_error *err);
/* A scalar; *is is 0 if the current token begins an array or object. */
pcol_status pci_perun_scalar(struct pci_perun *p, struct pci_perun_cell *cell, int *is,
                             pcol_error *err);
/* Texts: begin, write tokens or values, keep. */
pcol_status pci_perun_text_begin(struct pci_perun *p, pcol_error *err);
/* A scalar cell's value, or any cell's. */
void pci_perun_text_cell(struct pci_perun *p, const struct pci_perun_cell *cell, pcol_error *err);
pcol_status pci_perun_text_any(struct pci_perun *p, const struct pci_perun_cell *cell,
                               pcol_error *err);
pcol_status pci_perun_text_value(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_text_end(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_text_keep(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err);
/* The text of a cell, valid until the next text. */
pcol_status pci_perun_text_get(struct pci_perun *p, int64_t place, pcol_str *text, pcol_error *err);

/* frames.c */
pcol_status pci_perun_frames_init(struct pci_perun *p, pcol_error *err);
void pci_perun_frames_clear(struct pci_perun_frames *frames);
/* A uid that is an object, or a trace that is an array: FRAME, TRACE, or TEXT if it is neither. */
pcol_status pci_perun_frames_value(struct pci_perun *p, struct pci_perun_cell *cell,
                                   pcol_error *err);
/* The frame whose function is a string. */
pcol_status pci_perun_named(struct pci_perun *p, uint32_t name, uint32_t *group, pcol_error *err);
/* The frame at the place that cells say; *placed is 0 if they name no function. */
pcol_status pci_perun_placed(struct pci_perun *p, const struct pci_perun_cell *cells,
                             uint32_t count, uint32_t *group, int *placed, pcol_error *err);
/* uid.c: the frame of a uid that is kept as text; PCOL_NONE if it has none. */
pcol_status pci_perun_uid(struct pci_perun *p, int64_t place, uint32_t *group, pcol_error *err);
/* type_name_elision.c: a scalar as Perun's text of it, appended. */
pcol_status pci_perun_flat_scalar(const struct pci_perun *p, const struct pci_perun_cell *cell,
                                  struct pci_strbuf *to, pcol_error *err);
/* The stack of a trace. outer_first: its first frame is the outermost. */
pcol_status pci_perun_stack(struct pci_perun *p, uint32_t trace, int outer_first, uint32_t *stack,
                            pcol_error *err);

/* Append a cell, or those of a record from its cell `first` on, to p->cells. */
pcol_status pci_perun_push_cell(struct pci_perun *p, const struct pci_perun_cell *cell,
                                pcol_error *err);
pcol_status pci_perun_push_record(struct pci_perun *p, const struct pci_perun_record *record,
                                  uint32_t first, pcol_error *err);

/* build.c */
pcol_status pci_perun_build(struct pci_perun *p, pcol_error *err);

/* labels.c: the labels of a row out of cells, and the nodes of a text */
pcol_status pci_perun_labels(struct pci_perun *p, uint32_t table, uint64_t row,
                             struct pci_perun_cell *cells, size_t count, pcol_error *err);
pcol_status pci_perun_nodes(struct pci_perun *p, int64_t place, uint64_t parent, uint32_t key,
                            uint64_t *node, pcol_error *err);

/* ---- format.c */

int pci_perun_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_perun_read(struct pci_import *import, pcol_error *err);
pcol_status pci_perun_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_holds pci_perun_holds;

#endif
