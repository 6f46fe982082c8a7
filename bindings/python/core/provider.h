/* provider.h: declarations shared by the source files of the type Provider. */
#ifndef WB_PYTHON_PROVIDER_H
#define WB_PYTHON_PROVIDER_H

#include "core.h"

/* A provider with its device and model. It is freed when Python holds neither the provider nor a
 * buffer of it. */
typedef struct supply {
    shared shared;
    wb_provider *provider;
    wb_device device;
    handle *model;
    int device_type; /* device type of DLPack; 0: buffers have no address that DLPack consumers
                      * can use */
    int device_id;
} supply;

/* A buffer that Python objects or DLPack consumers use. */
typedef struct lent {
    shared shared;
    supply *supply;
    wb_buffer buffer;
} lent;

typedef struct provider_object {
    PyObject_HEAD core_state *state;
    supply *supply; /* NULL: closed */
} provider_object;

/* Returns a tuple that describes a buffer. Takes over the caller's reference to the buffer
 * (provider_buffer.c). */
PyObject *lent_describe(core_state *state, lent *buffer);

/* Returns a new struct with one reference, or NULL with an exception. The caller then sets the
 * member `buffer`. */
lent *lent_new(supply *from);

#endif
