/*
 * weighbridge/base.h: versions, status and error, and what callers may provide to every function.
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

/* Returns the version of the library at run time, as "0.1.0". Static. */
WB_API const char *wb_version(void);

/*
 * The value of a struct that begins with its size, set up for this version of the header, in C and
 * in C++: `wb_tensor tensor = WB_TENSOR_INIT;`. Every such struct WB_NAME has its WB_NAME_INIT.
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
 * Structs that begin with `size` may be longer in later versions: the library reads and writes as
 * much as the caller's struct and its own have in common. Members that the caller's struct does not
 * have keep their defaults (0, unless noted otherwise). Members that the library does not have must
 * be zero. `size` stays as the caller set it. In an array of such structs all elements have the
 * same size.
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
    WB_ERROR_UNSUPPORTED = 6, /* valid, but this call does not support it */
    WB_ERROR_NOT_FOUND = 7,   /* the file, tensor or key does not exist */
    WB_ERROR_CHANGED = 8,     /* a file changed since it was opened */
    WB_ERROR_TYPE = 9,        /* a metadata value has another type than requested */
    WB_ERROR_CANCELLED = 10   /* the caller's callback requested to stop */
} wb_status;

/* Returns the name of a status in lower case ("format"), "unknown" for any other number. Static. */
WB_API const char *wb_status_name(wb_status status);

#define WB_NO_OFFSET UINT64_MAX

/*
 * What went wrong, where, and what to do about it. Owned by the caller. The struct points to no
 * allocated memory, so it also works when memory is out. All strings end with NUL. `file` and
 * `name` are truncated to fit, and bytes in them that are not printable UTF-8 are written as \xNN.
 */
typedef struct wb_error {
    wb_status status;
    uint32_t os_error; /* errno of the failed system call, 0 if none failed */
    uint64_t offset;   /* in bytes from the start of the file, or WB_NO_OFFSET */
    const char *code;  /* stable identifier, see docs/findings.md; static */
    char file[512];    /* path of the file, or empty */
    char name[256];    /* name of the tensor or key, or empty */
    char message[512]; /* one sentence: what is wrong */
    char advice[256];  /* one sentence: what to do; may be empty */
} wb_error;

/* ---- what the caller may provide: memory, threads, limits, progress ---- */

/* Allocates memory for the library. Must be thread-safe if several threads use the model. */
typedef struct wb_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t bytes); /* aligned as by malloc; NULL if memory is out */
    void (*free)(void *ctx, void *memory, size_t bytes); /* `bytes` as given to alloc */
} wb_allocator;

/* Runs work on several threads. Without an executor everything runs in the calling thread. */
typedef struct wb_executor {
    void *ctx;
    /*
     * Calls body(arg, i) once for each i < n, in any order, on any threads, and returns when all
     * have returned.
     */
    void (*parallel_for)(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg);
} wb_executor;

/* Limits on what a file may declare. Defaults (wb_limits_default) are in brackets. */
typedef struct wb_limits {
    size_t size; /* sizeof(wb_limits) */
    /* bytes of a safetensors header [100,000,000, as the official library]; at most 2^32 - 1 */
    uint64_t safetensors_header;
    /* bytes of a GGUF file before the tensor data [1,073,741,824]; at most 2^32 - 1 */
    uint64_t gguf_header;
    /* bytes of the header of a .npy file or member [65,536]; at most 131,072 */
    uint64_t npy_header;
    uint64_t npz_directory; /* bytes of the central directory of a .npz file [268,435,456] */
    /* bytes of all compressed tensors of a file after decompression [68,719,476,736] */
    uint64_t inflated;
    uint64_t json_bytes; /* bytes of a JSON sidecar file [268,435,456] */
    uint64_t files;      /* number of files of a model [65,536] */
    uint64_t rank;       /* number of dimensions of a tensor [65,536] */
    /* bytes of a stream that are buffered in memory before a temporary file is used [67,108,864] */
    uint64_t spool_memory;
} wb_limits;
/* The defaults, as wb_limits_default. All other initialisers set `size` and clear the rest. */
#define WB_LIMITS_INIT                                                                             \
    {sizeof(wb_limits),                                                                            \
     100000000,                                                                                    \
     (uint64_t)1 << 30,                                                                            \
     (uint64_t)64 << 10,                                                                           \
     (uint64_t)256 << 20,                                                                          \
     (uint64_t)64 << 30,                                                                           \
     (uint64_t)256 << 20,                                                                          \
     65536,                                                                                        \
     65536,                                                                                        \
     (uint64_t)64 << 20}

/*
 * Sets all limits of version 0.1 to their defaults, and `size` to the size of the struct in version
 * 0.1. The former contents are ignored. To set limits of later versions start with WB_LIMITS_INIT.
 */
WB_API void wb_limits_default(wb_limits *limits);

/* Called repeatedly during long operations, by the calling thread. */
typedef struct wb_progress {
    void *ctx;
    /*
     * `done` of `total` bytes are processed. A result other than 0 stops the operation with
     * WB_ERROR_CANCELLED.
     */
    int (*report)(void *ctx, uint64_t done, uint64_t total);
} wb_progress;

#ifdef __cplusplus
}
#endif

#endif
