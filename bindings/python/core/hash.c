/* hash(): digests of files and values. */
#include "core.h"

static PyObject *make_digest(const uint8_t *digest)
{
    return PyBytes_FromStringAndSize((const char *)digest, WB_DIGEST_BYTES);
}

static PyObject *tensor_hashes(const wb_hashes *hashes)
{
    PyObject *list = PyList_New(0);
    uint64_t count = wb_hash_tensor_count(hashes);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        wb_tensor_hash hash = WB_TENSOR_HASH_INIT;
        if (wb_hash_tensor_at(hashes, i, &hash) != WB_OK)
            continue;
        PyObject *name = text_make(hash.name, hash.name_len);
        PyObject *row = name == NULL ? NULL
                                     : Py_BuildValue("NNKKKOO", name, make_digest(hash.digest),
                                                     (unsigned long long)hash.tensor,
                                                     (unsigned long long)hash.nan,
                                                     (unsigned long long)hash.infinite,
                                                     hash.is_canonical ? Py_True : Py_False,
                                                     hash.counts ? Py_True : Py_False);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *file_hashes(const wb_hashes *hashes)
{
    PyObject *list = PyList_New(0);
    uint8_t digest[WB_DIGEST_BYTES];
    for (uint64_t i = 0; list != NULL && wb_hash_file(hashes, i, digest) == WB_OK; i++) {
        PyObject *row = make_digest(digest);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static int append_text(void *list, const char *text, size_t n)
{
    PyObject *piece = PyBytes_FromStringAndSize(text, (Py_ssize_t)n);
    int failed = piece == NULL || PyList_Append(list, piece) < 0;
    Py_XDECREF(piece);
    return failed;
}

/*
 * Returns the text of the digest manifest as a list of bytes objects, or None if no digests of
 * chunks were requested.
 */
static PyObject *make_manifest(core_state *state, const wb_hashes *hashes, unsigned flags)
{
    if (!(flags & WB_HASH_CHUNKS))
        Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    wb_error error;
    if (list != NULL && wb_hash_manifest(hashes, append_text, list, &error) != WB_OK) {
        (void)raise_error(state, &error);
        Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_hashes(core_state *state, const wb_hashes *hashes, unsigned flags)
{
    uint8_t digest[WB_DIGEST_BYTES];
    PyObject *values =
        wb_hash_values(hashes, digest) == WB_OK ? make_digest(digest) : Py_NewRef(Py_None);
    PyObject *files = file_hashes(hashes), *tensors = tensor_hashes(hashes);
    PyObject *manifest = make_manifest(state, hashes, flags);
    if (values != NULL && files != NULL && tensors != NULL && manifest != NULL)
        return Py_BuildValue("NNNN", values, files, tensors, manifest);
    Py_XDECREF(values);
    Py_XDECREF(files);
    Py_XDECREF(tensors);
    Py_XDECREF(manifest);
    return NULL;
}

PyObject *core_hash(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"model", "flags", "progress", NULL};
    core_state *state = PyModule_GetState(module);
    PyObject *model, *progress = NULL;
    unsigned flags = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$IO:hash", names, &model, &flags,
                                     &progress) ||
        !model_check_type(state, model))
        return NULL;
    handle *it = model_use((model_object *)model);
    if (it == NULL)
        return NULL;
    wb_hash_options options = WB_HASH_OPTIONS_INIT;
    wb_hashes *hashes;
    wb_error error;
    watch at;
    watch_begin(&at, progress);
    options.flags = flags;
    options.executor = threads_executor();
    options.progress = &at.progress;
    wb_status status = wb_hash_model(it->model, &options, &hashes, &error);
    watch_end(&at);
    PyObject *result =
        status == WB_OK ? make_hashes(state, hashes, flags) : raise_error(state, &error);
    wb_hashes_free(hashes);
    shared_drop(&it->shared);
    return result;
}
