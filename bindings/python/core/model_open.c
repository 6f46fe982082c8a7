/* open(): opens a model from a path, from memory or from a file descriptor. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct open_call {
    PyTypeObject *type;
    PyTypeObject *tensor_type;
    PyObject *path; /* bytes, or NULL */
    PyObject *memory;
    const char *label;
    PyObject *store; /* bytes, or NULL */
    PyObject *limits, *families;
    int fd;
    wb_limits limit_values;
    wb_open_options options;
} open_call;

static const struct limit_field {
    const char *name;
    size_t offset;
} limit_fields[] = {
    {"safetensors_header", offsetof(wb_limits, safetensors_header)},
    {"gguf_header", offsetof(wb_limits, gguf_header)},
    {"npy_header", offsetof(wb_limits, npy_header)},
    {"npz_directory", offsetof(wb_limits, npz_directory)},
    {"inflated", offsetof(wb_limits, inflated)},
    {"json_bytes", offsetof(wb_limits, json_bytes)},
    {"files", offsetof(wb_limits, files)},
    {"rank", offsetof(wb_limits, rank)},
    {"spool_memory", offsetof(wb_limits, spool_memory)},
};

static bool set_limit(wb_limits *limits, const char *name, PyObject *value)
{
    for (size_t i = 0; i < sizeof limit_fields / sizeof *limit_fields; i++) {
        if (strcmp(name, limit_fields[i].name) != 0)
            continue;
        uint64_t number = PyLong_AsUnsignedLongLong(value);
        memcpy((char *)limits + limit_fields[i].offset, &number, sizeof number);
        return !PyErr_Occurred();
    }
    PyErr_Format(PyExc_ValueError, "no limit has the name '%s'", name);
    return false;
}

/* Copies the dict `limits` to a wb_limits. */
static bool take_limits(open_call *call)
{
    call->limit_values = (wb_limits)WB_LIMITS_INIT;
    call->options.limits = &call->limit_values;
    if (call->limits == NULL || call->limits == Py_None)
        return true;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(call->limits)) {
        PyErr_SetString(PyExc_TypeError, "limits is a dict of names and numbers");
        return false;
    }
    while (PyDict_Next(call->limits, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (name == NULL || !set_limit(&call->limit_values, name, value))
            return false;
    }
    return true;
}

static bool parse_open(PyObject *args, PyObject *kwargs, open_call *call)
{
    static char *names[] = {"type",   "tensor_type", "path",  "memory", "fd",       "label",
                            "access", "flags",       "store", "limits", "families", NULL};
    PyObject *type, *tensor_type;
    int access = WB_ACCESS_MAP;
    unsigned flags = 0;
    *call = (open_call){.fd = -1, .label = "", .options = WB_OPEN_OPTIONS_INIT};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$O&OizIIO&OO:open", names, &type,
                                     &tensor_type, path_or_none, &call->path, &call->memory,
                                     &call->fd, &call->label, &access, &flags, path_or_none,
                                     &call->store, &call->limits, &call->families))
        return false;
    call->type = (PyTypeObject *)type;
    call->tensor_type = (PyTypeObject *)tensor_type;
    call->options.access = (wb_access)access;
    call->options.flags = flags;
    call->options.store = call->store == NULL ? NULL : PyBytes_AsString(call->store);
    return take_limits(call);
}

/* Opens the model at an address. Its files cannot be mapped. */
static wb_status open_address(const char *address, const wb_open_options *options, handle *out,
                              wb_error *error)
{
    wb_files files = WB_FILES_INIT;
    wb_open_options own = *options;
    wb_status status = wb_net_open(NULL, &out->net, error);
    if (status == WB_OK)
        status = wb_net_files(out->net, &files, error);
    own.files = &files;
    if (own.access == WB_ACCESS_MAP)
        own.access = WB_ACCESS_READ;
    return status == WB_OK ? wb_open(address, &own, &out->model, error) : status;
}

/* Opens the model of a handle. If the model is in memory, the handle already has its buffer. */
static wb_status open_now(const open_call *call, handle *out, wb_error *error)
{
    const wb_open_options *options = &call->options;
    const char *path = call->path == NULL ? NULL : PyBytes_AsString(call->path);
    wb_status status;
    BEGIN_READ
    if (out->from_memory)
        status = wb_open_memory(out->bytes.buf, (size_t)out->bytes.len, call->label, options,
                                &out->model, error);
    else if (path != NULL && wb_net_owns(path))
        status = open_address(path, options, out, error);
    else if (path != NULL)
        status = wb_open(path, options, &out->model, error);
    else
        status = wb_open_fd(call->fd, call->label, options, &out->model, error);
    END_READ
    return status;
}

static handle *handle_open(core_state *state, const open_call *call)
{
    handle *it = calloc(1, sizeof *it);
    if (it == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    shared_init(&it->shared, handle_destroy);
    it->writable = (call->options.flags & WB_OPEN_COPY_ON_WRITE) != 0;
    wb_error error;
    bool done = false;
    if (call->memory != NULL && call->memory != Py_None) {
        it->writable = false;
        it->from_memory = PyObject_GetBuffer(call->memory, &it->bytes, PyBUF_SIMPLE) == 0;
        done = !it->from_memory;
    }
    if (!done && open_now(call, it, &error) != WB_OK) {
        (void)raise_error(state, &error);
        done = true;
    }
    if (!done)
        return it;
    shared_drop(&it->shared);
    return NULL;
}

static PyObject *make_model(core_state *state, const open_call *call)
{
    if (!PyType_Check((PyObject *)call->type) || !PyType_IsSubtype(call->type, state->model) ||
        !PyType_Check((PyObject *)call->tensor_type) ||
        !PyType_IsSubtype(call->tensor_type, state->tensor)) {
        PyErr_SetString(PyExc_TypeError, "open takes a subtype of Model and one of Tensor");
        return NULL;
    }
    handle *it = handle_open(state, call);
    if (it == NULL)
        return NULL;
    model_object *self = (model_object *)object_new(call->type);
    if (self == NULL) {
        shared_drop(&it->shared);
        return NULL;
    }
    self->state = state;
    self->handle = it;
    self->tensor_type = (PyTypeObject *)Py_NewRef((PyObject *)call->tensor_type);
    return (PyObject *)self;
}

PyObject *core_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    open_call call;
    PyObject *model = NULL;
    core_state *state = PyModule_GetState(module);
    if (parse_open(args, kwargs, &call) &&
        families_take(state, call.families, &call.options.families))
        model = make_model(state, &call);
    wb_families_free(call.options.families);
    Py_XDECREF(call.path);
    Py_XDECREF(call.store);
    return model;
}
