/*
 * uid.c - finds the frame of a uid that is no flat object
 *
 * Perun shows any uid as its flat text, and an object with a function, source and line as a code
 * position. So an object with a function gets the frame of that function, whatever else it
 * contains; any other value gets a frame named by its flat text: "q:5:q:5" for
 * {"k":{"line":5,"file":"q"}}.
 */
#include "formats/perun/perun.h"

#include "formats/perun/flatten.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <string.h>

#define MAX_BYTES 65536u /* texts can double with each level; longer ones name no frame */
#define MAX_PARTS 8u

struct uid_parser {
    struct pci_perun *p;
    struct pci_json json;
    struct pci_arena arena;
    struct pci_flat_tree tree;
    struct pci_flat flat;
    uint32_t *open; /* nodes of the open objects and arrays */
    size_t depth, open_capacity;
    /* scalars of the outermost object that can belong to a code position */
    struct pci_perun_cell parts[MAX_PARTS];
    uint32_t part_count;
    int in_object; /* the outermost value is an object */
};

static pcol_status copy_text(struct uid_parser *w, pcol_str *text, pcol_error *err)
{
    char *copy;
    PCI_TRY(pci_arena_alloc(&w->arena, text->size, &copy, err));
    if (text->size)
        memcpy(copy, text->data, text->size);
    text->data = copy;
    return PCOL_OK;
}

/* Convert the current token, a scalar. */
static pcol_status read_scalar(struct uid_parser *w, struct pci_value *value, pcol_error *err)
{
    const struct pci_json *json = &w->json;
    value->kind = json->type == PCI_JSON_DOUBLE   ? PCI_VALUE_DOUBLE
                  : json->type == PCI_JSON_INT    ? PCI_VALUE_INTEGER
                  : json->type == PCI_JSON_BIG    ? PCI_VALUE_BIG
                  : json->type == PCI_JSON_STRING ? PCI_VALUE_STRING
                  : json->type == PCI_JSON_NULL   ? PCI_VALUE_NULL
                                                  : PCI_VALUE_BOOL;
    if (value->kind == PCI_VALUE_DOUBLE) {
        value->as.f64 = json->number;
    } else if (value->kind == PCI_VALUE_BIG || value->kind == PCI_VALUE_STRING) {
        value->as.text = json->text;
        return copy_text(w, &value->as.text, err);
    } else {
        value->as.i64 = value->kind == PCI_VALUE_BOOL ? json->type == PCI_JSON_TRUE : json->integer;
    }
    return PCOL_OK;
}

/* Record a string or integer of the outermost object if its key is that of a function, source, line
 * or column. */
static pcol_status record_part(struct uid_parser *w, pcol_str key, pcol_error *err)
{
    const struct pci_perun_frames *f = &w->p->frames;
    const uint32_t keys[] = {f->function, f->func, f->source, f->file, f->line, f->column};
    struct pci_perun_cell *part = &w->parts[w->part_count];
    uint32_t string;
    if (w->depth != 1 || !w->in_object || w->part_count == MAX_PARTS ||
        (w->json.type != PCI_JSON_STRING && w->json.type != PCI_JSON_INT))
        return PCOL_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pcol_str known = pci_string_pool_get(&w->p->builder->strings, keys[i]);
        if (known.size != key.size || memcmp(known.data, key.data, key.size) != 0)
            continue;
        *part = (struct pci_perun_cell){keys[i], PCI_PERUN_INTEGER, w->json.integer};
        if (w->json.type == PCI_JSON_STRING) {
            PCI_TRY(pcol_builder_string(w->p->builder, w->json.text.data, w->json.text.size,
                                        &string, err));
            *part = (struct pci_perun_cell){keys[i], PCI_PERUN_STRING, string};
        }
        w->part_count++;
        break;
    }
    return PCOL_OK;
}

/* Add the value that begins with the current token to the innermost open container. */
static pcol_status add_value(struct uid_parser *w, pcol_str key, pcol_error *err)
{
    struct pci_member member = {key, {.kind = PCI_VALUE_NULL}};
    uint32_t parent = w->depth ? w->open[w->depth - 1] : PCOL_NONE;
    enum pci_flat_shape shape = w->json.type == PCI_JSON_OBJECT  ? PCI_FLAT_OBJECT
                                : w->json.type == PCI_JSON_ARRAY ? PCI_FLAT_ARRAY
                                                                 : PCI_FLAT_SCALAR;
    if (shape == PCI_FLAT_SCALAR) {
        PCI_TRY(record_part(w, key, err));
        PCI_TRY(read_scalar(w, &member.value, err));
        return pci_flat_add(&w->tree, parent, &member, shape, err);
    }
    PCI_TRY(PCI_GROW(w->open, w->open_capacity, w->depth + 1, err));
    if (!w->depth)
        w->in_object = shape == PCI_FLAT_OBJECT;
    w->open[w->depth++] = (uint32_t)w->tree.count;
    return pci_flat_add(&w->tree, parent, &member, shape, err);
}

/* Read the value as a tree. *whole is 0 if it is too large. */
static pcol_status read_value(struct uid_parser *w, int *is_complete, pcol_error *err)
{
    pcol_str key = {"", 0};
    *is_complete = 1;
    do {
        PCI_TRY(pci_json_next(&w->json, err));
        if (w->json.type == PCI_JSON_KEY) {
            key = w->json.text;
            PCI_TRY(copy_text(w, &key, err));
            continue;
        }
        if (w->json.type == PCI_JSON_OBJECT_END || w->json.type == PCI_JSON_ARRAY_END)
            w->depth--;
        else
            PCI_TRY(add_value(w, key, err));
        key = (pcol_str){"", 0};
        *is_complete = w->tree.count <= MAX_BYTES && w->arena.total <= 2 * MAX_BYTES;
    } while (w->depth && *is_complete);
    return PCOL_OK;
}

/* Make the flat text; empty if it, or an intermediate text, is too long. */
static pcol_status make_text(struct uid_parser *w, struct pci_strbuf *text, pcol_error *err)
{
    pcol_error too_long;
    pcol_status status = pci_flat_items(&w->tree, &w->flat, &w->arena, &too_long);
    PCI_THEN(status, pci_flat_text(&w->flat.items[w->flat.count - 1].value, text, &too_long));
    if (status == PCOL_E_LIMIT || text->size > MAX_BYTES) {
        text->size = 0;
        return PCOL_OK;
    }
    if (status != PCOL_OK)
        *err = too_long;
    return status;
}

static pcol_status name_group(struct uid_parser *w, uint32_t *group, pcol_error *err)
{
    struct pci_strbuf text = {0};
    uint32_t name;
    pcol_status status = make_text(w, &text, err);
    if (status == PCOL_OK && text.size) {
        status = pcol_builder_string(w->p->builder, text.data, text.size, &name, err);
        PCI_THEN(status, pci_perun_find_name_group(w->p, name, group, err));
    }
    pci_strbuf_clear(&text);
    return status;
}

static pcol_status find_group(struct uid_parser *w, uint32_t *group, pcol_error *err)
{
    int has_function, is_complete;
    PCI_TRY(read_value(w, &is_complete, err));
    w->arena.most = w->arena.total + 4 * MAX_BYTES;
    PCI_TRY(
        pci_perun_find_position_group(w->p, w->parts, w->part_count, group, &has_function, err));
    return has_function || !is_complete ? PCOL_OK : name_group(w, group, err);
}

pcol_status pci_perun_find_uid_group(struct pci_perun *p, int64_t offset, uint32_t *group,
                                     pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_NONFINITE, 0};
    struct uid_parser w = {.p = p};
    struct pci_input input;
    pcol_str text;
    *group = PCOL_NONE;
    PCI_TRY(pci_perun_text_get(p, offset, &text, err));
    PCI_TRY(pci_input_open_memory(&input, text.data, text.size, NULL, NULL, err));
    pcol_status status = pci_json_open(&w.json, &input, &options, err);
    PCI_THEN(status, find_group(&w, group, err));
    pci_json_close(&w.json);
    pci_input_close(&input);
    pci_flat_clear(&w.tree);
    pci_arena_clear(&w.arena);
    pci_free(w.flat.items);
    pci_free(w.open);
    return status;
}
