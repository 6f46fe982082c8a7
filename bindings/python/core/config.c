/* The config and the findings of a model, as lists of tuples. */
#include "core.h"

/* ---- config ---- */

static PyObject *field_value(const wb_config_value *value)
{
    if (value->origin == WB_ORIGIN_ABSENT)
        Py_RETURN_NONE;
    if (value->text != NULL)
        return text_make_z(value->text);
    if (value->is_flag)
        return PyBool_FromLong(value->number != 0);
    return value->is_float ? PyFloat_FromDouble(value->real)
                           : PyLong_FromUnsignedLongLong(value->number);
}

static PyObject *make_fields(const wb_config *config)
{
    PyObject *list = PyList_New(0);
    wb_config_value value = WB_CONFIG_VALUE_INIT;
    for (uint32_t i = 0; list != NULL && wb_config_at(config, i, &value) == WB_OK; i++) {
        PyObject *field = field_value(&value);
        PyObject *row =
            field == NULL ? NULL : Py_BuildValue("sNi", value.name, field, (int)value.origin);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *model_config(PyObject *object, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)object;
    handle *it = model_use(self);
    if (it == NULL)
        return NULL;
    wb_config config = WB_CONFIG_INIT;
    wb_error error;
    wb_status status;
    BEGIN_READ
    status = wb_config_get(it->model, &config, &error);
    END_READ
    PyObject *fields = status == WB_OK ? make_fields(&config) : raise_error(self->state, &error);
    shared_drop(&it->shared);
    return fields;
}

/* ---- findings ---- */

static PyObject *make_finding(const wb_finding *finding)
{
    PyObject *offset = finding->offset == WB_NO_OFFSET
                           ? Py_NewRef(Py_None)
                           : PyLong_FromUnsignedLongLong(finding->offset);
    PyObject *file = text_make_z(finding->file), *name = text_make_z(finding->name);
    PyObject *message = text_make_z(finding->message);
    if (offset == NULL || file == NULL || name == NULL || message == NULL) {
        Py_XDECREF(offset);
        Py_XDECREF(file);
        Py_XDECREF(name);
        Py_XDECREF(message);
        return NULL;
    }
    return Py_BuildValue("isNNNsN", (int)finding->severity, finding->code, file, name, message,
                         finding->advice, offset);
}

PyObject *findings_make(const wb_findings *findings)
{
    PyObject *list = PyList_New(0);
    uint64_t count = wb_findings_count(findings);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_finding finding = WB_FINDING_INIT;
        if (wb_findings_at(findings, i, &finding) != WB_OK)
            continue;
        PyObject *row = make_finding(&finding);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *model_findings(PyObject *object, PyObject *unused)
{
    (void)unused;
    handle *it = model_use((model_object *)object);
    if (it == NULL)
        return NULL;
    PyObject *list = findings_make(wb_model_findings(it->model));
    shared_drop(&it->shared);
    return list;
}
