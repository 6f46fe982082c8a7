/*
 * compat.h: includes Python.h, and declares what the limited API of Python 3.10 lacks.
 *
 * The module uses the limited API of Python 3.10, so that one binary runs with 3.10 and all later
 * versions. Free-threaded builds of Python have no limited API; for them the module is compiled
 * with the complete API of one version.
 */
#ifndef WB_PYTHON_COMPAT_H
#define WB_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/*
 * Declares the buffer protocol, which the limited API includes only since Python 3.11. Python 3.10
 * uses the same layout of the struct and the same slot numbers.
 */
#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030B0000
#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
typedef struct bufferinfo {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#endif

/*
 * BEGIN_LOCK and END_LOCK enclose code that uses the struct of an object, so that other threads do
 * not change the struct. In builds with a GIL they do nothing, because the GIL already excludes
 * other threads. The enclosed code must not call Python.
 */
#ifdef Py_GIL_DISABLED
#define BEGIN_LOCK(object) Py_BEGIN_CRITICAL_SECTION(object)
#define END_LOCK() Py_END_CRITICAL_SECTION()
#else
#define BEGIN_LOCK(object) {
#define END_LOCK() }
#endif

/* Flags of the module definition that older headers lack. */
#ifndef Py_mod_multiple_interpreters
#define Py_mod_multiple_interpreters 3
#define Py_MOD_PER_INTERPRETER_GIL_SUPPORTED ((void *)2)
#endif
#ifndef Py_mod_gil
#define Py_mod_gil 4
#define Py_MOD_GIL_NOT_USED ((void *)1)
#endif

#endif
