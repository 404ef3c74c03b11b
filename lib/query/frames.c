/*
 * frames.c - the distinct frames of a file at the granularity of a query
 *
 * Each row of `locations` gets the number of its frame; rows that are displayed the same have the
 * same number. Names and paths are interned once per function as a base; for lines and addresses a
 * frame is interned as (base, line, address).
 */
#include "query/query.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

/* Block in a linked list of generated texts; blocks do not move. */
struct pci_text_block {
    struct pci_text_block *next;
    char text[];
};

enum { MAX_CURSORS = 3 };

#define BY_LOCATION (PCOL_NONE - 1) /* base of a function: it depends on the location */

struct column_cursor;

struct frame_reader {
    pcol_query *query;
    const pcol_file *file;
    struct pci_frames *frames;
    pcol_by by;
    int places;        /* PCOL_BY_FUNCTION includes lines outside functions */
    int base_is_frame; /* a base is a frame */
    /* tables under construction */
    struct pci_frame *bases;
    uint32_t base_count, *frame_base;
    size_t base_capacity, frame_base_capacity;
    struct pci_hash base_hash;
    struct pci_text_memo long_texts;
    uint32_t *function_base; /* base by function, or BY_LOCATION */
    uint64_t function_count;
    struct column_cursor *function, *line, *address; /* NULL: column is absent */
    struct column_cursor *cursors, *next_cursor; /* MAX_CURSORS cursors, and the first unused one */
    const struct pci_column *filename;
};

/* Reads a column in batches of ascending rows. */
struct column_cursor {
    const struct pci_column *column;
    uint64_t first;
    size_t n; /* rows in the batch */
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

/* ---- order */

/* The members that a frame has, as a number. */
static int get_presence(const struct pci_frame *frame)
{
    return (int)frame->flags;
}

int pci_frame_compare(const struct pci_frame *a, const struct pci_frame *b)
{
    int order = pci_str_compare(a->name, b->name);
    if (!order)
        order = pci_str_compare(a->file, b->file);
    if (!order)
        order = (a->line > b->line) - (a->line < b->line);
    if (!order)
        order = (a->row > b->row) - (a->row < b->row);
    if (!order)
        order = (a->address > b->address) - (a->address < b->address);
    /* An absent member sorts after an empty or 0 one. */
    return order ? order : get_presence(b) - get_presence(a);
}

uint64_t pci_frame_hash(const struct pci_frame *frame)
{
    uint64_t names = pci_hash_pair(pci_hash_bytes(frame->name.data, frame->name.size),
                                   pci_hash_bytes(frame->file.data, frame->file.size));
    uint64_t place = pci_hash_pair((uint64_t)frame->line, frame->address);
    return pci_hash_pair(names, pci_hash_pair(place, frame->row));
}

/* ---- texts */

static pcol_status append_text(struct pci_frames *frames, pcol_str a, pcol_str b, pcol_str c,
                               pcol_str *text, pcol_error *err)
{
    struct pci_text_block *made = pci_malloc(1, sizeof *made + a.size + b.size + c.size);
    const pcol_str parts[] = {a, b, c};
    size_t used = 0;
    if (!made)
        return pci_fail_memory(err);
    made->next = frames->made;
    frames->made = made;
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].size)
            memcpy(made->text + used, parts[i].data, parts[i].size);
        used += parts[i].size;
    }
    *text = (pcol_str){made->text, used};
    return PCOL_OK;
}

pcol_status pci_frames_copy_text(struct pci_frames *frames, pcol_str text, pcol_str *copy,
                                 pcol_error *err)
{
    const pcol_str none = {"", 0};
    return append_text(frames, text, none, none, copy, err);
}

/* ---- distinct bases and frames */

/* copy: the name is a temporary. */
static pcol_status intern_base(struct frame_reader *r, const struct pci_frame *base, int copy,
                               uint32_t *id, pcol_error *err)
{
    uint64_t name, file;
    if (copy)
        name = pci_text_hash(base->name);
    else
        PCI_TRY(pci_text_memo_hash(&r->long_texts, base->name, &name, err));
    PCI_TRY(pci_text_memo_hash(&r->long_texts, base->file, &file, err));
    uint64_t hash = pci_hash_pair(name, file);
    size_t slot = pci_hash_start(&r->base_hash, hash);
    while (r->bases && (*id = pci_hash_next(&r->base_hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_frame *other = &r->bases[*id];
        if (pci_str_equal(base->name, other->name) && pci_str_equal(base->file, other->file) &&
            (base->flags & PCI_FRAME_HAS_FILE) == (other->flags & PCI_FRAME_HAS_FILE))
            return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(r->bases, r->base_capacity, (size_t)r->base_count + 1, err));
    PCI_TRY(pci_hash_add(&r->base_hash, hash, r->base_count, err));
    r->bases[r->base_count] = *base;
    if (copy)
        PCI_TRY(pci_frames_copy_text(r->frames, base->name, &r->bases[r->base_count].name, err));
    *id = r->base_count++;
    return PCOL_OK;
}

static pcol_status intern_frame(struct frame_reader *r, uint32_t base,
                                const struct pci_frame *position, uint32_t *id, pcol_error *err)
{
    struct pci_frames *frames = r->frames;
    uint64_t hash = pci_hash_pair(pci_hash_pair(base, (uint64_t)position->line), position->address);
    size_t slot = pci_hash_start(&frames->hash, hash);
    while ((*id = pci_hash_next(&frames->hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_frame *other = &frames->frames[*id];
        if (r->frame_base[*id] == base && other->line == position->line &&
            other->address == position->address &&
            !((other->flags ^ position->flags) & (PCI_FRAME_HAS_LINE | PCI_FRAME_HAS_ADDRESS)))
            return PCOL_OK;
    }
    /* What compares frames compares the texts of each. */
    PCI_TRY(pci_count_long_text(&frames->names.long_texts, r->bases[base].name.size, err));
    PCI_TRY(pci_count_long_text(&frames->names.long_texts, r->bases[base].file.size, err));
    PCI_TRY(PCI_GROW(frames->frames, frames->capacity, (size_t)frames->count + 1, err));
    PCI_TRY(PCI_GROW(r->frame_base, r->frame_base_capacity, (size_t)frames->count + 1, err));
    PCI_TRY(pci_hash_add(&frames->hash, hash, frames->count, err));
    frames->frames[frames->count] = *position;
    frames->frames[frames->count].name = r->bases[base].name;
    frames->frames[frames->count].file = r->bases[base].file;
    frames->frames[frames->count].flags |= PCI_FRAME_HAS_NAME;
    pci_set_flag(&frames->frames[frames->count].flags, PCI_FRAME_HAS_FILE,
                 r->bases[base].flags & PCI_FRAME_HAS_FILE);
    r->frame_base[frames->count] = base;
    *id = frames->count++;
    return PCOL_OK;
}

static pcol_status get_text(struct frame_reader *r, const struct pci_column *column, uint64_t row,
                            pcol_str *text, int *valid, pcol_error *err)
{
    *text = (pcol_str){"", 0};
    *valid = 0;
    return pci_get_str(r->file, column, row, text, valid, err);
}

/* ---- cells */

static pcol_status open_cursor(struct frame_reader *r, const char *table, const char *name,
                               uint32_t types, struct column_cursor **column_cursor,
                               pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_find_column(r->file, table, name, types, &column, err));
    if (!column)
        return PCOL_OK;
    *column_cursor = r->next_cursor++;
    (*column_cursor)->column = column;
    (*column_cursor)->first = 0;
    (*column_cursor)->n = 0;
    return PCOL_OK;
}

/* As pci_get(); not valid if the column is absent. */
static pcol_status read_cell(struct frame_reader *r, struct column_cursor *a, uint64_t row,
                             int64_t *value, int *valid, pcol_error *err)
{
    *value = 0;
    *valid = 0;
    if (!a)
        return PCOL_OK;
    if (row - a->first >= a->n) {
        uint64_t rows = a->column->desc->rows, first = row - row % PCI_BATCH;
        if (row >= rows)
            return pci_get(r->file, a->column, row, value, valid, err);
        a->first = first;
        a->n = 0;
        size_t n = rows - first < PCI_BATCH ? (size_t)(rows - first) : PCI_BATCH;
        PCI_TRY(pci_read(r->file, a->column, first, n, a->values, a->valid, err));
        a->n = n;
    }
    *value = a->values[row - a->first];
    *valid = a->valid[row - a->first];
    return PCOL_OK;
}

/* ---- bases */

static int shows_function(pcol_by by)
{
    return by == PCOL_BY_FUNCTION || by == PCOL_BY_LINE || by == PCOL_BY_LOCATION;
}

/* Interns the base of a name and a file; PCOL_NONE: the mapping decides. */
static pcol_status intern_texts(struct frame_reader *r, pcol_str name, pcol_str file, int has_file,
                                int copy, uint32_t *base, pcol_error *err)
{
    struct pci_frame frame = {.name = name, .flags = PCI_FRAME_HAS_NAME};
    *base = PCOL_NONE;
    if (r->by != PCOL_BY_FUNCTION) {
        frame.file = has_file ? file : (pcol_str){"", 0};
        pci_set_flag(&frame.flags, PCI_FRAME_HAS_FILE, has_file);
    }
    if (r->by == PCOL_BY_FILE)
        frame.name = frame.file;
    else if (r->by == PCOL_BY_SRCLINE)
        frame.name = (pcol_str){"", 0}; /* built from file and line at the end */
    if (!frame.name.size && r->by != PCOL_BY_SRCLINE)
        return PCOL_OK;
    return intern_base(r, &frame, copy, base, err);
}

static pcol_status get_texts(const struct frame_reader *r, const struct pci_column *column,
                             uint64_t row, size_t n, pcol_str *texts, uint8_t *valid,
                             pcol_error *err)
{
    if (column)
        return pci_read_str(r->file, column, row, n, texts, valid, err);
    for (size_t i = 0; i < n; i++)
        texts[i] = (pcol_str){"", 0};
    memset(valid, 0, n);
    return PCOL_OK;
}

/* Reads rows [row, row + n), n <= PCI_BATCH. */
static pcol_status read_function_batch(struct frame_reader *r, const struct pci_column *name,
                                       const struct pci_column *file, uint64_t row, size_t n,
                                       pcol_error *err)
{
    pcol_str texts[PCI_BATCH], paths[PCI_BATCH];
    uint8_t valid[PCI_BATCH], has_file[PCI_BATCH];
    PCI_TRY(get_texts(r, shows_function(r->by) ? name : NULL, row, n, texts, valid, err));
    PCI_TRY(get_texts(r, r->by != PCOL_BY_FUNCTION ? file : NULL, row, n, paths, has_file, err));
    for (size_t i = 0; i < n; i++) {
        if (r->frames->names.mappings && shows_function(r->by) && pci_is_address_name(texts[i]))
            r->function_base[row + i] = BY_LOCATION;
        else
            PCI_TRY(intern_texts(r, texts[i], paths[i], has_file[i], 0, &r->function_base[row + i],
                                 err));
    }
    return PCOL_OK;
}

static pcol_status read_functions(struct frame_reader *r, pcol_error *err)
{
    const struct pci_column *name, *file;
    PCI_TRY(pci_check_row_count(r->file, "functions", err));
    r->function_count = pci_rows(r->file, "functions");
    PCI_TRY(pci_find_column(r->file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(pci_find_column(r->file, "functions", "filename", PCI_TYPES_TEXT, &file, err));
    if (name)
        PCI_TRY(pci_verify(r->file, name, err));
    if (file)
        PCI_TRY(pci_verify(r->file, file, err));
    PCI_TRY(PCI_MALLOC(r->function_base, (size_t)r->function_count + 1, err));
    r->frames->names.libraries = 1;
    for (uint64_t row = 0; row < r->function_count; row += PCI_BATCH) {
        uint64_t left = r->function_count - row;
        PCI_TRY(read_function_batch(r, name, file, row, left < PCI_BATCH ? (size_t)left : PCI_BATCH,
                                    err));
    }
    return PCOL_OK;
}

/* ---- locations */

/* The base of a location whose name depends on it: that of its mapping or address, of a line
 * outside functions, or of a function that is named by its address and shown with the library. It
 * has the file of the function or line. */
static pcol_status find_named_base(struct frame_reader *r, uint32_t location, uint32_t group,
                                   uint32_t *base, pcol_error *err)
{
    struct pci_name name;
    PCI_TRY(pci_frame_namer_get(&r->frames->names, location, group, &name, err));
    return intern_texts(r, name.name, name.filename, name.has_filename, 1, base, err);
}

/* The base of a location without a named function or, by file, without a file. */
static pcol_status find_code_base(struct frame_reader *r, uint32_t location, uint32_t group,
                                  uint32_t *base, pcol_error *err)
{
    struct pci_frame_namer *names = &r->frames->names;
    struct pci_frame frame = {.flags = PCI_FRAME_HAS_NAME};
    int valid;
    if (r->by == PCOL_BY_MAPPING) {
        PCI_TRY(pci_frame_namer_mapping(names, group, &frame.name, &valid, err));
        if (!valid || !frame.name.size)
            frame.name = (pcol_str)PCI_NAME(PCI_NAME_UNKNOWN);
        return intern_base(r, &frame, 1, base, err);
    }
    if (r->by == PCOL_BY_FILE) {
        PCI_TRY(pci_frame_namer_binary(names, group, &frame.name, err));
        if (!frame.name.size)
            frame.name = (pcol_str)PCI_NAME(PCI_NAME_UNKNOWN);
        return intern_base(r, &frame, 1, base, err);
    }
    return find_named_base(r, location, group, base, err);
}

/* The base of a location; PCOL_NONE: no frame of this kind. */
static pcol_status find_base(struct frame_reader *r, uint32_t location, uint32_t group,
                             uint32_t *base, pcol_error *err)
{
    int64_t function;
    int valid = 0;
    pcol_str path;
    *base = PCOL_NONE;
    if (r->by == PCOL_BY_MAPPING)
        return find_code_base(r, location, group, base, err);
    PCI_TRY(read_cell(r, r->function, location, &function, &valid, err));
    if (valid) {
        *base = r->function_base[function];
        if (*base == BY_LOCATION)
            return find_named_base(r, location, group, base, err);
    } else {
        /* Code outside any function has a file and a line, but no function and no address. */
        int is_code;
        PCI_TRY(get_text(r, r->filename, location, &path, &valid, err));
        if (valid && r->by == PCOL_BY_FUNCTION && !r->places) {
            PCI_TRY(pci_frame_namer_is_code(&r->frames->names, group, &is_code, err));
            return is_code ? find_code_base(r, location, group, base, err) : PCOL_OK;
        }
        if (valid && (r->by == PCOL_BY_FILE || r->by == PCOL_BY_SRCLINE)) /* by the path only */
            PCI_TRY(intern_texts(r, (pcol_str)PCI_NAME(PCI_NAME_TOP_LEVEL), path, 1, 0, base, err));
    }
    if (*base == PCOL_NONE && r->by != PCOL_BY_SRCLINE)
        return find_code_base(r, location, group, base, err);
    return PCOL_OK;
}

static pcol_status find_frame(struct frame_reader *r, uint32_t location, uint32_t group,
                              uint32_t *frame, pcol_error *err)
{
    struct pci_frame position = {0};
    uint32_t base;
    int64_t number;
    int valid = 0;
    *frame = PCOL_NONE;
    PCI_TRY(find_base(r, location, group, &base, err));
    if (r->base_is_frame || base == PCOL_NONE) {
        *frame = base;
        return PCOL_OK;
    }
    PCI_TRY(read_cell(r, r->line, location, &position.line, &valid, err));
    pci_set_flag(&position.flags, PCI_FRAME_HAS_LINE, valid);
    if (!valid) {
        position.line = 0;
        if (r->by == PCOL_BY_SRCLINE)
            return PCOL_OK;
    }
    if (r->by == PCOL_BY_LOCATION && r->address) {
        PCI_TRY(read_cell(r, r->address, group, &number, &valid, err));
        pci_set_flag(&position.flags, PCI_FRAME_HAS_ADDRESS, valid);
        position.address = valid ? (uint64_t)number : 0;
    }
    return intern_frame(r, base, &position, frame, err);
}

static pcol_status read_locations(struct frame_reader *r, pcol_error *err)
{
    const struct pci_stack_table *calls = &r->query->calls;
    const uint8_t *shown_locations = r->query->shown_locations;
    r->cursors = r->next_cursor = pci_malloc(MAX_CURSORS, sizeof *r->cursors);
    if (!r->cursors)
        return pci_fail_memory(err);
    PCI_TRY(open_cursor(r, "locations", "function", PCI_TYPES_ROW, &r->function, err));
    PCI_TRY(open_cursor(r, "locations", "line", PCI_TYPE(PCF_I64), &r->line, err));
    PCI_TRY(open_cursor(r, "location_groups", "address", PCI_TYPES_INT, &r->address, err));
    PCI_TRY(pci_find_column(r->file, "locations", "filename", PCI_TYPES_TEXT, &r->filename, err));
    PCI_TRY(PCI_MALLOC(r->frames->of_location, (size_t)calls->location_count + 1, err));
    /* A file without stacks has no groups here, but it can have locations. */
    memset(r->frames->of_location, 0xff,
           ((size_t)calls->location_count + 1) * sizeof *r->frames->of_location);
    for (uint32_t group = 0; group < calls->group_count; group++) {
        for (uint32_t row = calls->first[group]; row < calls->first[group + 1]; row++) {
            if (shown_locations && !shown_locations[row])
                r->frames->of_location[row] = PCOL_NONE;
            else
                PCI_TRY(find_frame(r, row, group, &r->frames->of_location[row], err));
        }
    }
    return PCOL_OK;
}

/* ---- completion */

static pcol_status add_frame(struct pci_frames *frames, const struct pci_frame *frame, uint32_t *id,
                             pcol_error *err)
{
    PCI_TRY(PCI_GROW(frames->frames, frames->capacity, (size_t)frames->count + 1, err));
    *id = frames->count++;
    frames->frames[*id] = *frame;
    return PCOL_OK;
}

/* Names source lines "FILE#LINE", and adds a frame for samples that have none. */
static pcol_status name_source_lines(struct pci_frames *frames, pcol_error *err)
{
    const struct pci_frame none = {.name = PCI_NAME("<no location>"), .flags = PCI_FRAME_HAS_NAME};
    for (uint32_t i = 0; i < frames->count; i++) {
        struct pci_frame *frame = &frames->frames[i];
        char number[24];
        int size = snprintf(number, sizeof number, "%lld", (long long)frame->line);
        PCI_TRY(append_text(
            frames, (frame->flags & PCI_FRAME_HAS_FILE) ? frame->file : (pcol_str){"?", 1},
            (pcol_str){"#", 1}, (pcol_str){number, (size_t)size}, &frame->name, err));
    }
    return add_frame(frames, &none, &frames->stackless, err);
}

static pcol_status index_groups(struct frame_reader *r, pcol_error *err)
{
    const struct pci_stack_table *calls = &r->query->calls;
    struct pci_frames *frames = r->frames;
    PCI_TRY(PCI_MALLOC(frames->frame_of_group, (size_t)calls->group_count + 1, err));
    for (uint32_t g = 0; g < calls->group_count; g++)
        frames->frame_of_group[g] = calls->first[g + 1] - calls->first[g] == 1
                                        ? frames->of_location[calls->first[g]]
                                        : PCI_SEVERAL_FRAMES;
    return PCOL_OK;
}

static pcol_status read_frames(struct frame_reader *r, pcol_error *err)
{
    struct pci_frames *frames = r->frames;
    const struct pci_frame none = {.name = PCI_NAME(PCI_NAME_NO_STACK),
                                   .flags = PCI_FRAME_HAS_NAME};
    PCI_TRY(pci_check_row_count(r->file, "mappings", err));
    PCI_TRY(pci_frame_namer_open(&frames->names, r->file, err));
    PCI_TRY(read_functions(r, err));
    PCI_TRY(read_locations(r, err));
    PCI_TRY(index_groups(r, err));
    if (r->base_is_frame) {
        PCI_TRY(intern_base(r, &none, 0, &frames->empty, err));
        frames->frames = r->bases;
        frames->count = r->base_count;
        frames->capacity = r->base_capacity;
        r->bases = NULL;
        return PCOL_OK;
    }
    if (r->by == PCOL_BY_SRCLINE)
        PCI_TRY(name_source_lines(frames, err));
    return add_frame(frames, &none, &frames->empty, err);
}

pcol_status pci_frames_open(pcol_query *query, pcol_by by, int places, struct pci_frames *frames,
                            pcol_error *err)
{
    struct frame_reader r = {
        .query = query, .file = query->file, .frames = frames, .by = by, .places = places};
    pcol_status status;
    *frames = (struct pci_frames){.stackless = PCOL_NONE};
    if ((unsigned)by > PCOL_BY_MAPPING)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown kind of frame");
    r.base_is_frame = by == PCOL_BY_FUNCTION || by == PCOL_BY_FILE || by == PCOL_BY_MAPPING;
    status = read_frames(&r, err);
    pci_free(r.bases);
    pci_free(r.frame_base);
    pci_free(r.function_base);
    pci_free(r.cursors);
    pci_hash_clear(&r.base_hash);
    pci_text_memo_clear(&r.long_texts);
    pci_hash_clear(&frames->hash);
    if (status != PCOL_OK)
        pci_frames_close(frames);
    return status;
}

void pci_frames_close(struct pci_frames *frames)
{
    while (frames->made) {
        struct pci_text_block *next = frames->made->next;
        pci_free(frames->made);
        frames->made = next;
    }
    pci_frame_namer_close(&frames->names);
    pci_free(frames->frames);
    pci_free(frames->of_location);
    pci_free(frames->frame_of_group);
    pci_hash_clear(&frames->hash);
    *frames = (struct pci_frames){.stackless = PCOL_NONE};
}
