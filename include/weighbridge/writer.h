/*
 * weighbridge/writer.h: writing models.
 */
#ifndef WEIGHBRIDGE_WRITER_H
#define WEIGHBRIDGE_WRITER_H

#include "weighbridge/metadata.h"
#include "weighbridge/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A writer of a model. It is used in five steps:
 *   1. declare all metadata and tensors
 *   2. wb_writer_plan computes the layout of all files
 *   3. wb_writer_begin checks the free space and creates temporary files
 *   4. write the bytes of the tensors, in any order and from any threads
 *   5. wb_writer_commit gives the complete files their final names
 * If any step fails, or the process ends before the commit, existing files stay unchanged. The
 * memory of a writer is limited to 1 MiB plus 16 times the bytes of the headers that it writes.
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

/*
 * Replace an existing output: a file, the files of the model in an existing directory, or a model
 * of a store. Everything else in the directory stays.
 */
#define WB_WRITE_FORCE 1u
/*
 * GGUF: store numbers big-endian, including those of tensors. The caller passes little-endian
 * bytes.
 */
#define WB_WRITE_BIG_ENDIAN 2u
/*
 * safetensors: align each tensor to wb_writer_options.alignment. The format permits no gaps between
 * tensors, so U8 tensors "__padding__.N" fill them.
 */
#define WB_WRITE_ALIGN_TENSORS 4u
/* safetensors: the path is that of a directory that does not exist yet. */
#define WB_WRITE_FOLDER 8u
/*
 * ollama: write the blob format of February 2026, which is the first published one. It has one blob
 * for all experts of a layer and one for its shared experts. These blobs have no metadata if they
 * are quantized. (The next flag, 32, is reserved for weighbridge/experimental.h.)
 */
#define WB_WRITE_FEB2026 16u
typedef struct wb_writer_options {
    size_t size;        /* sizeof(wb_writer_options) */
    const char *format; /* "safetensors", "gguf", "mlx", "ollama" or "npz" */
    uint32_t flags;     /* WB_WRITE_* */
    /*
     * alignment in bytes, a power of two of at least 8; 0: the default, given here in brackets.
     * safetensors: of the data [8]; GGUF: of each tensor [general.alignment, or 32]; npz: of each
     * array [none]
     */
    uint64_t alignment;
    /* limit of tensor bytes in a file; a tensor above the limit gets its own file; 0: no limit */
    uint64_t max_file_bytes;
    uint64_t max_file_tensors; /* limit of tensors in a file; 0: no limit */
    /*
     * a model whose files the writer does not overwrite, and which must be unchanged at the commit;
     * borrowed until wb_writer_free; NULL: none
     */
    const wb_model *source;
    /*
     * ollama: directory with manifests and blobs; NULL: the default store (wb_open_options.store);
     * copied
     */
    const char *store;
    const wb_limits *limits;       /* limits of headers; NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    /*
     * Receives the progress of wb_writer_commit, which flushes all bytes to the disk. The callback
     * can cancel the commit until the first file has its final name. It is called by the thread
     * that commits. NULL: none. The struct is copied.
     */
    const wb_progress *progress;
} wb_writer_options;
#define WB_WRITER_OPTIONS_INIT WB_INIT(wb_writer_options)

/* Creates a writer. *writer is owned, release with wb_writer_free. */
WB_API wb_status wb_writer_create(const wb_writer_options *options, wb_writer **writer,
                                  wb_error *error) WB_MUST_CHECK;

/* Frees a writer. Removes its temporary files if it was not committed. NULL is ignored. */
WB_API void wb_writer_free(wb_writer *writer);

/* A metadata value. */
typedef struct wb_value {
    size_t size; /* sizeof(wb_value) */
    wb_meta_type type;
    /*
     * size in bits of the number, or of each number of an array: 8, 16, 32 or 64 (for FLOAT only 32
     * or 64). 0 means 64.
     */
    uint32_t bits;
    wb_meta_type element; /* ARRAY: type of the elements */
    uint32_t reserved;
    uint64_t number;  /* UINT: the value; INT: the value in two's complement; BOOL: 0 or 1 */
    double real;      /* FLOAT: the value */
    const char *text; /* STRING: the value */
    size_t text_len;
    uint64_t count; /* ARRAY: number of elements */
    /*
     * ARRAY: the elements. Numbers are in native byte order. BOOL: one byte each; STRING: a const
     * char * each; ARRAY: a wb_value each
     */
    const void *items;
    const size_t *lens; /* ARRAY of STRING: the length of each string; NULL: strlen of each */
} wb_value;
#define WB_VALUE_INIT WB_INIT(wb_value)

/*
 * Set a metadata entry. Entries are written in the order in which they were first set. safetensors
 * supports only strings. For GGUF the keys split.no, split.count and split.tensors.count are
 * ignored, because the writer itself computes them for split files. Key and value are copied.
 * ARGUMENT if the value is invalid, and after wb_writer_plan.
 */
WB_API wb_status wb_writer_set(wb_writer *writer, const char *key, size_t key_len,
                               const wb_value *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_set_string(wb_writer *writer, const char *key, size_t key_len,
                                      const char *value, size_t value_len,
                                      wb_error *error) WB_MUST_CHECK;

/* Sets a metadata entry to an unchanged copy of the entry `index` of `model`. */
WB_API wb_status wb_writer_copy_meta(wb_writer *writer, const wb_model *model, uint64_t index,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Declares a tensor.
 *
 * shape   `rank` dimensions, outermost first
 * index   set to the index of the tensor for the functions below, counted from 0; may be NULL
 *
 * ARGUMENT if the name is already used, or if a tensor of this dtype cannot have this shape.
 */
WB_API wb_status wb_writer_add(wb_writer *writer, const char *name, size_t name_len, int32_t dtype,
                               const uint64_t *shape, uint32_t rank, uint64_t *index,
                               wb_error *error) WB_MUST_CHECK;

/*
 * ollama: declares that the tensor `index` contains the packed values of a quantized weight. The
 * metadata of its blob then contains the type and group size, for example "int4" and 64. All parts
 * of the weight are tensors with these names: NAME.weight, NAME.weight.scale, NAME.weight.bias and
 * NAME.weight.global_scale.
 *
 * type  "int4", "int8", "mxfp4", "mxfp8" or "nvfp4"
 */
WB_API wb_status wb_writer_set_packing(wb_writer *writer, uint64_t index, const char *type,
                                       uint32_t group_size, wb_error *error) WB_MUST_CHECK;

/*
 * gguf, ollama: makes the result an unchanged copy of the only file of `model`, a GGUF file. The
 * copy shares its data with the file if the file system supports this. ollama: the parts of a split
 * GGUF file are merged into one blob, byte for byte. No tensors may be declared.
 * Metadata that is set becomes the separate layers of an Ollama model (template, parameters, …).
 * The model is borrowed until wb_writer_free. ARGUMENT for formats other than GGUF, and for gguf
 * also if the model has several files.
 */
WB_API wb_status wb_writer_set_whole(wb_writer *writer, const wb_model *model,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Add a sidecar file such as config.json to the directory or store. wb_writer_add_bytes copies its
 * n bytes during the call. wb_writer_add_file copies the file at `path` when the result is written.
 * ARGUMENT if the name is not a valid file name or is already used.
 */
WB_API wb_status wb_writer_add_bytes(wb_writer *writer, const char *name, const void *bytes,
                                     size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_add_file(wb_writer *writer, const char *name, const char *path,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Adds a copy of the sidecar file `name` in the directory or Ollama store of `model`. NOT_FOUND if
 * there is no such file. FORMAT, with the code "link-outside", if the file is a link that leads
 * outside the directory, unless the model was opened with WB_OPEN_FOLLOW_LINKS. ARGUMENT as for
 * wb_writer_add_file.
 */
WB_API wb_status wb_writer_add_sidecar(wb_writer *writer, const wb_model *model, const char *name,
                                       wb_error *error) WB_MUST_CHECK;

/*
 * Computes the layout of all files, without access to the disk. Nothing can be declared afterwards.
 *
 * path  path of the file; NULL for wb_writer_begin_fd. mlx, and safetensors with WB_WRITE_FOLDER:
 *       path of a directory that does not exist yet. ollama: the name of the model, as in wb_open.
 *       If several files are needed, they are in the directory of the file and have the names that
 *       Hugging Face or gguf-split uses: NAME-00001-of-00003.safetensors with
 *       NAME.safetensors.index.json, or NAME-00001-of-00003.gguf
 *
 * UNSUPPORTED if the format cannot represent something that was declared, LIMIT if a header is too
 * large.
 */
WB_API wb_status wb_writer_plan(wb_writer *writer, const char *path, wb_error *error) WB_MUST_CHECK;

/* Describe the planned files and tensors. Strings are borrowed until wb_writer_free. */
WB_API uint64_t wb_writer_file_count(const wb_writer *writer);
WB_API wb_status wb_writer_file_at(const wb_writer *writer, uint64_t index, wb_file *file,
                                   wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_tensor_at(const wb_writer *writer, uint64_t index, wb_tensor *tensor,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Returns the index of the tensor at `position` in the order in which the result stores the
 * tensors.
 */
WB_API wb_status wb_writer_order(const wb_writer *writer, uint64_t position, uint64_t *index,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Checks, without creating anything, whether the planned files can be written to their path and
 * whether there is enough free space. wb_writer_begin makes the same checks. It can still fail
 * after a successful check, for example because of a disk error or because another process writes
 * to the same path.
 */
WB_API wb_status wb_writer_check(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the path of file number `index` among the existing files that the commit replaces or
 * removes (WB_WRITE_FORCE); NULL if `index` is not below the number of such files. Known after
 * wb_writer_check or wb_writer_begin. Borrowed until wb_writer_free.
 */
WB_API const char *wb_writer_replaces(const wb_writer *writer, uint64_t index);

/*
 * Begins to write the planned files: checks free space and permissions, and creates temporary
 * files. ARGUMENT if an output exists, unless WB_WRITE_FORCE is set. With this flag, a single file
 * replaces the existing file at the commit and gets its permissions; if the path is a symbolic
 * link, its target is replaced. Even with this flag, a result of several files without a separate
 * directory never replaces files, because that could not be atomic. A pipe or device is written
 * directly, as by wb_writer_begin_fd. ARGUMENT if an output is a file of wb_writer_options.source.
 */
WB_API wb_status wb_writer_begin(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * Begins to write the only planned file to a file descriptor, which the caller keeps and closes.
 * Calls wb_writer_plan if the caller did not. The bytes must be written in the order of
 * wb_writer_order. `label` names the descriptor in messages.
 */
WB_API wb_status wb_writer_begin_fd(wb_writer *writer, int fd, const char *label,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Writes n bytes of a tensor, from byte `offset` of the tensor on. Numbers in the bytes are
 * little-endian. For big-endian files the bytes must be whole elements or blocks. ARGUMENT if some
 * of these bytes were written before or are outside the tensor. After any other failure the writer
 * cannot be used any more. Thread-safe.
 */
WB_API wb_status wb_writer_put(wb_writer *writer, uint64_t index, uint64_t offset,
                               const void *bytes, size_t n, wb_error *error) WB_MUST_CHECK;

/*
 * Writes a complete tensor: copies the stored bytes of tensor `tensor` of `model`, without reading
 * them if the file system can copy or share the data. dtype and size of both tensors must be equal.
 * If the source has several parts, each part requires a separate call. Thread-safe.
 */
WB_API wb_status wb_writer_copy(wb_writer *writer, uint64_t index, const wb_model *model,
                                uint64_t tensor, wb_error *error) WB_MUST_CHECK;

/*
 * Copies like wb_writer_copy, but to byte `offset` of a larger tensor, for example one expert into
 * the tensor of all experts.
 */
WB_API wb_status wb_writer_copy_into(wb_writer *writer, uint64_t index, uint64_t offset,
                                     const wb_model *model, uint64_t tensor,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Flushes all files to the disk and gives them their final names. ARGUMENT, without any effect, if
 * bytes of a tensor are missing. After any other failure, including CANCELLED, the former files
 * still exist.
 */
WB_API wb_status wb_writer_commit(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
