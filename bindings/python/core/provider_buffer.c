/* Buffers of a provider, as tuples and arrays. */
#include "provider.h"

#include <stdlib.h>

static void lent_destroy(shared *self)
{
    lent *it = (lent *)self;
    wb_provider_release(it->supply->provider, &it->buffer);
    shared_drop(&it->supply->shared);
    free(it);
}

/* Returns the dtype of the array for a section (all values or all scales of a buffer). Quantized
 * blocks are exported as bytes (U8). */
static int32_t section_dtype(const wb_section *section)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    bool plain = wb_dtype_describe(section->dtype, &info) == WB_OK && info.block_size == 1 &&
                 info.block_bits % 8 == 0;
    return plain ? section->dtype : WB_DTYPE_U8;
}

/* Makes the array of a section. If the buffer is a single section of a plain dtype, the array
 * has the shape of the weight; otherwise it has one dimension. */
static PyObject *make_section(core_state *state, lent *buffer, const wb_section *section)
{
    const wb_buffer *from = &buffer->buffer;
    const supply *it = buffer->supply;
    bool host = from->contents != NULL;
    if (!host && it->device_type == 0)
        Py_RETURN_NONE; /* OpenCL memory has no address */
    char *base = host ? (char *)(uintptr_t)from->contents : from->handle;
    int32_t dtype = section_dtype(section);
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    Py_ssize_t shape[RANK_MAX];
    int rank = 1;
    if (wb_dtype_describe(dtype, &info) == WB_OK)
        shape[0] = (Py_ssize_t)(section->bytes / (info.block_bits / 8));
    if (from->sections == 1 && dtype == section->dtype && from->rank <= RANK_MAX) {
        rank = (int)from->rank;
        for (int i = 0; i < rank; i++)
            shape[i] = (Py_ssize_t)from->shape[i];
    }
    storage *memory = storage_of(&buffer->shared, base + section->offset);
    array_object *array = memory == NULL ? NULL : array_make(state, memory, dtype, shape, rank);
    if (array != NULL && !host) {
        array->writable = true; /* consumers of DLPack before 1.0 would need a copy of a
                                 * read-only array */
        array->device_type = it->device_type;
        array->device_id = it->device_id;
    }
    return (PyObject *)array;
}

static PyObject *make_sections(core_state *state, lent *buffer)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < buffer->buffer.sections; i++) {
        const wb_section *section = &buffer->buffer.section[i];
        PyObject *array = make_section(state, buffer, section);
        PyObject *row = array == NULL
                            ? NULL
                            : Py_BuildValue("ssKKN", section->role, wb_dtype_name(section->dtype),
                                            (unsigned long long)section->offset,
                                            (unsigned long long)section->bytes, array);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *lent_describe(core_state *state, lent *buffer)
{
    const wb_buffer *from = &buffer->buffer;
    PyObject *shape = shape_make(from->shape, from->rank);
    PyObject *parts = shape_make(from->part_rows, from->part_rows == NULL ? 0 : from->parts);
    PyObject *sections = make_sections(state, buffer);
    PyObject *result = NULL;
    if (shape != NULL && parts != NULL && sections != NULL)
        result = Py_BuildValue(
            "OOiIIIKOKKO", shape, sections, (int)from->dtype, (unsigned)from->bits,
            (unsigned)from->group_size, (unsigned)from->global, (unsigned long long)from->bytes,
            parts, (unsigned long long)from->overflowed, (unsigned long long)from->underflowed,
            from->borrowed ? Py_True : Py_False);
    Py_XDECREF(shape);
    Py_XDECREF(parts);
    Py_XDECREF(sections);
    shared_drop(&buffer->shared);
    return result;
}

lent *lent_new(supply *from)
{
    lent *it = calloc(1, sizeof *it);
    if (it == NULL) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    shared_init(&it->shared, lent_destroy);
    shared_keep(&from->shared);
    it->supply = from;
    it->buffer = (wb_buffer)WB_BUFFER_INIT;
    return it;
}
