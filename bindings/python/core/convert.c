/* The type Conversion: a planned conversion of a model. */
#include "core.h"

#include <stdlib.h>

typedef struct conversion_object {
    PyObject_HEAD core_state *state;
    handle *handle; /* the model, which must stay open */
    wb_conversion *conversion;
    atomic_flag busy; /* only one thread at a time may use a conversion */
} conversion_object;

static bool enter(conversion_object *self)
{
    if (!atomic_flag_test_and_set(&self->busy))
        return true;
    PyErr_SetString(PyExc_RuntimeError, "the conversion is in use by another thread");
    return false;
}

static void leave(conversion_object *self)
{
    atomic_flag_clear(&self->busy);
}

static void conversion_dealloc(PyObject *object)
{
    conversion_object *self = (conversion_object *)object;
    wb_conversion_free(self->conversion);
    shared_drop(self->handle == NULL ? NULL : &self->handle->shared);
    object_free(object);
}

/* ---- planning ---- */

/* The strings and arrays that the policy points to. */
typedef struct plan_call {
    PyObject *model, *rules, *loras;
    PyObject *importance, *store; /* bytes, or NULL */
    const char *quant;
    int target;
    wb_convert_policy policy;
    wb_convert_rule *rule_rows;
    wb_convert_lora *lora_rows;
    PyObject *kept; /* list of the objects that own the strings in the rows */
} plan_call;

/* Returns a path as bytes, which stay valid until the end of the call. */
static const char *keep_path(plan_call *call, PyObject *path)
{
    PyObject *bytes = NULL;
    const char *text = NULL;
    if (PyUnicode_FSConverter(path, &bytes) && PyList_Append(call->kept, bytes) == 0)
        text = PyBytes_AsString(bytes);
    Py_XDECREF(bytes);
    return text;
}

static bool take_rule(PyObject *item, wb_convert_rule *out)
{
    return PyArg_ParseTuple(item, "ss", &out->pattern, &out->type);
}

static bool take_rules(plan_call *call)
{
    Py_ssize_t count = PyTuple_Size(call->rules);
    call->rule_rows = calloc((size_t)count + 1, sizeof *call->rule_rows);
    if (count < 0 || call->rule_rows == NULL)
        return count >= 0 && PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!take_rule(PyTuple_GetItem(call->rules, i), &call->rule_rows[i]))
            return false;
    }
    call->policy.rules = call->rule_rows;
    call->policy.rule_count = (uint64_t)count;
    return true;
}

static bool take_lora(plan_call *call, PyObject *item, wb_convert_lora *out)
{
    PyObject *path;
    if (!PyArg_ParseTuple(item, "Od", &path, &out->scale))
        return false;
    out->path = keep_path(call, path);
    return out->path != NULL;
}

static bool take_loras(plan_call *call)
{
    Py_ssize_t count = PyTuple_Size(call->loras);
    call->lora_rows = calloc((size_t)count + 1, sizeof *call->lora_rows);
    if (count < 0 || call->lora_rows == NULL)
        return count >= 0 && PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!take_lora(call, PyTuple_GetItem(call->loras, i), &call->lora_rows[i]))
            return false;
    }
    call->policy.loras = call->lora_rows;
    call->policy.lora_count = (uint64_t)count;
    return true;
}

static bool parse_plan(PyObject *args, PyObject *kwargs, plan_call *call)
{
    static char *names[] = {"model",      "target",         "quant", "rules", "importance",
                            "max_memory", "max_file_bytes", "flags", "store", "loras",
                            NULL};
    unsigned long long memory = 0, file_bytes = 0;
    unsigned flags = 0;
    *call = (plan_call){.policy = WB_CONVERT_POLICY_INIT, .kept = PyList_New(0)};
    if (call->kept == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "Oi|$zO!O&KKIO&O!:plan", names, &call->model,
                                     &call->target, &call->quant, &PyTuple_Type, &call->rules,
                                     path_or_none, &call->importance, &memory, &file_bytes, &flags,
                                     path_or_none, &call->store, &PyTuple_Type, &call->loras))
        return false;
    wb_convert_policy *policy = &call->policy;
    policy->quant = call->quant;
    policy->importance = call->importance == NULL ? NULL : PyBytes_AsString(call->importance);
    policy->store = call->store == NULL ? NULL : PyBytes_AsString(call->store);
    policy->max_memory = memory;
    policy->max_file_bytes = file_bytes;
    policy->flags = flags;
    policy->executor = threads_executor();
    return (call->rules == NULL || take_rules(call)) && (call->loras == NULL || take_loras(call));
}

static PyObject *plan_now(core_state *state, const plan_call *call)
{
    if (!model_check_type(state, call->model))
        return NULL;
    conversion_object *self = (conversion_object *)object_new(state->conversion);
    if (self == NULL)
        return NULL;
    self->state = state;
    atomic_flag_clear(&self->busy);
    self->handle = model_use((model_object *)call->model);
    if (self->handle == NULL) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    wb_error error;
    wb_status status;
    Py_BEGIN_ALLOW_THREADS status = wb_convert_plan(self->handle->model, (wb_target)call->target,
                                                    &call->policy, &self->conversion, &error);
    Py_END_ALLOW_THREADS if (status == WB_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return raise_error(state, &error);
}

PyObject *core_plan(PyObject *module, PyObject *args, PyObject *kwargs)
{
    plan_call call;
    PyObject *result = NULL;
    if (parse_plan(args, kwargs, &call))
        result = plan_now(PyModule_GetState(module), &call);
    free(call.rule_rows);
    free(call.lora_rows);
    Py_XDECREF(call.importance);
    Py_XDECREF(call.store);
    Py_XDECREF(call.kept);
    return result;
}

/* ---- running ---- */

static PyObject *conversion_check(PyObject *object, PyObject *path)
{
    conversion_object *self = (conversion_object *)object;
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    wb_error error;
    wb_status status = WB_ERROR_ARGUMENT;
    bool entered = enter(self);
    if (entered) {
        Py_BEGIN_ALLOW_THREADS status =
            wb_convert_check(self->conversion, PyBytes_AsString(bytes), &error);
        Py_END_ALLOW_THREADS leave(self);
    }
    Py_DECREF(bytes);
    if (!entered)
        return NULL;
    return status == WB_OK ? Py_NewRef(Py_None) : raise_error(self->state, &error);
}

static PyObject *conversion_run(PyObject *object, PyObject *args)
{
    conversion_object *self = (conversion_object *)object;
    PyObject *bytes = NULL, *progress = NULL;
    if (!PyArg_ParseTuple(args, "O&|O:run", PyUnicode_FSConverter, &bytes, &progress))
        return NULL;
    wb_error error;
    wb_status status = WB_ERROR_ARGUMENT;
    bool entered = enter(self);
    if (entered) {
        const char *path = PyBytes_AsString(bytes);
        watch at;
        watch_begin(&at, progress);
        status = wb_convert(self->conversion, path, &at.progress, &error);
        watch_end(&at);
        leave(self);
    }
    Py_DECREF(bytes);
    if (!entered)
        return NULL;
    return status == WB_OK ? Py_NewRef(Py_None) : raise_error(self->state, &error);
}

/* ---- results ---- */

static PyObject *make_row(const wb_converted *row)
{
    PyObject *name = text_make_z(row->name), *source = text_make_z(row->source);
    PyObject *shape = shape_make(row->shape, row->rank);
    if (name == NULL || source == NULL || shape == NULL) {
        Py_XDECREF(name);
        Py_XDECREF(source);
        Py_XDECREF(shape);
        return NULL;
    }
    return Py_BuildValue("NNNKsssidddK", name, source, shape, (unsigned long long)row->bytes,
                         row->from, row->to, row->wanted, (int)row->fidelity, row->nmse,
                         row->max_error, row->cosine, (unsigned long long)row->overflowed);
}

static PyObject *conversion_rows(PyObject *object, PyObject *unused)
{
    (void)unused;
    conversion_object *self = (conversion_object *)object;
    if (!enter(self))
        return NULL;
    uint64_t count = wb_conversion_count(self->conversion);
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_converted row = WB_CONVERTED_INIT;
        wb_error error;
        PyObject *made = wb_conversion_at(self->conversion, i, &row, &error) == WB_OK
                             ? make_row(&row)
                             : raise_error(self->state, &error);
        if (made == NULL || PyList_Append(list, made) < 0)
            Py_CLEAR(list);
        Py_XDECREF(made);
    }
    leave(self);
    return list;
}

static PyObject *conversion_findings(PyObject *object, PyObject *unused)
{
    (void)unused;
    conversion_object *self = (conversion_object *)object;
    if (!enter(self))
        return NULL;
    PyObject *list = findings_make(wb_conversion_findings(self->conversion));
    leave(self);
    return list;
}

static PyMethodDef methods[] = {
    {"check", conversion_check, METH_O, "Check whether run() can write to a path."},
    {"run", conversion_run, METH_VARARGS, "Convert and write to a path."},
    {"rows", conversion_rows, METH_NOARGS, "Return one tuple for each tensor of the result."},
    {"findings_at", conversion_findings, METH_NOARGS, "Return one tuple for each finding."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, conversion_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Conversion",
    .basicsize = sizeof(conversion_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_conversion(PyObject *module, core_state *state)
{
    state->conversion = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->conversion == NULL ? -1 : PyModule_AddType(module, state->conversion);
}
