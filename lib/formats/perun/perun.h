/*
 * perun.h - shared by the reader and writers of Perun profiles
 *
 * A profile is read in two passes, since keys have any order, and the meaning of a resource (its
 * unit, the direction of its trace, the other half of its type) may follow it:
 *
 *     read.c     first pass: parses; each resource, type, model and snapshot becomes a record
 *     records.c  stores records: keys and kinds as a shape, stored once, and 8 bytes for each value
 *     frames.c   interns frames and traces
 *     build.c    second pass: passes everything to the builder, in the order of the document
 *
 * Records are in the builder's spill store.
 */
#ifndef PCI_PERUN_PERUN_H
#define PCI_PERUN_PERUN_H

#include "builder/builder.h"
#include "builder/rows.h"
#include "builder/string_pool.h"
#include "formats/format.h"
#include "formats/perun/flat.h"
#include "json/json.h"

/* ---- cells */

enum pci_perun_kind {
    PCI_PERUN_STRING,  /* string */
    PCI_PERUN_INTEGER, /* int64 */
    PCI_PERUN_DOUBLE,  /* bits */
    PCI_PERUN_BIG,     /* string: decimal digits */
    PCI_PERUN_BOOL,    /* 0 or 1 */
    PCI_PERUN_NULL,
    PCI_PERUN_VALUE,        /* the value of the sample; 1: as an integer */
    PCI_PERUN_SAMPLE_STACK, /* the stack of the sample */
    PCI_PERUN_SAMPLE_FRAME, /* depth in the stack of the sample */
    PCI_PERUN_SAMPLE_NAME,  /* depth in the stack of the sample: the name of that function */
    PCI_PERUN_FRAME,        /* number of a frame */
    PCI_PERUN_TRACE,        /* number of a trace */
    PCI_PERUN_TEXT,         /* offset in the buffer of texts: any other value, as JSON */
    PCI_PERUN_TABLE         /* string: the table that holds the value of the key */
};

struct pci_perun_cell {
    uint32_t key; /* string */
    uint8_t kind;
    int64_t value;
};

/* ---- records */

/* Keys with a meaning for pcol. */
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
    uint64_t first; /* index of its first entry */
    uint32_t count;
    uint32_t roles[PCI_PERUN_ROLES]; /* index of the last entry with such a key; PCOL_NONE: none */
};

struct pci_perun_shapes {
    struct pci_perun_shape *shapes;
    size_t count, capacity;
    uint64_t *entries; /* key << 8 | kind */
    size_t entry_count, entry_capacity;
    struct pci_hash hash;
    uint32_t role_keys[PCI_PERUN_ROLES];
    uint32_t last; /* last shape found */
};

/* Rows of one kind, in order: u64 (owner << 32 | shape), then a u64 value for each entry. */
struct pci_perun_records {
    struct pci_spill data;
    uint64_t count;
};

/* A decoded record. */
struct pci_perun_record {
    uint32_t owner;
    const struct pci_perun_shape *shape;
    const uint64_t *entries;
    int64_t *values;
    size_t capacity;
    uint64_t next; /* offset of the next record */
};

/* ---- frames and traces */

struct pci_perun_frame {
    uint32_t first, count; /* its cells; of a trace: its frames */
    uint32_t group;        /* of a trace: its stack, PCOL_NONE until requested */
    uint32_t name;         /* string, PCOL_NONE if it has none */
};

struct pci_perun_frames {
    struct pci_perun_cell *cells; /* of all frames */
    size_t cell_count, cell_capacity;
    struct pci_perun_frame *frames;
    size_t frame_count, frame_capacity;
    struct pci_hash frame_hash;
    uint32_t *members; /* frames of all traces, concatenated */
    size_t member_count, member_capacity;
    struct pci_perun_frame *traces;
    size_t trace_count, trace_capacity;
    struct pci_hash trace_hash;
    /* Value being read: cells of its frames, and the first cell of each frame. */
    struct pci_perun_cell *fresh;
    size_t fresh_count, fresh_capacity;
    uint32_t *starts;
    size_t start_count, start_capacity;
    uint32_t function, func, source, file, line, column; /* keys */
};

/* ---- types of resources */

struct pci_perun_array {
    uint32_t key;
    uint64_t length, first; /* length, and index of the first cell */
};

struct pci_perun_type {
    uint32_t name; /* in `names` of the reader */
    uint32_t map_ordinal, resources_ordinal;
    uint64_t record; /* offset in the records of types */
    uint32_t first_array, array_count;
    uint32_t next; /* next type of the same name; PCOL_NONE: none */
    uint32_t row;  /* of resource_types */
};

/* ---- the reader */

enum { PCI_PERUN_HEADER_TYPE, PCI_PERUN_COLLECTOR, PCI_PERUN_FACTS };

struct pci_perun {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_perun_shapes shapes;
    struct pci_perun_frames frames;
    struct pci_perun_records resources, models, snapshots, type_records;
    struct pci_spill texts;       /* for each text: u64 size, then JSON */
    struct pci_spill cell_values; /* of the arrays of types: 8 bytes each */
    struct pci_spill cell_kinds;
    /* of types; most follow from a rule, so they are not in the file's strings */
    struct pci_string_pool names;
    struct pci_perun_type *types;
    size_t type_count, type_capacity;
    struct pci_perun_name {
        uint32_t last; /* last type of this name; PCOL_NONE: none */
        /* first type that `resources` [0], the map [1] has not named yet; PCOL_NONE: none */
        uint32_t next[2];
    } * by_name;
    size_t by_name_capacity;
    uint32_t *order; /* types in the order of `resources` */
    size_t order_count, order_capacity;
    uint32_t *map_order; /* types in the order of the map */
    size_t map_count, map_capacity;
    struct pci_perun_array *arrays;
    size_t array_count, array_capacity;
    struct pci_pair_set unit_keys; /* of header.units: string, 0 */
    uint32_t *units;               /* their strings */
    size_t unit_capacity;
    uint32_t facts[PCI_PERUN_FACTS];             /* strings or PCOL_NONE */
    uint64_t resource_count_before_types;        /* resources that precede those by type */
    uint64_t root;                               /* node of the document */
    int doubles;                                 /* some amount is a double */
    uint64_t big_amounts;                        /* amounts beyond 64 bits */
    int outer_first;                             /* traces begin with the outermost frame */
    struct pci_perun_record record, type_record; /* decoded records */
    struct pci_label *labels;                    /* of the row being built */
    size_t label_capacity;
    struct pci_perun_cell *cells; /* of the record being read */
    size_t cell_count, cell_capacity;
    struct pci_json_writer writer; /* of texts, into `text` */
    char *text;
    size_t text_size, text_capacity;
};

/* records.c */
pcol_status pci_perun_shapes_init(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_add_record(struct pci_perun *p, struct pci_perun_records *records,
                                 uint32_t owner, const struct pci_perun_cell *cells, size_t count,
                                 pcol_error *err);
/* Read the record at an offset. The memory of `record` is reused, and freed by the caller. */
pcol_status pci_perun_read_record(const struct pci_perun *p,
                                  const struct pci_perun_records *records, uint64_t offset,
                                  struct pci_perun_record *record, pcol_error *err);
/* Get the cell of a role; 0 if the record has none. */
int pci_perun_get_role(const struct pci_perun_record *record, enum pci_perun_role role,
                       struct pci_perun_cell *cell);

/* value.c: reads a value; the current token must be its first one, and is then its last one */
pcol_status pci_perun_read_value(struct pci_perun *p, uint32_t key, struct pci_perun_cell *cell,
                                 pcol_error *err);
/* Read a scalar; *is is 0 if the current token begins an array or object. */
pcol_status pci_perun_read_scalar(struct pci_perun *p, struct pci_perun_cell *cell, int *is,
                                  pcol_error *err);
/* Texts: begin, then write tokens or values, then end or keep. */
pcol_status pci_perun_text_begin(struct pci_perun *p, pcol_error *err);
/* Write a scalar cell with its key; or the value of any cell. */
void pci_perun_text_cell(struct pci_perun *p, const struct pci_perun_cell *cell, pcol_error *err);
pcol_status pci_perun_text_any_cell(struct pci_perun *p, const struct pci_perun_cell *cell,
                                    pcol_error *err);
pcol_status pci_perun_text_value(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_text_end(struct pci_perun *p, pcol_error *err);
pcol_status pci_perun_text_store(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err);
/* Get the text of a cell, valid until the next text. */
pcol_status pci_perun_text_get(struct pci_perun *p, int64_t offset, pcol_str *text,
                               pcol_error *err);

/* frames.c */
pcol_status pci_perun_frames_init(struct pci_perun *p, pcol_error *err);
void pci_perun_frames_clear(struct pci_perun_frames *frames);
/* Read a uid that is an object, or a trace that is an array: FRAME, TRACE, or TEXT if it is
 * neither. */
pcol_status pci_perun_read_frames(struct pci_perun *p, struct pci_perun_cell *cell,
                                  pcol_error *err);
/* Find the group of a frame whose function has a name and nothing else is known. */
pcol_status pci_perun_find_name_group(struct pci_perun *p, uint32_t name, uint32_t *group,
                                      pcol_error *err);
/* Find the group for the function and position in `cells`; *placed is 0 if they have no
 * function. */
pcol_status pci_perun_find_position_group(struct pci_perun *p, const struct pci_perun_cell *cells,
                                          uint32_t count, uint32_t *group, int *placed,
                                          pcol_error *err);
/* uid.c: finds the group of a uid that is stored as text; PCOL_NONE if it has none */
pcol_status pci_perun_find_uid_group(struct pci_perun *p, int64_t offset, uint32_t *group,
                                     pcol_error *err);
/* type_name_elision.c: appends a scalar as Perun formats it */
pcol_status pci_perun_flat_scalar(const struct pci_perun *p, const struct pci_perun_cell *cell,
                                  struct pci_strbuf *to, pcol_error *err);
/* Get the stack of a trace. outer_first: its first frame is the outermost. */
pcol_status pci_perun_find_stack(struct pci_perun *p, uint32_t trace, int outer_first,
                                 uint32_t *stack, pcol_error *err);

/* Append a cell, or the cells of a record from `first` on, to p->cells. */
pcol_status pci_perun_push_cell(struct pci_perun *p, const struct pci_perun_cell *cell,
                                pcol_error *err);
pcol_status pci_perun_push_record(struct pci_perun *p, const struct pci_perun_record *record,
                                  uint32_t first, pcol_error *err);

/* build.c */
pcol_status pci_perun_build(struct pci_perun *p, pcol_error *err);

/* labels.c: writes cells as labels of a row; converts a text to nodes */
pcol_status pci_perun_add_labels(struct pci_perun *p, uint32_t table, uint64_t row,
                                 struct pci_perun_cell *cells, size_t count, pcol_error *err);
pcol_status pci_perun_add_nodes(struct pci_perun *p, int64_t offset, uint64_t parent, uint32_t key,
                                uint64_t *node, pcol_error *err);

/* ---- format.c */

int pci_perun_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_perun_read(struct pci_import *import, pcol_error *err);
pcol_status pci_perun_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_perun_capabilities;

/* Physical tables of the format. */
extern const struct pci_schema_row pci_perun_tables[];

#endif
