#include "core.h"

#include <string.h>

/* Calls weighbridge.errors.make with the members of a wb_error, and raises its result. */
static PyObject *raise_made(core_state *state, int status, const char *code, const wb_error *error)
{
    uint64_t offset = error->offset;
    PyObject *place =
        offset == WB_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(offset);
    if (place == NULL)
        return NULL;
    PyObject *made = PyObject_CallFunction(state->make_error, "izNzzzzI", status, code, place,
                                           error->file, error->name, error->message, error->advice,
                                           (unsigned)error->os_error);
    if (made != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
        Py_DECREF(made);
    }
    return NULL;
}

PyObject *raise_error(core_state *state, const wb_error *error)
{
    /* If an exception is pending, a Python callback raised it to stop the call: keep this
     * exception. */
    if (PyErr_Occurred())
        return NULL;
    return raise_made(state, (int)error->status, error->code, error);
}

PyObject *raise_status(core_state *state, wb_status status, const char *message)
{
    wb_error error = {.status = status, .offset = WB_NO_OFFSET};
    size_t length = strlen(message);
    memcpy(error.message, message, length < sizeof error.message ? length + 1 : 0);
    return raise_made(state, (int)status, NULL, &error);
}

PyObject *raise_closed(core_state *state, const char *what)
{
    wb_error error = {.offset = WB_NO_OFFSET};
    (void)PyOS_snprintf(error.message, sizeof error.message, "the %s is closed", what);
    return raise_made(state, -1, NULL, &error);
}
