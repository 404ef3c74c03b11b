/*
 * uid.c - the frame of a uid that is no flat object
 *
 * Perun shows any uid as its flat text, and an object with a function, source and line as that
 * place. So an object with a function has the frame of that function, whatever else is in it; any
 * other value has a frame that is named by its flat text: "q:5:q:5" for
 * {"k":{"line":5,"file":"q"}}.
 */
#include "formats/perun/perun.h"

#include "formats/perun/flatten.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <string.h>

#define MOST_BYTES 65536u /* texts can double with every level: a longer one names no frame */
#define MOST_PARTS 8u

struct walk {
    struct pci_perun *p;
    struct pci_json json;
    struct pci_arena arena;
    struct pci_flat_tree tree;
    struct pci_flat flat;
    uint32_t *open; /* nodes of the objects and arrays that are */
    size_t depth, open_capacity;
    struct pci_perun_cell parts[MOST_PARTS]; /* scalars of the outermost object that say a place */
    uint32_t part_count;
    int in_object; /* the outermost value is one */
};

static pcol_status keep(struct walk *w, pcol_str *text, pcol_error *err)
{
    char *copy;
    PCI_TRY(pci_arena_take(&w->arena, text->size, &copy, err));
    if (text->size)
        memcpy(copy, text->data, text->size);
    text->data = copy;
    return PCOL_OK;
}

/* The scalar that is the current token. */
static pcol_status scalar(struct walk *w, struct pci_value *value, pcol_error *err)
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
        return keep(w, &value->as.text, err);
    } else {
        value->as.i64 = value->kind == PCI_VALUE_BOOL ? json->type == PCI_JSON_TRUE : json->integer;
    }
    return PCOL_OK;
}

/* A string or integer of the outermost object: it may be its function, source, line or column. */
static pcol_status note_part(struct walk *w, pcol_str key, pcol_error *err)
{
    const struct pci_perun_frames *f = &w->p->frames;
    const uint32_t keys[] = {f->function, f->func, f->source, f->file, f->line, f->column};
    struct pci_perun_cell *part = &w->parts[w->part_count];
    uint32_t string;
    if (w->depth != 1 || !w->in_object || w->part_count == MOST_PARTS ||
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

/* The value that begins with the current token, as a member of what is open. */
static pcol_status add(struct walk *w, pcol_str key, pcol_error *err)
{
    struct pci_member member = {key, {.kind = PCI_VALUE_NULL}};
    uint32_t parent = w->depth ? w->open[w->depth - 1] : PCOL_NONE;
    enum pci_flat_shape shape = w->json.type == PCI_JSON_OBJECT  ? PCI_FLAT_OBJECT
                                : w->json.type == PCI_JSON_ARRAY ? PCI_FLAT_ARRAY
                                                                 : PCI_FLAT_SCALAR;
    if (shape == PCI_FLAT_SCALAR) {
        PCI_TRY(note_part(w, key, err));
        PCI_TRY(scalar(w, &member.value, err));
        return pci_flat_add(&w->tree, parent, &member, shape, err);
    }
    void *open = w->open;
    if (pci_grow(&open, &w->open_capacity, w->depth + 1, sizeof *w->open))
        return pci_fail_memory(err);
    w->open = open;
    if (!w->depth)
        w->in_object = shape == PCI_FLAT_OBJECT;
    w->open[w->depth++] = (uint32_t)w->tree.count;
    return pci_flat_add(&w->tree, parent, &member, shape, err);
}

/* *whole is 0 if there is too much of it. */
static pcol_status read_value(struct walk *w, int *whole, pcol_error *err)
{
    pcol_str key = {"", 0};
    *whole = 1;
    do {
        PCI_TRY(pci_json_next(&w->json, err));
        if (w->json.type == PCI_JSON_KEY) {
            key = w->json.text;
            PCI_TRY(keep(w, &key, err));
            continue;
        }
        if (w->json.type == PCI_JSON_OBJECT_END || w->json.type == PCI_JSON_ARRAY_END)
            w->depth--;
        else
            PCI_TRY(add(w, key, err));
        key = (pcol_str){"", 0};
        *whole = w->tree.count <= MOST_BYTES && w->arena.total <= 2 * MOST_BYTES;
    } while (w->depth && *whole);
    return PCOL_OK;
}

/* The flat text; empty if it is too long, as may be that which it is made of. */
static pcol_status make_text(struct walk *w, struct pci_strbuf *text, pcol_error *err)
{
    pcol_error too_long;
    pcol_status status = pci_flat_items(&w->tree, &w->flat, &w->arena, &too_long);
    if (status == PCOL_OK)
        status = pci_flat_text(&w->flat.items[w->flat.count - 1].value, text, &too_long);
    if (status == PCOL_E_LIMIT || text->size > MOST_BYTES) {
        text->size = 0;
        return PCOL_OK;
    }
    if (status != PCOL_OK)
        *err = too_long;
    return status;
}

static pcol_status name_group(struct walk *w, uint32_t *group, pcol_error *err)
{
    struct pci_strbuf text = {0};
    uint32_t name;
    pcol_status status = make_text(w, &text, err);
    if (status == PCOL_OK && text.size) {
        status = pcol_builder_string(w->p->builder, text.data, text.size, &name, err);
        if (status == PCOL_OK)
            status = pci_perun_named(w->p, name, group, err);
    }
    pci_strbuf_clear(&text);
    return status;
}

static pcol_status find_group(struct walk *w, uint32_t *group, pcol_error *err)
{
    int placed, whole;
    PCI_TRY(read_value(w, &whole, err));
    w->arena.most = w->arena.total + 4 * MOST_BYTES;
    PCI_TRY(pci_perun_placed(w->p, w->parts, w->part_count, group, &placed, err));
    return placed || !whole ? PCOL_OK : name_group(w, group, err);
}

pcol_status pci_perun_uid(struct pci_perun *p, int64_t place, uint32_t *group, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_NONFINITE, 0};
    struct walk w = {.p = p};
    struct pci_input input;
    pcol_str text;
    *group = PCOL_NONE;
    PCI_TRY(pci_perun_text_get(p, place, &text, err));
    PCI_TRY(pci_input_open_memory(&input, text.data, text.size, NULL, NULL, err));
    pcol_status status = pci_json_open(&w.json, &input, &options, err);
    if (status == PCOL_OK)
        status = find_group(&w, group, err);
    pci_json_close(&w.json);
    pci_input_close(&input);
    pci_flat_clear(&w.tree);
    pci_arena_clear(&w.arena);
    pci_free(w.flat.items);
    pci_free(w.open);
    return status;
}
