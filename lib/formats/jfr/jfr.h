/*
 * jfr.h - reader of Java Flight Recorder files, versions 2.0 and 2.1
 *
 * A recording is a sequence of chunks, each complete in itself: events, checkpoints with constants,
 * and metadata, which describes the fields of all of them. Constants and metadata may come after
 * their use, so a chunk is stored in a spill first. Then its metadata is read, its constants are
 * indexed, and each event with a stack becomes a sample. Constants are decoded on first use.
 * Tests: tests/roundtrip/binary_formats.
 */
#ifndef PCI_JFR_JFR_H
#define PCI_JFR_JFR_H

#include "builder/builder.h"
#include "formats/format.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

pcol_status pci_jfr_read(struct pci_import *import, pcol_error *err);

#define PCI_JFR_HEADER_BYTES 68u
#define PCI_JFR_METADATA_TYPE 0
#define PCI_JFR_CHECKPOINT_TYPE 1

/* ---- cursor.c: bytes of an event */

struct pci_jfr_cursor {
    const uint8_t *start, *p, *end;
    uint64_t offset;   /* of `start` in the input */
    int is_compressed; /* integers are LEB128 of at most 9 bytes, else big-endian */
};

/* Text: as in the file, or a key of the constants of java.lang.String. */
struct pci_jfr_text {
    enum {
        PCI_JFR_NULL,
        PCI_JFR_EMPTY,
        PCI_JFR_CONSTANT,
        PCI_JFR_UTF8,
        PCI_JFR_UTF16,
        PCI_JFR_LATIN1
    } encoding;
    const uint8_t *data;
    size_t size; /* bytes; UTF16: of the encoded characters */
    int64_t key; /* CONSTANT */
    int is_compressed;
};

/* E_SYNTAX at the cursor. */
pcol_status pci_jfr_fail(const struct pci_jfr_cursor *cursor, pcol_error *err, const char *problem);
/* An integer of `width` bytes if it is not compressed. */
pcol_status pci_jfr_integer(struct pci_jfr_cursor *cursor, unsigned width, int64_t *value,
                            pcol_error *err);
/* Number of elements that follow, each of at least one byte. */
pcol_status pci_jfr_count(struct pci_jfr_cursor *cursor, uint64_t *count, pcol_error *err);
pcol_status pci_jfr_skip(struct pci_jfr_cursor *cursor, uint64_t size, pcol_error *err);
pcol_status pci_jfr_text(struct pci_jfr_cursor *cursor, struct pci_jfr_text *text, pcol_error *err);
/* Append as UTF-8. */
pcol_status pci_jfr_append(const struct pci_jfr_text *text, struct pci_strbuf *to, pcol_error *err);

/* ---- metadata.c: classes of a chunk */

/* Classes that the reader knows. */
enum pci_jfr_role {
    PCI_JFR_OTHER,
    PCI_JFR_BOOLEAN,
    PCI_JFR_BYTE,
    PCI_JFR_CHAR,
    PCI_JFR_SHORT,
    PCI_JFR_INT,
    PCI_JFR_LONG,
    PCI_JFR_FLOAT,
    PCI_JFR_DOUBLE,
    PCI_JFR_STRING,
    PCI_JFR_STACK_TRACE,
    PCI_JFR_STACK_FRAME,
    PCI_JFR_METHOD,
    PCI_JFR_CLASS,
    PCI_JFR_SYMBOL,
    PCI_JFR_FRAME_TYPE,
    PCI_JFR_THREAD,
    PCI_JFR_ROLES
};

/* Members of these classes, and of events, that the reader uses. */
enum pci_jfr_slot {
    PCI_JFR_START_TIME, /* events */
    PCI_JFR_STACK,
    PCI_JFR_EVENT_THREAD,
    PCI_JFR_SAMPLED_THREAD,
    PCI_JFR_DURATION,
    PCI_JFR_WEIGHT,
    PCI_JFR_TRUNCATED = 0, /* stack traces */
    PCI_JFR_FRAMES,
    PCI_JFR_FRAME_METHOD = 0, /* frames */
    PCI_JFR_LINE,
    PCI_JFR_BYTECODE_INDEX,
    PCI_JFR_TYPE,
    PCI_JFR_METHOD_CLASS = 0, /* methods */
    PCI_JFR_METHOD_NAME,
    PCI_JFR_NAME = 0,    /* classes, symbols, frame types */
    PCI_JFR_OS_NAME = 0, /* threads */
    PCI_JFR_OS_ID,
    PCI_JFR_JAVA_NAME,
    PCI_JFR_JAVA_ID,
    PCI_JFR_SLOTS = 6,
    PCI_JFR_NO_SLOT
};

struct pci_jfr_field {
    struct pci_jfr_text name;
    int64_t class_id;
    uint32_t of;    /* class that has the field */
    uint32_t class; /* index; PCOL_NONE: unknown */
    uint8_t slot;   /* enum pci_jfr_slot */
    int is_array, is_constant;
};

struct pci_jfr_class {
    struct pci_jfr_text name;
    int64_t id;
    enum pci_jfr_role role;
    size_t first_field, field_count;
    int has_stack, has_duration, has_weight;
    uint32_t sample_type; /* of events; PCOL_NONE: not used yet */
};

struct pci_jfr_classes {
    struct pci_strbuf texts; /* of all names */
    struct pci_jfr_class *classes;
    size_t count, capacity;
    struct pci_jfr_field *fields; /* in the order of their classes */
    size_t field_count, field_capacity;
    struct pci_hash by_id;
};

/* A member of a value. */
struct pci_jfr_value {
    int is_set;
    uint32_t class; /* of its field, if it is set: also of the constant, of the elements */
    int64_t number; /* also keys of constants, and numbers of elements */
    struct pci_jfr_text text;
    const uint8_t *elements; /* arrays */
};

/* How the values of a kind of event are measured. */
struct pci_jfr_weight {
    const char *event, *field, *unit;
};
const struct pci_jfr_weight *pci_jfr_find_weight(pcol_str event);

uint32_t pci_jfr_find_class(const struct pci_jfr_classes *classes, int64_t id);
pcol_status pci_jfr_read_metadata(struct pci_jfr_classes *classes, struct pci_jfr_cursor *cursor,
                                  pcol_error *err);
void pci_jfr_classes_clear(struct pci_jfr_classes *classes);
/* Read a value of a class, and its members with a slot to values[slot]; values may be NULL. */
pcol_status pci_jfr_read_value(const struct pci_jfr_classes *classes, uint32_t class,
                               struct pci_jfr_cursor *cursor, struct pci_jfr_value *values,
                               pcol_error *err);

/* ---- constants.c: constants of a chunk */

struct pci_jfr_constant {
    int64_t key;
    uint64_t at; /* in the chunk */
    uint32_t size;
    uint32_t class;
    uint32_t row; /* of stacks, functions, threads, strings */
    uint8_t is_decoded, is_truncated;
};

struct pci_jfr_chunk {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_spill bytes;
    uint64_t offset, size; /* in the input */
    uint64_t metadata_at;
    int64_t start_ns, start_ticks, ticks_per_second;
    int is_compressed;
    struct pci_jfr_classes classes;
    struct pci_text_memo events; /* strings by the names of classes */
    struct pci_jfr_constant *constants;
    size_t constant_count, constant_capacity;
    struct pci_hash by_key;
    struct pci_spill_view event_view, stack_view, view;
    struct pci_strbuf text;
    uint32_t *groups; /* of a stack, innermost first */
    size_t group_capacity;
    uint32_t bytecode_index, frame_type; /* columns of location_groups; PCOL_NONE: none yet */
};

pcol_status pci_jfr_view(struct pci_jfr_chunk *chunk, struct pci_spill_view *view, uint64_t at,
                         uint64_t size, struct pci_jfr_cursor *cursor, pcol_error *err);
/* Index the constants of a checkpoint, after its size and type. */
pcol_status pci_jfr_read_checkpoint(struct pci_jfr_chunk *chunk, struct pci_jfr_cursor *cursor,
                                    pcol_error *err);
/* The stack that a value refers to, decoded; *stack is NULL if the chunk lacks it. */
pcol_status pci_jfr_find_stack(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                               const struct pci_jfr_constant **stack, pcol_error *err);
/* Row of threads; PCOL_NONE if the chunk lacks it. */
pcol_status pci_jfr_find_thread(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                                uint32_t *row, pcol_error *err);

#endif
