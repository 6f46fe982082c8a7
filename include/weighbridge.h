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
    uint32_t os_error; /* errno of the failed system call, 0 where none failed */
    uint64_t offset;   /* in bytes from the start of the file, WB_NO_OFFSET where none applies */
    const char *code;  /* a stable identifier (docs/findings.md); static */
    char file[512];    /* the file, empty where none is concerned */
    char name[256];    /* the tensor or key, empty where none is concerned */
    char message[512]; /* a sentence that says what is wrong */
    char advice[256];  /* a sentence that says what to do, empty where there is nothing to say */
} wb_error;

/* --------------------------------------------------------------------------------------------- */
/* What the caller may bring: memory, threads, limits, progress                                  */
/* --------------------------------------------------------------------------------------------- */

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
    /* Mapped when first asked for: fastest, shared between processes. A file that another program
     * shortens afterwards raises SIGBUS when it is touched. */
    WB_ACCESS_MAP = 0,
    WB_ACCESS_READ = 1,    /* read with pread: cannot fault; wb_tensor_data is not available */
    WB_ACCESS_SNAPSHOT = 2 /* copied into sealed memory when the model is opened: never changes */
} wb_access;

/* Follow the reference implementation where it accepts what the specification forbids. */
#define WB_OPEN_COMPATIBLE 1u

typedef struct wb_open_options {
    size_t size;                   /* sizeof(wb_open_options) */
    wb_access access;              /* default WB_ACCESS_MAP */
    uint32_t flags;                /* WB_OPEN_* */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* NULL: serial; copied */
    const char *store; /* an Ollama store (the folder with manifests and blobs), NULL: that of the
                          environment, OLLAMA_MODELS or ~/.ollama/models; read during the call */
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
 * Opens the model that `path` belongs to: a .safetensors file, any shard of a sharded model, a folder
 * of them, a GGUF file or any part of a split one, a .npy or .npz file, a manifest of an Ollama store,
 * "ollama://[host/][namespace/]model[:tag]", or, with wb_open_options.store, a name in that store where
 * there is no such path. The format is found by content, not by name. Costs time in proportion to the
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

/* One model of an Ollama store. Strings are borrowed during the call that hands it out. */
typedef struct wb_store_entry {
    size_t size;      /* sizeof(wb_store_entry) */
    const char *name; /* as Ollama writes it, defaults left out: "llama3:8b"; what wb_open takes */
    const char *path; /* of the manifest, which wb_open takes too */
    uint64_t bytes;   /* of all its layers, as the manifest says */
    uint64_t layers;
    uint64_t tensors;      /* layers of a tensor each; 0 for a model in GGUF */
    const wb_error *error; /* NULL, or why the manifest could not be read */
} wb_store_entry;

/*
 * Calls `each` for every model of an Ollama store, in order of their paths. Reads the manifests and
 * nothing else.
 *
 * store    the folder with manifests and blobs; NULL: that of the environment, as for wb_open
 * options  allocator and limits; may be NULL
 * each     a result other than 0 ends the listing with WB_ERROR_CANCELLED
 *
 * A manifest that cannot be read is an entry with an error. Fails with NOT_FOUND, IO, MEMORY, CANCELLED.
 */
WB_API wb_status wb_store_list(const char *store, const wb_open_options *options,
                               int (*each)(void *ctx, const wb_store_entry *entry), void *ctx,
                               wb_error *error) WB_MUST_CHECK;

/* Closes a model and frees all that was borrowed from it. NULL is ignored. */
WB_API void wb_close(wb_model *model);

/*
 * WB_OK if the files of the model are still what they were when it was opened (device, inode,
 * size, modification and change time); WB_ERROR_CHANGED with the file and what is different if not.
 */
WB_API wb_status wb_model_check(const wb_model *model, wb_error *error) WB_MUST_CHECK;

/*
 * *reads is 1 where a path leads, by whatever name, to a file that the model is read from, now or when it is
 * asked for: of its weights, or one beside them, such as config.json and tokenizer.json. Who writes there
 * takes something of the model away. 0 where there is no file. Fails with ARGUMENT for no path, MEMORY.
 */
WB_API wb_status wb_model_reads(const wb_model *model, const char *path, int *reads,
                                wb_error *error) WB_MUST_CHECK;

/*
 * 1 if `address` lies in a file this model has mapped, else 0. Async-signal-safe, so that a SIGBUS
 * handler of the application can tell whether a truncated model file is to blame.
 */
WB_API int wb_owns_address(const wb_model *model, const void *address);

/* The name of the container format: "safetensors", "gguf", "npy" or "npz". Static. */
WB_API const char *wb_format(const wb_model *model);

typedef struct wb_file {
    size_t size;          /* sizeof(wb_file) */
    const char *path;     /* as opened; borrowed until wb_close */
    const char *format;   /* static */
    uint64_t bytes;       /* length of the file */
    uint64_t data_offset; /* where its tensor bytes begin */
    uint64_t tensors;     /* how many it holds */
    uint32_t version;     /* of the format, 0 where it has none */
    uint32_t big_endian;  /* 1: numbers are stored most significant byte first */
} wb_file;

WB_API uint64_t wb_file_count(const wb_model *model);
WB_API wb_status wb_file_at(const wb_model *model, uint64_t index, wb_file *file,
                            wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Tensors                                                                                       */
/* --------------------------------------------------------------------------------------------- */

/* What is different about the bytes of a tensor in its file. */
#define WB_STORED_BIG_ENDIAN 1u /* numbers are stored most significant byte first */
#define WB_STORED_COLUMNS 2u    /* column-major: the first index runs fastest */
#define WB_STORED_DEFLATED 4u   /* compressed; `offset` is where the compressed bytes begin */

typedef struct wb_tensor {
    size_t size;      /* sizeof(wb_tensor) */
    const char *name; /* as in the file; borrowed until wb_close */
    size_t name_len;  /* bytes */
    wb_dtype dtype;
    uint32_t rank;         /* number of dimensions; 0 is a scalar */
    const uint64_t *shape; /* `rank` dimensions, outermost first; borrowed until wb_close */
    uint64_t elements;
    uint64_t bytes;   /* stored size; of compressed ones the unpacked size */
    uint64_t file;    /* index for wb_file_at */
    uint64_t offset;  /* of the first byte, from the start of that file */
    uint32_t storing; /* WB_STORED_*; 0: the elements lie at `offset`, row-major, little-endian */
} wb_tensor;

/*
 * A quantized weight that is stored with scales and biases beside it is one tensor of several parts:
 * its shape is that of the values, its dtype, file and offset are those of the packed values, its
 * bytes those of all parts. The parts are not counted here, but can be found by their own names, and
 * have numbers of their own, from wb_tensor_count on, by which all functions take them.
 */
WB_API uint64_t wb_tensor_count(const wb_model *model);

/* Describes a tensor, or a part of one. Tensors stand in the order of the files. */
WB_API wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *tensor,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Stores the index of the tensor of that name, as the files have it or canonical, or returns
 * WB_ERROR_NOT_FOUND. Constant time, but for the first name that no file has, which makes canonical
 * names be worked out and so may fail with MEMORY.
 */
WB_API wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len,
                                uint64_t *index) WB_MUST_CHECK;

/* 1 if wb_tensor_find finds a tensor of that name, else 0. */
WB_API int wb_tensor_has(const wb_model *model, const char *name, size_t name_len);

/* How the values of a tensor are stored. */
typedef struct wb_encoding {
    size_t size;         /* sizeof(wb_encoding) */
    const char *type;    /* "plain", the name of a ggml type, "affine", "mxfp4", "mxfp8", "nvfp4",
                            "int4", "int8", "fp8_block", "awq" or "gptq"; static */
    uint32_t bits;       /* of a value, rounded down for ggml's types */
    uint32_t group_size; /* values along the last dimension that share a scale; 0 for plain */
    int32_t dtype;       /* the number engines know it by: a wb_dtype, or 97 to 106 for MLX's types:
                            affine of 1, 2, 3, 4, 5, 6, 8 bits 97, 98, 99, 100, 103, 102, 101;
                            mxfp4 104, mxfp8 105, nvfp4 106 */
    uint32_t parts;      /* 1, or more for a tensor of several parts */
    uint32_t global;     /* a wb_mlx_global: what the global scale means, where there is one */
} wb_encoding;

WB_API wb_status wb_tensor_encoding(const wb_model *model, uint64_t index, wb_encoding *encoding,
                                    wb_error *error) WB_MUST_CHECK;

/* One of the stored tensors that a tensor consists of. */
typedef struct wb_part {
    size_t size; /* sizeof(wb_part) */
    const char
        *role;      /* "values", "scales", "biases", "global_scale" or "order"; "expert" of experts
                         that are stored one by one; static */
    uint64_t index; /* for wb_tensor_at, wb_tensor_data and wb_tensor_read */
} wb_part;

/* Describes part `number` < wb_encoding.parts. Part 0 is the packed values. */
WB_API wb_status wb_tensor_part(const wb_model *model, uint64_t index, uint32_t number,
                                wb_part *part, wb_error *error) WB_MUST_CHECK;

/* wb_encoding.dtype of the tensor of that name, or -1 if there is none. */
WB_API int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len);

/* wb_encoding.bits of a quantized tensor, 0 for a plain one and where there is none of that name. */
WB_API uint32_t wb_quant_bits(const wb_model *model, const char *name, size_t name_len);

/* wb_encoding.group_size of the tensor of that name, or 0. */
WB_API uint32_t wb_quant_group_size(const wb_model *model, const char *name, size_t name_len);

typedef enum wb_names_kind {
    WB_NAMES_NATIVE = 0,   /* as the files have them */
    WB_NAMES_CANONICAL = 1 /* empty where a tensor has none; of each expert that of all experts */
} wb_names_kind;

/*
 * The names of all tensors at once: name i, of tensor i < wb_tensor_count, is the
 * `offsets[i + 1] - offsets[i] - 1` bytes at bytes + offsets[i], followed by a NUL. There are
 * wb_tensor_count + 1 offsets. Borrowed until wb_close.
 */
WB_API wb_status wb_tensor_names(const wb_model *model, wb_names_kind kind, const char **bytes,
                                 const uint64_t **offsets, wb_error *error) WB_MUST_CHECK;

/*
 * The stored bytes of a tensor, without a copy. They begin where the file has them and may be
 * unaligned for their dtype. Borrowed until wb_close. UNSUPPORTED in READ mode and for sources that
 * cannot be mapped, and for tensors whose `storing` is not 0, where wb_tensor_read does; and for
 * tensors of several parts: ask for the parts.
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
 * Reads a tensor, or a slice of it, into the caller's memory, little-endian whatever the file is,
 * converted to `dtype`. Of types made of blocks (wb_dtype_info.block_size) slices are whole blocks.
 *
 * slice  NULL: the whole tensor
 * dtype  a wb_dtype, or -1 for the stored one. Conversions round to nearest, ties to even; what
 *        exceeds the range of a float becomes infinity, or NaN where there is none; integers and
 *        booleans saturate, and NaN becomes 0. Quantized values are decoded to F32 first; as stored
 *        they can only be had in whole blocks (UNSUPPORTED otherwise)
 * dst    `size` bytes, at least what wb_tensor_read_size says; unaligned is fine
 *
 * WB_ERROR_IO names the offset at which a file ended early. Safe on a file that changes, except in
 * MAP mode. Uses at most 3 MiB beside dst; but a tensor that is stored by columns or transposed (AWQ,
 * GPTQ), or compressed and read backwards, is read into memory whole, and the last two of them stay
 * there until others are or the model is closed.
 * What is compressed is unpacked from front to back, going on where an earlier call has come to, and
 * its checksum compared at its end; damage is a WB_ERROR_FORMAT.
 */
WB_API wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                                int32_t dtype, void *dst, uint64_t size,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* What the weights mean: canonical names and the config                                         */
/* --------------------------------------------------------------------------------------------- */

/*
 * A tensor has one canonical name, "layers.0.attention.q.weight", whatever its file calls it;
 * docs/format/names.md has them all. They are known for the architectures named there, and for a
 * model that does not say what it is as far as it calls its tensors what most do.
 *
 * Experts that are stored one by one are one canonical tensor [experts, outputs, inputs] that lies in
 * several places: wb_tensor_find gives it a number behind those of all parts, by which the functions
 * of tensors take it. Where output and embedding are tied, "output.weight" is the embedding.
 */

/*
 * The canonical name of the tensor that the files call `name`, borrowed until wb_close; of an expert
 * stored by itself that of all experts. NOT_FOUND if there is no such tensor or it has no canonical
 * name. *canonical_len, which may be NULL, is its length.
 */
WB_API wb_status wb_canonical_name(const wb_model *model, const char *name, size_t name_len,
                                   const char **canonical, size_t *canonical_len,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * What the files call the tensor of that canonical name, borrowed until wb_close; of experts stored
 * one by one what they call the first. NOT_FOUND if there is no such tensor.
 */
WB_API wb_status wb_native_name(const wb_model *model, const char *canonical, size_t canonical_len,
                                const char **name, size_t *name_len, wb_error *error) WB_MUST_CHECK;

/* Where a field of the config comes from. */
typedef enum wb_origin {
    WB_ORIGIN_ABSENT = 0,  /* not known: the field is 0 or NULL */
    WB_ORIGIN_FILE = 1,    /* a file says so */
    WB_ORIGIN_DEFAULT = 2, /* what the architecture takes where files are silent */
    WB_ORIGIN_DERIVED = 3  /* follows from other fields, or from the tensors */
} wb_origin;

/* The fields of wb_config. */
typedef enum wb_config_field {
    WB_CONFIG_ARCHITECTURE = 0,
    WB_CONFIG_DIM = 1,
    WB_CONFIG_N_LAYERS = 2,
    WB_CONFIG_N_HEADS = 3,
    WB_CONFIG_N_KV_HEADS = 4,
    WB_CONFIG_HEAD_DIM = 5,
    WB_CONFIG_Q_DIM = 6,
    WB_CONFIG_KV_DIM = 7,
    WB_CONFIG_FFN_DIM = 8,
    WB_CONFIG_VOCAB_SIZE = 9,
    WB_CONFIG_MAX_SEQ_LEN = 10,
    WB_CONFIG_NORM_EPS = 11,
    WB_CONFIG_ROPE_THETA = 12,
    WB_CONFIG_SLIDING_WINDOW = 13,
    WB_CONFIG_SLIDING_WINDOW_PATTERN = 14,
    WB_CONFIG_ROPE_LOCAL_THETA = 15,
    WB_CONFIG_N_EXPERTS = 16,
    WB_CONFIG_N_EXPERTS_USED = 17,
    WB_CONFIG_EXPERT_FFN_DIM = 18,
    WB_CONFIG_TIE_EMBEDDINGS = 19,
    WB_CONFIG_ROPE_LAYOUT = 20,
    WB_CONFIG_NORM_OFFSET = 21,
    WB_CONFIG_ENC_N_LAYERS = 22,
    WB_CONFIG_ENC_N_HEADS = 23,
    WB_CONFIG_ENC_DIM = 24,
    WB_CONFIG_ENC_FFN_DIM = 25,
    WB_CONFIG_N_MELS = 26,
    WB_CONFIG_ENC_MAX_SEQ_LEN = 27,
    WB_CONFIG_QUANT_BITS = 28,
    WB_CONFIG_QUANT_GROUP_SIZE = 29
} wb_config_field;

#define WB_CONFIG_FIELDS 30 /* in this version; later ones have more, at the end */

/* How RoPE pairs the rows of q and k. */
typedef enum wb_rope_layout {
    WB_ROPE_NONE = 0,
    WB_ROPE_HALF = 1,       /* row i with row i + head_dim / 2: Hugging Face and MLX, most GGUF */
    WB_ROPE_INTERLEAVED = 2 /* row 2 i with row 2 i + 1: GGUF of the Llama family */
} wb_rope_layout;

/* The facts about a model an engine needs before it loads weights. Counts and sizes are elements. */
typedef struct wb_config {
    size_t size;              /* sizeof(wb_config) */
    const char *architecture; /* as llama.cpp calls it ("llama", "qwen3moe"), or what the files say;
                                 borrowed until wb_close */
    uint64_t dim;             /* of a hidden state */
    uint64_t n_layers;
    uint64_t n_heads;
    uint64_t n_kv_heads;
    uint64_t head_dim;
    uint64_t q_dim;  /* n_heads * head_dim */
    uint64_t kv_dim; /* n_kv_heads * head_dim */
    uint64_t ffn_dim;
    uint64_t vocab_size;
    uint64_t max_seq_len;
    double norm_eps;
    double rope_theta;
    uint64_t sliding_window;         /* 0: every layer sees everything */
    uint64_t sliding_window_pattern; /* every so manieth layer sees everything */
    double rope_local_theta;         /* of layers with a sliding window, where it differs */
    uint64_t n_experts;              /* 0: dense */
    uint64_t n_experts_used;
    uint64_t expert_ffn_dim;
    uint32_t tie_embeddings; /* 1: the output is the embedding */
    wb_rope_layout rope_layout;
    uint32_t norm_offset;  /* 1: the files store the weights of norms minus 1 */
    uint64_t enc_n_layers; /* of the encoder beside the decoder, Whisper */
    uint64_t enc_n_heads;
    uint64_t enc_dim;
    uint64_t enc_ffn_dim;
    uint64_t n_mels;
    uint64_t enc_max_seq_len;
    uint64_t quant_bits; /* of most quantized values; 0: none are */
    uint64_t quant_group_size;
    uint8_t origin[WB_CONFIG_FIELDS]; /* wb_origin of each wb_config_field */
} wb_config;

/*
 * The config of a model, from GGUF key-values or config.json ("text_config" included), the same for
 * the same model whatever its format. Numbers that GGUF has as float32 are given as the shortest
 * decimal of that float32, so that an epsilon of 1e-5 is 1e-5 everywhere.
 *
 * Never fails for what files say: fields nobody knows are absent. The first call reads config.json
 * where there is one; MEMORY, or ARGUMENT for config->size.
 */
WB_API wb_status wb_config_get(const wb_model *model, wb_config *config,
                               wb_error *error) WB_MUST_CHECK;

/* A field of a config by its number, for those who list them all. */
typedef struct wb_config_value {
    size_t size;      /* sizeof(wb_config_value) */
    const char *name; /* "n_layers"; static */
    wb_origin origin;
    uint32_t is_float;
    uint64_t number;  /* of a count; 0 otherwise */
    double real;      /* of a float, and of a count as far as a double holds it */
    const char *text; /* of architecture and rope_layout, else NULL; borrowed as wb_config has it */
} wb_config_value;

/* Describes field < WB_CONFIG_FIELDS of a config that wb_config_get filled. */
WB_API wb_status wb_config_at(const wb_config *config, uint32_t field,
                              wb_config_value *value) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Metadata                                                                                      */
/* --------------------------------------------------------------------------------------------- */

/* The type of a metadata value. */
typedef enum wb_meta_type {
    WB_META_STRING = 1,
    WB_META_INT = 2,  /* an integer with a sign */
    WB_META_UINT = 3, /* an integer without */
    WB_META_FLOAT = 4,
    WB_META_BOOL = 5,
    WB_META_ARRAY = 6
} wb_meta_type;

typedef struct wb_meta {
    size_t size;     /* sizeof(wb_meta) */
    const char *key; /* borrowed until wb_close */
    size_t key_len;
    wb_meta_type type;
    uint32_t file;        /* the file it stands in, for wb_file_at; WB_NO_FILE: none of these */
    wb_meta_type element; /* ARRAY: the type of its elements; 0 for all others */
    uint32_t bits;  /* that a number, or each number of the array, is stored in; 0 for others */
    uint64_t count; /* ARRAY: elements; STRING: bytes; 1 for all others */
} wb_meta;

/*
 * An array in the metadata. What it points to is borrowed until wb_close; the struct may be copied.
 * Any number of threads may use the same one.
 */
typedef struct wb_meta_array {
    size_t size;          /* sizeof(wb_meta_array) */
    wb_meta_type element; /* the type of the elements, also where there are none */
    uint32_t bits;        /* that each number is stored in, 0 for strings and arrays */
    uint64_t count;       /* elements */
    const void *data;     /* numbers and booleans (a byte each, 0 or 1): as stored, little-endian,
                             unaligned, without gaps. NULL for strings and arrays */
    const void *array;    /* the library's */
    const void *base;     /* the library's */
} wb_meta_array;

/* The file of an entry that comes from what lies beside the weights, or follows from it. */
#define WB_NO_FILE UINT32_MAX

/*
 * There is one view of metadata, whatever the format. First come the entries of the weights' own
 * files, key-values of GGUF and strings of __metadata__. Behind them are, as far as files say or
 * imply them and no key-value has the key already:
 *   - scalars and simple arrays of config.json, generation_config.json and tokenizer_config.json, under
 *     their names, those within objects as "rope_scaling.factor"
 *   - what llama.cpp's converter makes of such files, under the keys of GGUF: "llama.block_count",
 *     "tokenizer.ggml.tokens" from tokenizer.json, tokenizer.model or vocab.txt, chat templates
 *   - for GGUF the names of config.json: "num_hidden_layers" answers there too
 * They are worked out by the first question that needs them, once; the answers never change. A
 * question for a key that no file has is such a question. What is wrong with these files is told by
 * wb_verify. docs/format/metadata.md lists the keys, and what cannot be known on either side.
 */

/*
 * The number of entries; a key that stands in several files of a model counts once. Where memory runs
 * out it counts those of the weights' own files alone; wb_meta_find then fails with MEMORY.
 */
WB_API uint64_t wb_meta_count(const wb_model *model);

/*
 * Describes the entry `index` < wb_meta_count. Entries of files stand in the order of the files.
 * NOT_FOUND for other numbers. Thread-safe.
 */
WB_API wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *meta,
                            wb_error *error) WB_MUST_CHECK;

/* Stores the index of the entry under `key`, or returns WB_ERROR_NOT_FOUND. Constant time. */
WB_API wb_status wb_meta_find(const wb_model *model, const char *key, size_t key_len,
                              uint64_t *index) WB_MUST_CHECK;

/*
 * The value under `key`. NOT_FOUND if there is none; TYPE if it is of another type, or a number that
 * the one asked for cannot hold: nothing is rounded, cut or taken for something else. A caller with a
 * default uses it for NOT_FOUND, or for both. Constant time, thread-safe.
 *
 * string  borrowed until wb_close; from GGUF it may hold any bytes, NUL included
 * int     INT, and UINT up to 2^63 - 1
 * uint    UINT, and INT from 0 on
 * float   FLOAT, and integers of up to 53 bits
 * bool    BOOL: 0 or 1
 */
WB_API wb_status wb_meta_get_string(const wb_model *model, const char *key, size_t key_len,
                                    const char **value, size_t *value_len,
                                    wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_int(const wb_model *model, const char *key, size_t key_len,
                                 int64_t *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_uint(const wb_model *model, const char *key, size_t key_len,
                                  uint64_t *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_float(const wb_model *model, const char *key, size_t key_len,
                                   double *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_bool(const wb_model *model, const char *key, size_t key_len,
                                  int *value, wb_error *error) WB_MUST_CHECK;

/*
 * The array under `key`: of any elements, of strings, of INT or UINT, of FLOAT. `array` has its size
 * set by the caller. NOT_FOUND if there is none, TYPE if the value is none or its elements are others.
 * An array without elements is what its file says it would be of. Constant time, thread-safe.
 */
WB_API wb_status wb_meta_get_array(const wb_model *model, const char *key, size_t key_len,
                                   wb_meta_array *array, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_string_array(const wb_model *model, const char *key, size_t key_len,
                                          wb_meta_array *array, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_int_array(const wb_model *model, const char *key, size_t key_len,
                                       wb_meta_array *array, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_float_array(const wb_model *model, const char *key, size_t key_len,
                                         wb_meta_array *array, wb_error *error) WB_MUST_CHECK;

/*
 * String `index` of an array of strings, borrowed until wb_close. Takes a few steps from one string to
 * the next; for many of them wb_meta_strings is faster. ARGUMENT if the array has other elements,
 * NOT_FOUND behind its end. Thread-safe.
 */
WB_API wb_status wb_meta_string_at(const wb_meta_array *array, uint64_t index, const char **value,
                                   size_t *value_len) WB_MUST_CHECK;

/*
 * Elements `first` to first + count - 1 of an array, into room for `count` of them. ARGUMENT if the
 * array has other elements, NOT_FOUND where it ends before; TYPE for a number that does not fit, and
 * then nothing of the result counts. Thread-safe.
 *
 * strings  pointers, borrowed until wb_close, and lengths in bytes; either may be NULL
 * ints     of INT, UINT and BOOL
 * uints    of INT, UINT and BOOL
 * floats   of FLOAT
 */
WB_API wb_status wb_meta_strings(const wb_meta_array *array, uint64_t first, uint64_t count,
                                 const char **values, size_t *lens) WB_MUST_CHECK;
WB_API wb_status wb_meta_ints(const wb_meta_array *array, uint64_t first, uint64_t count,
                              int64_t *values) WB_MUST_CHECK;
WB_API wb_status wb_meta_uints(const wb_meta_array *array, uint64_t first, uint64_t count,
                               uint64_t *values) WB_MUST_CHECK;
WB_API wb_status wb_meta_floats(const wb_meta_array *array, uint64_t first, uint64_t count,
                                double *values) WB_MUST_CHECK;

/*
 * Array `index` of an array of arrays. `element` has its size set by the caller. ARGUMENT if the array
 * has other elements, NOT_FOUND behind its end. Thread-safe.
 */
WB_API wb_status wb_meta_array_at(const wb_meta_array *array, uint64_t index,
                                  wb_meta_array *element) WB_MUST_CHECK;

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
    const char *manifest; /* path of a manifest (wb_hash_manifest) to check the files against,
                                    all of their bytes; NULL: none */
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
    size_t size;         /* sizeof(wb_dtype_info) */
    const char *name;    /* static */
    uint32_t block_size; /* elements in a block; 1 for plain types */
    uint32_t block_bits; /* bits of a block */
    uint32_t is_float;   /* 1: floating point */
    uint32_t is_complex; /* 1: pairs of floats */
    uint32_t is_signed;  /* 1: has negative values */
    uint32_t decodes;    /* 1: wb_dequantize takes it */
    uint32_t encodes;    /* 1: wb_quantize takes it */
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
    WB_MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2; GGUF, NAME.scale: value * (s * g) */
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
    uint64_t biases_bytes;   /* 0 for all but affine */
    uint32_t weight_columns; /* elements of U32 in a row of the packed weight */
    uint32_t groups;         /* in a row: columns of scales and biases */
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
    const void *scales; /* factors, row after row; the last of a row or column may be for less */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    int32_t weight_dtype; /* F8_E4M3, F8_E5M2 or their FNUZ forms */
    int32_t scales_dtype; /* a float */
    uint64_t rows;
    uint64_t columns;
    uint32_t block_rows;    /* 0: 128 */
    uint32_t block_columns; /* 0: 128 */
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
    const void *qzeros; /* [groups, out / 8] */
    const void *scales; /* [groups, out] */
    /* GPTQ: the group of each input, I32 [in]; NULL: in order. Scales and qzeros may then have more groups than the
     * inputs are of: of a part of the inputs those of the whole. */
    const void *g_idx;
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

/* --------------------------------------------------------------------------------------------- */
/* Devices and the weight provider                                                               */
/* --------------------------------------------------------------------------------------------- */

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

/*
 * A provider hands out the weights of a model, each in one buffer on a device, by canonical name,
 * whatever files they come from: as an engine's kernels take them, cached, whole or fused or sliced.
 */
typedef struct wb_provider wb_provider;

/* How the bytes of files are fetched. */
typedef enum wb_io {
    /* What is in the page cache is mapped, or copied where the model is not in MAP mode; what is not
     * is read past the page cache. Files on a network file system are read through the page cache. */
    WB_IO_AUTO = 0,
    WB_IO_MAP = 1,   /* mapped; only for models in MAP mode */
    WB_IO_READ = 2,  /* read through the page cache */
    WB_IO_DIRECT = 3 /* read past it (O_DIRECT), as far as the file system can */
} wb_io;

/* What becomes of plain tensors of F32, BF16 and F16. All others stay what they are, unless WB_POLICY_DECODE. */
typedef enum wb_plain_policy {
    WB_PLAIN_F16 = 0,
    WB_PLAIN_KEEP = 1,
    WB_PLAIN_DTYPE = 2 /* wb_policy.dtype */
} wb_plain_policy;

#define WB_POLICY_KEEP_SCALES 1u /* scales and biases of affine tensors stay in their dtype */
/*
 * Quantized tensors are decoded, to F32 as wb_tensor_read has it, and that becomes what plain F32 does. They are
 * then joined and cut as plain tensors are, between any rows and inputs, whatever they were; wb_slice_plan, which
 * tells of what is stored, has other cuts.
 */
#define WB_POLICY_DECODE 2u

#define WB_VOCAB_MULTIPLE_MAX 65536u

typedef struct wb_policy {
    size_t size; /* sizeof(wb_policy) */
    wb_plain_policy plain;
    int32_t dtype;                 /* for WB_PLAIN_DTYPE: F32, F16 or BF16 */
    uint32_t flags;                /* WB_POLICY_* */
    wb_io io;                      /* how bytes are fetched that are copied; below */
    uint64_t budget;               /* bytes the buffers may take on the device; 0: any number */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* for wb_provider_prefetch; NULL: serial; copied */
    /*
     * The rows of token_embedding.weight, output.weight and output.bias are followed by rows of zeros up to
     * a multiple of this, and where they are shared out among ranks up to one that goes round evenly as well:
     * 64, say, as engines that gather scores from ranks have it. wb_buffer.part_rows are those that are in the
     * file; wb_slice_plan tells of these alone. 0: no rows are added.
     */
    uint32_t vocab_multiple;
    uint32_t reserved;
} wb_policy;

/* A part of a buffer. */
typedef struct wb_section {
    const char *role; /* "values", "scales", "biases", "global_scale", "order"; static */
    int32_t dtype;    /* of its elements: a wb_dtype */
    uint32_t reserved;
    uint64_t offset; /* in the buffer */
    uint64_t bytes;
} wb_section;

#define WB_SECTIONS 5 /* at most, in a buffer */

/*
 * A weight on the device. A plain tensor, or one of a ggml type, is one section: its values, row
 * after row. A quantized one of several parts is [values | scales | biases | global scales], each
 * from the next multiple of the size of its elements on, without other gaps: what MLX's kernels take
 * as w, scales and biases. Of fused tensors every section holds those of all, one after the other; of AWQ
 * and GPTQ, which are stored transposed, every row of a section does, and "order" has the g_idx of each.
 * Numbers are little-endian. docs/provider.md shows the bytes.
 *
 * The struct may be copied, the copies being one use of the buffer. Pointers are borrowed until
 * wb_provider_release.
 */
typedef struct wb_buffer {
    size_t size; /* sizeof(wb_buffer) */
    void *handle;
    const void *contents; /* its bytes, where the device maps them; else NULL */
    uint64_t bytes;
    int32_t dtype; /* as wb_encoding.dtype, after the policy: 1 is F16, 100 affine of 4 bits */
    uint32_t bits; /* of a value, rounded down for ggml's types */
    uint32_t group_size;   /* values that share a scale; 0 for plain */
    uint32_t global;       /* a wb_mlx_global: what the global scale means */
    uint32_t rank;         /* of the logical shape */
    uint32_t borrowed;     /* 1: the bytes are those of the file, nothing was copied */
    const uint64_t *shape; /* logical, of what is fused or sliced as it then is */
    uint32_t sections;
    uint32_t parts; /* joined in it: the tensors fused, and of q, k, v in one the slice of each */
    wb_section section[WB_SECTIONS];
    const uint64_t *part_rows; /* of each of these, along the dimension they are joined on */
    uint64_t overflowed;       /* values that became infinite in F16 or another dtype */
    uint64_t underflowed;      /* values other than 0 that became 0 */
    const void *use;           /* the library's */
} wb_buffer;

/*
 * Makes a provider. Reads nothing.
 *
 * model     borrowed until wb_provider_destroy
 * device    NULL: the memory of this process; otherwise copied, and not closed with the provider
 * policy    NULL: defaults
 * provider  owned, release with wb_provider_destroy
 *
 * With wb_policy.io WB_IO_AUTO what is stored in one piece of 1 MiB or more and not in the page cache is
 * read past it while several threads load, and everything else through it; all of it where there is a
 * budget, so that what made room and comes back may be there. WB_IO_READ: all through it. WB_IO_DIRECT: such
 * pieces past it, whether they are in it or not. WB_IO_MAP is refused: what is used where it is mapped
 * (wb_device.borrow) is none of io's business.
 *
 * Fails with ARGUMENT or MEMORY.
 */
WB_API wb_status wb_provider_create(const wb_model *model, const wb_device *device,
                                    const wb_policy *policy, wb_provider **provider,
                                    wb_error *error) WB_MUST_CHECK;

/* Frees every buffer through the device, whether in use or not; the last call. NULL is ignored. */
WB_API void wb_provider_destroy(wb_provider *provider);

/*
 * All of the functions below are thread-safe. A name is canonical or as the files have it. "a+b+c"
 * means a, b and c fused, wherever there is no tensor called that.
 *
 * Those that give a buffer load it when they are first asked, once, however many threads ask at the
 * same time, and give the same again afterwards, in less than 100 ns. Every buffer given is a use of
 * it, which wb_provider_release ends; it stays cached all the same. With a budget those that are not
 * in use make room, the least recently used first, and where that is not enough LIMIT is returned.
 * Without one there is no need to release anything.
 *
 * Fail with NOT_FOUND, LIMIT, MEMORY, UNSUPPORTED (with the reason), ARGUMENT, and what reading the
 * files and the device's functions fail with.
 */
WB_API wb_status wb_provider_get(wb_provider *provider, const char *name, size_t name_len,
                                 wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/* Frees the buffers of the parts, unless they are in use. */
#define WB_FUSE_FREE_PARTS 1u

/*
 * The tensors `names`, in that order, as one: their rows one after the other, of tensors of more than
 * two dimensions those of each matrix; vectors end to end. They must be of the same type after the
 * policy, in groups of the same size, and have rows of the same length. Cached as "a+b+c".
 *
 * name_lens  NULL: each name ends with NUL
 */
WB_API wb_status wb_provider_fuse(wb_provider *provider, const char *const *names,
                                  const size_t *name_lens, size_t n, uint32_t flags,
                                  wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/*
 * The part of a tensor that belongs to `rank` of `of` when its dimension `axis` is shared out among so
 * many; see wb_slice_plan. Of "a+b" the parts of a and b, fused.
 */
WB_API wb_status wb_provider_slice(wb_provider *provider, const char *name, size_t name_len,
                                   uint32_t axis, uint32_t rank, uint32_t of, wb_buffer *buffer,
                                   wb_error *error) WB_MUST_CHECK;

/* Ends a use, and clears the struct. NULL and cleared structs are ignored. */
WB_API void wb_provider_release(wb_provider *provider, wb_buffer *buffer);

/* Frees every buffer that is not in use. */
WB_API void wb_provider_trim(wb_provider *provider);

/*
 * Loads tensors, over the threads of wb_policy.executor, without using them; of borrowed ones it
 * touches every page.
 *
 * names  `n` of them; NULL: all that have a canonical name, each once, n being ignored
 */
WB_API wb_status wb_provider_prefetch(wb_provider *provider, const char *const *names,
                                      const size_t *name_lens, size_t n,
                                      wb_error *error) WB_MUST_CHECK;

/* 1 if there is a tensor of that name, or all of those that it joins with '+', else 0. */
WB_API int wb_provider_has(const wb_provider *provider, const char *name, size_t name_len);

/* wb_buffer.dtype of what wb_provider_get would give, or -1. Loads nothing. */
WB_API int32_t wb_provider_dtype(const wb_provider *provider, const char *name, size_t name_len);

/*
 * The shape of what wb_provider_get would give. Loads nothing.
 *
 * shape  room for *rank dimensions; *rank becomes that of the tensor. ARGUMENT if that is more
 */
WB_API wb_status wb_provider_shape(const wb_provider *provider, const char *name, size_t name_len,
                                   uint64_t *shape, uint32_t *rank, wb_error *error) WB_MUST_CHECK;

/* Copies n bytes at `offset` of a buffer to dst, whatever the device. */
WB_API wb_status wb_provider_download(const wb_provider *provider, const wb_buffer *buffer,
                                      uint64_t offset, void *dst, uint64_t n,
                                      wb_error *error) WB_MUST_CHECK;

typedef struct wb_cache_stats {
    size_t size;           /* sizeof(wb_cache_stats) */
    uint64_t buffers;      /* cached now, borrowed ones among them */
    uint64_t bytes;        /* that they take on the device now */
    uint64_t peak_bytes;   /* the most there ever were */
    uint64_t budget;       /* 0: none */
    uint64_t borrowed;     /* buffers whose bytes are those of the file */
    uint64_t in_use;       /* buffers that were given and not released */
    uint64_t hits;         /* answers from the cache */
    uint64_t loads;        /* buffers filled or borrowed */
    uint64_t shared;       /* buffers that another process had filled */
    uint64_t loaded_bytes; /* of those filled */
    uint64_t evictions;    /* buffers freed to make room, or by trim, or as parts */
    uint64_t overflowed;   /* of wb_buffer, over all that were filled */
    uint64_t underflowed;
} wb_cache_stats;

WB_API wb_status wb_provider_stats(const wb_provider *provider, wb_cache_stats *stats,
                                   wb_error *error) WB_MUST_CHECK;

/* ---- tensor-parallel parts ---- */

/* How a tensor is shared out, and where in the files a part of it lies. */
typedef struct wb_plan wb_plan;

typedef struct wb_plan_info {
    size_t size; /* sizeof(wb_plan_info) */
    uint32_t axis, rank, of;
    uint32_t dims;         /* of the part */
    const uint64_t *shape; /* of the part, logical; borrowed until wb_plan_free */
    uint64_t unit;         /* boundaries lie at multiples of so many indices */
    uint64_t bytes;        /* of all ranges, as stored */
    uint64_t cuts;
    uint64_t ranges;
    uint32_t uneven;     /* 1: ranks get parts of different sizes */
    uint32_t replicated; /* so many ranks get the same; 1: no other does */
    uint32_t alone;      /* 1: cut by itself, what belongs to it cannot be cut for so many ranks */
    uint32_t reserved;
} wb_plan_info;

/* Indices start to start + count - 1 of the axis: one cut, or one for each part of what is fused. */
typedef struct wb_plan_cut {
    size_t size;     /* sizeof(wb_plan_cut) */
    uint32_t tensor; /* of the names joined with '+', from 0 on */
    uint32_t reserved;
    uint64_t start;
    uint64_t count;
} wb_plan_cut;

/*
 * `count` runs of `bytes` bytes, each `stride` behind the beginning of the last. Of a tensor that is
 * compressed or stored by columns (wb_tensor.storing) they are counted as if it lay there row by row.
 */
typedef struct wb_plan_range {
    size_t size;      /* sizeof(wb_plan_range) */
    const char *role; /* as in wb_part; static */
    uint64_t tensor;  /* for wb_tensor_at: the stored tensor */
    uint64_t file;    /* for wb_file_at */
    uint64_t offset;  /* of the first run, from the start of that file */
    uint64_t bytes;
    uint64_t count;
    uint64_t stride;
} wb_plan_range;

/*
 * Shares out dimension `axis` of a tensor among `of` ranks, and says where the part of `rank` lies.
 * Reads nothing but what opening has read. The parts of all ranks, in order, are the whole.
 *
 * Boundaries lie where the encoding allows one: between rows, along the last dimension between blocks
 * or groups, whose scales and biases are cut along; of GPTQ with g_idx between words, whose scales all ranks
 * get. And they lie where layers need them, so that the
 * part of one tensor fits that of the next:
 *   - gate and up of a feed-forward are cut as down can be: down of 11008 inputs in blocks of 256 goes
 *     to two ranks as 5632 and 5376, and so do the rows of gate and up
 *   - q, k, v and the output of attention are cut between heads, with the query heads of a key-value
 *     head on the same rank. With more ranks than key-value heads each of these is given to
 *     several ranks, and their query heads are shared out among them
 *   - stored as one tensor, q, k and v, or gate and up, are cut each by itself
 * Where units do not go round evenly, the first ranks get one more. Where they do not go round at all
 * down and the output of attention are refused, and what they belong to is cut by itself (`alone`):
 * such parts make up the tensor, and no layer.
 *
 * name  canonical or as the files have it, or several joined with '+'
 * plan  owned, release with wb_plan_free
 *
 * UNSUPPORTED, with the reason, for what cannot be shared out so; ARGUMENT for an axis or rank there is
 * none of; NOT_FOUND, MEMORY.
 */
WB_API wb_status wb_slice_plan(const wb_model *model, const char *name, size_t name_len,
                               uint32_t axis, uint32_t rank, uint32_t of, wb_plan **plan,
                               wb_error *error) WB_MUST_CHECK;
WB_API void wb_plan_free(wb_plan *plan);

WB_API wb_status wb_plan_describe(const wb_plan *plan, wb_plan_info *info) WB_MUST_CHECK;
/* NOT_FOUND behind the last. Ranges stand in the order of the bytes of the part's buffer. */
WB_API wb_status wb_plan_cut_at(const wb_plan *plan, uint64_t index,
                                wb_plan_cut *cut) WB_MUST_CHECK;
WB_API wb_status wb_plan_range_at(const wb_plan *plan, uint64_t index,
                                  wb_plan_range *range) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Loading: all weights, once, as fast as they come                                              */
/* --------------------------------------------------------------------------------------------- */

/* A piece of a tensor, as it arrives. */
typedef struct wb_piece {
    size_t size;      /* sizeof(wb_piece) */
    uint64_t tensor;  /* for wb_tensor_at; of a tensor of several parts the number of the part */
    uint64_t at;      /* bytes of the tensor before this piece, after conversion */
    uint64_t bytes;   /* of this piece, after conversion */
    const void *data; /* unaligned */
    int32_t dtype;    /* what the elements are now */
    uint32_t lasting; /* 1: data stays until wb_close; 0: until the call returns */
} wb_piece;

/* Bytes, and nanoseconds added up over all threads, that loading took. */
typedef struct wb_load_report {
    size_t size;           /* sizeof(wb_load_report) */
    uint64_t bytes;        /* of files that were gone through: the four that follow, added up */
    uint64_t in_memory;    /* needed no fetching: a snapshot, the caller's memory */
    uint64_t mapped;       /* used where they lie in the page cache */
    uint64_t copied;       /* read through the page cache */
    uint64_t direct;       /* read past it */
    uint64_t read_ns;      /* fetching */
    uint64_t digest_ns;    /* SHA-256 */
    uint64_t convert_ns;   /* conversion */
    uint64_t consume_ns;   /* the caller's own functions */
    uint64_t uploaded;     /* to wb_load_options.device */
    uint64_t upload_ns;    /* handing it over, and waiting until it was taken */
    uint64_t processor_ns; /* processors were busy so long, in the kernel as well */
} wb_load_report;

/* Go through whole files, headers included, and compute the SHA-256 of each. */
#define WB_LOAD_DIGEST 1u

/* Convert the floating-point elements of plain tensors to wb_load_options.dtype. */
#define WB_LOAD_CONVERT 2u

typedef struct wb_load_options {
    size_t size;     /* sizeof(wb_load_options) */
    wb_io io;        /* default WB_IO_AUTO */
    uint32_t flags;  /* WB_LOAD_* */
    int32_t dtype;   /* for WB_LOAD_CONVERT: a float of whole bytes */
    uint32_t lanes;  /* pieces in hand at the same time; 0: 4, and at most 64 */
    uint64_t memory; /* bytes of buffers for all lanes; 0: 32 MiB, or 64 to convert */
    const wb_executor
        *executor; /* NULL: that of the model. As many lanes go on at once as it runs */
    const wb_progress
        *progress; /* NULL: none; called by one thread at a time, not always the same */
    void *ctx;     /* for the functions below, any of which may be NULL */
    /*
     * Takes a piece; called by several threads at once. A result other than 0 makes loading stop
     * with WB_ERROR_CANCELLED.
     */
    int (*consume)(void *ctx, const wb_piece *piece);
    /*
     * Where the `bytes` bytes at `offset` of a file are to go, with room for as many as 4096 divides;
     * NULL: into a buffer of the library's. What is read past the page cache is read straight into
     * place if that is aligned to 4096 bytes, as `offset` is. Called by several threads at once.
     */
    void *(*place)(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes);
    /* Takes the SHA-256 of a file, when all of it has been read. One call at a time. */
    void (*digest)(void *ctx, uint64_t file, const uint8_t sha256[32]);
    /*
     * With `target`: where pieces are copied to, after `consume` has seen them, while others are
     * fetched. All are there when wb_load returns.
     */
    const wb_device *device;
    /*
     * The buffer that a piece goes to, and at which of its bytes; NULL: the piece is not copied. Called
     * by several threads at once.
     */
    void *(*target)(void *ctx, const wb_piece *piece, uint64_t *offset);
} wb_load_options;

/*
 * Goes through the bytes of all tensors once, in the order of the files: fetches them, computes the
 * digests of the files, converts and hands them over, each of these while others go on, as far as the
 * executor has threads. Every byte of every stored tensor is handed over exactly once, in pieces that
 * are whole elements where they are converted; of one tensor they come in any order. Bytes are those that
 * wb_tensor_read gives: what is compressed, stored by columns or most significant byte first
 * (wb_tensor.storing) is read tensor by tensor and handed over as if it were not; by columns, a tensor is
 * in memory as a whole meanwhile.
 *
 * options  NULL: bytes are fetched, and nothing done with them
 * report   may be NULL; filled also where loading fails
 *
 * WB_ERROR_IO names file and offset at which a file ended early or could not be read; a file that was
 * mapped and is shortened meanwhile faults instead, as wb_access says. Also CANCELLED, MEMORY,
 * UNSUPPORTED (no zlib for compressed tensors), ARGUMENT. FORMAT if a file that is named by its SHA-256, as
 * in Ollama's stores, has another, or what is compressed is damaged.
 */
WB_API wb_status wb_load(const wb_model *model, const wb_load_options *options,
                         wb_load_report *report, wb_error *error) WB_MUST_CHECK;

/*
 * How many of the bytes of a file of the model are in the page cache, in whole pages. UNSUPPORTED
 * where the system does not tell, and for sources that are no files.
 */
WB_API wb_status wb_file_cached(const wb_model *model, uint64_t file, uint64_t *bytes,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Writing models                                                                                */
/* --------------------------------------------------------------------------------------------- */

/*
 * A writer is told of all metadata and tensors; then it works out every file to its last byte; then
 * it looks whether there is room and begins; and then it takes the tensors' bytes, in any order and
 * from any threads. wb_writer_commit makes the result appear, whole. Whatever fails or ends before,
 * a crash included, leaves what was there as it was.
 *
 *     wb_writer_options options = {.size = sizeof options, .format = "gguf"};
 *     wb_writer_create(&options, &writer, &error);
 *     wb_writer_set_string(writer, "general.architecture", SIZE_MAX, "llama", SIZE_MAX, &error);
 *     wb_writer_add(writer, "output.weight", SIZE_MAX, WB_DTYPE_F16, shape, 2, &i, &error);
 *     wb_writer_plan(writer, "model.gguf", &error);
 *     wb_writer_begin(writer, &error);
 *     wb_writer_put(writer, i, 0, bytes, n, &error);
 *     wb_writer_commit(writer, &error);
 *     wb_writer_free(writer);
 */
typedef struct wb_writer wb_writer;

/* Replace a folder that is there, or a model that a store has. Files are replaced in any case. */
#define WB_WRITE_FORCE 1u
/* GGUF: numbers most significant byte first, the tensors' too. Bytes are given as ever. */
#define WB_WRITE_BIG_ENDIAN 2u
/* safetensors: every tensor begins at a multiple of `alignment`. The format has no gaps: what lies
 * between are tensors "__padding__.N" of U8. */
#define WB_WRITE_ALIGN_TENSORS 4u
/* safetensors: the path is that of a folder that does not exist yet. */
#define WB_WRITE_FOLDER 8u
/* ollama: blobs as they were first published, in February 2026: one for all experts of a layer and one
 * for its shared experts, without metadata where they are quantized. */
#define WB_WRITE_FEB2026 16u
/*
 * What was written stays where the write does not come to its end, killed or out of room, in files (or in
 * a folder) called ".NAME.wb-partial" beside what they are to be; the next writer with this flag takes
 * them up: see wb_writer_left. Of a model in a store that is a folder in blobs/, named after the model; it goes
 * when the model is there. Only one at a time may write to a path, or a model of a store, so. Streams do without.
 */
#define WB_WRITE_KEEP 32u

typedef struct wb_writer_options {
    size_t size;        /* sizeof(wb_writer_options) */
    const char *format; /* "safetensors", "gguf", "mlx", "ollama" or "npz" */
    uint32_t flags;     /* WB_WRITE_* */
    uint64_t
        alignment; /* bytes, a power of two from 8 on. safetensors: of the data [8]; GGUF: of each
                           tensor [general.alignment, or 32]; npz: of each array [none] */
    uint64_t max_file_bytes;   /* tensors' bytes in a file, unless one alone has more; 0: no end */
    uint64_t max_file_tensors; /* 0: no end */
    const wb_model
        *source; /* its files are not written into, and must be what they were at the end;
                               borrowed until wb_writer_free; NULL: none */
    const char
        *store; /* ollama: the folder with manifests and blobs, NULL: that of the environment, as
                          for wb_open; copied */
    const wb_limits *limits;       /* of headers; NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: as for wb_open; copied */
    /*
     * Hears of wb_writer_copy_whole, bytes of the file, and of wb_writer_commit, which has all bytes and sees to it
     * that they last: CANCELLED as long as nothing has the name it shall have, and not any more from then on.
     * Called by the thread that calls these; NULL: none; copied.
     */
    const wb_progress *progress;
} wb_writer_options;

/* writer: owned, release with wb_writer_free */
WB_API wb_status wb_writer_create(const wb_writer_options *options, wb_writer **writer,
                                  wb_error *error) WB_MUST_CHECK;

/* Releases a writer, and drops what was not committed. NULL is ignored. */
WB_API void wb_writer_free(wb_writer *writer);

/* A value for metadata. */
typedef struct wb_value {
    size_t size; /* sizeof(wb_value) */
    wb_meta_type type;
    uint32_t
        bits; /* of a number, or of each of an array: 8, 16, 32 or 64; of FLOAT 32 or 64; 0: 64 */
    wb_meta_type element; /* ARRAY: the type of its elements */
    uint32_t reserved;
    uint64_t number;  /* UINT; INT in two's complement; BOOL 0 or 1 */
    double real;      /* FLOAT */
    const char *text; /* STRING */
    size_t text_len;
    uint64_t count; /* ARRAY: elements */
    const void
        *items; /* of numbers: as memory has them; BOOL a byte each; STRING: const char *each;
                          ARRAY: a wb_value each */
    const size_t *lens; /* of STRINGs; NULL: strlen */
} wb_value;

/*
 * Sets a metadata entry; one that is there keeps its place. Entries are written in the order in which
 * they came. safetensors has strings only. The keys that a split of GGUF needs, and index files, come
 * by themselves: setting split.no, split.count or split.tensors.count of GGUF does nothing. Copies
 * everything. ARGUMENT for a value that is none, and after wb_writer_plan.
 */
WB_API wb_status wb_writer_set(wb_writer *writer, const char *key, size_t key_len,
                               const wb_value *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_set_string(wb_writer *writer, const char *key, size_t key_len,
                                      const char *value, size_t value_len,
                                      wb_error *error) WB_MUST_CHECK;

/* As wb_writer_set with entry `index` of a model, under its key, exactly as that has it. */
WB_API wb_status wb_writer_copy_meta(wb_writer *writer, const wb_model *model, uint64_t index,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Declares a tensor.
 *
 * shape   `rank` dimensions, outermost first
 * index   of the tensor, counted from 0, for the functions below; may be NULL
 *
 * ARGUMENT for a name that was given before, or a shape the dtype cannot have.
 */
WB_API wb_status wb_writer_add(wb_writer *writer, const char *name, size_t name_len, int32_t dtype,
                               const uint64_t *shape, uint32_t rank, uint64_t *index,
                               wb_error *error) WB_MUST_CHECK;

/*
 * ollama: says of a tensor declared before that it is the packed values of a quantized weight, "int4" in
 * groups of 64, say, which becomes part of its blob. Its parts are called NAME.weight,
 * NAME.weight.scale, NAME.weight.bias and NAME.weight.global_scale.
 *
 * type  "int4", "int8", "mxfp4", "mxfp8" or "nvfp4"
 */
WB_API wb_status wb_writer_set_packing(wb_writer *writer, uint64_t index, const char *type,
                                       uint32_t group_size, wb_error *error) WB_MUST_CHECK;

/*
 * gguf, ollama: the result is the one file of a model, a GGUF file, byte for byte, shared with it where the
 * file system can do that. No tensors are declared; of metadata, what Ollama keeps beside a model is. The
 * model is borrowed until wb_writer_free. ARGUMENT for a model of several files or of another format.
 */
WB_API wb_status wb_writer_set_whole(wb_writer *writer, const wb_model *model,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * A file that lies beside the weights, config.json for one, in a folder that is made or in a store: n
 * bytes, which are copied now, or the file at `path`, which is read when the rest
 * is written. ARGUMENT for a name that is not that of a file, or was given before.
 */
WB_API wb_status wb_writer_add_bytes(wb_writer *writer, const char *name, const void *bytes,
                                     size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_add_file(wb_writer *writer, const char *name, const char *path,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Works out all files, without touching the disk. Nothing can be declared afterwards.
 *
 * path  of the file to be, NULL for wb_writer_begin_fd. Where it takes several files, the names are
 *       those that Hugging Face and gguf-split give them: NAME-00001-of-00003.safetensors with
 *       NAME.safetensors.index.json, NAME-00001-of-00003.gguf, in the folder of the path. mlx: of a
 *       folder that does not exist yet. ollama: the name of the model, as wb_open takes it
 *
 * UNSUPPORTED for what the format cannot hold, LIMIT for a header that is too large.
 */
WB_API wb_status wb_writer_plan(wb_writer *writer, const char *path, wb_error *error) WB_MUST_CHECK;

/* What was planned. Strings are borrowed until wb_writer_free. */
WB_API uint64_t wb_writer_file_count(const wb_writer *writer);
WB_API wb_status wb_writer_file_at(const wb_writer *writer, uint64_t index, wb_file *file,
                                   wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_tensor_at(const wb_writer *writer, uint64_t index, wb_tensor *tensor,
                                     wb_error *error) WB_MUST_CHECK;

/* The tensor at a position in the order of the files and of the bytes in them. */
WB_API wb_status wb_writer_order(const wb_writer *writer, uint64_t position, uint64_t *index,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Looks whether what was planned may be written where it is to be, and whether there is room, and makes nothing:
 * wb_writer_begin would refuse what this refuses, and for the same reasons. It may still fail on what nobody can see
 * before, such as a disk that is at its end, or another who writes there.
 */
WB_API wb_status wb_writer_check(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * Begins to write what was planned: looks whether there is room for all of it and whether it may be
 * written there, and makes temporary files. An existing file keeps its permissions and of a symbolic
 * link the target is replaced; a pipe or a device is written straight away, as wb_writer_begin_fd
 * does. Several files never replace others. ARGUMENT where an output is a file of `source`.
 */
WB_API wb_status wb_writer_begin(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * The same for a descriptor, which stays the caller's: bytes are then taken in the order of
 * wb_writer_order only. `label` names it in messages. One file; plans it if that was not done.
 */
WB_API wb_status wb_writer_begin_fd(wb_writer *writer, int fd, const char *label,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Writes n bytes of a tensor, little-endian, from byte `offset` of it on. Thread-safe. Where numbers
 * are to be stored the other way these are whole elements or blocks. ARGUMENT for bytes that were
 * given before or that leave the tensor. Any other failure is final.
 */
WB_API wb_status wb_writer_put(wb_writer *writer, uint64_t index, uint64_t offset,
                               const void *bytes, size_t n, wb_error *error) WB_MUST_CHECK;

/*
 * WB_WRITE_KEEP: what a former writer left of n bytes of a tensor; anything may stand there, zeros where
 * nothing was written, so that only who knows a digest of them can tell whether they are any good. IO
 * where there is nothing. And: takes them for given, as wb_writer_put would have been. Thread-safe.
 */
WB_API wb_status wb_writer_left(wb_writer *writer, uint64_t index, uint64_t offset, void *dst,
                                size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_take(wb_writer *writer, uint64_t index, uint64_t offset, uint64_t n,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Writes all of a tensor as another model stores it, by copying the bytes of its file, within the file
 * system where that can. dtype and size must be the same; of a tensor of several parts each is copied
 * by itself. Thread-safe.
 */
WB_API wb_status wb_writer_copy(wb_writer *writer, uint64_t index, const wb_model *model,
                                uint64_t tensor, wb_error *error) WB_MUST_CHECK;

/*
 * The same, into the bytes of a larger tensor from `offset` on: one expert of many that are stored as
 * one tensor.
 */
WB_API wb_status wb_writer_copy_into(wb_writer *writer, uint64_t index, uint64_t offset,
                                     const wb_model *model, uint64_t tensor,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Of a writer with wb_writer_set_whole: copies the file, which wb_writer_commit does otherwise. With WB_WRITE_KEEP what
 * a former writer left is read beside it, and stays as far as it is the same, unless `anew` is not 0. Any failure is
 * final.
 *
 * taken  bytes that could stay; may be NULL
 */
WB_API wb_status wb_writer_copy_whole(wb_writer *writer, int anew, uint64_t *taken,
                                      wb_error *error) WB_MUST_CHECK;

/*
 * Makes everything durable, and then visible. ARGUMENT, and nothing happens, while bytes are missing.
 * After another failure, CANCELLED among them, what was there before is still there.
 */
WB_API wb_status wb_writer_commit(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/* What an edit does. A key is one of the metadata. */
typedef enum wb_edit_kind {
    WB_EDIT_SET = 1,        /* a key to a value */
    WB_EDIT_DELETE = 2,     /* a key; of none is no failure */
    WB_EDIT_RENAME_KEY = 3, /* which keeps its place */
    WB_EDIT_RENAME = 4,     /* a tensor */
    WB_EDIT_DROP = 5        /* a tensor */
} wb_edit_kind;

typedef struct wb_edit {
    size_t size; /* sizeof(wb_edit) */
    wb_edit_kind kind;
    const char *name; /* of the key or tensor */
    size_t name_len;
    const char *to; /* RENAME_KEY, RENAME: the new name */
    size_t to_len;
    const wb_value *value; /* SET; for safetensors a string */
} wb_edit;

/* Find out what would be done, and do nothing. */
#define WB_EDIT_DRY_RUN 1u
/* Change the file where it lies even where a new one could take its place at once. */
#define WB_EDIT_IN_PLACE 2u
/* safetensors: as WB_WRITE_ALIGN_TENSORS. */
#define WB_EDIT_ALIGN_TENSORS 4u

typedef struct wb_edit_options {
    size_t size; /* sizeof(wb_edit_options) */
    uint32_t flags;
    uint64_t alignment;            /* lays the file out anew with this alignment; 0: as it is */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: as for wb_open */
} wb_edit_options;

/* How an edit was done, or would be. */
typedef enum wb_edit_way {
    WB_EDIT_NOTHING = 0,  /* the file says all that already */
    WB_EDIT_HEADER = 1,   /* the header was written over, in its place */
    WB_EDIT_INSERT = 2,   /* room was made in front of the data, which was not copied */
    WB_EDIT_NEW_FILE = 3, /* a new file took the old one's place at once */
} wb_edit_way;

typedef struct wb_edited {
    size_t size; /* sizeof(wb_edited) */
    wb_edit_way way;
    uint64_t header_bytes; /* written */
    uint64_t inserted;     /* bytes in front of the data */
    uint64_t bytes;        /* of the file */
} wb_edited;

/*
 * Edits the header of a safetensors or GGUF file: this file alone, of a split or sharded model too. A
 * small file, and one whose file system can share data between files, is replaced at once by a new one.
 * Others are changed where they lie, so that nothing of the data is copied: what the header was is kept
 * in a file ".NAME.wb-journal" beside it until the change is on the disk, and the next edit of the file
 * first undoes what a crash left half done. Data is only copied where tensors are dropped or `alignment`
 * asks for it. GGUF knows no room between header and data: what is left over there is filled with a key
 * "weighbridge.padding", which later edits use up.
 * Edits are carried out in their order, each on what those before have left; either all or none. UNSUPPORTED
 * ("edit-store") for what an Ollama store has, whose names are the digests of the bytes.
 *
 * edited  may be NULL
 *
 * NOT_FOUND for a tensor, or a key to be renamed, that is not there; ARGUMENT for a name that is there
 * already, and for the key above; IO while another edit of the file is under way, which holds a lock (flock). Nobody else may
 * write the file meanwhile; who has it mapped sees it change.
 */
WB_API wb_status wb_edit_file(const char *path, const wb_edit *edits, uint64_t count,
                              const wb_edit_options *options, wb_edited *edited,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Undoes what a crash left half done of an edit, if anything. *undone, which may be NULL, is 1 if there
 * was something. IO ("edit-another-file") where a journal is there and the file is not the one it belongs to any more:
 * nothing is done to it.
 */
WB_API wb_status wb_edit_recover(const char *path, int *undone, wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Hashes                                                                                        */
/* --------------------------------------------------------------------------------------------- */

/* SHA-256 of something, as bytes. */
#define WB_DIGEST_BYTES 32

/*
 * There are two kinds of digests. That of a file is of its bytes, what sha256sum prints. That of a
 * tensor is of its values: SHA-256 of its rank and dimensions, a 64-bit integer each, and then of its
 * values as binary32, all of them little-endian, rows in the order Hugging Face has them. It is the
 * same for whatever holds the same values: another format, another dtype that has room for them, one
 * file or many, experts one by one or stacked. docs/hash.md has it to the letter.
 */
#define WB_HASH_FILES 1u
#define WB_HASH_VALUES 2u
#define WB_HASH_CHUNKS 4u /* of each MiB of the files, too, which makes a manifest; with FILES */

typedef struct wb_hash_options {
    size_t size;                 /* sizeof(wb_hash_options) */
    uint32_t flags;              /* WB_HASH_*; 0: FILES and VALUES */
    const wb_executor *executor; /* NULL: that the model was opened with */
    const wb_progress *progress; /* NULL: none */
} wb_hash_options;

typedef struct wb_hashes wb_hashes;

/*
 * Computes digests of an open model. Files and tensors are read once for each kind, several at a time
 * where there is an executor; the result does not depend on it. Takes some MiB for each of its
 * threads, and what a row of a tensor takes where that is more.
 *
 * options  NULL: defaults
 * hashes   owned, release with wb_hashes_free, before the model is closed
 *
 * Fails with IO, MEMORY, CANCELLED, ARGUMENT, with UNSUPPORTED for a tensor that cannot be decoded,
 * and with CHANGED if a file did meanwhile. Thread-safe.
 */
WB_API wb_status wb_hash_model(const wb_model *model, const wb_hash_options *options,
                               wb_hashes **hashes, wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_hashes_free(wb_hashes *hashes);

typedef struct wb_tensor_hash {
    size_t size;      /* sizeof(wb_tensor_hash) */
    const char *name; /* canonical where there is such a name, else as the files have it; borrowed
                         until wb_close */
    size_t name_len;
    uint64_t tensor;       /* index for wb_tensor_at */
    uint64_t nan;          /* how many values are NaN */
    uint64_t infinite;     /* and infinite */
    uint32_t is_canonical; /* 1: the name is */
    uint32_t counts;       /* 1: it is part of the digest of the whole model */
    uint8_t digest[WB_DIGEST_BYTES];
} wb_tensor_hash;

/* The number of digests of tensors; 0 without WB_HASH_VALUES. */
WB_API uint64_t wb_hash_tensor_count(const wb_hashes *hashes);

/* Digest `index` < wb_hash_tensor_count, in byte order of the names; NOT_FOUND for other numbers. */
WB_API wb_status wb_hash_tensor_at(const wb_hashes *hashes, uint64_t index,
                                   wb_tensor_hash *hash) WB_MUST_CHECK;

/*
 * The digest of all values: SHA-256 over the tensors in byte order of their names, of each the length
 * of the name as a 64-bit integer, little-endian, the name, and the digest. Left out are tensors
 * that converters leave out, since no engine needs them (tables that follow from the config, such as
 * rope_freqs.weight, and BERT's pooler), and an output.weight that equals token_embedding.weight. NOT_FOUND without WB_HASH_VALUES.
 */
WB_API wb_status wb_hash_values(const wb_hashes *hashes,
                                uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/* The digest of file `index` < wb_file_count. NOT_FOUND without WB_HASH_FILES. */
WB_API wb_status wb_hash_file(const wb_hashes *hashes, uint64_t index,
                              uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/*
 * Writes a manifest, JSON, through `write`, which returns 0 as long as all is well: what
 * wb_verify_options.manifest takes. Needs WB_HASH_CHUNKS (ARGUMENT otherwise). docs/hash.md has the
 * format. IO where `write` failed.
 */
WB_API wb_status wb_hash_manifest(const wb_hashes *hashes,
                                  int (*write)(void *ctx, const char *text, size_t n), void *ctx,
                                  wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Differences                                                                                   */
/* --------------------------------------------------------------------------------------------- */

/* In what two models can differ; bits. */
#define WB_DIFF_NAMES 1u      /* a tensor that only one of them has */
#define WB_DIFF_CONFIG 2u     /* a field of wb_config */
#define WB_DIFF_METADATA 4u   /* an entry of the metadata */
#define WB_DIFF_SHAPES 8u     /* the shape of a tensor */
#define WB_DIFF_ENCODINGS 16u /* how a tensor is stored */
#define WB_DIFF_VALUES 32u    /* the values of a tensor */

typedef struct wb_diff_options {
    size_t size;                 /* sizeof(wb_diff_options) */
    uint32_t kinds;              /* what to compare, WB_DIFF_*; 0: all */
    const wb_executor *executor; /* NULL: that the first model was opened with */
    const wb_progress *progress; /* NULL: none */
} wb_diff_options;

typedef struct wb_diff wb_diff;

/*
 * Compares two open models, whatever their formats and quantizations. Tensors are matched by their
 * canonical names, else by those of the files; experts that are stored one by one are one tensor; an
 * output that is tied is the embedding. Values are compared as binary32, rows in the order Hugging
 * Face has them (see wb_hash_model). rope_layout, norm_offset and the fields about quantization are
 * not compared: they say how values are stored. Of two formats, what only one of them says about
 * itself is no difference: metadata and config are compared where both know.
 *
 * options  NULL: defaults
 * diff     owned, release with wb_diff_free, before the models are closed
 *
 * The result does not depend on the executor. Each thread takes some MiB, and what a row takes where
 * that is more. Fails with IO, MEMORY, CANCELLED, ARGUMENT, UNSUPPORTED for a tensor that cannot be
 * decoded, and CHANGED if a file did meanwhile. Thread-safe.
 */
WB_API wb_status wb_diff_models(const wb_model *a, const wb_model *b,
                                const wb_diff_options *options, wb_diff **diff,
                                wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_diff_free(wb_diff *diff);

/* In what the models differ: WB_DIFF_*, 0 if in nothing that was compared. */
WB_API uint32_t wb_diff_kinds(const wb_diff *diff);

/* How far the values of b are from those of a. */
typedef struct wb_distance {
    uint64_t values;     /* that were compared; of a complex number both parts */
    uint64_t different;  /* of them are not the same bits, NaNs apart, which are all the same */
    uint64_t not_finite; /* of these NaN or infinite in one model or both; not in what follows */
    double nmse;         /* sum of (b - a)^2 over sum of a^2; infinite for a of nothing but zeros */
    double maximum;      /* largest |b - a| */
    double cosine;       /* of the angle between a and b; 1 if both are all zeros, 0 if one is */
    double snr;          /* -10 log10(nmse), in decibels; infinite where nmse is 0 */
} wb_distance;

typedef struct wb_tensor_diff {
    size_t size; /* sizeof(wb_tensor_diff) */
    const char
        *name; /* canonical where there is such a name; borrowed until the models are closed */
    size_t name_len;
    uint64_t a, b;     /* indices for wb_tensor_at; UINT64_MAX: the model does not have it */
    uint32_t differs;  /* WB_DIFF_NAMES, SHAPES, ENCODINGS, VALUES */
    uint32_t compared; /* 1: `distance` is known */
    wb_distance distance;
} wb_tensor_diff;

/* The tensors of both models. */
WB_API uint64_t wb_diff_tensor_count(const wb_diff *diff);

/*
 * Tensor `index` < wb_diff_tensor_count, the worst first: those only one model has, those of different
 * shapes, values that are not finite, then by NMSE; of equals by name. NOT_FOUND for other numbers.
 */
WB_API wb_status wb_diff_tensor_at(const wb_diff *diff, uint64_t index,
                                   wb_tensor_diff *tensor) WB_MUST_CHECK;

/* All values that were compared, taken together. */
WB_API void wb_diff_distance(const wb_diff *diff, wb_distance *distance);

/* The fields of wb_config that differ: bit 1 << wb_config_field. */
WB_API uint64_t wb_diff_config(const wb_diff *diff);

typedef struct wb_meta_diff {
    size_t size;     /* sizeof(wb_meta_diff) */
    const char *key; /* borrowed until the models are closed */
    size_t key_len;
    uint64_t a, b; /* indices for wb_meta_at; UINT64_MAX: the model does not have it */
} wb_meta_diff;

/* The entries of the metadata that differ. */
WB_API uint64_t wb_diff_meta_count(const wb_diff *diff);
WB_API wb_status wb_diff_meta_at(const wb_diff *diff, uint64_t index,
                                 wb_meta_diff *meta) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Converting                                                                                    */
/* --------------------------------------------------------------------------------------------- */

/*
 * From any model to files of another kind: planned first, from headers alone, then streamed tensor by
 * tensor within the memory allowed.
 *
 *     wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_K_M"};
 *     wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error);
 *     wb_convert(conversion, "model.gguf", NULL, &error);
 *     for (i = 0; i < wb_conversion_count(conversion); i++)
 *         wb_conversion_at(conversion, i, &row, &error);    what became of each tensor
 *     wb_conversion_free(conversion);
 */
typedef struct wb_conversion wb_conversion;

typedef enum wb_target {
    WB_TARGET_GGUF = 1,        /* a file, or several, as llama.cpp reads them */
    WB_TARGET_SAFETENSORS = 2, /* a folder as Hugging Face has them; of an unknown model a file */
    WB_TARGET_MLX = 3,         /* a folder as mlx-lm has them */
    WB_TARGET_OLLAMA = 4, /* a model in a store, as Ollama makes it of a folder of safetensors */
    WB_TARGET_NPZ = 5 /* a file of plain arrays, as numpy.savez writes it, named as safetensors */
} wb_target;

/* A type for the tensors whose names match; in blocks only where tensors of the kind ever are. */
typedef struct wb_convert_rule {
    const char
        *pattern;     /* a POSIX extended regular expression, for the name in the result or in the
                            model; anywhere in it, unless it says ^ and $ */
    const char *type; /* as wb_convert_policy.quant, but no recipe */
} wb_convert_rule;

/* An adapter, merged into the weights: of PEFT or mlx-lm, a folder or its .safetensors, or of llama.cpp, GGUF. */
typedef struct wb_convert_lora {
    const char *path;
    double scale; /* multiplies the adapter's own */
} wb_convert_lora;

/* Fail where a type does not fit a tensor, rather than to fall back on another. */
#define WB_CONVERT_STRICT 1u
/* Write over a folder that is there, or a model that a store has. */
#define WB_CONVERT_FORCE 2u
/* Ollama: blobs as they were first published, in February 2026. */
#define WB_CONVERT_FEB2026 4u
/*
 * A conversion that is killed, cancelled or runs out of room leaves ".NAME.wb-partial" and a journal,
 * ".NAME.wb-resume", beside the result that was to be, or both in a folder of the store's blobs/; the same
 * conversion of the same files goes on from there, once it has verified what is there. Another one begins anew. Of a
 * GGUF file that goes over as it is, what is there is compared with it.
 */
#define WB_CONVERT_RESUME 8u

typedef struct wb_convert_policy {
    size_t size; /* sizeof(wb_convert_policy) */
    /*
     * What weights are quantized to, in any case. NULL: as they are, packed ones without loss where
     * the target has such blocks, and as F16 or BF16 otherwise.
     *   F32, F16, BF16      all of them
     *   a llama.cpp file type, "Q4_K_M": to GGUF, each tensor as llama-quantize has it
     *   a GGML type, "Q4_K": to GGUF, for all tensors that llama-quantize quantizes
     *   "affine4:64" (bits and group), "mxfp4", "mxfp8", "nvfp4": to MLX; mxfp4, nvfp4 to GGUF, too
     *   "mixed_3_6", "mixed_2_6", "mixed_3_4", "mixed_4_6": to MLX, mlx-lm's recipes
     *   "int4", "int8", "mxfp4", "mxfp8", "nvfp4": to Ollama, each tensor as that has it
     */
    const char *quant;
    const wb_convert_rule *rules; /* stand above `quant`; of several that match the last counts */
    uint64_t rule_count;
    const char *importance;      /* path of an importance matrix, llama.cpp's .dat or GGUF; NULL */
    uint64_t max_memory;         /* bytes for tensors on their way, 0: 256 MiB */
    uint64_t max_file_bytes;     /* of tensors in one file, 0: no end */
    uint32_t flags;              /* WB_CONVERT_* */
    const wb_executor *executor; /* NULL: that of the model; copied */
    const char
        *store; /* Ollama: the folder with manifests and blobs, NULL: that of the environment */
    const wb_convert_lora
        *loras; /* low-rank adapters; weights are decoded, changed, encoded again */
    uint64_t lora_count;
} wb_convert_policy;

/*
 * Plans a conversion. Reads headers, the files beside the weights, adapters, which stay in memory, and factors of
 * whole tensors, and nothing else.
 *
 * model       borrowed until wb_conversion_free; READ access is safest
 * policy      NULL: as it is; read during the call
 * conversion  owned, release with wb_conversion_free
 *
 * ARGUMENT for a policy that makes no sense; UNSUPPORTED for a tensor that the target has no place or
 * no type for, and for what WB_CONVERT_STRICT forbids. One thread at a time may use a conversion.
 */
WB_API wb_status wb_convert_plan(const wb_model *model, wb_target target,
                                 const wb_convert_policy *policy, wb_conversion **conversion,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Works out the files of the result to their last byte, and looks whether they may be written to `path`, which is that of
 * wb_convert: what the format has no room for, and a path that cannot be, are refused as wb_convert refuses them, and
 * nothing is written. What has no place in the files beside the weights is among the findings afterwards.
 */
WB_API wb_status wb_convert_check(wb_conversion *conversion, const char *path,
                                  wb_error *error) WB_MUST_CHECK;

/*
 * Does what was planned. The result appears whole or not at all, and does not depend on the executor.
 *
 * path      of a file (GGUF), or of a folder that does not exist yet, unless WB_CONVERT_FORCE says so; no pipe or
 *           device, no file that was read for the plan, and no folder that one is in (ARGUMENT);
 *           Ollama: the name of the model
 * progress  bytes of the result, and again all of them while these are put on the disk, until the first
 *           file has its name; NULL: none
 *
 * CHANGED where a file of the model is no longer what it was.
 */
WB_API wb_status wb_convert(wb_conversion *conversion, const char *path,
                            const wb_progress *progress, wb_error *error) WB_MUST_CHECK;

/*
 * What becomes of the values of a tensor. Nothing that is repacked is encoded anew: what the result's own programs make
 * of it may still differ where they have no -0 of four bits, which then is 0, or multiply a factor for all
 * values (NVFP4) in another order, which moves the last bit of F32.
 */
typedef enum wb_fidelity {
    WB_FIDELITY_UNKNOWN = 0,  /* encoded, which only wb_convert tells how well */
    WB_FIDELITY_EXACT = 1,    /* the same values */
    WB_FIDELITY_REPACKED = 2, /* the same codes and scales in other blocks */
    WB_FIDELITY_LOSSY = 3
} wb_fidelity;

/* A tensor of the result. Strings and shape are borrowed until wb_conversion_free. */
typedef struct wb_converted {
    size_t size; /* sizeof(wb_converted) */
    const char *name;
    const char *source; /* what the model calls it; empty for a tensor that is computed */
    uint32_t rank;
    const uint64_t *shape; /* of the values */
    uint64_t bytes;        /* of all parts */
    char from[32];         /* how the values are stored in the model: "BF16", "affine4:64" … */
    char to[32];           /* … and in the result */
    char wanted[32];       /* what `to` is in place of, since that does not fit; else empty */
    wb_fidelity fidelity;
    double nmse;      /* sum of squared errors over sum of squares */
    double max_error; /* the largest error */
    double cosine;    /* of both, taken as vectors; 1 where nothing was lost */
    uint64_t
        overflowed; /* values that left the range of their type, NaNs that it has not among them */
} wb_converted;

/* The tensors of the result, in its order. */
WB_API uint64_t wb_conversion_count(const wb_conversion *conversion);
WB_API wb_status wb_conversion_at(const wb_conversion *conversion, uint64_t index,
                                  wb_converted *converted, wb_error *error) WB_MUST_CHECK;

/* What has no place in the result, and what is doubtful. Borrowed until wb_conversion_free. */
WB_API const wb_findings *wb_conversion_findings(const wb_conversion *conversion);

/* NULL is ignored. */
WB_API void wb_conversion_free(wb_conversion *conversion);

#ifdef __cplusplus
}
#endif

#endif
