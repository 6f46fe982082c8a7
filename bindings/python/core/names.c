/* The iterator over the names of a model. It creates the str of a name when the iteration reaches
 * the name. */
#include "core.h"

typedef struct names_object {
    PyObject_HEAD handle *handle;
    const char *bytes;
    const uint64_t *offsets;
    uint64_t count;
    atomic_ullong next;
    bool empty_is_none; /* for canonical names: a tensor without one yields None */
} names_object;

PyObject *names_make(core_state *state, handle *model, wb_names_kind kind)
{
    wb_error error;
    const char *bytes;
    const uint64_t *offsets;
    wb_status status = wb_tensor_names(model->model, kind, &bytes, &offsets, &error);
    names_object *self = NULL;
    if (status == WB_OK) {
        self = (names_object *)object_new(state->names);
    } else {
        (void)raise_error(state, &error);
    }
    if (self == NULL) {
        shared_drop(&model->shared);
        return NULL;
    }
    self->handle = model;
    self->bytes = bytes;
    self->offsets = offsets;
    self->count = wb_tensor_count(model->model);
    self->empty_is_none = kind == WB_NAMES_CANONICAL;
    return (PyObject *)self;
}

static void names_dealloc(PyObject *object)
{
    names_object *self = (names_object *)object;
    shared_drop(&self->handle->shared);
    object_free(object);
}

static PyObject *names_next(PyObject *object)
{
    names_object *self = (names_object *)object;
    uint64_t i = atomic_fetch_add_explicit(&self->next, 1, memory_order_relaxed);
    if (i >= self->count) {
        atomic_store_explicit(&self->next, self->count, memory_order_relaxed);
        return NULL;
    }
    uint64_t start = self->offsets[i], end = self->offsets[i + 1] - 1;
    if (self->empty_is_none && start == end)
        Py_RETURN_NONE;
    return text_make(self->bytes + start, (size_t)(end - start));
}

/* Returns the number of names left. list() uses it to allocate its memory at once. */
static PyObject *names_hint(PyObject *object, PyObject *unused)
{
    (void)unused;
    names_object *self = (names_object *)object;
    uint64_t next = atomic_load_explicit(&self->next, memory_order_relaxed);
    return PyLong_FromUnsignedLongLong(next < self->count ? self->count - next : 0);
}

static PyObject *names_self(PyObject *object)
{
    return Py_NewRef(object);
}

static PyMethodDef methods[] = {
    {"__length_hint__", names_hint, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, names_dealloc},
    {Py_tp_iter, names_self},
    {Py_tp_iternext, names_next},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Names",
    .basicsize = sizeof(names_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_names(PyObject *module, core_state *state)
{
    state->names = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->names == NULL ? -1 : 0;
}
