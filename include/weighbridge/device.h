/*
 * weighbridge/device.h: devices that store weights: the memory of the process, OpenCL devices, CUDA
 * devices, or a device that the caller implements.
 */
#ifndef WEIGHBRIDGE_DEVICE_H
#define WEIGHBRIDGE_DEVICE_H

#include "weighbridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A device that stores weights, as a table of functions. wb_device_host, wb_device_opencl and
 * wb_device_cuda fill in the table and set `size`; an engine with its own allocator (Metal, Vulkan,
 * ROCm, SYCL) fills in its own functions. All functions must be thread-safe and must not call a
 * function of a provider. `handle` is a value that identifies a buffer; it must not be NULL.
 */
typedef struct wb_device {
    size_t size; /* sizeof(wb_device) */
    void *ctx;
    /* alignment of the addresses that `map` returns, a power of two; 0: unknown */
    uint64_t alignment;
    /*
     * Allocates a buffer of `bytes` > 0 bytes. If this fails, the provider function that needed the
     * buffer fails with the same status.
     */
    wb_status (*alloc)(void *ctx, uint64_t bytes, void **handle);
    /* Frees a buffer. `bytes` is the number passed to alloc or claim. */
    void (*free)(void *ctx, void *handle, uint64_t bytes);
    /*
     * Copies n bytes at src to `offset` in the buffer. *event is NULL before the call. If the copy
     * is not complete on return, the function sets *event; the library then calls `wait` with this
     * event before it changes src and before the buffer is used. May be NULL if `map` is not NULL.
     */
    wb_status (*upload)(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event);
    wb_status (*download)(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n);
    /* Waits for an upload and frees its event. May be NULL if upload never sets *event. */
    wb_status (*wait)(void *ctx, void *event);
    /*
     * Optional. Returns the address at which the process can read and write the buffer until it is
     * freed, or NULL if the process cannot access this buffer. The library reads weights from files
     * directly to this address.
     */
    void *(*map)(void *ctx, void *handle);
    /*
     * Optional. Creates a buffer from the mapped bytes of a file, without a copy. These bytes are
     * never written and stay valid until the model is closed. If the result is not WB_OK, the
     * library allocates a buffer and copies the bytes.
     */
    wb_status (*borrow)(void *ctx, const void *memory, uint64_t n, void **handle);
    void (*unborrow)(void *ctx, void *handle); /* optional: frees a buffer of `borrow` */
    /*
     * Optional. Replaces alloc if processes share buffers. `key` is 32 bytes that identify the
     * contents. If a process has filled a buffer for this key, returns that buffer and *filled = 1.
     * If another process is filling it, waits. Otherwise returns a new buffer and *filled = 0; the
     * provider then fills the buffer and calls `publish` with WB_OK, or with the status of its
     * failure.
     */
    wb_status (*claim)(void *ctx, const void *key, uint64_t bytes, void **handle, int *filled);
    void (*publish)(void *ctx, void *handle, wb_status status);
    void (*close)(void *ctx); /* optional, called by wb_device_close */
    /*
     * Optional. Returns at least `bytes` bytes of process memory from which uploads are fast, such
     * as pinned pages, valid until `unstage`. If it returns NULL, the library uses ordinary memory.
     */
    void *(*stage)(void *ctx, uint64_t bytes);
    void (*unstage)(void *ctx, void *memory, uint64_t bytes);
} wb_device;
#define WB_DEVICE_INIT WB_INIT(wb_device)

#define WB_HOST_HUGE_PAGES 1u /* use huge pages if the system has any */
#define WB_HOST_COPY 2u       /* always copy weights: no buffer uses mapped bytes of a file */

typedef struct wb_host_options {
    size_t size;        /* sizeof(wb_host_options) */
    uint32_t flags;     /* WB_HOST_* */
    uint32_t alignment; /* alignment of buffers, a power of two up to 2 MiB; 0: 64 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
    /*
     * Path of a segment ("/dev/shm/llama"), a file that several processes map to share buffers. A
     * file that does not exist is created, with access for this user only. "" creates a segment
     * without a name; child processes that are forked later share it. The memory of a segment is
     * freed when its file is removed and no process maps it. NULL: no segment.
     */
    const char *segment;
    uint64_t segment_bytes; /* capacity of a new segment; its memory is allocated on use */
} wb_host_options;
#define WB_HOST_OPTIONS_INIT WB_INIT(wb_host_options)

/*
 * Fills in a device that stores weights in the memory of this process.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * A provider uses mapped bytes of a file without a copy if their address is aligned for their
 * dtype. Fails with ARGUMENT or MEMORY; with a segment also with NOT_FOUND, IO, LIMIT and FORMAT
 * (the file is not a segment).
 */
WB_API wb_status wb_device_host(const wb_host_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

#define WB_OPENCL_COPY 1u /* always copy weights: no buffer uses memory of the process */

typedef struct wb_opencl_options {
    size_t size;    /* sizeof(wb_opencl_options) */
    uint32_t flags; /* WB_OPENCL_* */
    /*
     * Required alignment of mapped bytes that are used without a copy, a power of two up to 4096;
     * 0: the size of the elements.
     */
    uint32_t alignment;
    /* part of the name of the device or its platform; NULL: the first GPU, or else any device */
    const char *name;
    /* the caller's cl_context, retained; `device` must then be set, too. NULL: a new context */
    void *context;
    void *device; /* the caller's cl_device_id, retained; NULL: selected by `name` */
    /* the caller's cl_command_queue for the device, retained; NULL: a new queue */
    void *queue;
    const char *library; /* path of the ICD loader library; NULL: libOpenCL.so.1 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
} wb_opencl_options;
#define WB_OPENCL_OPTIONS_INIT WB_INIT(wb_opencl_options)

/*
 * Fills in a device that stores weights on a device of OpenCL 1.1 or later. The ICD loader library
 * is opened at run time. Handles are cl_mem in the caller's context, or in a new context;
 * clGetMemObjectInfo with CL_MEM_CONTEXT returns the context of a handle.
 *
 * If the OpenCL device is a CPU, it shares the memory of this process, unless wb_device_opencl
 * detects that the driver copies buffers. With shared memory, wb_buffer.contents is the address of
 * a buffer, and mapped bytes of a file are used without a copy (CL_MEM_USE_HOST_PTR). A GPU that
 * shares the memory of the process also uses mapped bytes without a copy, if their address has the
 * alignment of sub-buffers. The memory of a buffer is freed when no OpenCL command uses it any
 * more.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (no ICD loader), NOT_FOUND (no device matches), IO (an OpenCL call
 * failed), MEMORY or ARGUMENT. The functions of the device fail with MEMORY, LIMIT (the buffer is
 * larger than the device allows) and IO.
 */
WB_API wb_status wb_device_opencl(const wb_opencl_options *options, wb_device *device,
                                  wb_error *error) WB_MUST_CHECK;

typedef struct wb_cuda_options {
    size_t size;      /* sizeof(wb_cuda_options) */
    uint32_t ordinal; /* number of the device in the driver (CUDA_VISIBLE_DEVICES applies) */
    /* number of streams for copies, at most 16; uploads use them in turn; 0: 4 */
    uint32_t streams;
    uint64_t pinned; /* upper limit of pinned memory, in bytes; 0: 128 MiB */
    /* the caller's CUcontext; NULL: the primary context of the device */
    void *context;
    const char *library; /* path of the driver library; NULL: libcuda.so.1 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
} wb_cuda_options;
#define WB_CUDA_OPTIONS_INIT WB_INIT(wb_cuda_options)

/*
 * Fills in a device that stores weights on a CUDA GPU. The driver library is opened at run time; no
 * toolkit is needed. Handles are CUdeviceptr, converted to pointers. They belong to the caller's
 * context, or to the primary context, which the CUDA runtime API uses too. Uploads are asynchronous
 * copies on streams of the device. wb_load and providers read files into pinned memory, which the
 * device keeps for later uploads.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (no driver, or a driver before 11.0), NOT_FOUND (no device has this
 * number), IO (a call of the driver failed), MEMORY or ARGUMENT. The functions of the device fail
 * with MEMORY and IO.
 */
WB_API wb_status wb_device_cuda(const wb_cuda_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Calls device->close, unless it is NULL, and clears the struct. Ignores NULL and cleared structs.
 */
WB_API void wb_device_close(wb_device *device);

/* How wb_load and providers read the bytes of files. */
typedef enum wb_io {
    /*
     * Bytes in the page cache are mapped, or copied if the model was not opened with
     * WB_ACCESS_MAP; other bytes are read with direct I/O. Files on a network file system are read
     * through the page cache. Providers differ: see wb_provider_create.
     */
    WB_IO_AUTO = 0,
    WB_IO_MAP = 1,   /* memory mapping; only for models opened with WB_ACCESS_MAP */
    WB_IO_READ = 2,  /* read through the page cache */
    WB_IO_DIRECT = 3 /* direct I/O (O_DIRECT), as far as the file system supports it */
} wb_io;

#ifdef __cplusplus
}
#endif

#endif
