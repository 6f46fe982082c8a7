/*
 * device/opencl.h: a device of OpenCL.
 *
 *   opencl.c        its functions
 *   opencl_find.c   which device, and its context and queue
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
    void *context;           /* ours or retained */
    void *queue;             /* likewise */
    uint64_t base_alignment; /* of sub-buffers, in bytes */
    uint64_t least;          /* wb_opencl_options.alignment */
    bool is_processor;
    bool is_shared;  /* kernels and process see the same bytes at the same addresses */
    bool is_unified; /* a GPU that can use the process's memory */
} wb__opencl;

/* What a code of OpenCL's is to us. */
wb_status wb__opencl_status(int32_t code);

/* Tells that a call failed. */
wb_status wb__opencl_fail(wb__context *context, int32_t code, const char *call);

/* Fills in device, context, queue and what they can. After a failure what is there is released. */
wb_status wb__opencl_find(wb__opencl *cl, wb__context *context, const wb_opencl_options *options);
void wb__opencl_release(wb__opencl *cl);

#endif
