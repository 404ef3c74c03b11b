/* file.c - File: an open profile; opening and importing are in output.c */
#include "native.h"

#include <string.h>

PyTypeObject *file_type;

int file_enter(File *self)
{
    if (self->file == NULL) {
        PyErr_SetString(PyExc_ValueError, "the profile is closed");
        return -1;
    }
    self->calls++;
    return 0;
}

void file_leave(File *self)
{
    self->calls--;
}

static void release(File *self)
{
    pcol_file_close(self->file);
    self->file = NULL;
    pcol_free(self->memory);
    self->memory = NULL;
    if (self->source.obj != NULL)
        PyBuffer_Release(&self->source);
}

static File *create(void)
{
    File *self = PyObject_New(File, file_type);
    if (self == NULL)
        return NULL;
    self->file = NULL;
    memset(&self->source, 0, sizeof self->source);
    self->memory = NULL;
    self->arrays = self->calls = 0;
    return self;
}

PyObject *file_from_memory(void *memory, size_t size)
{
    call c;
    pcol_status status;
    File *self = create();
    if (self == NULL) {
        pcol_free(memory);
        return NULL;
    }
    self->memory = memory;
    call_init(&c, NULL);
    CALL(&c, status, pcol_file_open_memory(memory, size, NULL, &self->file, &c.err));
    if (call_end(&c, status, NULL) == 0)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* open(path as bytes, or a buffer; flags): a pcol file */
PyObject *native_open(PyObject *module, PyObject *args)
{
    PyObject *source, *path = NULL;
    unsigned flags;
    call c;
    pcol_status status;
    File *self;
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    (void)module;
    if (!PyArg_ParseTuple(args, "OI", &source, &flags) || (self = create()) == NULL)
        return NULL;
    options.flags = flags;
    call_init(&c, NULL);
    if (PyUnicode_Check(source)) {
        if (!PyUnicode_FSConverter(source, &path))
            goto failed;
        CALL(&c, status, pcol_file_open(PyBytes_AsString(path), &options, &self->file, &c.err));
    } else {
        if (PyObject_GetBuffer(source, &self->source, PyBUF_SIMPLE) != 0)
            goto failed;
        CALL(&c, status,
             pcol_file_open_memory(self->source.buf, (size_t)self->source.len, &options,
                                   &self->file, &c.err));
    }
    Py_XDECREF(path);
    if (call_end(&c, status, path == NULL ? NULL : source) == 0)
        return (PyObject *)self;
failed:
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void file_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    release((File *)object);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *file_close(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    (void)unused;
    if (self->arrays > 0 || self->calls > 0)
        return PyErr_Format(PyExc_BufferError,
                            "the profile cannot be closed: %zd arrays and %zd calls use it",
                            self->arrays, self->calls);
    release(self);
    Py_RETURN_NONE;
}

static PyObject *file_intact(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    call c;
    pcol_status status;
    (void)unused;
    if (file_enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_file_intact(self->file, &c.err));
    file_leave(self);
    return call_end(&c, status, NULL) != 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *file_describe(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    unsigned major, minor;
    (void)unused;
    if (file_enter(self) != 0)
        return NULL;
    file_leave(self);
    pcol_file_version(self->file, &major, &minor);
    return Py_BuildValue("KOII", (unsigned long long)pcol_file_size(self->file),
                         pcol_file_is_archive(self->file) ? Py_True : Py_False, major, minor);
}

/* The bytes of a file in memory; None of one that is mapped. */
static PyObject *file_buffer(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    (void)unused;
    if (file_enter(self) != 0)
        return NULL;
    file_leave(self);
    if (self->memory == NULL && self->source.obj == NULL)
        Py_RETURN_NONE;
    return array_mapped(self, self->memory != NULL ? self->memory : self->source.buf,
                        pcol_file_size(self->file), "B");
}

static PyObject *file_closed(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(((File *)object)->file == NULL);
}

static PyMethodDef methods[] = {
    {"close", file_close, METH_NOARGS, "Close; BufferError while arrays or calls use the file."},
    {"closed", file_closed, METH_NOARGS, "True after close()."},
    {"buffer", file_buffer, METH_NOARGS, "Bytes of a file in memory, or None."},
    {"intact", file_intact, METH_NOARGS, "Raise if the file has changed since it was opened."},
    {"describe", file_describe, METH_NOARGS, "(bytes, is_archive, major, minor)"},
    {"tables", file_tables, METH_VARARGS, "tables(model) -> names"},
    {"schema", file_schema, METH_VARARGS, "schema(model, table) -> (rows, columns)"},
    {"column", file_column, METH_VARARGS, "column(model, table, index) -> column tuple"},
    {"frames", file_frames, METH_NOARGS, "frames() -> (handle, offsets)"},
    {"gather", file_gather, METH_VARARGS, "gather(handle, offsets, lookup, out)"},
    {"arrow", file_arrow, METH_VARARGS, "arrow(model, table) -> capsule of a stream"},
    {"answer", file_answer, METH_VARARGS, "answer(kind, selection, ...) -> (info, columns)"},
    {"flame", file_flame, METH_VARARGS, "flame(selection, ...) -> SVG as bytes"},
    {"label_keys", file_label_keys, METH_NOARGS, "Keys of labels."},
    {"export", file_export, METH_VARARGS, "export(format, path, ...) -> bytes or None"},
    {"filter", file_filter, METH_VARARGS, "filter(selection, ...) -> File or None"},
    {"add_frames", file_add_frames, METH_VARARGS, "add_frames(roots, ...) -> File or None"},
    {"symbolize", file_symbolize, METH_VARARGS, "symbolize(symbols, ...) -> File or None"},
    {"check", file_check, METH_VARARGS, "check(depth) -> (faults, list)"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, file_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "An open pcol file."},
    {0, NULL},
};
static PyType_Spec spec = {"pcol._native.File", sizeof(File), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int file_register(PyObject *module)
{
    file_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return file_type == NULL ? -1 : PyModule_AddObjectRef(module, "File", (PyObject *)file_type);
}
