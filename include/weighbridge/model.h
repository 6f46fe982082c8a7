/*
 * weighbridge/model.h: opening and closing models, the files of a model, and listing an Ollama
 * store.
 */
#ifndef WEIGHBRIDGE_MODEL_H
#define WEIGHBRIDGE_MODEL_H

#include "weighbridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_model wb_model;
typedef struct wb_findings wb_findings;
typedef struct wb_families wb_families;

/* How the bytes of tensors are accessed. Headers are always read once, into private memory. */
typedef enum wb_access {
    /*
     * Files are mapped on first use. This is the fastest mode, and processes share the memory. If
     * another program truncates a mapped file, access to the missing part raises SIGBUS.
     */
    WB_ACCESS_MAP = 0,
    /* Files are read with pread, which cannot raise SIGBUS; wb_tensor_data is not available. */
    WB_ACCESS_READ = 1,
    WB_ACCESS_SNAPSHOT = 2 /* files are copied to sealed memory when the model is opened */
} wb_access;

/* Accept files that violate the specification but that the reference implementation accepts. */
#define WB_OPEN_COMPATIBLE 1u
/*
 * Follow all symbolic links. By default, links in the path given by the caller are followed, but a
 * link in the model's folder or store that leads outside of it is refused, because the folder may
 * come from an untrusted source. Links of Hugging Face caches (snapshots/REVISION/FILE ->
 * ../../blobs/ETAG) are always followed.
 */
#define WB_OPEN_FOLLOW_LINKS 2u
/*
 * Map files copy-on-write: the caller may change the bytes that wb_tensor_data returns. Changes are
 * visible in this process only, also to functions that read from the model; the files stay
 * unchanged. Changed pages use memory of the process. Without this flag, and for models that are
 * not mapped, the bytes must not be changed.
 */
#define WB_OPEN_COPY_ON_WRITE 4u
/*
 * Do not combine the packed values, scales and biases of a quantized weight into one tensor: each
 * stays a separate tensor with its stored dtype and shape, and the weight cannot be decoded.
 */
#define WB_OPEN_STORED 8u

typedef struct wb_open_options {
    size_t size;                   /* sizeof(wb_open_options) */
    wb_access access;              /* default WB_ACCESS_MAP */
    uint32_t flags;                /* WB_OPEN_* */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* NULL: everything runs in the calling thread; copied */
    /*
     * path of an Ollama store, a directory with manifests and blobs; NULL: the default store, which
     * is $OLLAMA_MODELS or ~/.ollama/models; read during the call
     */
    const char *store;
    /*
     * files that the caller provides; NULL: all files are those of the operating system. Copied;
     * `ctx` must stay valid until wb_close
     */
    const struct wb_files *files;
    /*
     * tables of families that the library does not have (weighbridge/families.h); NULL: none. The
     * model refers to them until wb_close, so the caller may call wb_families_free after the call
     */
    wb_families *families;
} wb_open_options;
#define WB_OPEN_OPTIONS_INIT WB_INIT(wb_open_options)

/*
 * A data source implemented by the caller. The struct is copied. `ctx` must stay valid until
 * `close` is called, or until wb_close if `close` is NULL. All functions must be thread-safe.
 */
typedef struct wb_source {
    size_t size; /* sizeof(wb_source) */
    void *ctx;
    uint64_t bytes; /* length of the source, in bytes */
    /*
     * Reads up to n bytes at `offset` into dst and sets *got to the number of bytes read, which is
     * 0 only at the end of the source.
     */
    wb_status (*read)(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got);
    /*
     * Optional. Returns the address of the n bytes at `offset`, valid until `close`, or NULL if
     * they cannot be mapped.
     */
    const void *(*map)(void *ctx, uint64_t offset, uint64_t n);
    /* Optional. Called once: when the model is closed, or before a failed open returns. */
    void (*close)(void *ctx);
    /*
     * Optional. Called before parts of the n bytes at `offset` are read, mostly in ascending order.
     * A slow source can prefetch these bytes.
     */
    void (*expect)(void *ctx, uint64_t offset, uint64_t n);
    /*
     * Optional. Called after a failed read, by the same thread, to describe the failure: may set
     * code (a static string), message and advice of *error.
     */
    void (*explain)(void *ctx, wb_error *error);
    /*
     * Optional, valid until `close`: identifies this version of the contents, for example an ETag.
     * If label and version are the same as in an earlier run, then the bytes are also the same.
     */
    const char *version;
    /*
     * Optional, valid until `close`: the digest that the bytes must have, in lower-case hexadecimal
     * digits. 64 digits are SHA-256, 40 digits are the SHA-1 of a git blob. wb_verify with
     * WB_VERIFY_DEEP compares it with the bytes.
     */
    const char *digest;
} wb_source;
#define WB_SOURCE_INIT WB_INIT(wb_source)

/*
 * Files that the caller provides, under paths that the caller defines, such as network addresses.
 * The library opens a path that `owns` accepts, and all sidecar files in its directory, through
 * these functions. The directory of a path is the part before its last '/'. The path of another
 * file in it consists of the directory, '/' and the file name. All functions must be thread-safe.
 * libweighbridge-net implements this struct for addresses (weighbridge/net.h).
 */
typedef struct wb_files {
    size_t size; /* sizeof(wb_files) */
    void *ctx;
    /* Returns 1 if the path belongs to these files, 0 if the operating system opens it. */
    int (*owns)(void *ctx, const char *path);
    /*
     * Opens a file: sets *source, whose members are zero at the call. If the path is a directory,
     * sets *is_folder to 1 instead. NOT_FOUND if there is no such file. On failure fills *error.
     */
    wb_status (*open)(void *ctx, const char *path, wb_source *source, int *is_folder,
                      wb_error *error);
    /*
     * Calls each(each_ctx, name) for every entry of a directory, in any order. If `each` returns a
     * status other than WB_OK, stops and returns this status. On other failures fills *error.
     */
    wb_status (*list)(void *ctx, const char *path,
                      wb_status (*each)(void *each_ctx, const char *name), void *each_ctx,
                      wb_error *error);
    /* Optional. Called with the paths of files that the library will then open one by one, so that
     * the caller can fetch them together. */
    void (*expect)(void *ctx, const char *const *paths, size_t count);
} wb_files;
#define WB_FILES_INIT WB_INIT(wb_files)

/*
 * Opens a model. The format of a file is detected by its content, not by its name. The time is
 * proportional to the size of the headers and does not depend on the size of the weights.
 *
 * path     one of:
 *            - a .safetensors file; any shard of a sharded model opens the whole model
 *            - a directory of shards
 *            - a repository in a Hugging Face cache (models--OWNER--NAME): opens the snapshot that
 *              refs/main names
 *            - a GGUF file; any part of a split model opens the whole model
 *            - a .npy or .npz file
 *            - a manifest of an Ollama store
 *            - "ollama://[host/][namespace/]model[:tag]"
 *            - the name of a model in the store wb_open_options.store, if no file has this path
 *          The path ends with NUL. Symbolic links in it are followed. Only regular files and
 *          directories are opened
 * options  NULL: defaults
 * model    owned, release with wb_close
 *
 * Fails with FORMAT, LIMIT, UNSUPPORTED, IO, NOT_FOUND or MEMORY.
 */
WB_API wb_status wb_open(const char *path, const wb_open_options *options, wb_model **model,
                         wb_error *error) WB_MUST_CHECK;

/*
 * Opens a model like wb_open, from a file descriptor. The caller keeps the descriptor and may close
 * it after the call. A pipe or terminal is read to its end, into memory or a temporary file
 * (wb_limits.spool_memory). `label` names the descriptor in messages.
 */
WB_API wb_status wb_open_fd(int fd, const char *label, const wb_open_options *options,
                            wb_model **model, wb_error *error) WB_MUST_CHECK;

/*
 * Opens a model like wb_open, from n bytes in memory, which must stay valid and unchanged until
 * wb_close. `label` names the model in messages.
 */
WB_API wb_status wb_open_memory(const void *bytes, size_t n, const char *label,
                                const wb_open_options *options, wb_model **model,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Opens a model like wb_open, from a source that the caller implements. `label` names the source in
 * messages.
 */
WB_API wb_status wb_open_source(const wb_source *source, const char *label,
                                const wb_open_options *options, wb_model **model,
                                wb_error *error) WB_MUST_CHECK;

/* A model of an Ollama store. Strings are borrowed during the callback. */
typedef struct wb_store_entry {
    size_t size;      /* sizeof(wb_store_entry) */
    const char *name; /* model name in Ollama's short form ("llama3:8b"), accepted by wb_open */
    const char *path; /* path of the manifest, also accepted by wb_open */
    uint64_t bytes;   /* size of all layers, according to the manifest */
    uint64_t layers;  /* number of layers: blobs that the manifest lists */
    uint64_t tensors; /* number of layers that are tensors; 0 for a model in GGUF */
    const wb_error *error; /* NULL, or the reason why the manifest could not be read */
} wb_store_entry;
#define WB_STORE_ENTRY_INIT WB_INIT(wb_store_entry)

/*
 * Calls `each` for every model of an Ollama store, ordered by path. Reads only the manifests.
 *
 * store    directory with manifests and blobs; NULL: the default store (wb_open_options.store)
 * options  only the allocator and the limits are used; may be NULL
 * each     a result other than 0 stops the listing with WB_ERROR_CANCELLED
 *
 * For a manifest that cannot be read, the entry has an error. Fails with NOT_FOUND, IO, MEMORY or
 * CANCELLED.
 */
WB_API wb_status wb_store_list(const char *store, const wb_open_options *options,
                               int (*each)(void *ctx, const wb_store_entry *entry), void *ctx,
                               wb_error *error) WB_MUST_CHECK;

/* Closes a model and frees everything borrowed from it. NULL is ignored. */
WB_API void wb_close(wb_model *model);

/*
 * Returns WB_OK if device, inode, size, modification time and change time of all files of the model
 * are the same as when it was opened. CHANGED, with the file and the difference, if not.
 */
WB_API wb_status wb_model_check(const wb_model *model, wb_error *error) WB_MUST_CHECK;

/* Returns the name of the container format: "safetensors", "gguf", "npy" or "npz"; static. */
WB_API const char *wb_format(const wb_model *model);

typedef struct wb_file {
    size_t size;          /* sizeof(wb_file) */
    const char *path;     /* path as opened; borrowed until wb_close */
    const char *format;   /* static */
    uint64_t bytes;       /* size of the file */
    uint64_t data_offset; /* file offset of the tensor data */
    uint64_t tensors;     /* number of tensors in the file */
    uint32_t version;     /* version of the format, 0 if it has none */
    uint32_t big_endian;  /* 1: numbers are stored most significant byte first */
} wb_file;
#define WB_FILE_INIT WB_INIT(wb_file)

/* Return the number of files of the model, and describe the file at `index`. */
WB_API uint64_t wb_file_count(const wb_model *model);
WB_API wb_status wb_file_at(const wb_model *model, uint64_t index, wb_file *file,
                            wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
