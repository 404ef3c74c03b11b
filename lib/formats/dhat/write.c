/*
 * write.c - export of a DHAT profile to DHAT: the document with the rows at the marked positions
 *
 * Only a source that was read from DHAT can be written: its values have no meaning for other
 * profiles. Frames are numbered in the order of dhat_frames; those that a selection removed are
 * left out. Tests: tests/cli/dhat.test.
 */
#include "formats/dhat/dhat.h"
#include "formats/json_members.h"

#include "model/json_tree.h"
#include "model/stack_path.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

const struct pci_capabilities pci_dhat_capabilities = {.loss_prefix = "DHAT cannot hold"};

struct writer {
    const pcol_file *file;
    uint32_t source;
    struct pci_types types;
    const struct pci_column *values[PCI_DHAT_VALUES];
    const struct pci_column *of, *stack, *extra;
    const struct pci_column *function, *line, *column, *name, *file_name, *address, *mapping,
        *object;
    const struct pci_column *frame_source, *number, *frame_group, *text;
    struct pci_stack_path path;
    uint32_t *frames; /* number of the frame by group; PCOL_NONE: none */
    int puts_root;    /* a selection removed frame 0 */
    struct pci_node_reader nodes;
};

/* ---- opening */

static pcol_status open_columns(struct writer *w, pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"samples", "source", PCI_TYPES_ROW, &w->of},
        {"samples", "stack", PCI_TYPES_ROW, &w->stack},
        {"samples", "extra", PCI_TYPES_ROW, &w->extra},
        {"locations", "function", PCI_TYPES_ROW, &w->function},
        {"locations", "line", PCI_TYPES_INT, &w->line},
        {"locations", "column", PCI_TYPES_INT, &w->column},
        {"functions", "name", PCI_TYPES_TEXT, &w->name},
        {"functions", "filename", PCI_TYPES_TEXT, &w->file_name},
        {"location_groups", "address", PCI_TYPES_INT, &w->address},
        {"location_groups", "mapping", PCI_TYPES_ROW, &w->mapping},
        {"mappings", "filename", PCI_TYPES_TEXT, &w->object},
        {"dhat_frames", "source", PCI_TYPES_ROW, &w->frame_source},
        {"dhat_frames", "number", PCI_TYPES_ROW, &w->number},
        {"dhat_frames", "location_group", PCI_TYPES_ROW, &w->frame_group},
        {"dhat_frames", "text", PCI_TYPES_TEXT, &w->text},
    };
    return pci_find_verified_columns(w->file, columns, sizeof columns / sizeof *columns, err);
}

/* Cell `row` of a column that refers to the rows of another table. */
static pcol_status get_row(const struct writer *w, const struct pci_column *column, uint64_t row,
                           const char *table, int64_t *to, int *valid, pcol_error *err)
{
    PCI_TRY(pci_get(w->file, column, row, to, valid, err));
    if (*valid && (uint64_t)*to >= pci_rows(w->file, table))
        return pci_corrupt(err, column->table->name, column->name, row,
                           "row %lld of %s does not exist", (long long)*to, table);
    return PCOL_OK;
}

static pcol_status get_text(const struct writer *w, const struct pci_column *column, uint64_t row,
                            pcol_str *text, pcol_error *err)
{
    int valid = 0;
    PCI_TRY(pci_get_str(w->file, column, row, text, &valid, err));
    if (!valid)
        *text = (pcol_str){"", 0};
    return PCOL_OK;
}

/* The column of each value, by the types of the source. */
static pcol_status open_values(struct writer *w, pcol_error *err)
{
    uint32_t count = 0, *list = pci_malloc((size_t)w->types.count + 1, sizeof *list);
    pcol_status status =
        list ? pci_types_of_source(&w->types, w->source, list, &count, err) : pci_fail_memory(err);
    for (uint32_t k = 0; k < count && status == PCOL_OK; k++)
        for (int i = 0; i < PCI_DHAT_VALUES; i++)
            if (pci_str_is(w->types.type[list[k]], pci_dhat_values[i].type)) {
                w->values[i] = w->types.columns[list[k]];
                if (w->values[i] && w->values[i]->desc->type == PCF_F64)
                    status = pci_corrupt(err, "samples", w->values[i]->name, PCOL_POSITION_UNKNOWN,
                                         "values of DHAT are integers");
            }
    pci_free(list);
    return status;
}

/* Move to the next frame of the source; *group is PCOL_NONE after the last. */
static pcol_status next_frame(const struct writer *w, uint64_t *row, uint32_t *group,
                              pcol_error *err)
{
    const uint64_t rows = pci_rows(w->file, "dhat_frames");
    *group = PCOL_NONE;
    for (; *row < rows; ++*row) {
        int64_t source, number;
        int valid;
        PCI_TRY(pci_get(w->file, w->frame_source, *row, &source, &valid, err));
        if ((uint64_t)source != w->source)
            continue;
        PCI_TRY(get_row(w, w->frame_group, *row, "location_groups", &number, &valid, err));
        *group = (uint32_t)number;
        return PCOL_OK;
    }
    return PCOL_OK;
}

static pcol_status number_frames(struct writer *w, pcol_error *err)
{
    const uint64_t groups = pci_rows(w->file, "location_groups");
    uint32_t group, count = 0;
    int64_t number;
    int valid;
    PCI_TRY(pci_check_row_count(w->file, "location_groups", err));
    PCI_TRY(pci_check_row_count(w->file, "dhat_frames", err));
    PCI_TRY(PCI_MALLOC(w->frames, (size_t)groups + 1, err));
    memset(w->frames, 0xff, ((size_t)groups + 1) * sizeof *w->frames);
    for (uint64_t row = 0;; row++) {
        PCI_TRY(next_frame(w, &row, &group, err));
        if (group == PCOL_NONE)
            return PCOL_OK;
        if (!count) {
            PCI_TRY(pci_get(w->file, w->number, row, &number, &valid, err));
            w->puts_root = number > 0;
            count = number > 0;
        }
        w->frames[group] = count++;
    }
}

/* ---- frames */

static pcol_status get_frame(struct writer *w, uint64_t group, struct pci_dhat_frame *f,
                             pcol_error *err)
{
    int64_t address, row, line;
    uint64_t first, count;
    *f = (struct pci_dhat_frame){0};
    PCI_TRY(pci_get(w->file, w->address, group, &address, &f->has_address, err));
    f->address = (uint64_t)address;
    int valid;
    PCI_TRY(get_row(w, w->mapping, group, "mappings", &row, &valid, err));
    if (valid)
        PCI_TRY(get_text(w, w->object, (uint64_t)row, &f->object, err));
    PCI_TRY(pci_stacks_group(&w->path.tree, group, &first, &count, err));
    if (!count)
        return PCOL_OK;
    PCI_TRY(pci_get(w->file, w->line, first, &line, &f->has_line, err));
    f->line = line;
    PCI_TRY(pci_get(w->file, w->column, first, &f->column, &f->has_column, err));
    PCI_TRY(get_row(w, w->function, first, "functions", &row, &valid, err));
    if (!valid)
        return PCOL_OK;
    PCI_TRY(get_text(w, w->name, (uint64_t)row, &f->function, err));
    return get_text(w, w->file_name, (uint64_t)row, &f->file, err);
}

static pcol_status put_frame(struct writer *w, uint64_t group, struct pci_json_writer *json,
                             pcol_error *err)
{
    struct pci_dhat_frame frame;
    pcol_str text;
    char *data;
    PCI_TRY(get_frame(w, group, &frame, err));
    PCI_TRY(pci_dhat_print_frame(&frame, &data, &text.size, err));
    text.data = data;
    pci_json_put_newline(json);
    pci_json_put_string(json, text, err);
    pci_free(data);
    return json->status;
}

static pcol_status write_frames(struct writer *w, struct pci_json_writer *json, pcol_error *err)
{
    pci_json_put_begin(json, '[', err);
    if (w->puts_root) {
        pci_json_put_newline(json);
        pci_json_put_string(json, (pcol_str){"[root]", 6}, err);
    }
    for (uint64_t row = 0;; row++) {
        pcol_str text;
        uint32_t group;
        int valid;
        PCI_TRY(next_frame(w, &row, &group, err));
        if (group == PCOL_NONE)
            break;
        PCI_TRY(pci_get_str(w->file, w->text, row, &text, &valid, err));
        if (valid) {
            pci_json_put_newline(json);
            pci_json_put_string(json, text, err);
        } else {
            PCI_TRY(put_frame(w, group, json, err));
        }
    }
    pci_json_put_newline(json);
    pci_json_put_end(json, ']', err);
    return json->status;
}

/* ---- program points */

static pcol_status write_point_extra(struct writer *w, uint64_t row, struct pci_json_writer *json,
                                     pcol_error *err)
{
    int64_t root;
    int valid;
    struct pci_node_value node;
    PCI_TRY(get_row(w, w->extra, row, "nodes", &root, &valid, err));
    if (!valid)
        return PCOL_OK;
    uint64_t member;
    PCI_TRY(pci_nodes_first(&w->nodes, (uint64_t)root, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(&w->nodes, member, &node, err));
        pci_json_put_key_bytes(json, node.key, err);
        PCI_TRY(pci_json_from_nodes(w->file, member, json, NULL, NULL, err));
        PCI_TRY(pci_nodes_next(&w->nodes, (uint64_t)root, &member, err));
    }
    return json->status;
}

static pcol_status write_point(struct writer *w, uint64_t row, struct pci_json_writer *json,
                               pcol_error *err)
{
    int64_t value;
    int valid;
    pci_json_put_newline(json);
    pci_json_put_begin(json, '{', err);
    for (int i = 0; i < PCI_DHAT_VALUES; i++) {
        PCI_TRY(pci_get(w->file, w->values[i], row, &value, &valid, err));
        if (!valid)
            continue;
        pci_json_put_int_member(json, pci_dhat_values[i].key, value, err);
    }
    PCI_TRY(write_point_extra(w, row, json, err));
    pci_json_put_begin_member(json, "fs", '[', err);
    PCI_TRY(pci_get(w->file, w->stack, row, &value, &valid, err));
    PCI_TRY(pci_stack_path_to(&w->path, valid ? (uint64_t)value : 0, err));
    for (size_t i = w->path.depth; i-- > 0;) { /* innermost first */
        uint32_t frame = w->frames[w->path.steps[i].group];
        if (frame == PCOL_NONE)
            return pci_corrupt(err, "samples", "stack", row,
                               "a location group of the stack is no frame of the profile");
        pci_json_put_int(json, frame, err);
    }
    pci_json_put_end(json, ']', err);
    pci_json_put_end(json, '}', err);
    return json->status;
}

static pcol_status write_points(struct writer *w, struct pci_json_writer *json, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    pci_json_put_begin(json, '[', err);
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source;
        PCI_TRY(pci_get(w->file, w->of, row, &source, &(int){0}, err));
        if ((uint64_t)source == w->source)
            PCI_TRY(write_point(w, row, json, err));
    }
    pci_json_put_newline(json);
    pci_json_put_end(json, ']', err);
    return json->status;
}

/* ---- document */

static pcol_status write_table(void *context, const struct pci_node_value *node,
                               struct pci_json_writer *json, pcol_error *err)
{
    struct writer *w = context;
    if (node->tag == PCI_NODE_TABLE && pci_str_is(node->text, "samples"))
        return write_points(w, json, err);
    if (node->tag == PCI_NODE_TABLE && pci_str_is(node->text, "location_groups"))
        return write_frames(w, json, err);
    return pci_corrupt(err, "nodes", "text", node->row, "not a table of a DHAT profile");
}

static pcol_status write_document(struct writer *w, const struct pci_export *export, uint64_t root,
                                  pcol_error *err)
{
    struct pci_json_writer json;
    PCI_TRY(open_columns(w, err));
    PCI_TRY(pci_types_verify(&w->types, err));
    PCI_TRY(open_values(w, err));
    PCI_TRY(pci_stack_path_open(&w->path, w->file, err));
    w->path.written.most = PCI_STREAMED_FRAMES;
    PCI_TRY(number_frames(w, err));
    PCI_TRY(pci_nodes_open(&w->nodes, w->file, err));
    PCI_TRY(pci_json_writer_open(&json, export->sink, 0, err));
    pcol_status status = pci_json_from_nodes(w->file, root, &json, write_table, w, err);
    PCI_THEN(status, pci_json_writer_finish(&json, err));
    pci_json_writer_close(&json);
    return status;
}

/* The tree of a single source that was read from DHAT. */
static pcol_status find_root(const struct pci_export *export, uint64_t *root, pcol_error *err)
{
    const struct pci_column *type, *extra;
    pcol_str text = {"", 0};
    int64_t node = 0;
    int valid = 0;
    if (export->first_source != export->last_source)
        return pci_error_option(
            err, "source",
            pci_fail(err, PCOL_E_LOSS, "a DHAT profile is written from a single source"));
    PCI_TRY(pci_require_column(export->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_get_str(export->file, type, export->first_source, &text, &valid, err));
    if (!pci_str_is(text, "dhat"))
        return pci_fail(err, PCOL_E_LOSS,
                        "a DHAT profile holds heap blocks of DHAT only: source %lu is of type %.*s",
                        (unsigned long)export->first_source + 1,
                        text.size < 40 ? (int)text.size : 40, text.data);
    PCI_TRY(pci_find_verified_column(export->file, "sources", "extra", PCI_TYPES_ROW, &extra, err));
    PCI_TRY(pci_get(export->file, extra, export->first_source, &node, &valid, err));
    *root = (uint64_t)node;
    return valid ? PCOL_OK
                 : pci_fail(err, PCOL_E_LOSS,
                            "a DHAT profile needs the document of its source, which an anonymized "
                            "copy does not have: export it as pprof");
}

pcol_status pci_dhat_write(const struct pci_export *export, pcol_error *err)
{
    struct writer *w;
    uint64_t root = 0;
    PCI_TRY(find_root(export, &root, err));
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->file = export->file;
    w->source = export->first_source;
    pcol_status status = pci_types_open(export->file, &w->types, err);
    if (status == PCOL_OK) {
        status = write_document(w, export, root, err);
        pci_types_close(&w->types);
    }
    PCI_THEN(status, pci_export_losses(export, "", err));
    pci_stack_path_close(&w->path);
    pci_free(w->frames);
    pci_free(w);
    return status;
}
