#include "core.h"

#include <string.h>

PyObject *object_new(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void object_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF((PyObject *)type);
}

int path_or_none(PyObject *object, void *out)
{
    return object == Py_None ? 1 : PyUnicode_FSConverter(object, out);
}

bool text_take(PyObject *object, py_text *out)
{
    *out = (py_text){0};
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "a name is a str, not %R", (PyObject *)Py_TYPE(object));
        return false;
    }
    Py_ssize_t length;
    out->bytes = PyUnicode_AsUTF8AndSize(object, &length);
    if (out->bytes == NULL) {
        /* The str contains surrogates, which stand for bytes of a file that are not UTF-8. */
        PyErr_Clear();
        char *bytes;
        out->encoded = PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape");
        if (out->encoded == NULL || PyBytes_AsStringAndSize(out->encoded, &bytes, &length) < 0) {
            Py_CLEAR(out->encoded);
            return false;
        }
        out->bytes = bytes;
    }
    out->length = (size_t)length;
    return true;
}

void text_drop(py_text *self)
{
    Py_CLEAR(self->encoded);
}

PyObject *text_make(const char *bytes, size_t length)
{
    if (length > PY_SSIZE_T_MAX)
        return PyErr_NoMemory();
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, "surrogateescape");
}

PyObject *text_make_z(const char *bytes)
{
    if (bytes == NULL)
        Py_RETURN_NONE;
    return text_make(bytes, strlen(bytes));
}

PyObject *shape_make(const uint64_t *shape, uint32_t rank)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)rank);
    for (uint32_t i = 0; tuple != NULL && i < rank; i++) {
        PyObject *length = PyLong_FromUnsignedLongLong(shape[i]);
        if (length == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, length) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}
