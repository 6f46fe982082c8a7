#include <stdlib.h>

#include "hash/hash.h"

typedef struct place {
    uint64_t offset;
    size_t tensor;
} place;

static int by_offset(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

static void add_part(wb__file_hash *file, uint64_t bytes, wb__str tensor)
{
    if (bytes > 0)
        file->parts[file->part_count++] = (wb__file_part){.bytes = bytes, .tensor = tensor};
}

static void cut(wb__file_hash *file, const wb__catalog *catalog, const place *places, size_t n,
                uint64_t bytes)
{
    const wb__str nothing = {NULL, 0};
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const wb__storing *storing = wb__catalog_storing_of(catalog, places[i].tensor);
        uint64_t length = storing != NULL && storing->deflated
                              ? storing->packed_bytes
                              : wb__table_kind_of(&catalog->table, places[i].tensor)->bytes;
        if (places[i].offset < at || !wb__in_range(places[i].offset, length, bytes))
            continue; /* skip a tensor that overlaps the previous one, so that no byte is counted
                       * twice; opening refuses such files anyway */
        add_part(file, places[i].offset - at, nothing);
        add_part(file, length, wb__table_name(&catalog->table, places[i].tensor));
        at = places[i].offset + length;
    }
    add_part(file, bytes - at, nothing);
}

wb_status wb__file_parts_make(wb__file_hash *file, const wb_model *model, wb__context *context,
                              size_t i)
{
    const wb__catalog *catalog = &model->catalog;
    const wb_allocator *allocator = &context->allocator;
    size_t n = catalog->files[i].tensor_count;
    place *places = wb__alloc(allocator, n * sizeof *places);
    file->part_capacity = 2 * n + 1;
    file->parts = wb__alloc(allocator, file->part_capacity * sizeof *file->parts);
    if (places != NULL && file->parts != NULL) {
        for (size_t t = 0; t < n; t++) {
            size_t tensor = catalog->files[i].first_tensor + t;
            places[t] = (place){wb__catalog_offset_of(catalog, tensor), tensor};
        }
        qsort(places, n, sizeof *places, by_offset);
        cut(file, catalog, places, n, wb__source_bytes(model->sources[i]));
    }
    bool made = places != NULL && file->parts != NULL;
    wb__free(allocator, places, n * sizeof *places);
    if (!made)
        return wb__fail_memory(context);
    uint64_t chunks = 0;
    for (size_t p = 0; p < file->part_count; p++)
        chunks += wb__chunks_of(file->parts[p].bytes);
    if (chunks <= SIZE_MAX / sizeof *file->chunks)
        file->chunks = wb__alloc(allocator, (size_t)chunks * sizeof *file->chunks);
    if (file->chunks == NULL)
        return wb__fail_memory(context);
    file->chunk_count = (size_t)chunks;
    const wb__digest *next = file->chunks;
    for (size_t p = 0; p < file->part_count; p++) {
        file->parts[p].chunks = next;
        next += wb__chunks_of(file->parts[p].bytes);
    }
    return WB_OK;
}

void wb__file_parts_free(wb__file_hash *file, const wb_allocator *allocator)
{
    wb__free(allocator, file->parts, file->part_capacity * sizeof *file->parts);
    wb__free(allocator, file->chunks, file->chunk_count * sizeof *file->chunks);
    *file = (wb__file_hash){0};
}
