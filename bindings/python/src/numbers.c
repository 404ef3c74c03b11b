/*
 * numbers.c - integers of Python as numbers of C
 *
 * The formats "I" and "K" of PyArg_ParseTuple() do not check for overflow, and the errors of the others do not name
 * the argument. A number out of range is an ArgumentError here, anything but an integer a TypeError.
 * Arrays: pcol/_numbers.py. Tests: tests/test_numbers.py.
 */
#include "native.h"

#include <stdio.h>

static PyObject *integer(PyObject *object, const char *argument)
{
    PyObject *name;
    if (PyIndex_Check(object))
        return PyNumber_Index(object);
    name = PyType_GetName(Py_TYPE(object));
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s must be an integer, not %U", argument, name);
    Py_XDECREF(name);
    return NULL;
}

/* Sets the exception and returns -1. */
static int out_of_range(PyObject *number, const char *argument, Py_ssize_t row, int64_t low,
                        uint64_t high)
{
    char place[32] = "";
    PyObject *text = PyObject_Str(number);
    const char *digits = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    call c;
    if (digits == NULL) /* Python limits the conversion of integers to texts */
        PyErr_Clear();
    call_init(&c, NULL);
    if (row >= 0)
        snprintf(place, sizeof place, "row %zd: ", row);
    (void)pcol_error_set(&c.err, PCOL_E_ARGUMENT, 0, "%smust be %lld to %llu, not %.40s", place,
                         (long long)low, (unsigned long long)high,
                         digits == NULL ? "a longer number" : digits);
    snprintf(c.err.option, sizeof c.err.option, "%s", argument);
    if (row >= 0)
        c.err.row = (uint64_t)row;
    Py_XDECREF(text);
    return call_end(&c, PCOL_E_ARGUMENT, NULL);
}

int number_i64(PyObject *object, const char *argument, Py_ssize_t row, int64_t low, int64_t high,
               int64_t *number)
{
    PyObject *exact = integer(object, argument);
    int overflow, result = 0;
    if (exact == NULL)
        return -1;
    *number = PyLong_AsLongLongAndOverflow(exact, &overflow);
    if (overflow != 0 || *number < low || *number > high)
        result = out_of_range(exact, argument, row, low, (uint64_t)high);
    Py_DECREF(exact);
    return result;
}

int number_u32(PyObject *object, const char *argument, Py_ssize_t row, uint32_t high,
               uint32_t *number)
{
    int64_t wide;
    if (number_i64(object, argument, row, 0, high, &wide) != 0)
        return -1;
    *number = (uint32_t)wide;
    return 0;
}

int number_u64(PyObject *object, const char *argument, uint64_t *number)
{
    PyObject *exact = integer(object, argument);
    int result = 0;
    if (exact == NULL)
        return -1;
    *number = PyLong_AsUnsignedLongLong(exact);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        result = out_of_range(exact, argument, SCALAR, 0, UINT64_MAX);
    }
    Py_DECREF(exact);
    return result;
}
