/*
 * native.h - the extension module pcol._native: handles, arrays and the conversion of columns
 *
 * The module has no policy: classes, defaults and documentation are in pcol/ (Python). Handles are
 * guarded by the GIL: a File counts arrays that point into it and calls that run without the GIL,
 * and cannot be closed while either is above 0. Only the limited API of Python 3.11 is used.
 */
#ifndef PCOL_PYTHON_NATIVE_H
#define PCOL_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pcol.h>
#include <time.h>

/* ---- long calls (call.c) */

/* A call of the library without the GIL. Signals are checked every 20 ms of progress. */
typedef struct call {
    pcol_error err;
    pcol_control control;
    PyThreadState *thread;
    PyObject *notices; /* list of (code, format, subject, text, option); borrowed; may be NULL */
    struct timespec checked;
    int raised; /* a Python exception is set */
} call;

void call_init(call *c, PyObject *notices);
/* 1: an exception is set and the call must end. Called without the GIL. */
int call_poll(call *c);
/* 0, or -1 with an exception set. Called with the GIL. */
int call_end(call *c, pcol_status status, PyObject *path);

#define CALL(c, status, expression)        \
    do {                                   \
        (c)->thread = PyEval_SaveThread(); \
        (status) = (expression);           \
        PyEval_RestoreThread((c)->thread); \
    } while (0)

extern PyObject *native_error_factory;

/* ---- File (file.c) */

typedef struct File {
    PyObject_HEAD pcol_file *file; /* NULL: closed */
    Py_buffer source;              /* .obj is NULL: the file is mapped or owns its memory */
    void *memory;                  /* released with pcol_free() */
    Py_ssize_t arrays;             /* that point into the file */
    Py_ssize_t calls;              /* that run */
} File;

extern PyTypeObject *file_type;
int file_register(PyObject *module);
/* 0, or -1 if the file is closed. Each enter needs a leave. */
int file_enter(File *self);
void file_leave(File *self);
/* A File that owns @memory, also when it fails. */
PyObject *file_from_memory(void *memory, size_t size);
PyObject *native_open(PyObject *module, PyObject *args);

/* ---- Array (array.c) */

extern PyTypeObject *array_type;
int array_register(PyObject *module);
/* Elements in the file, read-only. format: a character of struct */
PyObject *array_mapped(File *file, const void *data, uint64_t count, const char *format);
/* New elements, writable. *data receives their address. */
PyObject *array_new(uint64_t count, const char *format, void **data);
/* Elements that malloc() gave; they are freed with the array, and on failure. */
PyObject *array_adopt(void *data, uint64_t count, const char *format);

/* ---- numbers (numbers.c): 0, or -1 with an exception that names the argument */

#define SCALAR (-1) /* @row of a number that is not in an array */
#define ROW_HIGH (PCOL_NONE - 1)
int number_i64(PyObject *object, const char *argument, Py_ssize_t row, int64_t low, int64_t high,
               int64_t *number);
int number_u32(PyObject *object, const char *argument, Py_ssize_t row, uint32_t high,
               uint32_t *number);
int number_u64(PyObject *object, const char *argument, uint64_t *number);

/* ---- texts (texts.c): strings of a column as codes into a list */

typedef struct texts {
    struct text_slot *slots; /* open addressing, by address and size */
    size_t capacity;         /* of slots: a power of two, or 0; half of them are filled */
    pcol_str *strings;       /* by slot number */
    size_t count;
    size_t decoded; /* strings that are in `categories` */
    int32_t *codes; /* by slot number */
    int shared;     /* two slots have one code */
    PyObject *categories, *index;
} texts;

int texts_init(texts *t);
void texts_free(texts *t);
/* The slot of a string that stays valid, -1: out of memory. Needs no GIL. */
int32_t texts_slot(texts *t, pcol_str string);
/* Decode what was added. */
int texts_decode(texts *t);
/* Replace slots by codes. */
void texts_map(const texts *t, int32_t *codes, size_t count);
/* A str; bytes that are not UTF-8, as names in files may have, become \xNN. */
PyObject *texts_string(pcol_str string);
PyObject *text_object(const char *text); /* None for NULL */

/* ---- columns: (type, values, mask, categories, offsets, is_mapped) */

PyObject *column_tuple(const char *type, PyObject *values, PyObject *mask, PyObject *categories,
                       PyObject *offsets, int is_mapped); /* takes the references */
/* A column of a table of @self, or of a result if it is NULL. */
PyObject *column_convert(File *self, const pcol_table *table, uint32_t index);
PyObject *file_tables(PyObject *self, PyObject *args);
PyObject *file_schema(PyObject *self, PyObject *args);
PyObject *file_column(PyObject *self, PyObject *args);
PyObject *file_frames(PyObject *self, PyObject *unused);
PyObject *file_gather(PyObject *self, PyObject *args);
PyObject *native_number(PyObject *module, PyObject *args);
PyObject *file_arrow(PyObject *self, PyObject *args);

/* ---- answers (answers.c) */

/* A selection; its strings are borrowed from the tuple that was parsed. */
typedef struct selection {
    pcol_selection s;
    const char **metas;
    const char **labels;
} selection;
/* The strings of a tuple, borrowed; NULL with an exception. */
const char **strings_of(PyObject *tuple, size_t *count);
int selection_parse(selection *s, PyObject *tuple);
void selection_free(selection *s);
PyObject *file_answer(PyObject *self, PyObject *args);
PyObject *file_flame(PyObject *self, PyObject *args);
PyObject *file_label_keys(PyObject *self, PyObject *unused);

/* ---- output (output.c) */

PyObject *file_export(PyObject *self, PyObject *args);
PyObject *file_check(PyObject *self, PyObject *args);
PyObject *native_build(PyObject *module, PyObject *args);
PyObject *builder_finish(pcol_builder *builder, unsigned flags, PyObject *path, int overwrite);
int memory_sink_write_flame(const pcol_result *flame, const char *title, call *c, PyObject **bytes);

/* ---- profiles made of others (combine.c) */

PyObject *native_sums(PyObject *module, PyObject *args);
PyObject *file_filter(PyObject *self, PyObject *args);
PyObject *file_add_frames(PyObject *self, PyObject *args);
PyObject *file_symbolize(PyObject *self, PyObject *args);

/* ---- Builder (builder.c) */

int builder_register(PyObject *module);

#endif
