/*
 * device/cuda.h: a CUDA device.
 *
 *   cuda.c        the functions of the device
 *   cuda_find.c   loads the driver; finds the device, context and streams
 *   pinned.h      pool of pinned memory, from which data is copied to the device
 *
 * Driver calls use the context that is current to the calling thread, which belongs to the
 * application. Every function therefore makes the device's context current and restores the
 * previous one.
 */
#ifndef WB_DEVICE_CUDA_H
#define WB_DEVICE_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"
#include "device/cuda_calls.h"
#include "device/pinned.h"
#include "weighbridge/device.h"

#define WB__CUDA_STREAMS_MAX 16

/* An event, either recorded after a copy or in the list of free events. */
typedef struct wb__cuda_event {
    struct wb__cuda_event *next;
    void *event;
} wb__cuda_event;

typedef struct wb__cuda {
    wb__cuda_calls call;
    wb_allocator allocator;
    int device;
    void *context;
    bool is_primary; /* `context` is the device's primary context, retained by this struct */
    void *streams[WB__CUDA_STREAMS_MAX];
    uint32_t stream_count;
    _Atomic uint32_t turn; /* index of the next stream to use, modulo stream_count */
    pthread_mutex_t lock;  /* protects `free_events` */
    wb__cuda_event *free_events;
    wb__pinned pinned;
    bool has_lock, has_pinned;
} wb__cuda;

/* Maps a CUDA result code to a wb_status. */
wb_status wb__cuda_status(int code);

/* Makes the device's context current to this thread. The caller must call wb__cuda_leave if and
 * only if this returns WB_OK. */
wb_status wb__cuda_enter(const wb__cuda *cuda);
void wb__cuda_leave(const wb__cuda *cuda);

/* Initialises all members except `pinned`. Call wb__cuda_release also after a failure. */
wb_status wb__cuda_find(wb__cuda *cuda, wb__context *context, const wb_cuda_options *options);
void wb__cuda_release(wb__cuda *cuda);

#endif
