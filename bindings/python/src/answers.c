/* answers.c - top, tree, peek, diff and flame graphs as columns */
#include "native.h"

#include <stdlib.h>
#include <string.h>

const char **strings_of(PyObject *tuple, size_t *count)
{
    const char **texts = calloc((size_t)PyTuple_Size(tuple) + 1, sizeof *texts);
    if (texts == NULL)
        return (const char **)PyErr_NoMemory();
    *count = (size_t)PyTuple_Size(tuple);
    for (size_t i = 0; i < *count; i++) {
        Py_ssize_t size = 0;
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, (Py_ssize_t)i), &size);
        if (texts[i] != NULL && strlen(texts[i]) == (size_t)size)
            continue;
        if (texts[i] != NULL)
            PyErr_SetString(PyExc_ValueError, "embedded null character");
        free(texts);
        return NULL;
    }
    return texts;
}

int selection_parse(selection *s, PyObject *tuple)
{
    PyObject *labels, *metas;
    long long from, to;
    int has_time, share, keep;
    memset(s, 0, sizeof *s);
    s->s.size = sizeof s->s;
    if (!PyArg_ParseTuple(tuple, "zzzzzzzO!O!pLLip", &s->s.sample_type, &s->s.focus, &s->s.ignore,
                          &s->s.hide, &s->s.show, &s->s.thread, &s->s.source, &PyTuple_Type,
                          &labels, &PyTuple_Type, &metas, &has_time, &from, &to, &share, &keep))
        return -1;
    s->s.has_time = has_time;
    s->s.time_from_ns = from;
    s->s.time_to_ns = to;
    s->s.time_share = (pcol_time_share)share;
    s->s.keep_dropped = keep;
    s->s.labels = s->labels = strings_of(labels, &s->s.label_count);
    if (s->labels != NULL)
        s->s.source_metas = s->metas = strings_of(metas, &s->s.source_meta_count);
    if (s->metas != NULL)
        return 0;
    selection_free(s);
    return -1;
}

void selection_free(selection *s)
{
    free(s->labels);
    free(s->metas);
    s->labels = s->metas = NULL;
}

/* ---- asking */

/* A question; `name`: label of top and diff, function of peek. */
typedef struct question {
    const char *kind, *name;
    int by, order, option; /* option: bottom_up, normalize */
    uint32_t depth;
} question;

/* @queries: of the profile and of @base_count bases. */
static pcol_status ask(const question *q, pcol_query *const *queries, size_t base_count,
                       pcol_result **result, pcol_error *err)
{
    pcol_query *query = queries[0];
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_tree_options tree = PCOL_INIT(pcol_tree_options);
    pcol_diff_options diff = PCOL_INIT(pcol_diff_options);
    top.by = tree.by = diff.by = (pcol_by)q->by;
    top.order = tree.order = diff.order = (pcol_order)q->order;
    top.label = diff.label = q->name;
    tree.flags = q->option ? PCOL_TREE_BOTTOM_UP : 0;
    diff.flags = q->option ? PCOL_DIFF_NORMALIZE : 0;
    tree.max_depth = q->depth;
    if (base_count > 1) {
        diff.further_bases = queries + 2;
        diff.further_base_count = base_count - 1;
    }
    if (strcmp(q->kind, "diff") == 0)
        return pcol_diff(queries[1], query, &diff, result, err);
    if (strcmp(q->kind, "top") == 0)
        return pcol_query_top(query, &top, result, err);
    if (strcmp(q->kind, "tree") == 0)
        return pcol_query_tree(query, &tree, result, err);
    return pcol_query_peek(query, q->name, NULL, result, err);
}

static PyObject *columns_of(const pcol_result *result)
{
    const pcol_table *table = pcol_result_table(result);
    PyObject *columns = PyDict_New();
    for (uint32_t i = 0; columns != NULL && i < pcol_table_column_count(table); i++) {
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        PyObject *column = column_convert(NULL, table, i);
        if (column == NULL ||
            pcol_column_describe(pcol_table_column(table, i), &info, NULL) != PCOL_OK ||
            PyDict_SetItemString(columns, info.name, column) != 0)
            Py_CLEAR(columns);
        Py_XDECREF(column);
    }
    return columns;
}

static PyObject *amount(int is_double, pcol_amount value)
{
    return is_double ? PyFloat_FromDouble(value.f64) : PyLong_FromLongLong(value.i64);
}

/* (type, unit, total, selected, scale, rows, columns) */
static PyObject *finish(const pcol_result *result, const pcol_query *query)
{
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    pcol_query_info of_query = PCOL_INIT(pcol_query_info);
    PyObject *columns = columns_of(result);
    int is_diff;
    if (columns == NULL)
        return NULL;
    if (pcol_result_describe(result, &info, NULL) != PCOL_OK ||
        pcol_query_describe(query, &of_query, NULL) != PCOL_OK) {
        Py_DECREF(columns);
        PyErr_SetString(PyExc_RuntimeError, "a result without a description");
        return NULL;
    }
    is_diff = strcmp(info.kind, "diff") == 0;
    return Py_BuildValue(
        "NNNNdKN", texts_string(info.type), texts_string(info.unit),
        amount((info.flags & PCOL_RESULT_IS_DOUBLE) != 0, info.total[0]),
        is_diff ? amount((info.flags & PCOL_RESULT_IS_DOUBLE) != 0, info.total[1])
                : amount((of_query.flags & PCOL_QUERY_IS_DOUBLE) != 0, of_query.selected),
        is_diff ? info.scale : of_query.seconds_per_value,
        (unsigned long long)pcol_table_rows(pcol_result_table(result)), columns);
}

/* Queries of the profile, [0], and of the bases. */
typedef struct queries {
    size_t count;
    File **files; /* those that were entered are not NULL */
    pcol_query **q;
    selection s;
    pcol_sample_type shared; /* that base and profile have */
} queries;

static void queries_end(queries *q)
{
    for (size_t i = 0; i < q->count; i++) {
        pcol_query_free(q->q[i]);
        if (q->files[i] != NULL)
            file_leave(q->files[i]);
    }
    selection_free(&q->s);
    free(q->files);
    free(q->q);
}

/* @bases: tuple of File. queries_end() is needed whatever the result. */
static int queries_begin(queries *q, File *self, PyObject *selected, PyObject *bases)
{
    size_t count = (size_t)PyTuple_Size(bases) + 1;
    memset(q, 0, sizeof *q);
    q->files = calloc(count, sizeof *q->files);
    q->q = calloc(count, sizeof(pcol_query *));
    if (q->files == NULL || q->q == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    q->count = count;
    if (selection_parse(&q->s, selected) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        File *file = i == 0 ? self : (File *)PyTuple_GetItem(bases, (Py_ssize_t)i - 1);
        if (!PyObject_TypeCheck((PyObject *)file, file_type)) {
            PyErr_SetString(PyExc_TypeError, "the base must be a profile");
            return -1;
        }
        if (file_enter(file) != 0)
            return -1;
        q->files[i] = file;
    }
    return 0;
}

static pcol_status queries_open(queries *q, call *c)
{
    pcol_status status = PCOL_OK;
    int is_default;
    if (q->count > 1 && q->s.s.sample_type == NULL) {
        const pcol_file **bases = calloc(q->count - 1, sizeof *bases);
        if (bases == NULL)
            return pcol_error_set(&c->err, PCOL_E_NO_MEMORY, 0, NULL);
        for (size_t i = 1; i < q->count; i++)
            bases[i - 1] = q->files[i]->file;
        status = pcol_query_shared_type(bases, q->count - 1, q->files[0]->file, &q->s.s, &q->shared,
                                        &is_default, &c->err);
        free(bases);
        q->s.s.exact_type = &q->shared;
    }
    for (size_t i = 0; i < q->count && status == PCOL_OK; i++)
        status = pcol_query_new(q->files[i]->file, &q->s.s, &c->control, &q->q[i], &c->err);
    return status;
}

/* Adds what a reader of the answer has to know, such as a pattern that matches nothing; -1: an exception is set. */
static int add_notes(const queries *q, PyObject *notices)
{
    for (size_t i = 0; i < q->count; i++) {
        pcol_query_info info = PCOL_INIT(pcol_query_info);
        PyObject *entry;
        int failed;
        if (pcol_query_describe(q->q[i], &info, NULL) != PCOL_OK || info.note == NULL)
            continue;
        entry = Py_BuildValue("issNs", (int)PCOL_NOTICE_SELECTION, "", "", text_object(info.note),
                              info.note_option != NULL ? info.note_option : "");
        failed = entry == NULL || PyList_Append(notices, entry) < 0;
        Py_XDECREF(entry);
        if (failed)
            return -1;
    }
    return 0;
}

static pcol_status run(queries *q, const question *asked, pcol_result **result, call *c)
{
    pcol_status status = queries_open(q, c);
    return status != PCOL_OK ? status : ask(asked, q->q, q->count - 1, result, &c->err);
}

/* answer(kind, selection, tuple of bases, name, by, order, option, depth, notices) */
PyObject *file_answer(PyObject *object, PyObject *args)
{
    queries q;
    question asked;
    pcol_result *answer = NULL;
    PyObject *selected, *bases, *depth, *notices, *result = NULL;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "sO!O!ziiiOO!", &asked.kind, &PyTuple_Type, &selected,
                          &PyTuple_Type, &bases, &asked.name, &asked.by, &asked.order,
                          &asked.option, &depth, &PyList_Type, &notices) ||
        number_u32(depth, "max_depth", SCALAR, UINT32_MAX, &asked.depth) != 0)
        return NULL;
    call_init(&c, notices);
    if (queries_begin(&q, (File *)object, selected, bases) == 0) {
        CALL(&c, status, run(&q, &asked, &answer, &c));
        if (call_end(&c, status, NULL) == 0 && add_notes(&q, notices) == 0)
            result = finish(answer, q.q[0]);
    }
    pcol_result_free(answer);
    queries_end(&q);
    return result;
}

static pcol_status draw(queries *q, pcol_flame_options *options, pcol_result **flame, call *c)
{
    pcol_status status = queries_open(q, c);
    options->base = q->count > 1 ? q->q[1] : NULL;
    return status != PCOL_OK ? status : pcol_query_flame(q->q[0], options, flame, &c->err);
}

/* flame(selection, tuple of no or one base, title, inverted, reverse, width, min_width, notices) -> SVG as bytes */
PyObject *file_flame(PyObject *object, PyObject *args)
{
    queries q;
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_result *flame = NULL;
    PyObject *selected, *bases, *width, *notices, *result = NULL;
    const char *title;
    uint32_t width_px;
    int inverted, reverse;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "O!O!zppOdO!", &PyTuple_Type, &selected, &PyTuple_Type, &bases,
                          &title, &inverted, &reverse, &width, &options.min_width_px, &PyList_Type,
                          &notices) ||
        number_u32(width, "width", SCALAR, UINT32_MAX, &width_px) != 0)
        return NULL;
    options.width_px = width_px;
    options.flags = (inverted ? PCOL_FLAME_INVERTED : 0u) | (reverse ? PCOL_FLAME_REVERSE : 0u);
    call_init(&c, notices);
    if (queries_begin(&q, (File *)object, selected, bases) == 0) {
        CALL(&c, status, draw(&q, &options, &flame, &c));
        if (call_end(&c, status, NULL) == 0 && add_notes(&q, notices) == 0)
            (void)memory_sink_write_flame(flame, title, &c, &result);
    }
    pcol_result_free(flame);
    queries_end(&q);
    return result;
}

/* label_keys() -> list of keys */
PyObject *file_label_keys(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    pcol_str *keys = NULL;
    size_t count = 0, places = 0;
    PyObject *list = NULL;
    call c;
    pcol_status status;
    (void)unused;
    if (file_enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_label_keys(self->file, NULL, 0, &count, &c.err));
    if (status == PCOL_OK && count > 0) {
        places = count;
        keys = malloc(places * sizeof *keys);
        if (keys == NULL)
            status = pcol_error_set(&c.err, PCOL_E_NO_MEMORY, 0, NULL);
        else
            CALL(&c, status, pcol_label_keys(self->file, keys, places, &count, &c.err));
    }
    if (call_end(&c, status, NULL) == 0)
        list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < places; i++) {
        PyObject *key = texts_string(keys[i]);
        if (key == NULL || PyList_Append(list, key) != 0)
            Py_CLEAR(list);
        Py_XDECREF(key);
    }
    free(keys);
    file_leave(self);
    return list;
}
