#include "tensor.h"

#include <string.h>

bool tensor_enter(PyObject *object, visit *out)
{
    tensor_object *self = (tensor_object *)object;
    *out = (visit){.state = self->model->state, .index = self->index, .tensor = WB_TENSOR_INIT};
    out->handle = model_use(self->model);
    if (out->handle == NULL)
        return false;
    wb_error error;
    if (wb_tensor_at(out->handle->model, self->index, &out->tensor, &error) == WB_OK)
        return true;
    (void)raise_error(out->state, &error);
    shared_drop(&out->handle->shared);
    return false;
}

PyObject *tensor_leave(visit *in, PyObject *result)
{
    shared_drop(&in->handle->shared);
    return result;
}

PyObject *tensor_make(model_object *model, uint64_t index)
{
    tensor_object *self = (tensor_object *)object_new(model->tensor_type);
    if (self == NULL)
        return NULL;
    self->model = (model_object *)Py_NewRef((PyObject *)model);
    self->index = index;
    visit in;
    if (!tensor_enter((PyObject *)self, &in)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return tensor_leave(&in, (PyObject *)self);
}

static void tensor_dealloc(PyObject *object)
{
    tensor_object *self = (tensor_object *)object;
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

/* ---- descriptions ---- */

static PyObject *tensor_model(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((tensor_object *)object)->model);
}

static PyObject *tensor_index(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((tensor_object *)object)->index);
}

static PyObject *tensor_name(PyObject *object, void *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    return tensor_leave(&in, text_make(in.tensor.name, in.tensor.name_len));
}

static PyObject *tensor_canonical(PyObject *object, void *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    const char *name;
    size_t length;
    wb_error error;
    wb_status status = wb_canonical_name(in.handle->model, in.tensor.name, in.tensor.name_len,
                                         &name, &length, &error);
    PyObject *result = status == WB_OK                ? text_make(name, length)
                       : status == WB_ERROR_NOT_FOUND ? Py_NewRef(Py_None)
                                                      : raise_error(in.state, &error);
    return tensor_leave(&in, result);
}

static PyObject *tensor_dtype(PyObject *object, void *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    return tensor_leave(&in, text_make_z(wb_dtype_name((int32_t)in.tensor.dtype)));
}

static PyObject *tensor_shape(PyObject *object, void *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    return tensor_leave(&in, shape_make(in.tensor.shape, in.tensor.rank));
}

/* Getter for the numeric members of wb_tensor; `closure` is the offset of the member. */
static PyObject *tensor_number(PyObject *object, void *closure)
{
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    uint64_t number;
    memcpy(&number, (const char *)&in.tensor + (uintptr_t)closure, sizeof number);
    return tensor_leave(&in, PyLong_FromUnsignedLongLong(number));
}

static PyObject *tensor_storing(PyObject *object, void *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    return tensor_leave(&in, PyLong_FromUnsignedLong(in.tensor.storing));
}

static PyObject *tensor_encoding(PyObject *object, PyObject *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    wb_encoding encoding = WB_ENCODING_INIT;
    wb_error error;
    if (wb_tensor_encoding(in.handle->model, in.index, &encoding, &error) != WB_OK)
        return tensor_leave(&in, raise_error(in.state, &error));
    return tensor_leave(&in, Py_BuildValue("sIIiII", encoding.type, (unsigned)encoding.bits,
                                           (unsigned)encoding.group_size, (int)encoding.dtype,
                                           (unsigned)encoding.parts, (unsigned)encoding.global));
}

static PyObject *part_at(tensor_object *self, const visit *in, uint32_t number)
{
    wb_part part = WB_PART_INIT;
    wb_error error;
    if (wb_tensor_part(in->handle->model, in->index, number, &part, &error) != WB_OK)
        return raise_error(in->state, &error);
    PyObject *tensor = tensor_make(self->model, part.index);
    return tensor == NULL ? NULL : Py_BuildValue("sN", part.role, tensor);
}

static PyObject *tensor_parts(PyObject *object, PyObject *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    wb_encoding encoding = WB_ENCODING_INIT;
    wb_error error;
    if (wb_tensor_encoding(in.handle->model, in.index, &encoding, &error) != WB_OK)
        return tensor_leave(&in, raise_error(in.state, &error));
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < encoding.parts; i++) {
        PyObject *row = part_at((tensor_object *)object, &in, i);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return tensor_leave(&in, list);
}

static PyObject *tensor_dlpack_device(PyObject *object, PyObject *unused)
{
    (void)object;
    (void)unused;
    return Py_BuildValue("ii", 1, 0);
}

/* ---- the type ---- */

#define NUMBER(name, member, doc)                                                                  \
    {name, tensor_number, NULL, doc, (void *)(uintptr_t)offsetof(wb_tensor, member)}

static PyGetSetDef getters[] = {
    {"model", tensor_model, NULL, "The model of the tensor.", NULL},
    {"index", tensor_index, NULL, "Index of the tensor in the model.", NULL},
    {"name", tensor_name, NULL, "Name in the file.", NULL},
    {"canonical_name", tensor_canonical, NULL, "Name that is the same in every format, or None.",
     NULL},
    {"dtype", tensor_dtype, NULL, "Name of the stored element type, such as 'BF16'.", NULL},
    {"shape", tensor_shape, NULL, "Dimensions in elements, outermost first.", NULL},
    {"storing", tensor_storing, NULL, "Bits WB_STORED_*: how the file differs from values.", NULL},
    NUMBER("size", elements, "Number of elements."),
    NUMBER("nbytes", bytes, "Stored size of all parts, in bytes."),
    NUMBER("file_index", file, "Index of the file that has the values."),
    NUMBER("offset", offset, "Offset of the first byte in that file."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"encoding_fields", tensor_encoding, METH_NOARGS, "Return the members of wb_encoding."},
    {"part_list", tensor_parts, METH_NOARGS, "Return (role, tensor) for each part."},
    {"read", tensor_read, METH_VARARGS, "Read selected values, converted to a dtype."},
    {"map", tensor_map, METH_O, "Return an Array of the mapped bytes, or None."},
    {"array", tensor_array, METH_NOARGS, "Return the stored values as an Array."},
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "Export the stored values as a DLPack capsule."},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, "Return (1, 0), the processor."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_bf_getbuffer, tensor_getbuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Tensor",
    .basicsize = sizeof(tensor_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_tensor(PyObject *module, core_state *state)
{
    state->tensor = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->tensor == NULL ? -1 : PyModule_AddType(module, state->tensor);
}
