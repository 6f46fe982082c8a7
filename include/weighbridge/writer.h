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
#define WB_WRITER_OPTIONS_INIT WB_INIT(wb_writer_options)

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
#define WB_VALUE_INIT WB_INIT(wb_value)

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
 * Makes everything durable, and then visible. ARGUMENT, and nothing happens, while bytes are missing.
 * After another failure, CANCELLED among them, what was there before is still there.
 */
WB_API wb_status wb_writer_commit(wb_writer *writer, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
