/* diff(): differences between two models. */
#include "core.h"

static PyObject *make_distance(const wb_distance *distance)
{
    return Py_BuildValue("KKKdddd", (unsigned long long)distance->values,
                         (unsigned long long)distance->different,
                         (unsigned long long)distance->not_finite, distance->nmse,
                         distance->maximum, distance->cosine, distance->snr);
}

/* Converts the index of a tensor or metadata entry to an int, and UINT64_MAX to None. */
static PyObject *index_or_none(uint64_t index)
{
    return index == UINT64_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(index);
}

static PyObject *tensor_diff(const wb_tensor_diff *row)
{
    PyObject *name = text_make(row->name, row->name_len);
    if (name == NULL)
        return NULL;
    PyObject *distance = row->compared ? make_distance(&row->distance) : Py_NewRef(Py_None);
    return Py_BuildValue("NNNIN", name, index_or_none(row->a), index_or_none(row->b),
                         (unsigned)row->differs, distance);
}

static PyObject *tensor_diffs(const wb_diff *diff)
{
    PyObject *list = PyList_New(0);
    uint64_t count = wb_diff_tensor_count(diff);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_tensor_diff row = WB_TENSOR_DIFF_INIT;
        if (wb_diff_tensor_at(diff, i, &row) != WB_OK)
            continue;
        PyObject *made = tensor_diff(&row);
        if (made == NULL || PyList_Append(list, made) < 0)
            Py_CLEAR(list);
        Py_XDECREF(made);
    }
    return list;
}

static PyObject *meta_diffs(const wb_diff *diff)
{
    PyObject *list = PyList_New(0);
    uint64_t count = wb_diff_meta_count(diff);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_meta_diff row = WB_META_DIFF_INIT;
        if (wb_diff_meta_at(diff, i, &row) != WB_OK)
            continue;
        PyObject *key = text_make(row.key, row.key_len);
        PyObject *made =
            key == NULL ? NULL
                        : Py_BuildValue("NNN", key, index_or_none(row.a), index_or_none(row.b));
        if (made == NULL || PyList_Append(list, made) < 0)
            Py_CLEAR(list);
        Py_XDECREF(made);
    }
    return list;
}

/* Returns a list with the index of each config field that differs. */
static PyObject *config_diffs(const wb_diff *diff)
{
    PyObject *list = PyList_New(0);
    for (uint32_t field = 0; list != NULL && field < WB_CONFIG_FIELDS; field++) {
        if (!wb_diff_config(diff, field))
            continue;
        PyObject *number = PyLong_FromUnsignedLong(field);
        if (number == NULL || PyList_Append(list, number) < 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *make_diff(const wb_diff *diff)
{
    wb_distance distance;
    wb_diff_distance(diff, &distance);
    PyObject *tensors = tensor_diffs(diff), *metadata = meta_diffs(diff);
    PyObject *config = config_diffs(diff);
    if (tensors != NULL && metadata != NULL && config != NULL)
        return Py_BuildValue("INNNN", (unsigned)wb_diff_kinds(diff), make_distance(&distance),
                             config, tensors, metadata);
    Py_XDECREF(config);
    Py_XDECREF(tensors);
    Py_XDECREF(metadata);
    return NULL;
}

static PyObject *diff_now(core_state *state, const handle *a, const handle *b, unsigned kinds,
                          PyObject *progress)
{
    wb_diff_options options = WB_DIFF_OPTIONS_INIT;
    wb_diff *diff;
    wb_error error;
    watch at;
    watch_begin(&at, progress);
    options.kinds = kinds;
    options.executor = threads_executor();
    options.progress = &at.progress;
    wb_status status = wb_diff_models(a->model, b->model, &options, &diff, &error);
    watch_end(&at);
    PyObject *result = status == WB_OK ? make_diff(diff) : raise_error(state, &error);
    wb_diff_free(diff);
    return result;
}

PyObject *core_diff(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"a", "b", "kinds", "progress", NULL};
    core_state *state = PyModule_GetState(module);
    PyObject *first, *second, *progress = NULL, *result = NULL;
    unsigned kinds = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$IO:diff", names, &first, &second, &kinds,
                                     &progress) ||
        !model_check_type(state, first) || !model_check_type(state, second))
        return NULL;
    handle *a = model_use((model_object *)first);
    handle *b = a == NULL ? NULL : model_use((model_object *)second);
    if (b != NULL)
        result = diff_now(state, a, b, kinds, progress);
    shared_drop(b == NULL ? NULL : &b->shared);
    shared_drop(a == NULL ? NULL : &a->shared);
    return result;
}
