/* verify(): findings about an open model, or about the model at a path. */
#include "core.h"

typedef struct verify_call {
    PyObject *model;                   /* or NULL */
    PyObject *path, *store, *manifest; /* bytes, or NULL */
    PyObject *progress, *families;
    wb_open_options open;
    wb_verify_options options;
} verify_call;

static bool parse_verify(PyObject *args, PyObject *kwargs, verify_call *call)
{
    static char *names[] = {"model",  "path",     "open_flags", "store",    "flags",
                            "budget", "manifest", "progress",   "families", NULL};
    unsigned open_flags = 0, flags = 0;
    unsigned long long budget = 0;
    *call = (verify_call){.open = WB_OPEN_OPTIONS_INIT, .options = WB_VERIFY_OPTIONS_INIT};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OO&IO&IKO&OO:verify", names, &call->model,
                                     path_or_none, &call->path, &open_flags, path_or_none,
                                     &call->store, &flags, &budget, path_or_none, &call->manifest,
                                     &call->progress, &call->families))
        return false;
    call->open.flags = open_flags;
    call->open.store = call->store == NULL ? NULL : PyBytes_AsString(call->store);
    call->options.open = &call->open;
    call->options.flags = flags;
    call->options.data_budget = budget;
    call->options.manifest = call->manifest == NULL ? NULL : PyBytes_AsString(call->manifest);
    if ((call->model == NULL) == (call->path == NULL)) {
        PyErr_SetString(PyExc_TypeError, "verify takes either a model or a path");
        return false;
    }
    return true;
}

static PyObject *verify_now(core_state *state, verify_call *call)
{
    handle *it = NULL;
    if (call->model != NULL) {
        if (!model_check_type(state, call->model))
            return NULL;
        it = model_use((model_object *)call->model);
        if (it == NULL)
            return NULL;
    }
    const char *path = call->path == NULL ? NULL : PyBytes_AsString(call->path);
    wb_findings *findings;
    wb_error error;
    wb_status status;
    watch at;
    watch_begin(&at, call->progress);
    call->options.progress = &at.progress;
    status = it != NULL ? wb_verify_model(it->model, &call->options, &findings, &error)
                        : wb_verify(path, &call->options, &findings, &error);
    watch_end(&at);
    if (it != NULL)
        shared_drop(&it->shared);
    if (status != WB_OK)
        return raise_error(state, &error);
    int verdict = wb_findings_verdict(findings);
    PyObject *rows = findings_make(findings);
    wb_findings_free(findings);
    return rows == NULL ? NULL : Py_BuildValue("iN", verdict, rows);
}

PyObject *core_verify(PyObject *module, PyObject *args, PyObject *kwargs)
{
    verify_call call;
    PyObject *result = NULL;
    core_state *state = PyModule_GetState(module);
    if (parse_verify(args, kwargs, &call) &&
        families_take(state, call.families, &call.open.families))
        result = verify_now(state, &call);
    wb_families_free(call.open.families);
    Py_XDECREF(call.path);
    Py_XDECREF(call.store);
    Py_XDECREF(call.manifest);
    return result;
}
