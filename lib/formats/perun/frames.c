/*
 * frames.c - interns frames and traces
 *
 * A frame is an object of scalars: {"function", "source", "line"}, {"func"}, or what else a
 * collector writes. function (or func), source (or file), line and column become the function and
 * location of a location group; the order of keys and all other members are labels of the group.
 * Frames with the same position but other keys, or another order, get groups of their own.
 *
 * A trace is an array of frames. Its direction depends on the collector, whose name may follow, so
 * traces are stored as lists and become stacks at the end.
 */
#include "formats/perun/perun.h"

#include "util/alloc.h"

#define MAX_KEYS PCI_FLAT_KEYS

static pcol_status intern_name(struct pci_perun *p, const char *name, uint32_t *key,
                               pcol_error *err)
{
    return pcol_builder_string(p->builder, name, strlen(name), key, err);
}

pcol_status pci_perun_frames_init(struct pci_perun *p, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    /* Non-empty buffers from the start: pointers into them are valid for empty frames and traces,
     * too. */
    PCI_TRY(PCI_GROW(f->cells, f->cell_capacity, 1, err));
    PCI_TRY(PCI_GROW(f->members, f->member_capacity, 1, err));
    PCI_TRY(PCI_GROW(f->fresh, f->fresh_capacity, 1, err));
    PCI_TRY(intern_name(p, "function", &f->function, err));
    PCI_TRY(intern_name(p, "func", &f->func, err));
    PCI_TRY(intern_name(p, "source", &f->source, err));
    PCI_TRY(intern_name(p, "file", &f->file, err));
    PCI_TRY(intern_name(p, "line", &f->line, err));
    return intern_name(p, "column", &f->column, err);
}

void pci_perun_frames_clear(struct pci_perun_frames *f)
{
    pci_free(f->cells);
    pci_free(f->frames);
    pci_free(f->members);
    pci_free(f->traces);
    pci_free(f->fresh);
    pci_free(f->starts);
    pci_hash_clear(&f->frame_hash);
    pci_hash_clear(&f->trace_hash);
}

/* ---- the group of a frame */

/* Indexes of the cells that the group itself represents; the others are labels. PCOL_NONE: none. */
struct parts {
    uint32_t name, filename, line, column;
};

/* Called from the last cell to the first: of alternative keys the first one wins, of equal keys, as
 * in Python, the last one. */
static void set_part(const struct pci_perun_cell *cells, uint32_t cell, uint32_t *part)
{
    if (*part == PCOL_NONE || cells[*part].key != cells[cell].key)
        *part = cell;
}

static struct parts find_parts(const struct pci_perun_frames *f, const struct pci_perun_cell *cells,
                               uint32_t count)
{
    struct parts parts = {PCOL_NONE, PCOL_NONE, PCOL_NONE, PCOL_NONE};
    for (uint32_t i = count; i-- > 0;) {
        const struct pci_perun_cell *c = &cells[i];
        if (c->kind == PCI_PERUN_STRING && (c->key == f->function || c->key == f->func))
            set_part(cells, i, &parts.name);
        if (c->kind == PCI_PERUN_STRING && (c->key == f->source || c->key == f->file))
            set_part(cells, i, &parts.filename);
        if (c->kind == PCI_PERUN_INTEGER && c->key == f->line)
            set_part(cells, i, &parts.line);
        if (c->kind == PCI_PERUN_INTEGER && c->key == f->column)
            set_part(cells, i, &parts.column);
    }
    return parts;
}

static uint8_t label_kind(const struct parts *parts, uint32_t at, uint8_t kind)
{
    static const uint8_t kinds[] = {
        [PCI_PERUN_STRING] = PCI_LABEL_STRING, [PCI_PERUN_INTEGER] = PCI_LABEL_INTEGER,
        [PCI_PERUN_DOUBLE] = PCI_LABEL_DOUBLE, [PCI_PERUN_BIG] = PCI_LABEL_BIGINT,
        [PCI_PERUN_BOOL] = PCI_LABEL_BOOL,     [PCI_PERUN_NULL] = PCI_LABEL_NULL,
    };
    return at == parts->name       ? PCI_LABEL_NAME
           : at == parts->filename ? PCI_LABEL_FILENAME
           : at == parts->line     ? PCI_LABEL_LINE
           : at == parts->column   ? PCI_LABEL_COLUMN
                                   : kinds[kind];
}

static void make_labels(const struct pci_perun_cell *cells, uint32_t count,
                        const struct parts *parts, struct pci_label *labels)
{
    for (uint32_t i = 0; i < count; i++) {
        struct pci_label *l = &labels[i];
        memset(l, 0, sizeof *l);
        l->key = cells[i].key;
        l->unit = PCOL_NONE;
        l->kind = label_kind(parts, i, cells[i].kind);
        if (l->kind == PCI_LABEL_STRING || l->kind == PCI_LABEL_BIGINT)
            l->text = (uint32_t)cells[i].value;
        else if (l->kind == PCI_LABEL_NULL)
            l->as.i64 = 1;
        else
            memcpy(&l->as.i64, &cells[i].value, sizeof l->as.i64); /* doubles as their bits */
    }
}

/* Hash of all labels: distinguishes groups with the same function and location. */
static uint32_t hash_labels(const struct pci_label *labels, uint32_t count)
{
    uint64_t hash = pci_hash_pair(count, 0);
    for (uint32_t i = 0; i < count; i++) {
        hash = pci_hash_pair(hash, (uint64_t)labels[i].key << 8 | labels[i].kind);
        if (labels[i].kind < PCI_LABEL_VALUE)
            hash = pci_hash_pair(hash, (uint64_t)labels[i].as.i64 ^ labels[i].text);
    }
    return (uint32_t)(hash >> 32);
}

static pcol_status make_line(struct pci_perun *p, const struct pci_perun_cell *cells,
                             const struct parts *parts, pcol_line *line, pcol_error *err)
{
    uint32_t filename =
        parts->filename == PCOL_NONE ? PCOL_NONE : (uint32_t)cells[parts->filename].value;
    *line = (pcol_line){.function = PCOL_NONE, .filename = PCOL_NONE};
    if (parts->line != PCOL_NONE)
        line->flags |= PCOL_LINE_HAS_LINE, line->line = cells[parts->line].value;
    if (parts->column != PCOL_NONE)
        line->flags |= PCOL_LINE_HAS_COLUMN, line->column = cells[parts->column].value;
    if (parts->name == PCOL_NONE) {
        line->filename = filename;
        return PCOL_OK;
    }
    pcol_function function = {.size = sizeof function,
                              .name = (uint32_t)cells[parts->name].value,
                              .system_name = PCOL_NONE,
                              .filename = filename};
    return pcol_builder_function(p->builder, &function, &line->function, err);
}

static pcol_status make_group(struct pci_perun *p, const struct pci_perun_cell *cells,
                              uint32_t count, uint32_t *row, pcol_error *err)
{
    const struct parts parts = find_parts(&p->frames, cells, count);
    struct pci_label labels[MAX_KEYS];
    pcol_line line;
    PCI_TRY(make_line(p, cells, &parts, &line, err));
    make_labels(cells, count, &parts, labels);
    pcol_group group = {.size = sizeof group,
                        .lines = &line,
                        .line_count = 1,
                        .mapping = PCOL_NONE,
                        .variant = hash_labels(labels, count)};
    size_t group_count = p->builder->group_count;
    PCI_TRY(pcol_builder_group(p->builder, &group, row, err));
    if (*row < group_count) /* it belongs to another source */
        return PCOL_OK;
    uint64_t extra = PCI_NO_NODE;
    return pci_builder_labels(p->builder, PCI_T_GROUPS, *row, labels, count, &extra, err);
}

pcol_status pci_perun_find_position_group(struct pci_perun *p, const struct pci_perun_cell *cells,
                                          uint32_t count, uint32_t *group, int *has_function,
                                          pcol_error *err)
{
    const struct parts parts = find_parts(&p->frames, cells, count);
    pcol_line line;
    pcol_group g = {.size = sizeof g, .lines = &line, .line_count = 1, .mapping = PCOL_NONE};
    *has_function = parts.name != PCOL_NONE;
    if (!*has_function)
        return PCOL_OK;
    PCI_TRY(make_line(p, cells, &parts, &line, err));
    return pcol_builder_group(p->builder, &g, group, err);
}

pcol_status pci_perun_find_name_group(struct pci_perun *p, uint32_t name, uint32_t *group,
                                      pcol_error *err)
{
    pcol_function function = {
        .size = sizeof function, .name = name, .system_name = PCOL_NONE, .filename = PCOL_NONE};
    pcol_line line = {.filename = PCOL_NONE};
    pcol_group g = {.size = sizeof g, .lines = &line, .line_count = 1, .mapping = PCOL_NONE};
    PCI_TRY(pcol_builder_function(p->builder, &function, &line.function, err));
    return pcol_builder_group(p->builder, &g, group, err);
}

/* ---- interned frames and traces */

static int same_cells(const struct pci_perun_cell *a, const struct pci_perun_cell *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].key != b[i].key || a[i].kind != b[i].kind || a[i].value != b[i].value)
            return 0;
    return 1;
}

static pcol_status intern_frame(struct pci_perun *p, const struct pci_perun_cell *cells,
                                size_t count, uint32_t *frame, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    uint32_t group;
    uint64_t hash = pci_hash_pair(count, 1);
    for (size_t i = 0; i < count; i++)
        hash = pci_hash_pair(hash ^ (uint64_t)cells[i].value,
                             (uint64_t)cells[i].key << 8 | cells[i].kind);
    size_t at = pci_hash_start(&f->frame_hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&f->frame_hash, hash, &at)) != PCI_HASH_NONE) {
        const struct pci_perun_frame *known = &f->frames[id];
        if (known->count == count && same_cells(f->cells + known->first, cells, count)) {
            *frame = id;
            return PCOL_OK;
        }
    }
    if (f->cell_count + count >= PCOL_NONE || f->frame_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 keys of frames");
    PCI_TRY(make_group(p, cells, (uint32_t)count, &group, err));
    PCI_TRY(PCI_GROW(f->cells, f->cell_capacity, f->cell_count + count + 1, err));
    PCI_TRY(PCI_GROW(f->frames, f->frame_capacity, f->frame_count + 1, err));
    PCI_TRY(pci_hash_add(&f->frame_hash, hash, (uint32_t)f->frame_count, err));
    if (count)
        memcpy(f->cells + f->cell_count, cells, count * sizeof *cells);
    *frame = (uint32_t)f->frame_count++;
    uint32_t name = find_parts(f, cells, (uint32_t)count).name;
    f->frames[*frame] =
        (struct pci_perun_frame){(uint32_t)f->cell_count, (uint32_t)count, group,
                                 name == PCOL_NONE ? PCOL_NONE : (uint32_t)cells[name].value};
    f->cell_count += count;
    return PCOL_OK;
}

/* Intern the last `count` members as a trace; they are removed if it is known. */
static pcol_status intern_trace(struct pci_perun *p, size_t count, uint32_t *trace, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    size_t first = f->member_count - count;
    const uint32_t *members = f->members ? f->members + first : NULL;
    uint64_t hash = pci_hash_pair(count, 2);
    for (size_t i = 0; i < count; i++)
        hash = pci_hash_pair(hash, members[i]);
    size_t at = pci_hash_start(&f->trace_hash, hash);
    while ((*trace = pci_hash_next(&f->trace_hash, hash, &at)) != PCI_HASH_NONE) {
        const struct pci_perun_frame *known = &f->traces[*trace];
        if (known->count == count &&
            (!count || !memcmp(f->members + known->first, members, count * sizeof *members))) {
            f->member_count = first;
            return PCOL_OK;
        }
    }
    if (f->member_count >= PCOL_NONE || f->trace_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 frames of traces");
    PCI_TRY(PCI_GROW(f->traces, f->trace_capacity, f->trace_count + 1, err));
    PCI_TRY(pci_hash_add(&f->trace_hash, hash, (uint32_t)f->trace_count, err));
    *trace = (uint32_t)f->trace_count++;
    f->traces[*trace] =
        (struct pci_perun_frame){(uint32_t)first, (uint32_t)count, PCOL_NONE, PCOL_NONE};
    return PCOL_OK;
}

static pcol_status push_member(struct pci_perun_frames *f, uint32_t frame, pcol_error *err)
{
    PCI_TRY(PCI_GROW(f->members, f->member_capacity, f->member_count + 1, err));
    f->members[f->member_count++] = frame;
    return PCOL_OK;
}

pcol_status pci_perun_find_stack(struct pci_perun *p, uint32_t trace, int outer_first,
                                 uint32_t *stack, pcol_error *err)
{
    struct pci_perun_frame *t = &p->frames.traces[trace];
    const uint32_t *members = p->frames.members ? p->frames.members + t->first : NULL;
    if (t->group == PCOL_NONE) {
        uint32_t node = 0;
        for (uint32_t i = 0; members && i < t->count; i++) {
            uint32_t frame = members[outer_first ? i : t->count - 1 - i];
            PCI_TRY(
                pcol_builder_stack(p->builder, node, p->frames.frames[frame].group, &node, err));
        }
        t->group = node;
    }
    *stack = t->group;
    return PCOL_OK;
}

/* ---- reading */

static pcol_status push_fresh(struct pci_perun_frames *f, const struct pci_perun_cell *cell,
                              pcol_error *err)
{
    PCI_TRY(PCI_GROW(f->fresh, f->fresh_capacity, f->fresh_count + 1, err));
    f->fresh[f->fresh_count++] = *cell;
    return PCOL_OK;
}

static pcol_status push_start(struct pci_perun_frames *f, pcol_error *err)
{
    PCI_TRY(PCI_GROW(f->starts, f->start_capacity, f->start_count + 1, err));
    f->starts[f->start_count++] = (uint32_t)f->fresh_count;
    return PCOL_OK;
}

/* Intern a key; usually it equals the key at the same position of the previous frame. */
static pcol_status read_key(struct pci_perun *p, uint32_t *key, pcol_error *err)
{
    const struct pci_perun_frames *f = &p->frames;
    const pcol_str text = p->json.text;
    if (f->start_count > 1) {
        size_t start = f->starts[f->start_count - 1];
        size_t at = f->starts[f->start_count - 2] + (f->fresh_count - start);
        if (at < start) {
            const struct pci_perun_cell *previous = &f->fresh[at];
            pcol_str guess = pci_string_pool_get(&p->builder->strings, previous->key);
            if (guess.size == text.size && !memcmp(guess.data, text.data, text.size)) {
                *key = previous->key;
                return PCOL_OK;
            }
        }
    }
    return pcol_builder_string(p->builder, text.data, text.size, key, err);
}

/* Read the current object as a frame. *flat is 0 if it has a member that is no scalar; the current
 * token is then the first of that member's value. */
static pcol_status read_frame(struct pci_perun *p, int *flat, uint32_t *key, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    PCI_TRY(push_start(f, err));
    size_t start = f->fresh_count;
    for (;;) {
        struct pci_perun_cell cell;
        int more;
        PCI_TRY(pci_json_member(&p->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_key(p, key, err));
        PCI_TRY(pci_json_next(&p->json, err));
        cell.key = *key;
        *flat = f->fresh_count - start < MAX_KEYS;
        if (*flat)
            PCI_TRY(pci_perun_read_scalar(p, &cell, flat, err));
        if (!*flat)
            return PCOL_OK;
        PCI_TRY(push_fresh(f, &cell, err));
    }
    *flat = 1;
    return PCOL_OK;
}

/* Write the part of the value that was already read as text, then the rest of it. inside: the
 * reader is in an object, at the value of `key`; otherwise at an element of the array. */
static pcol_status copy_as_text(struct pci_perun *p, int array, int inside, uint32_t key,
                                pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    struct pci_json_writer *w = &p->writer;
    uint32_t depth = p->json.depth;
    if (p->json.type == PCI_JSON_OBJECT || p->json.type == PCI_JSON_ARRAY)
        depth--;
    depth -= (uint32_t)inside + (uint32_t)array; /* before the value */
    PCI_TRY(pci_perun_text_begin(p, err));
    if (array)
        pci_json_put_begin(w, '[', err);
    for (size_t i = 0; i < f->start_count; i++) {
        size_t end = i + 1 < f->start_count ? f->starts[i + 1] : f->fresh_count;
        pci_json_put_begin(w, '{', err);
        for (size_t k = f->starts[i]; k < end; k++)
            pci_perun_text_cell(p, &f->fresh[k], err);
        if (!inside || i + 1 < f->start_count)
            pci_json_put_end(w, '}', err);
    }
    if (inside)
        pci_json_put_key_bytes(w, pci_string_pool_get(&p->builder->strings, key), err);
    PCI_TRY(pci_perun_text_value(p, err));
    while (p->json.depth > depth) {
        PCI_TRY(pci_json_next(&p->json, err));
        if (p->json.type == PCI_JSON_KEY)
            pci_json_put_key_bytes(w, p->json.text, err);
        else if (p->json.type == PCI_JSON_OBJECT_END)
            pci_json_put_end(w, '}', err);
        else if (p->json.type == PCI_JSON_ARRAY_END)
            pci_json_put_end(w, ']', err);
        else
            PCI_TRY(pci_perun_text_value(p, err));
    }
    return w->status;
}

static pcol_status read_trace(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    uint32_t key = 0, trace;
    for (;;) {
        int more, flat = 0, object;
        PCI_TRY(pci_json_element(&p->json, &more, err));
        if (!more)
            break;
        object = p->json.type == PCI_JSON_OBJECT;
        if (object)
            PCI_TRY(read_frame(p, &flat, &key, err));
        if (!flat) {
            PCI_TRY(copy_as_text(p, 1, object, key, err));
            return pci_perun_text_store(p, cell, err);
        }
    }
    for (size_t i = 0; i < f->start_count; i++) {
        size_t end = i + 1 < f->start_count ? f->starts[i + 1] : f->fresh_count;
        uint32_t frame;
        PCI_TRY(intern_frame(p, f->fresh + f->starts[i], end - f->starts[i], &frame, err));
        PCI_TRY(push_member(f, frame, err));
    }
    PCI_TRY(intern_trace(p, f->start_count, &trace, err));
    cell->kind = PCI_PERUN_TRACE;
    cell->value = trace;
    return PCOL_OK;
}

pcol_status pci_perun_read_frames(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err)
{
    struct pci_perun_frames *f = &p->frames;
    uint32_t key = 0, frame;
    int flat;
    f->fresh_count = f->start_count = 0;
    if (p->json.type == PCI_JSON_ARRAY)
        return read_trace(p, cell, err);
    PCI_TRY(read_frame(p, &flat, &key, err));
    if (!flat) {
        PCI_TRY(copy_as_text(p, 0, 1, key, err));
        return pci_perun_text_store(p, cell, err);
    }
    PCI_TRY(intern_frame(p, f->fresh, f->fresh_count, &frame, err));
    cell->kind = PCI_PERUN_FRAME;
    cell->value = frame;
    return PCOL_OK;
}
