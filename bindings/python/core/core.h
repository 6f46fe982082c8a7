/*
 * core.h: the module weighbridge._core, which makes the functions of weighbridge.h available to
 * Python. It converts arguments and results, and manages lifetimes. Everything that can be written
 * in Python is in the package weighbridge, which uses this module.
 *
 * Lifetimes  A Model owns a `handle`, which owns the wb_model. Every user of the wb_model (a call
 *            in another thread, an Array that shows mapped bytes) holds a reference to the handle.
 *            Closing the Model drops only the Model's own reference, so that the other users can
 *            continue. References are counted by atomic counters in C, not by Python, because
 *            consumers of DLPack release arrays without the GIL.
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
#include <weighbridge/net.h>

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

/* Each function adds the types of its file to the module. It returns 0, or -1 with an exception. */
int core_add_model(PyObject *module, core_state *state);
int core_add_tensor(PyObject *module, core_state *state);
int core_add_array(PyObject *module, core_state *state);
int core_add_names(PyObject *module, core_state *state);
int core_add_conversion(PyObject *module, core_state *state);
int core_add_writer(PyObject *module, core_state *state);
int core_add_provider(PyObject *module, core_state *state);

/* ---- reference counts of C objects (shared.c) ---- */

/* Reference count; the first member of every struct that several Python objects use. */
typedef struct shared {
    atomic_size_t uses;
    void (*destroy)(struct shared *self); /* may be called with or without the GIL */
} shared;

void shared_init(shared *self, void (*destroy)(shared *self)); /* with one reference */
void shared_keep(shared *self);
void shared_drop(shared *self); /* NULL is ignored */

/* ---- fork (gate.c) ---- */

/*
 * fork waits until no thread is between gate_enter and gate_leave. Otherwise a lock of the library
 * could stay locked in the child forever, because the thread that holds it does not exist there.
 * Calls that read enter the gate. Calls that take long, and may call Python, do not: see
 * docs/dev/python.md. gate_open registers the fork handlers, once per process.
 */
int gate_open(void);
void gate_enter(void);
void gate_leave(void);

/* Enclose a call of a library function that reads a model. BEGIN_READ releases the GIL and enters
 * the gate; END_READ undoes both. */
#define BEGIN_READ Py_BEGIN_ALLOW_THREADS gate_enter();
#define END_READ                                                                                   \
    gate_leave();                                                                                  \
    Py_END_ALLOW_THREADS

/* ---- threads and progress (threads.c, progress.c) ---- */

const wb_executor *threads_executor(void); /* static */

/* A long call, during which the GIL is released except for reports of progress. */
typedef struct watch {
    wb_progress progress; /* for the library */
    PyObject *callback;   /* called as callback(done, total); NULL or None: no callback */
    PyThreadState *state;
    pthread_t thread;
    int64_t last;  /* time of the last report, in nanoseconds of the monotonic clock */
    bool finished; /* the end has been reported */
} watch;

/* watch_begin releases the GIL, and watch_end takes it again. `callback` is a borrowed
 * reference, which must stay valid until watch_end. */
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

/* Allocates an object of a type of this module, or of a subtype. All members are 0. Returns NULL
 * with an exception on failure. */
PyObject *object_new(PyTypeObject *type);
/* Frees an object. The caller has already released the members. */
void object_free(PyObject *object);

/* A name or key that Python passes. `bytes` is valid until text_drop. */
typedef struct py_text {
    const char *bytes;
    size_t length;
    PyObject *encoded; /* owner of `bytes`; NULL: the str owns them */
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
    wb_net *net; /* the network, if the model was opened by its address; else NULL */
    Py_buffer bytes;
    bool from_memory;
    bool writable; /* the mapped bytes may be changed (WB_OPEN_COPY_ON_WRITE) */
} handle;

typedef struct model_object {
    PyObject_HEAD core_state *state;
    handle *handle; /* NULL: closed */
    PyTypeObject *tensor_type;
} model_object;

/* The function `destroy` of a handle: closes the model. */
void handle_destroy(shared *self);

/*
 * Adds a reference to the handle and returns the handle, or NULL with an exception if the model is
 * closed.
 */
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

/* Converter of PyArg_Parse (O&) for paths: stores a bytes object in *out. For None, leaves *out
 * unchanged; the caller has set it to NULL. */
int path_or_none(PyObject *object, void *out);

/* Reads the tables of families that a sequence lists: paths, and texts as bytes. NULL and None: *out
 * is NULL. The caller frees *out. Returns false with an exception (families.c). */
bool families_take(core_state *state, PyObject *items, wb_families **out);

/* Returns an iterator over all names of a model. Takes over the caller's reference to `model`. */
PyObject *names_make(core_state *state, handle *model, wb_names_kind kind);

/* Returns a list with one tuple for each finding (config.c). */
PyObject *findings_make(const wb_findings *findings);

/* Methods of the type Model that other files than model.c define. */
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
    Py_ssize_t shape[RANK_MAX]; /* shape of the result; an index None adds a dimension */
    int rank;                   /* number of `axes` */
    int result_rank;            /* number of dimensions in `shape` */
} selection;

bool selection_take(PyObject *key, const uint64_t *shape, uint32_t rank, selection *out);

/* ---- arrays (array.c) ---- */

/* Memory of an array, and its owner. */
typedef struct storage {
    shared shared;
    void *data;
    shared *owner; /* handle or buffer that owns `data`; NULL: this storage owns it */
} storage;

/*
 * A row-major array of a plain dtype (one without blocks), on a device. The struct does not change
 * after creation. The type implements the buffer protocol and DLPack.
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
/* Returns a storage for `data`, which is memory of `owner`. Takes over the caller's reference to
 * `owner`. Returns NULL with an exception on failure. */
storage *storage_of(shared *owner, void *data);

/* Returns an array. Takes over the caller's reference to `memory`, even on failure. */
array_object *array_make(core_state *state, storage *memory, int32_t dtype, const Py_ssize_t *shape,
                         int rank);

/* Methods of arrays for DLPack (array_dlpack.c). */
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);

#endif
