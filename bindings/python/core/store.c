/* store_list(): the models of an Ollama store. */
#include "core.h"

typedef struct listing {
    PyObject *list;
    PyThreadState *state;
} listing;

static PyObject *make_entry(const wb_store_entry *entry)
{
    PyObject *path = PyUnicode_DecodeFSDefault(entry->path);
    PyObject *name = path == NULL ? NULL : text_make_z(entry->name);
    if (name == NULL) {
        Py_XDECREF(path);
        return NULL;
    }
    return Py_BuildValue("NNKKKz", name, path, (unsigned long long)entry->bytes,
                         (unsigned long long)entry->layers, (unsigned long long)entry->tensors,
                         entry->error == NULL ? NULL : entry->error->message);
}

static int add_entry(void *ctx, const wb_store_entry *entry)
{
    listing *to = ctx;
    PyEval_RestoreThread(to->state);
    PyObject *row = make_entry(entry);
    int failed = row == NULL || PyList_Append(to->list, row) < 0;
    Py_XDECREF(row);
    to->state = PyEval_SaveThread();
    return failed;
}

PyObject *core_store_list(PyObject *module, PyObject *store)
{
    PyObject *path = NULL;
    listing to = {0};
    if (!path_or_none(store, &path))
        return NULL;
    to.list = PyList_New(0);
    if (to.list != NULL) {
        const char *text = path == NULL ? NULL : PyBytes_AsString(path);
        wb_error error;
        to.state = PyEval_SaveThread();
        wb_status status = wb_store_list(text, NULL, add_entry, &to, &error);
        PyEval_RestoreThread(to.state);
        if (status != WB_OK) {
            Py_CLEAR(to.list);
            (void)raise_error(PyModule_GetState(module), &error);
        }
    }
    Py_XDECREF(path);
    return to.list;
}
