/* Converts an index expression of Python to axes of the library, with the rules of numpy. */
#include "core.h"

/* State while an index expression is converted. `next` is the dimension that the next index applies
 * to. */
typedef struct cursor {
    const uint64_t *shape;
    uint32_t rank;
    uint32_t next;
    selection *out;
} cursor;

static bool fail_rank(const cursor *at)
{
    PyErr_Format(PyExc_IndexError, "too many indices: the tensor has %u dimensions",
                 (unsigned)at->rank);
    return false;
}

static bool add_result(cursor *at, Py_ssize_t length)
{
    if (at->out->result_rank >= RANK_MAX) {
        PyErr_Format(PyExc_IndexError, "the result has more than %d dimensions", RANK_MAX);
        return false;
    }
    at->out->shape[at->out->result_rank++] = length;
    return true;
}

static bool add_slice(cursor *at, PyObject *slice)
{
    if (at->next >= at->rank)
        return fail_rank(at);
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return false;
    Py_ssize_t length = (Py_ssize_t)at->shape[at->next];
    Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
    at->out->axes[at->next++] = (wb_axis){
        .start = count == 0 ? 0 : (uint64_t)start, .count = (uint64_t)count, .step = step};
    return add_result(at, count);
}

static bool add_all(cursor *at)
{
    uint64_t length = at->shape[at->next];
    at->out->axes[at->next++] = (wb_axis){.count = length, .step = 1};
    return add_result(at, (Py_ssize_t)length);
}

static bool add_number(cursor *at, PyObject *number)
{
    if (at->next >= at->rank)
        return fail_rank(at);
    Py_ssize_t index = PyNumber_AsSsize_t(number, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
        return false;
    Py_ssize_t length = (Py_ssize_t)at->shape[at->next];
    Py_ssize_t place = index < 0 ? index + length : index;
    if (place < 0 || place >= length) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %u with size %zd",
                     index, (unsigned)at->next, length);
        return false;
    }
    at->out->axes[at->next++] =
        (wb_axis){.start = (uint64_t)place, .count = 1, .step = 1, .drop = 1};
    return true;
}

/* Adds the dimensions that an ellipsis stands for: all remaining ones except the last `later`,
 * which the indices after the ellipsis use. */
static bool add_ellipsis(cursor *at, uint32_t later)
{
    if (at->next + later > at->rank)
        return fail_rank(at);
    while (at->next + later < at->rank) {
        if (!add_all(at))
            return false;
    }
    return true;
}

/* Returns the number of dimensions that the items from index `first` on use; -1 with an exception
 * for a second ellipsis. */
static int count_later(PyObject *tuple, Py_ssize_t first)
{
    int later = 0;
    for (Py_ssize_t i = first; i < PyTuple_Size(tuple); i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (item == Py_Ellipsis) {
            PyErr_SetString(PyExc_IndexError, "an index can only have a single ellipsis ('...')");
            return -1;
        }
        later += item != Py_None;
    }
    return later;
}

static bool add_item(cursor *at, PyObject *tuple, Py_ssize_t i)
{
    PyObject *item = PyTuple_GetItem(tuple, i);
    if (item == Py_None)
        return add_result(at, 1);
    if (PySlice_Check(item))
        return add_slice(at, item);
    if (item == Py_Ellipsis) {
        int later = count_later(tuple, i + 1);
        return later >= 0 && add_ellipsis(at, (uint32_t)later);
    }
    if (PyIndex_Check(item) && !PyBool_Check(item))
        return add_number(at, item);
    PyErr_Format(PyExc_TypeError,
                 "an index is an integer, a slice, None or an ellipsis, not %R; read the tensor "
                 "with numpy() to use arrays as indices",
                 (PyObject *)Py_TYPE(item));
    return false;
}

bool selection_take(PyObject *key, const uint64_t *shape, uint32_t rank, selection *out)
{
    *out = (selection){.rank = (int)rank};
    cursor at = {.shape = shape, .rank = rank, .out = out};
    if (rank > RANK_MAX) {
        PyErr_Format(PyExc_IndexError,
                     "the tensor has %u dimensions, and at most %d can be indexed", (unsigned)rank,
                     RANK_MAX);
        return false;
    }
    PyObject *tuple = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    bool done = tuple != NULL;
    for (Py_ssize_t i = 0; done && i < PyTuple_Size(tuple); i++)
        done = add_item(&at, tuple, i);
    Py_XDECREF(tuple);
    return done && add_ellipsis(&at, 0);
}
