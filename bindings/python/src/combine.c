/* combine.c - profiles made of others: sums, filter, added frames, symbols */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums */

/* Add the File objects of an iterator; -1 with an exception. */
static int add_files(pcol_sums *sums, PyObject *files, call *c)
{
    PyObject *item;
    int failed = 0;
    while (!failed && (item = PyIter_Next(files)) != NULL) {
        File *file = (File *)item;
        pcol_status status;
        failed = -1;
        if (!PyObject_TypeCheck(item, file_type)) {
            PyErr_SetString(PyExc_TypeError, "the input must be a profile");
        } else if (file_enter(file) == 0) {
            CALL(c, status, pcol_sums_add(sums, file->file, &c->control, &c->err));
            if (status == PCOL_OK)
                status = pcol_file_intact(file->file, &c->err);
            failed = call_end(c, status, NULL);
            file_leave(file);
        }
        Py_DECREF(item);
    }
    return failed != 0 || PyErr_Occurred() ? -1 : 0;
}

/* sums(iterator of File, keys, trusted, rebase, folder, flags, path, overwrite, notices) */
PyObject *native_sums(PyObject *module, PyObject *args)
{
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_builder_options settings = PCOL_INIT(pcol_builder_options);
    pcol_builder *builder = NULL;
    pcol_sums *sums = NULL;
    PyObject *files, *keys, *path, *notices, *result = NULL;
    const char **texts;
    unsigned flags;
    int trusted, rebase, overwrite;
    call c;
    pcol_status status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!ppsIOpO!", &files, &PyTuple_Type, &keys, &trusted, &rebase,
                          &settings.temporary_folder, &flags, &path, &overwrite, &PyList_Type,
                          &notices) ||
        (texts = strings_of(keys, &options.key_count)) == NULL)
        return NULL;
    call_init(&c, notices);
    options.keys = texts;
    options.builder = &settings;
    options.flags = (trusted ? PCOL_SUMS_TRUSTED : 0u) | (rebase ? PCOL_SUMS_REBASE : 0u);
    if (call_end(&c, pcol_sums_new(&options, &sums, &c.err), NULL) == 0 &&
        add_files(sums, files, &c) == 0) {
        CALL(&c, status, pcol_sums_finish(sums, &c.control, &builder, &c.err));
        if (call_end(&c, status, NULL) == 0)
            result = builder_finish(builder, flags, path, overwrite);
    }
    pcol_sums_free(sums);
    pcol_builder_free(builder);
    free(texts);
    return result;
}

/* ---- a copy of one file */

/* Where the copy goes; the notices of making it. */
typedef struct copy {
    pcol_builder_options settings;
    pcol_builder *builder;
    PyObject *path, *notices;
    unsigned flags;
    int overwrite;
} copy;

/* Parse (flags, path, overwrite, folder, notices), and make the builder. */
static int copy_begin(copy *to, PyObject *target, call *c)
{
    memset(to, 0, sizeof *to);
    to->settings.size = sizeof to->settings;
    if (!PyArg_ParseTuple(target, "IOpsO!", &to->flags, &to->path, &to->overwrite,
                          &to->settings.temporary_folder, &PyList_Type, &to->notices))
        return -1;
    call_init(c, to->notices);
    return call_end(c, pcol_builder_new(&to->settings, &to->builder, &c->err), NULL);
}

/* Write what a call with @status made of @file. */
static PyObject *copy_end(copy *to, File *file, pcol_status status, call *c)
{
    if (status == PCOL_OK)
        status = pcol_file_intact(file->file, &c->err);
    return call_end(c, status, NULL) != 0
               ? NULL
               : builder_finish(to->builder, to->flags, to->path, to->overwrite);
}

/* filter(selection, drop_labels, keys of labels to drop, anonymize, target) */
PyObject *file_filter(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    PyObject *selected, *keys, *target, *result = NULL;
    const char **texts = NULL;
    selection s;
    copy to = {0};
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "O!pO!pO!", &PyTuple_Type, &selected, &options.drop_labels,
                          &PyTuple_Type, &keys, &options.anonymize, &PyTuple_Type, &target) ||
        selection_parse(&s, selected) != 0)
        return NULL;
    options.selection = &s.s;
    texts = strings_of(keys, &options.drop_label_key_count);
    options.drop_label_keys = texts;
    options.control = &c.control;
    if (texts != NULL && copy_begin(&to, target, &c) == 0 && file_enter(self) == 0) {
        CALL(&c, status, pcol_filter(to.builder, self->file, &options, &c.err));
        result = copy_end(&to, self, status, &c);
        file_leave(self);
    }
    pcol_builder_free(to.builder);
    selection_free(&s);
    free(texts);
    return result;
}

/* add_frames(roots, leaves, keep_dropped, target) */
PyObject *file_add_frames(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    pcol_add_frames_options options = PCOL_INIT(pcol_add_frames_options);
    PyObject *roots, *leaves, *target, *result = NULL;
    const char **above, **below = NULL;
    copy to = {0};
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "O!O!pO!", &PyTuple_Type, &roots, &PyTuple_Type, &leaves,
                          &options.keep_dropped, &PyTuple_Type, &target) ||
        (above = strings_of(roots, &options.root_count)) == NULL)
        return NULL;
    below = strings_of(leaves, &options.leaf_count);
    options.roots = above;
    options.leaves = below;
    options.control = &c.control;
    if (below != NULL && copy_begin(&to, target, &c) == 0 && file_enter(self) == 0) {
        CALL(&c, status, pcol_add_frames(to.builder, self->file, &options, &c.err));
        result = copy_end(&to, self, status, &c);
        file_leave(self);
    }
    pcol_builder_free(to.builder);
    free(above);
    free(below);
    return result;
}

/* ---- symbols */

/* By group: lists of (function, filename or None, line or 0). *first receives offsets. */
static pcol_symbol *symbols_of(PyObject *groups, uint64_t **first)
{
    Py_ssize_t count = PyList_Size(groups), all = 0;
    pcol_symbol *symbols;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t n = PyList_Size(PyList_GetItem(groups, i));
        if (n < 0)
            return NULL;
        all += n;
    }
    symbols = calloc((size_t)all + 1, sizeof *symbols);
    *first = calloc((size_t)count + 1, sizeof **first);
    if (symbols == NULL || *first == NULL) {
        free(symbols);
        return (pcol_symbol *)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0, to = 0; i < count; i++) {
        PyObject *group = PyList_GetItem(groups, i);
        for (Py_ssize_t k = 0; k < PyList_Size(group); k++, to++) {
            const char *name, *file = NULL;
            Py_ssize_t name_size, file_size = 0;
            PyObject *line;
            if (!PyArg_ParseTuple(PyList_GetItem(group, k), "s#z#O", &name, &name_size, &file,
                                  &file_size, &line) ||
                number_i64(line, "symbols", SCALAR, 0, INT64_MAX, &symbols[to].line) != 0) {
                free(symbols);
                return NULL;
            }
            symbols[to].function = (pcol_str){name, (size_t)name_size};
            symbols[to].filename = (pcol_str){file, (size_t)file_size};
        }
        (*first)[i + 1] = (uint64_t)to;
    }
    return symbols;
}

/* symbolize(symbols of each location group, PCOL_SYMBOLS_* of each mapping as bytes, metadata as
 * keys and values, target) */
PyObject *file_symbolize(PyObject *object, PyObject *args)
{
    File *self = (File *)object;
    pcol_symbolize_options options = PCOL_INIT(pcol_symbolize_options);
    PyObject *groups, *metas, *target, *result = NULL;
    Py_buffer flags;
    pcol_symbol *symbols;
    uint64_t *first = NULL;
    const char **texts = NULL;
    copy to = {0};
    call c;
    pcol_status status;
    if (!PyArg_ParseTuple(args, "O!y*O!O!", &PyList_Type, &groups, &flags, &PyTuple_Type, &metas,
                          &PyTuple_Type, &target))
        return NULL;
    symbols = symbols_of(groups, &first);
    if (symbols != NULL)
        texts = strings_of(metas, &options.meta_count);
    options.symbols = symbols;
    options.first = first;
    options.group_count = (uint64_t)PyList_Size(groups);
    options.mapping_flags = flags.buf;
    options.mapping_count = (uint64_t)flags.len;
    options.meta = texts;
    options.meta_count /= 2;
    options.control = &c.control;
    if (texts != NULL && copy_begin(&to, target, &c) == 0 && file_enter(self) == 0) {
        CALL(&c, status, pcol_symbolize(to.builder, self->file, &options, &c.err));
        result = copy_end(&to, self, status, &c);
        file_leave(self);
    }
    PyBuffer_Release(&flags);
    pcol_builder_free(to.builder);
    free(symbols);
    free(first);
    free(texts);
    return result;
}
