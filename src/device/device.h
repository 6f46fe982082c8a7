/*
 * device: memory for buffers, behind the public function table wb_device.
 *
 *   host.c      memory of this process: aligned, optionally on huge pages
 *   segment.c   a shared file mapped by several processes, with a directory of its buffers
 *   opencl.h    OpenCL devices
 *   cuda.h      CUDA devices
 *
 * A device keeps its state in `ctx`, which wb_device.close frees. This module does not interpret
 * weights: the provider determines the size of a buffer and fills it. All functions of a device are
 * thread-safe.
 */
#ifndef WB_DEVICE_DEVICE_H
#define WB_DEVICE_DEVICE_H

#include "core/core.h"
#include "weighbridge/device.h"

#define WB__KEY_BYTES 32 /* size of the key passed to wb_device.claim, in bytes */

/* Fills in a device for memory of this process. Precondition: `options` has been validated. */
wb_status wb__host_open(wb__context *context, const wb_host_options *options, wb_device *device);

wb_status wb__opencl_open(wb__context *context, const wb_opencl_options *options,
                          wb_device *device);
wb_status wb__cuda_open(wb__context *context, const wb_cuda_options *options, wb_device *device);

/*
 * Fails with the message "the device could not WHAT BYTES bytes". `what` is a verb such as "map".
 */
wb_status wb__fail_device(wb__context *context, wb_status status, const char *what, uint64_t bytes);

/* ---- segment.c ---- */

typedef struct wb__segment wb__segment;

/* Maps the file `path`, and creates it if it does not exist. If `path` is empty, creates and maps
 * an unnamed file. */
wb_status wb__segment_open(wb__context *context, const char *path, uint64_t bytes,
                           uint64_t alignment, wb__segment **segment);
void wb__segment_close(wb__segment *segment);

/* Implement wb_device.claim and wb_device.publish. A handle is the address of the buffer. */
wb_status wb__segment_claim(wb__segment *segment, const void *key, uint64_t bytes, void **handle,
                            int *filled);
void wb__segment_publish(wb__segment *segment, void *handle, wb_status status);

#endif
