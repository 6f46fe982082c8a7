/* Encoding and decoding of values in memory. The Python package checks shapes; this file checks
 * buffer sizes. */
#include "core.h"

typedef struct matrix {
    unsigned long long rows, columns;
} matrix;

/* Returns a new array of uninitialized bytes. */
static array_object *bytes_new(core_state *state, uint64_t bytes)
{
    Py_ssize_t length = (Py_ssize_t)bytes;
    storage *memory = storage_new(bytes);
    return memory == NULL ? NULL : array_make(state, memory, WB_DTYPE_U8, &length, 1);
}

static bool has_bytes(const Py_buffer *view, uint64_t bytes, const char *what)
{
    if ((uint64_t)view->len >= bytes)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes instead of %llu", what, view->len,
                 (unsigned long long)bytes);
    return false;
}

/* Gets the buffer of an optional array of rows * columns F32 values and checks its size. For
 * None, leaves view->buf NULL. */
static bool take_floats(PyObject *object, Py_buffer *view, const matrix *shape, const char *what)
{
    if (object == Py_None)
        return true;
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
        return false;
    uint64_t values = shape->rows * shape->columns;
    bool small = shape->rows == 0 || values / shape->rows == shape->columns;
    if (small && values <= UINT64_MAX / 4 && has_bytes(view, values * 4, what))
        return true;
    if (!PyErr_Occurred())
        (void)PyErr_NoMemory();
    PyBuffer_Release(view);
    *view = (Py_buffer){0};
    return false;
}

static void release(Py_buffer *view)
{
    if (view->obj != NULL)
        PyBuffer_Release(view);
}

/* quantize(dtype, values, rows, columns, importance): encodes F32 values, and returns the blocks
 * as bytes. */
PyObject *core_quantize(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    int dtype;
    PyObject *values, *importance;
    matrix shape;
    if (!PyArg_ParseTuple(args, "iOKKO:quantize", &dtype, &values, &shape.rows, &shape.columns,
                          &importance))
        return NULL;
    wb_error error;
    uint64_t bytes;
    if (wb_quantized_size(dtype, shape.rows, shape.columns, &bytes, &error) != WB_OK)
        return raise_error(state, &error);
    Py_buffer floats = {0}, weights = {0};
    matrix row = {1, shape.columns};
    array_object *blocks = NULL;
    if (take_floats(values, &floats, &shape, "values") &&
        take_floats(importance, &weights, &row, "importance"))
        blocks = bytes_new(state, bytes);
    if (blocks != NULL) {
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            wb_quantize(dtype, floats.buf, shape.rows, shape.columns, weights.buf, blocks->data,
                        bytes, threads_executor(), &error);
        Py_END_ALLOW_THREADS if (status != WB_OK)
        {
            (void)raise_error(state, &error);
            Py_CLEAR(blocks);
        }
    }
    release(&floats);
    release(&weights);
    return (PyObject *)blocks;
}

/* dequantize(dtype, blocks, rows, columns): decodes the bytes of blocks to F32 values. */
PyObject *core_dequantize(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    int dtype;
    PyObject *blocks;
    matrix shape;
    if (!PyArg_ParseTuple(args, "iOKK:dequantize", &dtype, &blocks, &shape.rows, &shape.columns))
        return NULL;
    Py_buffer view;
    wb_error error;
    uint64_t bytes;
    if (wb_quantized_size(WB_DTYPE_F32, shape.rows, shape.columns, &bytes, &error) != WB_OK)
        return raise_error(state, &error);
    if (PyObject_GetBuffer(blocks, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    Py_ssize_t dims[2] = {(Py_ssize_t)shape.rows, (Py_ssize_t)shape.columns};
    storage *memory = storage_new(bytes);
    array_object *values = memory == NULL ? NULL : array_make(state, memory, WB_DTYPE_F32, dims, 2);
    if (values != NULL) {
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            wb_dequantize(dtype, view.buf, (uint64_t)view.len, shape.rows, shape.columns,
                          (float *)(void *)values->data, threads_executor(), &error);
        Py_END_ALLOW_THREADS if (status != WB_OK)
        {
            (void)raise_error(state, &error);
            Py_CLEAR(values);
        }
    }
    PyBuffer_Release(&view);
    return (PyObject *)values;
}

/* ---- the modes of MLX ---- */

typedef struct mlx_call {
    wb_mlx_type type;
    matrix shape;
    int dtype;
} mlx_call;

static bool measure(core_state *state, const mlx_call *call, wb_mlx_sizes *sizes)
{
    wb_error error;
    *sizes = (wb_mlx_sizes)WB_MLX_SIZES_INIT;
    if (wb_mlx_measure(&call->type, call->dtype, call->shape.rows, call->shape.columns, sizes,
                       &error) == WB_OK)
        return true;
    (void)raise_error(state, &error);
    return false;
}

static bool encode_mlx(core_state *state, const mlx_call *call, const Py_buffer *values,
                       const wb_mlx_buffers *parts)
{
    wb_error error;
    wb_status status;
    Py_BEGIN_ALLOW_THREADS status =
        wb_mlx_quantize(&call->type, call->dtype, values->buf, call->shape.rows,
                        call->shape.columns, parts, threads_executor(), &error);
    Py_END_ALLOW_THREADS if (status != WB_OK)(void) raise_error(state, &error);
    return status == WB_OK;
}

static PyObject *make_parts(core_state *state, const mlx_call *call, const Py_buffer *values)
{
    wb_mlx_sizes sizes;
    uint64_t bytes;
    wb_error error;
    if (wb_quantized_size(call->dtype, call->shape.rows, call->shape.columns, &bytes, &error) !=
        WB_OK)
        return raise_error(state, &error);
    if (!measure(state, call, &sizes) || !has_bytes(values, bytes, "values"))
        return NULL;
    array_object *weight = bytes_new(state, sizes.weight_bytes);
    array_object *scales = bytes_new(state, sizes.scales_bytes);
    array_object *biases = bytes_new(state, sizes.biases_bytes);
    bool done = weight != NULL && scales != NULL && biases != NULL;
    if (done) {
        wb_mlx_buffers parts = {.size = sizeof parts,
                                .weight = weight->data,
                                .scales = scales->data,
                                .biases = biases->data,
                                .weight_bytes = sizes.weight_bytes,
                                .scales_bytes = sizes.scales_bytes,
                                .biases_bytes = sizes.biases_bytes};
        done = encode_mlx(state, call, values, &parts);
    }
    if (done)
        return Py_BuildValue("NNN", weight, scales, biases);
    Py_XDECREF((PyObject *)weight);
    Py_XDECREF((PyObject *)scales);
    Py_XDECREF((PyObject *)biases);
    return NULL;
}

/* mlx_quantize(mode, bits, group_size, e8m0, dtype, values, rows, columns): returns three arrays of
 * bytes: weight, scales and biases. `mode` and `e8m0` are numbers of wb_mlx_mode and
 * wb_mlx_e8m0. */
PyObject *core_mlx_quantize(PyObject *module, PyObject *args)
{
    mlx_call call = {.type = WB_MLX_TYPE_INIT};
    int mode, e8m0;
    PyObject *values;
    if (!PyArg_ParseTuple(args, "iIIiiOKK:mlx_quantize", &mode, &call.type.bits,
                          &call.type.group_size, &e8m0, &call.dtype, &values, &call.shape.rows,
                          &call.shape.columns))
        return NULL;
    call.type.mode = (wb_mlx_mode)mode;
    call.type.e8m0 = (wb_mlx_e8m0)e8m0;
    Py_buffer view;
    if (PyObject_GetBuffer(values, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *parts = make_parts(PyModule_GetState(module), &call, &view);
    PyBuffer_Release(&view);
    return parts;
}

static PyObject *decode_mlx(core_state *state, const mlx_call *call, const wb_mlx_parts *parts)
{
    Py_ssize_t dims[2] = {(Py_ssize_t)call->shape.rows, (Py_ssize_t)call->shape.columns};
    wb_error error;
    wb_status status;
    uint64_t bytes;
    if (wb_quantized_size(call->dtype, call->shape.rows, call->shape.columns, &bytes, &error) !=
        WB_OK)
        return raise_error(state, &error);
    storage *memory = storage_new(bytes);
    array_object *values = memory == NULL ? NULL : array_make(state, memory, call->dtype, dims, 2);
    if (values == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        wb_mlx_dequantize(&call->type, parts, call->shape.rows, call->shape.columns, call->dtype,
                          values->data, bytes, threads_executor(), &error);
    Py_END_ALLOW_THREADS if (status == WB_OK) return (PyObject *)values;
    Py_DECREF((PyObject *)values);
    return raise_error(state, &error);
}

/*
 * mlx_dequantize(mode, bits, group_size, flags, dtype, scales_dtype, weight, scales, biases, rows,
 * columns): returns values of `dtype`. `biases` is None except in affine mode.
 */
PyObject *core_mlx_dequantize(PyObject *module, PyObject *args)
{
    mlx_call call = {.type = WB_MLX_TYPE_INIT};
    int mode, scales_dtype;
    PyObject *weight, *scales, *biases, *result = NULL;
    if (!PyArg_ParseTuple(args, "iIIIiiOOOKK:mlx_dequantize", &mode, &call.type.bits,
                          &call.type.group_size, &call.type.flags, &call.dtype, &scales_dtype,
                          &weight, &scales, &biases, &call.shape.rows, &call.shape.columns))
        return NULL;
    call.type.mode = (wb_mlx_mode)mode;
    Py_buffer views[3] = {{0}};
    if (PyObject_GetBuffer(weight, &views[0], PyBUF_SIMPLE) == 0 &&
        PyObject_GetBuffer(scales, &views[1], PyBUF_SIMPLE) == 0 &&
        (biases == Py_None || PyObject_GetBuffer(biases, &views[2], PyBUF_SIMPLE) == 0)) {
        wb_mlx_parts parts = {.size = sizeof parts,
                              .weight = views[0].buf,
                              .scales = views[1].buf,
                              .biases = views[2].buf,
                              .weight_bytes = (uint64_t)views[0].len,
                              .scales_bytes = (uint64_t)views[1].len,
                              .biases_bytes = (uint64_t)views[2].len,
                              .scales_dtype = scales_dtype,
                              .biases_dtype = scales_dtype};
        result = decode_mlx(PyModule_GetState(module), &call, &parts);
    }
    for (int i = 0; i < 3; i++)
        release(&views[i]);
    return result;
}
