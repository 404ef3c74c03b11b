/*
 * document.c - JSON documents that are stored with the tables derived from them
 *
 * Tests: tests/roundtrip/json_formats.
 */
#include "formats/document.h"

#include "builder/builder.h"
#include "formats/records.h"
#include "model/json_tree.h"
#include "util/strbuf.h"

#include <math.h>
#include <string.h>

#define BATCH 256u

int pci_document_begins(const uint8_t *data, size_t size, int array, const char *const *texts)
{
    if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
        data += 3, size -= 3;
    while (size && memchr(" \t\r\n", *data, 4))
        data++, size--;
    if (!size || (*data != '{' && !(array && *data == '[')))
        return 0;
    while (*texts && pci_bytes_contain(data, size, *texts, strlen(*texts)))
        texts++;
    return !*texts;
}

/* ---- import: nodes */

static pcol_status find_key(struct pci_document *d, pcol_str key, uint32_t *string, pcol_error *err)
{
    if (!key.size || key.size > PCI_DOCUMENT_KEY_BYTES)
        return pcol_builder_string(d->builder, key.data, key.size, string, err);
    size_t hash = key.size * 7 + (uint8_t)key.data[0] * 3u + (uint8_t)key.data[key.size - 1];
    struct pci_document_key *cached = &d->keys[hash % PCI_DOCUMENT_KEYS];
    if (cached->size != key.size || memcmp(cached->text, key.data, key.size) != 0) {
        PCI_TRY(pcol_builder_string(d->builder, key.data, key.size, &cached->string, err));
        cached->size = (uint32_t)key.size;
        memcpy(cached->text, key.data, key.size);
    }
    *string = cached->string;
    return PCOL_OK;
}

pcol_status pci_document_key(struct pci_document *d, const char *key, uint32_t *string,
                             pcol_error *err)
{
    *string = PCOL_NONE;
    return key ? find_key(d, (pcol_str){key, strlen(key)}, string, err) : PCOL_OK;
}

pcol_status pci_document_node(struct pci_document *d, uint64_t parent, const char *key, uint8_t tag,
                              uint64_t *node, pcol_error *err)
{
    struct pci_new_node new_node = {.parent = parent, .tag = tag, .text = PCOL_NONE};
    PCI_TRY(pci_document_key(d, key, &new_node.key, err));
    if (tag == PCI_NODE_TABLE)
        PCI_TRY(pci_document_key(d, "samples", &new_node.text, err));
    return pci_builder_node(d->builder, &new_node, node, err);
}

pcol_status pci_document_text(struct pci_document *d, uint64_t parent, const char *key,
                              const char *text, pcol_error *err)
{
    struct pci_new_node new_node = {.parent = parent, .tag = PCI_NODE_STRING};
    uint64_t node;
    PCI_TRY(pci_document_key(d, key, &new_node.key, err));
    PCI_TRY(pci_document_key(d, text, &new_node.text, err));
    return pci_builder_node(d->builder, &new_node, &node, err);
}

pcol_status pci_document_begin(struct pci_document *d, pcol_builder *builder, pcol_error *err)
{
    *d = (struct pci_document){.builder = builder};
    PCI_TRY(pci_document_node(d, PCI_NO_NODE, NULL, PCI_NODE_OBJECT, &d->extra, err));
    PCI_TRY(pci_document_node(d, d->extra, "arrays", PCI_NODE_ARRAY, &d->arrays, err));
    return pci_document_node(d, d->extra, "document", PCI_NODE_OBJECT, &d->root, err);
}

pcol_status pci_document_end(struct pci_document *d, uint32_t source, pcol_error *err)
{
    return pci_builder_extra(d->builder, PCI_T_SOURCES, source, d->extra, err);
}

pcol_status pci_document_member(struct pci_document *d, struct pci_json *json, uint64_t parent,
                                pcol_error *err)
{
    uint32_t key;
    uint64_t node;
    PCI_TRY(find_key(d, json->text, &key, err));
    PCI_TRY(pci_json_next(json, err));
    return pci_json_to_nodes(json, d->builder, parent, key, &node, err);
}

pcol_status pci_document_place(struct pci_document *d, uint64_t parent, const char *key,
                               pcol_error *err)
{
    uint64_t node;
    return pci_document_node(d, parent, key, PCI_NODE_TABLE, &node, err);
}

/* ---- import: numbers */

void pci_number_array_init(struct pci_number_array *array, pcol_builder *builder)
{
    array->builder = builder;
    array->bits = array->kinds = NULL;
    array->count = array->window_first = 0;
    array->window_count = 0;
}

void pci_number_array_clear(struct pci_number_array *array)
{
    pci_column_buffer_free(array->bits);
    pci_column_buffer_free(array->kinds);
    pci_number_array_init(array, array->builder);
}

static pcol_status make_buffer(struct pci_number_array *array, struct pci_column_buffer **buffer,
                               pcol_error *err)
{
    if (!*buffer)
        *buffer = pci_column_buffer_make(array->builder, 0, "", PCF_I64, 0, PCI_DROP_NEVER);
    return *buffer ? PCOL_OK : pci_fail_memory(err);
}

static pcol_status add_numbers(struct pci_number_array *array, const int64_t *bits,
                               const int64_t *kinds, size_t count, pcol_error *err)
{
    PCI_TRY(make_buffer(array, &array->bits, err));
    PCI_TRY(make_buffer(array, &array->kinds, err));
    PCI_TRY(pci_column_buffer_set_many(array->bits, array->count, bits, count, err));
    PCI_TRY(pci_column_buffer_set_many(array->kinds, array->count, kinds, count, err));
    array->count += count;
    return PCOL_OK;
}

pcol_status pci_number_array_add(struct pci_number_array *array, int64_t bits, int is_double,
                                 pcol_error *err)
{
    PCI_TRY(make_buffer(array, &array->bits, err));
    PCI_TRY(make_buffer(array, &array->kinds, err));
    PCI_TRY(pci_column_buffer_set(array->bits, array->count, bits, err));
    PCI_TRY(pci_column_buffer_set(array->kinds, array->count, is_double != 0, err));
    array->count++;
    return PCOL_OK;
}

int pci_number_scaled(double value, int64_t scale, int64_t *result)
{
    double product = value * (double)scale;
    if (!(product > -9.2e18 && product < 9.2e18))
        return 0;
    double whole = trunc(value);
    *result = (int64_t)whole * scale + (int64_t)llround((value - whole) * (double)scale);
    return 1;
}

pcol_status pci_number_of_token(const struct pci_json *json, const char *what, int64_t *bits,
                                int *is_double, pcol_error *err)
{
    *is_double = json->type == PCI_JSON_DOUBLE;
    if (json->type == PCI_JSON_BIG)
        return pci_json_fail(json, err, "%s is beyond 64 bits", what);
    if (!*is_double && json->type != PCI_JSON_INT)
        return pci_json_fail(json, err, "%s must be a number", what);
    *bits = json->integer;
    if (*is_double)
        memcpy(bits, &json->number, sizeof *bits);
    return PCOL_OK;
}

static pcol_status add_batch(struct pci_number_array *array, const int64_t *values,
                             const uint8_t *types, size_t count, pcol_error *err)
{
    int64_t kinds[BATCH];
    for (size_t i = 0; i < count; i++)
        kinds[i] = types[i] == PCI_JSON_DOUBLE;
    return add_numbers(array, values, kinds, count, err);
}

pcol_status pci_number_array_read(struct pci_number_array *array, struct pci_json *json,
                                  const char *what, pcol_error *err)
{
    int64_t values[BATCH], bits;
    uint8_t types[BATCH];
    size_t count;
    int more, is_double;
    PCI_TRY(pci_json_expect(json, PCI_JSON_ARRAY, what, err));
    for (;;) {
        unsigned seen = pci_json_read_numbers(json, values, types, BATCH, &count);
        if (count && seen & ~(1u << PCI_JSON_INT | 1u << PCI_JSON_DOUBLE))
            return pci_json_fail(json, err, "%s must be numbers, not null", what);
        PCI_TRY(add_batch(array, values, types, count, err));
        if (count == BATCH)
            continue;
        PCI_TRY(pci_json_element(json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_number_of_token(json, what, &bits, &is_double, err));
        PCI_TRY(pci_number_array_add(array, bits, is_double, err));
    }
}

pcol_status pci_number_array_load(struct pci_number_array *array, uint64_t at, pcol_error *err)
{
    struct pci_number_array *a = array;
    int64_t kinds[PCI_NUMBER_WINDOW];
    size_t n = a->count - at < PCI_NUMBER_WINDOW ? (size_t)(a->count - at) : PCI_NUMBER_WINDOW;
    a->window_count = 0;
    PCI_TRY(pci_column_buffer_get_many(a->bits, at, a->window_bits, n, err));
    PCI_TRY(pci_column_buffer_get_many(a->kinds, at, kinds, n, err));
    for (size_t i = 0; i < n; i++)
        a->window_kinds[i] = kinds[i] != 0;
    a->window_first = at;
    a->window_count = n;
    return PCOL_OK;
}

void pci_number_array_drop(struct pci_number_array *array, uint64_t at)
{
    if (at)
        pci_column_buffer_drop(array->bits, at);
    if (at)
        pci_column_buffer_drop(array->kinds, at);
}

pcol_status pci_number_array_doubles(const struct pci_number_array *array, uint64_t first,
                                     uint64_t count, uint64_t *doubles, pcol_error *err)
{
    int64_t kinds[BATCH];
    *doubles = 0;
    if (count && array->kinds->constant) {
        *doubles = array->kinds->first ? count : 0;
        return PCOL_OK;
    }
    for (uint64_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? (size_t)(count - at) : BATCH;
        PCI_TRY(pci_column_buffer_get_many(array->kinds, first + at, kinds, n, err));
        for (size_t i = 0; i < n; i++)
            *doubles += kinds[i] != 0;
    }
    return PCOL_OK;
}

pcol_status pci_document_column(struct pci_document *d, uint64_t parent, const char *key,
                                uint8_t tag, const struct pci_column_buffer *buffer, uint64_t first,
                                uint64_t count, pcol_error *err)
{
    int64_t values[BATCH];
    uint64_t node;
    PCI_TRY(pci_document_node(d, parent, key, tag, &node, err));
    for (uint64_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? (size_t)(count - at) : BATCH;
        PCI_TRY(pci_column_buffer_get_many(buffer, first + at, values, n, err));
        PCI_TRY(
            pci_builder_node_elements(d->builder, tag == PCI_NODE_DOUBLES, node, values, n, err));
    }
    return PCOL_OK;
}

pcol_status pci_document_numbers(struct pci_document *d, uint64_t parent, const char *key,
                                 struct pci_number_array *array, uint64_t first, uint64_t count,
                                 pcol_error *err)
{
    uint64_t doubles, node;
    PCI_TRY(pci_number_array_doubles(array, first, count, &doubles, err));
    if (!doubles || doubles == count)
        return pci_document_column(d, parent, key,
                                   count && doubles ? PCI_NODE_DOUBLES : PCI_NODE_INTEGERS,
                                   array->bits, first, count, err);
    PCI_TRY(pci_document_node(d, parent, key, PCI_NODE_OBJECT, &node, err));
    PCI_TRY(
        pci_document_column(d, node, "bits", PCI_NODE_INTEGERS, array->bits, first, count, err));
    return pci_document_column(d, node, "kinds", PCI_NODE_INTEGERS, array->kinds, first, count,
                               err);
}

pcol_status pci_document_number_member(struct pci_document *d, uint64_t parent, const char *key,
                                       struct pci_number_array *array, uint64_t first,
                                       uint64_t count, pcol_error *err)
{
    PCI_TRY(pci_document_place(d, parent, key, err));
    return pci_document_numbers(d, d->arrays, NULL, array, first, count, err);
}

/* ---- export */

static pcol_status get_extra(const struct pci_export *export, uint64_t *extra, pcol_error *err)
{
    int64_t node;
    int valid;
    PCI_TRY(pci_get_named(export->file, "sources", "extra", PCI_TYPES_ROW, export->first_source,
                          &node, &valid, err));
    *extra = valid ? (uint64_t)node : PCI_NO_NODE;
    return PCOL_OK;
}

pcol_status pci_document_find(const struct pci_export *export, const char *source_type,
                              uint64_t *extra, pcol_error *err)
{
    int only;
    *extra = PCI_NO_NODE;
    PCI_TRY(pci_export_is_only(export, source_type, &only, err));
    return only ? get_extra(export, extra, err) : PCOL_OK;
}

pcol_status pci_document_restores(const struct pci_export *export, int *restored, pcol_error *err)
{
    uint64_t extra;
    PCI_TRY(get_extra(export, &extra, err));
    *restored = extra != PCI_NO_NODE;
    return PCOL_OK;
}

pcol_status pci_document_find_member(const struct pci_node_reader *nodes, uint64_t object,
                                     const char *key, uint64_t *member, pcol_error *err)
{
    struct pci_node_value node;
    PCI_TRY(pci_nodes_get(nodes, object, &node, err));
    if (node.tag != PCI_NODE_OBJECT)
        return pci_corrupt(err, "nodes", "tag", object, "not an object");
    PCI_TRY(pci_nodes_first(nodes, object, member, err));
    while (*member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(nodes, *member, &node, err));
        if (node.has_key && pci_str_is(node.key, key))
            return PCOL_OK;
        PCI_TRY(pci_nodes_next(nodes, object, member, err));
    }
    return pci_corrupt(err, "nodes", NULL, object, "no member '%s'", key);
}

static int is_number_node(uint8_t tag)
{
    return tag == PCI_NODE_INTEGERS || tag == PCI_NODE_DOUBLES;
}

pcol_status pci_number_reader_open(struct pci_number_reader *r, const struct pci_node_reader *nodes,
                                   uint64_t node, int *is_numbers, pcol_error *err)
{
    uint64_t member;
    memset(r, 0, offsetof(struct pci_number_reader, values));
    r->nodes = nodes;
    r->buffered = 0;
    PCI_TRY(pci_nodes_get(nodes, node, &r->bits, err));
    r->kinds.tag = PCI_NODE_NULL;
    *is_numbers = is_number_node(r->bits.tag);
    if (r->bits.tag == PCI_NODE_OBJECT) {
        struct pci_node_value first;
        PCI_TRY(pci_nodes_first(nodes, node, &member, err));
        if (member == PCI_NO_NODE)
            return PCOL_OK;
        PCI_TRY(pci_nodes_get(nodes, member, &first, err));
        if (!first.has_key || !pci_str_is(first.key, "bits"))
            return PCOL_OK;
        PCI_TRY(pci_document_find_member(nodes, node, "kinds", &member, err));
        PCI_TRY(pci_nodes_get(nodes, member, &r->kinds, err));
        r->bits = first;
        if (r->bits.tag != PCI_NODE_INTEGERS || r->kinds.tag != PCI_NODE_INTEGERS ||
            r->kinds.end - r->kinds.first != r->bits.end - r->bits.first)
            return pci_corrupt(err, "nodes", "tag", node,
                               "bits and kinds must be integers of one count");
        *is_numbers = 1;
    }
    if (*is_numbers)
        r->count = r->bits.end - r->bits.first;
    return PCOL_OK;
}

pcol_status pci_number_reader_next(struct pci_number_reader *r, int64_t *bits, int *is_double,
                                   pcol_error *err)
{
    if (r->at >= r->count)
        return pci_corrupt(err, "nodes", "integer", r->bits.row, "the array has too few elements");
    if (r->at >= r->first + r->buffered) {
        size_t n = r->count - r->at < BATCH ? (size_t)(r->count - r->at) : BATCH;
        PCI_TRY(pci_nodes_elements(r->nodes, &r->bits, r->at, n, r->values, err));
        if (r->kinds.tag == PCI_NODE_INTEGERS)
            PCI_TRY(pci_nodes_elements(r->nodes, &r->kinds, r->at, n, r->kind_values, err));
        r->first = r->at;
        r->buffered = n;
    }
    *bits = r->values[r->at - r->first];
    *is_double = r->kinds.tag == PCI_NODE_INTEGERS ? r->kind_values[r->at - r->first] != 0
                                                   : r->bits.tag == PCI_NODE_DOUBLES;
    r->at++;
    return PCOL_OK;
}

pcol_status pci_number_reader_put(struct pci_number_reader *r, struct pci_json_writer *json,
                                  pcol_error *err)
{
    int64_t bits;
    int is_double;
    PCI_TRY(pci_number_reader_next(r, &bits, &is_double, err));
    if (is_double)
        pci_json_put_double(json, pci_number_value(bits, 1), err);
    else
        pci_json_put_int(json, bits, err);
    return json->status;
}

struct placing {
    struct pci_document_writer *writer;
    pci_document_element_fn element;
    void *context;
};

static pcol_status put_place(void *context, const struct pci_node_value *place,
                             struct pci_json_writer *json, pcol_error *err)
{
    struct placing *p = context;
    struct pci_document_writer *w = p->writer;
    struct pci_number_reader numbers;
    struct pci_node_value element;
    int is_numbers, is_records;
    if (w->next == PCI_NO_NODE)
        return pci_corrupt(err, "nodes", "tag", place->row,
                           "`arrays` has no element for this place");
    PCI_TRY(pci_number_reader_open(&numbers, &w->nodes, w->next, &is_numbers, err));
    PCI_TRY(pci_nodes_get(&w->nodes, w->next, &element, err));
    PCI_TRY(pci_nodes_next(&w->nodes, w->arrays, &w->next, err));
    PCI_TRY(pci_records_find(&w->nodes, &element, &is_records, err));
    if (is_records)
        return pci_records_write(&w->nodes, element.row, json, &w->steps, err);
    if (!is_numbers && p->element)
        return p->element(p->context, w, place, &element, err);
    if (!is_numbers)
        return pci_corrupt(err, "nodes", "tag", element.row, "not an array");
    pci_json_put_begin(json, '[', err);
    for (uint64_t i = 0; i < numbers.count; i++)
        PCI_TRY(pci_number_reader_put(&numbers, json, err));
    pci_json_put_end(json, ']', err);
    return json->status;
}

static pcol_status write_document(struct pci_document_writer *w, struct placing *placing,
                                  pcol_error *err)
{
    const unsigned flags = PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT | PCI_JSON_WTF8;
    uint64_t extra;
    PCI_TRY(get_extra(w->export, &extra, err));
    PCI_TRY(pci_nodes_open(&w->nodes, w->file, err));
    PCI_TRY(pci_document_find_member(&w->nodes, extra, "document", &w->root, err));
    PCI_TRY(pci_document_find_member(&w->nodes, extra, "arrays", &w->arrays, err));
    PCI_TRY(pci_nodes_first(&w->nodes, w->arrays, &w->next, err));
    PCI_TRY(pci_json_writer_open(&w->json, w->export->sink, flags, err));
    PCI_TRY(pci_json_from_nodes(w->file, w->root, &w->json, put_place, placing, err));
    return pci_json_writer_finish(&w->json, err);
}

pcol_status pci_document_write(const struct pci_export *export, pci_document_element_fn element,
                               void *context, pcol_error *err)
{
    struct pci_document_writer w = {
        .export = export, .file = export->file, .source = export->first_source};
    struct placing placing = {&w, element, context};
    pcol_status status = write_document(&w, &placing, err);
    pci_json_writer_close(&w.json);
    return status == PCOL_OK ? pci_export_losses(export, "", err) : status;
}
