/*
 * model: what a set of files says, whatever their format.
 *
 * Readers fill a wb__catalog file by file: wb__catalog_begin_file, then tensors into `table` and
 * metadata as meta.h says, then wb__catalog_end_file. After the last file nothing changes any more,
 * and any number of threads may read.
 *
 * Everything is owned by the model: names in the table, metadata in the header of its file or, with
 * all else, in the arena.
 */
#ifndef WB_MODEL_MODEL_H
#define WB_MODEL_MODEL_H

#include "core/core.h"
#include "model/metadata.h"
#include "model/tensor_table.h"

/* What one file of a set says of itself. */
typedef struct wb__split {
    uint64_t number, count, tensors;          /* this part, from 0; parts; tensors in all of them */
    uint32_t number_at, count_at, tensors_at; /* where that stands in the file, 0: it does not */
} wb__split;

/*
 * How a tensor is stored that does not simply lie in the file, element after element in row-major
 * order. Most tensors have no such entry.
 */
typedef struct wb__storing {
    uint32_t tensor;
    bool big_endian;
    bool columns;  /* column-major: the first index runs fastest */
    bool deflated; /* wb__record.begin is where the compressed stream begins */
    bool has_crc;
    uint32_t crc;          /* of the tensor's bytes and what stands before them */
    uint32_t crc_before;   /* of what stands before them */
    uint32_t before;       /* deflated: bytes of that in the stream */
    uint64_t packed_bytes; /* deflated: of the compressed stream */
} wb__storing;

typedef struct wb__catalog_file {
    const char *path; /* for messages */
    const char *format;
    uint64_t bytes;
    uint64_t header_begin; /* what wb__record.where counts from */
    uint64_t data_begin;   /* what wb__record.begin counts from */
    uint64_t header_end;   /* where its header ends and padding begins; 0: there is no padding */
    uint32_t alignment;    /* of each tensor's offset, 0: the format has none */
    uint32_t version;      /* of the format, 0: it has none */
    bool big_endian;
    wb__split split;
    size_t first_tensor;
    size_t tensor_count;
    uint8_t *header;     /* what metadata lies in, where the format leaves it in place */
    void *header_memory; /* what `header` is part of, freed with the model; NULL: it is not ours */
    size_t header_bytes;
} wb__catalog_file;

struct wb__catalog {
    wb_allocator allocator;
    wb__arena arena;
    wb__table table;
    wb__catalog_file *files;
    size_t file_count;
    size_t file_capacity;
    wb__list storings;    /* of wb__storing, by number of tensor */
    wb__list metas;       /* of wb__meta */
    uint32_t *meta_slots; /* entry number + 1; 0: free */
    size_t meta_slot_count;
    size_t metas_forgot; /* file before which all entries forgot where they were seen */
    /* Sees the strings of the metadata first; what it takes is not kept. May be NULL. */
    bool (*take_string)(void *ctx, size_t file, wb__str key, wb__str value);
    void *take_ctx;
};

void wb__catalog_init(wb__catalog *model, const wb_allocator *allocator, uint32_t cpu_features);
void wb__catalog_free(wb__catalog *model);

/* Appends a file, which the reader then describes through wb__catalog_file_in_hand. */
wb_status wb__catalog_begin_file(wb__catalog *model, wb__context *context, const char *path,
                                 const char *format, uint64_t bytes);

static inline wb__catalog_file *wb__catalog_file_in_hand(wb__catalog *model)
{
    return &model->files[model->file_count - 1];
}

/*
 * Closes the file in hand: its tensors become findable. `repeated` is called as wb__table_seal does
 * for names that stand twice in this file; a name that an earlier file has is refused here.
 */
wb_status wb__catalog_end_file(wb__catalog *model, wb__context *context,
                               wb_status (*repeated)(void *ctx, size_t first, size_t second),
                               void *ctx);

/* The number of the file that holds tensor i. */
size_t wb__catalog_file_of(const wb__catalog *model, size_t tensor);

/* The offset of a tensor's bytes from the start of its file. */
uint64_t wb__catalog_offset_of(const wb__catalog *model, size_t tensor);

/* Notes how the tensor appended last is stored. False: memory is out. Tensors with such an entry
 * must not be dropped for later ones of the same name. */
bool wb__catalog_store(wb__catalog *model, const wb__storing *storing);

/* NULL: the tensor lies in the file as it is. */
const wb__storing *wb__catalog_storing_of(const wb__catalog *model, size_t tensor);

/* Whether the numbers of a tensor are stored most significant byte first. */
bool wb__catalog_is_swapped(const wb__catalog *model, size_t tensor);

#endif
