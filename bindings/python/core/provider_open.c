/* provider(): creates a provider with its device. */
#include "provider.h"

#include <stdlib.h>
#include <string.h>

static void supply_destroy(shared *self)
{
    supply *it = (supply *)self;
    wb_provider_destroy(it->provider);
    wb_device_close(&it->device);
    shared_drop(it->model == NULL ? NULL : &it->model->shared);
    free(it);
}

typedef struct provider_call {
    PyObject *model;
    PyObject *segment; /* bytes, or NULL */
    const char *device, *name;
    PyObject *library; /* bytes, or NULL */
    unsigned ordinal, host_flags;
    unsigned long long segment_bytes;
    wb_policy policy;
} provider_call;

static bool parse_provider(PyObject *args, PyObject *kwargs, provider_call *call)
{
    static char *names[] = {
        "model",         "device",         "ordinal", "name",  "library", "segment",
        "segment_bytes", "host_flags",     "plain",   "dtype", "flags",   "io",
        "budget",        "vocab_multiple", NULL};
    int plain = 0, dtype = 0, io = 0;
    unsigned flags = 0, multiple = 0;
    unsigned long long budget = 0;
    *call = (provider_call){.policy = WB_POLICY_INIT};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Os|$IzO&O&KIiiIiKI:provider", names,
                                     &call->model, &call->device, &call->ordinal, &call->name,
                                     path_or_none, &call->library, path_or_none, &call->segment,
                                     &call->segment_bytes, &call->host_flags, &plain, &dtype,
                                     &flags, &io, &budget, &multiple))
        return false;
    call->policy.plain = (wb_plain_policy)plain;
    call->policy.dtype = dtype;
    call->policy.flags = flags;
    call->policy.io = (wb_io)io;
    call->policy.budget = budget;
    call->policy.vocab_multiple = multiple;
    call->policy.executor = threads_executor();
    return true;
}

static wb_status open_host(const provider_call *call, supply *it, wb_error *error)
{
    wb_host_options options = WB_HOST_OPTIONS_INIT;
    options.flags = call->host_flags;
    options.segment = call->segment == NULL ? NULL : PyBytes_AsString(call->segment);
    options.segment_bytes = call->segment_bytes;
    it->device_type = 1;
    return wb_device_host(&options, &it->device, error);
}

static wb_status open_cuda(const provider_call *call, supply *it, wb_error *error)
{
    wb_cuda_options options = WB_CUDA_OPTIONS_INIT;
    options.ordinal = call->ordinal;
    options.library = call->library == NULL ? NULL : PyBytes_AsString(call->library);
    it->device_type = 2;
    it->device_id = (int)call->ordinal;
    return wb_device_cuda(&options, &it->device, error);
}

static wb_status open_opencl(const provider_call *call, supply *it, wb_error *error)
{
    wb_opencl_options options = WB_OPENCL_OPTIONS_INIT;
    options.name = call->name;
    options.library = call->library == NULL ? NULL : PyBytes_AsString(call->library);
    return wb_device_opencl(&options, &it->device, error);
}

static const struct device_kind {
    const char *name;
    wb_status (*open)(const provider_call *call, supply *it, wb_error *error);
} device_kinds[] = {{"host", open_host}, {"cuda", open_cuda}, {"opencl", open_opencl}};

static bool open_device(core_state *state, const provider_call *call, supply *it)
{
    for (size_t i = 0; i < sizeof device_kinds / sizeof *device_kinds; i++) {
        if (strcmp(call->device, device_kinds[i].name) != 0)
            continue;
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status = device_kinds[i].open(call, it, &error);
        Py_END_ALLOW_THREADS if (status != WB_OK)(void) raise_error(state, &error);
        return status == WB_OK;
    }
    PyErr_Format(PyExc_ValueError, "no device has the name '%s'", call->device);
    return false;
}

static supply *supply_new(core_state *state, const provider_call *call)
{
    if (!model_check_type(state, call->model))
        return NULL;
    supply *it = calloc(1, sizeof *it);
    if (it == NULL) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    shared_init(&it->shared, supply_destroy);
    it->model = model_use((model_object *)call->model);
    bool done = it->model != NULL && open_device(state, call, it);
    wb_error error;
    if (done && wb_provider_create(it->model->model, &it->device, &call->policy, &it->provider,
                                   &error) != WB_OK) {
        (void)raise_error(state, &error);
        done = false;
    }
    if (done)
        return it;
    shared_drop(&it->shared);
    return NULL;
}

PyObject *core_provider(PyObject *module, PyObject *args, PyObject *kwargs)
{
    core_state *state = PyModule_GetState(module);
    provider_call call;
    supply *it = parse_provider(args, kwargs, &call) ? supply_new(state, &call) : NULL;
    Py_XDECREF(call.segment);
    Py_XDECREF(call.library);
    if (it == NULL)
        return NULL;
    provider_object *self = (provider_object *)object_new(state->provider);
    if (self == NULL) {
        shared_drop(&it->shared);
        return NULL;
    }
    self->state = state;
    self->supply = it;
    return (PyObject *)self;
}
