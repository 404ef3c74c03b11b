/*
 * read.c - imports Perun profiles: parses the JSON text in one pass
 *
 * A document has resources at four keys: `resources` by type (with `resource_type_map`), plain
 * `resources`, `snapshots` and `global`. All other top-level members, duplicate keys, and values of
 * an unexpected form become nodes of the source's tree, which has the order of all members.
 *
 *     profile TYPE LENGTH\0{...}       an object of Perun's store, after zlib decompression
 *
 * Tests: tests/roundtrip/perun, tests/unit/test_perun.c.
 */
#include "formats/perun/perun.h"

#include "formats/perun/sniff.h"
#include "model/json_tree.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>

#define NO_OWNER PCOL_NONE

static int is_key(const struct pci_perun *p, const char *text)
{
    return pci_json_is(&p->json, text);
}

static pcol_status intern(struct pci_perun *p, uint32_t *string, pcol_error *err)
{
    return pcol_builder_string(p->builder, p->json.text.data, p->json.text.size, string, err);
}

/* ---- records */

/* Read the members of the current object as cells, appended to p->cells. */
static pcol_status read_members(struct pci_perun *p, pcol_error *err)
{
    for (;;) {
        struct pci_perun_cell cell;
        uint32_t key;
        int more;
        PCI_TRY(pci_json_member(&p->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(intern(p, &key, err));
        PCI_TRY(pci_json_next(&p->json, err));
        PCI_TRY(pci_perun_read_value(p, key, &cell, err));
        PCI_TRY(pci_perun_push_cell(p, &cell, err));
    }
}

/* Read an array of objects as records; its first element is current. what: "a resource", for
 * errors. */
static pcol_status read_records(struct pci_perun *p, struct pci_perun_records *records,
                                uint32_t owner, const char *what, pcol_error *err)
{
    int more = 1;
    while (more) {
        size_t first = p->cell_count;
        PCI_TRY(pci_json_expect(&p->json, PCI_JSON_OBJECT, what, err));
        PCI_TRY(read_members(p, err));
        size_t count = p->cell_count - first;
        for (size_t i = first; i < p->cell_count && records == &p->resources; i++)
            p->doubles |= p->cells[i].kind == PCI_PERUN_DOUBLE &&
                          p->cells[i].key == p->shapes.role_keys[PCI_PERUN_AMOUNT];
        PCI_TRY(
            pci_perun_add_record(p, records, owner, count ? p->cells + first : NULL, count, err));
        p->cell_count = first;
        PCI_TRY(pci_json_element(&p->json, &more, err));
    }
    return PCOL_OK;
}

/* ---- snapshots */

static pcol_status set_table_cell(struct pci_perun *p, uint32_t key, const char *table,
                                  struct pci_perun_cell *cell, pcol_error *err)
{
    uint32_t string;
    PCI_TRY(pcol_builder_string(p->builder, table, strlen(table), &string, err));
    *cell = (struct pci_perun_cell){key, PCI_PERUN_TABLE, string};
    return PCOL_OK;
}

/* Read `resources` or `models` of a snapshot. An empty array is stored as a value. */
static pcol_status read_snapshot_part(struct pci_perun *p, uint32_t key, int models,
                                      uint32_t snapshot, struct pci_perun_cell *cell,
                                      pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_element(&p->json, &more, err));
    if (more) {
        PCI_TRY(set_table_cell(p, key, models ? "models" : "samples", cell, err));
        return read_records(p, models ? &p->models : &p->resources, snapshot,
                            models ? "a model" : "a resource", err);
    }
    PCI_TRY(pci_perun_text_begin(p, err));
    pci_json_put_begin(&p->writer, '[', err);
    pci_json_put_end(&p->writer, ']', err);
    cell->key = key;
    return pci_perun_text_store(p, cell, err);
}

/* Read the current object as a snapshot. The first cell of its record is the region. */
static pcol_status read_snapshot(struct pci_perun *p, const char *region, pcol_error *err)
{
    uint32_t snapshot = (uint32_t)p->snapshots.count;
    struct pci_perun_cell cell;
    int seen[2] = {0, 0};
    if (p->snapshots.count >= NO_OWNER - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967293 snapshots");
    p->cell_count = 0;
    PCI_TRY(set_table_cell(p, 0, region, &cell, err));
    PCI_TRY(pci_perun_push_cell(p, &cell, err));
    for (;;) {
        uint32_t key;
        int more, models, part;
        PCI_TRY(pci_json_member(&p->json, &more, err));
        if (!more)
            break;
        PCI_TRY(intern(p, &key, err));
        models = is_key(p, "models");
        part = (models || is_key(p, "resources")) && !seen[models];
        PCI_TRY(pci_json_next(&p->json, err));
        if (part && p->json.type == PCI_JSON_ARRAY) {
            seen[models] = 1;
            PCI_TRY(read_snapshot_part(p, key, models, snapshot, &cell, err));
        } else {
            PCI_TRY(pci_perun_read_value(p, key, &cell, err));
        }
        PCI_TRY(pci_perun_push_cell(p, &cell, err));
    }
    PCI_TRY(pci_perun_add_record(p, &p->snapshots, NO_OWNER, p->cells, p->cell_count, err));
    p->cell_count = 0;
    return PCOL_OK;
}

static pcol_status read_snapshots(struct pci_perun *p, const char *region, pcol_error *err)
{
    int more = 1;
    while (more) {
        PCI_TRY(pci_json_expect(&p->json, PCI_JSON_OBJECT, "a snapshot", err));
        PCI_TRY(read_snapshot(p, region, err));
        PCI_TRY(pci_json_element(&p->json, &more, err));
    }
    return PCOL_OK;
}

/* ---- types */

/* Find the first type with the name of the current key that the map (or `resources`) has not named
 * yet; add it if there is none. */
static pcol_status find_type(struct pci_perun *p, int in_map, uint32_t *type, pcol_error *err)
{
    uint32_t name;
    size_t known = p->names.count;
    PCI_TRY(pci_string_pool_intern(&p->names, p->json.text.data, p->json.text.size, &name, err));
    PCI_TRY(PCI_GROW(p->by_name, p->by_name_capacity, name + (size_t)1, err));
    if (p->names.count > known)
        p->by_name[name] = (struct pci_perun_name){PCOL_NONE, {PCOL_NONE, PCOL_NONE}};
    struct pci_perun_name *by_this_name = &p->by_name[name];
    *type = by_this_name->next[in_map];
    if (*type != PCOL_NONE) {
        by_this_name->next[in_map] = p->types[*type].next;
        return PCOL_OK;
    }
    if (p->type_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 types of resources");
    PCI_TRY(PCI_GROW(p->types, p->type_capacity, p->type_count + 1, err));
    *type = (uint32_t)p->type_count++;
    if (by_this_name->last != PCOL_NONE)
        p->types[by_this_name->last].next = *type;
    by_this_name->last = *type;
    if (by_this_name->next[!in_map] == PCOL_NONE)
        by_this_name->next[!in_map] = *type;
    p->types[*type] = (struct pci_perun_type){
        .name = name, .map_ordinal = PCOL_NONE, .resources_ordinal = PCOL_NONE, .next = PCOL_NONE};
    return PCOL_OK;
}

/* Read resource_type_map; its first key is current. */
static pcol_status read_map(struct pci_perun *p, pcol_error *err)
{
    uint32_t ordinal = 0;
    for (int more = 1; more; ordinal++) {
        uint32_t type;
        PCI_TRY(find_type(p, 1, &type, err));
        PCI_TRY(PCI_GROW(p->map_order, p->map_capacity, p->map_count + 1, err));
        p->map_order[p->map_count++] = type;
        PCI_TRY(pci_json_next(&p->json, err));
        PCI_TRY(pci_json_expect(&p->json, PCI_JSON_OBJECT, "a type of resource_type_map", err));
        p->cell_count = 0;
        PCI_TRY(read_members(p, err));
        p->types[type].map_ordinal = ordinal;
        p->types[type].record = pci_spill_size(&p->type_records.data);
        for (size_t i = 0; i < p->cell_count; i++)
            p->doubles |= p->cells[i].kind == PCI_PERUN_DOUBLE &&
                          p->cells[i].key == p->shapes.role_keys[PCI_PERUN_AMOUNT];
        PCI_TRY(pci_perun_add_record(p, &p->type_records, NO_OWNER, p->cells, p->cell_count, err));
        p->cell_count = 0;
        PCI_TRY(pci_json_member(&p->json, &more, err));
    }
    return PCOL_OK;
}

static pcol_status read_array(struct pci_perun *p, uint32_t key, pcol_error *err)
{
    if (p->array_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 arrays of resources");
    PCI_TRY(PCI_GROW(p->arrays, p->array_capacity, p->array_count + 1, err));
    int amount = key == p->shapes.role_keys[PCI_PERUN_AMOUNT];
    struct pci_perun_array *array = &p->arrays[p->array_count++];
    array->key = key;
    array->first = pci_spill_size(&p->cell_kinds);
    for (array->length = 0;; array->length++) {
        struct pci_perun_cell cell;
        int more;
        PCI_TRY(pci_json_element(&p->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_perun_read_value(p, key, &cell, err));
        p->doubles |= amount && cell.kind == PCI_PERUN_DOUBLE;
        PCI_TRY(pci_spill_append(&p->cell_kinds, &cell.kind, 1, err));
        PCI_TRY(pci_spill_append_u64(&p->cell_values, (uint64_t)cell.value, err));
    }
}

/* Read the arrays of one type in `resources`; its object is current. */
static pcol_status read_type(struct pci_perun *p, uint32_t type, pcol_error *err)
{
    uint32_t first = (uint32_t)p->array_count;
    for (;;) {
        uint32_t key;
        int more;
        PCI_TRY(pci_json_member(&p->json, &more, err));
        if (!more)
            break;
        PCI_TRY(intern(p, &key, err));
        PCI_TRY(pci_json_next(&p->json, err));
        PCI_TRY(pci_json_expect(&p->json, PCI_JSON_ARRAY, "the values of a key of a type", err));
        PCI_TRY(read_array(p, key, err));
    }
    p->types[type].first_array = first;
    p->types[type].array_count = (uint32_t)p->array_count - first;
    return PCOL_OK;
}

/* Read `resources` by type; its first key is current. */
static pcol_status read_types(struct pci_perun *p, pcol_error *err)
{
    p->resource_count_before_types = p->resources.count;
    for (int more = 1; more;) {
        uint32_t type;
        PCI_TRY(find_type(p, 0, &type, err));
        PCI_TRY(PCI_GROW(p->order, p->order_capacity, p->order_count + 1, err));
        p->types[type].resources_ordinal = (uint32_t)p->order_count;
        p->order[p->order_count++] = type;
        PCI_TRY(pci_json_next(&p->json, err));
        PCI_TRY(pci_json_expect(&p->json, PCI_JSON_OBJECT, "a type of resources", err));
        PCI_TRY(read_type(p, type, err));
        PCI_TRY(pci_json_member(&p->json, &more, err));
    }
    return PCOL_OK;
}

/* ---- header and collector */

/* Record units, the profile's type and the collector's name from a small object. */
static pcol_status record_facts(struct pci_perun *p, struct pci_json *json, pcol_error *err)
{
    for (;;) {
        int more, units;
        PCI_TRY(pci_json_member(json, &more, err));
        if (!more)
            return PCOL_OK;
        int fact = pci_json_is(json, "type")   ? PCI_PERUN_HEADER_TYPE
                   : pci_json_is(json, "name") ? PCI_PERUN_COLLECTOR
                                               : PCI_PERUN_FACTS;
        units = pci_json_is(json, "units");
        PCI_TRY(pci_json_next(json, err));
        if (fact != PCI_PERUN_FACTS && json->type == PCI_JSON_STRING)
            PCI_TRY(pcol_builder_string(p->builder, json->text.data, json->text.size,
                                        &p->facts[fact], err));
        if (!units || json->type != PCI_JSON_OBJECT) {
            PCI_TRY(pci_json_skip(json, err));
            continue;
        }
        for (;;) {
            uint32_t key, index;
            int known;
            PCI_TRY(pci_json_member(json, &more, err));
            if (!more)
                break;
            PCI_TRY(pcol_builder_string(p->builder, json->text.data, json->text.size, &key, err));
            PCI_TRY(pci_json_next(json, err));
            if (json->type != PCI_JSON_STRING) {
                PCI_TRY(pci_json_skip(json, err));
                continue;
            }
            PCI_TRY(pci_pair_set_index(&p->unit_keys, key, 0, &index, &known, err));
            PCI_TRY(PCI_GROW(p->units, p->unit_capacity, p->unit_keys.count, err));
            PCI_TRY(pcol_builder_string(p->builder, json->text.data, json->text.size,
                                        &p->units[index], err));
        }
    }
}

/* Read an object with facts: its text is parsed twice, for the facts and for the nodes. */
static pcol_status read_facts(struct pci_perun *p, uint32_t key, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_NONFINITE, 0};
    struct pci_input input;
    struct pci_json json;
    uint64_t node;
    PCI_TRY(pci_perun_text_begin(p, err));
    PCI_TRY(pci_perun_text_value(p, err));
    PCI_TRY(pci_perun_text_end(p, err));
    pcol_status status = PCOL_OK;
    for (int pass = 0; pass < 2 && status == PCOL_OK; pass++) {
        PCI_TRY(pci_input_open_memory(&input, p->text, p->text_size, NULL, NULL, err));
        status = pci_json_open(&json, &input, &options, err);
        PCI_THEN(status, pci_json_next(&json, err));
        PCI_THEN(status, pass ? pci_json_to_nodes(&json, p->builder, p->root, key, &node, err)
                              : record_facts(p, &json, err));
        pci_json_close(&json);
        pci_input_close(&input);
    }
    return status;
}

/* ---- document */

static pcol_status add_table_node(struct pci_perun *p, uint32_t key, const char *table,
                                  pcol_error *err)
{
    struct pci_new_node node = {.parent = p->root, .key = key, .tag = PCI_NODE_TABLE};
    uint64_t row;
    PCI_TRY(pcol_builder_string(p->builder, table, strlen(table), &node.text, err));
    return pci_builder_node(p->builder, &node, &row, err);
}

/* Enter an object or array. With members, it goes to a table; an empty one becomes a node. The
 * current token is its first one, afterwards the first key or element. */
static pcol_status enter_table(struct pci_perun *p, uint32_t key, const char *table, int *in,
                               pcol_error *err)
{
    struct pci_new_node node = {.parent = p->root, .key = key};
    uint64_t row;
    node.tag = p->json.type == PCI_JSON_OBJECT ? PCI_NODE_OBJECT : PCI_NODE_ARRAY;
    if (node.tag == PCI_NODE_OBJECT)
        PCI_TRY(pci_json_member(&p->json, in, err));
    else
        PCI_TRY(pci_json_element(&p->json, in, err));
    if (*in)
        return add_table_node(p, key, table, err);
    return pci_builder_node(p->builder, &node, &row, err);
}

enum top { TOP_OTHER, TOP_MAP, TOP_RESOURCES, TOP_MODELS, TOP_SNAPSHOTS, TOP_GLOBAL, TOP_FACTS };

static enum top get_top(const struct pci_perun *p)
{
    static const struct {
        const char *key;
        enum top top;
    } keys[] = {
        {"resource_type_map", TOP_MAP}, {"resources", TOP_RESOURCES}, {"models", TOP_MODELS},
        {"snapshots", TOP_SNAPSHOTS},   {"global", TOP_GLOBAL},       {"header", TOP_FACTS},
        {"collector_info", TOP_FACTS},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is_key(p, keys[i].key))
            return keys[i].top;
    return TOP_OTHER;
}

/* Read a value whose form is as expected for its key. */
static pcol_status read_region(struct pci_perun *p, enum top top, uint32_t key, pcol_error *err)
{
    static const char *const tables[] = {[TOP_MAP] = "resource_types",
                                         [TOP_RESOURCES] = "samples",
                                         [TOP_MODELS] = "models",
                                         [TOP_SNAPSHOTS] = "snapshots",
                                         [TOP_GLOBAL] = "snapshots"};
    int object = p->json.type == PCI_JSON_OBJECT, in;
    if (top == TOP_GLOBAL && object) {
        PCI_TRY(add_table_node(p, key, tables[top], err));
        return read_snapshot(p, "global", err);
    }
    PCI_TRY(enter_table(p, key, tables[top], &in, err));
    if (!in)
        return PCOL_OK;
    if (top == TOP_MAP)
        return read_map(p, err);
    if (top == TOP_RESOURCES && object)
        return read_types(p, err);
    if (top == TOP_RESOURCES)
        return read_records(p, &p->resources, NO_OWNER, "a resource", err);
    if (top == TOP_MODELS)
        return read_records(p, &p->models, NO_OWNER, "a model", err);
    return read_snapshots(p, top == TOP_GLOBAL ? "global_list" : "snapshots", err);
}

static int has_expected_form(enum top top, enum pci_json_type type)
{
    switch (top) {
    case TOP_MAP:
    case TOP_FACTS:
        return type == PCI_JSON_OBJECT;
    case TOP_MODELS:
    case TOP_SNAPSHOTS:
        return type == PCI_JSON_ARRAY;
    case TOP_RESOURCES:
    case TOP_GLOBAL:
        return type == PCI_JSON_OBJECT || type == PCI_JSON_ARRAY;
    case TOP_OTHER:
        break;
    }
    return 0;
}

static pcol_status read_top(struct pci_perun *p, unsigned *seen, pcol_error *err)
{
    enum top top = get_top(p);
    uint32_t key;
    uint64_t node;
    PCI_TRY(intern(p, &key, err));
    PCI_TRY(pci_json_next(&p->json, err));
    if (!has_expected_form(top, p->json.type) || (top != TOP_FACTS && *seen & 1u << top))
        return pci_json_to_nodes(&p->json, p->builder, p->root, key, &node, err);
    *seen |= 1u << top;
    return top == TOP_FACTS ? read_facts(p, key, err) : read_region(p, top, key, err);
}

static pcol_status read_document(struct pci_perun *p, pcol_error *err)
{
    struct pci_new_node root = {.parent = PCI_NO_NODE, .key = PCOL_NONE, .tag = PCI_NODE_OBJECT};
    const unsigned regions =
        1u << TOP_MAP | 1u << TOP_RESOURCES | 1u << TOP_SNAPSHOTS | 1u << TOP_GLOBAL;
    unsigned seen = 0;
    PCI_TRY(pci_json_next(&p->json, err));
    if (p->json.type != PCI_JSON_OBJECT)
        return pci_json_expect(&p->json, PCI_JSON_OBJECT, "a Perun profile", err);
    PCI_TRY(pci_builder_node(p->builder, &root, &p->root, err));
    for (;;) {
        int more;
        PCI_TRY(pci_json_member(&p->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_top(p, &seen, err));
    }
    if (!(seen & regions))
        return pci_json_fail(&p->json, err,
                             "not a Perun profile: it has none of the keys resources, "
                             "resource_type_map, snapshots and global");
    return pci_json_finish(&p->json, err);
}

/* ---- import */

static pcol_status open_reader(struct pci_perun *p, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_NONFINITE, 0};
    struct pci_spill_store *store = &p->builder->store;
    struct pci_spill *const buffers[] = {&p->resources.data,    &p->models.data, &p->snapshots.data,
                                         &p->type_records.data, &p->texts,       &p->cell_values,
                                         &p->cell_kinds};
    for (size_t i = 0; i < sizeof buffers / sizeof(struct pci_spill *); i++)
        pci_spill_init(buffers[i], store);
    for (int i = 0; i < PCI_PERUN_FACTS; i++)
        p->facts[i] = PCOL_NONE;
    PCI_TRY(pci_perun_shapes_init(p, err));
    PCI_TRY(pci_perun_frames_init(p, err));
    return pci_json_open(&p->json, p->import->input, &options, err);
}

static void close_reader(struct pci_perun *p)
{
    pci_json_close(&p->json);
    pci_json_writer_close(&p->writer);
    pci_spill_clear(&p->resources.data);
    pci_spill_clear(&p->models.data);
    pci_spill_clear(&p->snapshots.data);
    pci_spill_clear(&p->type_records.data);
    pci_spill_clear(&p->texts);
    pci_spill_clear(&p->cell_values);
    pci_spill_clear(&p->cell_kinds);
    pci_perun_frames_clear(&p->frames);
    pci_hash_clear(&p->shapes.hash);
    pci_free(p->shapes.shapes);
    pci_free(p->shapes.entries);
    pci_string_pool_clear(&p->names);
    pci_free(p->types);
    pci_free(p->by_name);
    pci_free(p->order);
    pci_free(p->map_order);
    pci_free(p->arrays);
    pci_pair_set_clear(&p->unit_keys);
    pci_free(p->units);
    pci_free(p->cells);
    pci_free(p->text);
    pci_free(p->record.values);
    pci_free(p->type_record.values);
    pci_free(p->labels);
}

/* The header of an object of Perun's store. */
struct store_header {
    size_t size;          /* of the header; 0: none */
    size_t length_offset; /* offset of LENGTH */
    uint64_t length;      /* of the rest of the file, in characters, as Perun counts */
};

/* Skip the header. */
static pcol_status skip_store_header(struct pci_import *import, struct store_header *w,
                                     pcol_error *err)
{
    const uint8_t *data = import->input->data;
    *w = (struct store_header){pci_perun_header_size(data, import->input->size), 0, 0};
    if (pci_perun_is_malformed(data, import->input->size))
        return pci_fail_at_byte(
            err, PCOL_E_SYNTAX, 0,
            "an object of Perun's store begins with 'profile TYPE LENGTH' and a "
            "zero byte, LENGTH being a number");
    if (!w->size)
        return PCOL_OK;
    for (w->length_offset = w->size - 1; data[w->length_offset - 1] != ' '; w->length_offset--)
        ;
    for (size_t i = w->length_offset; data[i]; i++) {
        uint64_t digit = (uint64_t)(data[i] - '0');
        w->length = w->length > (UINT64_MAX - digit) / 10 ? UINT64_MAX : w->length * 10 + digit;
    }
    PCI_TRY(pci_input_more(import->input, w->size, err));
    import->input->counting = 1;
    return PCOL_OK;
}

/* Check the length in the header after the document was read. Some writers count bytes. */
static pcol_status check_store_header(struct pci_import *import, const struct store_header *w,
                                      pcol_error *err)
{
    const struct pci_input *input = import->input;
    if (!w->size)
        return PCOL_OK;
    char text[128];
    uint64_t characters = pci_input_characters(input);
    if (w->length == characters || w->length == input->offset + input->size - w->size)
        return PCOL_OK;
    snprintf(text, sizeof text,
             "the length in the header is %" PRIu64 ", but %" PRIu64 " characters follow",
             w->length, characters);
    if (!import->options->lenient)
        return pci_error_option(err, "lenient",
                                pci_fail_at_byte(err, PCOL_E_SYNTAX, w->length_offset, "%s", text));
    pci_import_message("%s", text);
    return PCOL_OK;
}

pcol_status pci_perun_read(struct pci_import *import, pcol_error *err)
{
    struct pci_perun *p;
    struct store_header header;
    pcol_status status;
    PCI_TRY(PCI_CALLOC(p, 1, err));
    p->import = import;
    p->builder = import->builder;
    status = skip_store_header(import, &header, err);
    PCI_THEN(status, open_reader(p, err));
    PCI_THEN(status, read_document(p, err));
    PCI_THEN(status, check_store_header(import, &header, err));
    PCI_THEN(status, pci_perun_build(p, err));
    if (status == PCOL_OK && p->big_amounts)
        pci_import_message("amounts beyond 64 bits are labels and not counted: %" PRIu64,
                           p->big_amounts);
    close_reader(p);
    pci_free(p);
    return status;
}
