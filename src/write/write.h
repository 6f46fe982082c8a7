/*
 * write: models into files.
 *
 *   declare    metadata (value.c) and tensors, kept in memory (declare.c)
 *   plan       which tensor goes into which file, every header final, every length known (plan.c),
 *              names of files and what lies beside them (outputs.c)
 *   begin      room looked for, targets checked, then each file as it is needed (begin.c)
 *   put, copy  bytes to their places, from any threads; which are there is known exactly (put.c,
 *              copy.c), some of it while their maker goes on (behind.c); headers between them, with
 *              checksums, once they are (between.c); or one file as it is (whole.c)
 *   commit     all files durable under temporary names, then all renamed, the one that makes sense of
 *              the others last; whoever waits may say no until the first is (commit.c)
 *
 * The first failure of a write is final and is remembered: see io/sink.h.
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

/* ---- names.c ---- */

/* Finds items of a list by the wb__str that each begins with. */
typedef struct wb__name_map {
    const wb_allocator *allocator;
    wb__hash_key key;
    wb__list *items;
    uint32_t *slots; /* item number + 1; 0: free */
    size_t slot_count;
} wb__name_map;

void wb__name_map_start(wb__name_map *map, const wb_allocator *allocator, wb__list *items);
void wb__name_map_stop(wb__name_map *map);

/* The number of the item of that name, or UINT32_MAX. */
uint32_t wb__name_map_find(const wb__name_map *map, wb__str name);

/* Enters the last item of the list. False: memory is out, and the item is to be taken back. */
bool wb__name_map_add(wb__name_map *map);

/* ---- the writer ---- */

typedef struct wb__byte_interval {
    uint64_t begin, end;
} wb__byte_interval;

/* A tensor, and which of its bytes are written. */
typedef struct wb__outgoing {
    wb__out_tensor out;  /* begins with the name */
    uint32_t number;     /* as the caller knows it */
    const char *packing; /* wb_writer_set_packing: the type, NULL: nothing was said */
    uint32_t group;      /* likewise */
    wb__str layer;       /* ollama: the name of its layer */
    uint8_t
        part; /* ollama: 0 a tensor by itself or packed values, then scale, bias, global scale */
    bool is_expert; /* ollama: its layer is that of a group */
    uint32_t file;
    uint32_t from;             /* edit: the tensor it was */
    uint64_t done;             /* bytes from the front that are there */
    wb__byte_interval *pieces; /* and what is there behind them: in order, no two touching */
    size_t piece_count;
    size_t piece_capacity;
} wb__outgoing;

/* A file that is to be. */
typedef struct wb__output {
    wb__out_file layout;
    const char *path; /* NULL: a descriptor of the caller's */
    wb_sink *sink;    /* NULL: not begun */
    size_t first;     /* position of its first tensor in wb_writer.order */
    uint64_t left;    /* bytes of tensors that are still to come */
    uint64_t dirty;   /* written since the system was last told to put them on the disk */
    bool filled;      /* a whole file: it is there */
    bool finished;    /* durable, under a temporary name */
    wb__str layer;    /* ollama: the name of the layer, and the digest of the blob in hexadecimal */
    char digest[2 * WB__SHA256_BYTES + 1];
} wb__output;

/* A file beside the weights. */
typedef struct wb__sidecar {
    wb__str name;
    const char *path; /* what is copied; NULL: the bytes */
    const uint8_t *bytes;
    size_t n;
    wb_sink *sink; /* finished; NULL: not yet */
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
    bool is_edit;       /* tensors keep their order, and keys of splits their values */
    const char *store;  /* copied, NULL: that of the environment */
    uint64_t alignment; /* 0: what the metadata says, or the format's own */
    uint64_t max_file_bytes;
    uint64_t max_file_tensors;
    const wb_model *source;
    const wb_model *whole; /* whose one file is the result; NULL: none */
    wb_progress progress;  /* report NULL: nobody waits */
    wb__arena arena;
    wb__list metas;   /* of wb__out_meta */
    wb__list tensors; /* of wb__outgoing */
    wb__list extras;  /* of wb__sidecar */
    wb__name_map meta_names;
    wb__name_map tensor_names;

    _Atomic(wb__writer_state) state;
    wb__output *outputs;
    size_t output_count;
    bool has_paths;         /* planned for files, not for a descriptor */
    wb__out_tensor **order; /* the tensors as they lie in the files */
    const wb__out_meta **meta_order;
    size_t meta_order_count;
    char *index;        /* the file that says which tensor is where; NULL: none */
    size_t index_bytes; /* of the block */
    size_t index_len;
    const char *index_path;
    const char *manifest_path; /* of a store */
    wb__str store_name;        /* the model's name there, as it was given */
    const char *blobs;         /* what paths of blobs begin with */
    const char *folder;        /* that is made, NULL: the files go where others are */
    const char *kept_beside;   /* of a store: what stands for the model where it is kept; NULL */
    const char *folder_at;     /* where files are written; NULL: where they shall be */
    bool replaces_folder;
    int claims[2]; /* on the folder of the outputs, and on one that is made; -1: none */
    uint64_t set;  /* of the temporary names of a set */
    bool forgets;  /* what is not committed is of no use to a next run */

    pthread_mutex_t lock; /* of all below, and of what is written where */
    wb_error failure;     /* status WB_OK: none */
    uint64_t stream_at;   /* bytes that went into a stream */
    size_t stream_next;   /* position in `order` of the tensor it takes now */
    size_t stream_piece;  /* and of the piece of the header that comes next */
    wb__crc32 crc32;      /* of formats with checksums */
};

/* True if the files take the place of nothing: a set of files cannot replace another at once. */
static inline bool wb__writer_is_set(const wb_writer *writer)
{
    return writer->output_count > 1 && writer->folder == NULL && !writer->is_store;
}

static inline wb__outgoing *wb__writer_tensor(const wb_writer *writer, uint64_t index)
{
    return wb__list_at(&writer->tensors, (size_t)index);
}

wb__context wb__writer_context(const wb_writer *writer, wb_error *error);

/* ---- declare.c ---- */

wb_status wb__writer_make(wb__context *context, const wb_writer_options *options,
                          wb_writer **writer);
void wb__writer_delete(wb_writer *writer);
wb_status wb__writer_set(wb__context *context, wb_writer *writer, wb__str key,
                         const wb_value *value);
wb_status wb__writer_copy_meta(wb__context *context, wb_writer *writer, const wb__catalog *model,
                               const wb__meta *meta);
/* The same under another key. */
wb_status wb__writer_copy_meta_as(wb__context *context, wb_writer *writer, const wb__catalog *model,
                                  const wb__meta *meta, wb__str key);
wb_status wb__writer_add(wb__context *context, wb_writer *writer, wb__str name, int32_t dtype,
                         const uint64_t *shape, uint32_t rank, uint64_t *index);

wb_status wb__writer_set_packing(wb__context *context, wb_writer *writer, uint64_t index,
                                 wb__str type, uint32_t group);
wb_status wb__writer_set_whole(wb__context *context, wb_writer *writer, const wb_model *model);
wb_status wb__writer_add_extra(wb__context *context, wb_writer *writer, wb__sidecar extra);
wb_status wb__writer_check_declaring(wb__context *context, const wb_writer *writer, wb__str name);

/* ---- beside.c ---- */

/* Adds up what lies beside the weights. */
wb_status wb__sidecars_measure(wb__context *context, const wb_writer *writer, uint64_t *bytes);

/* Writes it into the folder that is made, durably. */
wb_status wb__sidecars_write(wb__context *context, wb_writer *writer);

/* ---- value.c ---- */

/* Appends the value, in the form of formats/output_layout.h, and stores its tag. */
wb_status wb__value_put(wb__context *context, wb__buffer *out, wb__str key, const wb_value *value,
                        uint32_t *tag);
wb_status wb__value_put_meta(wb__context *context, wb__buffer *out, const wb__catalog *model,
                             const wb__meta *meta, uint32_t *tag);

/* ---- kept.c ---- */

/*
 * The paths by which a file and an output are written: in the folder that is made, if there is one. Of the allocator,
 * free with strlen + 1; NULL when memory is out.
 */
char *wb__path_now(const wb_allocator *allocator, const wb_writer *writer, const char *path);
char *wb__output_path_now(const wb_allocator *allocator, const wb_writer *writer,
                          const wb__output *output);

/* What a former run has already taken of the disk. */
uint64_t wb__partial_bytes(const wb_writer *writer);

/* Has what is kept of the file at a path, if it is a blob by now, be a file of its own. */
wb_status wb__partial_own(wb__context *context, const char *path);

/* Gives files of a folder, which have their names already, those back under which they are written. */
wb_status wb__partial_rename_back(wb__context *context, const wb_writer *writer);

/* Of files beside others: takes names away that a former run gave to some of a set, and files of former plans. */
wb_status wb__partial_settle(wb__context *context, const wb_writer *writer);

/* ---- plan.c, outputs.c ---- */

wb_status wb__writer_plan(wb__context *context, wb_writer *writer, const char *path);

/* Gives the outputs their paths. */
wb_status wb__writer_name_outputs(wb__context *context, wb_writer *writer, const char *path);

/* The one output of a whole file. */
wb_status wb__writer_plan_whole(wb__context *context, wb_writer *writer);

/* Makes what the index file of shards holds. */
wb_status wb__writer_make_index(wb__context *context, wb_writer *writer);

/* ---- begin.c ---- */

/* What it would refuse, without making anything. */
wb_status wb__writer_check(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin(wb__context *context, wb_writer *writer);
wb_status wb__writer_begin_fd(wb__context *context, wb_writer *writer, int fd, const char *label);

/* Opens a file of the model: of a folder that has a temporary name yet, in that, while errors name `path`. */
wb_status wb__writer_open(wb__context *context, const wb_writer *writer, const char *path,
                          bool kept, uint64_t expected, wb_sink **sink);

/* Makes the temporary file of an output and writes its header. The lock is held. */
wb_status wb__output_open(wb__context *context, wb_writer *writer, wb__output *output);

/* Takes what is no part of the model out of the folder that is made: a run of other shards left it. */
wb_status wb__directory_tidy(wb__context *context, const wb_writer *writer);

/* Makes an output that is complete durable. The lock is held. */
wb_status wb__output_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- between.c ---- */

/* Goes on with the checksum of a tensor of a stream, whose bytes come in order. */
void wb__interleaved_add(wb_writer *writer, wb__output *output, wb__outgoing *tensor,
                         const void *bytes, size_t n);

/*
 * Writes the pieces of the header of a file to their places, with the checksums of the tensors, which
 * are all there and are read back.
 */
wb_status wb__interleaved_finish(wb__context *context, wb_writer *writer, wb__output *output);

/* ---- store.c, store_plan.c (store.h has the rest) ---- */

/* Groups the tensors into layers, a blob each. */
wb_status wb__store_plan(wb__context *context, wb_writer *writer, const char *name);

/* The same of a file that is taken as it is. */
wb_status wb__store_plan_whole(wb__context *context, wb_writer *writer, const char *name);

/* Looks whether the model is there already; and makes the folders. */
wb_status wb__store_check(wb__context *context, wb_writer *writer);
wb_status wb__store_begin(wb__context *context, wb_writer *writer);

/* Computes the digest of a blob, all of which was written. */
wb_status wb__store_digest(wb__context *context, wb__output *output);

/* All blobs into their places, then the manifest. */
wb_status wb__store_commit(wb__context *context, wb_writer *writer);

/* Ends the digest of a blob, all of whose bytes were added. */
wb_status wb__store_end_digest(wb__context *context, wb__sha256 *hash, wb__output *output);

/* ---- whole.c ---- */

/* Copies the file that the result is to be; *taken: bytes of it that a former run left, and that stay unless `anew`. */
wb_status wb__copy_file_fill(wb__context *context, wb_writer *writer, bool anew, uint64_t *taken);
wb_status wb__writer_copy_whole(wb__context *context, wb_writer *writer, bool anew,
                                uint64_t *taken);

/* ---- put.c, copy.c, commit.c ---- */

/* Where bytes of a tensor go, once wb__put_begin has let them through. */
typedef struct wb__write_position {
    wb__outgoing *tensor;
    wb__output *output;
    uint64_t at; /* from the start of the file */
} wb__write_position;

/*
 * Takes note that bytes of a tensor are about to be written, and has its file open; with a stream
 * the lock is held until wb__put_end. ARGUMENT for bytes that were there already.
 */
wb_status wb__put_begin(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                        uint64_t n, wb__write_position *place);

/* Ends what wb__put_begin began, n bytes having been written or `status` being why not. */
wb_status wb__put_end(wb__context *context, wb_writer *writer, const wb__write_position *place,
                      uint64_t n, wb_status status);

/* Writes n bytes between the two, `at` an offset of the file that the place is in. */
wb_status wb__put_bytes(wb__context *context, wb_writer *writer, const wb__write_position *place,
                        uint64_t at, const void *bytes, size_t n);

/* Writes into a stream, up to an offset, what lies between tensors. The lock is held. */
wb_status wb__put_padding(wb__context *context, wb_writer *writer, wb__output *output, uint64_t to);

wb_status wb__writer_put(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                         const void *bytes, size_t n);

/* Bytes that a former run left, and taking them for written. */
wb_status wb__writer_left(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          void *dst, size_t n);
wb_status wb__writer_take(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          uint64_t n);

/* ---- behind.c: as wb_writeback_open and the others (weighbridge/experimental.h) ---- */

/* Bytes of a tensor, from an offset of it on. */
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

/* A tensor of a model that goes into one of the writer's, or into a part of it. */
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

/* Asks whoever waits whether to go on, so many bytes of the files being there: CANCELLED, or OK. */
#define WB__ALL_BYTES UINT64_MAX
wb_status wb__writer_hear(wb__context *context, const wb_writer *writer, uint64_t done);

/* Makes all outputs durable under temporary names, and asks on the way. */
wb_status wb__outputs_finish(wb__context *context, wb_writer *writer);
wb_status wb__writer_commit(wb__context *context, wb_writer *writer);

/* Allocates the outputs and assigns every tensor to its own. */
wb_status wb__writer_make_outputs(wb__context *context, wb_writer *writer, size_t count);

/* Writes the header of an output to its sink. */
wb_status wb__output_write_header(wb__context *context, wb_writer *writer, wb__output *output);

#endif
