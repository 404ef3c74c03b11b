/* module.c - the module pcol._native */
#include "native.h"

static PyObject *set_error_factory(PyObject *module, PyObject *factory)
{
    PyObject *old = native_error_factory;
    (void)module;
    native_error_factory = Py_NewRef(factory);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyObject *formats(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const pcol_format *f;
    (void)module;
    (void)unused;
    for (size_t i = 0; list != NULL && (f = pcol_format_at(i)) != NULL; i++) {
        PyObject *entry =
            Py_BuildValue("ssssOO", f->name, f->summary, f->suffixes, f->keeps,
                          f->reads ? Py_True : Py_False, f->writes ? Py_True : Py_False);
        if (entry == NULL || PyList_Append(list, entry) != 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"open", native_open, METH_VARARGS, "open(path or buffer, flags) -> File"},
    {"build", native_build, METH_VARARGS, "build(sources, ...) -> File or None"},
    {"sums", native_sums, METH_VARARGS, "sums(files, keys, ...) -> File or None"},
    {"formats", formats, METH_NOARGS, "list of (name, summary, suffixes, keeps, reads, writes)"},
    {"number", native_number, METH_VARARGS, "number(offsets, out, by_sample)"},
    {"set_error_factory", set_error_factory, METH_O, "Function that makes exceptions."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "pcol._native", "C part of pcol.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (file_register(module) == 0 && array_register(module) == 0 &&
        builder_register(module) == 0 &&
        PyModule_AddStringConstant(module, "version", pcol_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
