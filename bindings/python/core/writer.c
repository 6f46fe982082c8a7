/* The type Writer: writes a model, tensor by tensor. */
#include "writer.h"

/* ---- one thread at a time, except for writing tensors ---- */

bool writer_enter(writer_object *self, bool shared_use)
{
    long users = atomic_load(&self->users);
    while (shared_use ? users >= 0 : users == 0) {
        if (atomic_compare_exchange_weak(&self->users, &users, shared_use ? users + 1 : -1))
            return true;
    }
    PyErr_SetString(PyExc_RuntimeError, "the writer is in use by another thread");
    return false;
}

PyObject *writer_leave(writer_object *self, bool shared_use, wb_status status,
                       const wb_error *error, PyObject *result)
{
    if (shared_use)
        (void)atomic_fetch_sub(&self->users, 1);
    else
        atomic_store(&self->users, 0);
    if (status == WB_OK)
        return result == NULL ? Py_NewRef(Py_None) : result;
    Py_XDECREF(result);
    return raise_error(self->state, error);
}

/* ---- creation ---- */

static int report_commit(void *ctx, uint64_t done, uint64_t total)
{
    writer_object *self = ctx;
    return self->watch == NULL
               ? 0
               : self->watch->progress.report(self->watch->progress.ctx, done, total);
}

static void writer_dealloc(PyObject *object)
{
    writer_object *self = (writer_object *)object;
    wb_writer_free(self->writer);
    shared_drop(self->source == NULL ? NULL : &self->source->shared);
    shared_drop(self->whole == NULL ? NULL : &self->whole->shared);
    object_free(object);
}

PyObject *core_writer(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"format",           "flags",  "alignment", "max_file_bytes",
                            "max_file_tensors", "source", "store",     NULL};
    core_state *state = PyModule_GetState(module);
    const char *format;
    unsigned flags = 0;
    unsigned long long alignment = 0, file_bytes = 0, file_tensors = 0;
    PyObject *source = Py_None, *store = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|$IKKKOO&:writer", names, &format, &flags,
                                     &alignment, &file_bytes, &file_tensors, &source, path_or_none,
                                     &store))
        return NULL;
    writer_object *self = NULL;
    if (source == Py_None || model_check_type(state, source))
        self = (writer_object *)object_new(state->writer);
    bool done = self != NULL;
    if (done) {
        self->state = state;
        self->hook = (wb_progress){.ctx = self, .report = report_commit};
        if (source != Py_None)
            self->source = model_use((model_object *)source);
        done = source == Py_None || self->source != NULL;
    }
    if (done) {
        wb_writer_options options = {.size = sizeof options,
                                     .format = format,
                                     .flags = flags,
                                     .alignment = alignment,
                                     .max_file_bytes = file_bytes,
                                     .max_file_tensors = file_tensors,
                                     .source = self->source == NULL ? NULL : self->source->model,
                                     .store = store == NULL ? NULL : PyBytes_AsString(store),
                                     .progress = &self->hook};
        wb_error error;
        done = wb_writer_create(&options, &self->writer, &error) == WB_OK;
        if (!done)
            (void)raise_error(state, &error);
    }
    Py_XDECREF(store);
    if (!done)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* ---- steps ---- */

/* plan(path): computes the layout. `path` is None if begin gets a file descriptor. */
static PyObject *writer_plan(PyObject *object, PyObject *path)
{
    writer_object *self = (writer_object *)object;
    PyObject *bytes = NULL, *result = NULL;
    if (!path_or_none(path, &bytes))
        return NULL;
    if (writer_enter(self, false)) {
        const char *text = bytes == NULL ? NULL : PyBytes_AsString(bytes);
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status = wb_writer_plan(self->writer, text, &error);
        Py_END_ALLOW_THREADS result = writer_leave(self, false, status, &error, NULL);
    }
    Py_XDECREF(bytes);
    return result;
}

static PyObject *writer_check(PyObject *object, PyObject *unused)
{
    (void)unused;
    writer_object *self = (writer_object *)object;
    if (!writer_enter(self, false))
        return NULL;
    wb_error error;
    wb_status status;
    Py_BEGIN_ALLOW_THREADS status = wb_writer_check(self->writer, &error);
    Py_END_ALLOW_THREADS return writer_leave(self, false, status, &error, NULL);
}

/* begin(fd, label): starts to write to `fd`. If `fd` is -1, creates the files at the planned
 * path. */
static PyObject *writer_begin(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    int fd;
    const char *label;
    if (!PyArg_ParseTuple(args, "is:begin", &fd, &label) || !writer_enter(self, false))
        return NULL;
    wb_error error;
    wb_status status;
    Py_BEGIN_ALLOW_THREADS status = fd < 0 ? wb_writer_begin(self->writer, &error)
                                           : wb_writer_begin_fd(self->writer, fd, label, &error);
    Py_END_ALLOW_THREADS return writer_leave(self, false, status, &error, NULL);
}

/* put(index, offset, bytes): writes bytes of a tensor. Several threads may call it at the same
 * time. */
static PyObject *writer_put(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    unsigned long long index, offset;
    PyObject *bytes, *result = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "KKO:put", &index, &offset, &bytes) ||
        PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    if (writer_enter(self, true)) {
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            wb_writer_put(self->writer, index, offset, view.buf, (size_t)view.len, &error);
        Py_END_ALLOW_THREADS result = writer_leave(self, true, status, &error, NULL);
    }
    PyBuffer_Release(&view);
    return result;
}

/* copy(index, offset, model, tensor): copies the stored bytes of a tensor of a model. */
static PyObject *writer_copy(PyObject *object, PyObject *args)
{
    writer_object *self = (writer_object *)object;
    unsigned long long index, offset, tensor;
    PyObject *model, *result = NULL;
    if (!PyArg_ParseTuple(args, "KKOK:copy", &index, &offset, &model, &tensor) ||
        !model_check_type(self->state, model))
        return NULL;
    handle *it = model_use((model_object *)model);
    if (it == NULL)
        return NULL;
    if (writer_enter(self, true)) {
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            wb_writer_copy_into(self->writer, index, offset, it->model, tensor, &error);
        Py_END_ALLOW_THREADS result = writer_leave(self, true, status, &error, NULL);
    }
    shared_drop(&it->shared);
    return result;
}

/* commit(progress): renames the complete files to their final names. */
static PyObject *writer_commit(PyObject *object, PyObject *progress)
{
    writer_object *self = (writer_object *)object;
    if (!writer_enter(self, false))
        return NULL;
    wb_error error;
    watch at;
    watch_begin(&at, progress);
    self->watch = &at;
    wb_status status = wb_writer_commit(self->writer, &error);
    self->watch = NULL;
    watch_end(&at);
    return writer_leave(self, false, status, &error, NULL);
}

/* ---- questions about the plan ---- */

static PyObject *writer_files(PyObject *object, PyObject *unused)
{
    (void)unused;
    writer_object *self = (writer_object *)object;
    if (!writer_enter(self, false))
        return NULL;
    wb_error error;
    wb_status status = WB_OK;
    uint64_t count = wb_writer_file_count(self->writer);
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list != NULL && status == WB_OK && i < count; i++) {
        wb_file file = WB_FILE_INIT;
        status = wb_writer_file_at(self->writer, i, &file, &error);
        PyObject *row = status == WB_OK ? file_make(&file) : NULL;
        if (status == WB_OK && (row == NULL || PyList_Append(list, row) < 0))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    if (list == NULL) {
        atomic_store(&self->users, 0);
        return NULL;
    }
    return writer_leave(self, false, status, &error, list);
}

/* order(): returns the indices of the tensors, in the order of their bytes in the files. */
static PyObject *writer_order(PyObject *object, PyObject *unused)
{
    (void)unused;
    writer_object *self = (writer_object *)object;
    if (!writer_enter(self, false))
        return NULL;
    wb_error error;
    uint64_t index;
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list != NULL; i++) {
        if (wb_writer_order(self->writer, i, &index, &error) != WB_OK)
            break;
        PyObject *number = PyLong_FromUnsignedLongLong(index);
        if (number == NULL || PyList_Append(list, number) < 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    atomic_store(&self->users, 0);
    return list;
}

static PyMethodDef methods[] = {
    {"set", writer_set, METH_VARARGS, "Set a metadata entry."},
    {"copy_meta", writer_copy_meta, METH_VARARGS, "Copy a metadata entry of a model."},
    {"add", writer_add, METH_VARARGS, "Declare a tensor; return its index."},
    {"set_packing", writer_set_packing, METH_VARARGS, "Declare the packing of a tensor."},
    {"set_whole", writer_set_whole, METH_O, "Make the result an unchanged copy of a GGUF model."},
    {"add_sidecar", writer_add_sidecar, METH_VARARGS, "Add a sidecar file."},
    {"plan", writer_plan, METH_O, "Compute the layout of all files."},
    {"check", writer_check, METH_NOARGS, "Check whether the files can be written."},
    {"begin", writer_begin, METH_VARARGS, "Begin to write."},
    {"put", writer_put, METH_VARARGS, "Write bytes of a tensor."},
    {"copy", writer_copy, METH_VARARGS, "Copy a tensor of a model."},
    {"commit", writer_commit, METH_O, "Give the complete files their names."},
    {"files_at", writer_files, METH_NOARGS, "Return one tuple for each planned file."},
    {"order", writer_order, METH_NOARGS, "Return the tensors in the order of their bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Writer",
    .basicsize = sizeof(writer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_writer(PyObject *module, core_state *state)
{
    state->writer = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->writer == NULL ? -1 : PyModule_AddType(module, state->writer);
}
