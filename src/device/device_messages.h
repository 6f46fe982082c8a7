/*
 * Messages of this module, grouped by the file that reports them.
 */
#ifndef WB_DEVICE_DEVICE_MESSAGES_H
#define WB_DEVICE_DEVICE_MESSAGES_H

/* ---- device.c ---- */

#define WB__MSG_DEVICE_FAILED "the device could not %s %llu bytes (%s)"

/* ---- device_public.c ---- */

#define WB__MSG_HOST_SIZE "wb_host_options.size must be sizeof(wb_host_options)"
#define WB__MSG_HOST_FLAGS "wb_host_options.flags contains unknown flags"
#define WB__MSG_HOST_ALIGNMENT "the alignment must be a power of two of at most 2 MiB"
#define WB__MSG_SEGMENT_ALIGNMENT_LIMIT                                                            \
    "buffers in a shared segment support an alignment of at most 4096 bytes"
#define WB__MSG_OPENCL_SIZE "wb_opencl_options.size must be sizeof(wb_opencl_options)"
#define WB__MSG_OPENCL_FLAGS "wb_opencl_options.flags contains unknown flags"
#define WB__MSG_OPENCL_ALIGNMENT "the alignment must be a power of two of at most 4096 bytes"
#define WB__MSG_OPENCL_CONTEXT_DEVICE "wb_opencl_options.context requires wb_opencl_options.device"
#define WB__MSG_OPENCL_QUEUE_CONTEXT "wb_opencl_options.queue requires wb_opencl_options.context"
#define WB__MSG_CUDA_SIZE "wb_cuda_options.size must be sizeof(wb_cuda_options)"
#define WB__MSG_CUDA_STREAMS "wb_cuda_options.streams must be at most 16"

/* ---- driver.c ---- */

#define WB__MSG_DRIVER_NOT_FOUND "the driver library %s was not found"
#define WB__MSG_DRIVER_FUNCTION "the driver library %s has no function %s; it may be too old"

/* ---- opencl_find.c ---- */

#define WB__MSG_OPENCL_CALL "%s failed with OpenCL error %d"
#define WB__MSG_OPENCL_NO_DEVICE "no OpenCL device was found%s%s"

/* ---- cuda_find.c ---- */

#define WB__MSG_CUDA_UNKNOWN_ERROR "unknown error"
#define WB__MSG_CUDA_CALL "the CUDA driver function %s failed: %s (%d)"

/* ---- segment.c ---- */

#define WB__MSG_SEGMENT_STAT "cannot read the attributes of the segment file"
#define WB__MSG_SEGMENT_NOT_OWNED "the segment is not a regular file owned by this user"
#define WB__MSG_SEGMENT_INVALID "the file is not a shared segment of weighbridge"
#define WB__MSG_SEGMENT_TOO_LARGE "segment_bytes exceeds the maximum size of a file"
#define WB__MSG_SEGMENT_CREATE                                                                     \
    "cannot reserve space for the segment file, or cannot write its header"
#define WB__MSG_SEGMENT_ADDRESS_SPACE "the segment file does not fit into the address space"
#define WB__MSG_SEGMENT_MAP "cannot map the segment file into memory"
#define WB__MSG_SEGMENT_ALIGNMENT                                                                  \
    "the buffer alignment of the segment file is not a multiple of the requested alignment"
#define WB__MSG_SEGMENT_OPEN "cannot open the segment file"
#define WB__MSG_SEGMENT_LOCK "cannot lock the segment file"

#endif
