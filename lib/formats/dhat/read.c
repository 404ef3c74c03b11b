/*
 * read.c - import of DHAT profiles: one pass over the JSON text
 *
 * Program points (`pps`) refer to frames of `ftbl`, which follows them: their values and frame
 * numbers wait in a spill until the document ends. Each frame becomes a location group and a row of
 * dhat_frames, then each point a sample. sources.extra is the document, whose members pps and ftbl
 * are marked positions. Tests: tests/cli/dhat.test.
 */
#include "formats/dhat/dhat.h"

#include "builder/builder.h"
#include "model/json_tree.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

#define NO_PLACE UINT64_MAX

/* A point in the spill; its values and frame numbers follow. */
struct point {
    uint64_t extra, frame_count, seen; /* seen: bit i for value i */
};

struct dhat {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_spill points;
    uint64_t point_count, seen;
    char *units[3]; /* of bu, bksu, tu; NULL: absent */
    uint64_t document;
    uint64_t first_frame;                    /* row of dhat_frames */
    uint32_t source, number, group_of, text; /* columns of dhat_frames */
    uint32_t *groups;                        /* by frame */
    size_t group_count, group_capacity;
    uint64_t most, most_line, most_column; /* the greatest frame number, and where it is */
    int has_version, has_points, has_frames;
    int next_value; /* that probably follows */
};

static const char *const unit_keys[3] = {"bu", "bksu", "tu"};

static pcol_status intern(struct dhat *d, pcol_str text, uint32_t *string, pcol_error *err)
{
    return pcol_builder_string(d->builder, text.data, text.size, string, err);
}

static pcol_status add_node(struct dhat *d, uint64_t parent, const char *key, uint8_t tag,
                            const char *text, uint64_t *row, pcol_error *err)
{
    struct pci_new_node node = {.parent = parent, .key = PCOL_NONE, .tag = tag, .text = PCOL_NONE};
    if (key)
        PCI_TRY(intern(d, (pcol_str){key, strlen(key)}, &node.key, err));
    if (text)
        PCI_TRY(intern(d, (pcol_str){text, strlen(text)}, &node.text, err));
    return pci_builder_node(d->builder, &node, row, err);
}

/* ---- program points */

static pcol_status read_frame_numbers(struct dhat *d, uint64_t **numbers, size_t *capacity,
                                      uint64_t *count, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&d->json, PCI_JSON_ARRAY, "fs", err));
    for (*count = 0;; (*count)++) {
        int more;
        PCI_TRY(pci_json_element(&d->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_json_expect(&d->json, PCI_JSON_INT, "a frame number of fs", err));
        if (d->json.integer < 0 || d->json.integer >= PCOL_NONE)
            return pci_json_fail(&d->json, err, "%" PRId64 " is no frame number", d->json.integer);
        if ((uint64_t)d->json.integer >= d->most || d->most == NO_PLACE) {
            d->most = (uint64_t)d->json.integer;
            d->most_line = d->json.line;
            d->most_column = d->json.column;
        }
        PCI_TRY(PCI_GROW(*numbers, *capacity, (size_t)*count + 1, err));
        (*numbers)[*count] = (uint64_t)d->json.integer;
    }
}

/* The value of a key; points mostly have theirs in one order. */
static int find_value(struct dhat *d)
{
    for (int k = 0; k < PCI_DHAT_VALUES; k++) {
        int i = (d->next_value + k) % PCI_DHAT_VALUES;
        if (pci_json_is(&d->json, pci_dhat_values[i].key)) {
            d->next_value = i + 1;
            return i;
        }
    }
    return PCI_DHAT_VALUES;
}

static pcol_status read_extra(struct dhat *d, struct point *p, pcol_error *err)
{
    uint64_t node;
    uint32_t key;
    PCI_TRY(intern(d, d->json.text, &key, err));
    if (p->extra == PCI_NO_NODE)
        PCI_TRY(add_node(d, PCI_NO_NODE, NULL, PCI_NODE_OBJECT, NULL, &p->extra, err));
    PCI_TRY(pci_json_next(&d->json, err));
    return pci_json_to_nodes(&d->json, d->builder, p->extra, key, &node, err);
}

/* Read the members of the current object; numbers: buffer of frame numbers. */
static pcol_status read_members(struct dhat *d, struct point *p, int64_t *values,
                                uint64_t **numbers, size_t *capacity, pcol_error *err)
{
    int has_frames = 0;
    PCI_TRY(pci_json_expect(&d->json, PCI_JSON_OBJECT, "an element of pps", err));
    uint64_t line = d->json.line, column = d->json.column;
    for (;;) {
        int more, value, is_frames;
        PCI_TRY(pci_json_member(&d->json, &more, err));
        if (!more)
            break;
        is_frames = pci_json_is(&d->json, "fs");
        value = is_frames ? PCI_DHAT_VALUES : find_value(d);
        if (value == PCI_DHAT_VALUES && !is_frames) {
            PCI_TRY(read_extra(d, p, err));
            continue;
        }
        if (is_frames ? has_frames : (int)(p->seen >> value & 1))
            return pci_json_fail(&d->json, err, "the key occurs twice");
        PCI_TRY(pci_json_next(&d->json, err));
        if (is_frames) {
            has_frames = 1;
            PCI_TRY(read_frame_numbers(d, numbers, capacity, &p->frame_count, err));
            continue;
        }
        PCI_TRY(pci_json_expect(&d->json, PCI_JSON_INT, pci_dhat_values[value].key, err));
        p->seen |= UINT64_C(1) << value;
        values[value] = d->json.integer;
    }
    return has_frames ? PCOL_OK
                      : pci_fail_text(err, PCOL_E_SYNTAX, line, column,
                                      "an element of pps has no member fs");
}

static pcol_status read_points(struct dhat *d, uint64_t **numbers, size_t *capacity,
                               pcol_error *err)
{
    PCI_TRY(pci_json_expect(&d->json, PCI_JSON_ARRAY, "pps", err));
    for (;;) {
        struct point p = {.extra = PCI_NO_NODE};
        int64_t values[PCI_DHAT_VALUES];
        int more;
        PCI_TRY(pci_json_element(&d->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(read_members(d, &p, values, numbers, capacity, err));
        PCI_TRY(pci_spill_append(&d->points, &p, sizeof p, err));
        for (int i = 0; i < PCI_DHAT_VALUES; i++)
            if (p.seen >> i & 1)
                PCI_TRY(pci_spill_append_u64(&d->points, (uint64_t)values[i], err));
        if (p.frame_count)
            PCI_TRY(pci_spill_append(&d->points, *numbers, (size_t)p.frame_count * sizeof **numbers,
                                     err));
        d->point_count++;
        d->seen |= p.seen;
    }
}

/* ---- frames */

static pcol_status add_group(struct dhat *d, const struct pci_dhat_frame *f, uint32_t *row,
                             pcol_error *err)
{
    pcol_function function = {
        .size = sizeof function, .system_name = PCOL_NONE, .filename = PCOL_NONE};
    pcol_line line = {.function = PCOL_NONE, .filename = PCOL_NONE};
    pcol_group group = {.size = sizeof group, .lines = &line, .mapping = PCOL_NONE};
    if (f->file.size)
        PCI_TRY(intern(d, f->file, &function.filename, err));
    if (f->function.size || f->has_line || !f->has_address) {
        PCI_TRY(intern(d, f->function, &function.name, err));
        PCI_TRY(pci_builder_function(d->builder, 0, &function, NULL, NULL, 0, &line.function, NULL,
                                     err));
        group.line_count = 1;
    }
    line.line = f->line;
    line.column = f->column;
    line.flags =
        (f->has_line ? PCOL_LINE_HAS_LINE : 0) | (f->has_column ? PCOL_LINE_HAS_COLUMN : 0);
    group.address = f->address;
    group.flags = f->has_address ? PCOL_GROUP_HAS_ADDRESS : 0;
    if (f->object.size) {
        struct pci_cell_value cell = {0, 1};
        uint32_t column, text;
        PCI_TRY(intern(d, f->object, &text, err));
        cell.bits = text;
        PCI_TRY(pci_builder_column(d->builder, PCI_T_MAPPINGS, "filename", PCOL_STRING, 0, &column,
                                   err));
        PCI_TRY(pci_builder_intern(d->builder, PCI_T_MAPPINGS, &column, &cell, 1, 0, &group.mapping,
                                   NULL, err));
    }
    return pci_builder_group(d->builder, 1, &group, NULL, NULL, 0, row, NULL, err);
}

static pcol_status open_frames(struct dhat *d, pcol_error *err)
{
    pcol_builder *b = d->builder;
    uint32_t table;
    PCI_TRY(pcol_builder_table(b, "dhat_frames", &table, err));
    PCI_TRY(pci_builder_column(b, table, "source", PCOL_U32, PCI_T_SOURCES + 1, &d->source, err));
    PCI_TRY(pci_builder_column(b, table, "number", PCOL_U32, 0, &d->number, err));
    PCI_TRY(pci_builder_column(b, table, "location_group", PCOL_U32, PCI_T_GROUPS + 1, &d->group_of,
                               err));
    PCI_TRY(pci_builder_column(b, table, "text", PCOL_STRING, 0, &d->text, err));
    d->first_frame = b->columns[d->number]->rows;
    return PCOL_OK;
}

/* Add the frame with the current string as its text. */
static pcol_status read_frame(struct dhat *d, pcol_error *err)
{
    pcol_builder *b = d->builder;
    struct pci_dhat_frame frame;
    uint32_t group;
    uint64_t row = d->first_frame + d->group_count;
    char *text;
    size_t size;
    if (d->group_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 frames");
    pci_dhat_parse_frame(d->json.text, &frame);
    PCI_TRY(add_group(d, &frame, &group, err));
    PCI_TRY(pci_dhat_print_frame(&frame, &text, &size, err));
    int same = size == d->json.text.size && !memcmp(text, d->json.text.data, size);
    pci_free(text);
    PCI_TRY(PCI_GROW(d->groups, d->group_capacity, d->group_count + 1, err));
    PCI_TRY(pcol_builder_set_i64(b, d->source, row, d->import->source, err));
    PCI_TRY(pcol_builder_set_i64(b, d->number, row, (int64_t)d->group_count, err));
    PCI_TRY(pcol_builder_set_i64(b, d->group_of, row, group, err));
    d->groups[d->group_count++] = group;
    return same ? PCOL_OK
                : pcol_builder_set_str(b, d->text, row, d->json.text.data, d->json.text.size, err);
}

static pcol_status read_frames(struct dhat *d, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&d->json, PCI_JSON_ARRAY, "ftbl", err));
    for (;;) {
        int more;
        PCI_TRY(pci_json_element(&d->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_json_expect(&d->json, PCI_JSON_STRING, "a frame of ftbl", err));
        PCI_TRY(read_frame(d, err));
    }
}

/* ---- document */

static pcol_status keep_unit(struct dhat *d, int unit, pcol_error *err)
{
    pci_free(d->units[unit]);
    PCI_TRY(PCI_CALLOC(d->units[unit], d->json.text.size + 1, err));
    if (d->json.text.size)
        memcpy(d->units[unit], d->json.text.data, d->json.text.size);
    return PCOL_OK;
}

static pcol_status read_member(struct dhat *d, uint64_t **numbers, size_t *capacity,
                               pcol_error *err)
{
    uint64_t node;
    uint32_t key;
    int is_points = pci_json_is(&d->json, "pps"), is_frames = pci_json_is(&d->json, "ftbl");
    int is_version = pci_json_is(&d->json, "dhatFileVersion"), unit = 0;
    if ((is_points && d->has_points) || (is_frames && d->has_frames))
        return pci_json_fail(&d->json, err, "the key occurs twice");
    while (unit < 3 && !pci_json_is(&d->json, unit_keys[unit]))
        unit++;
    PCI_TRY(intern(d, d->json.text, &key, err));
    PCI_TRY(pci_json_next(&d->json, err));
    if (is_points || is_frames) {
        PCI_TRY(add_node(d, d->document, is_points ? "pps" : "ftbl", PCI_NODE_TABLE,
                         is_points ? "samples" : "location_groups", &node, err));
        d->has_points |= is_points;
        d->has_frames |= is_frames;
        return is_points ? read_points(d, numbers, capacity, err) : read_frames(d, err);
    }
    if (is_version) {
        PCI_TRY(pci_json_expect(&d->json, PCI_JSON_INT, "dhatFileVersion", err));
        if (d->json.integer != 2)
            return pci_json_fail(&d->json, err,
                                 "version %" PRId64 " of DHAT's files is unknown, "
                                 "only version 2 is read",
                                 d->json.integer);
        d->has_version = 1;
    }
    if (unit < 3 && d->json.type == PCI_JSON_STRING)
        PCI_TRY(keep_unit(d, unit, err));
    return pci_json_to_nodes(&d->json, d->builder, d->document, key, &node, err);
}

static pcol_status read_document(struct dhat *d, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_SOUND, 0};
    uint64_t *numbers = NULL;
    size_t capacity = 0;
    pcol_status status = pci_json_open(&d->json, d->import->input, &options, err);
    PCI_THEN(status, pci_json_next(&d->json, err));
    PCI_THEN(status, pci_json_expect(&d->json, PCI_JSON_OBJECT, "a DHAT profile", err));
    for (int more = 1; status == PCOL_OK && more;) {
        status = pci_json_member(&d->json, &more, err);
        if (status == PCOL_OK && more)
            status = read_member(d, &numbers, &capacity, err);
    }
    pci_free(numbers);
    if (status != PCOL_OK)
        return status;
    if (!d->has_version || !d->has_points || !d->has_frames)
        return pci_json_fail(&d->json, err, "the profile has no member %s",
                             !d->has_version  ? "dhatFileVersion"
                             : !d->has_points ? "pps"
                                              : "ftbl");
    return pci_json_finish(&d->json, err);
}

/* ---- samples */

static pcol_status add_types(struct dhat *d, uint32_t *types, pcol_error *err)
{
    for (int i = 0; i < PCI_DHAT_VALUES; i++) {
        const struct pci_dhat_value *v = &pci_dhat_values[i];
        int unit = 0;
        if (!(d->seen >> i & 1))
            continue;
        while (strcmp(unit_keys[unit], v->unit) != 0)
            unit++;
        PCI_TRY(pcol_builder_sample_type(d->builder, v->type,
                                         d->units[unit] ? d->units[unit] : v->otherwise, 0, 0,
                                         &types[i], err));
    }
    return PCOL_OK;
}

/* Add the point at an offset of the spill, and move the offset to the next one. numbers: buffer. */
static pcol_status add_sample(struct dhat *d, const uint32_t *types, uint64_t *offset,
                              uint64_t **numbers, size_t *capacity, pcol_error *err)
{
    struct point p;
    pcol_value values[PCI_DHAT_VALUES];
    pcol_sample sample = {
        .size = sizeof sample, .source = d->import->source, .values = values, .thread = PCOL_NONE};
    uint64_t row;
    PCI_TRY(pci_spill_read(&d->points, *offset, &p, sizeof p, err));
    *offset += sizeof p;
    for (int i = 0; i < PCI_DHAT_VALUES; i++) {
        if (!(p.seen >> i & 1))
            continue;
        pcol_value *value = &values[sample.value_count++];
        PCI_TRY(pci_spill_read(&d->points, *offset, &value->as.i64, 8, err));
        value->sample_type = types[i];
        *offset += 8;
    }
    PCI_TRY(PCI_GROW(*numbers, *capacity, (size_t)p.frame_count + 1, err));
    if (p.frame_count)
        PCI_TRY(pci_spill_read(&d->points, *offset, *numbers, (size_t)p.frame_count * 8, err));
    *offset += p.frame_count * 8;
    for (uint64_t i = p.frame_count; i-- > 0;) /* from the root inwards */
        PCI_TRY(pcol_builder_stack(d->builder, sample.stack, d->groups[(*numbers)[i]],
                                   &sample.stack, err));
    PCI_TRY(pcol_builder_sample(d->builder, &sample, &row, err));
    return p.extra == PCI_NO_NODE ? PCOL_OK
                                  : pci_builder_extra(d->builder, PCI_T_SAMPLES, row, p.extra, err);
}

static pcol_status add_samples(struct dhat *d, pcol_error *err)
{
    uint32_t types[PCI_DHAT_VALUES];
    uint64_t *numbers = NULL, offset = 0;
    size_t capacity = 0;
    if (d->most != NO_PLACE && d->most >= d->group_count)
        return pci_fail_text(err, PCOL_E_SYNTAX, d->most_line, d->most_column,
                             "fs has frame %" PRIu64 ", but ftbl has %zu frames", d->most,
                             d->group_count);
    PCI_TRY(add_types(d, types, err));
    pcol_status status = PCOL_OK;
    for (uint64_t i = 0; i < d->point_count && status == PCOL_OK; i++)
        status = add_sample(d, types, &offset, &numbers, &capacity, err);
    pci_free(numbers);
    return status;
}

static pcol_status read_profile(struct dhat *d, pcol_error *err)
{
    pcol_source source = {.size = sizeof source};
    PCI_TRY(pci_import_source(d->import, &source, err));
    PCI_TRY(add_node(d, PCI_NO_NODE, NULL, PCI_NODE_OBJECT, NULL, &d->document, err));
    PCI_TRY(pci_builder_extra(d->builder, PCI_T_SOURCES, d->import->source, d->document, err));
    PCI_TRY(open_frames(d, err));
    PCI_TRY(read_document(d, err));
    return add_samples(d, err);
}

pcol_status pci_dhat_read(struct pci_import *import, pcol_error *err)
{
    struct dhat d = {.import = import, .builder = import->builder, .most = NO_PLACE};
    pci_spill_init(&d.points, &import->builder->store);
    pcol_status status = read_profile(&d, err);
    pci_json_close(&d.json);
    pci_spill_clear(&d.points);
    for (int i = 0; i < 3; i++)
        pci_free(d.units[i]);
    pci_free(d.groups);
    return status;
}

/* ---- recognition */

/* Sure of an object whose first key is dhatFileVersion. */
int pci_dhat_sniff(const uint8_t *data, size_t size, int all)
{
    static const char key[] = "\"dhatFileVersion\"";
    size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    int open = 0;
    (void)all;
    for (; at < size && (strchr(" \t\r\n", data[at]) || (!open && data[at] == '{')); at++)
        open |= data[at] == '{';
    return open && size - at >= sizeof key - 1 && !memcmp(data + at, key, sizeof key - 1) ? 2 : 0;
}
