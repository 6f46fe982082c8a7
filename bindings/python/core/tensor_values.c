/* The values of tensors: mapped without a copy, or read and converted. */
#include "tensor.h"

/* A request of values: the selected elements, their dtype, and the shape of the result. */
typedef struct request {
    selection selection;
    wb_slice slice;
    int32_t dtype; /* -1: stored values */
    uint64_t elements, bytes;
} request;

/* Returns true if the dtype has no blocks. Only such values form an array with the shape of the
 * tensor; blocks are returned as a one-dimensional array of bytes. */
static bool is_plain(int32_t dtype)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    return wb_dtype_describe(dtype, &info) == WB_OK && info.block_size == 1;
}

/* Sets *out to whether the stored bytes can be used as an array: the tensor must be a single stored
 * tensor, without separate scales or biases, and its dtype must have no blocks. Returns false with
 * an exception on failure. */
static bool is_array(const visit *in, bool *out)
{
    wb_encoding encoding = WB_ENCODING_INIT;
    wb_error error;
    if (wb_tensor_encoding(in->handle->model, in->index, &encoding, &error) != WB_OK) {
        (void)raise_error(in->state, &error);
        return false;
    }
    *out = encoding.parts == 1 && is_plain((int32_t)in->tensor.dtype);
    return true;
}

static bool take_request(const visit *in, PyObject *key, int32_t dtype, request *out)
{
    PyObject *all = Py_Ellipsis;
    if (!selection_take(key == Py_None ? all : key, in->tensor.shape, in->tensor.rank,
                        &out->selection))
        return false;
    out->slice = (wb_slice){.size = sizeof out->slice,
                            .rank = in->tensor.rank,
                            .axes = out->selection.axes,
                            .count = UINT64_MAX};
    out->dtype = dtype;
    wb_error error;
    if (wb_tensor_read_size(in->handle->model, in->index, &out->slice, dtype, &out->elements,
                            &out->bytes, &error) == WB_OK)
        return true;
    (void)raise_error(in->state, &error);
    return false;
}

static bool read_now(const visit *in, const request *what, void *dst, uint64_t size)
{
    wb_error error;
    wb_status status;
    BEGIN_READ
    status =
        wb_tensor_read(in->handle->model, in->index, &what->slice, what->dtype, dst, size, &error);
    END_READ
    if (status != WB_OK)
        (void)raise_error(in->state, &error);
    return status == WB_OK;
}

/* Makes an array for the values of a request; stored blocks become an array of bytes. */
static PyObject *make_result(const visit *in, const request *what, storage *memory)
{
    int32_t dtype = what->dtype;
    bool plain = true;
    if (dtype < 0) {
        dtype = (int32_t)in->tensor.dtype;
        if (!is_array(in, &plain)) {
            shared_drop(&memory->shared);
            return NULL;
        }
    } else {
        plain = is_plain(dtype);
    }
    Py_ssize_t bytes = (Py_ssize_t)what->bytes;
    return (PyObject *)(plain ? array_make(in->state, memory, dtype, what->selection.shape,
                                           what->selection.result_rank)
                              : array_make(in->state, memory, WB_DTYPE_U8, &bytes, 1));
}

static PyObject *read_new(const visit *in, const request *what)
{
    storage *memory = storage_new(what->bytes);
    if (memory == NULL)
        return NULL;
    if (read_now(in, what, memory->data, what->bytes))
        return make_result(in, what, memory);
    shared_drop(&memory->shared);
    return NULL;
}

static PyObject *read_into(const visit *in, const request *what, PyObject *out)
{
    Py_buffer view;
    if (PyObject_GetBuffer(out, &view, PyBUF_WRITABLE) < 0)
        return NULL;
    bool done = false;
    if ((uint64_t)view.len != what->bytes)
        PyErr_Format(PyExc_ValueError, "out has %zd bytes, and the values have %llu", view.len,
                     (unsigned long long)what->bytes);
    else
        done = read_now(in, what, view.buf, what->bytes);
    PyBuffer_Release(&view);
    return done ? Py_NewRef(out) : NULL;
}

/* read(key, dtype, out): reads values, converted to `dtype`; -1 for the stored bytes. Writes them
 * to the buffer `out`, or to a new Array if `out` is None. */
PyObject *tensor_read(PyObject *object, PyObject *args)
{
    PyObject *key, *out;
    int dtype;
    visit in;
    if (!PyArg_ParseTuple(args, "OiO:read", &key, &dtype, &out) || !tensor_enter(object, &in))
        return NULL;
    request what;
    PyObject *result = NULL;
    if (take_request(&in, key, (int32_t)dtype, &what))
        result = out == Py_None ? read_new(&in, &what) : read_into(&in, &what, out);
    return tensor_leave(&in, result);
}

/* Returns the number of bytes to which addresses of this dtype must be aligned. */
static size_t alignment_of(int32_t dtype)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    if (wb_dtype_describe(dtype, &info) != WB_OK || info.block_size != 1)
        return 1;
    size_t bytes = info.block_bits / 8;
    return bytes == 0 || info.block_bits % 8 != 0 ? 1 : info.is_complex ? bytes / 2 : bytes;
}

/* Returns an array of the mapped bytes, NULL without an exception if that is impossible. */
static PyObject *map_now(const visit *in, bool raw)
{
    bool plain;
    const void *bytes;
    wb_error error;
    wb_status status;
    if (!is_array(in, &plain))
        return NULL;
    if ((!plain && !raw) || in->tensor.rank > RANK_MAX)
        return NULL;
    BEGIN_READ
    status = wb_tensor_data(in->handle->model, in->index, &bytes, &error);
    END_READ
    int32_t dtype = raw ? WB_DTYPE_U8 : (int32_t)in->tensor.dtype;
    if (status == WB_ERROR_UNSUPPORTED ||
        (status == WB_OK && (uintptr_t)bytes % alignment_of(dtype)))
        return NULL;
    if (status != WB_OK)
        return raise_error(in->state, &error);
    Py_ssize_t shape[RANK_MAX] = {(Py_ssize_t)in->tensor.bytes};
    int rank = raw ? 1 : (int)in->tensor.rank;
    for (int i = 0; !raw && i < rank; i++)
        shape[i] = (Py_ssize_t)in->tensor.shape[i];
    storage *memory = storage_of(&in->handle->shared, (void *)(uintptr_t)bytes);
    if (memory == NULL)
        return NULL;
    array_object *array = array_make(in->state, memory, dtype, shape, rank);
    if (array != NULL)
        array->writable = in->handle->writable;
    return (PyObject *)array;
}

/* map(raw): returns an Array of the mapped bytes without a copy, or None if they must be read. */
PyObject *tensor_map(PyObject *object, PyObject *raw)
{
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    PyObject *array = map_now(&in, raw == Py_True);
    if (array == NULL && !PyErr_Occurred())
        array = Py_NewRef(Py_None);
    return tensor_leave(&in, array);
}

/* Returns the stored values of a plain tensor as an Array, without a copy if possible. */
PyObject *tensor_array(PyObject *object, PyObject *unused)
{
    (void)unused;
    visit in;
    if (!tensor_enter(object, &in))
        return NULL;
    bool plain = false;
    PyObject *array = is_array(&in, &plain) && plain ? map_now(&in, false) : NULL;
    request what;
    if (array == NULL && !PyErr_Occurred()) {
        if (!plain)
            PyErr_SetString(PyExc_BufferError,
                            "the values are quantized; call decode() or numpy() for numbers, or "
                            "raw() for the stored bytes");
        else if (take_request(&in, Py_None, -1, &what))
            array = read_new(&in, &what);
    }
    return tensor_leave(&in, array);
}

/* Gets the buffer from a new Array of the values. The view keeps this Array alive until the
 * consumer releases the view. */
int tensor_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    PyObject *array = tensor_array(object, NULL);
    view->obj = NULL;
    int result = array == NULL ? -1 : PyObject_GetBuffer(array, view, flags);
    Py_XDECREF(array);
    return result;
}

PyObject *tensor_dlpack(PyObject *object, PyObject *args, PyObject *kwargs)
{
    PyObject *array = tensor_array(object, NULL);
    PyObject *capsule = array == NULL ? NULL : array_dlpack(array, args, kwargs);
    Py_XDECREF(array);
    return capsule;
}
