/*
 * weighbridge/base.h: versions, status and error, and what the caller may provide to all parts of the library.
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

/* The version of the library that is running, as "0.1.0". Static. */
WB_API const char *wb_version(void);

/*
 * The value of a struct that begins with its size, set up for this version of the header, in C and in
 * C++: `wb_tensor tensor = WB_TENSOR_INIT;`. Every such struct WB_NAME has its WB_NAME_INIT.
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
 * Structs that begin with `size` may be longer in later versions: the library reads and writes as much
 * as the caller's struct and its own have in common. Members that the caller's struct does not have
 * keep their defaults (0, unless noted otherwise). Members that the library does not have must be zero.
 * `size` stays as the caller set it. In an array of such structs all elements have the same size.
 *
 * All other structs never change their layout: wb_error, wb_allocator, wb_executor, wb_progress,
 * wb_axis, wb_section, wb_distance, wb_convert_rule and wb_convert_lora.
 */

/* ---- status and error ---- */

/* What became of a call. The numbers are part of the ABI and are never reused. */
typedef enum wb_status {
    WB_OK = 0,
    WB_ERROR_ARGUMENT = 1,    /* the caller passed something that makes no sense */
    WB_ERROR_MEMORY = 2,      /* out of memory */
    WB_ERROR_IO = 3,          /* the operating system refused or failed to read or write */
    WB_ERROR_FORMAT = 4,      /* the bytes break the rules of their format */
    WB_ERROR_LIMIT = 5,       /* larger than a limit of wb_limits */
    WB_ERROR_UNSUPPORTED = 6, /* sound, but not something this call can do */
    WB_ERROR_NOT_FOUND = 7,   /* no such file, tensor or key */
    WB_ERROR_CHANGED = 8,     /* a file is no longer the one that was opened */
    WB_ERROR_TYPE = 9,        /* a metadata value is of another type than asked for */
    WB_ERROR_CANCELLED = 10   /* the caller's progress function asked to stop */
} wb_status;

/* The name of a status in lower case ("format"), "unknown" for any other number. Static. */
WB_API const char *wb_status_name(wb_status status);

#define WB_NO_OFFSET UINT64_MAX

/*
 * What went wrong, where, and what to do about it. Owned by the caller, has no outside memory, and
 * so works when there is none left. Every text ends with a NUL; file and name are cut to fit, and
 * bytes that are not printable UTF-8 are written in them as \xNN.
 */
typedef struct wb_error {
    wb_status status;
    uint32_t os_error; /* errno of the failed system call, 0 where none failed */
    uint64_t offset;   /* in bytes from the start of the file, WB_NO_OFFSET where none applies */
    const char *code;  /* a stable identifier (docs/findings.md); static */
    char file[512];    /* the file, empty where none is concerned */
    char name[256];    /* the tensor or key, empty where none is concerned */
    char message[512]; /* a sentence that says what is wrong */
    char advice[256];  /* a sentence that says what to do, empty where there is nothing to say */
} wb_error;

/* ---- what the caller may provide: memory, threads, limits, progress ---- */

/* Where memory comes from. Must be thread-safe if the model is used from several threads. */
typedef struct wb_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t bytes); /* aligned as malloc does; NULL: none left */
    void (*free)(void *ctx, void *memory, size_t bytes); /* `bytes` as given to alloc */
} wb_allocator;

/* How work is spread over threads. Without one everything runs in the calling thread. */
typedef struct wb_executor {
    void *ctx;
    /* Calls body(arg, i) once for every i < n, in any order, on any threads, and returns after. */
    void (*parallel_for)(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg);
} wb_executor;

/* How far the library lets a file go. wb_limits_default gives the values in brackets. */
typedef struct wb_limits {
    size_t size;                 /* sizeof(wb_limits) */
    uint64_t safetensors_header; /* bytes of one JSON header [100,000,000, as the official library];
                                    2^32 - 1 at most */
    uint64_t gguf_header;        /* bytes of a GGUF file before its tensors' data [1,073,741,824];
                                    2^32 - 1 at most */
    uint64_t npy_header;    /* bytes of the header of a .npy file or member [65,536]; 131,072 at
                                    most */
    uint64_t npz_directory; /* bytes of the central directory of a .npz file [268,435,456] */
    uint64_t inflated;      /* bytes that the compressed tensors of a file unpack to
                                    [68,719,476,736] */
    uint64_t json_bytes;    /* bytes of a JSON file beside the weights [268,435,456] */
    uint64_t files;         /* files of one model [65,536] */
    uint64_t rank;          /* dimensions of a tensor [65,536] */
    uint64_t spool_memory;  /* bytes of a stream kept in memory before a temporary file is used
                                    [67,108,864] */
} wb_limits;
/* With the defaults of wb_limits_default; all other initialisers set `size` and clear the rest. */
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

WB_API void wb_limits_default(wb_limits *limits);

/* Called now and then during long work, from the calling thread. */
typedef struct wb_progress {
    void *ctx;
    /* `done` of `total` bytes; a result other than 0 makes the work stop with WB_ERROR_CANCELLED. */
    int (*report)(void *ctx, uint64_t done, uint64_t total);
} wb_progress;

#ifdef __cplusplus
}
#endif

#endif
