/*
 * weighbridge/device.h: where an engine keeps its weights: the memory of the process, OpenCL, CUDA, or its own.
 */
#ifndef WEIGHBRIDGE_DEVICE_H
#define WEIGHBRIDGE_DEVICE_H

#include "weighbridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where an engine keeps its weights, as a table of functions. wb_device_host fills one in; an engine
 * that has an allocator of its own (Metal, Vulkan, ROCm, SYCL) fills in its own. All functions must be
 * thread-safe, and call nothing of a provider. A handle is whatever the device knows a buffer by, but
 * NULL.
 */
typedef struct wb_device {
    size_t size; /* sizeof(wb_device) */
    void *ctx;
    uint64_t alignment; /* of the addresses that `map` gives, a power of two; 0: not known */
    /* A new buffer, of at least one byte. On failure the status is what the caller is told. */
    wb_status (*alloc)(void *ctx, uint64_t bytes, void **handle);
    /* `bytes` as given to alloc or claim. */
    void (*free)(void *ctx, void *handle, uint64_t bytes);
    /*
     * Copies n bytes at src to `offset` in the buffer. Either they are there on return, and *event
     * stays NULL, or `wait` is called with *event before src changes and before anything is done
     * with the buffer. NULL where there is `map`.
     */
    wb_status (*upload)(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event);
    wb_status (*download)(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n);
    wb_status (*wait)(void *ctx, void *event); /* NULL where upload never gives an event */
    /*
     * Optional. The address at which the process may read and write the buffer until it is freed;
     * NULL if this one has none. Where there is one, weights are read straight to it.
     */
    void *(*map)(void *ctx, void *handle);
    /*
     * Optional. Makes a buffer of memory that is there already, is never written to and lives until
     * the model is closed: mapped bytes of a file that serve as they are. Anything but WB_OK means
     * that they do not, and they are copied.
     */
    wb_status (*borrow)(void *ctx, const void *memory, uint64_t n, void **handle);
    void (*unborrow)(void *ctx, void *handle); /* optional */
    /*
     * Optional, instead of alloc, for memory that processes share. The buffer that any of them has
     * made under this key of 32 bytes, *filled 1, or a new one, *filled 0, which the provider fills
     * and then publishes, with WB_OK or why it could not. A process that claims what another is
     * filling waits for it.
     */
    wb_status (*claim)(void *ctx, const void *key, uint64_t bytes, void **handle, int *filled);
    void (*publish)(void *ctx, void *handle, wb_status status);
    void (*close)(void *ctx); /* optional: wb_device_close calls it */
    /*
     * Optional. At least `bytes` bytes of this process from which uploads are fastest, such as pages
     * that are pinned, until they are given back; NULL where none are to be had now, and others do.
     */
    void *(*stage)(void *ctx, uint64_t bytes);
    void (*unstage)(void *ctx, void *memory, uint64_t bytes);
} wb_device;
#define WB_DEVICE_INIT WB_INIT(wb_device)

#define WB_HOST_HUGE_PAGES 1u /* the system's huge pages, where it has some to give */
#define WB_HOST_COPY 2u       /* never mapped bytes as they are, always a copy */

typedef struct wb_host_options {
    size_t size;                   /* sizeof(wb_host_options) */
    uint32_t flags;                /* WB_HOST_* */
    uint32_t alignment;            /* of buffers, a power of two up to 2 MiB; 0: 64 */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    /*
     * A file that several processes map, and find each other's buffers in: "/dev/shm/llama". It is
     * made if it is not there, for this user alone. "" makes one without a name, for processes that
     * are forked afterwards. Its memory is given back when the file is removed and nobody has it
     * mapped. NULL: none.
     */
    const char *segment;
    uint64_t
        segment_bytes; /* what there is room for where it is made; takes memory as it is used */
} wb_host_options;
#define WB_HOST_OPTIONS_INIT WB_INIT(wb_host_options)

/*
 * The memory of this process.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Mapped bytes serve as they are if their address is aligned for their dtype. Fails with ARGUMENT,
 * MEMORY; for a segment also with NOT_FOUND, IO, LIMIT and FORMAT (it is no segment).
 */
WB_API wb_status wb_device_host(const wb_host_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

#define WB_OPENCL_COPY 1u /* never memory that the device shares, always a copy */

typedef struct wb_opencl_options {
    size_t size;    /* sizeof(wb_opencl_options) */
    uint32_t flags; /* WB_OPENCL_* */
    /* What the address of mapped bytes must divide by to serve as they are, a power of two up to
     * 4096; 0: the size of their elements. */
    uint32_t alignment;
    const char *name; /* part of the name of the device or its platform; NULL: a GPU, or else any */
    void *context;    /* the caller's cl_context, with `device`; both retained. NULL: a new one */
    void *device;     /* the cl_device_id; NULL: looked for by `name` */
    void *queue;      /* the caller's cl_command_queue for it, retained; NULL: a new one */
    const char *library;           /* the file of the ICD loader; NULL: libOpenCL.so.1 */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
} wb_opencl_options;
#define WB_OPENCL_OPTIONS_INIT WB_INIT(wb_opencl_options)

/*
 * A device of OpenCL 1.1 or later. The loader is looked for at run time. Handles are cl_mem, in the
 * context given or, where none was, that of any of them (CL_MEM_CONTEXT).
 *
 * Where device and process share memory (processors, which is tried out) buffers are in memory that
 * both see, and wb_buffer.contents shows it; mapped bytes of a file serve as they are
 * (CL_MEM_USE_HOST_PTR) there and, where they lie as it wants sub-buffers, on a GPU that shares
 * memory. A buffer may be freed when no command uses it any more.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (there is no loader), NOT_FOUND (no such device), IO (a call failed), MEMORY,
 * ARGUMENT. Its functions fail with MEMORY, LIMIT (larger than the device allows) and IO.
 */
WB_API wb_status wb_device_opencl(const wb_opencl_options *options, wb_device *device,
                                  wb_error *error) WB_MUST_CHECK;

typedef struct wb_cuda_options {
    size_t size;                   /* sizeof(wb_cuda_options) */
    uint32_t ordinal;              /* of the device, as the driver counts: CUDA_VISIBLE_DEVICES */
    uint32_t streams;              /* that copies take turns on; 0: 4, and at most 16 */
    uint64_t pinned;               /* bytes of pinned memory to take at most; 0: 128 MiB */
    void *context;                 /* the caller's CUcontext; NULL: the primary one of the device */
    const char *library;           /* the file of the driver; NULL: libcuda.so.1 */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
} wb_cuda_options;
#define WB_CUDA_OPTIONS_INIT WB_INIT(wb_cuda_options)

/*
 * A device of CUDA, through the driver, which is looked for at run time; no toolkit is needed. Handles
 * are CUdeviceptr as pointers, in the primary context, which the runtime API uses too, or the one
 * given. Uploads are copies that go on by themselves on streams of the device's own; wb_load and
 * providers have bytes read into pinned memory, of which it keeps what has been given back.
 *
 * options  NULL: defaults
 * device   filled in; release with wb_device_close, after the providers that use it
 *
 * Fails with UNSUPPORTED (there is no driver, or an old one), NOT_FOUND (no such device), IO (a call
 * failed), MEMORY, ARGUMENT. Its functions fail with MEMORY and IO.
 */
WB_API wb_status wb_device_cuda(const wb_cuda_options *options, wb_device *device,
                                wb_error *error) WB_MUST_CHECK;

/* Calls device->close, if there is one, and clears the struct. NULL is ignored. */
WB_API void wb_device_close(wb_device *device);

/* How the bytes of files are fetched. */
typedef enum wb_io {
    /* What is in the page cache is mapped, or copied where the model is not in MAP mode; what is not
     * is read past the page cache. Files on a network file system are read through the page cache. */
    WB_IO_AUTO = 0,
    WB_IO_MAP = 1,   /* mapped; only for models in MAP mode */
    WB_IO_READ = 2,  /* read through the page cache */
    WB_IO_DIRECT = 3 /* read past it (O_DIRECT), as far as the file system can */
} wb_io;

#ifdef __cplusplus
}
#endif

#endif
