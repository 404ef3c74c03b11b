/* array.c - Array: one-dimensional buffer, in a file (read-only) or of its own (writable) */
#include "native.h"

#include <stdlib.h>

typedef struct Array {
    PyObject_HEAD File *file; /* NULL: data is the array's own */
    void *owned;
    const void *data;
    Py_ssize_t count, item_size;
    char format[2];
} Array;

PyTypeObject *array_type;

static Py_ssize_t item_size(char format)
{
    switch (format) {
    case 'B':
    case 'b':
    case '?':
        return 1;
    case 'h':
        return 2;
    case 'I':
    case 'i':
        return 4;
    default:
        return 8; /* q, Q, d */
    }
}

static Array *create(uint64_t count, const char *format)
{
    Array *self;
    Py_ssize_t size = item_size(format[0]);
    if (count > (uint64_t)(PY_SSIZE_T_MAX / size))
        return (Array *)PyErr_NoMemory();
    self = PyObject_New(Array, array_type);
    if (self == NULL)
        return NULL;
    self->file = NULL;
    self->owned = NULL;
    self->data = "";
    self->count = (Py_ssize_t)count;
    self->item_size = size;
    self->format[0] = format[0];
    self->format[1] = 0;
    return self;
}

PyObject *array_mapped(File *file, const void *data, uint64_t count, const char *format)
{
    Array *self = create(count, format);
    if (self == NULL)
        return NULL;
    self->data = count == 0 ? "" : data;
    self->file = (File *)Py_NewRef((PyObject *)file);
    file->arrays++;
    return (PyObject *)self;
}

PyObject *array_new(uint64_t count, const char *format, void **data)
{
    Array *self = create(count, format);
    if (self == NULL)
        return NULL;
    self->owned = calloc((size_t)count + 1, (size_t)self->item_size);
    if (self->owned == NULL) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    self->data = *data = self->owned;
    return (PyObject *)self;
}

PyObject *array_adopt(void *data, uint64_t count, const char *format)
{
    Array *self = create(count, format);
    if (self == NULL)
        free(data);
    else
        self->data = self->owned = data;
    return (PyObject *)self;
}

static void array_dealloc(PyObject *object)
{
    Array *self = (Array *)object;
    PyTypeObject *type = Py_TYPE(object);
    free(self->owned);
    if (self->file != NULL) {
        self->file->arrays--;
        Py_DECREF((PyObject *)self->file);
    }
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static int array_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    Array *self = (Array *)object;
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && self->file != NULL) {
        PyErr_SetString(PyExc_BufferError, "the array is in a profile and cannot be written to");
        return -1;
    }
    view->obj = Py_NewRef(object);
    view->buf = (void *)(uintptr_t)self->data;
    view->len = self->count * self->item_size;
    view->readonly = self->file != NULL;
    view->itemsize = self->item_size;
    view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? self->format : NULL;
    view->ndim = 1;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? &self->count : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->item_size : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static Py_ssize_t array_length(PyObject *object)
{
    return ((Array *)object)->count;
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, array_dealloc},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_sq_length, array_length},
    {Py_tp_doc, "Buffer of a column: of a profile (read-only) or of its own."},
    {0, NULL},
};
static PyType_Spec spec = {"pcol._native.Array", sizeof(Array), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int array_register(PyObject *module)
{
    array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return array_type == NULL ? -1 : PyModule_AddObjectRef(module, "Array", (PyObject *)array_type);
}
