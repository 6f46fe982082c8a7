/*
 * device/cuda.h: a device of CUDA.
 *
 *   cuda.c        its functions
 *   cuda_find.c   the driver, the context, the streams
 *   pinned.h      the memory copies are made from
 *
 * The driver's calls work on the context that is current to the thread, which is the application's
 * business: every function makes ours current and puts back what was.
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

/* An event that is waited for, or will be needed again. */
typedef struct wb__cuda_event {
    struct wb__cuda_event *next;
    void *event;
} wb__cuda_event;

typedef struct wb__cuda {
    wb__cuda_calls call;
    wb_allocator allocator;
    int device;
    void *context;
    bool is_primary; /* the context, which we have retained */
    void *streams[WB__CUDA_STREAMS_MAX];
    uint32_t stream_count;
    _Atomic uint32_t turn; /* of the streams */
    pthread_mutex_t lock;  /* of `free_events` */
    wb__cuda_event *free_events;
    wb__pinned pinned;
    bool has_lock, has_pinned;
} wb__cuda;

/* What a code of CUDA's is to us. */
wb_status wb__cuda_status(int code);

/* Makes our context current to this thread. leave() only after WB_OK. */
wb_status wb__cuda_enter(const wb__cuda *cuda);
void wb__cuda_leave(const wb__cuda *cuda);

/* Fills in what is above but for `pinned`. Release also after a failure. */
wb_status wb__cuda_find(wb__cuda *cuda, wb__context *context, const wb_cuda_options *options);
void wb__cuda_release(wb__cuda *cuda);

#endif
