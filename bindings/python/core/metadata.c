/* The metadata of a model. Arrays become lists; arrays of numbers are also available as Array. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* A lookup of a key. The model stays open until entry_leave. */
typedef struct entry {
    model_object *self;
    handle *handle;
    py_text key;
    wb_meta meta;
    wb_status status;
} entry;

static void entry_leave(entry *in)
{
    shared_drop(&in->handle->shared);
    text_drop(&in->key);
}

/* Looks up a key. Releases the GIL, because the first lookup in a model can read sidecar files. */
static wb_status look(const entry *in, uint64_t *index)
{
    wb_status status;
    BEGIN_READ
    status = wb_meta_find(in->handle->model, in->key.bytes, in->key.length, index);
    END_READ
    return status;
}

static bool entry_enter(PyObject *object, PyObject *key, entry *out, uint64_t *index)
{
    *out = (entry){.self = (model_object *)object, .meta = WB_META_INIT};
    if (!text_take(key, &out->key))
        return false;
    out->handle = model_use(out->self);
    if (out->handle == NULL) {
        text_drop(&out->key);
        return false;
    }
    out->status = look(out, index);
    wb_error error;
    if (out->status == WB_OK && wb_meta_at(out->handle->model, *index, &out->meta, &error) != WB_OK)
        (void)raise_error(out->self->state, &error);
    else if (out->status == WB_ERROR_MEMORY)
        (void)PyErr_NoMemory();
    if (!PyErr_Occurred())
        return true;
    entry_leave(out);
    return false;
}

/* ---- descriptions ---- */

PyObject *model_meta_find(PyObject *object, PyObject *key)
{
    entry in;
    uint64_t index;
    if (!entry_enter(object, key, &in, &index))
        return NULL;
    PyObject *result = in.status == WB_OK ? PyLong_FromUnsignedLongLong(index) : Py_NewRef(Py_None);
    entry_leave(&in);
    return result;
}

static PyObject *make_meta(const wb_meta *meta)
{
    PyObject *key = text_make(meta->key, meta->key_len);
    PyObject *file =
        meta->file == WB_NO_FILE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(meta->file);
    if (key == NULL || file == NULL) {
        Py_XDECREF(key);
        Py_XDECREF(file);
        return NULL;
    }
    return Py_BuildValue("NiiIKN", key, (int)meta->type, (int)meta->element, (unsigned)meta->bits,
                         (unsigned long long)meta->count, file);
}

/* meta_at(index): describes an entry; returns None if there is no entry with this index. */
PyObject *model_meta_at(PyObject *object, PyObject *number)
{
    model_object *self = (model_object *)object;
    uint64_t index = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    handle *it = model_use(self);
    if (it == NULL)
        return NULL;
    wb_meta meta = WB_META_INIT;
    wb_error error;
    uint64_t count;
    BEGIN_READ
    count = wb_meta_count(it->model);
    END_READ
    PyObject *result;
    if (index >= count)
        result = Py_NewRef(Py_None);
    else
        result = wb_meta_at(it->model, index, &meta, &error) == WB_OK
                     ? make_meta(&meta)
                     : raise_error(self->state, &error);
    shared_drop(&it->shared);
    return result;
}

/* ---- values ---- */

static PyObject *make_scalar(const entry *in)
{
    const wb_model *model = in->handle->model;
    const char *key = in->key.bytes, *string;
    size_t length = in->key.length, string_length;
    int64_t whole;
    uint64_t natural;
    double real;
    int truth;
    wb_error error;
    wb_status status = WB_ERROR_UNSUPPORTED;
    error.status = status;
    switch (in->meta.type) {
    case WB_META_STRING:
        status = wb_meta_get_string(model, key, length, &string, &string_length, &error);
        return status == WB_OK ? text_make(string, string_length)
                               : raise_error(in->self->state, &error);
    case WB_META_INT:
        status = wb_meta_get_int(model, key, length, &whole, &error);
        return status == WB_OK ? PyLong_FromLongLong(whole) : raise_error(in->self->state, &error);
    case WB_META_UINT:
        status = wb_meta_get_uint(model, key, length, &natural, &error);
        return status == WB_OK ? PyLong_FromUnsignedLongLong(natural)
                               : raise_error(in->self->state, &error);
    case WB_META_FLOAT:
        status = wb_meta_get_float(model, key, length, &real, &error);
        return status == WB_OK ? PyFloat_FromDouble(real) : raise_error(in->self->state, &error);
    case WB_META_BOOL:
        status = wb_meta_get_bool(model, key, length, &truth, &error);
        return status == WB_OK ? PyBool_FromLong(truth) : raise_error(in->self->state, &error);
    default: return raise_status(in->self->state, status, "unknown type of a metadata value");
    }
}

/* Strings and numbers are converted in pieces of this number of elements. */
enum { PIECE = 256 };

/* Elements of a metadata array. Its element type determines which member is used. */
typedef union piece {
    const char *texts[PIECE];
    int64_t wholes[PIECE];
    uint64_t naturals[PIECE];
    double reals[PIECE];
} piece;

static wb_status take_piece(const wb_meta_array *array, uint64_t first, uint64_t count,
                            piece *values, size_t *lengths)
{
    switch (array->element) {
    case WB_META_STRING: return wb_meta_strings(array, first, count, values->texts, lengths);
    case WB_META_UINT: return wb_meta_uints(array, first, count, values->naturals);
    case WB_META_FLOAT: return wb_meta_floats(array, first, count, values->reals);
    default: return wb_meta_ints(array, first, count, values->wholes);
    }
}

static PyObject *make_element(const wb_meta_array *array, const piece *values,
                              const size_t *lengths, uint64_t i)
{
    switch (array->element) {
    case WB_META_STRING: return text_make(values->texts[i], lengths[i]);
    case WB_META_UINT: return PyLong_FromUnsignedLongLong(values->naturals[i]);
    case WB_META_FLOAT: return PyFloat_FromDouble(values->reals[i]);
    case WB_META_BOOL: return PyBool_FromLong(values->wholes[i] != 0);
    default: return PyLong_FromLongLong(values->wholes[i]);
    }
}

static bool append_piece(core_state *state, const wb_meta_array *array, uint64_t first,
                         uint64_t count, PyObject *list)
{
    piece values;
    size_t lengths[PIECE];
    wb_status status = take_piece(array, first, count, &values, lengths);
    if (status != WB_OK) {
        (void)raise_status(state, status, "an array of the metadata cannot be read");
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        PyObject *element = make_element(array, &values, lengths, i);
        if (element == NULL || PyList_SetItem(list, (Py_ssize_t)(first + i), element) < 0)
            return false;
    }
    return true;
}

static PyObject *make_list(core_state *state, const wb_meta_array *array, int depth);

static bool set_nested(core_state *state, const wb_meta_array *array, uint64_t i, PyObject *list,
                       int depth)
{
    wb_meta_array inner = WB_META_ARRAY_INIT;
    if (wb_meta_array_at(array, i, &inner) != WB_OK) {
        (void)raise_status(state, WB_ERROR_FORMAT, "an array of the metadata cannot be read");
        return false;
    }
    PyObject *element = make_list(state, &inner, depth + 1);
    return element != NULL && PyList_SetItem(list, (Py_ssize_t)i, element) == 0;
}

/* Maximum depth of nested arrays. GGUF has no limit, but make_list is recursive. */
enum { DEPTH_MAX = 64 };

static PyObject *make_list(core_state *state, const wb_meta_array *array, int depth)
{
    if (depth > DEPTH_MAX)
        return raise_status(state, WB_ERROR_LIMIT, "arrays of the metadata are nested too deeply");
    if (array->count > PY_SSIZE_T_MAX)
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)array->count);
    bool done = list != NULL;
    bool nested = array->element == WB_META_ARRAY;
    uint64_t step = nested ? 1 : PIECE;
    for (uint64_t i = 0; done && i < array->count; i += step) {
        uint64_t left = array->count - i;
        done = nested ? set_nested(state, array, i, list, depth)
                      : append_piece(state, array, i, left < step ? left : step, list);
    }
    if (!done)
        Py_CLEAR(list);
    return list;
}

static bool take_array(const entry *in, wb_meta_array *array)
{
    wb_error error;
    *array = (wb_meta_array)WB_META_ARRAY_INIT;
    if (wb_meta_get_array(in->handle->model, in->key.bytes, in->key.length, WB_META_ANY, array,
                          &error) == WB_OK)
        return true;
    (void)raise_error(in->self->state, &error);
    return false;
}

PyObject *model_meta_get(PyObject *object, PyObject *key)
{
    entry in;
    uint64_t index;
    if (!entry_enter(object, key, &in, &index))
        return NULL;
    PyObject *result = NULL;
    wb_meta_array array;
    if (in.status != WB_OK)
        PyErr_SetObject(PyExc_KeyError, key);
    else if (in.meta.type != WB_META_ARRAY)
        result = make_scalar(&in);
    else if (take_array(&in, &array))
        result = make_list(in.self->state, &array, 0);
    entry_leave(&in);
    return result;
}

/* ---- arrays of numbers ---- */

static int32_t number_dtype(const wb_meta_array *array)
{
    static const struct {
        wb_meta_type element;
        uint32_t bits;
        int32_t dtype;
    } rows[] = {
        {WB_META_INT, 8, WB_DTYPE_I8},     {WB_META_INT, 16, WB_DTYPE_I16},
        {WB_META_INT, 32, WB_DTYPE_I32},   {WB_META_INT, 64, WB_DTYPE_I64},
        {WB_META_UINT, 8, WB_DTYPE_U8},    {WB_META_UINT, 16, WB_DTYPE_U16},
        {WB_META_UINT, 32, WB_DTYPE_U32},  {WB_META_UINT, 64, WB_DTYPE_U64},
        {WB_META_FLOAT, 32, WB_DTYPE_F32}, {WB_META_FLOAT, 64, WB_DTYPE_F64},
        {WB_META_BOOL, 8, WB_DTYPE_BOOL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].element == array->element && rows[i].bits == array->bits)
            return rows[i].dtype;
    }
    return -1;
}

/* Copies the elements, because they can be unaligned in the file. */
static PyObject *make_array(const entry *in, const wb_meta_array *array)
{
    int32_t dtype = number_dtype(array);
    if (dtype < 0 || array->data == NULL) {
        PyErr_SetString(PyExc_TypeError, "the value is not an array of numbers");
        return NULL;
    }
    uint64_t bytes = array->count * (array->bits / 8);
    storage *memory = storage_new(bytes);
    if (memory == NULL)
        return NULL;
    memcpy(memory->data, array->data, (size_t)bytes);
    Py_ssize_t length = (Py_ssize_t)array->count;
    return (PyObject *)array_make(in->self->state, memory, dtype, &length, 1);
}

PyObject *model_meta_array(PyObject *object, PyObject *key)
{
    entry in;
    uint64_t index;
    if (!entry_enter(object, key, &in, &index))
        return NULL;
    PyObject *result = NULL;
    wb_meta_array array;
    if (in.status != WB_OK)
        PyErr_SetObject(PyExc_KeyError, key);
    else if (in.meta.type != WB_META_ARRAY)
        PyErr_SetString(PyExc_TypeError, "the value is not an array");
    else if (take_array(&in, &array))
        result = make_array(&in, &array);
    entry_leave(&in);
    return result;
}
