/*
 * uid.c - the frame of a uid that is no flat object
 *
 * Perun shows any uid as its flat text, and an object with a function, source and line as that
 * place. So an object with a function has the frame of that function, whatever else is in it; any
 * other value has a frame that is named by its flat text: "q:5:q:5" for {"k":{"line":5,"file":"q"}}.
 *
 * The text is made in one pass over the value's JSON, without recursion: items (key and text) of all
 * that is open lie in one list, and the end of an array or object turns its own into one of the level
 * above. An object's items also stay, under longer keys, since Perun has them too.
 */
#include "perun/perun.h"

#include "core/alloc.h"
#include "io/open.h"
#include "model/flat.h"

#include <string.h>

#define MOST_BYTES 65536u /* texts can double with every level: a longer one names no frame */
#define MOST_PARTS 8u

struct piece {
    size_t at, size; /* in `bytes` */
};

struct item {
    struct piece key, text;
};

struct level {
    struct piece key; /* of the container in the one above */
    size_t first;     /* of its items */
    int object;
};

struct walk {
    struct pci_perun *p;
    struct pci_json json;
    struct pci_text bytes;
    struct item *items;
    size_t count, capacity;
    struct level *levels;
    size_t depth, level_capacity;
    struct pci_perun_cell parts[MOST_PARTS]; /* scalars of the outermost object that say a place */
    uint32_t part_count;
};

static pcol_status put(struct walk *w, const char *data, size_t size, pcol_error *err)
{
    return pci_text_put(&w->bytes, data, size, err);
}

static pcol_status add_item(struct walk *w, struct piece key, struct piece text, pcol_error *err)
{
    void *items = w->items;
    if (pci_grow(&items, &w->capacity, w->count + 1, sizeof *w->items))
        return pci_fail_memory(err);
    w->items = items;
    w->items[w->count++] = (struct item){key, text};
    return PCOL_OK;
}

/* ---- scalars */

static pcol_status scalar_text(struct walk *w, struct piece *text, pcol_error *err)
{
    char number[PCI_FLAT_NUMBER];
    const struct pci_json *json = &w->json;
    text->at = w->bytes.size;
    if (json->type == PCI_JSON_DOUBLE)
        PCI_TRY(put(w, number, pci_flat_double(json->number, number), err));
    else if (json->type == PCI_JSON_TRUE)
        PCI_TRY(put(w, "True", 4, err));
    else if (json->type == PCI_JSON_FALSE)
        PCI_TRY(put(w, "False", 5, err));
    else if (json->type == PCI_JSON_NULL)
        PCI_TRY(put(w, "None", 4, err));
    else
        PCI_TRY(
            put(w, json->text.data, json->text.size, err)); /* a string, or an integer's digits */
    text->size = w->bytes.size - text->at;
    return PCOL_OK;
}

/* A string or integer of the outermost object: it may be its function, source, line or column. */
static pcol_status note_part(struct walk *w, struct piece key, pcol_error *err)
{
    const struct pci_perun_frames *f = &w->p->frames;
    const uint32_t keys[] = {f->function, f->func, f->source, f->file, f->line, f->column};
    struct pci_perun_cell *part = &w->parts[w->part_count];
    uint32_t string;
    if (w->depth != 1 || !w->levels[0].object || w->part_count == MOST_PARTS ||
        (w->json.type != PCI_JSON_STRING && w->json.type != PCI_JSON_INT))
        return PCOL_OK;
    pcol_str text = {w->bytes.data + key.at, key.size};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pcol_str known = pci_strtab_get(&w->p->builder->strings, keys[i]);
        if (known.size != text.size || memcmp(known.data, text.data, text.size) != 0)
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

/* ---- containers */

static pcol_status open_level(struct walk *w, struct piece key, pcol_error *err)
{
    void *levels = w->levels;
    if (pci_grow(&levels, &w->level_capacity, w->depth + 1, sizeof *w->levels))
        return pci_fail_memory(err);
    w->levels = levels;
    w->levels[w->depth++] = (struct level){key, w->count, w->json.type == PCI_JSON_OBJECT};
    return PCOL_OK;
}

static pcol_str piece_text(const struct walk *w, struct piece piece)
{
    return (pcol_str){w->bytes.data + piece.at, piece.size};
}

/* Items from `first` on, joined. order: NULL, or their order. */
static pcol_status join(struct walk *w, size_t first, const uint32_t *order, char between,
                        struct piece *text, pcol_error *err)
{
    text->at = w->bytes.size;
    for (size_t i = 0; i < w->count - first; i++) {
        const struct piece piece = w->items[first + (order ? order[i] : i)].text;
        if (i)
            PCI_TRY(put(w, &between, 1, err));
        void *data = w->bytes.data;
        if (pci_grow(&data, &w->bytes.capacity, w->bytes.size + piece.size + 1, 1))
            return pci_fail_memory(err);
        w->bytes.data = data; /* now it does not move while it is copied within itself */
        PCI_TRY(put(w, w->bytes.data + piece.at, piece.size, err));
        if (w->bytes.size > MOST_BYTES)
            break;
    }
    text->size = w->bytes.size - text->at;
    return PCOL_OK;
}

/* The same in the order of their keys' meaning; stable, by merging. */
static pcol_status join_sorted(struct walk *w, size_t first, struct piece *text, pcol_error *err)
{
    size_t n = w->count - first;
    uint32_t *order = pci_malloc(2 * n + 1, sizeof *order), *from = order, *to = order + n;
    if (!order)
        return pci_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        from[i] = (uint32_t)i;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * width) {
            size_t middle = n - begin > width ? begin + width : n, a = begin, b = middle;
            size_t end = n - middle > width ? middle + width : n;
            for (size_t i = begin; i < end; i++) {
                int left = b == end ||
                           (a < middle &&
                            pci_flat_compare(piece_text(w, w->items[first + from[a]].key),
                                             piece_text(w, w->items[first + from[b]].key)) <= 0);
                to[i] = left ? from[a++] : from[b++];
            }
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    pcol_status status = join(w, first, from, ':', text, err);
    pci_free(order);
    return status;
}

/* "KEY:" before the keys of the items of an object within an object. */
static pcol_status longer_keys(struct walk *w, const struct level *level, pcol_error *err)
{
    for (size_t i = level->first; i < w->count && w->bytes.size <= MOST_BYTES; i++) {
        const struct piece inner = w->items[i].key;
        size_t size = level->key.size + 1 + inner.size;
        void *data = w->bytes.data;
        if (pci_grow(&data, &w->bytes.capacity, w->bytes.size + size, 1))
            return pci_fail_memory(err);
        w->bytes.data = data;
        w->items[i].key = (struct piece){w->bytes.size, size};
        PCI_TRY(put(w, w->bytes.data + level->key.at, level->key.size, err));
        PCI_TRY(put(w, ":", 1, err));
        PCI_TRY(put(w, w->bytes.data + inner.at, inner.size, err));
    }
    return PCOL_OK;
}

static pcol_status close_level(struct walk *w, pcol_error *err)
{
    const struct level level = w->levels[--w->depth];
    int in_object = w->depth && w->levels[w->depth - 1].object, in_array = w->depth && !in_object;
    struct piece text;
    if (!level.object || in_array)
        PCI_TRY(join(w, level.first, NULL, level.object ? ':' : ',', &text, err));
    else
        PCI_TRY(join_sorted(w, level.first, &text, err));
    if (level.object && in_object)
        PCI_TRY(longer_keys(w, &level, err));
    else
        w->count = level.first;
    return add_item(w, level.key, text, err);
}

static pcol_status read_value(struct walk *w, pcol_error *err)
{
    struct piece key = {0, 0}, text;
    do {
        PCI_TRY(pci_json_next(&w->json, err));
        switch (w->json.type) {
        case PCI_JSON_KEY:
            key = (struct piece){w->bytes.size, w->json.text.size};
            PCI_TRY(put(w, w->json.text.data, w->json.text.size, err));
            continue;
        case PCI_JSON_OBJECT:
        case PCI_JSON_ARRAY:
            PCI_TRY(open_level(w, key, err));
            break;
        case PCI_JSON_OBJECT_END:
        case PCI_JSON_ARRAY_END:
            PCI_TRY(close_level(w, err));
            break;
        case PCI_JSON_STRING:
        case PCI_JSON_INT:
        case PCI_JSON_BIG:
        case PCI_JSON_DOUBLE:
        case PCI_JSON_TRUE:
        case PCI_JSON_FALSE:
        case PCI_JSON_NULL:
        case PCI_JSON_END:
            PCI_TRY(note_part(w, key, err));
            PCI_TRY(scalar_text(w, &text, err));
            PCI_TRY(add_item(w, key, text, err));
            break;
        }
    } while (w->depth && w->bytes.size <= MOST_BYTES);
    return PCOL_OK;
}

/* ---- the whole */

static pcol_status name_group(struct walk *w, uint32_t *group, pcol_error *err)
{
    uint32_t name;
    int placed;
    PCI_TRY(pci_perun_placed(w->p, w->parts, w->part_count, group, &placed, err));
    if (placed || w->depth || w->bytes.size > MOST_BYTES || !w->count)
        return PCOL_OK;
    pcol_str text = piece_text(w, w->items[w->count - 1].text);
    if (!text.size)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(w->p->builder, text.data, text.size, &name, err));
    return pci_perun_named(w->p, name, group, err);
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
        status = put(&w, "", 1, err); /* so that there are bytes */
    if (status == PCOL_OK)
        status = read_value(&w, err);
    if (status == PCOL_OK)
        status = name_group(&w, group, err);
    pci_json_close(&w.json);
    pci_input_close(&input);
    pci_text_clear(&w.bytes);
    pci_free(w.items);
    pci_free(w.levels);
    return status;
}
