/*
 * document.h - JSON documents that are stored with the tables derived from them
 *
 * sources.extra is an object with the members `document`, the tree of the document, and `arrays`.
 * A node of tag table in the tree represents the next element of `arrays`, which has a compact form
 * or states that the value follows from other tables. A selection of some samples omits
 * sources.extra (pci_format_schema.whole_document), so that the document always describes all
 * samples.
 */
#ifndef PCI_FORMATS_DOCUMENT_H
#define PCI_FORMATS_DOCUMENT_H

#include "formats/format.h"
#include "model/row_details.h"
#include "json/json.h"

/* Whether data is the beginning of a JSON object (or, with `array`, of an array) with all of these
 * texts; the list ends in NULL. */
int pci_document_begins(const uint8_t *data, size_t size, int array, const char *const *texts);

/* ---- import */

#define PCI_DOCUMENT_KEYS 32u
#define PCI_DOCUMENT_KEY_BYTES 24u

struct pci_document {
    pcol_builder *builder;
    uint64_t extra, root, arrays; /* nodes; root: the document, an object */
    /* Cache of short keys, by a hash; objects of one kind repeat theirs. */
    struct pci_document_key {
        uint32_t string, size; /* size 0: none */
        char text[PCI_DOCUMENT_KEY_BYTES];
    } keys[PCI_DOCUMENT_KEYS];
};

/* Create the nodes; the root is an object. */
pcol_status pci_document_begin(struct pci_document *document, pcol_builder *builder,
                               pcol_error *err);
/* Assign the nodes to a source. */
pcol_status pci_document_end(struct pci_document *document, uint32_t source, pcol_error *err);
/* Append a node below `parent`; key: NULL for an element. tag: OBJECT, ARRAY, INTEGERS, DOUBLES or
 * TABLE (of the table `samples`). */
pcol_status pci_document_node(struct pci_document *document, uint64_t parent, const char *key,
                              uint8_t tag, uint64_t *node, pcol_error *err);
/* The string of a key; PCOL_NONE for NULL. */
pcol_status pci_document_key(struct pci_document *document, const char *key, uint32_t *string,
                             pcol_error *err);
/* Append the STRING node `text`. */
pcol_status pci_document_text(struct pci_document *document, uint64_t parent, const char *key,
                              const char *text, pcol_error *err);
/* From a key of the object `parent`: append the member with any value, and advance to the value's
 * last token. */
pcol_status pci_document_member(struct pci_document *document, struct pci_json *json,
                                uint64_t parent, pcol_error *err);
/* Append a node of tag table for the current value of member `key`. */
pcol_status pci_document_place(struct pci_document *document, uint64_t parent, const char *key,
                               pcol_error *err);

#define PCI_NUMBER_WINDOW 256u

/* Numbers of arrays, integers and doubles distinguished. */
struct pci_number_array {
    pcol_builder *builder;
    struct pci_column_buffer *bits;  /* int64, or bits of a double; NULL: no numbers yet */
    struct pci_column_buffer *kinds; /* 1 for a double */
    uint64_t count;
    /* Elements read last, from window_first on. */
    uint64_t window_first;
    size_t window_count;
    int64_t window_bits[PCI_NUMBER_WINDOW];
    uint8_t window_kinds[PCI_NUMBER_WINDOW];
};

void pci_number_array_init(struct pci_number_array *array, pcol_builder *builder);
void pci_number_array_clear(struct pci_number_array *array);
pcol_status pci_number_array_add(struct pci_number_array *array, int64_t bits, int is_double,
                                 pcol_error *err);
/* Append the elements of the JSON array whose first token is current, and advance to its end.
 * E_SYNTAX if one is not a number of 64 bits: "WHAT must be a number, not ...". */
pcol_status pci_number_array_read(struct pci_number_array *array, struct pci_json *json,
                                  const char *what, pcol_error *err);
/* The integer nearest to value * scale; 0 if it is beyond 64 bits. Whole parts are multiplied as
 * integers: a clock since 1970 has more nanoseconds than a double holds. */
int pci_number_scaled(double value, int64_t scale, int64_t *result);
/* The number of the current token. */
pcol_status pci_number_of_token(const struct pci_json *json, const char *what, int64_t *bits,
                                int *is_double, pcol_error *err);
/* Reads the elements from `at` on, at least one, into the window. */
pcol_status pci_number_array_load(struct pci_number_array *array, uint64_t at, pcol_error *err);
/* Release memory of elements before `at`, which must not be read again. */
void pci_number_array_drop(struct pci_number_array *array, uint64_t at);
/* Made for sequential reading; at < array->count. */
static inline pcol_status pci_number_array_get(struct pci_number_array *array, uint64_t at,
                                               int64_t *bits, int *is_double, pcol_error *err)
{
    if (at - array->window_first >= array->window_count)
        PCI_TRY(pci_number_array_load(array, at, err));
    *bits = array->window_bits[at - array->window_first];
    *is_double = array->window_kinds[at - array->window_first];
    return PCOL_OK;
}
static inline double pci_number_value(int64_t bits, int is_double)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return is_double ? value : (double)bits;
}
/* Number of doubles among elements [first, first + count). */
pcol_status pci_number_array_doubles(const struct pci_number_array *array, uint64_t first,
                                     uint64_t count, uint64_t *doubles, pcol_error *err);
/* Append a typed array, INTEGERS or DOUBLES, of elements [first, first + count) of a buffer. */
pcol_status pci_document_column(struct pci_document *document, uint64_t parent, const char *key,
                                uint8_t tag, const struct pci_column_buffer *buffer, uint64_t first,
                                uint64_t count, pcol_error *err);
/* Append elements [first, first + count) as a value: typed arrays for numbers of one kind, an
 * object of bits and kinds for others. */
pcol_status pci_document_numbers(struct pci_document *document, uint64_t parent, const char *key,
                                 struct pci_number_array *array, uint64_t first, uint64_t count,
                                 pcol_error *err);
/* The same as member `key` of the object `parent` of the document. */
pcol_status pci_document_number_member(struct pci_document *document, uint64_t parent,
                                       const char *key, struct pci_number_array *array,
                                       uint64_t first, uint64_t count, pcol_error *err);

/* ---- export */

struct pci_document_writer {
    const struct pci_export *export;
    const pcol_file *file;
    uint32_t source;
    struct pci_json_writer json;
    struct pci_node_reader nodes;
    uint64_t root, arrays, next; /* next: element of `arrays` */
    uint64_t steps;              /* of values in columns */
};

/* The node sources.extra, if the exported sources are one source of this type; else
 * PCI_NO_NODE. */
pcol_status pci_document_find(const struct pci_export *export, const char *source_type,
                              uint64_t *extra, pcol_error *err);
/* pci_format.restores: the source has sources.extra. */
pcol_status pci_document_restores(const struct pci_export *export, int *restored, pcol_error *err);
/* Write an element of `arrays` that does not consist of numbers; element: its node. */
typedef pcol_status (*pci_document_element_fn)(void *context, struct pci_document_writer *writer,
                                               const struct pci_node_value *place,
                                               const struct pci_node_value *element,
                                               pcol_error *err);
/* Write the document of the source found before. element: may be NULL. */
pcol_status pci_document_write(const struct pci_export *export, pci_document_element_fn element,
                               void *context, pcol_error *err);
/* Reader of the numbers of an element, in either form. */
struct pci_number_reader {
    const struct pci_node_reader *nodes;
    struct pci_node_value bits, kinds; /* kinds: tag NULL if all are of one kind */
    uint64_t count, at, first;
    int64_t values[256], kind_values[256];
    size_t buffered;
};
/* *is_numbers: 0 if the node has another form. */
pcol_status pci_number_reader_open(struct pci_number_reader *reader,
                                   const struct pci_node_reader *nodes, uint64_t node,
                                   int *is_numbers, pcol_error *err);
/* Write the next of `count` numbers. */
pcol_status pci_number_reader_put(struct pci_number_reader *reader, struct pci_json_writer *json,
                                  pcol_error *err);
/* The next number; E_CORRUPT past the last. */
pcol_status pci_number_reader_next(struct pci_number_reader *reader, int64_t *bits, int *is_double,
                                   pcol_error *err);
/* The member `key` of an object; E_CORRUPT if there is none. */
pcol_status pci_document_find_member(const struct pci_node_reader *nodes, uint64_t object,
                                     const char *key, uint64_t *member, pcol_error *err);

#endif
