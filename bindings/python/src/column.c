/* column.c - tables and columns of a File; stacks of samples */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* rows that are read between checks for signals */

PyObject *column_tuple(const char *type, PyObject *values, PyObject *mask, PyObject *categories,
                       PyObject *offsets, int is_mapped)
{
    if (PyErr_Occurred()) {
        Py_XDECREF(values);
        Py_XDECREF(mask);
        Py_XDECREF(categories);
        Py_XDECREF(offsets);
        return NULL;
    }
    return Py_BuildValue("sNNNNO", type, values, mask == NULL ? Py_NewRef(Py_None) : mask,
                         categories == NULL ? Py_NewRef(Py_None) : categories,
                         offsets == NULL ? Py_NewRef(Py_None) : offsets,
                         is_mapped ? Py_True : Py_False);
}

PyObject *file_tables(PyObject *self, PyObject *args)
{
    const pcol_file *file = ((File *)self)->file;
    int model;
    PyObject *names;
    if (!PyArg_ParseTuple(args, "i", &model) || file_enter((File *)self) != 0)
        return NULL;
    file_leave((File *)self);
    names = PyList_New(0);
    for (uint32_t i = 0; names != NULL && i < pcol_file_table_count(file, (pcol_model)model); i++) {
        const char *text = pcol_file_table_name(file, (pcol_model)model, i);
        PyObject *name;
        if (model == PCOL_MODEL_FURTHER && pcol_file_table_is_internal(file, i))
            continue;
        name = text_object(text);
        if (name == NULL || PyList_Append(names, name) != 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *describe(const pcol_column *column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_error err;
    if (pcol_column_describe(column, &info, &err) != PCOL_OK)
        return PyErr_Format(PyExc_ValueError, "%s", err.message);
    return Py_BuildValue("NsNOONNsK", text_object(info.name), pcol_type_name(info.type),
                         text_object(info.references), info.primary_key ? Py_True : Py_False,
                         info.nullable ? Py_True : Py_False, text_object(info.unit),
                         text_object(info.documentation), info.encoding,
                         (unsigned long long)info.bytes);
}

PyObject *file_schema(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    const pcol_table *table = NULL;
    const char *name;
    int model;
    call c;
    pcol_status status;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "is", &model, &name) || file_enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_file_table_by_name(self->file, (pcol_model)model, name, &table, &c.err));
    file_leave(self);
    if (call_end(&c, status, NULL) != 0)
        return NULL;
    list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < pcol_table_column_count(table); i++) {
        PyObject *entry = describe(pcol_table_column(table, i));
        if (entry == NULL || PyList_Append(list, entry) != 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list == NULL ? NULL
                        : Py_BuildValue("KN", (unsigned long long)pcol_table_rows(table), list);
}

/* ---- numbers */

static const char *format_of(pcol_type type)
{
    switch ((int)type) {
    case PCOL_U64:
        return "Q";
    case PCOL_F64:
        return "d";
    case PCOL_U32:
        return "I";
    case PCOL_BOOL:
        return "?";
    default:
        return "q";
    }
}

/* Plain columns without nulls, in place; NULL without an exception: the column must be decoded. */
static PyObject *in_place(File *self, const pcol_column *column, const pcol_column_info *info)
{
    pcol_buffer buffer;
    call c;
    pcol_status status;
    unsigned width = info->type == PCOL_U32 ? 4 : 8;
    if (info->type == PCOL_BOOL || info->type == PCOL_STRING || info->type == PCOL_BYTES ||
        info->type == PCOL_LIST)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_column_data(column, &buffer, &c.err));
    if (status == PCOL_E_UNSUPPORTED)
        return NULL;
    if (call_end(&c, status, NULL) != 0 || buffer.validity != NULL || buffer.width_bytes != width)
        return NULL;
    return column_tuple(pcol_type_name(info->type),
                        array_mapped(self, buffer.values, buffer.rows, format_of(info->type)), NULL,
                        NULL, NULL, 1);
}

static void narrow(pcol_type type, const int64_t *from, void *to, uint64_t row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (type == PCOL_U32)
            ((uint32_t *)to)[row + i] = (uint32_t)from[i];
        else
            ((uint8_t *)to)[row + i] = (uint8_t)(from[i] != 0);
}

static pcol_status read_numbers(call *c, const pcol_column *column, pcol_type type, void *values,
                                uint8_t *invalid, uint64_t rows)
{
    pcol_status status = PCOL_OK;
    int narrower = type == PCOL_U32 || type == PCOL_BOOL;
    int64_t *scratch = narrower ? malloc(CHUNK * sizeof *scratch) : NULL;
    if (narrower && scratch == NULL)
        return PCOL_E_NO_MEMORY;
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row += CHUNK) {
        size_t count = rows - row < CHUNK ? (size_t)(rows - row) : CHUNK;
        if (type == PCOL_F64)
            status = pcol_column_read_f64(column, row, count, (double *)values + row, invalid + row,
                                          &c->err);
        else
            status = pcol_column_read_i64(column, row, count,
                                          narrower ? scratch : (int64_t *)values + row,
                                          invalid + row, &c->err);
        if (status == PCOL_OK && narrower)
            narrow(type, scratch, values, row, count);
        if (status == PCOL_OK && call_poll(c))
            status = PCOL_E_CANCELLED;
    }
    free(scratch);
    return status;
}

/* Bytes 1 for valid become 1 for null. Returns whether there are nulls. */
static int invert(uint8_t *valid, uint64_t rows)
{
    int nulls = 0;
    for (uint64_t i = 0; i < rows; i++)
        nulls |= (valid[i] ^= 1);
    return nulls;
}

static PyObject *numbers(const pcol_column *column, const pcol_column_info *info)
{
    void *values, *mask;
    call c;
    pcol_status status;
    PyObject *array = array_new(info->rows, format_of(info->type), &values), *nulls = NULL;
    if (array == NULL || (nulls = array_new(info->rows, "?", &mask)) == NULL) {
        Py_XDECREF(array);
        return NULL;
    }
    call_init(&c, NULL);
    CALL(&c, status, read_numbers(&c, column, info->type, values, mask, info->rows));
    (void)call_end(&c, status, NULL);
    if (status == PCOL_OK && !c.raised && !invert(mask, info->rows))
        Py_CLEAR(nulls);
    return column_tuple(pcol_type_name(info->type), array, nulls, NULL, NULL, 0);
}

/* ---- texts */

static pcol_status read_slots(call *c, const pcol_column *column, texts *t, uint64_t row,
                              size_t count, pcol_str *strings, uint8_t *valid, int32_t *codes)
{
    pcol_status status = pcol_column_read_str(column, row, count, strings, valid, &c->err);
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        codes[row + i] = valid[i] ? texts_slot(t, strings[i]) : -1;
        if (valid[i] && codes[row + i] < 0)
            status = PCOL_E_NO_MEMORY;
    }
    return status == PCOL_OK && call_poll(c) ? PCOL_E_CANCELLED : status;
}

static int read_texts(const pcol_column *column, texts *t, int32_t *codes, uint64_t rows)
{
    pcol_str *strings = malloc(CHUNK * sizeof *strings);
    uint8_t *valid = malloc(CHUNK);
    int failed = strings == NULL || valid == NULL;
    call c;
    if (failed)
        PyErr_NoMemory();
    call_init(&c, NULL);
    for (uint64_t row = 0; row < rows && !failed; row += CHUNK) {
        size_t count = rows - row < CHUNK ? (size_t)(rows - row) : CHUNK;
        pcol_status status;
        CALL(&c, status, read_slots(&c, column, t, row, count, strings, valid, codes));
        failed = call_end(&c, status, NULL) != 0 || texts_decode(t) != 0;
    }
    free(strings);
    free(valid);
    return failed ? -1 : 0;
}

static PyObject *strings(const pcol_column *column, const pcol_column_info *info)
{
    texts t;
    void *codes;
    PyObject *array = array_new(info->rows, "i", &codes), *result = NULL;
    if (array == NULL)
        return NULL;
    if (texts_init(&t) == 0 && read_texts(column, &t, codes, info->rows) == 0) {
        texts_map(&t, codes, info->rows);
        result = column_tuple(pcol_type_name(info->type), Py_NewRef(array), NULL,
                              Py_NewRef(t.categories), NULL, 0);
    }
    texts_free(&t);
    Py_DECREF(array);
    return result;
}

/* ---- lists */

typedef struct list_values {
    int64_t *values;
    uint64_t count, capacity;
} list_values;

static int append(list_values *list, const int64_t *values, uint64_t count)
{
    if (count > list->capacity - list->count) {
        uint64_t capacity = 2 * (list->count + count) + 1024;
        int64_t *wider = realloc(list->values, (size_t)capacity * sizeof *wider);
        if (wider == NULL)
            return -1;
        list->values = wider;
        list->capacity = capacity;
    }
    memcpy(list->values + list->count, values, (size_t)count * sizeof *values);
    list->count += count;
    return 0;
}

static pcol_status read_lists(call *c, const pcol_table *table, uint32_t index, list_values *list,
                              int64_t *offsets, uint8_t *mask)
{
    pcol_scan *scan = NULL;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_status status;
    options.columns = &index;
    options.column_count = 1;
    options.control = &c->control;
    status = pcol_scan_new(table, &options, &scan, &c->err);
    while (status == PCOL_OK && (status = pcol_scan_next(scan, &batch, &c->err)) == PCOL_OK &&
           batch.rows > 0) {
        const pcol_cells *cells = &batch.columns[0];
        for (size_t i = 0; i < batch.rows; i++) {
            offsets[batch.first_row + i + 1] =
                (int64_t)(list->count + cells->list[i + 1] - cells->list[0]);
            mask[batch.first_row + i] = cells->valid[i];
        }
        if (append(list, cells->list_values + cells->list[0],
                   cells->list[batch.rows] - cells->list[0]) != 0)
            status = PCOL_E_NO_MEMORY;
    }
    pcol_scan_free(scan);
    return status;
}

static PyObject *lists(const pcol_table *table, uint32_t index, const pcol_column_info *info)
{
    list_values list = {0};
    void *offsets, *mask, *copy;
    call c;
    pcol_status status;
    PyObject *starts = array_new(info->rows + 1, "q", &offsets), *values = NULL, *nulls = NULL;
    if (starts == NULL || (nulls = array_new(info->rows, "?", &mask)) == NULL) {
        Py_XDECREF(starts);
        return NULL;
    }
    call_init(&c, NULL);
    CALL(&c, status, read_lists(&c, table, index, &list, offsets, mask));
    if (call_end(&c, status, NULL) == 0 && !invert(mask, info->rows))
        Py_CLEAR(nulls);
    if (!PyErr_Occurred() && (values = array_new(list.count, "q", &copy)) != NULL && list.count > 0)
        memcpy(copy, list.values, (size_t)list.count * sizeof *list.values);
    free(list.values);
    return column_tuple("list", values, nulls, NULL, starts, 0);
}

PyObject *column_convert(File *self, const pcol_table *table, uint32_t index)
{
    const pcol_column *column = pcol_table_column(table, index);
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    PyObject *result;
    if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
        return PyErr_Format(PyExc_IndexError, "no column %u", index);
    info.rows = pcol_table_rows(table);
    if (info.type == PCOL_STRING || info.type == PCOL_BYTES)
        return strings(column, &info);
    if (info.type == PCOL_LIST)
        return lists(table, index, &info);
    result = self == NULL ? NULL : in_place(self, column, &info);
    return result != NULL || PyErr_Occurred() ? result : numbers(column, &info);
}

/* column(model, table, index) */
PyObject *file_column(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    const pcol_table *table = NULL;
    const char *name;
    int model;
    unsigned index;
    call c;
    pcol_status status;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "isI", &model, &name, &index) || file_enter(self) != 0)
        return NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_file_table_by_name(self->file, (pcol_model)model, name, &table, &c.err));
    if (call_end(&c, status, NULL) == 0)
        result = column_convert(self, table, index);
    file_leave(self);
    return result;
}

/* ---- frames of samples */

#define FRAMES "pcol_frames"

static void frames_free(PyObject *capsule)
{
    pcol_frames_free(PyCapsule_GetPointer(capsule, FRAMES));
}

static pcol_status open_frames(call *c, const pcol_file *file, const pcol_table *samples,
                               pcol_frames **frames, uint64_t *offsets)
{
    pcol_status status = pcol_frames_open(file, &c->control, frames, &c->err);
    return status != PCOL_OK ? status
                             : pcol_frames_offsets(*frames, 0, (size_t)pcol_table_rows(samples),
                                                   offsets, &c->err);
}

static PyObject *frames_of(File *self)
{
    const pcol_table *samples = NULL;
    pcol_frames *frames = NULL;
    void *offsets = NULL;
    PyObject *starts = NULL, *capsule = NULL;
    call c;
    pcol_status status;
    call_init(&c, NULL);
    CALL(&c, status,
         pcol_file_table_by_name(self->file, PCOL_MODEL_V2, "samples", &samples, &c.err));
    if (call_end(&c, status, NULL) != 0)
        return NULL;
    starts = array_new(pcol_table_rows(samples) + 1, "Q", &offsets);
    if (starts == NULL)
        return NULL;
    CALL(&c, status, open_frames(&c, self->file, samples, &frames, offsets));
    if (call_end(&c, status, NULL) == 0)
        capsule = PyCapsule_New(frames, FRAMES, frames_free);
    if (capsule != NULL)
        return Py_BuildValue("NN", capsule, starts);
    pcol_frames_free(frames);
    Py_DECREF(starts);
    return NULL;
}

/* frames() -> (handle, offsets): the decoded call tree, and where the frames of each sample start */
PyObject *file_frames(PyObject *object, PyObject *unused)
{
    File *self = (File *)object;
    PyObject *result;
    (void)unused;
    if (file_enter(self) != 0)
        return NULL;
    result = frames_of(self);
    file_leave(self);
    return result;
}

/* Buffers of a call. */
struct gather {
    Py_buffer offsets, lookup, out; /* lookup.obj may be NULL */
};

static int gather_buffers(struct gather *g, PyObject *offsets, PyObject *lookup, PyObject *out)
{
    memset(g, 0, sizeof *g);
    return PyObject_GetBuffer(offsets, &g->offsets, PyBUF_CONTIG_RO) != 0 ||
                   (lookup != Py_None &&
                    PyObject_GetBuffer(lookup, &g->lookup, PyBUF_CONTIG_RO) != 0) ||
                   PyObject_GetBuffer(out, &g->out, PyBUF_CONTIG) != 0
               ? -1
               : 0;
}

static void gather_release(struct gather *g)
{
    Py_buffer *buffers[] = {&g->offsets, &g->lookup, &g->out};
    for (size_t i = 0; i < 3; i++)
        if (buffers[i]->obj != NULL)
            PyBuffer_Release(buffers[i]);
}

/* Samples of the offsets; -1 with an exception: the buffers do not fit. */
static Py_ssize_t gather_samples(const struct gather *g, uint64_t locations)
{
    const uint64_t *offsets = g->offsets.buf;
    Py_ssize_t count = g->offsets.len / (Py_ssize_t)sizeof *offsets;
    if (count > 0 && offsets[count - 1] == (uint64_t)(g->out.len / g->out.itemsize) &&
        (g->lookup.obj == NULL ? g->out.itemsize == 4
                               : g->lookup.itemsize == g->out.itemsize &&
                                     (uint64_t)(g->lookup.len / g->lookup.itemsize) >= locations))
        return count - 1;
    PyErr_SetString(PyExc_ValueError, "the buffers do not have the sizes of the frames");
    return -1;
}

/* gather(handle, offsets, lookup, out): a value for each frame, innermost first. lookup: an array
 * by location whose items are the values; None: rows of locations, of 4 bytes */
PyObject *file_gather(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    struct gather g;
    const pcol_table *locations = NULL;
    PyObject *handle, *offsets, *lookup, *out, *result = NULL;
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "OOOO", &handle, &offsets, &lookup, &out) || file_enter(self) != 0)
        return NULL;
    const pcol_frames *frames = PyCapsule_GetPointer(handle, FRAMES);
    if (frames != NULL && gather_buffers(&g, offsets, lookup, out) == 0) {
        call_init(&c, NULL);
        CALL(&c, status,
             pcol_file_table_by_name(self->file, PCOL_MODEL_V2, "locations", &locations, &c.err));
        Py_ssize_t count =
            call_end(&c, status, NULL) != 0 ? -1 : gather_samples(&g, pcol_table_rows(locations));
        if (count >= 0) {
            CALL(&c, status,
                 pcol_frames_gather(frames, 0, (size_t)count, g.offsets.buf, g.lookup.buf,
                                    (size_t)g.out.itemsize, &c.control, g.out.buf, &c.err));
            if (call_end(&c, status, NULL) == 0)
                result = Py_NewRef(Py_None);
        }
    }
    if (frames != NULL)
        gather_release(&g);
    file_leave(self);
    return result;
}

/* number(offsets, out, by_sample): for each frame the number of its sample, or its depth; from 1 */
PyObject *native_number(PyObject *module, PyObject *args)
{
    struct gather g;
    PyObject *offsets, *out, *result = NULL;
    int by_sample;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOp", &offsets, &out, &by_sample))
        return NULL;
    if (gather_buffers(&g, offsets, Py_None, out) == 0) {
        const uint64_t *starts = g.offsets.buf;
        int64_t *to = g.out.buf;
        Py_ssize_t count = g.offsets.len / (Py_ssize_t)sizeof *starts;
        if (g.out.itemsize != 8 || count == 0 ||
            starts[count - 1] != (uint64_t)g.out.len / sizeof *to) {
            PyErr_SetString(PyExc_ValueError, "the buffer does not have the size of the frames");
        } else {
            PyThreadState *thread = PyEval_SaveThread();
            for (Py_ssize_t i = 1; i < count; i++) {
                int64_t first = (int64_t)starts[i - 1];
                for (int64_t k = first; k < (int64_t)starts[i]; k++)
                    to[k] = by_sample ? i : k - first + 1;
            }
            PyEval_RestoreThread(thread);
            result = Py_NewRef(Py_None);
        }
    }
    gather_release(&g);
    return result;
}

/* ---- Arrow */

static void stream_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL && stream->release != NULL)
        stream->release(stream);
    free(stream);
}

/* arrow(model, table) -> capsule of an ArrowArrayStream, which retains the file */
PyObject *file_arrow(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    const pcol_table *table = NULL;
    const char *name;
    int model;
    call c;
    pcol_status status;
    PyObject *capsule;
    if (stream == NULL)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(stream, "arrow_array_stream", stream_free);
    if (capsule == NULL) {
        free(stream);
        return NULL;
    }
    if (PyArg_ParseTuple(args, "is", &model, &name) && file_enter(self) == 0) {
        call_init(&c, NULL);
        CALL(&c, status,
             pcol_file_table_by_name(self->file, (pcol_model)model, name, &table, &c.err));
        if (status == PCOL_OK)
            CALL(&c, status, pcol_table_arrow(table, NULL, stream, &c.err));
        file_leave(self);
        if (call_end(&c, status, NULL) == 0)
            return capsule;
    }
    Py_DECREF(capsule);
    return NULL;
}
