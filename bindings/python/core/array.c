#include "core.h"

#include <stdlib.h>

/* ---- storage ---- */

enum { ALIGNMENT = 64 };

static void storage_destroy(shared *self)
{
    storage *it = (storage *)self;
    if (it->owner != NULL)
        shared_drop(it->owner);
    else
        free(it->data);
    free(it);
}

static storage *storage_alloc(void)
{
    storage *it = calloc(1, sizeof *it);
    if (it == NULL)
        (void)PyErr_NoMemory();
    else
        shared_init(&it->shared, storage_destroy);
    return it;
}

storage *storage_new(uint64_t bytes)
{
    if (bytes > (uint64_t)PY_SSIZE_T_MAX - ALIGNMENT) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    storage *it = storage_alloc();
    if (it == NULL)
        return NULL;
    size_t size = ((size_t)bytes / ALIGNMENT + 1) * ALIGNMENT;
    it->data = aligned_alloc(ALIGNMENT, size);
    if (it->data == NULL) {
        free(it);
        (void)PyErr_NoMemory();
        return NULL;
    }
    return it;
}

storage *storage_of(shared *owner, void *data)
{
    storage *it = storage_alloc();
    if (it == NULL)
        return NULL;
    shared_keep(owner);
    it->owner = owner;
    it->data = data;
    return it;
}

/* ---- element types ---- */

/* Returns the format string that the buffer protocol uses for a dtype, or NULL if there is none. */
static const char *format_of(int32_t dtype)
{
    static const struct {
        int32_t dtype;
        const char *format;
    } formats[] = {
        {WB_DTYPE_F16, "e"},  {WB_DTYPE_F32, "f"}, {WB_DTYPE_F64, "d"}, {WB_DTYPE_I8, "b"},
        {WB_DTYPE_I16, "h"},  {WB_DTYPE_I32, "i"}, {WB_DTYPE_I64, "q"}, {WB_DTYPE_U8, "B"},
        {WB_DTYPE_U16, "H"},  {WB_DTYPE_U32, "I"}, {WB_DTYPE_U64, "Q"}, {WB_DTYPE_BOOL, "?"},
        {WB_DTYPE_C64, "Zf"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].dtype == dtype)
            return formats[i].format;
    }
    return NULL;
}

/* ---- creation ---- */

/*
 * Computes the size of an array in bytes. Returns false with an exception if the size is too large.
 */
static bool measure(int32_t dtype, const Py_ssize_t *shape, int rank, uint64_t *bytes)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    uint64_t elements = 1;
    bool fits = wb_dtype_describe(dtype, &info) == WB_OK && info.block_size == 1;
    for (int i = 0; fits && i < rank; i++) {
        uint64_t length = (uint64_t)shape[i];
        fits = shape[i] >= 0 && (length == 0 || elements <= PY_SSIZE_T_MAX / length);
        elements *= length;
    }
    fits = fits && elements <= (uint64_t)PY_SSIZE_T_MAX / info.block_bits;
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the shape is too large for an array");
    else
        *bytes = (elements * info.block_bits + 7) / 8;
    return fits;
}

array_object *array_make(core_state *state, storage *memory, int32_t dtype, const Py_ssize_t *shape,
                         int rank)
{
    uint64_t bytes;
    array_object *self = NULL;
    if (measure(dtype, shape, rank, &bytes)) {
        self = (array_object *)object_new(state->array);
    }
    if (self == NULL) {
        shared_drop(&memory->shared);
        return NULL;
    }
    self->storage = memory;
    self->state = state;
    self->data = memory->data;
    self->bytes = bytes;
    self->dtype = dtype;
    self->device_type = 1;
    self->writable = memory->owner == NULL;
    self->rank = rank;
    self->shape = PyMem_Malloc(sizeof(Py_ssize_t) * 2 * (size_t)(rank + 1));
    if (self->shape == NULL) {
        Py_DECREF((PyObject *)self);
        (void)PyErr_NoMemory();
        return NULL;
    }
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    Py_ssize_t stride = wb_dtype_describe(dtype, &info) == WB_OK ? info.block_bits / 8 : 1;
    for (int i = rank - 1; i >= 0; i--) {
        self->shape[i] = shape[i];
        self->shape[rank + i] = stride;
        stride *= shape[i];
    }
    return self;
}

static void array_dealloc(PyObject *object)
{
    array_object *self = (array_object *)object;
    if (self->storage != NULL)
        shared_drop(&self->storage->shared);
    PyMem_Free(self->shape);
    object_free(object);
}

/* ---- the buffer protocol ---- */

static int refuse(const char *why)
{
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
}

static int array_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    array_object *self = (array_object *)object;
    const char *format = format_of(self->dtype);
    view->obj = NULL;
    if (self->device_type != 1)
        return refuse("the array is not in the memory of the process; use DLPack");
    if ((flags & PyBUF_WRITABLE) && !self->writable)
        return refuse("the array is read-only, because it shows the bytes of a file");
    if ((flags & PyBUF_FORMAT) && format == NULL)
        return refuse("the buffer protocol has no format for this dtype; use numpy() or DLPack");
    bool shaped = (flags & PyBUF_ND) == PyBUF_ND && format != NULL;
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && format != NULL;
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    Py_ssize_t item =
        wb_dtype_describe(self->dtype, &info) == WB_OK && format != NULL ? info.block_bits / 8 : 1;
    *view = (Py_buffer){.buf = self->data,
                        .obj = Py_NewRef(object),
                        .len = (Py_ssize_t)self->bytes,
                        .itemsize = item,
                        .readonly = !self->writable,
                        .ndim = shaped ? self->rank : 1,
                        .format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL,
                        .shape = shaped ? self->shape : NULL,
                        .strides = strided ? self->shape + self->rank : NULL};
    return 0;
}

/* ---- descriptions ---- */

static PyObject *array_dtype(PyObject *object, void *unused)
{
    (void)unused;
    return text_make_z(wb_dtype_name(((array_object *)object)->dtype));
}

static PyObject *array_shape(PyObject *object, void *unused)
{
    (void)unused;
    array_object *self = (array_object *)object;
    PyObject *tuple = PyTuple_New(self->rank);
    for (int i = 0; tuple != NULL && i < self->rank; i++) {
        PyObject *length = PyLong_FromSsize_t(self->shape[i]);
        if (length == NULL || PyTuple_SetItem(tuple, i, length) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *array_nbytes(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((array_object *)object)->bytes);
}

static PyObject *array_readonly(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((array_object *)object)->writable);
}

static PyObject *array_is_view(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((array_object *)object)->storage->owner != NULL);
}

static PyObject *array_device(PyObject *object, void *unused)
{
    (void)unused;
    array_object *self = (array_object *)object;
    return self->device_type == 1 ? text_make_z("cpu")
                                  : PyUnicode_FromFormat("cuda:%d", self->device_id);
}

static PyObject *array_pointer(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((array_object *)object)->data);
}

/* Returns a one-dimensional array of bytes (U8) that uses the memory of this array. */
static PyObject *array_raw(PyObject *object, PyObject *unused)
{
    (void)unused;
    array_object *self = (array_object *)object;
    Py_ssize_t length = (Py_ssize_t)self->bytes;
    shared_keep(&self->storage->shared);
    array_object *raw = array_make(self->state, self->storage, WB_DTYPE_U8, &length, 1);
    if (raw == NULL)
        return NULL;
    raw->data = self->data;
    raw->device_type = self->device_type;
    raw->device_id = self->device_id;
    raw->writable = self->writable;
    return (PyObject *)raw;
}

/* Calls weighbridge._numpy.NAME(self, …). numpy is imported only by the first such call. */
static PyObject *call_numpy(PyObject *self, const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *module = PyImport_ImportModule("weighbridge._numpy");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *first = function == NULL ? NULL : PyTuple_Pack(1, self);
    PyObject *all = first == NULL ? NULL : PySequence_Concat(first, args);
    PyObject *result = all == NULL ? NULL : PyObject_Call(function, all, kwargs);
    Py_XDECREF(all);
    Py_XDECREF(first);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

static PyObject *array_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *none = PyTuple_New(0);
    PyObject *result = none == NULL ? NULL : call_numpy(self, "from_array", none, NULL);
    Py_XDECREF(none);
    return result;
}

static PyObject *array_dunder_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return call_numpy(self, "array_protocol", args, kwargs);
}

/* ---- the type ---- */

static PyGetSetDef getters[] = {
    {"dtype", array_dtype, NULL, "Name of the element type, such as 'BF16'.", NULL},
    {"shape", array_shape, NULL, "Dimensions in elements, outermost first.", NULL},
    {"nbytes", array_nbytes, NULL, "Size in bytes.", NULL},
    {"readonly", array_readonly, NULL, "True if the memory must not be changed.", NULL},
    {"is_view", array_is_view, NULL, "True if the memory is that of a file or a provider.", NULL},
    {"device", array_device, NULL, "'cpu' or 'cuda:N'.", NULL},
    {"pointer", array_pointer, NULL, "Address of the first byte, on the device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"raw", array_raw, METH_NOARGS, "Return the same memory as an Array of bytes."},
    {"numpy", array_numpy, METH_NOARGS, "Return a numpy array, without a copy if possible."},
    {"__array__", (PyCFunction)(void (*)(void))array_dunder_array, METH_VARARGS | METH_KEYWORDS,
     "Return a numpy array (the protocol of numpy.asarray)."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "Export the array as a DLPack capsule."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "Return the device of DLPack."},
    {NULL, NULL, 0, NULL},
};

static const char array_doc[] =
    "A row-major array of a plain dtype, in the memory of the process or on a device.\n\n"
    "It never changes size or place. It supports the buffer protocol and DLPack, so that numpy,\n"
    "torch, jax and others take it without a copy. The memory stays valid as long as the array, "
    "or\n"
    "anything made from it, exists.";

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)array_doc},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_bf_getbuffer, array_getbuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge.Array",
    .basicsize = sizeof(array_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_array(PyObject *module, core_state *state)
{
    state->array = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->array == NULL ? -1 : PyModule_AddType(module, state->array);
}
