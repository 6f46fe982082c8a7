/*
 * write: writes models to files.
 *
 * A write consists of these steps:
 *
 *   declare    collects metadata and tensors in memory (write_declare.c, meta_value.c)
 *   plan       assigns tensors to files and names the files (write_plan.c, output_names.c)
 *   begin      checks free space and output paths (write_begin.c)
 *   put, copy  write tensor bytes at their offsets, from any thread (write_put.c, copy_tensor.c)
 *   commit     makes all files durable under temporary names, then renames them (write_commit.c)
 *
 * The plan contains all headers and the lengths of all files. A file is created when its first
 * bytes are written (output_file.c). The writer records which tensor bytes are written. Tensor
 * bytes can be written in the background (writeback.c). Headers between tensors, which contain
 * checksums, are written after the tensors (interleaved_headers.c). A single file can be copied
 * unchanged (set_whole.c, copy_file.c).
 *
 * Commit renames the file that refers to the other files last. The progress callback can cancel the
 * write until the first rename. After the first error of a write, all later calls return this error
 * (see io/sink.h).
 */
#ifndef WB_WRITE_WRITE_H
#define WB_WRITE_WRITE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"
#include "core/crc32.h"
#include "crypto/sha256.h"
#include "formats/format.h"
#include "handle/handle.h"
#include "io/io.h"
#include "io/sink.h"
#include "weighbridge/experimental.h"
#include "json/json.h"

/* ---- name_map.c ---- */

/* Hash map from names to the items of a list. Each item begins with a wb__str, which is its
 * name. */
typedef struct wb__name_map {
    const wb_allocator *allocator;
    wb__hash_key key;
    wb__list *items;
    uint32_t *slots;   /* each slot contains an item index + 1, or 0 if the slot is free */
    size_t slot_count; /* number of slots, a power of two or 0 */
} wb__name_map;

void wb__name_map_start(wb__name_map *map, const wb_allocator *allocator, wb__list *items);
void wb__name_map_stop(wb__name_map *map);

/* Returns the index of the item with this name, or UINT32_MAX if no item has it. */
uint32_t wb__name_map_find(const wb__name_map *map, wb__str name);

/* Adds the last item of the list to the map. Returns false if out of memory. The caller then
 * removes the item from the list. */
bool wb__name_map_add(wb__name_map *map);

/* ---- the writer ---- */

/* The bytes from offset `begin` up to, but not including, offset `end`. */
typedef struct wb__byte_interval {
    uint64_t begin, end;
} wb__byte_interval;

/* A tensor to write, and the byte ranges written so far. */
typedef struct wb__outgoing {
    /* The first member, so that a pointer to `out` can be cast to wb__outgoing. The first member of
     * `out` is the name of the tensor. */
    wb__out_tensor out;
    uint32_t number; /* tensor number that was returned to the caller */
    /* type given to wb_writer_set_packing; NULL: the function was not called */
    const char *packing;
    uint32_t group; /* group size given to wb_writer_set_packing */
    wb__str layer;  /* Ollama: name of the layer to which the tensor belongs */
    /* Ollama: 0 for packed values or a tensor without companions, 1 for a scale, 2 for a bias, 3
     * for a global scale */
    uint8_t part;
    bool is_expert; /* Ollama: the layer is an expert group */
    uint32_t file;  /* index of the output that contains the tensor */
    uint32_t from;  /* edit: index of the tensor in the original file */
    /* number of bytes at the start of the tensor that are written without a gap */
    uint64_t done;
    /* Ranges written after `done`, as offsets in the tensor. They are sorted, do not overlap and
     * are not adjacent. */
    wb__byte_interval *pieces;
    size_t piece_count;
    size_t piece_capacity;
} wb__outgoing;

/* An output file. */
typedef struct wb__output {
    wb__out_file layout;
    const char *path; /* NULL: the output is the caller's file descriptor */
    wb_sink *sink;    /* NULL: the file is not opened yet */
    size_t first;     /* index in wb_writer.order of the first tensor of the file */
    uint64_t left;    /* number of tensor bytes that are not written yet */
    uint64_t dirty;   /* number of bytes written since write-back to disk was last requested */
    bool filled;      /* wb_writer.whole is completely copied to this output */
    bool finished;    /* the file is durable under its temporary name */
    /* Ollama: name of the layer, and the digest of its blob in hexadecimal */
    wb__str layer;
    char digest[2 * WB__SHA256_BYTES + 1];
} wb__output;

/* A sidecar file. */
typedef struct wb__sidecar {
    wb__str name;
    const char *path;   /* path of the file to copy; NULL: the contents are `bytes` */
    const char *folder; /* links must not lead outside this directory; NULL: no check */
    const uint8_t *bytes;
    size_t n;
    wb_sink *sink; /* the finished temporary file; NULL: not written yet */
} wb__sidecar;

typedef enum wb__writer_state {
    WB__DECLARING = 0,
    WB__PLANNED,
    WB__WRITING,
    WB__COMMITTED
} wb__writer_state;

struct wb_writer {
    wb_allocator allocator;
    wb_limits limits;
    const wb__format *format;
    uint32_t flags;
    bool is_store; /* the output is a model in an Ollama store */
    /* the writer belongs to an edit: tensors keep their order, and split.* keys keep their
     * values */
    bool is_edit;
    /* copy of the caller's store path; NULL: the environment determines the store */
    const char *store;
    /* alignment of the data in bytes; 0: the alignment in the metadata, or else the format's
     * default */
    uint64_t alignment;
    uint64_t max_file_bytes;   /* maximum number of tensor bytes per file; 0: no limit */
    uint64_t max_file_tensors; /* maximum number of tensors per file; 0: no limit */
    /* model whose files must not change or be overwritten; NULL: not known */
    const wb_model *source;
    /* model that is copied unchanged: its single file, or its parts merged into one file. NULL:
     * nothing is copied as a whole, and the tensors are written. */
    const wb_model *whole;
    const wb__source *whole_source; /* the bytes of that file; NULL if `whole` is NULL */
    wb__source *merged; /* the parts of `whole`, merged into one file; NULL: `whole` has one file */
    wb_progress progress; /* progress.report is NULL if the caller wants no progress reports */
    wb__arena arena;
    wb__list metas;   /* list of wb__out_meta */
    wb__list tensors; /* list of wb__outgoing */
    wb__list extras;  /* list of wb__sidecar */
    wb__name_map meta_names;
    wb__name_map tensor_names;

    _Atomic(wb__writer_state) state;
    wb__output *outputs;
    size_t output_count;
    bool has_paths;         /* the plan has file paths; false: the output is a descriptor */
    wb__out_tensor **order; /* all tensors, sorted by file and by position in the file */
    const wb__out_meta **meta_order;
    size_t meta_order_count;
    /* Contents of the index file of shards, which contains the file name of each tensor; NULL:
     * no index file */
    char *index;
    size_t index_bytes;        /* allocated size of `index`, in bytes */
    size_t index_len;          /* length of `index`, in bytes */
    const char *index_path;    /* path of the index file; NULL: no index file */
    const char *manifest_path; /* Ollama: path of the manifest */
    wb__str store_name;        /* Ollama: model name as given by the caller */
    const char *blobs;         /* Ollama: common prefix of all blob paths */
    /* output directory that commit creates or replaces; NULL: the files are written into an
     * existing directory */
    const char *folder;
    /* Ollama: path from which the name of the directory with partial files is derived; NULL:
     * partial files are not kept */
    const char *kept_beside;
    /* directory in which files are written until commit; NULL: their final directory */
    const char *folder_at;
    bool replaces_folder; /* `folder` exists and is replaced */
    wb__list replaced;    /* list of const char *: paths of existing files that are replaced */
    /* Descriptors that hold the locks of the output directory and of folder_at; -1: not locked */
    int claims[2];
    uint64_t set; /* random number in the temporary names of the files of one set */
    /* partial files are deleted if the write is not committed, because the source has changed and
     * no later run can use them */
    bool forgets;

    pthread_mutex_t lock; /* protects all fields below, and `done` and `pieces` of the tensors */
    wb_error failure;     /* first error of the write; status WB_OK: no error yet */
    uint64_t stream_at;   /* number of bytes written to the stream */
    size_t stream_next;   /* index in `order` of the tensor whose bytes the stream expects next */
    /* index in layout.pieces of the header piece that the stream writes next */
    size_t stream_piece;
    wb__crc32 crc32; /* tables for CRC-32, for formats with checksums */
};

/* Returns true if the outputs are several files in an existing directory. A set of files cannot
 * replace another set atomically, so the outputs must not replace existing files. */
static inline bool wb__writer_is_set(const wb_writer *writer)
{
    return writer->output_count > 1 && writer->folder == NULL && !writer->is_store;
}

static inline wb__outgoing *wb__writer_tensor(const wb_writer *writer, uint64_t index)
{
    return wb__list_at(&writer->tensors, (size_t)index);
}

wb__context wb__writer_context(const wb_writer *writer, wb_error *error);

/* ---- write_declare.c ---- */

wb_status wb__writer_make(wb__context *context, const wb_writer_options *options,
                          wb_writer **writer);
void wb__writer_delete(wb_writer *writer);
wb_status wb__writer_set(wb__context *context, wb_writer *writer, wb__str key,
                         const wb_value *value);
wb_status wb__writer_copy_meta(wb__context *context, wb_writer *writer, const wb__catalog *model,
                               const wb__meta *meta);
/* Like wb__writer_copy_meta, but stores the value under `key`. */
wb_status wb__writer_copy_meta_as(wb__context *context, wb_writer *writer, const wb__catalog *model,
                                  const wb__meta *meta, wb__str key);
wb_status wb__writer_add(wb__context *context, wb_writer *writer, wb__str name, int32_t dtype,
                         const uint64_t *shape, uint32_t rank, uint64_t *index);

wb_status wb__writer_set_packing(wb__context *context, wb_writer *writer, uint64_t index,
                                 wb__str type, uint32_t group);
wb_status wb__writer_set_whole(wb__context *context, wb_writer *writer, const wb_model *model);
wb_status wb__writer_add_extra(wb__context *context, wb_writer *writer, wb__sidecar extra);
wb_status wb__writer_check_declaring(wb__context *context, const wb_writer *writer, wb__str name);

/* ---- write_outside.c ---- */

/*
 * Fails if the output would be written into the directory of the source. This check applies to an
 * output directory, and to a file of the same format, which would become part of the source model.
 * Other files are allowed: a GGUF file next to the safetensors files that it is made from does not
 * change the model.
 */
wb_status wb__writer_check_outside(wb__context *context, const wb_writer *writer);

/* ---- writer_sidecars.c ---- */

/* Adds the sidecar file `name` of the model. Fails with WB_ERROR_NOT_FOUND if there is none, and
 * with WB__FINDING_LINK_OUTSIDE if a link leads outside the directory. If `writer` is NULL, the
 * file is only looked for. */
wb_status wb__writer_add_sidecar(wb__context *context, wb_writer *writer, const wb_model *model,
                                 const char *name);

/* Adds the total size of the sidecar files to *bytes. */
wb_status wb__sidecars_measure(wb__context *context, const wb_writer *writer, uint64_t *bytes);

/* Writes the sidecar files durably into the directory that commit publishes. */
wb_status wb__sidecars_write(wb__context *context, wb_writer *writer);

/* ---- meta_value.c ---- */

/* Append a metadata value in the encoding of formats/output_layout.h and set *tag to its type
 * tag. */
wb_status wb__value_put(wb__context *context, wb__buffer *out, wb__str key, const wb_value *value,
                        uint32_t *tag);
wb_status wb__value_put_meta(wb__context *context, wb__buffer *out, const wb__catalog *model,
                             const wb__meta *meta, uint32_t *tag);

/* ---- partial_files.c ---- */

/* Return the path at which a file or an output is currently written: in folder_at, or else its
 * final path. The caller frees the string with the allocator (size: strlen + 1). Return NULL if
 * out of memory. */
char *wb__path_now(const wb_allocator *allocator, const wb_writer *writer, const char *path);
char *wb__output_path_now(const wb_allocator *allocator, const wb_writer *writer,
                          const wb__output *output);

/* Returns the number of bytes that partial files of an earlier run contain, up to the planned
 * size of each file. */
uint64_t wb__partial_bytes(const wb_writer *writer);

/* If the partial file of `path` has another hard link, replaces the partial file by a copy. The
 * other link is a blob, which must not change. */
wb_status wb__partial_own(wb__context *context, const char *path);

/* Returns true if the text is a part number such as "-00001-of-00003". */
bool wb__partial_is_numbers(wb__str text);

/* Renames the outputs of a directory from their final names back to their partial names. */
wb_status wb__partial_rename_back(wb__context *context, const wb_writer *writer);

/* Recovers a set of files in an existing directory: removes final names that an earlier run gave
 * to only a part of the set, and partial files that belong to another plan. */
wb_status wb__partial_settle(wb__context *context, const wb_writer *writer);

/* ---- write_plan.c, output_names.c ---- */

wb_status wb__writer_plan(wb__context *context, wb_writer *writer, const char *path);

/* Sets the paths of the outputs and of the index file. */
wb_status wb__writer_name_outputs(wb__context *context, wb_writer *writer, const char *path);

/* Plans the single output of a file that is copied unchanged. */
wb_status wb__writer_plan_whole(wb__context *context, wb_writer *writer);

/* Creates the contents of the index file of shards (wb_writer.index). */
wb_status wb__writer_make_index(wb__context *context, wb_writer *writer);

/* ---- write_begin.c ---- */

/* Reports the errors that wb__writer_begin would report, without creating files. */
wb_status wb__writer_check(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin_fd(wb__context *context, wb_writer *writer, int fd, const char *label);

/* Opens the temporary file for `path`, in writer->folder_at if that is not NULL. `kept`: the file
 * is resumable (io/sink.h). `expected`: its planned size in bytes. Error messages name `path`. */
wb_status wb__writer_open(wb__context *context, const wb_writer *writer, const char *path,
                          bool kept, uint64_t expected, wb_sink **sink);

/* Creates the temporary file of an output and writes its header. The caller holds the writer's
 * lock. */
wb_status wb__output_open(wb__context *context, wb_writer *writer, wb__output *output);

/* Makes an output durable. Precondition: all its tensor bytes are written, and no other thread uses
 * the output. */
wb_status wb__output_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- replaced_files.c ---- */

/* Fails with WB_ERROR_ARGUMENT and a message about the target path. */
wb_status wb__fail_target(wb__context *context, const char *path, wb__finding_id id,
                          const char *what);

/* Adds a path to the list of replaced files. */
wb_status wb__replaced_add(wb__context *context, wb_writer *writer, const char *path);

/* If writer->folder is a symbolic link, sets it to the target of the link, because that directory
 * is created or replaced. The paths of the files are not changed. */
wb_status wb__replaced_follow(wb__context *context, wb_writer *writer);

/* Checks whether the directory writer->folder exists and may be replaced, and lists the files that
 * are replaced. */
wb_status wb__replaced_check(wb__context *context, wb_writer *writer);

/* Replaces the existing directory writer->folder by writer->folder_at. Files in the old directory
 * are removed if they are replaced, and otherwise kept. */
wb_status wb__replaced_publish(wb__context *context, wb_writer *writer);

/* Removes entries of folder_at that are not part of the model. An earlier run with other shard
 * sizes, or one that ended while it replaced a directory, may have left them. */
wb_status wb__directory_tidy(wb__context *context, const wb_writer *writer);

/* ---- interleaved_headers.c ---- */

/* Adds written bytes to the checksum of a tensor in a stream. The caller passes the bytes in
 * order. */
void wb__interleaved_add(wb_writer *writer, wb__output *output, wb__outgoing *tensor,
                         const void *bytes, size_t n);

/* Writes the header pieces of a file, which contain the checksums of the tensors. Reads the
 * tensors back to compute the checksums. Precondition: all tensors are written. */
wb_status wb__interleaved_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- ollama/store.c, ollama/store_plan.c (other declarations: ollama/store.h) ---- */

/* Plans an Ollama model: groups the tensors into layers and assigns one blob to each layer. */
wb_status wb__store_plan(wb__context *context, wb_writer *writer, const char *name);

/* Plans an Ollama model whose model file is copied unchanged. */
wb_status wb__store_plan_whole(wb__context *context, wb_writer *writer, const char *name);

/* wb__store_check fails if the store already contains the model. wb__store_begin also creates
 * the directories of the store. */
wb_status wb__store_check(wb__context *context, wb_writer *writer);
wb_status wb__store_begin(wb__context *context, wb_writer *writer);

/* Computes the digest of a blob whose bytes are all written. */
wb_status wb__store_digest(wb__context *context, wb__output *output);

/* Gives all blobs their final names, then writes the manifest. */
wb_status wb__store_commit(wb__context *context, wb_writer *writer);

/* Finishes `hash`, to which all bytes of the blob were added, and sets the digest of the output. */
wb_status wb__store_end_digest(wb__context *context, wb__sha256 *hash, wb__output *output);

/* ---- copy_file.c ---- */

/* Copy the source file to the output. If `anew` is false, bytes that an earlier run left in the
 * output are reused where they equal the source. Set *taken to the number of reused bytes. */
wb_status wb__copy_file_fill(wb__context *context, wb_writer *writer, bool anew, uint64_t *taken);
wb_status wb__writer_copy_whole(wb__context *context, wb_writer *writer, bool anew,
                                uint64_t *taken);

/* ---- write_put.c, copy_tensor.c, write_commit.c ---- */

/* The tensor, output and file offset at which bytes are written. wb__put_begin sets it. */
typedef struct wb__write_position {
    wb__outgoing *tensor;
    wb__output *output;
    uint64_t at; /* file offset at which the bytes are written */
} wb__write_position;

/* Records that bytes of a tensor are about to be written, and opens the output. Fails with
 * WB_ERROR_ARGUMENT if some of the bytes are already written. For a stream, wb__put_begin takes
 * the writer's lock and wb__put_end releases it. */
wb_status wb__put_begin(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                        uint64_t n, wb__write_position *place);

/* Ends the write that wb__put_begin began. If `status` is WB_OK, n bytes were written; otherwise
 * `status` is the error of the write. */
wb_status wb__put_end(wb__context *context, wb_writer *writer, const wb__write_position *place,
                      uint64_t n, wb_status status);

/* Writes n bytes at file offset `at`. Called between wb__put_begin and wb__put_end. */
wb_status wb__put_bytes(wb__context *context, wb_writer *writer, const wb__write_position *place,
                        uint64_t at, const void *bytes, size_t n);

/* Writes the bytes between two tensors to a stream, up to file offset `to`. The caller holds the
 * writer's lock. */
wb_status wb__put_padding(wb__context *context, wb_writer *writer, wb__output *output, uint64_t to);

wb_status wb__writer_put(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                         const void *bytes, size_t n);

/* wb__writer_left reads bytes of a tensor that an earlier run left in the output.
 * wb__writer_take records such bytes as written. */
wb_status wb__writer_left(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          void *dst, size_t n);
wb_status wb__writer_take(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          uint64_t n);

/* ---- writeback.c: implements wb_writeback_open and related functions
 * (weighbridge/experimental.h) ---- */

/* Bytes of tensor `index`, beginning at `offset` in the tensor. */
typedef struct wb__put {
    uint64_t index, offset;
    const void *bytes;
    size_t n;
} wb__put;

wb_status wb__writeback_open(wb__context *context, wb_writer *writer, uint32_t slots,
                             wb_writeback **out);
wb_status wb__writeback_put(wb__context *context, wb_writeback *behind, uint32_t slot,
                            const wb__put *put);
wb_status wb__writeback_wait(wb__context *context, wb_writeback *behind, uint32_t slot);
bool wb__writeback_is_busy(wb_writeback *behind, uint32_t slot);
void wb__writeback_free(wb_writeback *behind);
wb__context wb__writeback_context(const wb_writeback *behind, wb_error *error);

/* A request to copy tensor `tensor` of `model` to tensor `index` of `writer`, beginning at
 * `offset`. */
typedef struct wb__copy {
    wb_writer *writer;
    uint64_t index;
    uint64_t offset;
    const wb_model *model;
    uint64_t tensor;
    bool is_part; /* the tensor of `model` becomes only a part of the tensor of `writer` */
} wb__copy;

wb_status wb__writer_copy(wb__context *context, const wb__copy *copy);
wb_status wb__writer_check_source(wb__context *context, const wb_writer *writer);

/* Reports the number of written bytes to the progress callback. Returns WB_ERROR_CANCELLED if
 * the callback cancels the write, and WB_OK otherwise. If `done` is WB__ALL_BYTES, all bytes are
 * written. */
#define WB__ALL_BYTES UINT64_MAX
wb_status wb__writer_hear(wb__context *context, const wb_writer *writer, uint64_t done);

/* Makes all outputs durable under their temporary names, and reports progress. */
wb_status wb__outputs_finish(wb__context *context, wb_writer *writer);
wb_status wb__writer_commit(wb__context *context, wb_writer *writer);

/* Allocates `count` outputs and assigns each tensor to the output with its file number. */
wb_status wb__writer_make_outputs(wb__context *context, wb_writer *writer, size_t count);

/* Writes the header of an output to its sink, except if the header consists of pieces between
 * the tensors. */
wb_status wb__output_write_header(wb__context *context, wb_writer *writer, wb__output *output);

#endif
