/* texts.c - dictionary encoding of strings by address: each distinct string is decoded once */
#include "native.h"

#include <stdlib.h>
#include <string.h>

struct text_slot {
    const char *data;
    size_t size;
    int32_t number; /* -1: free */
};

int texts_init(texts *t)
{
    memset(t, 0, sizeof *t);
    t->categories = PyList_New(0);
    t->index = PyDict_New();
    return t->categories == NULL || t->index == NULL ? -1 : 0;
}

void texts_free(texts *t)
{
    free(t->slots);
    free(t->strings);
    free(t->codes);
    Py_CLEAR(t->categories);
    Py_CLEAR(t->index);
}

static size_t hash(pcol_str s)
{
    uint64_t h = ((uint64_t)(uintptr_t)s.data ^ (s.size << 48)) * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 20);
}

static struct text_slot *find(const texts *t, pcol_str s)
{
    size_t at = hash(s) & (t->capacity - 1);
    while (t->slots[at].number >= 0 && (t->slots[at].data != s.data || t->slots[at].size != s.size))
        at = (at + 1) & (t->capacity - 1);
    return &t->slots[at];
}

static int grow(texts *t)
{
    texts wider = *t;
    wider.capacity = t->capacity == 0 ? 1024 : 2 * t->capacity;
    wider.slots = malloc(wider.capacity * sizeof *wider.slots);
    wider.strings = realloc(t->strings, wider.capacity / 2 * sizeof *wider.strings);
    if (wider.strings != NULL)
        t->strings = wider.strings;
    if (wider.slots == NULL || wider.strings == NULL) {
        free(wider.slots);
        return -1;
    }
    for (size_t i = 0; i < wider.capacity; i++)
        wider.slots[i].number = -1;
    for (size_t i = 0; i < t->count; i++)
        *find(&wider, t->strings[i]) =
            (struct text_slot){t->strings[i].data, t->strings[i].size, (int32_t)i};
    free(t->slots);
    *t = wider;
    return 0;
}

int32_t texts_slot(texts *t, pcol_str string)
{
    struct text_slot *slot;
    if (t->count == t->capacity / 2 && (t->count >= INT32_MAX / 4 || grow(t) != 0))
        return -1;
    slot = find(t, string);
    if (slot->number < 0) {
        *slot = (struct text_slot){string.data, string.size, (int32_t)t->count};
        t->strings[t->count++] = string;
    }
    return slot->number;
}

PyObject *texts_string(pcol_str string)
{
    return PyUnicode_DecodeUTF8(string.size == 0 ? "" : string.data, (Py_ssize_t)string.size,
                                "backslashreplace");
}

PyObject *text_object(const char *text)
{
    return text == NULL ? Py_NewRef(Py_None) : texts_string((pcol_str){text, strlen(text)});
}

static int decode_one(texts *t, size_t slot)
{
    PyObject *text = texts_string(t->strings[slot]), *code, *known;
    int result = -1;
    if (text == NULL)
        return -1;
    code = PyLong_FromSsize_t(PyList_Size(t->categories));
    known = code == NULL ? NULL : PyDict_GetItemWithError(t->index, text);
    if (known != NULL) {
        t->codes[slot] = (int32_t)PyLong_AsLong(known);
        t->shared = 1;
        result = 0;
    } else if (!PyErr_Occurred() && PyDict_SetItem(t->index, text, code) == 0 &&
               PyList_Append(t->categories, text) == 0) {
        t->codes[slot] = (int32_t)(PyList_Size(t->categories) - 1);
        result = 0;
    }
    Py_XDECREF(code);
    Py_DECREF(text);
    return result;
}

int texts_decode(texts *t)
{
    int32_t *codes;
    if (t->decoded == t->count)
        return 0;
    codes = realloc(t->codes, t->capacity / 2 * sizeof *codes);
    if (codes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    t->codes = codes;
    for (; t->decoded < t->count; t->decoded++)
        if (decode_one(t, t->decoded) != 0)
            return -1;
    return 0;
}

void texts_map(const texts *t, int32_t *codes, size_t count)
{
    for (size_t i = 0; t->shared && i < count; i++)
        if (codes[i] >= 0)
            codes[i] = t->codes[codes[i]];
}
