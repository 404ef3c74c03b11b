/* answers.c - top, tree, peek, diff and flame graphs as columns */
#include "native.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int selection_parse(selection *s, PyObject *tuple)
{
    PyObject *labels;
    long long from, to;
    int has_time, share, keep;
    Py_ssize_t count;
    memset(s, 0, sizeof *s);
    s->s.size = sizeof s->s;
    if (!PyArg_ParseTuple(tuple, "zzzzzzzO!pLLip", &s->s.sample_type, &s->s.focus, &s->s.ignore,
                          &s->s.hide, &s->s.show, &s->s.thread, &s->s.source, &PyTuple_Type,
                          &labels, &has_time, &from, &to, &share, &keep))
        return -1;
    s->s.has_time = has_time;
    s->s.time_from_ns = from;
    s->s.time_to_ns = to;
    s->s.time_share = (pcol_time_share)share;
    s->s.keep_dropped = keep;
    count = PyTuple_Size(labels);
    s->labels = calloc((size_t)count + 1, sizeof *s->labels);
    if (s->labels == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if ((s->labels[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(labels, i), NULL)) == NULL) {
            selection_free(s);
            return -1;
        }
    s->s.labels = s->labels;
    s->s.label_count = (size_t)count;
    return 0;
}

void selection_free(selection *s)
{
    free(s->labels);
    s->labels = NULL;
}

/* ---- kinds of answers */

/* A member of a row: 'a' amount, 'u' u32, 'b' int as bool, 'f' double. */
typedef struct member {
    const char *name;
    char type;
    size_t offset;
} member;

typedef union row {
    pcol_top_row top;
    pcol_calltree_node node;
    pcol_peek_row peek;
    pcol_diff_row diff;
    pcol_flame_box box;
} row;

static const member top_members[] = {{"self", 'a', offsetof(pcol_top_row, self)},
                                     {"total", 'a', offsetof(pcol_top_row, total)},
                                     {NULL, 0, 0}};
static const member tree_members[] = {
    {"parent", 'u', offsetof(pcol_calltree_node, parent)},
    {"depth", 'u', offsetof(pcol_calltree_node, depth)},
    {"end", 'u', offsetof(pcol_calltree_node, end)},
    {"self", 'a', offsetof(pcol_calltree_node, self)},
    {"total", 'a', offsetof(pcol_calltree_node, total)},
    {"truncated", 'b', offsetof(pcol_calltree_node, is_truncated)},
    {NULL, 0, 0}};
static const member peek_members[] = {{"relation", 'u', offsetof(pcol_peek_row, relation)},
                                      {"self", 'a', offsetof(pcol_peek_row, self)},
                                      {"total", 'a', offsetof(pcol_peek_row, total)},
                                      {NULL, 0, 0}};
static const member diff_members[] = {
    {"self_base", 'a', offsetof(pcol_diff_row, self)},
    {"self_new", 'a', offsetof(pcol_diff_row, self) + sizeof(pcol_amount)},
    {"self_delta", 'a', offsetof(pcol_diff_row, self_delta)},
    {"total_base", 'a', offsetof(pcol_diff_row, total)},
    {"total_new", 'a', offsetof(pcol_diff_row, total) + sizeof(pcol_amount)},
    {"total_delta", 'a', offsetof(pcol_diff_row, total_delta)},
    {"in_base", 'b', offsetof(pcol_diff_row, in_base)},
    {"in_new", 'b', offsetof(pcol_diff_row, in_new)},
    {NULL, 0, 0}};

typedef struct answer {
    pcol_top *top;
    pcol_calltree *tree;
    pcol_peek *peek;
    pcol_diff *diff;
    const member *members;
    size_t count, frame; /* rows; offset of the frame in a row */
    int is_double;
    pcol_str type, unit;
    pcol_amount total[2];
    double scale;
} answer;

static void get(const answer *a, size_t index, row *r)
{
    if (a->top != NULL)
        pcol_top_get(a->top, index, &r->top);
    else if (a->tree != NULL)
        pcol_calltree_get(a->tree, (uint32_t)index, &r->node);
    else if (a->peek != NULL)
        pcol_peek_get(a->peek, index, &r->peek);
    else
        pcol_diff_get(a->diff, index, &r->diff);
}

static void answer_free(answer *a)
{
    pcol_top_free(a->top);
    pcol_calltree_free(a->tree);
    pcol_peek_free(a->peek);
    pcol_diff_free(a->diff);
}

/* ---- columns of an answer */

static void set_number(const answer *a, const member *m, const row *r, void *values, size_t i)
{
    const void *from = (const char *)r + m->offset;
    if (m->type == 'a' && a->is_double)
        ((double *)values)[i] = ((const pcol_amount *)from)->f64;
    else if (m->type == 'a')
        ((int64_t *)values)[i] = ((const pcol_amount *)from)->i64;
    else if (m->type == 'u')
        ((uint32_t *)values)[i] = *(const uint32_t *)from;
    else
        ((uint8_t *)values)[i] = (uint8_t)(*(const int *)from != 0);
}

static PyObject *member_column(const answer *a, const member *m)
{
    const char *format = m->type == 'a' ? (a->is_double ? "d" : "q") : m->type == 'u' ? "I" : "?";
    const char *type = m->type == 'a'   ? (a->is_double ? "f64" : "i64")
                       : m->type == 'u' ? "u32"
                                        : "bool";
    void *values;
    PyObject *array = array_new(a->count, format, &values);
    row r;
    for (size_t i = 0; array != NULL && i < a->count; i++) {
        get(a, i, &r);
        set_number(a, m, &r, values, i);
    }
    return column_tuple(type, array, NULL, NULL, NULL, 0);
}

static PyObject *text_column(const answer *a, uint32_t flag, size_t offset)
{
    texts t;
    void *values = NULL;
    PyObject *array = array_new(a->count, "i", &values), *result = NULL;
    int failed = array == NULL || texts_init(&t) != 0;
    if (array == NULL)
        return NULL;
    for (size_t i = 0; !failed && i < a->count; i++) {
        row r;
        const pcol_frame *frame = (const pcol_frame *)((const char *)&r + a->frame);
        get(a, i, &r);
        ((int32_t *)values)[i] =
            frame->flags & flag ? texts_slot(&t, *(const pcol_str *)((const char *)frame + offset))
                                : -1;
        failed = frame->flags & flag && ((int32_t *)values)[i] < 0;
    }
    if (failed)
        PyErr_NoMemory();
    else if (texts_decode(&t) == 0) {
        texts_map(&t, values, a->count);
        result = column_tuple("string", Py_NewRef(array), NULL, Py_NewRef(t.categories), NULL, 0);
    }
    texts_free(&t);
    Py_DECREF(array);
    return result;
}

static PyObject *frame_number(const answer *a, const char *type, uint32_t flag, size_t offset)
{
    void *values = NULL, *mask = NULL;
    PyObject *array = array_new(a->count, type[0] == 'u' ? "Q" : "q", &values);
    PyObject *nulls = array_new(a->count, "?", &mask);
    for (size_t i = 0; array != NULL && nulls != NULL && i < a->count; i++) {
        row r;
        const pcol_frame *frame = (const pcol_frame *)((const char *)&r + a->frame);
        get(a, i, &r);
        ((uint8_t *)mask)[i] = !(frame->flags & flag);
        if (frame->flags & flag)
            memcpy((int64_t *)values + i, (const char *)frame + offset, sizeof(int64_t));
    }
    return column_tuple(type, array, nulls, NULL, NULL, 0);
}

static int add(PyObject *columns, const char *name, PyObject *column)
{
    int result = column == NULL ? -1 : PyDict_SetItemString(columns, name, column);
    Py_XDECREF(column);
    return result;
}

static PyObject *columns_of(const answer *a)
{
    PyObject *columns = PyDict_New();
    int failed =
        columns == NULL ||
        add(columns, "name", text_column(a, PCOL_FRAME_HAS_NAME, offsetof(pcol_frame, name))) ||
        add(columns, "file", text_column(a, PCOL_FRAME_HAS_FILE, offsetof(pcol_frame, file))) ||
        add(columns, "line",
            frame_number(a, "i64", PCOL_FRAME_HAS_LINE, offsetof(pcol_frame, line))) ||
        add(columns, "address",
            frame_number(a, "u64", PCOL_FRAME_HAS_ADDRESS, offsetof(pcol_frame, address))) ||
        add(columns, "id", frame_number(a, "u64", PCOL_FRAME_HAS_ID, offsetof(pcol_frame, id)));
    for (const member *m = a->members; !failed && m->name != NULL; m++)
        failed = add(columns, m->name, member_column(a, m));
    if (failed)
        Py_CLEAR(columns);
    return columns;
}

static PyObject *amount(const answer *a, pcol_amount value)
{
    return a->is_double ? PyFloat_FromDouble(value.f64) : PyLong_FromLongLong(value.i64);
}

static PyObject *finish(const answer *a)
{
    PyObject *columns = columns_of(a);
    return columns == NULL
               ? NULL
               : Py_BuildValue("NNNNdN", texts_string(a->type), texts_string(a->unit),
                               amount(a, a->total[0]), amount(a, a->total[1]), a->scale, columns);
}

/* ---- asking */

/* What is asked; `name`: label of top and diff, function of peek. */
typedef struct question {
    const char *kind, *name;
    int by, order, option; /* option: bottom_up, normalize */
    unsigned depth;
} question;

static pcol_status ask(const question *q, pcol_query *query, pcol_query *base, answer *a,
                       pcol_error *err)
{
    pcol_query_info info;
    pcol_status status;
    pcol_calltree_options tree = PCOL_INIT(pcol_calltree_options);
    pcol_diff_options diff = PCOL_INIT(pcol_diff_options);
    tree.by = diff.by = (pcol_by)q->by;
    tree.order = diff.order = (pcol_order)q->order;
    tree.bottom_up = diff.normalize = q->option;
    tree.max_depth = q->depth;
    diff.label = q->name;
    if (q->kind[0] == 'd') { /* diff */
        pcol_diff_info d;
        if ((status = pcol_diff_new(base, query, &diff, &a->diff, err)) != PCOL_OK)
            return status;
        pcol_diff_describe(a->diff, &d);
        a->count = pcol_diff_count(a->diff);
        a->members = diff_members;
        a->frame = offsetof(pcol_diff_row, frame);
        a->is_double = d.is_double;
        a->type = d.type;
        a->unit = d.unit;
        memcpy(a->total, d.total, sizeof a->total);
        a->scale = d.scale;
        return status;
    }
    if (q->kind[1] == 'o') { /* top */
        status = pcol_query_top(query, (pcol_by)q->by, q->name, (pcol_order)q->order, &a->top, err);
        a->count = a->top == NULL ? 0 : pcol_top_count(a->top);
        a->members = top_members;
        a->frame = offsetof(pcol_top_row, frame);
    } else if (q->kind[0] == 't') { /* tree */
        status = pcol_query_calltree(query, &tree, &a->tree, err);
        a->count = a->tree == NULL ? 0 : pcol_calltree_count(a->tree);
        a->members = tree_members;
        a->frame = offsetof(pcol_calltree_node, frame);
    } else { /* peek */
        status = pcol_query_peek(query, q->name, &a->peek, err);
        a->count = a->peek == NULL ? 0 : pcol_peek_count(a->peek);
        a->members = peek_members;
        a->frame = offsetof(pcol_peek_row, frame);
    }
    pcol_query_describe(query, &info);
    a->is_double = info.is_double;
    a->type = info.type;
    a->unit = info.unit;
    a->total[0] = info.total;
    a->total[1] = info.selected;
    a->scale = info.seconds_per_value;
    return status;
}

/* Queries of one or two files: [0] of the profile, [1] of the base. */
typedef struct queries {
    File *files[2];
    selection s[2];
    pcol_query *q[2];
    char shared[1024]; /* TYPE/UNIT that both have */
} queries;

static int queries_begin(queries *q, File *self, PyObject *selected, PyObject *base)
{
    memset(q, 0, sizeof *q);
    if (base != Py_None && !PyObject_TypeCheck(base, file_type)) {
        PyErr_SetString(PyExc_TypeError, "the base must be a profile");
        return -1;
    }
    for (int i = 0; i < (base == Py_None ? 1 : 2); i++) {
        File *file = i == 0 ? self : (File *)base;
        if (selection_parse(&q->s[i], selected) != 0 || file_enter(file) != 0)
            return -1;
        q->files[i] = file;
    }
    return 0;
}

static pcol_status queries_open(queries *q, call *c)
{
    pcol_status status = PCOL_OK;
    pcol_str type = {0}, unit = {0};
    char *shared = q->shared;
    int is_default;
    if (q->files[1] != NULL && q->s[0].s.sample_type == NULL) {
        status = pcol_query_shared_type(q->files[1]->file, q->files[0]->file, &q->s[0].s, &type,
                                        &unit, &is_default, &c->err);
        if (status == PCOL_OK && type.size > 0 && type.size + unit.size + 2 < sizeof q->shared) {
            memcpy(shared, type.data, type.size);
            shared[type.size] = '/';
            if (unit.size > 0)
                memcpy(shared + type.size + 1, unit.data, unit.size);
            shared[type.size + 1 + unit.size] = 0;
            q->s[0].s.sample_type = q->s[1].s.sample_type = shared;
        }
    }
    for (int i = 0; i < 2 && q->files[i] != NULL && status == PCOL_OK; i++)
        status = pcol_query_new(q->files[i]->file, &q->s[i].s, &c->control, &q->q[i], &c->err);
    return status;
}

static void queries_end(queries *q)
{
    for (int i = 0; i < 2; i++) {
        pcol_query_free(q->q[i]);
        selection_free(&q->s[i]);
        if (q->files[i] != NULL)
            file_leave(q->files[i]);
    }
}

static pcol_status run(queries *q, const question *asked, answer *a, call *c)
{
    pcol_status status = queries_open(q, c);
    return status != PCOL_OK ? status : ask(asked, q->q[0], q->q[1], a, &c->err);
}

/* answer(kind, selection, base, name, by, order, option, depth) */
PyObject *file_answer(PyObject *object, PyObject *args)
{
    queries q;
    question asked;
    answer a = {0};
    PyObject *selected, *base, *result = NULL;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "sO!OziiiI", &asked.kind, &PyTuple_Type, &selected, &base,
                          &asked.name, &asked.by, &asked.order, &asked.option, &asked.depth))
        return NULL;
    call_init(&c, NULL);
    if (queries_begin(&q, (File *)object, selected, base) == 0) {
        CALL(&c, status, run(&q, &asked, &a, &c));
        if (call_end(&c, status, NULL) == 0)
            result = finish(&a);
    }
    answer_free(&a);
    queries_end(&q);
    return result;
}

static pcol_status draw(queries *q, pcol_flame_options *options, pcol_flame **flame, call *c)
{
    pcol_status status = queries_open(q, c);
    options->base = q->q[1];
    return status != PCOL_OK ? status : pcol_query_flame(q->q[0], options, flame, &c->err);
}

/* flame(selection, base, title, inverted, reverse, width, min_width) -> SVG as bytes */
PyObject *file_flame(PyObject *object, PyObject *args)
{
    queries q;
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_flame *flame = NULL;
    PyObject *selected, *base, *result = NULL;
    const char *title;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "O!OzppId", &PyTuple_Type, &selected, &base, &title,
                          &options.inverted, &options.reverse, &options.width_px,
                          &options.min_width_px))
        return NULL;
    call_init(&c, NULL);
    if (queries_begin(&q, (File *)object, selected, base) == 0) {
        CALL(&c, status, draw(&q, &options, &flame, &c));
        if (call_end(&c, status, NULL) == 0)
            (void)memory_sink_write_flame(flame, title, &c, &result);
    }
    pcol_flame_free(flame);
    queries_end(&q);
    return result;
}
