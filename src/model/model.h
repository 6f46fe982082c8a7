/*
 * model: what a set of files says, whatever their format.
 *
 * Readers fill a wb__model file by file: wb__model_begin_file, then tensors into `table` and
 * metadata with wb__model_add_string, then wb__model_end_file. After the last file nothing changes
 * any more, and any number of threads may read.
 *
 * Everything is owned by the model: names in the table, all else in its arena.
 */
#ifndef WB_MODEL_MODEL_H
#define WB_MODEL_MODEL_H

#include "core/core.h"
#include "model/table.h"

typedef struct wb__model_file {
    const char *path; /* for messages */
    const char *format;
    uint64_t bytes;
    uint64_t header_begin; /* what wb__record.where counts from */
    uint64_t data_begin;   /* what wb__record.begin counts from */
    size_t first_tensor;
    size_t tensor_count;
} wb__model_file;

/* A string of the metadata. Kept small, since a hostile header can hold an entry every nine bytes.
 */
typedef struct wb__meta {
    const char *text; /* the key, a NUL, the value, a NUL */
    uint32_t key_len;
    uint32_t value_len;
    uint32_t file;
    uint32_t hash; /* of the key */
} wb__meta;

static inline wb__str wb__meta_key(const wb__meta *meta)
{
    return (wb__str){meta->text, meta->key_len};
}

static inline wb__str wb__meta_value(const wb__meta *meta)
{
    return (wb__str){meta->text + meta->key_len + 1, meta->value_len};
}

typedef struct wb__model {
    wb_allocator allocator;
    wb__arena arena;
    wb__table table;
    wb__model_file *files;
    size_t file_count;
    size_t file_capacity;
    wb__list metas;       /* of wb__meta */
    uint32_t *meta_slots; /* entry number + 1; 0: free */
    size_t meta_slot_count;
    /* Sees the strings of the metadata first; what it takes is not kept. May be NULL. */
    bool (*take_string)(void *ctx, size_t file, wb__str key, wb__str value);
    void *take_ctx;
} wb__model;

void wb__model_init(wb__model *model, const wb_allocator *allocator, uint32_t cpu_features);
void wb__model_free(wb__model *model);

/* Appends a file, which the reader then describes through wb__model_file_in_hand. */
wb_status wb__model_begin_file(wb__model *model, wb__context *context, const char *path,
                               const char *format, uint64_t bytes);

static inline wb__model_file *wb__model_file_in_hand(wb__model *model)
{
    return &model->files[model->file_count - 1];
}

/*
 * Adds a string to the metadata; key and value are copied. *repeated tells whether this file had
 * the key already, and then the later value is kept. Where an earlier file has it, that one's is
 * kept.
 */
wb_status wb__model_add_string(wb__model *model, wb__context *context, wb__str key, wb__str value,
                               bool *repeated);

/*
 * Closes the file in hand: its tensors become findable. `repeated` is called as wb__table_seal does
 * for names that stand twice in this file; a name that an earlier file has is refused here.
 */
wb_status wb__model_end_file(wb__model *model, wb__context *context,
                             wb_status (*repeated)(void *ctx, size_t first, size_t second),
                             void *ctx);

/* The metadata entry under `key`, or NULL. */
const wb__meta *wb__model_find_meta(const wb__model *model, wb__str key);

/* The number of the file that holds tensor i. */
size_t wb__model_file_of(const wb__model *model, size_t tensor);

/* The offset of a tensor's bytes from the start of its file. */
uint64_t wb__model_offset_of(const wb__model *model, size_t tensor);

#endif
