/*
 * weighbridge/base.h: version, status and error, and the allocator, executor, limits and progress
 * callback that a caller may provide.
 */
#ifndef WEIGHBRIDGE_BASE_H
#define WEIGHBRIDGE_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_VERSION_MAJOR 0
#define WB_VERSION_MINOR 1
#define WB_VERSION_PATCH 0

#if defined(__GNUC__)
#define WB_API __attribute__((visibility("default")))
#define WB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WB_API
#define WB_MUST_CHECK
#endif

/* Returns the version of the library at run time, for example "0.1.0". The string is static. */
WB_API const char *wb_version(void);

/*
 * Initialises a struct whose first member is `size`: sets `size` to the sizeof of the struct in
 * this version of the header, and clears the other members. Each such struct wb_name has a macro
 * WB_NAME_INIT for C and C++: `wb_tensor tensor = WB_TENSOR_INIT;`.
 */
#ifdef __cplusplus
extern "C++" {
template <typename type> inline type wb_init(void)
{
    type value = type();
    value.size = sizeof value;
    return value;
}
}
#define WB_INIT(type) wb_init<type>()
#else
#define WB_INIT(type) {.size = sizeof(type)}
#endif

/*
 * Structs that begin with `size` may get more members in later versions. The library reads and
 * writes only the members that both the caller's version and its own version of the struct have.
 * Members that only the library's version has get their defaults (0, unless noted otherwise).
 * Members that only the caller's version has must be zero. The library does not change `size`. In
 * an array of such structs all elements have the same size.
 *
 * All other structs never change their layout: wb_error, wb_allocator, wb_executor, wb_progress,
 * wb_axis, wb_section, wb_distance, wb_convert_rule and wb_convert_lora.
 */

/* ---- status and error ---- */

/* The result of a call. The numbers are part of the ABI and are never reused. */
typedef enum wb_status {
    WB_OK = 0,
    WB_ERROR_ARGUMENT = 1,    /* an argument of the caller is invalid */
    WB_ERROR_MEMORY = 2,      /* out of memory */
    WB_ERROR_IO = 3,          /* the operating system refused or failed to read or write */
    WB_ERROR_FORMAT = 4,      /* the file violates its format */
    WB_ERROR_LIMIT = 5,       /* a limit of wb_limits is exceeded */
    WB_ERROR_UNSUPPORTED = 6, /* the input is valid, but this call does not support it */
    WB_ERROR_NOT_FOUND = 7,   /* the file, tensor or key does not exist */
    WB_ERROR_CHANGED = 8,     /* a file changed since it was opened */
    WB_ERROR_TYPE = 9,        /* a metadata value has another type than requested */
    WB_ERROR_CANCELLED = 10   /* a callback of the caller stopped the call */
} wb_status;

/* Returns the name of a status in lower case ("format"), or "unknown"; the string is static. */
WB_API const char *wb_status_name(wb_status status);

#define WB_NO_OFFSET UINT64_MAX

/*
 * Describes an error, its place and its remedy. The caller owns the struct. It points to no
 * allocated memory, so it can also report that no memory is left. All strings end with NUL. `file`
 * and `name` are truncated to fit, and bytes in them that are not printable UTF-8 are written as
 * \xNN.
 */
typedef struct wb_error {
    wb_status status;
    uint32_t os_error; /* errno of the failed system call, 0 if none failed */
    uint64_t offset;   /* file offset of the error, in bytes, or WB_NO_OFFSET */
    const char *code;  /* stable identifier of the error, see docs/findings.md; static */
    char file[512];    /* path of the file, or empty */
    char name[256];    /* name of the tensor or key, or empty */
    char message[512]; /* one sentence: what is wrong */
    char advice[256];  /* one sentence: what to do; may be empty */
} wb_error;

/* ---- memory, threads, limits and progress provided by the caller ---- */

/* Allocates memory for the library. Must be thread-safe if several threads use the model. */
typedef struct wb_allocator {
    void *ctx;
    /* Returns memory with the alignment of malloc, or NULL if no memory is available. */
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *memory, size_t bytes); /* `bytes` is the number passed to alloc */
} wb_allocator;

/*
 * Runs tasks of the library on several threads. If the caller provides no executor, all tasks run
 * in the calling thread.
 */
typedef struct wb_executor {
    void *ctx;
    /*
     * Calls body(arg, i) once for each i < n, in any order, on any threads, and returns when all
     * these calls have returned.
     */
    void (*parallel_for)(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg);
} wb_executor;

/*
 * Upper limits for the headers, files and tensors of a model. If a model exceeds a limit other than
 * spool_memory, the call fails with LIMIT. Below, the default of each limit is in brackets, and "at
 * most" gives the largest value that has an effect.
 */
typedef struct wb_limits {
    size_t size; /* sizeof(wb_limits) */
    /* bytes of a safetensors header [100,000,000, as in the official library]; at most 2^32 - 1 */
    uint64_t safetensors_header;
    /* bytes of a GGUF file before the tensor data [1,073,741,824]; at most 2^32 - 1 */
    uint64_t gguf_header;
    /* bytes of the header of a .npy file or member [65,536]; at most 131,072 */
    uint64_t npy_header;
    uint64_t npz_directory; /* bytes of the central directory of a .npz file [268,435,456] */
    /*
     * bytes by which the decompressed size of a tensor exceeds 16 times its compressed size, summed
     * over the tensors of a file [268,435,456]
     */
    uint64_t inflated;
    uint64_t json_bytes; /* bytes of a JSON sidecar file [268,435,456] */
    uint64_t files;      /* number of files of a model [65,536] */
    uint64_t rank;       /* number of dimensions of a tensor [65,536] */
    /*
     * largest input from a pipe that is kept in memory, in bytes; larger input is copied to a
     * temporary file [67,108,864]
     */
    uint64_t spool_memory;
} wb_limits;
/*
 * Sets all members to their defaults. The initialisers of other structs clear all members but size.
 */
#define WB_LIMITS_INIT                                                                             \
    {sizeof(wb_limits),                                                                            \
     100000000,                                                                                    \
     (uint64_t)1 << 30,                                                                            \
     (uint64_t)64 << 10,                                                                           \
     (uint64_t)256 << 20,                                                                          \
     (uint64_t)256 << 20,                                                                          \
     (uint64_t)256 << 20,                                                                          \
     65536,                                                                                        \
     65536,                                                                                        \
     (uint64_t)64 << 20}

/*
 * Sets all limits of version 0.1 to their defaults, and `size` to the size of the struct in version
 * 0.1. Ignores the former contents. Use WB_LIMITS_INIT instead to set limits that later versions
 * add.
 */
WB_API void wb_limits_default(wb_limits *limits);

/*
 * A callback for the progress of a long operation. It is called repeatedly, by the calling thread
 * unless noted otherwise.
 */
typedef struct wb_progress {
    void *ctx;
    /*
     * Receives the number of processed bytes, `done` of `total`. A result other than 0 stops the
     * operation with WB_ERROR_CANCELLED.
     */
    int (*report)(void *ctx, uint64_t done, uint64_t total);
} wb_progress;

#ifdef __cplusplus
}
#endif

#endif
