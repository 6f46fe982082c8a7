/*
 * device/opencl.h: an OpenCL device.
 *
 *   opencl.c        the functions of the device
 *   opencl_find.c   selects the device; creates its context and queue
 */
#ifndef WB_DEVICE_OPENCL_H
#define WB_DEVICE_OPENCL_H

#include "core/core.h"
#include "device/opencl_calls.h"
#include "weighbridge/device.h"

typedef struct wb__opencl {
    wb__opencl_calls call;
    wb_allocator allocator;
    void *device;
    void *context;           /* created or retained by this struct */
    void *queue;             /* created or retained by this struct */
    uint64_t base_alignment; /* required alignment of sub-buffers, in bytes */
    /* minimum alignment requested in wb_opencl_options.alignment, in bytes */
    uint64_t least;
    bool is_processor;
    bool is_shared;  /* kernels and the process access the same bytes at the same addresses */
    bool is_unified; /* a GPU that can use memory of the process */
} wb__opencl;

/* Maps an OpenCL error code to a wb_status. */
wb_status wb__opencl_status(int32_t code);

/* Reports that an OpenCL call failed. */
wb_status wb__opencl_fail(wb__context *context, int32_t code, const char *call);

/*
 * Initialises the device, context, queue and capabilities. On failure, releases what was created.
 */
wb_status wb__opencl_find(wb__opencl *cl, wb__context *context, const wb_opencl_options *options);
void wb__opencl_release(wb__opencl *cl);

#endif
