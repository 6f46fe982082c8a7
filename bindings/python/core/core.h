/*
 * core.h: the module weighbridge._core, which makes the functions of weighbridge.h available to
 * Python. It converts arguments and results, and manages lifetimes. Everything that can be written
 * in Python is in the package weighbridge, which uses this module.
 *
 * Lifetimes  A Model owns a `handle`, which owns the wb_model. Whoever uses the wb_model (a call in
 *            another thread, an Array that shows mapped bytes) holds a use of the handle. Closing
 *            the Model gives up only the use of the Model, so that the memory of a view stays
 *            valid. Uses are counted by atomic counters of C, not by Python, because consumers of
 *            DLPack release views without the GIL.
 * Threads    The GIL is released around calls that read, write or compute. All types work in
 *            free-threaded builds: their structs do not change after creation, except the handles
 *            of closeable objects, which BEGIN_LOCK protects.
 * Errors     A failed call of the library becomes an exception of weighbridge.errors.
 * Strings    Names in files may hold any bytes. They become str with the error handler
 *            "surrogateescape", and back.
 */
#ifndef WB_PYTHON_CORE_H
#define WB_PYTHON_CORE_H

#include "compat.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <weighbridge.h>

/* ---- the module (module.c) ---- */

typedef struct core_state {
    PyObject *make_error; /* weighbridge.errors.make */
    PyTypeObject *model;
    PyTypeObject *tensor;
    PyTypeObject *array;
    PyTypeObject *names;
    PyTypeObject *conversion;
    PyTypeObject *writer;
    PyTypeObject *provider;
} core_state;

/* Each function adds the types of its file to the module. They return 0, or -1 with an exception. */
int core_add_model(PyObject *module, core_state *state);
int core_add_tensor(PyObject *module, core_state *state);
int core_add_array(PyObject *module, core_state *state);
int core_add_names(PyObject *module, core_state *state);
int core_add_conversion(PyObject *module, core_state *state);
int core_add_writer(PyObject *module, core_state *state);
int core_add_provider(PyObject *module, core_state *state);

/* ---- uses of objects of C (shared.c) ---- */

/* The first member of a struct that several Python objects use. */
typedef struct shared {
    atomic_size_t uses;
    void (*destroy)(struct shared *self); /* called without the GIL or with it */
} shared;

void shared_init(shared *self, void (*destroy)(shared *self)); /* with one use */
void shared_keep(shared *self);
void shared_drop(shared *self); /* NULL is ignored */

/* ---- fork (gate.c) ---- */

/*
 * A process forks only while no thread is between gate_enter and gate_leave, so that no lock of the
 * library is held in the child by a thread that does not exist there. Calls that read enter the
 * gate. Calls that take long, and may call Python, do not: see docs/dev/python.md. gate_open
 * registers the handlers of fork, once in a process.
 */
int gate_open(void);
void gate_enter(void);
void gate_leave(void);

/* Around a call of the library that reads: releases the GIL and enters the gate. */
#define BEGIN_READ Py_BEGIN_ALLOW_THREADS gate_enter();
#define END_READ                                                                                   \
    gate_leave();                                                                                  \
    Py_END_ALLOW_THREADS

/* ---- threads and progress (threads.c, progress.c) ---- */

const wb_executor *threads_executor(void); /* static */

/* A long call, during which the GIL is released except for reports of progress. */
typedef struct watch {
    wb_progress progress; /* for the library */
    PyObject *callback;   /* callback(done, total); NULL or None: none */
    PyThreadState *state;
    pthread_t thread;
    int64_t last;  /* time of the last report */
    bool finished; /* the end has been reported */
} watch;

/* Release the GIL, and take it again. `callback` is borrowed until watch_end. */
void watch_begin(watch *self, PyObject *callback);
void watch_end(watch *self);

/* ---- errors (error.c) ---- */

/* Raises the exception for a failed call. Returns NULL. */
PyObject *raise_error(core_state *state, const wb_error *error);

/* Raises the exception for a status that has no wb_error. Returns NULL. */
PyObject *raise_status(core_state *state, wb_status status, const char *message);

/* Raises weighbridge.errors.ClosedError: the object is closed. Returns NULL. */
PyObject *raise_closed(core_state *state, const char *what);

/* ---- arguments and results (values.c) ---- */

/* Allocates an object of a type of this module or a subtype: all members are 0. NULL on failure. */
PyObject *object_new(PyTypeObject *type);
/* Frees an object whose members are released. */
void object_free(PyObject *object);

/* A name or key that Python passes. `bytes` is borrowed until text_drop. */
typedef struct py_text {
    const char *bytes;
    size_t length;
    PyObject *encoded; /* owner of the bytes, or NULL if the str itself is */
} py_text;

bool text_take(PyObject *object, py_text *out); /* false: with an exception */
void text_drop(py_text *self);

PyObject *text_make(const char *bytes, size_t length);
PyObject *text_make_z(const char *bytes); /* NULL gives None */

PyObject *file_make(const wb_file *file);                   /* a tuple (model.c) */
PyObject *shape_make(const uint64_t *shape, uint32_t rank); /* a tuple */

/* ---- models (model.c) ---- */

/* An open wb_model, and the memory that it reads if it was opened from memory. */
typedef struct handle {
    shared shared;
    wb_model *model;
    Py_buffer bytes;
    bool from_memory;
    bool writable; /* mapped bytes may be changed */
} handle;

typedef struct model_object {
    PyObject_HEAD core_state *state;
    handle *handle; /* NULL: closed */
    PyTypeObject *tensor_type;
} model_object;

/* The function `destroy` of a handle: closes the model. */
void handle_destroy(shared *self);

/* Returns the handle with one more use, or NULL with an exception if the model is closed. */
handle *model_use(model_object *self);

/* Functions of the module. */
PyObject *core_open(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_get_threads(PyObject *module, PyObject *unused);
PyObject *core_set_threads(PyObject *module, PyObject *number);
PyObject *core_verify(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_hash(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_diff(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_plan(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_edit(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_edit_recover(PyObject *module, PyObject *path);
PyObject *core_quantize(PyObject *module, PyObject *args);
PyObject *core_dequantize(PyObject *module, PyObject *args);
PyObject *core_mlx_quantize(PyObject *module, PyObject *args);
PyObject *core_mlx_dequantize(PyObject *module, PyObject *args);
PyObject *core_writer(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_provider(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_store_list(PyObject *module, PyObject *store);

/* Returns whether `object` is a Model; false with TypeError if not. */
bool model_check_type(core_state *state, PyObject *object);

/* A converter of PyArg_Parse for paths: bytes, or NULL for None. */
int path_or_none(PyObject *object, void *out);

/* Returns an iterator over all names of a model. Takes the use of `model`. */
PyObject *names_make(core_state *state, handle *model, wb_names_kind kind);

/* Methods of models that are in files of their own. */
/* Returns a list with one tuple for each finding (config.c). */
PyObject *findings_make(const wb_findings *findings);

PyObject *model_config(PyObject *self, PyObject *unused);
PyObject *model_findings(PyObject *self, PyObject *unused);
PyObject *model_meta_at(PyObject *self, PyObject *index);
PyObject *model_meta_find(PyObject *self, PyObject *key);
PyObject *model_meta_get(PyObject *self, PyObject *key);
PyObject *model_meta_array(PyObject *self, PyObject *key);

/* ---- tensors (tensor.c) ---- */

PyObject *tensor_make(model_object *model, uint64_t index);

/* The elements of a tensor that an index expression of Python selects (selection.c). */
enum { RANK_MAX = 64 };
typedef struct selection {
    wb_axis axes[RANK_MAX];
    Py_ssize_t shape[RANK_MAX]; /* of the result, with new axes */
    int rank;                   /* number of `axes` */
    int result_rank;            /* number of dimensions in `shape` */
} selection;

bool selection_take(PyObject *key, const uint64_t *shape, uint32_t rank, selection *out);

/* ---- arrays (array.c) ---- */

/* Memory of an array, and its owner. */
typedef struct storage {
    shared shared;
    void *data;
    shared *owner; /* handle or buffer whose memory `data` is; NULL: memory of this storage */
} storage;

/*
 * A row-major array of a plain dtype, on a device. It never changes. It implements the buffer
 * protocol and DLPack.
 */
typedef struct array_object {
    PyObject_HEAD core_state *state;
    storage *storage;
    char *data;
    uint64_t bytes;
    int32_t dtype;
    int device_type; /* of DLPack: 1 CPU, 2 CUDA */
    int device_id;
    bool writable;
    int rank;
    Py_ssize_t *shape; /* `rank` dimensions, followed by `rank` strides in elements */
} array_object;

/* Returns storage of `bytes` bytes, aligned to 64, or NULL with an exception. */
storage *storage_new(uint64_t bytes);
/* Returns a storage for memory of `owner`, whose use it takes. NULL with an exception. */
storage *storage_of(shared *owner, void *data);

/* Returns an array. Takes the use of `memory`, even on failure. */
array_object *array_make(core_state *state, storage *memory, int32_t dtype, const Py_ssize_t *shape,
                         int rank);

/* Methods of arrays for DLPack (array_dlpack.c). */
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);

#endif
