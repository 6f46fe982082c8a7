/*
 * model: the tensors and metadata of a set of files, independent of their format.
 *
 * A reader fills a wb__catalog file by file: wb__catalog_begin_file, then tensors into `table` and
 * metadata as described in metadata.h, then wb__catalog_end_file. After the last file the catalog
 * is immutable, and any number of threads may read it.
 *
 * The catalog owns everything: names in the table, metadata in the retained header of its file, and
 * all other data in the arena.
 */
#ifndef WB_MODEL_CATALOG_H
#define WB_MODEL_CATALOG_H

#include "core/core.h"
#include "model/metadata.h"
#include "model/tensor_table.h"

/* The shard information that one file of a set contains. */
typedef struct wb__split {
    /* index of this shard, from 0; number of shards; number of tensors in all shards */
    uint64_t number, count, tensors;
    uint32_t number_at, count_at, tensors_at; /* offsets of these values in the file; 0 if absent */
} wb__split;

/*
 * Storage details of a tensor that is not stored as plain row-major elements. Most tensors have no
 * such entry.
 */
typedef struct wb__storing {
    uint32_t tensor;
    bool big_endian;
    bool columns;  /* column-major: the first index varies fastest */
    bool deflated; /* DEFLATE-compressed; wb__record.begin is the start of the compressed stream */
    bool has_crc;
    uint32_t crc; /* CRC-32 of the uncompressed archive member */
    /* CRC-32 of the bytes that precede the tensor's data in the archive member */
    uint32_t crc_before;
    /* deflated: number of uncompressed bytes that precede the tensor's data in the stream */
    uint32_t before;
    uint64_t packed_bytes; /* deflated: length of the compressed stream, in bytes */
} wb__storing;

typedef struct wb__catalog_file {
    const char *path; /* used in messages */
    const char *format;
    uint64_t bytes;
    uint64_t header_begin; /* file offset that wb__record.where is relative to */
    uint64_t data_begin;   /* file offset that wb__record.begin is relative to */
    /* file offset where the header ends and padding begins; 0 if there is no padding */
    uint64_t header_end;
    uint32_t alignment; /* alignment of tensor offsets, in bytes; 0 if the format has none */
    uint32_t version;   /* format version; 0 if the format has none */
    bool big_endian;
    wb__split split;
    size_t first_tensor;
    size_t tensor_count;
    /* The header, if it stays in memory because metadata entries refer to it (GGUF); NULL for other
     * formats. */
    uint8_t *header;
    /* allocation that contains `header`, freed with the catalog; NULL if not owned */
    void *header_memory;
    size_t header_bytes;
} wb__catalog_file;

struct wb__catalog {
    wb_allocator allocator;
    wb__arena arena;
    wb__table table;
    wb__catalog_file *files;
    size_t file_count;
    size_t file_capacity;
    wb__list storings;    /* list of wb__storing, sorted by tensor index */
    wb__list metas;       /* list of wb__meta */
    uint32_t *meta_slots; /* hash table of entry index + 1; 0: free */
    size_t meta_slot_count;
    /* Index of the file that was current when wb__meta.seen was last reset for all entries. The
     * marks in `seen` have one byte and repeat after 255 files. They are reset before they repeat
     * (metadata.c). */
    size_t metas_forgot;
    /* Receives each metadata string before it is stored; may be NULL. If it returns true, the
     * catalog does not store the string. */
    bool (*take_string)(void *ctx, size_t file, wb__str key, wb__str value);
    void *take_ctx;
};

void wb__catalog_init(wb__catalog *model, const wb_allocator *allocator, uint32_t cpu_features);
void wb__catalog_free(wb__catalog *model);

/* Appends a file. The reader then fills its fields through wb__catalog_file_in_hand. */
wb_status wb__catalog_begin_file(wb__catalog *model, wb__context *context, const char *path,
                                 const char *format, uint64_t bytes);

static inline wb__catalog_file *wb__catalog_file_in_hand(wb__catalog *model)
{
    return &model->files[model->file_count - 1];
}

/*
 * Completes the current file, so that wb__table_find finds its tensors. If a name occurs twice in
 * this file, calls `repeated` with the indices of both tensors. If `repeated` returns WB_OK, the
 * later tensor replaces the earlier one. A name that an earlier file contains is an error.
 */
wb_status wb__catalog_end_file(wb__catalog *model, wb__context *context,
                               wb_status (*repeated)(void *ctx, size_t first, size_t second),
                               void *ctx);

/* Returns the index of the file that contains the tensor. */
size_t wb__catalog_file_of(const wb__catalog *model, size_t tensor);

/* Returns the offset of the tensor's data from the start of the file that contains it, in bytes. */
uint64_t wb__catalog_offset_of(const wb__catalog *model, size_t tensor);

/*
 * Records storage details of the tensor appended last. Returns false if out of memory. A tensor
 * with storage details must not be replaced by a later tensor of the same name.
 */
bool wb__catalog_store(wb__catalog *model, const wb__storing *storing);

/* Returns the storage details of a tensor; NULL if it is stored as plain row-major elements. */
const wb__storing *wb__catalog_storing_of(const wb__catalog *model, size_t tensor);

/* Returns true if the tensor's elements are stored in big-endian byte order. */
bool wb__catalog_is_swapped(const wb__catalog *model, size_t tensor);

#endif
