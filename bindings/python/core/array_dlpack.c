/*
 * Exports arrays with DLPack 1.1 (https://dmlc.github.io/dlpack/latest/c_api.html). The structs
 * below are the ABI of that specification. A capsule holds a reference to the storage, which is
 * counted atomically, so any thread can release the capsule, with or without the GIL.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum {
    DL_MAJOR = 1,
    DL_MINOR = 1,
    DL_READ_ONLY = 1, /* flags */
    DL_IS_COPIED = 2,
    DL_CPU = 1, /* device types */
    DL_INT = 0, /* type codes */
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
    DL_E4M3FN = 10,
    DL_E4M3FNUZ = 11,
    DL_E5M2 = 12,
    DL_E5M2FNUZ = 13,
    DL_E8M0FNU = 14,
    DL_E2M3FN = 15,
    DL_E3M2FN = 16,
    DL_E2M1FN = 17
};

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* Memory of an exported array: the DLPack struct of the old or the new version, followed by the
 * shape and the strides. */
typedef struct export
{
    union {
        dl_managed old;
        dl_versioned versioned;
    } is;
    storage *storage;
    int64_t lengths[];
}
export;

static const struct dl_type {
    int32_t dtype;
    uint8_t code, bits;
} dl_types[] = {
    {WB_DTYPE_F16, DL_FLOAT, 16},
    {WB_DTYPE_F32, DL_FLOAT, 32},
    {WB_DTYPE_F64, DL_FLOAT, 64},
    {WB_DTYPE_BF16, DL_BFLOAT, 16},
    {WB_DTYPE_I8, DL_INT, 8},
    {WB_DTYPE_I16, DL_INT, 16},
    {WB_DTYPE_I32, DL_INT, 32},
    {WB_DTYPE_I64, DL_INT, 64},
    {WB_DTYPE_U8, DL_UINT, 8},
    {WB_DTYPE_U16, DL_UINT, 16},
    {WB_DTYPE_U32, DL_UINT, 32},
    {WB_DTYPE_U64, DL_UINT, 64},
    {WB_DTYPE_BOOL, DL_BOOL, 8},
    {WB_DTYPE_C64, DL_COMPLEX, 64},
    {WB_DTYPE_F8_E4M3, DL_E4M3FN, 8},
    {WB_DTYPE_F8_E5M2, DL_E5M2, 8},
    {WB_DTYPE_F8_E8M0, DL_E8M0FNU, 8},
    {WB_DTYPE_F8_E4M3FNUZ, DL_E4M3FNUZ, 8},
    {WB_DTYPE_F8_E5M2FNUZ, DL_E5M2FNUZ, 8},
    {WB_DTYPE_F6_E2M3, DL_E2M3FN, 6},
    {WB_DTYPE_F6_E3M2, DL_E3M2FN, 6},
    {WB_DTYPE_F4, DL_E2M1FN, 4},
};

static const struct dl_type *type_of(int32_t dtype)
{
    for (size_t i = 0; i < sizeof dl_types / sizeof *dl_types; i++) {
        if (dl_types[i].dtype == dtype)
            return &dl_types[i];
    }
    PyErr_SetString(PyExc_BufferError, "DLPack has no type for this dtype");
    return NULL;
}

/* ---- deleters ---- */

static void release(export *it)
{
    shared_drop(&it->storage->shared);
    free(it);
}

static void delete_old(dl_managed *self)
{
    release(self->manager);
}

static void delete_versioned(dl_versioned *self)
{
    release(self->manager);
}

/* Frees the export if no consumer took it. A consumer renames the capsule and then calls the
 * deleter itself. */
static void capsule_destroy(PyObject *capsule)
{
    static const char *const names[] = {"dltensor", "dltensor_versioned"};
    for (size_t i = 0; i < 2; i++) {
        if (!PyCapsule_IsValid(capsule, names[i]))
            continue;
        void *pointer = PyCapsule_GetPointer(capsule, names[i]);
        if (i == 0)
            delete_old(pointer);
        else
            delete_versioned(pointer);
        return;
    }
}

/* ---- export ---- */

typedef struct wish {
    bool versioned;
    bool must_copy, may_copy;
} wish;

static storage *copy_of(const array_object *self)
{
    storage *copy = storage_new(self->bytes);
    if (copy != NULL) {
        Py_BEGIN_ALLOW_THREADS memcpy(copy->data, self->data, (size_t)self->bytes);
        Py_END_ALLOW_THREADS
    }
    return copy;
}

static void describe(const array_object *self, const struct dl_type *type, void *data,
                     int64_t *lengths, dl_tensor *out)
{
    *out = (dl_tensor){.data = data,
                       .device_type = self->device_type,
                       .device_id = self->device_id,
                       .ndim = self->rank,
                       .code = type->code,
                       .bits = type->bits,
                       .lanes = 1,
                       .shape = lengths,
                       .strides = lengths + self->rank};
    int64_t stride = 1;
    for (int i = self->rank - 1; i >= 0; i--) {
        lengths[i] = self->shape[i];
        lengths[self->rank + i] = stride;
        stride *= self->shape[i];
    }
}

/* Makes the capsule. Takes over the caller's reference to `memory`, even on failure. */
static PyObject *make_capsule(const array_object *self, const struct dl_type *type, storage *memory,
                              void *data, const wish *how, bool copied)
{
    size_t lengths = sizeof(int64_t) * 2 * (size_t)self->rank;
    export *it = calloc(1, sizeof *it + lengths);
    if (it == NULL) {
        shared_drop(&memory->shared);
        return PyErr_NoMemory();
    }
    it->storage = memory;
    if (how->versioned) {
        it->is.versioned = (dl_versioned){.major = DL_MAJOR,
                                          .minor = DL_MINOR,
                                          .manager = it,
                                          .deleter = delete_versioned,
                                          .flags = copied           ? DL_IS_COPIED
                                                   : self->writable ? 0
                                                                    : DL_READ_ONLY};
        describe(self, type, data, it->lengths, &it->is.versioned.tensor);
    } else {
        it->is.old = (dl_managed){.manager = it, .deleter = delete_old};
        describe(self, type, data, it->lengths, &it->is.old.tensor);
    }
    PyObject *capsule =
        PyCapsule_New(&it->is, how->versioned ? "dltensor_versioned" : "dltensor", capsule_destroy);
    if (capsule == NULL)
        release(it);
    return capsule;
}

/* Exports an array. A capsule for consumers before DLPack 1.0 cannot mark memory as read-only, so a
 * read-only array is copied for it. */
static PyObject *export_array(const array_object *self, const wish *how)
{
    const struct dl_type *type = type_of(self->dtype);
    if (type == NULL)
        return NULL;
    bool copy = how->must_copy || (!how->versioned && !self->writable);
    if (copy && !how->may_copy)
        return PyErr_Format(
            PyExc_BufferError,
            "the array is read-only, and a consumer before DLPack 1.0 needs a copy");
    if (copy && self->device_type != DL_CPU)
        return PyErr_Format(PyExc_BufferError, "an array on a device is not copied");
    if (copy) {
        storage *memory = copy_of(self);
        return memory == NULL ? NULL : make_capsule(self, type, memory, memory->data, how, true);
    }
    shared_keep(&self->storage->shared);
    return make_capsule(self, type, self->storage, self->data, how, false);
}

/* Checks that the device that the consumer requests is the device of the array. */
static bool check_device(const array_object *self, PyObject *device)
{
    int type, number;
    if (device == NULL || device == Py_None)
        return true;
    if (!PyArg_ParseTuple(device, "ii", &type, &number))
        return false;
    if (type == self->device_type && number == self->device_id)
        return true;
    PyErr_SetString(PyExc_BufferError, "the array is on another device");
    return false;
}

static bool take_version(PyObject *version, wish *how)
{
    int major, minor;
    if (version == NULL || version == Py_None)
        return true;
    if (!PyArg_ParseTuple(version, "ii", &major, &minor))
        return false;
    how->versioned = major >= DL_MAJOR;
    return true;
}

PyObject *array_dlpack(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    array_object *self = (array_object *)object;
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    wish how = {.may_copy = true};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version,
                                     &device, &copy) ||
        !take_version(version, &how) || !check_device(self, device))
        return NULL;
    if (copy != NULL && copy != Py_None) {
        int truth = PyObject_IsTrue(copy);
        if (truth < 0)
            return NULL;
        how.must_copy = truth;
        how.may_copy = truth;
    }
    /* Arrays on a device are created after their data was copied there, so any stream may use
     * them. */
    return export_array(self, &how);
}

PyObject *array_dlpack_device(PyObject *object, PyObject *unused)
{
    (void)unused;
    array_object *self = (array_object *)object;
    return Py_BuildValue("ii", self->device_type, self->device_id);
}
