/*
 * device/cuda_calls.h: the declarations used from the CUDA driver API, as documented in NVIDIA's
 * "CUDA Driver API" for version 11.0 and later. Objects are opaque pointers. Functions whose ABI
 * changed have a version suffix in their symbol name (such as _v2). NVIDIA's header adds the suffix
 * with macros; names passed to dlsym must contain it.
 */
#ifndef WB_DEVICE_CUDA_CALLS_H
#define WB_DEVICE_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,

    CU_STREAM_NON_BLOCKING = 1, /* does not synchronise with the legacy default stream */
    CU_EVENT_BLOCKING_SYNC = 1, /* waiting threads sleep instead of spinning */
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1 /* pinned for all contexts */
};

typedef uintptr_t wb__cuda_memory; /* CUdeviceptr: an integer as wide as a pointer */

typedef struct wb__cuda_calls {
    int (*init)(unsigned flags);
    int (*error_name)(int code, const char **name);
    int (*device_get)(int *device, int ordinal);
    int (*primary_retain)(void **context, int device);
    int (*primary_release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*alloc)(wb__cuda_memory *memory, size_t bytes);
    int (*free)(wb__cuda_memory memory);
    int (*host_alloc)(void **memory, size_t bytes, unsigned flags);
    int (*host_free)(void *memory);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*copy_to)(wb__cuda_memory to, const void *from, size_t n, void *stream);
    int (*copy_from)(void *to, wb__cuda_memory from, size_t n, void *stream);
} wb__cuda_calls;

#endif
