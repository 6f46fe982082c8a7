#include "meta_value.h"

#include <stdlib.h>
#include <string.h>

/* Owns something that values point to: `memory`, the text of a str, or the buffer of an object. */
typedef struct meta_block {
    struct meta_block *next;
    py_text text;
    Py_buffer buffer;
    PyObject *owner; /* the str of `text`, or NULL */
    bool has_buffer;
    max_align_t memory[];
} meta_block;

static meta_block *add_block(meta_values *all, size_t bytes)
{
    meta_block *block = calloc(1, sizeof *block + bytes);
    if (block == NULL) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    block->next = all->blocks;
    all->blocks = block;
    return block;
}

void meta_values_free(meta_values *all)
{
    while (all->blocks != NULL) {
        meta_block *block = all->blocks;
        all->blocks = block->next;
        text_drop(&block->text);
        Py_XDECREF(block->owner);
        if (block->has_buffer)
            PyBuffer_Release(&block->buffer);
        free(block);
    }
}

void *meta_memory(meta_values *all, size_t count, size_t size)
{
    if (count > (size_t)PY_SSIZE_T_MAX / 2 / size)
        return PyErr_NoMemory();
    meta_block *block = add_block(all, count * size);
    return block == NULL ? NULL : block->memory;
}

bool meta_text_take(meta_values *all, PyObject *string, const char **out, size_t *length)
{
    meta_block *block = add_block(all, 0);
    if (block == NULL || !text_take(string, &block->text))
        return false;
    block->owner = Py_NewRef(string);
    *out = block->text.bytes;
    *length = block->text.length;
    return true;
}

/* ---- arrays ---- */

static bool take_numbers(meta_values *all, PyObject *object, wb_value *out)
{
    meta_block *block = add_block(all, 0);
    if (block == NULL || PyObject_GetBuffer(object, &block->buffer, PyBUF_SIMPLE) < 0)
        return false;
    block->has_buffer = true;
    size_t item = out->element == WB_META_BOOL ? 1 : out->bits / 8;
    if (item == 0 || (size_t)block->buffer.len % item != 0) {
        PyErr_SetString(PyExc_ValueError, "the buffer is not a whole number of elements");
        return false;
    }
    out->items = block->buffer.buf;
    out->count = (uint64_t)block->buffer.len / item;
    return true;
}

static bool take_strings(meta_values *all, PyObject *list, wb_value *out)
{
    size_t count = (size_t)PyList_Size(list);
    const char **items = meta_memory(all, count, sizeof *items);
    size_t *lengths = items == NULL ? NULL : meta_memory(all, count, sizeof *lengths);
    bool done = lengths != NULL;
    for (size_t i = 0; done && i < count; i++) {
        PyObject *item = PyList_GetItem(list, (Py_ssize_t)i);
        done = item != NULL && meta_text_take(all, item, &items[i], &lengths[i]);
    }
    out->items = items;
    out->lens = lengths;
    out->count = count;
    return done;
}

static bool take_arrays(meta_values *all, PyObject *list, wb_value *out)
{
    size_t count = (size_t)PyList_Size(list);
    wb_value *items = meta_memory(all, count, sizeof *items);
    bool done = items != NULL && Py_EnterRecursiveCall(" in a metadata value") == 0;
    if (!done)
        return false;
    for (size_t i = 0; done && i < count; i++) {
        PyObject *item = PyList_GetItem(list, (Py_ssize_t)i);
        done = item != NULL && meta_value_take(all, item, &items[i]);
    }
    Py_LeaveRecursiveCall();
    out->items = items;
    out->count = count;
    return done;
}

static bool take_array(meta_values *all, PyObject *value, wb_value *out)
{
    bool listed = out->element == WB_META_STRING || out->element == WB_META_ARRAY;
    if (!listed)
        return take_numbers(all, value, out);
    if (!PyList_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "an array of strings or arrays is a list");
        return false;
    }
    return out->element == WB_META_STRING ? take_strings(all, value, out)
                                          : take_arrays(all, value, out);
}

/* ---- values ---- */

static bool take_number(PyObject *value, wb_value *out)
{
    switch (out->type) {
    case WB_META_INT: out->number = (uint64_t)PyLong_AsLongLong(value); break;
    case WB_META_UINT: out->number = PyLong_AsUnsignedLongLong(value); break;
    case WB_META_FLOAT: out->real = PyFloat_AsDouble(value); break;
    case WB_META_BOOL: out->number = PyObject_IsTrue(value) == 1; break;
    default: PyErr_SetString(PyExc_ValueError, "unknown type of a metadata value"); break;
    }
    return !PyErr_Occurred();
}

bool meta_value_take(meta_values *all, PyObject *tuple, wb_value *out)
{
    int type, element;
    unsigned bits;
    PyObject *value;
    *out = (wb_value)WB_VALUE_INIT;
    if (!PyArg_ParseTuple(tuple, "iIiO", &type, &bits, &element, &value))
        return false;
    out->type = (wb_meta_type)type;
    out->element = (wb_meta_type)element;
    out->bits = bits;
    if (out->type == WB_META_STRING)
        return meta_text_take(all, value, &out->text, &out->text_len);
    return out->type == WB_META_ARRAY ? take_array(all, value, out) : take_number(value, out);
}
