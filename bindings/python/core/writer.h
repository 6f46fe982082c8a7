/* writer.h: declarations shared by the source files of the type Writer. */
#ifndef WB_PYTHON_WRITER_H
#define WB_PYTHON_WRITER_H

#include "meta_value.h"

typedef struct writer_object {
    PyObject_HEAD core_state *state;
    wb_writer *writer;
    handle *source;   /* the model of wb_writer_options.source, or NULL */
    handle *whole;    /* the model to copy unchanged (wb_writer_set_whole), or NULL */
    wb_progress hook; /* reports to `watch` */
    watch *watch;     /* during a commit */
    /* number of threads that are in shared functions (see writer_enter); -1: one thread is in
     * another function */
    atomic_long users;
} writer_object;

/*
 * Begins a use of the writer. Other threads may use it at the same time only if all of them set
 * `shared_use`. Returns false with an exception if another thread prevents the use.
 */
bool writer_enter(writer_object *self, bool shared_use);

/* Ends a use, and returns `result` (NULL: None), or NULL with the exception for `status`. */
PyObject *writer_leave(writer_object *self, bool shared_use, wb_status status,
                       const wb_error *error, PyObject *result);

/* Declarations (writer_declare.c). */
PyObject *writer_set(PyObject *object, PyObject *args);
PyObject *writer_copy_meta(PyObject *object, PyObject *args);
PyObject *writer_add(PyObject *object, PyObject *args);
PyObject *writer_set_packing(PyObject *object, PyObject *args);
PyObject *writer_set_whole(PyObject *object, PyObject *model);
PyObject *writer_add_sidecar(PyObject *object, PyObject *args);

#endif
