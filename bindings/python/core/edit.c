/* edit(): changes of the header of a file. */
#include "meta_value.h"

/* An edit is a tuple (kind, name, to, value). `to` is the new name and `value` the new value; both
 * may be None. */
static bool take_edit(meta_values *all, PyObject *tuple, wb_edit *out)
{
    int kind;
    PyObject *name, *to, *value;
    *out = (wb_edit)WB_EDIT_INIT;
    if (!PyArg_ParseTuple(tuple, "iOOO", &kind, &name, &to, &value) ||
        !meta_text_take(all, name, &out->name, &out->name_len))
        return false;
    out->kind = (wb_edit_kind)kind;
    if (to != Py_None && !meta_text_take(all, to, &out->to, &out->to_len))
        return false;
    if (value == Py_None)
        return true;
    wb_value *taken = meta_memory(all, 1, sizeof *taken);
    out->value = taken;
    return taken != NULL && meta_value_take(all, value, taken);
}

static wb_edit *take_edits(meta_values *all, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    wb_edit *edits = meta_memory(all, (size_t)count, sizeof *edits);
    for (Py_ssize_t i = 0; edits != NULL && i < count; i++) {
        if (!take_edit(all, PyList_GetItem(list, i), &edits[i]))
            return NULL;
    }
    return edits;
}

static PyObject *edit_now(core_state *state, const char *path, const wb_edit *edits, uint64_t count,
                          const wb_edit_options *options)
{
    wb_edited edited = WB_EDITED_INIT;
    wb_error error;
    wb_status status;
    Py_BEGIN_ALLOW_THREADS status = wb_edit_file(path, edits, count, options, &edited, &error);
    Py_END_ALLOW_THREADS if (status != WB_OK) return raise_error(state, &error);
    return Py_BuildValue("iKKK", (int)edited.way, (unsigned long long)edited.header_bytes,
                         (unsigned long long)edited.inserted, (unsigned long long)edited.bytes);
}

PyObject *core_edit(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "edits", "flags", "alignment", NULL};
    PyObject *path = NULL, *list, *result = NULL;
    unsigned flags = 0;
    unsigned long long alignment = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O!|$IK:edit", names, PyUnicode_FSConverter,
                                     &path, &PyList_Type, &list, &flags, &alignment))
        return NULL;
    wb_edit_options options = WB_EDIT_OPTIONS_INIT;
    options.flags = flags;
    options.alignment = alignment;
    meta_values all = {0};
    wb_edit *edits = take_edits(&all, list);
    if (edits != NULL)
        result = edit_now(PyModule_GetState(module), PyBytes_AsString(path), edits,
                          (uint64_t)PyList_Size(list), &options);
    meta_values_free(&all);
    Py_DECREF(path);
    return result;
}

PyObject *core_edit_recover(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    int undone;
    wb_error error;
    wb_status status;
    const char *text = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS status = wb_edit_recover(text, &undone, &error);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    return status == WB_OK ? PyBool_FromLong(undone)
                           : raise_error(PyModule_GetState(module), &error);
}
