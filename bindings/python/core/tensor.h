/* tensor.h: declarations shared by the source files of the type Tensor. */
#ifndef WB_PYTHON_TENSOR_H
#define WB_PYTHON_TENSOR_H

#include "core.h"

typedef struct tensor_object {
    PyObject_HEAD model_object *model;
    uint64_t index;
} tensor_object;

/* A tensor in use. Its model stays open until tensor_leave. */
typedef struct visit {
    core_state *state;
    handle *handle;
    uint64_t index;
    wb_tensor tensor;
} visit;

bool tensor_enter(PyObject *object, visit *out);     /* false: with an exception */
PyObject *tensor_leave(visit *in, PyObject *result); /* returns `result` */

/* Methods for values (tensor_values.c). */
PyObject *tensor_read(PyObject *object, PyObject *args);
PyObject *tensor_map(PyObject *object, PyObject *raw);
PyObject *tensor_array(PyObject *object, PyObject *unused);
PyObject *tensor_dlpack(PyObject *object, PyObject *args, PyObject *kwargs);
int tensor_getbuffer(PyObject *object, Py_buffer *view, int flags);

#endif
