/* call.c - calls of the library without the GIL; errors as Python exceptions */
#include "native.h"

#include <string.h>

PyObject *native_error_factory;

static int progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    return call_poll(context);
}

static void report(void *context, const pcol_notice *n)
{
    call *c = context;
    PyObject *entry;
    if (c->notices == NULL || c->raised)
        return;
    PyEval_RestoreThread(c->thread);
    entry = Py_BuildValue("isNNs", (int)n->code, n->format, text_object(n->subject),
                          text_object(n->text), n->option);
    if (entry == NULL || PyList_Append(c->notices, entry) < 0)
        c->raised = 1;
    Py_XDECREF(entry);
    c->thread = PyEval_SaveThread();
}

void call_init(call *c, PyObject *notices)
{
    memset(c, 0, sizeof *c);
    c->err.offset = c->err.inflated_offset = c->err.row = PCOL_POSITION_UNKNOWN;
    c->control.size = sizeof c->control;
    c->control.context = c;
    c->control.progress = progress;
    c->control.notice = report;
    c->notices = notices;
}

int call_poll(call *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!c->raised &&
        (now.tv_sec - c->checked.tv_sec) * 1000000000LL + (now.tv_nsec - c->checked.tv_nsec) >=
            20000000LL) {
        c->checked = now;
        PyEval_RestoreThread(c->thread);
        c->raised = PyErr_CheckSignals() < 0;
        c->thread = PyEval_SaveThread();
    }
    return c->raised;
}

static PyObject *number(uint64_t value, uint64_t unknown)
{
    return value == unknown ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(value);
}

int call_end(call *c, pcol_status status, PyObject *path)
{
    char place[192];
    PyObject *error;
    if (c->raised)
        return -1;
    if (status == PCOL_OK)
        return 0;
    pcol_error_place(&c->err, place, sizeof place);
    error = PyObject_CallFunction(
        native_error_factory, "ssNNONNNNNis", pcol_status_name(status), pcol_status_text(status),
        text_object(c->err.message), text_object(place), path == NULL ? Py_None : path,
        text_object(c->err.table), text_object(c->err.column),
        number(c->err.row, PCOL_POSITION_UNKNOWN), number(c->err.line, 0),
        number(c->err.offset, PCOL_POSITION_UNKNOWN), (int)c->err.os_error, c->err.option);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return -1;
}
