#include "model/model.h"

void wb__model_init(wb__model *model, const wb_allocator *allocator, uint32_t cpu_features)
{
    memset(model, 0, sizeof *model);
    model->allocator = *allocator;
    model->arena.allocator = &model->allocator;
    model->metas = (wb__list){.arena = &model->arena, .item_size = sizeof(wb__meta)};
    wb__table_init(&model->table, &model->allocator, cpu_features);
}

void wb__model_free(wb__model *model)
{
    const wb_allocator *a = &model->allocator;
    wb__free(a, model->files, model->file_capacity * sizeof *model->files);
    wb__list_free(&model->metas);
    wb__free(a, model->meta_slots, model->meta_slot_count * sizeof *model->meta_slots);
    wb__table_free(&model->table);
    wb__arena_free(&model->arena);
}

/* ---- files ---- */

wb_status wb__model_begin_file(wb__model *model, wb__context *context, const char *path,
                               const char *format, uint64_t bytes)
{
    if (model->file_count >= context->limits.files)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FILES_LIMIT, WB_NO_OFFSET, WB__STR(""),
                        "the model has more than %llu files",
                        (unsigned long long)context->limits.files);
    char *copy = wb__arena_copy(&model->arena, path, strlen(path));
    if (copy == NULL || !wb__grow(&model->allocator, (void **)&model->files, &model->file_capacity,
                                  sizeof *model->files, model->file_count + 1, UINT32_MAX))
        return wb__fail_memory(context);
    model->files[model->file_count++] = (wb__model_file){
        .path = copy, .format = format, .bytes = bytes, .first_tensor = model->table.count};
    return WB_OK;
}

typedef struct end_of_file {
    wb__model *model;
    wb__context *context;
    wb_status (*repeated)(void *ctx, size_t first, size_t second);
    void *ctx;
} end_of_file;

static wb_status check_repeated(void *ctx, size_t first, size_t second)
{
    end_of_file *end = ctx;
    const wb__model_file *file = wb__model_file_in_hand(end->model);
    if (first >= file->first_tensor)
        return end->repeated(end->ctx, first, second);
    const wb__record *record = wb__record_at(&end->model->table, second);
    return wb__fail(end->context, WB_ERROR_FORMAT, WB__FINDING_TENSOR_TWICE,
                    file->header_begin + record->where, wb__table_name(&end->model->table, second),
                    "the tensor also stands in another file of the model, %s",
                    end->model->files[wb__model_file_of(end->model, first)].path);
}

wb_status wb__model_end_file(wb__model *model, wb__context *context,
                             wb_status (*repeated)(void *ctx, size_t first, size_t second),
                             void *ctx)
{
    wb__model_file *file = wb__model_file_in_hand(model);
    end_of_file end = {model, context, repeated, ctx};
    file->tensor_count = model->table.count - file->first_tensor; /* for wb__model_file_of */
    wb_status status =
        wb__table_seal(&model->table, context, file->first_tensor, check_repeated, &end);
    file->tensor_count = model->table.count - file->first_tensor;
    return status;
}

size_t wb__model_file_of(const wb__model *model, size_t tensor)
{
    size_t low = 0, high = model->file_count - 1; /* files[low].first_tensor <= tensor */
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (model->files[middle].first_tensor <= tensor)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t wb__model_offset_of(const wb__model *model, size_t tensor)
{
    const wb__model_file *file = &model->files[wb__model_file_of(model, tensor)];
    return file->data_begin + wb__record_at(&model->table, tensor)->begin;
}

/* ---- metadata ---- */

static uint32_t hash_key(const wb__model *model, wb__str key)
{
    return model->table.hasher.hash(&model->table.hasher, key.ptr, key.len);
}

/* The slot of the entry under `key`, or the free one where it belongs. There must be slots. */
static size_t meta_slot_for(const wb__model *model, wb__str key, uint32_t hash)
{
    size_t mask = model->meta_slot_count - 1;
    size_t slot = hash & mask;
    for (; model->meta_slots[slot] != 0; slot = (slot + 1) & mask) {
        const wb__meta *meta = wb__list_at(&model->metas, model->meta_slots[slot] - 1);
        if (meta->hash == hash && wb__str_equal(wb__meta_key(meta), key))
            break;
    }
    return slot;
}

static bool enlarge_meta_slots(wb__model *model)
{
    size_t count = model->meta_slot_count == 0 ? 8 : model->meta_slot_count * 2;
    uint32_t *slots = wb__alloc_zeroed(&model->allocator, count * sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < model->metas.count; i++) {
        const wb__meta *meta = wb__list_at(&model->metas, i);
        size_t slot = meta->hash & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    wb__free(&model->allocator, model->meta_slots,
             model->meta_slot_count * sizeof *model->meta_slots);
    model->meta_slots = slots;
    model->meta_slot_count = count;
    return true;
}

/* Key and value as wb__meta.text has them, or NULL. */
static char *copy_texts(wb__arena *arena, wb__str key, wb__str value)
{
    char *text = wb__arena_text(arena, key.len + value.len + 2);
    if (text == NULL)
        return NULL;
    memcpy(text, key.ptr, key.len);
    text[key.len] = '\0';
    memcpy(text + key.len + 1, value.ptr, value.len);
    text[key.len + 1 + value.len] = '\0';
    return text;
}

wb_status wb__model_add_string(wb__model *model, wb__context *context, wb__str key, wb__str value,
                               bool *repeated)
{
    uint32_t file = (uint32_t)(model->file_count - 1);
    *repeated = false;
    if (model->take_string != NULL && model->take_string(model->take_ctx, file, key, value))
        return WB_OK;
    uint32_t hash = hash_key(model, key);
    if (key.len > UINT32_MAX || value.len > UINT32_MAX || model->metas.count >= UINT32_MAX - 1)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_HEADERS_LIMIT, WB_NO_OFFSET, key,
                        "metadata of more than 4 GiB");
    if (model->meta_slot_count / 4 * 3 <= model->metas.count && !enlarge_meta_slots(model))
        return wb__fail_memory(context);
    size_t slot = meta_slot_for(model, key, hash);
    wb__meta *meta = model->meta_slots[slot] == 0
                         ? NULL
                         : wb__list_at(&model->metas, model->meta_slots[slot] - 1);
    if (meta != NULL && meta->file != file) {
        if (wb__str_equal(wb__meta_value(meta), value))
            return WB_OK;
        return wb__note(context, WB_INFO, WB__FINDING_METADATA_CONFLICT, WB_NO_OFFSET, key,
                        "another value than in %s", model->files[meta->file].path);
    }
    char *text = copy_texts(&model->arena, key, value);
    if (text == NULL)
        return wb__fail_memory(context);
    *repeated = meta != NULL;
    if (meta == NULL) {
        meta = wb__list_append(&model->metas);
        if (meta == NULL)
            return wb__fail_memory(context);
        model->meta_slots[slot] = (uint32_t)model->metas.count;
    }
    *meta = (wb__meta){text, (uint32_t)key.len, (uint32_t)value.len, file, hash};
    return WB_OK;
}

const wb__meta *wb__model_find_meta(const wb__model *model, wb__str key)
{
    if (model->metas.count == 0)
        return NULL;
    uint32_t entry = model->meta_slots[meta_slot_for(model, key, hash_key(model, key))];
    return entry == 0 ? NULL : wb__list_at(&model->metas, entry - 1);
}
