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
        name = texts_string((pcol_str){text, text == NULL ? 0 : strlen(text)});
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
    return Py_BuildValue("sszOOzzsK", info.name, pcol_type_name(info.type), info.references,
                         info.primary_key ? Py_True : Py_False, info.nullable ? Py_True : Py_False,
                         info.unit, info.documentation, info.encoding,
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
    uint64_t count, room;
} list_values;

static int append(list_values *list, const int64_t *values, uint64_t count)
{
    if (count > list->room - list->count) {
        uint64_t room = 2 * (list->count + count) + 1024;
        int64_t *wider = realloc(list->values, (size_t)room * sizeof *wider);
        if (wider == NULL)
            return -1;
        list->values = wider;
        list->room = room;
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

/* ---- stacks of samples */

enum { STACKS = 2048, SCRATCH = 1 << 16 }; /* samples and locations that are read at once */

/* One value for each frame of all samples in an array that grows: their number is not known
 * before. The value is the row of the location, or what a table of the caller has for it. */
typedef struct stacks {
    uint64_t *offsets; /* by sample, and the end */
    void *values;
    uint64_t room; /* of values */
    uint32_t *scratch;
    size_t scratch_room;
    const void *lookup; /* of int8, int16 or int32 by location; NULL: rows, which are uint32 */
    uint64_t lookup_count;
    size_t size; /* bytes of a value */
} stacks;

static pcol_status stacks_grow(stacks *s, uint64_t needed)
{
    uint64_t room = s->room + s->room / 2 + needed + CHUNK;
    void *wider = realloc(s->values, (size_t)room * s->size);
    if (wider == NULL)
        return PCOL_E_NO_MEMORY;
    s->values = wider;
    s->room = room;
    return PCOL_OK;
}

static pcol_status stacks_widen(stacks *s, uint64_t needed)
{
    size_t room = (size_t)needed + SCRATCH;
    uint32_t *wider = realloc(s->scratch, room * sizeof *wider);
    if (wider == NULL)
        return PCOL_E_NO_MEMORY;
    s->scratch = wider;
    s->scratch_room = room;
    return PCOL_OK;
}

#define LOOK_UP(type)                                                           \
    for (size_t i = 0; i < count; i++) {                                        \
        if (s->scratch[i] >= s->lookup_count)                                   \
            return PCOL_E_ARGUMENT;                                             \
        ((type *)s->values)[at + i] = ((const type *)s->lookup)[s->scratch[i]]; \
    }

/* Appends the values of `count` locations. */
static pcol_status stacks_append(stacks *s, uint64_t at, size_t count)
{
    if (count > s->room - at && stacks_grow(s, count) != PCOL_OK)
        return PCOL_E_NO_MEMORY;
    if (s->lookup == NULL)
        memcpy((uint32_t *)s->values + at, s->scratch, count * sizeof *s->scratch);
    else if (s->size == 1)
        LOOK_UP(uint8_t)
    else if (s->size == 2)
        LOOK_UP(uint16_t)
    else
        LOOK_UP(uint32_t)
    return PCOL_OK;
}

static pcol_status read_stacks(call *c, const pcol_file *file, uint64_t samples, stacks *s)
{
    pcol_frames *frames = NULL;
    uint64_t row = 0;
    pcol_status status = pcol_frames_open(file, &c->control, &frames, &c->err);
    while (status == PCOL_OK && row < samples) {
        uint64_t *offsets = s->offsets + row, used = offsets[0];
        size_t count = samples - row < STACKS ? (size_t)(samples - row) : STACKS, done = 0;
        status = pcol_frames_read(frames, row, count, offsets, s->scratch, s->scratch_room, &done,
                                  &c->err);
        if (status == PCOL_OK) {
            status = done == 0 ? stacks_widen(s, offsets[1])
                               : stacks_append(s, used, (size_t)offsets[done]);
            if (status != PCOL_OK)
                pcol_error_set(&c->err, status, 0, NULL);
            else if (call_poll(c))
                status = PCOL_E_CANCELLED;
        }
        for (size_t i = 0; i <= done; i++)
            offsets[i] = i == 0 ? used : offsets[i] + used;
        row += done;
    }
    pcol_frames_free(frames);
    return status;
}

static PyObject *frames_of(File *self, stacks *s)
{
    static const char *const formats[] = {[1] = "b", [2] = "h", [4] = "i"};
    const pcol_table *table = NULL;
    void *offsets;
    uint64_t samples;
    call c;
    pcol_status status;
    PyObject *starts, *result = NULL;
    call_init(&c, NULL);
    CALL(&c, status, pcol_file_table_by_name(self->file, PCOL_MODEL_V2, "samples", &table, &c.err));
    if (call_end(&c, status, NULL) != 0)
        return NULL;
    samples = pcol_table_rows(table);
    starts = array_new(samples + 1, "Q", &offsets);
    if (starts == NULL)
        return NULL;
    s->offsets = offsets;
    if (stacks_grow(s, 16 * samples) == PCOL_OK && stacks_widen(s, 0) == PCOL_OK)
        CALL(&c, status, read_stacks(&c, self->file, samples, s));
    else
        status = PCOL_E_NO_MEMORY;
    if (call_end(&c, status, NULL) == 0) {
        const char *format = s->lookup == NULL ? "I" : formats[s->size];
        result = Py_BuildValue("ON", starts, array_adopt(s->values, s->offsets[samples], format));
    } else {
        free(s->values);
    }
    free(s->scratch);
    Py_DECREF(starts);
    return result;
}

/* frames(lookup) -> (offsets, values), innermost first. lookup: an array of int8, int16 or int32 by
 * location, whose items are the values; None: values are rows of locations */
PyObject *file_frames(PyObject *object, PyObject *lookup)
{
    File *self = (File *)object;
    stacks s = {.size = sizeof(uint32_t)};
    Py_buffer view = {0};
    PyObject *result = NULL;
    if (file_enter(self) != 0)
        return NULL;
    if (lookup != Py_None && PyObject_GetBuffer(lookup, &view, PyBUF_CONTIG_RO) == 0) {
        s.lookup = view.buf;
        s.size = (size_t)view.itemsize;
        s.lookup_count = (uint64_t)(view.len / view.itemsize);
    }
    if (!PyErr_Occurred() && s.size != 1 && s.size != 2 && s.size != 4)
        PyErr_SetString(PyExc_ValueError, "items of the lookup table have 1, 2 or 4 bytes");
    if (!PyErr_Occurred())
        result = frames_of(self, &s);
    if (view.obj != NULL)
        PyBuffer_Release(&view);
    file_leave(self);
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
