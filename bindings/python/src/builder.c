/* builder.c - Builder: functions, locations, stacks and samples by column */
#include "native.h"

#include <stdlib.h>
#include <string.h>

typedef struct Builder {
    PyObject_HEAD pcol_builder *builder;
    int busy; /* a call runs without the GIL: a builder belongs to one thread at a time */
} Builder;

static PyTypeObject *builder_type;

static int enter(Builder *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the builder is in use by another thread");
    return self->busy ? -1 : 0;
}

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    pcol_builder_options options = PCOL_INIT(pcol_builder_options);
    Builder *self;
    call c;
    (void)type;
    (void)kw;
    if (!PyArg_ParseTuple(args, "s", &options.temporary_folder))
        return NULL;
    self = PyObject_New(Builder, builder_type);
    if (self == NULL)
        return NULL;
    self->builder = NULL;
    self->busy = 0;
    call_init(&c, NULL);
    if (call_end(&c, pcol_builder_new(&options, &self->builder, &c.err), NULL) == 0)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void builder_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    pcol_builder_free(((Builder *)object)->builder);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static const uint32_t no_row = 0; /* result of calls without one */

/* @row is read after the call that @status is the result of. */
static PyObject *row_or_error(call *c, pcol_status status, const uint32_t *row)
{
    return call_end(c, status, NULL) != 0 ? NULL : PyLong_FromUnsignedLong(*row);
}

/* Code of a text, PCOL_NONE of NULL. */
static pcol_status string(Builder *self, const char *text, uint32_t *code, pcol_error *err)
{
    *code = PCOL_NONE;
    return text == NULL ? PCOL_OK
                        : pcol_builder_string(self->builder, text, strlen(text), code, err);
}

/* source(type, uri, timestamp, default_sample_type, interval_ns, duration_ns), -1: not known */
static PyObject *add_source(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row = 0;
    PyObject *interval, *duration;
    call c;
    if (!PyArg_ParseTuple(args, "szzzOO", &source.type, &source.uri, &source.timestamp,
                          &source.default_sample_type, &interval, &duration) ||
        number_i64(interval, "interval_ns", SCALAR, -1, INT64_MAX, &source.interval_ns) != 0 ||
        number_i64(duration, "duration_ns", SCALAR, -1, INT64_MAX, &source.duration_ns) != 0 ||
        enter(self) != 0)
        return NULL;
    source.flags = (source.interval_ns < 0 ? 0 : PCOL_SOURCE_HAS_INTERVAL) |
                   (source.duration_ns < 0 ? 0 : PCOL_SOURCE_HAS_DURATION);
    call_init(&c, NULL);
    return row_or_error(&c, pcol_builder_source(self->builder, &source, &row, &c.err), &row);
}

static PyObject *add_meta(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    const char *key, *value;
    unsigned source;
    call c;
    if (!PyArg_ParseTuple(args, "Iss", &source, &key, &value) || enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    return row_or_error(&c, pcol_builder_source_meta(self->builder, source, key, value, &c.err),
                        &no_row);
}

static PyObject *add_sample_type(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    const char *type, *unit;
    unsigned flags;
    uint32_t row = 0;
    call c;
    if (!PyArg_ParseTuple(args, "ssI", &type, &unit, &flags) || enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    return row_or_error(
        &c, pcol_builder_sample_type(self->builder, type, unit, flags, 0, &row, &c.err), &row);
}

/* A line or None; sets @flag in @flags for a line. */
static int line_number(PyObject *object, const char *argument, int64_t *line, uint32_t flag,
                       uint32_t *flags)
{
    if (object == Py_None)
        return 0;
    *flags |= flag;
    return number_i64(object, argument, SCALAR, 0, INT64_MAX, line);
}

/* function(name, filename, start_line or None) */
static PyObject *add_function(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    pcol_function function = PCOL_INIT(pcol_function);
    const char *name, *filename;
    PyObject *start_line;
    uint32_t row = 0;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "zzO", &name, &filename, &start_line) ||
        line_number(start_line, "start_line", &function.start_line, PCOL_FUNCTION_HAS_START_LINE,
                    &function.flags) != 0 ||
        enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    function.system_name = PCOL_NONE;
    status = string(self, name, &function.name, &c.err);
    if (status == PCOL_OK)
        status = string(self, filename, &function.filename, &c.err);
    if (status == PCOL_OK)
        status = pcol_builder_function(self->builder, &function, &row, &c.err);
    return row_or_error(&c, status, &row);
}

/* location(function, line, address), each may be None */
static PyObject *add_location(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {0};
    PyObject *function, *number, *address;
    uint32_t row = 0;
    call c;
    line.function = line.filename = group.mapping = PCOL_NONE;
    if (!PyArg_ParseTuple(args, "OOO", &function, &number, &address) ||
        (function != Py_None &&
         number_u32(function, "function", SCALAR, ROW_HIGH, &line.function) != 0) ||
        line_number(number, "line", &line.line, PCOL_LINE_HAS_LINE, &line.flags) != 0 ||
        (address != Py_None && number_u64(address, "address", &group.address) != 0) ||
        enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    group.lines = &line;
    group.line_count = function == Py_None ? 0 : 1;
    group.flags = address == Py_None ? 0 : PCOL_GROUP_HAS_ADDRESS;
    return row_or_error(&c, pcol_builder_group(self->builder, &group, &row, &c.err), &row);
}

/* Replace *stack by the stack with @location, element @at, on top of it. */
static int push(Builder *self, PyObject *location, Py_ssize_t at, uint32_t *stack)
{
    uint32_t group;
    call c;
    if (number_u32(location, "locations", at, ROW_HIGH, &group) != 0 || enter(self) != 0)
        return -1;
    call_init(&c, NULL);
    return call_end(&c, pcol_builder_stack(self->builder, *stack, group, stack, &c.err), NULL);
}

/* stack(parent, locations): the stack with all locations, outermost first, on top of the parent */
static PyObject *add_stack(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    PyObject *parent, *locations, *location;
    uint32_t stack;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OO", &parent, &locations) ||
        number_u32(parent, "parent", SCALAR, ROW_HIGH, &stack) != 0 ||
        (locations = PyObject_GetIter(locations)) == NULL)
        return NULL;
    for (Py_ssize_t at = 0; !failed && (location = PyIter_Next(locations)) != NULL; at++) {
        failed = push(self, location, at, &stack);
        Py_DECREF(location);
    }
    Py_DECREF(locations);
    return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLong(stack);
}

/* The column of a table: texts, or rows of the table @reference. */
static pcol_status cell_column(Builder *self, const char *table_name, const char *name,
                               const char *reference, uint32_t *column, pcol_error *err)
{
    uint32_t table, target = 0;
    pcol_status status = pcol_builder_table(self->builder, table_name, &table, err);
    if (status == PCOL_OK && reference != NULL)
        status = pcol_builder_table(self->builder, reference, &target, err);
    return status != PCOL_OK ? status
                             : pcol_builder_column(self->builder, table, name,
                                                   reference == NULL ? PCOL_STRING : PCOL_U32,
                                                   reference == NULL ? 0 : target + 1, column, err);
}

/* cell(table, column, row, text), cell(table, column, row, number, referenced table) */
static PyObject *set_cell(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    const char *table, *name, *reference = NULL, *text = "";
    Py_ssize_t size = 0;
    uint64_t row;
    int64_t number = 0;
    uint32_t column;
    PyObject *place, *value;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "ssOO|z", &table, &name, &place, &value, &reference) ||
        number_u64(place, "row", &row) != 0)
        return NULL;
    if (reference == NULL)
        text = PyUnicode_AsUTF8AndSize(value, &size);
    else
        (void)number_i64(value, "value", SCALAR, INT64_MIN, INT64_MAX, &number);
    if (PyErr_Occurred() || enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    status = cell_column(self, table, name, reference, &column, &c.err);
    if (status == PCOL_OK && reference == NULL)
        status = pcol_builder_set_str(self->builder, column, row, text, (size_t)size, &c.err);
    else if (status == PCOL_OK)
        status = pcol_builder_set_i64(self->builder, column, row, number, &c.err);
    return row_or_error(&c, status, &no_row);
}

/* ---- samples: columns are buffers, rows of uint32 and other numbers of int64 or double */

enum { MAX_TYPES = 64 };

typedef struct sample_columns {
    pcol_sample_columns s;
    pcol_value_column values[MAX_TYPES];
    Py_buffer views[4 + MAX_TYPES];
    size_t view_count;
} sample_columns;

/* Set *data to the elements of a buffer, NULL of None; 0, or -1 with an exception. */
static int take(sample_columns *columns, PyObject *object, size_t width, const void **data)
{
    Py_buffer *view = &columns->views[columns->view_count];
    *data = NULL;
    if (object == Py_None)
        return 0;
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) != 0)
        return -1;
    columns->view_count++;
    *data = view->buf;
    if ((size_t)view->len == (size_t)columns->s.count * width)
        return 0;
    PyErr_SetString(PyExc_ValueError, "columns of samples must have the same length");
    return -1;
}

static int take_values(sample_columns *columns, PyObject *values)
{
    Py_ssize_t count = PyTuple_Size(values);
    if (count > MAX_TYPES) {
        PyErr_SetString(PyExc_ValueError, "more than 64 sample types");
        return -1;
    }
    columns->s.values = columns->values;
    for (Py_ssize_t i = 0; i < count; i++) {
        pcol_value_column *value = &columns->values[i];
        PyObject *column;
        const void *data;
        if (!PyArg_ParseTuple(PyTuple_GetItem(values, i), "IO", &value->sample_type, &column) ||
            take(columns, column, sizeof(int64_t), &data) != 0)
            return -1;
        value->as.i64 = data;
        columns->s.value_count++;
    }
    return 0;
}

/* samples(source, rows, stack, time, duration, thread, ((type, values), ...)) */
static PyObject *add_samples(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    sample_columns columns;
    PyObject *stack, *time, *duration, *thread, *values, *result = NULL;
    const void *stacks, *times, *durations, *threads;
    Py_ssize_t rows;
    call c;
    pcol_status status;
    memset(&columns, 0, sizeof columns);
    columns.s.size = sizeof columns.s;
    columns.s.thread = PCOL_NONE;
    if (!PyArg_ParseTuple(args, "InOOOOO!", &columns.s.source, &rows, &stack, &time, &duration,
                          &thread, &PyTuple_Type, &values) ||
        enter(self) != 0)
        return NULL;
    columns.s.count = (uint64_t)rows;
    call_init(&c, NULL);
    if (take(&columns, stack, sizeof(uint32_t), &stacks) == 0 &&
        take(&columns, time, sizeof(int64_t), &times) == 0 &&
        take(&columns, duration, sizeof(int64_t), &durations) == 0 &&
        take(&columns, thread, sizeof(uint32_t), &threads) == 0 &&
        take_values(&columns, values) == 0) {
        columns.s.stacks = stacks;
        columns.s.times_ns = times;
        columns.s.durations_ns = durations;
        columns.s.threads = threads;
        self->busy = 1;
        CALL(&c, status, pcol_builder_samples(self->builder, &columns.s, NULL, &c.err));
        self->busy = 0;
        result = row_or_error(&c, status, &no_row);
    }
    for (size_t i = 0; i < columns.view_count; i++)
        PyBuffer_Release(&columns.views[i]);
    return result;
}

/* write(flags, path, overwrite) -> File or None */
static PyObject *write_file(PyObject *object, PyObject *args)
{
    Builder *self = (Builder *)object;
    PyObject *path, *result;
    unsigned flags;
    int overwrite;
    if (!PyArg_ParseTuple(args, "IOp", &flags, &path, &overwrite) || enter(self) != 0)
        return NULL;
    self->busy = 1;
    result = builder_finish(self->builder, flags, path, overwrite);
    self->busy = 0;
    return result;
}

static PyMethodDef methods[] = {
    {"source", add_source, METH_VARARGS, NULL},
    {"meta", add_meta, METH_VARARGS, NULL},
    {"sample_type", add_sample_type, METH_VARARGS, NULL},
    {"function", add_function, METH_VARARGS, NULL},
    {"location", add_location, METH_VARARGS, NULL},
    {"stack", add_stack, METH_VARARGS, NULL},
    {"cell", set_cell, METH_VARARGS, NULL},
    {"samples", add_samples, METH_VARARGS, NULL},
    {"write", write_file, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, builder_new},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A profile under construction."},
    {0, NULL},
};
static PyType_Spec spec = {"pcol._native.Builder", sizeof(Builder), 0, Py_TPFLAGS_DEFAULT, slots};

int builder_register(PyObject *module)
{
    builder_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return builder_type == NULL
               ? -1
               : PyModule_AddObjectRef(module, "Builder", (PyObject *)builder_type);
}
