/* output.c - what writes: import into memory, export, SVG; and pcol_file_check() */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- a sink into memory */

typedef struct memory {
    char *data;
    size_t size, capacity;
} memory;

static pcol_status memory_write(void *context, const void *data, size_t size, pcol_error *err)
{
    memory *m = context;
    if (size > m->capacity - m->size) {
        size_t capacity = 2 * (m->size + size) + 4096;
        char *wider = realloc(m->data, capacity);
        if (wider == NULL)
            return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
        m->data = wider;
        m->capacity = capacity;
    }
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return PCOL_OK;
}

int memory_sink_write_flame(const pcol_result *flame, const char *title, call *c, PyObject **bytes)
{
    memory m = {0};
    pcol_status status;
    CALL(c, status, pcol_flame_svg(flame, title, (pcol_sink){memory_write, &m}, &c->err));
    if (call_end(c, status, NULL) == 0)
        *bytes = PyBytes_FromStringAndSize(m.data, (Py_ssize_t)m.size);
    free(m.data);
    return *bytes == NULL ? -1 : 0;
}

/* ---- an output file or memory */

static int is_loss(PyObject *notices)
{
    for (Py_ssize_t i = 0; i < PyList_Size(notices); i++) {
        PyObject *entry = PyList_GetItem(notices, i);
        if (PyLong_AsLong(PyTuple_GetItem(entry, 0)) == PCOL_NOTICE_LOSS)
            return 1;
    }
    return 0;
}

typedef struct target {
    pcol_output *output; /* NULL: memory */
    memory memory;
    pcol_sink sink;
} target;

static pcol_status target_open(target *t, const char *path, unsigned flags, pcol_error *err)
{
    memset(t, 0, sizeof *t);
    t->sink = (pcol_sink){memory_write, &t->memory};
    if (path != NULL) {
        pcol_status status = pcol_output_open(path, flags, &t->output, err);
        if (status != PCOL_OK)
            return status;
        t->sink = pcol_output_sink(t->output);
    }
    return PCOL_OK;
}

static pcol_status target_close(target *t, pcol_status status, pcol_error *err)
{
    pcol_output *output = t->output;
    t->output = NULL;
    if (output == NULL)
        return status;
    if (status == PCOL_OK)
        return pcol_output_commit(output, err);
    pcol_output_abort(output);
    return status;
}

/* None or str or path-like -> bytes in *encoded, NULL for None */
static int encode_path(PyObject *path, PyObject **encoded)
{
    *encoded = NULL;
    return path == Py_None || PyUnicode_FSConverter(path, encoded) ? 0 : -1;
}

/* export(format, path, sample_type, source_id, compress, overwrite, fail_on_loss, notices) */
PyObject *file_export(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    const char *format;
    PyObject *path, *source, *encoded, *notices, *result = NULL;
    int overwrite, fail_on_loss;
    target t;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "sOzOIppO!", &format, &path, &options.sample_type, &source,
                          &options.compress, &overwrite, &fail_on_loss, &PyList_Type, &notices) ||
        number_u64(source, "source_id", &options.source_id) != 0 ||
        encode_path(path, &encoded) != 0)
        return NULL;
    call_init(&c, notices);
    options.control = &c.control;
    if (file_enter(self) == 0) {
        status = target_open(&t, encoded == NULL ? NULL : PyBytes_AsString(encoded),
                             overwrite ? PCOL_OUTPUT_OVERWRITE : 0, &c.err);
        if (status == PCOL_OK) {
            CALL(&c, status, pcol_export(self->file, format, &options, t.sink, &c.err));
            if (status == PCOL_OK && (c.raised || (fail_on_loss && is_loss(notices))))
                status = pcol_error_set(&c.err, PCOL_E_LOSS, 0,
                                        "the target format cannot represent all of the profile");
            if (status == PCOL_OK)
                status = pcol_file_intact(self->file, &c.err);
            CALL(&c, status, target_close(&t, status, &c.err));
        }
        if (call_end(&c, status, path) == 0)
            result = encoded != NULL
                         ? Py_NewRef(Py_None)
                         : PyBytes_FromStringAndSize(t.memory.data, (Py_ssize_t)t.memory.size);
        free(t.memory.data);
        file_leave(self);
    }
    Py_XDECREF(encoded);
    return result;
}

/* ---- building */

static pcol_status write_builder(pcol_builder *builder, unsigned flags, const char *path,
                                 int overwrite, call *c, void **data, size_t *size)
{
    target t;
    pcol_status status;
    if (path == NULL)
        return pcol_builder_write_memory(builder, flags, &c->control, data, size, &c->err);
    status = target_open(&t, path, overwrite ? PCOL_OUTPUT_OVERWRITE : 0, &c->err);
    if (status != PCOL_OK)
        return status;
    status = pcol_builder_write(builder, flags, &c->control, t.sink, &c->err);
    return target_close(&t, status, &c->err);
}

/* Write a builder: a File in memory, or None if there is a path. */
PyObject *builder_finish(pcol_builder *builder, unsigned flags, PyObject *path, int overwrite)
{
    void *data = NULL;
    size_t size = 0;
    PyObject *encoded;
    call c;
    pcol_status status;
    if (encode_path(path, &encoded) != 0)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status,
         write_builder(builder, flags, encoded == NULL ? NULL : PyBytes_AsString(encoded),
                       overwrite, &c, &data, &size));
    Py_XDECREF(encoded);
    if (call_end(&c, status, path) != 0)
        return NULL;
    return path == Py_None ? file_from_memory(data, size) : Py_NewRef(Py_None);
}

static int import_one(pcol_builder *builder, PyObject *source, const char *name,
                      const pcol_import_options *options, call *c)
{
    PyObject *path = NULL;
    Py_buffer view;
    pcol_status status;
    if (PyUnicode_Check(source)) {
        if (!PyUnicode_FSConverter(source, &path))
            return -1;
        CALL(c, status, pcol_import_path(builder, PyBytes_AsString(path), options, &c->err));
        Py_DECREF(path);
        return call_end(c, status, source);
    }
    if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) != 0)
        return -1;
    CALL(c, status,
         pcol_import_memory(builder, view.buf, (size_t)view.len, name, options, &c->err));
    PyBuffer_Release(&view);
    return call_end(c, status, NULL);
}

/* build(((source, name), ...), format, lenient, trusted, rebase, folder, flags, path, overwrite, notices)
 * source: a path as str, or a buffer with a name */
PyObject *native_build(PyObject *module, PyObject *args)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder_options settings = PCOL_INIT(pcol_builder_options);
    pcol_builder *builder = NULL;
    PyObject *sources, *path, *notices, *source, *result = NULL;
    unsigned flags;
    int trusted, rebase, overwrite, failed = 0;
    const char *name;
    call c;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!zpppsIOpO!", &PyTuple_Type, &sources, &options.format,
                          &options.lenient, &trusted, &rebase, &settings.temporary_folder, &flags,
                          &path, &overwrite, &PyList_Type, &notices))
        return NULL;
    call_init(&c, notices);
    options.flags = (trusted ? PCOL_IMPORT_TRUSTED : 0u) | (rebase ? PCOL_IMPORT_REBASE : 0u);
    options.threads = settings.threads = 2;
    options.control = &c.control;
    if (call_end(&c, pcol_builder_new(&settings, &builder, &c.err), NULL) != 0)
        return NULL;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_Size(sources); i++)
        failed = !PyArg_ParseTuple(PyTuple_GetItem(sources, i), "Os", &source, &name) ||
                 import_one(builder, source, name, &options, &c) != 0;
    if (!failed)
        result = builder_finish(builder, flags, path, overwrite);
    pcol_builder_free(builder);
    return result;
}

/* ---- check */

typedef struct fault_list {
    call *c;
    PyObject *list;
} fault_list;

static int fault(void *context, const pcol_fault *f)
{
    fault_list *faults = context;
    call *c = faults->c;
    PyObject *entry;
    PyEval_RestoreThread(c->thread);
    entry = Py_BuildValue(
        "ONNNN", f->note ? Py_True : Py_False, text_object(f->table), text_object(f->column),
        f->row == PCOL_POSITION_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(f->row),
        text_object(f->message));
    if (entry == NULL || PyList_Append(faults->list, entry) < 0)
        c->raised = 1;
    Py_XDECREF(entry);
    c->thread = PyEval_SaveThread();
    return c->raised;
}

/* check(depth) -> list of (is_note, table, column, row, message) */
PyObject *file_check(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    fault_list faults;
    uint64_t count;
    int depth;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "i", &depth) || file_enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    faults.c = &c;
    faults.list = PyList_New(0);
    if (faults.list != NULL) {
        CALL(&c, status,
             pcol_file_check(self->file, (pcol_check_depth)depth, fault, &faults, &c.control,
                             &count, &c.err));
        if (status == PCOL_OK)
            status = pcol_file_intact(self->file, &c.err);
        if (call_end(&c, status, NULL) != 0)
            Py_CLEAR(faults.list);
    }
    file_leave(self);
    return faults.list;
}
