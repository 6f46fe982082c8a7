/*
 * write: writes models to files.
 *
 *   declare    collects metadata (meta_value.c) and tensors in memory (write_declare.c)
 *   plan       assigns tensors to files, completes all headers and computes all lengths
 *              (write_plan.c); names output files and sidecar files (output_names.c)
 *   begin      checks free space and targets, then creates each file on first use (write_begin.c)
 *   put, copy  write tensor bytes at their offsets, from any thread, and record exactly which bytes
 *              are written (write_put.c, copy_tensor.c), optionally by write-back (writeback.c);
 *              then headers between tensors, with checksums (interleaved_headers.c); or copy one
 *              file unchanged (copy_file.c)
 *   commit     makes all files durable under temporary names, then renames them; the file that
 *              refers to the others is last. The progress callback can cancel until the first
 *              rename (write_commit.c)
 *
 * The first error of a write is final and is stored: see io/sink.h.
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

/* Hash map of list items. Each item begins with a wb__str, which is its key. */
typedef struct wb__name_map {
    const wb_allocator *allocator;
    wb__hash_key key;
    wb__list *items;
    uint32_t *slots; /* item index + 1; 0: free slot */
    size_t slot_count;
} wb__name_map;

void wb__name_map_start(wb__name_map *map, const wb_allocator *allocator, wb__list *items);
void wb__name_map_stop(wb__name_map *map);

/* Returns the index of the item with that name, or UINT32_MAX. */
uint32_t wb__name_map_find(const wb__name_map *map, wb__str name);

/* Adds the last item of the list. Returns false if out of memory; the caller then removes the
 * item. */
bool wb__name_map_add(wb__name_map *map);

/* ---- the writer ---- */

typedef struct wb__byte_interval {
    uint64_t begin, end;
} wb__byte_interval;

/* A tensor to write, and the byte ranges written so far. */
typedef struct wb__outgoing {
    wb__out_tensor out;  /* first member, because it begins with the name */
    uint32_t number;     /* number that the caller uses for the tensor */
    const char *packing; /* type given to wb_writer_set_packing, or NULL if not set */
    uint32_t group;      /* group size given to wb_writer_set_packing */
    wb__str layer;       /* Ollama: name of the tensor's layer */
    uint8_t
        part; /* Ollama: 0 for a single tensor or packed values; then scale, bias, global scale */
    bool is_expert; /* Ollama: the layer contains a group of experts */
    uint32_t file;
    uint32_t from;             /* edit: index of the tensor in the original file */
    uint64_t done;             /* number of bytes written without a gap from the start */
    wb__byte_interval *pieces; /* byte ranges written after `done`, sorted, neither overlapping
                                * nor adjacent */
    size_t piece_count;
    size_t piece_capacity;
} wb__outgoing;

/* An output file. */
typedef struct wb__output {
    wb__out_file layout;
    const char *path; /* NULL: written to a descriptor of the caller */
    wb_sink *sink;    /* NULL: not opened yet */
    size_t first;     /* index of the file's first tensor in wb_writer.order */
    uint64_t left;    /* tensor bytes not written yet */
    uint64_t dirty;   /* bytes written since write-back to disk was last requested */
    bool filled;      /* the file to copy unchanged was copied completely */
    bool finished;    /* durable under a temporary name */
    wb__str layer;    /* Ollama: name of the layer; `digest` is the blob's digest in hexadecimal */
    char digest[2 * WB__SHA256_BYTES + 1];
} wb__output;

/* A sidecar file. */
typedef struct wb__sidecar {
    wb__str name;
    const char *path; /* the file to copy; NULL: write `bytes` */
    const uint8_t *bytes;
    size_t n;
    wb_sink *sink; /* NULL: not finished yet */
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
    bool is_store;
    bool is_edit;       /* tensors keep their order, and split keys keep their values */
    const char *store;  /* copy of the given store path; NULL: the store given by the environment */
    uint64_t alignment; /* 0: use the metadata's alignment or the format's default */
    uint64_t max_file_bytes;
    uint64_t max_file_tensors;
    const wb_model *source;
    const wb_model *whole; /* model whose single file is copied unchanged, or NULL */
    wb_progress progress;  /* progress.report is NULL: no progress callback */
    wb__arena arena;
    wb__list metas;   /* items are wb__out_meta */
    wb__list tensors; /* items are wb__outgoing */
    wb__list extras;  /* items are wb__sidecar */
    wb__name_map meta_names;
    wb__name_map tensor_names;

    _Atomic(wb__writer_state) state;
    wb__output *outputs;
    size_t output_count;
    bool has_paths;         /* the outputs were planned as files, not for a descriptor */
    wb__out_tensor **order; /* the tensors in file order */
    const wb__out_meta **meta_order;
    size_t meta_order_count;
    char *index;        /* contents of the index file, which maps tensors to files; NULL: no
                         * index */
    size_t index_bytes; /* allocated size of `index`, in bytes */
    size_t index_len;
    const char *index_path;
    const char *manifest_path; /* store: path of the manifest */
    wb__str store_name;        /* store: model name as given by the caller */
    const char *blobs;         /* store: prefix of blob paths */
    const char *folder;        /* the directory to create; NULL: write files to an existing
                                * directory */
    const char *kept_beside;   /* store: path that represents the model for partial files, or
                                * NULL */
    const char *folder_at;     /* directory in which files are written; NULL: the final directory */
    bool replaces_folder;
    int claims[2]; /* descriptors that lock the output directory and the directory that is being
                      created; -1: none */
    uint64_t set;  /* identifies the temporary names of one set of files */
    bool forgets;  /* partial files are deleted if not committed, because the next run cannot use
                    * them */

    pthread_mutex_t lock; /* protects all fields below and the records of written bytes */
    wb_error failure;     /* status WB_OK: no error */
    uint64_t stream_at;   /* number of bytes written to a stream */
    size_t stream_next;   /* index in `order` of the tensor that the stream expects */
    size_t stream_piece;  /* index of the next piece of the header in the stream */
    wb__crc32 crc32;      /* CRC-32 tables, for formats with checksums */
};

/* True if the outputs are a set of files, which cannot replace another set atomically, so they
 * must not replace existing files. */
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
/* Like wb_writer_copy_meta, but stores the value under another key. */
wb_status wb__writer_copy_meta_as(wb__context *context, wb_writer *writer, const wb__catalog *model,
                                  const wb__meta *meta, wb__str key);
wb_status wb__writer_add(wb__context *context, wb_writer *writer, wb__str name, int32_t dtype,
                         const uint64_t *shape, uint32_t rank, uint64_t *index);

wb_status wb__writer_set_packing(wb__context *context, wb_writer *writer, uint64_t index,
                                 wb__str type, uint32_t group);
wb_status wb__writer_set_whole(wb__context *context, wb_writer *writer, const wb_model *model);
wb_status wb__writer_add_extra(wb__context *context, wb_writer *writer, wb__sidecar extra);
wb_status wb__writer_check_declaring(wb__context *context, const wb_writer *writer, wb__str name);

/* ---- writer_sidecars.c ---- */

/* Computes the total size of the sidecar files, in bytes. */
wb_status wb__sidecars_measure(wb__context *context, const wb_writer *writer, uint64_t *bytes);

/* Writes the sidecar files durably into the directory being created. */
wb_status wb__sidecars_write(wb__context *context, wb_writer *writer);

/* ---- meta_value.c ---- */

/* Appends the value in the encoding of formats/output_layout.h and stores its tag. */
wb_status wb__value_put(wb__context *context, wb__buffer *out, wb__str key, const wb_value *value,
                        uint32_t *tag);
wb_status wb__value_put_meta(wb__context *context, wb__buffer *out, const wb__catalog *model,
                             const wb__meta *meta, uint32_t *tag);

/* ---- partial_files.c ---- */

/* Return the paths at which a file and an output are written: inside the directory being
 * created, if any. The caller frees the string with the allocator (size: strlen + 1). Return
 * NULL if out of memory. */
char *wb__path_now(const wb_allocator *allocator, const wb_writer *writer, const char *path);
char *wb__output_path_now(const wb_allocator *allocator, const wb_writer *writer,
                          const wb__output *output);

/* Returns the disk space already used by partial files of an earlier run, in bytes. */
uint64_t wb__partial_bytes(const wb_writer *writer);

/* If the partial file at a path has become a blob, replaces it by a separate file. */
wb_status wb__partial_own(wb__context *context, const char *path);

/* Renames files of a directory from their final names back to their temporary names. */
wb_status wb__partial_rename_back(wb__context *context, const wb_writer *writer);

/* For files in an existing directory: removes the final names that an earlier run gave to part
 * of a set, and removes files of earlier plans. */
wb_status wb__partial_settle(wb__context *context, const wb_writer *writer);

/* ---- write_plan.c, output_names.c ---- */

wb_status wb__writer_plan(wb__context *context, wb_writer *writer, const char *path);

/* Sets the paths of the outputs. */
wb_status wb__writer_name_outputs(wb__context *context, wb_writer *writer, const char *path);

/* Plans the single output of an unchanged file. */
wb_status wb__writer_plan_whole(wb__context *context, wb_writer *writer);

/* Creates the contents of the index file of shards. */
wb_status wb__writer_make_index(wb__context *context, wb_writer *writer);

/* ---- write_begin.c ---- */

/* Reports the errors that beginning the write would report, without creating files. */
wb_status wb__writer_check(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin_fd(wb__context *context, wb_writer *writer, int fd, const char *label);

/* Opens a file of the model. If its directory still has a temporary name, opens the file there;
 * errors name `path`. */
wb_status wb__writer_open(wb__context *context, const wb_writer *writer, const char *path,
                          bool kept, uint64_t expected, wb_sink **sink);

/* Creates the temporary file of an output and writes its header. The caller holds the lock. */
wb_status wb__output_open(wb__context *context, wb_writer *writer, wb__output *output);

/* Removes files that are not part of the model from the directory being created. An earlier run
 * with a different sharding may have left such files. */
wb_status wb__directory_tidy(wb__context *context, const wb_writer *writer);

/* Makes a complete output durable. The caller holds the lock. */
wb_status wb__output_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- interleaved_headers.c ---- */

/* Updates the checksum of a tensor in a stream. The bytes must arrive in order. */
void wb__interleaved_add(wb_writer *writer, wb__output *output, wb__outgoing *tensor,
                         const void *bytes, size_t n);

/* Writes the header pieces of a file, including tensor checksums. All tensors must be written;
 * they are read back to compute the checksums. */
wb_status wb__interleaved_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- ollama/store.c, ollama/store_plan.c (other declarations: ollama/store.h) ---- */

/* Groups the tensors into layers with one blob each. */
wb_status wb__store_plan(wb__context *context, wb_writer *writer, const char *name);

/* Plans the layers of a model file that is copied unchanged. */
wb_status wb__store_plan_whole(wb__context *context, wb_writer *writer, const char *name);

/* Checks whether the store already contains the model, and creates the directories. */
wb_status wb__store_check(wb__context *context, wb_writer *writer);
wb_status wb__store_begin(wb__context *context, wb_writer *writer);

/* Computes the digest of a completely written blob. */
wb_status wb__store_digest(wb__context *context, wb__output *output);

/* Renames all blobs to their final names, then writes the manifest. */
wb_status wb__store_commit(wb__context *context, wb_writer *writer);

/* Completes the digest of a blob after all its bytes were added. */
wb_status wb__store_end_digest(wb__context *context, wb__sha256 *hash, wb__output *output);

/* ---- copy_file.c ---- */

/* Copies the source file to the output. Sets *taken to the number of bytes left by an earlier
 * run that are reused; none are reused if `anew` is set. */
wb_status wb__copy_file_fill(wb__context *context, wb_writer *writer, bool anew, uint64_t *taken);
wb_status wb__writer_copy_whole(wb__context *context, wb_writer *writer, bool anew,
                                uint64_t *taken);

/* ---- write_put.c, copy_tensor.c, write_commit.c ---- */

/* The destination of tensor bytes, set by wb__put_begin. */
typedef struct wb__write_position {
    wb__outgoing *tensor;
    wb__output *output;
    uint64_t at; /* offset from the start of the file */
} wb__write_position;

/* Registers that bytes of a tensor are about to be written, and opens the file. For a stream the
 * lock is held until wb__put_end. Fails with ARGUMENT if some of the bytes were already written. */
wb_status wb__put_begin(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                        uint64_t n, wb__write_position *place);

/* Ends the write that wb__put_begin began. Either n bytes were written, or `status` is the
 * error. */
wb_status wb__put_end(wb__context *context, wb_writer *writer, const wb__write_position *place,
                      uint64_t n, wb_status status);

/* Writes n bytes at file offset `at`. Call between wb__put_begin and wb__put_end. */
wb_status wb__put_bytes(wb__context *context, wb_writer *writer, const wb__write_position *place,
                        uint64_t at, const void *bytes, size_t n);

/* Writes the bytes between tensors to a stream, up to an offset. The caller holds the lock. */
wb_status wb__put_padding(wb__context *context, wb_writer *writer, wb__output *output, uint64_t to);

wb_status wb__writer_put(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                         const void *bytes, size_t n);

/* Return the bytes left by an earlier run, and mark these bytes as written. */
wb_status wb__writer_left(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          void *dst, size_t n);
wb_status wb__writer_take(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          uint64_t n);

/* ---- writeback.c: implements wb_writeback_open and related functions
 * (weighbridge/experimental.h) ---- */

/* A range of bytes of a tensor, starting at an offset in the tensor. */
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

/* A model tensor that is copied to a tensor of the writer, or to a part of a tensor. */
typedef struct wb__copy {
    wb_writer *writer;
    uint64_t index;
    uint64_t offset;
    const wb_model *model;
    uint64_t tensor;
    bool is_part;
} wb__copy;

wb_status wb__writer_copy(wb__context *context, const wb__copy *copy);
wb_status wb__writer_check_source(wb__context *context, const wb_writer *writer);

/* Reports the number of written bytes to the progress callback. Returns CANCELLED if the
 * callback asks to stop, otherwise OK. */
#define WB__ALL_BYTES UINT64_MAX
wb_status wb__writer_hear(wb__context *context, const wb_writer *writer, uint64_t done);

/* Makes all outputs durable under temporary names, reporting progress. */
wb_status wb__outputs_finish(wb__context *context, wb_writer *writer);
wb_status wb__writer_commit(wb__context *context, wb_writer *writer);

/* Allocates the outputs and assigns each tensor to an output. */
wb_status wb__writer_make_outputs(wb__context *context, wb_writer *writer, size_t count);

/* Writes the header of an output to its sink. */
wb_status wb__output_write_header(wb__context *context, wb_writer *writer, wb__output *output);

#endif
