/*
 * otlp.h - OpenTelemetry profiles, experimental: the reader's state and its parts
 *
 *     form.c     the messages of an input: protobuf, length-prefixed protobuf, JSON
 *     json.c     JSON to protobuf of the layout 1.10
 *     layout.c   which numbers the fields of a sample have
 *     tables.c   the dictionary of a message to rows of the builder
 *     samples.c  profiles and samples
 *
 * A message has a dictionary of seven tables, which may follow the samples that refer to it. The
 * input is one block of memory, so that tables are arrays of views of it. Its bytes are kept in
 * sources.extra (docs/spec/mappings.md). Tests: tests/roundtrip/binary_formats, tests/cli.
 */
#ifndef PCI_OTLP_OTLP_H
#define PCI_OTLP_OTLP_H

#include "builder/builder.h"
#include "formats/document.h"
#include "util/strbuf.h"

enum { PCI_OTLP_VARINT = 0, PCI_OTLP_FIXED64 = 1, PCI_OTLP_BYTES = 2, PCI_OTLP_FIXED32 = 5 };

struct pci_otlp_span {
    const uint8_t *data;
    size_t size;
};

struct pci_otlp_field {
    uint64_t number;
    unsigned type;
    uint64_t value;             /* varint, fixed */
    struct pci_otlp_span bytes; /* of type BYTES */
    const uint8_t *at;
};

struct pci_otlp_list {
    uint64_t *values;
    size_t count, capacity;
};

/* Tables of a dictionary, by the number of the field. */
enum {
    PCI_OTLP_MAPPINGS = 1,
    PCI_OTLP_LOCATIONS,
    PCI_OTLP_FUNCTIONS,
    PCI_OTLP_LINKS,
    PCI_OTLP_STRINGS,
    PCI_OTLP_ATTRIBUTES,
    PCI_OTLP_STACKS,
    PCI_OTLP_TABLES
};

struct pci_otlp_table {
    struct pci_otlp_span *entries;
    size_t count, capacity;
    uint32_t *rows; /* by entry: string, row or stack of the builder */
    size_t row_capacity;
};

enum pci_otlp_role {
    PCI_OTLP_LABEL,
    PCI_OTLP_THREAD_ID,
    PCI_OTLP_THREAD_NAME,
    PCI_OTLP_PROCESS_ID,
    PCI_OTLP_PROCESS_NAME,
    PCI_OTLP_BUILD_ID,
    PCI_OTLP_NO_COLUMN /* a list, a map or bytes */
};

struct pci_otlp_attribute {
    struct pci_label label;
    enum pci_otlp_role role;
    uint32_t text; /* of threads and processes: the value, numbers in decimal */
};

/* The start of an object of a JSON text, and of its message. */
struct pci_otlp_place {
    size_t at; /* offset in `bytes` */
    uint64_t line, column;
};

#define PCI_OTLP_RECENT_THREADS 64u

struct pci_otlp {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_otlp_span input; /* owned */
    struct pci_strbuf bytes;    /* messages made of a JSON text */
    struct pci_otlp_place *places;
    size_t place_count, place_capacity;
    struct pci_otlp_span *messages;
    size_t message_count, message_capacity;
    int is_json;
    int has_old_samples; /* their fields have the numbers of 1.8 and 1.9 */
    int has_source;
    int is_export; /* the message is read again, before it is written */

    /* The current message. */
    struct pci_otlp_table tables[PCI_OTLP_TABLES];
    struct pci_otlp_attribute *attributes, *resource; /* of the dictionary; of the resource */
    size_t attribute_capacity, resource_count, resource_capacity;

    /* Buffers. */
    struct pci_otlp_list indices, values, times;
    pcol_line *lines;
    size_t line_capacity;
    struct pci_label *labels;
    size_t label_count, label_capacity;

    /* Direct-mapped cache of threads. */
    struct {
        struct pci_import_thread thread;
        uint32_t row_plus_1; /* 0: empty */
    } recent[PCI_OTLP_RECENT_THREADS];
};

/* ---- wire.c */

/* E_SYNTAX at a byte of a message. */
pcol_status pci_otlp_fail(const struct pci_otlp *r, const uint8_t *at, pcol_error *err,
                          const char *format, ...) PCI_PRINTF(4, 5);
/* Remove the first field of a message that is not empty. */
pcol_status pci_otlp_next(const struct pci_otlp *r, struct pci_otlp_span *message,
                          struct pci_otlp_field *field, pcol_error *err);
/* E_SYNTAX unless the field has the type. */
pcol_status pci_otlp_expect(const struct pci_otlp *r, const struct pci_otlp_field *field,
                            unsigned type, pcol_error *err);
/* Append the numbers of a repeated field, packed or not; type: VARINT or FIXED64. */
pcol_status pci_otlp_collect(const struct pci_otlp *r, const struct pci_otlp_field *field,
                             unsigned type, struct pci_otlp_list *list, pcol_error *err);
/* Read a message of scalars: values[n] of field n, 1 to count. Values of absent fields are left as
 * they are, so that parts of one message can be merged; other fields are skipped. */
pcol_status pci_otlp_numbers(const struct pci_otlp *r, struct pci_otlp_span message, unsigned count,
                             uint64_t *values, pcol_error *err);

/* ---- parts */

int pci_otlp_sniff(const uint8_t *data, size_t size, int all);
/* Set the messages of the input. */
pcol_status pci_otlp_find_messages(struct pci_otlp *r, pcol_error *err);
pcol_status pci_otlp_read_json(struct pci_otlp *r, pcol_error *err);
pcol_status pci_otlp_find_layout(struct pci_otlp *r, pcol_error *err);
/* Collect the entries of the tables of a message. */
pcol_status pci_otlp_scan_tables(struct pci_otlp *r, struct pci_otlp_span message, pcol_error *err);
/* Add the rows of all tables. */
pcol_status pci_otlp_read_tables(struct pci_otlp *r, pcol_error *err);
/* The row of an entry; of entry 0 of an empty table, PCOL_NONE. */
pcol_status pci_otlp_row(const struct pci_otlp *r, const uint8_t *at, int table, uint64_t index,
                         uint32_t *row, pcol_error *err);
/* The string of an index; PCOL_NONE for an empty one. */
pcol_status pci_otlp_string(struct pci_otlp *r, const uint8_t *at, uint64_t index, uint32_t *string,
                            pcol_error *err);
/* Read a KeyValue, or with `is_entry` an entry of attribute_table. */
pcol_status pci_otlp_read_attribute(struct pci_otlp *r, struct pci_otlp_span message, int is_entry,
                                    struct pci_otlp_attribute *attribute, pcol_error *err);
/* Add the source, once, and the samples of a message. */
pcol_status pci_otlp_read_samples(struct pci_otlp *r, struct pci_otlp_span message,
                                  pcol_error *err);

pcol_status pci_otlp_read(struct pci_import *import, pcol_error *err);
pcol_status pci_otlp_write(const struct pci_export *export, pcol_error *err);

#endif
