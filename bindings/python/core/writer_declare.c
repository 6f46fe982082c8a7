/* Declarations of a Writer: metadata, tensors and sidecar files. */
#include "writer.h"

/* set(key, value): the value is a tuple as in meta_value.h. */
PyObject *writer_set(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    PyObject *key, *value;
    py_text name;
    meta_values all = {0};
    wb_value taken;
    if (!PyArg_ParseTuple(args, "OO:set", &key, &value) || !text_take(key, &name))
        return NULL;
    PyObject *result = NULL;
    if (meta_value_take(&all, value, &taken) && writer_enter(self, false)) {
        wb_error error;
        wb_status status = wb_writer_set(self->writer, name.bytes, name.length, &taken, &error);
        result = writer_leave(self, false, status, &error, NULL);
    }
    meta_values_free(&all);
    text_drop(&name);
    return result;
}

PyObject *writer_copy_meta(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    PyObject *model;
    unsigned long long index;
    if (!PyArg_ParseTuple(args, "OK:copy_meta", &model, &index) ||
        !model_check_type(self->state, model))
        return NULL;
    handle *it = model_use((model_object *)model);
    if (it == NULL)
        return NULL;
    PyObject *result = NULL;
    if (writer_enter(self, false)) {
        wb_error error;
        wb_status status = wb_writer_copy_meta(self->writer, it->model, index, &error);
        result = writer_leave(self, false, status, &error, NULL);
    }
    shared_drop(&it->shared);
    return result;
}

static bool take_shape(PyObject *tuple, uint64_t *shape, uint32_t *rank)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0 || count > RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d dimensions", RANK_MAX);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        shape[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(tuple, i));
        if (PyErr_Occurred())
            return false;
    }
    *rank = (uint32_t)count;
    return true;
}

/* add(name, dtype, shape): declares a tensor and returns its index. */
PyObject *writer_add(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    PyObject *name, *tuple;
    int dtype;
    uint64_t shape[RANK_MAX], index;
    uint32_t rank;
    py_text key;
    if (!PyArg_ParseTuple(args, "OiO!:add", &name, &dtype, &PyTuple_Type, &tuple) ||
        !take_shape(tuple, shape, &rank) || !text_take(name, &key))
        return NULL;
    PyObject *result = NULL;
    if (writer_enter(self, false)) {
        wb_error error;
        wb_status status =
            wb_writer_add(self->writer, key.bytes, key.length, dtype, shape, rank, &index, &error);
        result = writer_leave(self, false, status, &error,
                              status == WB_OK ? PyLong_FromUnsignedLongLong(index) : NULL);
    }
    text_drop(&key);
    return result;
}

PyObject *writer_set_packing(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    unsigned long long index;
    const char *type;
    unsigned group_size;
    if (!PyArg_ParseTuple(args, "KsI:set_packing", &index, &type, &group_size) ||
        !writer_enter(self, false))
        return NULL;
    wb_error error;
    wb_status status = wb_writer_set_packing(self->writer, index, type, group_size, &error);
    return writer_leave(self, false, status, &error, NULL);
}

PyObject *writer_set_whole(PyObject *object, PyObject *model)
{
    writer_object *self = (writer_object *)object;
    if (!model_check_type(self->state, model))
        return NULL;
    handle *it = model_use((model_object *)model);
    if (it == NULL || !writer_enter(self, false)) {
        shared_drop(it == NULL ? NULL : &it->shared);
        return NULL;
    }
    wb_error error;
    wb_status status = wb_writer_set_whole(self->writer, it->model, &error);
    if (status == WB_OK && self->whole == NULL)
        self->whole = it; /* the writer reads this model until the writer is freed */
    else
        shared_drop(&it->shared);
    return writer_leave(self, false, status, &error, NULL);
}

/* add_sidecar(name, bytes, path): one of `bytes` and `path` is None. */
PyObject *writer_add_sidecar(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    const char *name;
    PyObject *bytes, *path = NULL;
    Py_buffer view = {0};
    if (!PyArg_ParseTuple(args, "sOO&:add_sidecar", &name, &bytes, path_or_none, &path))
        return NULL;
    PyObject *result = NULL;
    bool done = path != NULL || PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) == 0;
    if (done && writer_enter(self, false)) {
        wb_error error;
        wb_status status =
            path != NULL
                ? wb_writer_add_file(self->writer, name, PyBytes_AsString(path), &error)
                : wb_writer_add_bytes(self->writer, name, view.buf, (size_t)view.len, &error);
        result = writer_leave(self, false, status, &error, NULL);
    }
    if (view.obj != NULL)
        PyBuffer_Release(&view);
    Py_XDECREF(path);
    return result;
}
