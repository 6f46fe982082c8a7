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
 * A writer is used in four steps: declare all metadata and tensors; plan, which computes the layout
 * of all files; begin, which checks the free space and creates temporary files; then write the
 * bytes of the tensors, in any order and from any threads. wb_writer_commit makes the complete
 * result visible. If any step fails, or the process ends before the commit, existing files stay
 * unchanged.
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

/* Replace an existing directory, or an existing model of a store. Files are always replaced. */
#define WB_WRITE_FORCE 1u
/*
 * GGUF: store numbers big-endian, including those of tensors. The caller passes little-endian
 * bytes.
 */
#define WB_WRITE_BIG_ENDIAN 2u
/*
 * safetensors: align each tensor to `alignment`. The format permits no gaps: they are filled with
 * U8 tensors named "__padding__.N".
 */
#define WB_WRITE_ALIGN_TENSORS 4u
/* safetensors: the path is a directory that does not exist yet. */
#define WB_WRITE_FOLDER 8u
/*
 * ollama: the first published blob format, of February 2026: one blob for all experts of a layer
 * and one for its shared experts, without metadata if they are quantized. The bit 32 is reserved.
 */
#define WB_WRITE_FEB2026 16u
typedef struct wb_writer_options {
    size_t size;        /* sizeof(wb_writer_options) */
    const char *format; /* "safetensors", "gguf", "mlx", "ollama" or "npz" */
    uint32_t flags;     /* WB_WRITE_* */
    /*
     * bytes, a power of two from 8 on. safetensors: alignment of the data [8]; GGUF: of each tensor
     * [general.alignment, or 32]; npz: of each array [none]
     */
    uint64_t alignment;
    /* limit of tensor bytes in a file; a larger tensor gets its own file; 0: no limit */
    uint64_t max_file_bytes;
    uint64_t max_file_tensors; /* limit of tensors in a file; 0: no limit */
    /*
     * a model whose files must not be overwritten and must be unchanged at the commit; borrowed
     * until wb_writer_free; NULL: none
     */
    const wb_model *source;
    /*
     * ollama: directory with manifests and blobs, NULL: the default store, as for wb_open; copied
     */
    const char *store;
    const wb_limits *limits;       /* limits of headers; NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: as for wb_open; copied */
    /*
     * Reports the progress of wb_writer_commit, which writes all bytes to the disk. The commit can
     * be cancelled until the first file has its final name. Called by the thread that commits;
     * NULL: none; copied.
     */
    const wb_progress *progress;
} wb_writer_options;
#define WB_WRITER_OPTIONS_INIT WB_INIT(wb_writer_options)

/* writer: owned, release with wb_writer_free */
WB_API wb_status wb_writer_create(const wb_writer_options *options, wb_writer **writer,
                                  wb_error *error) WB_MUST_CHECK;

/* Frees a writer and removes temporary files if it was not committed. NULL is ignored. */
WB_API void wb_writer_free(wb_writer *writer);

/* A metadata value. */
typedef struct wb_value {
    size_t size; /* sizeof(wb_value) */
    wb_meta_type type;
    /*
     * bits of the number, or of each number of an array: 8, 16, 32 or 64; of FLOAT 32 or 64; 0: 64
     */
    uint32_t bits;
    wb_meta_type element; /* ARRAY: type of the elements */
    uint32_t reserved;
    uint64_t number;  /* UINT; INT in two's complement; BOOL 0 or 1 */
    double real;      /* FLOAT */
    const char *text; /* STRING */
    size_t text_len;
    uint64_t count; /* ARRAY: elements */
    /*
     * ARRAY: the elements. Numbers in native byte order; BOOL one byte each; STRING const char *
     * each; ARRAY wb_value each
     */
    const void *items;
    const size_t *lens; /* lengths of STRINGs; NULL: strlen */
} wb_value;
#define WB_VALUE_INIT WB_INIT(wb_value)

/*
 * Sets a metadata entry. Entries are written in the order of their first setting. safetensors
 * supports strings only. The writer adds the keys of split GGUF files and index files itself:
 * split.no, split.count and split.tensors.count of GGUF are ignored. Copies everything. ARGUMENT if
 * the value is invalid, and after wb_writer_plan.
 */
WB_API wb_status wb_writer_set(wb_writer *writer, const char *key, size_t key_len,
                               const wb_value *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_set_string(wb_writer *writer, const char *key, size_t key_len,
                                      const char *value, size_t value_len,
                                      wb_error *error) WB_MUST_CHECK;

/* As wb_writer_set with entry `index` of a model: copies its key and value unchanged. */
WB_API wb_status wb_writer_copy_meta(wb_writer *writer, const wb_model *model, uint64_t index,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Declares a tensor.
 *
 * shape   `rank` dimensions, outermost first
 * index   set to the index of the tensor, counted from 0, for the functions below; may be NULL
 *
 * ARGUMENT if the name is already used, or if the dtype cannot have this shape.
 */
WB_API wb_status wb_writer_add(wb_writer *writer, const char *name, size_t name_len, int32_t dtype,
                               const uint64_t *shape, uint32_t rank, uint64_t *index,
                               wb_error *error) WB_MUST_CHECK;

/*
 * ollama: declares that a tensor, added before, is the packed values of a quantized weight, which
 * becomes part of its blob: for example "int4" with groups of 64. The parts are named NAME.weight,
 * NAME.weight.scale, NAME.weight.bias and NAME.weight.global_scale.
 *
 * type  "int4", "int8", "mxfp4", "mxfp8" or "nvfp4"
 */
WB_API wb_status wb_writer_set_packing(wb_writer *writer, uint64_t index, const char *type,
                                       uint32_t group_size, wb_error *error) WB_MUST_CHECK;

/*
 * gguf, ollama: the result is an unchanged copy of the only file of `model`, a GGUF file; the file
 * system shares the data if it can. No tensors are declared; metadata is what Ollama stores in
 * separate layers. The model is borrowed until wb_writer_free. ARGUMENT for models of several files
 * or formats other than GGUF.
 */
WB_API wb_status wb_writer_set_whole(wb_writer *writer, const wb_model *model,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Adds a sidecar file such as config.json to the directory or store: n bytes, copied now, or the
 * file at `path`, read when the result is written. ARGUMENT if the name is not a valid file name or
 * is already used.
 */
WB_API wb_status wb_writer_add_bytes(wb_writer *writer, const char *name, const void *bytes,
                                     size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_add_file(wb_writer *writer, const char *name, const char *path,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Computes the layout of all files, without access to the disk. Nothing can be declared afterwards.
 *
 * path  path of the file, NULL for wb_writer_begin_fd. If several files are needed, they are in the
 *       same directory and are named as by Hugging Face or gguf-split:
 *       NAME-00001-of-00003.safetensors with NAME.safetensors.index.json, or
 *       NAME-00001-of-00003.gguf. mlx: a directory that does not exist yet. ollama: the name of the
 *       model, as in wb_open
 *
 * UNSUPPORTED if the format cannot represent something, LIMIT if a header is too large.
 */
WB_API wb_status wb_writer_plan(wb_writer *writer, const char *path, wb_error *error) WB_MUST_CHECK;

/* The planned files and tensors. Strings are borrowed until wb_writer_free. */
WB_API uint64_t wb_writer_file_count(const wb_writer *writer);
WB_API wb_status wb_writer_file_at(const wb_writer *writer, uint64_t index, wb_file *file,
                                   wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_tensor_at(const wb_writer *writer, uint64_t index, wb_tensor *tensor,
                                     wb_error *error) WB_MUST_CHECK;

/* Returns the tensor at a position in the order of the files and of the bytes in them. */
WB_API wb_status wb_writer_order(const wb_writer *writer, uint64_t position, uint64_t *index,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Checks whether the planned files can be written to their path and whether there is enough free
 * space, and creates nothing. wb_writer_begin refuses the same for the same reasons. It can still
 * fail for reasons that appear later, such as a disk error or another process that writes there.
 */
WB_API wb_status wb_writer_check(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * Begins to write the planned files: checks free space and permissions, and creates temporary
 * files. A replaced file keeps its permissions; if the path is a symbolic link, its target is
 * replaced. A pipe or device is written directly, as by wb_writer_begin_fd. Several files never
 * replace existing ones. ARGUMENT if an output is a file of wb_writer_options.source.
 */
WB_API wb_status wb_writer_begin(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

/*
 * As wb_writer_begin, for a file descriptor, which stays the caller's. Bytes must be written in the
 * order of wb_writer_order. `label` names the descriptor in messages. For one file only; plans it
 * if wb_writer_plan was not called.
 */
WB_API wb_status wb_writer_begin_fd(wb_writer *writer, int fd, const char *label,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * Writes n bytes of a tensor, little-endian, at its byte `offset`. Thread-safe. For big-endian
 * files the bytes must be whole elements or blocks. ARGUMENT if bytes were written before or are
 * beyond the tensor. After any other failure the writer cannot be used any more.
 */
WB_API wb_status wb_writer_put(wb_writer *writer, uint64_t index, uint64_t offset,
                               const void *bytes, size_t n, wb_error *error) WB_MUST_CHECK;

/*
 * Writes a complete tensor by copying the stored bytes of a tensor of another model, within the
 * file system if it supports that. dtype and size must be equal. Parts of a tensor are copied
 * separately. Thread-safe.
 */
WB_API wb_status wb_writer_copy(wb_writer *writer, uint64_t index, const wb_model *model,
                                uint64_t tensor, wb_error *error) WB_MUST_CHECK;

/* As wb_writer_copy, to byte `offset` of a larger tensor: one expert of several in one tensor. */
WB_API wb_status wb_writer_copy_into(wb_writer *writer, uint64_t index, uint64_t offset,
                                     const wb_model *model, uint64_t tensor,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Writes everything to the disk and makes the result visible. ARGUMENT, without any effect, if
 * bytes are missing. After any other failure, including CANCELLED, the former files still exist.
 */
WB_API wb_status wb_writer_commit(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
