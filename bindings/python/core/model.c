#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- lifetime ---- */

void handle_destroy(shared *self)
{
    handle *it = (handle *)self;
    wb_close(it->model);
    wb_net_close(it->net);
    if (it->from_memory) {
        PyGILState_STATE gil = PyGILState_Ensure();
        PyBuffer_Release(&it->bytes);
        PyGILState_Release(gil);
    }
    free(it);
}

handle *model_use(model_object *self)
{
    handle *it;
    BEGIN_LOCK(self);
    it = self->handle;
    if (it != NULL)
        shared_keep(&it->shared);
    END_LOCK();
    if (it == NULL)
        (void)raise_closed(self->state, "model");
    return it;
}

/* Drops this object's reference to the handle. Views and calls in other threads keep their own
 * references. */
static PyObject *model_close(PyObject *object, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    handle *it;
    BEGIN_LOCK(self);
    it = self->handle;
    self->handle = NULL;
    END_LOCK();
    if (it != NULL)
        shared_drop(&it->shared);
    Py_RETURN_NONE;
}

static void model_dealloc(PyObject *object)
{
    model_object *self = (model_object *)object;
    if (self->handle != NULL)
        shared_drop(&self->handle->shared);
    Py_XDECREF((PyObject *)self->tensor_type);
    object_free(object);
}

bool model_check_type(core_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->model))
        return true;
    PyErr_Format(PyExc_TypeError, "a Model is needed, not %R", (PyObject *)Py_TYPE(object));
    return false;
}

/* ---- questions about a model ---- */

static PyObject *model_closed(PyObject *object, void *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    bool closed;
    BEGIN_LOCK(self);
    closed = self->handle == NULL;
    END_LOCK();
    return PyBool_FromLong(closed);
}

static PyObject *model_format(PyObject *object, void *unused)
{
    (void)unused;
    handle *it = model_use((model_object *)object);
    if (it == NULL)
        return NULL;
    PyObject *format = text_make_z(wb_format(it->model));
    shared_drop(&it->shared);
    return format;
}

PyObject *file_make(const wb_file *file)
{
    PyObject *path = PyUnicode_DecodeFSDefault(file->path);
    return path == NULL
               ? NULL
               : Py_BuildValue("NsKKKIO", path, file->format, (unsigned long long)file->bytes,
                               (unsigned long long)file->data_offset,
                               (unsigned long long)file->tensors, (unsigned)file->version,
                               file->big_endian ? Py_True : Py_False);
}

static PyObject *model_files(PyObject *object, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    handle *it = model_use(self);
    if (it == NULL)
        return NULL;
    uint64_t count = wb_file_count(it->model);
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_file file = WB_FILE_INIT;
        wb_error error;
        PyObject *row = wb_file_at(it->model, i, &file, &error) == WB_OK
                            ? file_make(&file)
                            : raise_error(self->state, &error);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    shared_drop(&it->shared);
    return list;
}

static PyObject *model_check(PyObject *object, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    handle *it = model_use(self);
    if (it == NULL)
        return NULL;
    wb_error error;
    wb_status status;
    BEGIN_READ
    status = wb_model_check(it->model, &error);
    END_READ
    shared_drop(&it->shared);
    if (status != WB_OK)
        return raise_error(self->state, &error);
    Py_RETURN_NONE;
}

/* ---- the model as a mapping ---- */

static Py_ssize_t model_length(PyObject *object)
{
    handle *it = model_use((model_object *)object);
    if (it == NULL)
        return -1;
    Py_ssize_t count = (Py_ssize_t)wb_tensor_count(it->model);
    shared_drop(&it->shared);
    return count;
}

/* Looks up a name. Returns 1 if it exists, 0 if not, -1 with an exception. */
static int find(model_object *self, PyObject *name, uint64_t *index)
{
    py_text key;
    if (!text_take(name, &key))
        return -1;
    int found = -1;
    handle *it = model_use(self);
    if (it != NULL) {
        wb_status status = wb_tensor_find(it->model, key.bytes, key.length, index);
        found = status == WB_OK;
        if (status == WB_ERROR_MEMORY) {
            PyErr_NoMemory();
            found = -1;
        }
        shared_drop(&it->shared);
    }
    text_drop(&key);
    return found;
}

static PyObject *model_getitem(PyObject *object, PyObject *name)
{
    uint64_t index;
    int found = find((model_object *)object, name, &index);
    if (found == 1)
        return tensor_make((model_object *)object, index);
    if (found == 0)
        PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static int model_contains(PyObject *object, PyObject *name)
{
    uint64_t index;
    return PyUnicode_Check(name) ? find((model_object *)object, name, &index) : 0;
}

static PyObject *model_iter(PyObject *object)
{
    model_object *self = (model_object *)object;
    handle *it = model_use(self);
    return it == NULL ? NULL : names_make(self->state, it, WB_NAMES_NATIVE);
}

static PyObject *model_canonical(PyObject *object, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    handle *it = model_use(self);
    return it == NULL ? NULL : names_make(self->state, it, WB_NAMES_CANONICAL);
}

static PyObject *model_tensor_at(PyObject *object, PyObject *number)
{
    uint64_t index = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    return tensor_make((model_object *)object, index);
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"close", model_close, METH_NOARGS, "Close the model. Arrays that show its memory stay valid."},
    {"files_at", model_files, METH_NOARGS, "Return one tuple for each file."},
    {"check", model_check, METH_NOARGS, "Raise ChangedError if a file changed since opening."},
    {"canonical_names", model_canonical, METH_NOARGS, "Return an iterator over canonical names."},
    {"tensor_at", model_tensor_at, METH_O, "Return the tensor with this index."},
    {"config_fields", model_config, METH_NOARGS, "Return (name, value, origin) for each field."},
    {"findings_at", model_findings, METH_NOARGS, "Return one tuple for each finding."},
    {"meta_at", model_meta_at, METH_O, "Describe the metadata entry with this index."},
    {"meta_find", model_meta_find, METH_O, "Return the index of a metadata key, or None."},
    {"meta_get", model_meta_get, METH_O, "Return the value of a metadata key."},
    {"meta_array", model_meta_array, METH_O, "Return an array of numbers as an Array."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"closed", model_closed, NULL, "True after close().", NULL},
    {"format", model_format, NULL, "Container format: safetensors, gguf, npy or npz.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, model_dealloc},   {Py_tp_methods, methods},
    {Py_tp_getset, getters},          {Py_mp_length, model_length},
    {Py_mp_subscript, model_getitem}, {Py_sq_contains, model_contains},
    {Py_tp_iter, model_iter},         {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_model(PyObject *module, core_state *state)
{
    state->model = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->model == NULL ? -1 : PyModule_AddType(module, state->model);
}
