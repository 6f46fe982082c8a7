/* provider.h: what the files of the type Provider share. */
#ifndef WB_PYTHON_PROVIDER_H
#define WB_PYTHON_PROVIDER_H

#include "core.h"

/* A provider with its device and model. Buffers that Python holds keep it. */
typedef struct supply {
    shared shared;
    wb_provider *provider;
    wb_device device;
    handle *model;
    int device_type; /* of DLPack; 0: buffers have no address that consumers know */
    int device_id;
} supply;

/* A buffer in use. */
typedef struct lent {
    shared shared;
    supply *supply;
    wb_buffer buffer;
} lent;

typedef struct provider_object {
    PyObject_HEAD core_state *state;
    supply *supply; /* NULL: closed */
} provider_object;

/* Describes a buffer as a tuple. Takes its use (provider_buffer.c). */
PyObject *lent_describe(core_state *state, lent *buffer);

/* Returns a buffer to be filled in, with one use; NULL with an exception. */
lent *lent_new(supply *from);

#endif
