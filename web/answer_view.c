/*
 * answer_view.c - "select", "names", "mark" and "window": the frames of a selection and their boxes
 */
#include "answer_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The range of a selection: on the axis of times, or of the samples' order. */
static void select_range(const struct request *r, int slot, pcol_selection *selection)
{
    const char *axis = request_text(r, "axis");
    int64_t from = request_integer(r, slot ? "base_from" : "from", 0);
    int64_t to = request_integer(r, slot ? "base_to" : "to", 0);

    if (request_text(r, slot ? "base_from" : "from") == NULL)
        return;
    if (axis != NULL && strcmp(axis, "order") == 0) {
        selection->flags |= PCOL_SELECTION_HAS_ORDER;
        selection->order_from = (uint64_t)(from > 1 ? from : 1);
        selection->order_to = (uint64_t)(to > 1 ? to : 1);
    } else {
        selection->has_time = 1;
        selection->time_from_ns = from;
        selection->time_to_ns = to;
    }
}

/* "" if a request has no such text */
static const char *get_text(const struct request *r, const char *key)
{
    const char *text = request_text(r, key);

    return text != NULL ? text : "";
}

/* The sample type of a request; by default one of both profiles. *exact: `type`, or NULL for the
 * default of the only one. */
static pcol_status select_type(answer *a, const struct request *r, pcol_sample_type *type,
                               const pcol_sample_type **exact, pcol_error *err)
{
    int is_default;
    int is_given = request_text(r, "type") != NULL;

    *exact = is_given || a->file[ANSWER_BASE] != NULL ? type : NULL;
    *type = (pcol_sample_type){.ordinal = (uint32_t)request_integer(r, "ordinal", 0)};
    if (is_given || *exact == NULL) {
        pcol_status status = answer_name(&a->type[0], get_text(r, "type"), &type->type, err);
        return status == PCOL_OK ? answer_name(&a->type[1], get_text(r, "unit"), &type->unit, err)
                                 : status;
    }
    const pcol_file *base = a->file[ANSWER_BASE];
    return pcol_query_shared_type(&base, 1, a->file[ANSWER_NEW], NULL, type, &is_default, err);
}

static pcol_status select_one(answer *a, int slot, const struct request *r,
                              const pcol_sample_type *type, pcol_query **query, pcol_error *err)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    const char *thread = request_text(r, "thread");
    const char *label = request_text(r, "label"), *value = request_text(r, "value");
    const char *frames = request_text(r, "focus_names");
    struct bytes names[4] = {{0}};
    pcol_str *focus_names = NULL;
    pcol_label_value exact;
    pcol_rows focus = {NULL, 0};
    uint32_t *rows;
    size_t count;
    pcol_status status = request_rows(r, slot ? "base_focus" : "focus", &rows, &count, err);

    if (status != PCOL_OK)
        return status;
    focus.rows = rows;
    focus.count = count;
    selection.exact_type = type;
    selection.source = request_text(r, "source");
    selection.keep_dropped = request_text(r, "keep_dropped") != NULL;
    selection.focus_functions = rows != NULL ? &focus : NULL;
    select_range(r, slot, &selection);
    if (thread != NULL)
        status = answer_name(&names[0], thread, &selection.exact_thread, err);
    if (label != NULL && value != NULL) {
        selection.exact_labels = &exact;
        selection.exact_label_count = 1;
        if (status == PCOL_OK)
            status = answer_name(&names[1], label, &exact.key, err);
        if (status == PCOL_OK)
            status = answer_name(&names[2], value, &exact.value, err);
    }
    if (status == PCOL_OK && frames != NULL)
        status =
            answer_split_names(&names[3], frames, &focus_names, &selection.focus_name_count, err);
    selection.focus_names = focus_names;
    if (status == PCOL_OK)
        status = pcol_query_new(a->file[slot], &selection, NULL, query, err);
    for (int i = 0; i < 4; i++)
        free(names[i].data);
    free(focus_names);
    free(rows);
    return status;
}

static pcol_status put_query(struct bytes *json, const char *key, const pcol_query *query,
                             pcol_error *err)
{
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    pcol_status status = pcol_query_describe(query, &info, err);
    int is_double = (info.flags & PCOL_QUERY_IS_DOUBLE) != 0;
    char picoseconds[64]; /* beyond 64 bits for the longest periods */

    if (status != PCOL_OK)
        return status;
    bytes_key(json, key);
    bytes_text(json, "{");
    bytes_member_text(json, "type", info.type);
    bytes_member_text(json, "unit", info.unit);
    bytes_member(json, "double", is_double);
    bytes_member_amount(json, "total", info.total, is_double);
    bytes_member_amount(json, "selected", info.selected, is_double);
    bytes_member(json, "empty", (info.flags & PCOL_QUERY_IS_EMPTY) != 0);
    snprintf(picoseconds, sizeof picoseconds, "%.0f", info.seconds_per_value * 1e12);
    bytes_key(json, "picoseconds");
    bytes_text(json, picoseconds);
    if (info.note != NULL && !(info.flags & PCOL_QUERY_NONE_PASSES)) /* "empty" tells this */
        bytes_member_text(json, "note", (pcol_str){info.note, strlen(info.note)});
    bytes_text(json, "}");
    return PCOL_OK;
}

/* Give the view the weights of new queries, or build it. *built: its frames have new numbers. */
static pcol_status set_view(answer *a, pcol_query *const *query, pcol_by by, int *built,
                            pcol_error *err)
{
    pcol_view_options options = PCOL_INIT(pcol_view_options);

    *built = a->view == NULL || a->view_by != by;
    if (!*built)
        return pcol_view_weigh(a->view, query[0], query[1], err);
    pcol_view_free(a->view);
    a->view = NULL;
    a->view_by = by;
    options.by = by;
    return pcol_view_new(query[0], query[1], &options, &a->view, err);
}

/* After a failure the previous selection remains, unless the view could not take new weights. */
pcol_status answer_select(answer *a, const struct request *r, pcol_error *err)
{
    struct bytes *json = &a->buffers[0];
    pcol_query *query[2] = {NULL, NULL};
    const char *label;
    pcol_sample_type type;
    const pcol_sample_type *exact;
    int built = 0;
    pcol_by by;
    pcol_status status = request_by(a, r, &by, &label, err);

    if (status == PCOL_OK)
        status = select_type(a, r, &type, &exact, err);
    for (int i = 0; i < 2 && status == PCOL_OK; i++)
        if (a->file[i] != NULL)
            status = select_one(a, i, r, exact, &query[i], err);
    if (status == PCOL_OK)
        status = set_view(a, query, by, &built, err);
    for (int i = 0; i < 2; i++) {
        pcol_query *unused = status == PCOL_OK ? a->query[i] : query[i];
        if (status == PCOL_OK)
            a->query[i] = query[i];
        pcol_query_free(unused);
    }
    if (status != PCOL_OK)
        return status;
    bytes_text(json, "{");
    bytes_member(json, "built", built);
    status = put_query(json, "new", a->query[0], err);
    if (status == PCOL_OK && a->query[1] != NULL)
        status = put_query(json, "base", a->query[1], err);
    bytes_text(json, "}");
    return status;
}

/* Names of the rows of a table as a JSON array. */
pcol_status answer_put_texts(struct bytes *json, const pcol_file *file, const char *name,
                             const char *column, pcol_error *err)
{
    const pcol_table *table;
    uint64_t rows;
    pcol_status status = answer_find_table(file, name, &table, &rows, err);
    const pcol_column *c = NULL;

    if (status == PCOL_OK)
        status = answer_find_column(table, column, &c, err);
    bytes_key(json, name);
    bytes_text(json, "[");
    for (uint64_t row = 0; c != NULL && row < rows && status == PCOL_OK; row++) {
        pcol_str text;
        int valid;
        status = pcol_column_str(c, row, &text, &valid, err);
        bytes_comma(json);
        if (status == PCOL_OK)
            bytes_json(json, valid ? text : (pcol_str){"", 0});
    }
    bytes_text(json, "]");
    return status;
}

/* The row that a location names in a column such as `mapping_id`; PCOL_NONE: none. */
static pcol_status named_row(const pcol_column *column, uint32_t location, uint32_t *row,
                             pcol_error *err)
{
    int64_t value = 0;
    int valid = 0;
    pcol_status status = PCOL_OK;

    if (column != NULL && location != PCOL_NONE)
        status = pcol_column_i64(column, location, &value, &valid, err);
    *row = valid ? (uint32_t)value : PCOL_NONE;
    return status;
}

/* Kinds of frames in a profile of managed and native code. */
enum { CODE_UNKNOWN, CODE_MANAGED, CODE_NATIVE };

/* Columns of "names"; NULL: absent. Firefox has `is_js` of functions, Java Flight Recorder a label
 * for the kind of code. */
struct name_columns {
    const pcol_column *files[2]; /* of the functions of the profile and its base */
    const pcol_column *mapping, *category, *is_js, *frame_type;
};

static pcol_status get_code(const struct name_columns *columns, const pcol_view_frame *frame,
                            int has_mapping, uint32_t *code, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pcol_str type = {"", 0};
    int64_t is_js = 0;
    int valid = 0;

    *code = CODE_UNKNOWN;
    if (columns->is_js != NULL && frame->function != PCOL_NONE) {
        status = pcol_column_i64(columns->is_js, frame->function, &is_js, &valid, err);
        *code = valid && is_js ? CODE_MANAGED : has_mapping ? CODE_NATIVE : CODE_UNKNOWN;
    } else if (columns->frame_type != NULL && frame->location != PCOL_NONE) {
        status = pcol_column_str(columns->frame_type, frame->location, &type, &valid, err);
        if (valid)
            *code =
                type.size == 6 && memcmp(type.data, "Native", 6) == 0 ? CODE_NATIVE : CODE_MANAGED;
    }
    return status;
}

static pcol_status find_columns(const answer *a, struct name_columns *columns, pcol_error *err)
{
    const struct {
        const char *table, *column;
        const pcol_column **found;
        int slot;
    } wanted[] = {{"functions", "filename", &columns->files[0], ANSWER_NEW},
                  {"functions", "filename", &columns->files[1], ANSWER_BASE},
                  {"functions", ".is_js", &columns->is_js, ANSWER_NEW},
                  {"locations", ".mapping_id", &columns->mapping, ANSWER_NEW},
                  {"locations", ".category", &columns->category, ANSWER_NEW},
                  {"locations", ".label.frame_type", &columns->frame_type, ANSWER_NEW}};
    pcol_status status = PCOL_OK;

    *columns = (struct name_columns){0};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == PCOL_OK; i++) {
        const pcol_table *table;
        uint64_t rows;
        if (a->query[wanted[i].slot] == NULL)
            continue;
        status = answer_find_table(a->file[wanted[i].slot], wanted[i].table, &table, &rows, err);
        if (status == PCOL_OK)
            status = answer_find_column(table, wanted[i].column, wanted[i].found, err);
    }
    return status;
}

/* The file of a frame, or that of its function; frames of functions have none of their own.
 * `files`: columns of the functions of the profile and its base, or NULL. */
static pcol_status get_file(const pcol_column *const files[2], const pcol_view_frame *frame,
                            pcol_str *file, pcol_error *err)
{
    const uint32_t functions[2] = {frame->function, frame->base_function};
    pcol_status status = PCOL_OK;
    int valid = (frame->flags & PCOL_VIEW_FRAME_HAS_FILE) != 0;

    *file = valid ? frame->file : (pcol_str){"", 0};
    for (int slot = 0; slot < 2 && !valid && status == PCOL_OK; slot++)
        if (files[slot] != NULL && functions[slot] != PCOL_NONE)
            status = pcol_column_str(files[slot], functions[slot], file, &valid, err);
    return status;
}

/* Buffers: 1 to 5 names, files, lines; 6 mapping, 7 category of each frame, rows of the JSON's; 8
 * CODE_*. */
pcol_status answer_names(answer *a, const struct request *r, pcol_error *err)
{
    struct bytes *json = &a->buffers[0];
    struct name_columns columns;
    pcol_str file;
    uint32_t code, module, category;
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    pcol_status status = pcol_view_describe(a->view, &info, err);

    (void)r;
    if (status == PCOL_OK)
        status = find_columns(a, &columns, err);
    if (status != PCOL_OK)
        return status;
    for (uint32_t i = 0; i < info.frame_count && status == PCOL_OK; i++) {
        pcol_view_frame frame = PCOL_INIT(pcol_view_frame);
        status = pcol_view_get(a->view, i, &frame, err);
        if (status == PCOL_OK)
            status = get_file(columns.files, &frame, &file, err);
        if (status == PCOL_OK)
            status = named_row(columns.mapping, frame.location, &module, err);
        if (status == PCOL_OK)
            status = named_row(columns.category, frame.location, &category, err);
        if (status == PCOL_OK)
            status = get_code(&columns, &frame, module != PCOL_NONE, &code, err);
        if (status != PCOL_OK)
            break;
        answer_text(a, 1, frame.name);
        answer_text(a, 2, file);
        bytes_f64(&a->buffers[3], frame.flags & PCOL_VIEW_FRAME_HAS_LINE ? (double)frame.line : -1);
        bytes_u32(&a->buffers[4], module);
        bytes_u32(&a->buffers[5], category);
        bytes_u32(&a->buffers[6], code);
    }
    bytes_text(json, "{");
    bytes_member(json, "frames", (int64_t)info.frame_count);
    if (status == PCOL_OK)
        status = answer_put_texts(json, a->file[0], "mappings", "filename", err);
    if (status == PCOL_OK)
        status = answer_put_texts(json, a->file[0], "categories", "name", err);
    bytes_text(json, "}");
    a->count = 7;
    return status;
}

/* The names of all rows of `functions` of a profile: the page matches them. */
pcol_status answer_functions(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    const pcol_table *table;
    pcol_names *names;
    uint64_t rows;

    if (a->file[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    pcol_status status = answer_find_table(a->file[slot], "functions", &table, &rows, err);
    if (status == PCOL_OK)
        status = pcol_names_new(a->file[slot], &names, err);
    if (status != PCOL_OK)
        return status;
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++) {
        pcol_str name = {"", 0};
        int valid;
        status = pcol_names_function(names, row, &name, &valid, err);
        if (status == PCOL_OK)
            answer_text(a, 1, name);
    }
    pcol_names_free(names);
    bytes_text(&a->buffers[0], "{}");
    a->count = 2;
    return status;
}

/* The values of "by", a label, in the whole profile. */
pcol_status answer_values(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_query *query = NULL;
    pcol_result *result = NULL;
    pcol_sample_type type;

    if (a->file[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    pcol_status status = request_by(a, r, &top.by, &top.label, err);
    if (status == PCOL_OK)
        status = select_type(a, r, &type, &selection.exact_type, err);
    if (status == PCOL_OK)
        status = pcol_query_new(a->file[slot], &selection, NULL, &query, err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, &top, &result, err);
    const pcol_table *table = result != NULL ? pcol_result_table(result) : NULL;
    const pcol_column *names = table ? pcol_table_column_by_name(table, "name", NULL) : NULL;
    for (uint64_t row = 0; names && row < pcol_table_rows(table) && status == PCOL_OK; row++) {
        pcol_str name = {"", 0};
        status = pcol_column_str(names, row, &name, NULL, err);
        answer_text(a, 1, name);
    }
    pcol_result_free(result);
    pcol_query_free(query);
    bytes_text(&a->buffers[0], "{}");
    a->count = 2;
    return status;
}

pcol_status answer_mark(answer *a, const struct request *r, pcol_error *err)
{
    pcol_marks marks = PCOL_INIT(pcol_marks);
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    struct bytes *json = &a->buffers[0];
    uint32_t *frames;
    pcol_status status = request_rows(r, "frames", &frames, &marks.frame_count, err);

    if (status != PCOL_OK)
        return status;
    marks.frames = frames;
    status = pcol_view_mark(a->view, &marks, err);
    free(frames);
    if (status == PCOL_OK)
        status = pcol_view_describe(a->view, &info, err);
    if (status != PCOL_OK)
        return status;
    bytes_text(json, "{");
    bytes_member_amount(json, "matched", info.matched, (info.flags & PCOL_VIEW_IS_DOUBLE) != 0);
    if (info.flags & PCOL_VIEW_HAS_BASE)
        bytes_member_amount(json, "base", info.base_matched,
                            (info.flags & PCOL_VIEW_BASE_IS_DOUBLE) != 0);
    bytes_text(json, "}");
    return PCOL_OK;
}

/* 1 from, 2 to, 3 frame, 4 depth, 5 node, 6 flags, 7 self, 8 total, 9 base self, 10 base total. */
void answer_boxes(answer *a, const pcol_box *boxes, size_t count)
{
    struct bytes *b = a->buffers;

    for (size_t i = 0; i < count; i++) {
        const pcol_box *box = &boxes[i];
        bytes_f64(&b[1], box->from);
        bytes_f64(&b[2], box->to);
        bytes_u32(&b[3], box->frame);
        bytes_u32(&b[4], box->depth);
        bytes_u32(&b[5], box->node);
        bytes_u32(&b[6], box->flags);
        bytes_add(&b[7], &box->self, sizeof box->self);
        bytes_add(&b[8], &box->total, sizeof box->total);
        bytes_add(&b[9], &box->base_self, sizeof box->base_self);
        bytes_add(&b[10], &box->base_total, sizeof box->base_total);
    }
    bytes_text(&b[0], "{");
    bytes_member(&b[0], "count", (int64_t)count);
    bytes_text(&b[0], "}");
    a->count = 11;
}

enum { MOST_BOXES = 1 << 18 }; /* no screen shows more */

pcol_status answer_window(answer *a, const struct request *r, pcol_error *err)
{
    static const char *const kinds[] = {"flame", "inverted", "callers", "callees"};
    pcol_window window = PCOL_INIT(pcol_window);
    const char *kind = request_text(r, "kind");
    const pcol_box *boxes;
    size_t count;

    for (size_t i = 0; kind != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            window.kind = (pcol_view_kind)i;
    window.frame = (uint32_t)request_integer(r, "frame", 0);
    window.order = PCOL_ORDER_NAME;
    window.from = request_number(r, "from", 0);
    window.to = request_number(r, "to", 1);
    window.width_px = request_number(r, "width", 1200);
    window.least_px = request_number(r, "least", 0.7);
    window.max_boxes = MOST_BOXES;
    pcol_status status = pcol_view_window(a->view, &window, &boxes, &count, err);
    if (status == PCOL_OK)
        answer_boxes(a, boxes, count);
    return status;
}
