/*
 * weighbridge.h: open, check and read files of model weights.
 *
 *     wb_model *model;
 *     wb_error error;
 *     if (wb_open("path/to/model", NULL, &model, &error) != WB_OK) {
 *         fprintf(stderr, "%s\n", error.message);
 *         return 1;
 *     }
 *     uint64_t i;
 *     if (wb_tensor_find(model, "model.norm.weight", SIZE_MAX, &i) == WB_OK) {
 *         wb_tensor tensor = {.size = sizeof tensor};
 *         const void *bytes;
 *         wb_tensor_at(model, i, &tensor, &error);
 *         wb_tensor_data(model, i, &bytes, &error);
 *     }
 *     wb_close(model);
 *
 * The rules that hold for the whole interface
 *
 * Status.    A function that can fail returns a wb_status, which must be looked at, and takes an
 *            optional wb_error that it fills on failure. A failed call leaves its outputs zeroed.
 * Ownership. "Borrowed until X" means the library keeps the memory and frees it at X; "owned,
 *            release with Y" means the caller has it now. Inputs are read during the call only,
 *            unless a function says otherwise.
 * Threads.   An open model never changes: any number of threads may use it at the same time, except
 *            that wb_close must be the last call. Different models are independent.
 * Manners.   The library does not print, exit, abort, install signal handlers or start threads, and
 *            keeps no global state that a caller can notice.
 * Names.     Names and keys in files may hold any byte, NUL included, so each is a pointer and a
 *            length. Where a caller passes a length, SIZE_MAX means strlen. Strings handed out by
 *            the library also end with a NUL that the length does not count.
 * Structs.   A struct whose first member is `size` is set up with sizeof by the caller, so that it
 *            can grow in later versions. Everything passes through pointers.
 * Shapes.    Row-major, outermost dimension first, in elements.
 *
 * Everything here is available since version 0.1.0 unless noted otherwise.
 */
#ifndef WEIGHBRIDGE_H
#define WEIGHBRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "weighbridge/dtypes.h"

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

/* --------------------------------------------------------------------------------------------- */
/* Status, error                                                                                 */
/* --------------------------------------------------------------------------------------------- */

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
    uint32_t os_error;  /* errno of the failed system call, 0 where none failed */
    uint64_t offset;    /* in bytes from the start of the file, WB_NO_OFFSET where none applies */
    const char *code;   /* a stable identifier such as "safetensors-offsets" (docs/findings.md); static */
    char file[512];     /* the file, empty where none is concerned */
    char name[256];     /* the tensor or key, empty where none is concerned */
    char message[512];  /* a sentence that says what is wrong */
    char advice[256];   /* a sentence that says what to do, empty where there is nothing to say */
} wb_error;

/* --------------------------------------------------------------------------------------------- */
/* What the caller may bring: memory, threads, limits, progress                                  */
/* --------------------------------------------------------------------------------------------- */

/* Where memory comes from. Must be thread-safe if the model is used from several threads. */
typedef struct wb_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t bytes);           /* aligned as malloc does; NULL: none left */
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
    uint64_t json_bytes;         /* bytes of a JSON file beside the weights [268,435,456] */
    uint64_t files;              /* files of one model [65,536] */
    uint64_t rank;               /* dimensions of a tensor [65,536] */
    uint64_t spool_memory;       /* bytes of a stream kept in memory before a temporary file is used
                                    [67,108,864] */
} wb_limits;

WB_API void wb_limits_default(wb_limits *limits);

/* Called now and then during long work, from the calling thread. */
typedef struct wb_progress {
    void *ctx;
    /* `done` of `total` bytes; a result other than 0 makes the work stop with WB_ERROR_CANCELLED. */
    int (*report)(void *ctx, uint64_t done, uint64_t total);
} wb_progress;

/* --------------------------------------------------------------------------------------------- */
/* Opening a model                                                                               */
/* --------------------------------------------------------------------------------------------- */

typedef struct wb_model wb_model;
typedef struct wb_findings wb_findings;

/* How tensor bytes are reached. Headers are always read once, into private memory. */
typedef enum wb_access {
    WB_ACCESS_MAP = 0, /* mapped when first asked for: fastest, shared between processes. A file that
                          another program shortens afterwards raises SIGBUS when it is touched */
    WB_ACCESS_READ = 1,    /* read with pread: cannot fault; wb_tensor_data is not available */
    WB_ACCESS_SNAPSHOT = 2 /* copied into sealed memory when the model is opened: never changes */
} wb_access;

/* Follow the reference implementation where it accepts what the specification forbids. */
#define WB_OPEN_COMPATIBLE 1u

typedef struct wb_open_options {
    size_t size;      /* sizeof(wb_open_options) */
    wb_access access; /* default WB_ACCESS_MAP */
    uint32_t flags;   /* WB_OPEN_* */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* NULL: serial; copied */
} wb_open_options;

/*
 * Bytes that the caller provides. The struct is copied; `ctx` must stay valid until close is
 * called, or until wb_close where there is no close. All functions must be thread-safe.
 */
typedef struct wb_source {
    size_t size; /* sizeof(wb_source) */
    void *ctx;
    uint64_t bytes; /* length of the source */
    /* Reads up to n bytes at `offset` into dst and stores how many; 0 only at the end. */
    wb_status (*read)(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got);
    /* Optional. The n bytes at `offset`, valid until close; NULL if they cannot be had this way. */
    const void *(*map)(void *ctx, uint64_t offset, uint64_t n);
    /* Optional. Called once: when the model is closed, or before a failed open returns. */
    void (*close)(void *ctx);
} wb_source;

/*
 * Opens the model that `path` belongs to: a .safetensors file, any shard of a sharded model, or a
 * folder of them. The format is found by content, not by name. Costs time in proportion to the
 * headers and nothing in proportion to the weights.
 *
 * path     in the file system, NUL-terminated; symbolic links are followed, and only regular files
 *          and directories are opened
 * options  NULL: defaults
 * model    owned, release with wb_close
 *
 * Fails with FORMAT, LIMIT, UNSUPPORTED, IO, NOT_FOUND or MEMORY.
 */
WB_API wb_status wb_open(const char *path, const wb_open_options *options, wb_model **model,
                         wb_error *error) WB_MUST_CHECK;

/*
 * As wb_open, for an open file descriptor, which stays the caller's and may be closed afterwards.
 * A pipe or a terminal is read to its end, into memory or a temporary file (wb_limits.spool_memory).
 * `label` names the descriptor in messages.
 */
WB_API wb_status wb_open_fd(int fd, const char *label, const wb_open_options *options,
                            wb_model **model, wb_error *error) WB_MUST_CHECK;

/* As wb_open, for bytes in memory, borrowed until wb_close. `label` names them in messages. */
WB_API wb_status wb_open_memory(const void *bytes, size_t n, const char *label,
                                const wb_open_options *options, wb_model **model,
                                wb_error *error) WB_MUST_CHECK;

/* As wb_open, for a source of the caller's own. */
WB_API wb_status wb_open_source(const wb_source *source, const char *label,
                                const wb_open_options *options, wb_model **model,
                                wb_error *error) WB_MUST_CHECK;

/* Closes a model and frees all that was borrowed from it. NULL is ignored. */
WB_API void wb_close(wb_model *model);

/*
 * WB_OK if the files of the model are still what they were when it was opened (device, inode,
 * size, modification and change time); WB_ERROR_CHANGED with the file and what is different if not.
 */
WB_API wb_status wb_model_check(const wb_model *model, wb_error *error) WB_MUST_CHECK;

/*
 * 1 if `address` lies in a file this model has mapped, else 0. Async-signal-safe, so that a SIGBUS
 * handler of the application can tell whether a truncated model file is to blame.
 */
WB_API int wb_owns_address(const wb_model *model, const void *address);

/* The name of the container format, "safetensors". Static. */
WB_API const char *wb_format(const wb_model *model);

typedef struct wb_file {
    size_t size;          /* sizeof(wb_file) */
    const char *path;     /* as opened; borrowed until wb_close */
    const char *format;   /* static */
    uint64_t bytes;       /* length of the file */
    uint64_t data_offset; /* where its tensor bytes begin */
    uint64_t tensors;     /* how many it holds */
} wb_file;

WB_API uint64_t wb_file_count(const wb_model *model);
WB_API wb_status wb_file_at(const wb_model *model, uint64_t index, wb_file *file,
                            wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Tensors                                                                                       */
/* --------------------------------------------------------------------------------------------- */

typedef struct wb_tensor {
    size_t size;           /* sizeof(wb_tensor) */
    const char *name;      /* as in the file; borrowed until wb_close */
    size_t name_len;       /* bytes */
    wb_dtype dtype;
    uint32_t rank;         /* number of dimensions; 0 is a scalar */
    const uint64_t *shape; /* `rank` dimensions, outermost first; borrowed until wb_close */
    uint64_t elements;
    uint64_t bytes;  /* stored size */
    uint64_t file;   /* index for wb_file_at */
    uint64_t offset; /* of the first byte, from the start of that file */
} wb_tensor;

WB_API uint64_t wb_tensor_count(const wb_model *model);

/* Describes the tensor `index` < wb_tensor_count. Tensors stand in the order of the files. */
WB_API wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *tensor,
                              wb_error *error) WB_MUST_CHECK;

/* Stores the index of the tensor of that name, or returns WB_ERROR_NOT_FOUND. Constant time. */
WB_API wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len,
                                uint64_t *index) WB_MUST_CHECK;

/* 1 if there is a tensor of that name, else 0. */
WB_API int wb_tensor_has(const wb_model *model, const char *name, size_t name_len);

/* The dtype of the tensor of that name, or -1 if there is none. */
WB_API int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len);

/*
 * All names at once: name i is the `offsets[i + 1] - offsets[i] - 1` bytes at bytes + offsets[i],
 * followed by a NUL. There are wb_tensor_count + 1 offsets. Borrowed until wb_close.
 */
WB_API wb_status wb_tensor_names(const wb_model *model, const char **bytes,
                                 const uint64_t **offsets, wb_error *error) WB_MUST_CHECK;

/*
 * The stored bytes of a tensor, without a copy. They begin where the file has them and may be
 * unaligned for their dtype. Borrowed until wb_close. UNSUPPORTED in READ mode and for sources that
 * cannot be mapped: use wb_tensor_read there.
 */
WB_API wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes,
                                wb_error *error) WB_MUST_CHECK;

/* The indices start, start + step, … of one dimension, `count` of them. */
typedef struct wb_axis {
    uint64_t start;
    uint64_t count;
    int64_t step;  /* not 0; negative runs backwards; any value where count is at most 1 */
    uint32_t drop; /* 1: a single index, the dimension is not part of the result's shape */
    uint32_t reserved;
} wb_axis;

/* Which part of a tensor is read. */
typedef struct wb_slice {
    size_t size;         /* sizeof(wb_slice) */
    uint32_t rank;       /* of the tensor; 0: all of it, whatever its rank */
    const wb_axis *axes; /* `rank` of them */
    uint64_t first;      /* of the elements selected, in row-major order, begin with this one … */
    uint64_t count;      /* … and read this many; UINT64_MAX: all that remain */
} wb_slice;

/*
 * Reads a slice as NumPy writes it ("0:4,:,::2", "-1", "..., 3") for a tensor of this shape.
 * axes has room for `rank` of them. ARGUMENT with a message for what is not such a slice or leaves
 * the tensor. https://numpy.org/doc/stable/user/basics.indexing.html
 */
WB_API wb_status wb_slice_parse(const char *text, size_t len, const uint64_t *shape, uint32_t rank,
                                wb_axis *axes, wb_error *error) WB_MUST_CHECK;

/*
 * The number of elements and bytes that wb_tensor_read gives. `bytes` counts whole bytes; for
 * dtypes of less than eight bits UNSUPPORTED is returned where the result would not fill its last
 * byte.
 */
WB_API wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                                     int32_t dtype, uint64_t *elements, uint64_t *bytes,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Reads a tensor, or a slice of it, into the caller's memory, little-endian, converted to `dtype`.
 *
 * slice  NULL: the whole tensor
 * dtype  a wb_dtype, or -1 for the stored one. Conversions round to nearest, ties to even; what
 *        exceeds the range of a float becomes infinity, or NaN where there is none; integers and
 *        booleans saturate, and NaN becomes 0. Quantized values are decoded to F32 first; as stored
 *        they can only be had in whole blocks (UNSUPPORTED otherwise)
 * dst    `size` bytes, at least what wb_tensor_read_size says; unaligned is fine
 *
 * WB_ERROR_IO names the offset at which a file ended early. Safe on a file that changes, except in
 * MAP mode. Uses at most 2 MiB beside dst.
 */
WB_API wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                                int32_t dtype, void *dst, uint64_t size,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Metadata                                                                                      */
/* --------------------------------------------------------------------------------------------- */

/* The type of a metadata value. */
typedef enum wb_meta_type {
    WB_META_STRING = 1
} wb_meta_type;

typedef struct wb_meta {
    size_t size; /* sizeof(wb_meta) */
    const char *key; /* borrowed until wb_close */
    size_t key_len;
    wb_meta_type type;
    uint32_t file; /* the file it stands in, for wb_file_at */
} wb_meta;

WB_API uint64_t wb_meta_count(const wb_model *model);
WB_API wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *meta,
                            wb_error *error) WB_MUST_CHECK;

/* The string under `key`, borrowed until wb_close. NOT_FOUND if there is none, TYPE if no string. */
WB_API wb_status wb_meta_get_string(const wb_model *model, const char *key, size_t key_len,
                                    const char **value, size_t *value_len,
                                    wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Findings: what checking saw                                                                   */
/* --------------------------------------------------------------------------------------------- */

typedef enum wb_severity {
    WB_INFO = 0,    /* worth knowing; never changes a verdict */
    WB_WARNING = 1, /* usable, but something is not as it should be */
    WB_SEVERE = 2,  /* the values themselves are damaged or doubtful */
    WB_FATAL = 3    /* refused: there is no model */
} wb_severity;

typedef struct wb_finding {
    size_t size; /* sizeof(wb_finding) */
    wb_severity severity;
    const char *code;    /* stable identifier, see docs/findings.md; static */
    const char *file;    /* empty where none is concerned; strings live as long as the findings */
    const char *name;    /* tensor or key, printable as in wb_error; empty where none */
    const char *message; /* what was seen */
    const char *advice;  /* what to do, empty where there is nothing to say */
    uint64_t offset;     /* in bytes from the start of the file, or WB_NO_OFFSET */
} wb_finding;

/* What opening the model saw. Borrowed until wb_close. */
WB_API const wb_findings *wb_model_findings(const wb_model *model);

WB_API uint64_t wb_findings_count(const wb_findings *findings);
WB_API wb_status wb_findings_at(const wb_findings *findings, uint64_t index,
                                wb_finding *finding) WB_MUST_CHECK;

/* 0: sound, at most infos. 1: warnings or errors in values. 2: refused. */
WB_API int wb_findings_verdict(const wb_findings *findings);

/* Releases findings that wb_verify gave; not those of a model. NULL is ignored. */
WB_API void wb_findings_free(wb_findings *findings);

/* Read every byte of the tensors, not just the first `data_budget`. */
#define WB_VERIFY_DEEP 1u

typedef struct wb_verify_options {
    size_t size;                 /* sizeof(wb_verify_options) */
    const wb_open_options *open; /* NULL: defaults; the access mode is always READ */
    uint32_t flags;              /* WB_VERIFY_* */
    uint64_t data_budget;        /* bytes of tensor data to read, 0: 64 MiB */
    const wb_progress *progress; /* NULL: none */
} wb_verify_options;

/*
 * Checks the model at `path`: structure, the extent of every tensor, index against files, then the
 * values (NaN and infinity) as far as the budget goes. Gives findings whether or not the model could
 * be opened; what made opening fail is the finding of severity WB_FATAL.
 *
 * findings  owned, release with wb_findings_free
 *
 * Fails only where no verdict is possible: MEMORY, IO, NOT_FOUND, CANCELLED, ARGUMENT.
 */
WB_API wb_status wb_verify(const char *path, const wb_verify_options *options,
                           wb_findings **findings, wb_error *error) WB_MUST_CHECK;

/* As wb_verify, for a model that is open already. */
WB_API wb_status wb_verify_model(const wb_model *model, const wb_verify_options *options,
                                 wb_findings **findings, wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Element types                                                                                 */
/* --------------------------------------------------------------------------------------------- */

/* The name of a dtype ("BF16"), NULL for a number that is none. Static. */
WB_API const char *wb_dtype_name(int32_t dtype);

/* The dtype of that name, in any case, or -1. */
WB_API int32_t wb_dtype_find(const char *name, size_t name_len);

/* What an encoder does with an importance matrix. */
typedef enum wb_importance {
    WB_IMPORTANCE_IGNORED = 0,
    WB_IMPORTANCE_OPTIONAL = 1, /* uses it where there is one, with another result */
    WB_IMPORTANCE_REQUIRED = 2  /* does not work without */
} wb_importance;

typedef struct wb_dtype_info {
    size_t size;            /* sizeof(wb_dtype_info) */
    const char *name;       /* static */
    uint32_t block_size;    /* elements in a block; 1 for plain types */
    uint32_t block_bits;    /* bits of a block */
    uint32_t is_float;      /* 1: floating point */
    uint32_t is_complex;    /* 1: pairs of floats */
    uint32_t is_signed;     /* 1: has negative values */
    uint32_t decodes;       /* 1: wb_dequantize takes it */
    uint32_t encodes;       /* 1: wb_quantize takes it */
    wb_importance importance;
    const char *description; /* a line of text; static */
} wb_dtype_info;

WB_API wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *info) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Quantizing                                                                                    */
/* --------------------------------------------------------------------------------------------- */

/*
 * The bytes that `rows` rows of `columns` values take in a dtype: rows follow one another without
 * padding. ARGUMENT where a row is no whole number of blocks or bytes, or there is no such dtype.
 */
WB_API wb_status wb_quantized_size(int32_t dtype, uint64_t rows, uint64_t columns, uint64_t *bytes,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Encodes binary32 values in a dtype: GGML's quantized types, byte for byte as ggml_quantize_chunk
 * (ggml 0.21, compiled without contraction of floating-point operations), and every plain dtype but
 * the complex ones, rounded as wb_tensor_read says.
 *
 * dtype       a wb_dtype for which wb_dtype_info.encodes is 1
 * values      rows * columns of them, row after row; finite (the blocks of others are of no use, but
 *             nothing worse happens)
 * columns     a multiple of wb_dtype_info.block_size
 * importance  `columns` weights of the squared errors, not negative, for every row; NULL: none. See
 *             wb_dtype_info.importance
 * blocks      wb_quantized_size bytes, little-endian; unaligned is fine
 * size        bytes there is room for
 * executor    NULL: in the calling thread. The result does not depend on it
 *
 * ARGUMENT for a row that is no whole number of blocks, a matrix that is missing, too little room;
 * UNSUPPORTED for a dtype without encoder. Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_quantize(int32_t dtype, const float *values, uint64_t rows, uint64_t columns,
                             const float *importance, void *blocks, uint64_t size,
                             const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/*
 * Decodes blocks of a dtype into binary32 values, with the bits of ggml's to_float. Any bytes decode:
 * scales that are infinite or NaN give values that are.
 *
 * dtype     a wb_dtype for which wb_dtype_info.decodes is 1
 * blocks    `size` bytes, at least wb_quantized_size; unaligned is fine
 * columns   a multiple of wb_dtype_info.block_size
 * values    room for rows * columns
 * executor  as for wb_quantize
 *
 * ARGUMENT for a row that is no whole number of blocks and for too few bytes; UNSUPPORTED for complex
 * numbers. Thread-safe.
 */
WB_API wb_status wb_dequantize(int32_t dtype, const void *blocks, uint64_t size, uint64_t rows,
                               uint64_t columns, float *values, const wb_executor *executor,
                               wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Quantized weights of several parts                                                            */
/* --------------------------------------------------------------------------------------------- */

/*
 * The quantized modes of MLX, which are Ollama's int4 and int8 (affine of 4 and 8 bits), mxfp4, mxfp8
 * and nvfp4, too, and the NVFP4 of ModelOpt and compressed-tensors. A weight is packed codes, a scale
 * for each group of elements in a row, and for affine a bias: value = code * scale + bias.
 */
typedef enum wb_mlx_mode {
    WB_MLX_AFFINE = 1, /* 1 to 6 or 8 bits, groups of 32, 64 or 128; scales and biases floats */
    WB_MLX_MXFP4 = 2,  /* E2M1, groups of 32, scales E8M0 */
    WB_MLX_MXFP8 = 3,  /* E4M3, groups of 32, scales E8M0 */
    WB_MLX_NVFP4 = 4   /* E2M1, groups of 16, scales E4M3 */
} wb_mlx_mode;

/* How an encoder finds the exponent of an E8M0 scale. */
typedef enum wb_mlx_e8m0 {
    WB_MLX_E8M0_UP = 0,     /* MLX from 0.32.2 on: the least power of two that is not smaller */
    WB_MLX_E8M0_NEAREST = 1 /* MLX to 0.32.1, and Ollama: its logarithm rounded to nearest */
} wb_mlx_e8m0;

/* What a scale g of the whole tensor means beside the scale s of a group. */
typedef enum wb_mlx_global {
    WB_MLX_GLOBAL_NONE = 0,
    WB_MLX_GLOBAL_AMAX = 1,   /* MLX: value * (s * (g / 2688)), g the largest magnitude of all */
    WB_MLX_GLOBAL_LAST = 2,   /* Ollama, global_scale: (value * s) * g */
    WB_MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2: value * (s * g) */
    WB_MLX_GLOBAL_DIVISOR = 4 /* compressed-tensors, weight_global_scale: value * (s / g) */
} wb_mlx_global;

/* Decode affine to F32, too, as MLX does (see wb_mlx_dequantize). */
#define WB_MLX_NATIVE 1u

typedef struct wb_mlx_type {
    size_t size; /* sizeof(wb_mlx_type) */
    wb_mlx_mode mode;
    uint32_t bits;        /* 0: those of the mode, if it has only one choice */
    uint32_t group_size;  /* elements; 0 likewise */
    wb_mlx_e8m0 e8m0;     /* for encoding */
    wb_mlx_global global; /* nvfp4, LAST for all but affine; encoding knows AMAX only */
    float global_scale;   /* for encoding: wb_mlx_amax of the whole tensor */
    uint32_t flags;       /* WB_MLX_* */
} wb_mlx_type;

typedef struct wb_mlx_sizes {
    size_t size; /* sizeof(wb_mlx_sizes) */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;    /* 0 for all but affine */
    uint32_t weight_columns;  /* elements of U32 in a row of the packed weight */
    uint32_t groups;          /* in a row: columns of scales and biases */
} wb_mlx_sizes;

/*
 * What the parts of `rows` rows of `columns` elements take, with scales and biases of `dtype` for
 * affine (F32, F16 or BF16; the others ignore it). Leading dimensions count as rows. ARGUMENT for a
 * type there is none of and for rows that are no whole number of groups.
 */
WB_API wb_status wb_mlx_measure(const wb_mlx_type *type, int32_t dtype, uint64_t rows,
                                uint64_t columns, wb_mlx_sizes *sizes,
                                wb_error *error) WB_MUST_CHECK;

/* Where wb_mlx_quantize puts the parts; sizes are the room there is. */
typedef struct wb_mlx_buffers {
    size_t size; /* sizeof(wb_mlx_buffers) */
    void *weight;
    void *scales;
    void *biases; /* affine only */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;
} wb_mlx_buffers;

/*
 * Encodes values of `dtype` (F32, F16 or BF16), byte for byte as mlx.core.quantize on CPU (0.32.4);
 * scales and biases of affine come in the same dtype. Scale bytes that would wrap around in MLX are
 * clamped. Values that are not finite make their group useless, and do no other harm.
 *
 * values    rows * columns of them, row after row; unaligned is fine, here and in `parts`
 * executor  NULL: in the calling thread. The result does not depend on it
 *
 * Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_mlx_quantize(const wb_mlx_type *type, int32_t dtype, const void *values,
                                 uint64_t rows, uint64_t columns, const wb_mlx_buffers *parts,
                                 const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/* The largest magnitude of n values of `dtype` (F32, F16 or BF16), NaNs ignored. */
WB_API wb_status wb_mlx_amax(int32_t dtype, const void *values, uint64_t n, float *amax,
                             wb_error *error) WB_MUST_CHECK;

/* The parts of a quantized weight; sizes are those there are. */
typedef struct wb_mlx_parts {
    size_t size; /* sizeof(wb_mlx_parts) */
    const void *weight;
    const void *scales;
    const void *biases; /* affine only */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;
    int32_t scales_dtype; /* affine: F32, F16 or BF16 */
    int32_t biases_dtype;
} wb_mlx_parts;

/*
 * Decodes to values of `dtype`, any that floats convert to.
 *
 * affine  F32: code * scale in binary32, + bias, each rounded once. Other dtypes, and F32 with
 *         WB_MLX_NATIVE: as mlx.core.dequantize, which rounds the product to the dtype of the scales
 *         and the sum to that which scales and biases have in common; then converted
 * others  F32, F16, BF16: as mlx.core.dequantize with this dtype, scale and product each rounded to
 *         it. Other dtypes, and with a global scale all: in binary32, then converted
 *
 * Any bytes decode. NaNs come out as the positive quiet one.
 *
 * values  `size` bytes, at least rows * columns of `dtype`; unaligned is fine
 *
 * Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_mlx_dequantize(const wb_mlx_type *type, const wb_mlx_parts *parts,
                                   uint64_t rows, uint64_t columns, int32_t dtype, void *values,
                                   uint64_t size, const wb_executor *executor,
                                   wb_error *error) WB_MUST_CHECK;

/* FP8 with a scale for each block, as DeepSeek-V3's weight and weight_scale_inv. */
typedef struct wb_fp8_block {
    size_t size; /* sizeof(wb_fp8_block) */
    const void *weight;
    const void *scales;      /* factors, row after row; the last of a row or column may be for less */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    int32_t weight_dtype;    /* F8_E4M3, F8_E5M2 or their FNUZ forms */
    int32_t scales_dtype;    /* a float */
    uint64_t rows;
    uint64_t columns;
    uint32_t block_rows;     /* 0: 128 */
    uint32_t block_columns;  /* 0: 128 */
} wb_fp8_block;

/* Decodes to rows * columns binary32 values: weight * scale, rounded once. Thread-safe. */
WB_API wb_status wb_fp8_dequantize(const wb_fp8_block *tensor, float *values, uint64_t size,
                                   const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

typedef enum wb_int4_packing {
    WB_INT4_AWQ = 1, /* qweight [in, out / 8] */
    WB_INT4_GPTQ = 2 /* qweight [in / 8, out], zero-points stored less one */
} wb_int4_packing;

/* Four bits as AutoAWQ and AutoGPTQ pack them: qweight, qzeros and scales, all stored transposed. */
typedef struct wb_int4_tensor {
    size_t size; /* sizeof(wb_int4_tensor) */
    wb_int4_packing packing;
    const void *qweight;
    const void *qzeros;  /* [groups, out / 8] */
    const void *scales;  /* [groups, out] */
    const void *g_idx;   /* GPTQ: the group of each input, I32 [in]; NULL: in order */
    uint64_t qweight_bytes;
    uint64_t qzeros_bytes;
    uint64_t scales_bytes;
    uint64_t g_idx_bytes;
    int32_t scales_dtype; /* a float */
    uint64_t out;         /* rows of the result, a multiple of 8 */
    uint64_t in;          /* columns, for GPTQ a multiple of 8 */
    uint64_t group_size;  /* inputs; 0: all of them */
    uint32_t plain_zeros; /* 1: zero-points as they are, GPTQ's checkpoint_format gptq_v2 */
} wb_int4_tensor;

/*
 * Decodes to binary32 [out, in]: (code - zero) * scale, which is exact for scales of F16 and BF16.
 * FORMAT for a g_idx that names a group there is none of. Thread-safe.
 */
WB_API wb_status wb_int4_dequantize(const wb_int4_tensor *tensor, float *values, uint64_t size,
                                    const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
