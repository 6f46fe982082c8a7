/* The type Provider: weights in buffers on a device. */
#include "provider.h"

#include <stdlib.h>

/* ---- lifetime ---- */

static supply *provider_use(provider_object *self)
{
    supply *it;
    BEGIN_LOCK(self);
    it = self->supply;
    if (it != NULL)
        shared_keep(&it->shared);
    END_LOCK();
    if (it == NULL)
        (void)raise_closed(self->state, "provider");
    return it;
}

static PyObject *provider_close(PyObject *object, PyObject *unused)
{
    (void)unused;
    provider_object *self = (provider_object *)object;
    supply *it;
    BEGIN_LOCK(self);
    it = self->supply;
    self->supply = NULL;
    END_LOCK();
    shared_drop(it == NULL ? NULL : &it->shared);
    Py_RETURN_NONE;
}

static void provider_dealloc(PyObject *object)
{
    provider_object *self = (provider_object *)object;
    shared_drop(self->supply == NULL ? NULL : &self->supply->shared);
    object_free(object);
}

/* ---- buffers ---- */

/* get(name, axis, rank, of): returns part `rank` of `of` parts along `axis`, or the whole weight
 * if `of` is 0. The name "a+b" requests the weights a and b fused into one. */
static PyObject *provider_get(PyObject *object, PyObject *args)
{
    provider_object *self = (provider_object *)object;
    PyObject *name, *result = NULL;
    unsigned axis, rank, of;
    py_text key;
    if (!PyArg_ParseTuple(args, "OIII:get", &name, &axis, &rank, &of) || !text_take(name, &key))
        return NULL;
    supply *it = provider_use(self);
    lent *buffer = it == NULL ? NULL : lent_new(it);
    if (buffer != NULL) {
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            of == 0 ? wb_provider_get(it->provider, key.bytes, key.length, &buffer->buffer, &error)
                    : wb_provider_slice(it->provider, key.bytes, key.length, axis, rank, of,
                                        &buffer->buffer, &error);
        Py_END_ALLOW_THREADS if (status == WB_OK)
        {
            result = lent_describe(self->state, buffer);
        }
        else
        {
            (void)raise_error(self->state, &error);
            shared_drop(&buffer->shared);
        }
    }
    shared_drop(it == NULL ? NULL : &it->shared);
    text_drop(&key);
    return result;
}

/* ---- lists of names ---- */

typedef struct name_list {
    py_text *texts;
    const char **names;
    size_t *lengths;
    size_t count;
} name_list;

static void names_drop(name_list *self)
{
    for (size_t i = 0; self->texts != NULL && i < self->count; i++)
        text_drop(&self->texts[i]);
    free(self->texts);
    free(self->names);
    free(self->lengths);
}

static bool names_take(PyObject *tuple, name_list *out)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    *out = (name_list){0};
    if (count < 0)
        return false;
    out->texts = calloc((size_t)count + 1, sizeof *out->texts);
    out->names = calloc((size_t)count + 1, sizeof *out->names);
    out->lengths = calloc((size_t)count + 1, sizeof *out->lengths);
    if (out->texts == NULL || out->names == NULL || out->lengths == NULL) {
        (void)PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!text_take(PyTuple_GetItem(tuple, i), &out->texts[i]))
            return false;
        out->count++;
        out->names[i] = out->texts[i].bytes;
        out->lengths[i] = out->texts[i].length;
    }
    return true;
}

/* fuse(names, free_parts) */
static PyObject *provider_fuse(PyObject *object, PyObject *args)
{
    provider_object *self = (provider_object *)object;
    PyObject *tuple, *result = NULL;
    int free_parts;
    name_list list;
    if (!PyArg_ParseTuple(args, "O!p:fuse", &PyTuple_Type, &tuple, &free_parts))
        return NULL;
    supply *it = names_take(tuple, &list) ? provider_use(self) : NULL;
    lent *buffer = it == NULL ? NULL : lent_new(it);
    if (buffer != NULL) {
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status =
            wb_provider_fuse(it->provider, list.names, list.lengths, list.count,
                             free_parts ? WB_FUSE_FREE_PARTS : 0, &buffer->buffer, &error);
        Py_END_ALLOW_THREADS if (status == WB_OK)
        {
            result = lent_describe(self->state, buffer);
        }
        else
        {
            (void)raise_error(self->state, &error);
            shared_drop(&buffer->shared);
        }
    }
    shared_drop(it == NULL ? NULL : &it->shared);
    names_drop(&list);
    return result;
}

/* prefetch(names): `names` is None for all tensors that have a canonical name. */
static PyObject *provider_prefetch(PyObject *object, PyObject *tuple)
{
    provider_object *self = (provider_object *)object;
    name_list list = {0};
    bool all = tuple == Py_None, done = false;
    if (!all && !PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "prefetch takes a tuple of names, or None");
        return NULL;
    }
    supply *it = all || names_take(tuple, &list) ? provider_use(self) : NULL;
    if (it != NULL) {
        wb_error error;
        wb_status status;
        Py_BEGIN_ALLOW_THREADS status = wb_provider_prefetch(
            it->provider, all ? NULL : list.names, all ? NULL : list.lengths, list.count, &error);
        Py_END_ALLOW_THREADS done = status == WB_OK;
        if (!done)
            (void)raise_error(self->state, &error);
        shared_drop(&it->shared);
    }
    names_drop(&list);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- questions ---- */

static PyObject *provider_has(PyObject *object, PyObject *name)
{
    py_text key;
    if (!text_take(name, &key))
        return NULL;
    supply *it = provider_use((provider_object *)object);
    PyObject *result =
        it == NULL ? NULL : PyBool_FromLong(wb_provider_has(it->provider, key.bytes, key.length));
    shared_drop(it == NULL ? NULL : &it->shared);
    text_drop(&key);
    return result;
}

static PyObject *provider_trim(PyObject *object, PyObject *unused)
{
    (void)unused;
    supply *it = provider_use((provider_object *)object);
    if (it == NULL)
        return NULL;
    wb_provider_trim(it->provider);
    shared_drop(&it->shared);
    Py_RETURN_NONE;
}

static PyObject *provider_stats(PyObject *object, PyObject *unused)
{
    (void)unused;
    provider_object *self = (provider_object *)object;
    supply *it = provider_use(self);
    if (it == NULL)
        return NULL;
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    wb_error error;
    wb_status status = wb_provider_stats(it->provider, &stats, &error);
    shared_drop(&it->shared);
    if (status != WB_OK)
        return raise_error(self->state, &error);
#define FIELD(name) #name, (unsigned long long)stats.name
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsKsKsKsK}", FIELD(buffers), FIELD(bytes),
                         FIELD(peak_bytes), FIELD(budget), FIELD(borrowed), FIELD(in_use),
                         FIELD(hits), FIELD(loads), FIELD(shared), FIELD(loaded_bytes),
                         FIELD(evictions), FIELD(overflowed), FIELD(underflowed));
#undef FIELD
}

static PyMethodDef methods[] = {
    {"close", provider_close, METH_NOARGS, "Close the provider. Buffers in use stay valid."},
    {"get_fields", provider_get, METH_VARARGS, "Return the members of wb_buffer."},
    {"fuse_fields", provider_fuse, METH_VARARGS, "Return the members of wb_buffer."},
    {"prefetch_names", provider_prefetch, METH_O, "Load tensors into the cache."},
    {"has", provider_has, METH_O, "Return whether the weights exist."},
    {"trim", provider_trim, METH_NOARGS, "Free all cached buffers that are not in use."},
    {"stats", provider_stats, METH_NOARGS, "Return figures of the cache as a dict."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, provider_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "weighbridge._core.Provider",
    .basicsize = sizeof(provider_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int core_add_provider(PyObject *module, core_state *state)
{
    state->provider = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->provider == NULL ? -1 : PyModule_AddType(module, state->provider);
}
