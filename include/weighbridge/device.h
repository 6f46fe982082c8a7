/*
 * weighbridge/device.h: where weights are stored: process memory, OpenCL, CUDA, or a device of the
 * caller.
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
 * provider. A handle identifies a buffer; it is any value except NULL.
 */
typedef struct wb_device {
    size_t size; /* sizeof(wb_device) */
    void *ctx;
    /* alignment of the addresses returned by `map`, a power of two; 0: unknown */
    uint64_t alignment;
    /*
     * Allocates a buffer of `bytes` > 0 bytes. A failure status is returned to the caller of the
     * provider.
     */
    wb_status (*alloc)(void *ctx, uint64_t bytes, void **handle);
    /* `bytes` as passed to alloc or claim. */
    void (*free)(void *ctx, void *handle, uint64_t bytes);
    /*
     * Copies n bytes at src to `offset` in the buffer. If the copy is complete on return, *event
     * stays NULL; otherwise `wait` is called with *event before src changes and before the buffer
     * is used. May be NULL if there is `map`.
     */
    wb_status (*upload)(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event);
    wb_status (*download)(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n);
    wb_status (*wait)(void *ctx, void *event); /* NULL if upload never returns an event */
    /*
     * Optional. Returns the address at which the process can read and write the buffer until it is
     * freed, or NULL if this buffer has none. Weights are read directly to this address.
     */
    void *(*map)(void *ctx, void *handle);
    /*
     * Optional. Creates a buffer from existing memory, without a copy: mapped bytes of a file,
     * which are never written and stay valid until the model is closed. If the result is not WB_OK,
     * the bytes are copied.
     */
    wb_status (*borrow)(void *ctx, const void *memory, uint64_t n, void **handle);
    void (*unborrow)(void *ctx, void *handle); /* optional */
    /*
     * Optional, replaces alloc for memory shared between processes. Returns the buffer that some
     * process has created for this 32-byte key, with *filled = 1, or a new buffer with *filled = 0,
     * which the provider fills and then publishes, with WB_OK or the reason of its failure. Waits
     * while another process fills the buffer.
     */
    wb_status (*claim)(void *ctx, const void *key, uint64_t bytes, void **handle, int *filled);
    void (*publish)(void *ctx, void *handle, wb_status status);
    void (*close)(void *ctx); /* optional, called by wb_device_close */
    /*
     * Optional. Returns at least `bytes` bytes of process memory with fast uploads, such as pinned
     * pages, valid until unstage. Returns NULL if none is available; ordinary memory is then used.
     */
    void *(*stage)(void *ctx, uint64_t bytes);
    void (*unstage)(void *ctx, void *memory, uint64_t bytes);
} wb_device;
#define WB_DEVICE_INIT WB_INIT(wb_device)

#define WB_HOST_HUGE_PAGES 1u /* use huge pages if the system has any */
#define WB_HOST_COPY 2u       /* always copy, never use the mapped bytes of the file */

typedef struct wb_host_options {
    size_t size;        /* sizeof(wb_host_options) */
    uint32_t flags;     /* WB_HOST_* */
    uint32_t alignment; /* alignment of buffers, a power of two up to 2 MiB; 0: 64 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
    /*
     * A file ("/dev/shm/llama") that several processes map in order to share buffers. It is created
     * if it does not exist, accessible by this user only. "" creates a segment without a name, for
     * processes forked later. Its memory is freed when the file is removed and no process maps it.
     * NULL: none.
     */
    const char *segment;
    uint64_t segment_bytes; /* capacity of a new segment; memory is allocated as it is used */
} wb_host_options;
#define WB_HOST_OPTIONS_INIT WB_INIT(wb_host_options)

/*
 * The memory of this process.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Mapped bytes are used without a copy if their address is aligned for their dtype. Fails with
 * ARGUMENT or MEMORY; for a segment also with NOT_FOUND, IO, LIMIT and FORMAT (the file is no
 * segment).
 */
WB_API wb_status wb_device_host(const wb_host_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

#define WB_OPENCL_COPY 1u /* always copy, never use memory shared with the device */

typedef struct wb_opencl_options {
    size_t size;    /* sizeof(wb_opencl_options) */
    uint32_t flags; /* WB_OPENCL_* */
    /*
     * Required alignment of mapped bytes that are used without a copy, a power of two up to 4096;
     * 0: the size of the elements.
     */
    uint32_t alignment;
    /* part of the name of the device or its platform; NULL: a GPU, otherwise any device */
    const char *name;
    /* the caller's cl_context, requires `device`; both are retained. NULL: a new context */
    void *context;
    void *device; /* the caller's cl_device_id; NULL: selected by `name` */
    /* the caller's cl_command_queue for the device, retained; NULL: a new queue */
    void *queue;
    const char *library; /* path of the ICD loader; NULL: libOpenCL.so.1 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
} wb_opencl_options;
#define WB_OPENCL_OPTIONS_INIT WB_INIT(wb_opencl_options)

/*
 * A device of OpenCL 1.1 or later. The loader is opened at run time. Handles are cl_mem, in the
 * context of the caller or a new one (CL_MEM_CONTEXT of any handle).
 *
 * If device and process share memory (processors; this is tested), buffers are in memory that both
 * can access, and wb_buffer.contents is its address. Mapped bytes of a file are used without a copy
 * (CL_MEM_USE_HOST_PTR) in this case, and on GPUs that share memory if the address satisfies the
 * alignment for sub-buffers. A buffer may be freed when no command uses it any more.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (no loader), NOT_FOUND (no such device), IO (a call failed), MEMORY or
 * ARGUMENT. The functions of the device fail with MEMORY, LIMIT (larger than the device allows) and
 * IO.
 */
WB_API wb_status wb_device_opencl(const wb_opencl_options *options, wb_device *device,
                                  wb_error *error) WB_MUST_CHECK;

typedef struct wb_cuda_options {
    size_t size;      /* sizeof(wb_cuda_options) */
    uint32_t ordinal; /* device number of the driver (CUDA_VISIBLE_DEVICES applies) */
    /* number of streams for copies, used in turn; 0: 4, at most 16 */
    uint32_t streams;
    uint64_t pinned; /* upper limit of pinned memory, in bytes; 0: 128 MiB */
    /* the caller's CUcontext; NULL: the primary context of the device */
    void *context;
    const char *library; /* path of the driver; NULL: libcuda.so.1 */
    const wb_allocator
        *allocator; /* the struct is copied; NULL: malloc, and mmap for large blocks */
} wb_cuda_options;
#define WB_CUDA_OPTIONS_INIT WB_INIT(wb_cuda_options)

/*
 * A device of CUDA. The driver is opened at run time; no toolkit is needed. Handles are
 * CUdeviceptr, converted to pointers, in the context of the caller or the primary context, which
 * the runtime API uses too. Uploads are asynchronous copies on streams of the device. wb_load and
 * providers read into pinned memory, which the device keeps for later uploads.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (no driver, or an old one), NOT_FOUND (no such device), IO (a call
 * failed), MEMORY or ARGUMENT. The functions of the device fail with MEMORY and IO.
 */
WB_API wb_status wb_device_cuda(const wb_cuda_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Calls device->close if it is not NULL, and clears the struct. NULL and cleared structs are
 * ignored.
 */
WB_API void wb_device_close(wb_device *device);

/* How the bytes of files are read. */
typedef enum wb_io {
    /*
     * Bytes in the page cache are mapped, or copied if the model is not in MAP mode; other bytes
     * are read with direct I/O. Files on a network file system are read through the page cache.
     */
    WB_IO_AUTO = 0,
    WB_IO_MAP = 1,   /* memory mapping; only for models in MAP mode */
    WB_IO_READ = 2,  /* read through the page cache */
    WB_IO_DIRECT = 3 /* direct I/O (O_DIRECT), as far as the file system supports it */
} wb_io;

#ifdef __cplusplus
}
#endif

#endif
