/* The argument `families` of open() and verify(): tables of model families. */
#include "core.h"

#include <stdlib.h>

/* Takes one table: the path of its file, or its text as bytes. *owner keeps the memory. */
static bool take_table(PyObject *item, wb_family_table *table, PyObject **owner)
{
    *table = (wb_family_table)WB_FAMILY_TABLE_INIT;
    if (PyBytes_Check(item)) {
        Py_ssize_t length;
        char *text;
        *owner = Py_NewRef(item);
        if (PyBytes_AsStringAndSize(item, &text, &length) != 0)
            return false;
        table->path = "table";
        table->text = text;
        table->text_len = (size_t)length;
        return true;
    }
    if (!PyUnicode_FSConverter(item, owner))
        return false;
    table->path = PyBytes_AsString(*owner);
    return true;
}

static bool read_tables(core_state *state, PyObject *items, Py_ssize_t count, wb_families **out)
{
    wb_family_table *tables = calloc((size_t)count + 1, sizeof *tables);
    PyObject **owners = calloc((size_t)count + 1, sizeof *owners);
    bool done = tables != NULL && owners != NULL;
    if (!done)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && done; i++) {
        PyObject *item = PySequence_GetItem(items, i);
        done = item != NULL && take_table(item, &tables[i], &owners[i]);
        Py_XDECREF(item);
    }
    wb_error error;
    if (done && wb_families_read(tables, (size_t)count, NULL, out, &error) != WB_OK) {
        (void)raise_error(state, &error);
        done = false;
    }
    for (Py_ssize_t i = 0; owners != NULL && i < count; i++)
        Py_XDECREF(owners[i]);
    free((void *)owners);
    free(tables);
    return done;
}

bool families_take(core_state *state, PyObject *items, wb_families **out)
{
    *out = NULL;
    if (items == NULL || items == Py_None)
        return true;
    if (PyBytes_Check(items) || PyUnicode_Check(items)) {
        PyErr_SetString(PyExc_TypeError, "families is a list of paths, and of texts as bytes");
        return false;
    }
    Py_ssize_t count = PySequence_Size(items);
    return count >= 0 && read_tables(state, items, count, out);
}
