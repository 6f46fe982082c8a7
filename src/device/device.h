/*
 * device: where buffers live, behind the table wb_device of the public header.
 *
 *   host.c      the memory of this process: aligned, on huge pages if wanted
 *   segment.c   a file that processes map, with a directory of the buffers in it
 *   opencl.h    what OpenCL has
 *   cuda.h      what CUDA has
 *
 * A device keeps its state in `ctx`, which wb_device.close frees. Nothing here knows of weights: the
 * provider says how large a buffer is and fills it. All functions of a device are thread-safe.
 */
#ifndef WB_DEVICE_DEVICE_H
#define WB_DEVICE_DEVICE_H

#include "core/core.h"
#include "weighbridge/device.h"

#define WB__KEY_BYTES 32 /* of wb_device.claim */

/* Fills in a device over the memory of this process. `options` has been checked. */
wb_status wb__host_open(wb__context *context, const wb_host_options *options, wb_device *device);

wb_status wb__opencl_open(wb__context *context, const wb_opencl_options *options,
                          wb_device *device);
wb_status wb__cuda_open(wb__context *context, const wb_cuda_options *options, wb_device *device);

/* What a failed function of a device is reported as: that it could not `what` so many bytes. */
wb_status wb__fail_device(wb__context *context, wb_status status, const char *what, uint64_t bytes);

/* ---- segment.c ---- */

typedef struct wb__segment wb__segment;

/* Maps the file, which is made if it is not there; "" for one without a name. */
wb_status wb__segment_open(wb__context *context, const char *path, uint64_t bytes,
                           uint64_t alignment, wb__segment **segment);
void wb__segment_close(wb__segment *segment);

/* As wb_device.claim and publish; addresses are handles. */
wb_status wb__segment_claim(wb__segment *segment, const void *key, uint64_t bytes, void **handle,
                            int *filled);
void wb__segment_publish(wb__segment *segment, void *handle, wb_status status);

#endif
