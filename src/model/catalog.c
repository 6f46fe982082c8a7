#include "model/catalog.h"
#include "model/model_messages.h"

void wb__catalog_init(wb__catalog *model, const wb_allocator *allocator, uint32_t cpu_features)
{
    memset(model, 0, sizeof *model);
    model->allocator = *allocator;
    model->arena.allocator = &model->allocator;
    model->storings = (wb__list){.arena = &model->arena, .item_size = sizeof(wb__storing)};
    model->metas = (wb__list){.arena = &model->arena, .item_size = sizeof(wb__meta)};
    wb__table_init(&model->table, &model->allocator, cpu_features);
}

void wb__catalog_free(wb__catalog *model)
{
    const wb_allocator *a = &model->allocator;
    for (size_t i = 0; i < model->file_count; i++) {
        wb__free(a, model->files[i].header_memory, model->files[i].header_bytes);
    }
    wb__free(a, model->files, model->file_capacity * sizeof *model->files);
    wb__list_free(&model->storings);
    wb__list_free(&model->metas);
    wb__free(a, model->meta_slots, model->meta_slot_count * sizeof *model->meta_slots);
    wb__table_free(&model->table);
    wb__arena_free(&model->arena);
}

/* ---- files ---- */

wb_status wb__catalog_begin_file(wb__catalog *model, wb__context *context, const char *path,
                                 const char *format, uint64_t bytes)
{
    if (model->file_count >= context->limits.files)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FILES_LIMIT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_MODEL_TOO_MANY_FILES, (unsigned long long)context->limits.files);
    char *copy = wb__arena_copy(&model->arena, path, strlen(path));
    if (copy == NULL || !wb__grow(&model->allocator, (void **)&model->files, &model->file_capacity,
                                  sizeof *model->files, model->file_count + 1, UINT32_MAX))
        return wb__fail_memory(context);
    model->files[model->file_count++] = (wb__catalog_file){
        .path = copy, .format = format, .bytes = bytes, .first_tensor = model->table.count};
    return WB_OK;
}

typedef struct end_of_file {
    wb__catalog *model;
    wb__context *context;
    wb_status (*repeated)(void *ctx, size_t first, size_t second);
    void *ctx;
} end_of_file;

static wb_status check_repeated(void *ctx, size_t first, size_t second)
{
    end_of_file *end = ctx;
    const wb__catalog_file *file = wb__catalog_file_in_hand(end->model);
    if (first >= file->first_tensor)
        return end->repeated(end->ctx, first, second);
    const wb__record *record = wb__record_at(&end->model->table, second);
    return wb__fail(end->context, WB_ERROR_FORMAT, WB__FINDING_TENSOR_TWICE,
                    file->header_begin + record->where, wb__table_name(&end->model->table, second),
                    WB__MSG_MODEL_TENSOR_IN_OTHER_FILE,
                    end->model->files[wb__catalog_file_of(end->model, first)].path);
}

wb_status wb__catalog_end_file(wb__catalog *model, wb__context *context,
                               wb_status (*repeated)(void *ctx, size_t first, size_t second),
                               void *ctx)
{
    wb__catalog_file *file = wb__catalog_file_in_hand(model);
    end_of_file end = {model, context, repeated, ctx};
    /* valid during wb__table_seal, which may remove tensors and thus change the count */
    file->tensor_count = model->table.count - file->first_tensor;
    wb_status status =
        wb__table_seal(&model->table, context, file->first_tensor, check_repeated, &end);
    file->tensor_count = model->table.count - file->first_tensor;
    return status;
}

size_t wb__catalog_file_of(const wb__catalog *model, size_t tensor)
{
    size_t low = 0, high = model->file_count - 1; /* invariant: files[low].first_tensor <= tensor */
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (model->files[middle].first_tensor <= tensor)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t wb__catalog_offset_of(const wb__catalog *model, size_t tensor)
{
    const wb__catalog_file *file = &model->files[wb__catalog_file_of(model, tensor)];
    return file->data_begin + wb__record_at(&model->table, tensor)->begin;
}

bool wb__catalog_store(wb__catalog *model, const wb__storing *storing)
{
    wb__storing *copy = wb__list_append(&model->storings);
    if (copy == NULL)
        return false;
    *copy = *storing;
    copy->tensor = (uint32_t)(model->table.count - 1);
    return true;
}

const wb__storing *wb__catalog_storing_of(const wb__catalog *model, size_t tensor)
{
    size_t low = 0, high = model->storings.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const wb__storing *storing = wb__list_at(&model->storings, middle);
        if (storing->tensor == tensor)
            return storing;
        if (storing->tensor < tensor)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool wb__catalog_is_swapped(const wb__catalog *model, size_t tensor)
{
    const wb__storing *storing = wb__catalog_storing_of(model, tensor);
    return model->files[wb__catalog_file_of(model, tensor)].big_endian ||
           (storing != NULL && storing->big_endian);
}
