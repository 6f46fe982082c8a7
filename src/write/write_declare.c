#include <unistd.h>

#include "write/write.h"
#include "write/write_messages.h"

#define FLAGS                                                                                      \
    (WB_WRITE_FORCE | WB_WRITE_BIG_ENDIAN | WB_WRITE_ALIGN_TENSORS | WB_WRITE_FOLDER |             \
     WB_WRITE_FEB2026 | WB_WRITE_KEEP)

/* The output formats that a caller can name, with their container formats. */
static const struct kind {
    const char *name;
    const wb__format *format;
    uint32_t flags;
    bool is_store;
} kinds[] = {
    {"safetensors", &wb__format_safetensors, 0, false},
    {"gguf", &wb__format_gguf, 0, false},
    {"mlx", &wb__format_safetensors, WB_WRITE_FOLDER, false},
    {"ollama", &wb__format_safetensors, 0, true},
    {"npz", &wb__format_npz, 0, false},
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

wb__context wb__writer_context(const wb_writer *writer, wb_error *error)
{
    const wb_model *from = writer->source != NULL ? writer->source : writer->whole;
    wb__context context = {
        .allocator = writer->allocator, .limits = writer->limits, .file = "", .error = error};
    if (from != NULL)
        context.files = from->files;
    return context;
}

static wb_status fail(wb__context *context, wb__str name, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, name, "%s",
                    what);
}

static wb_status check_options(wb__context *context, const wb_writer_options *options,
                               const struct kind *kind)
{
    wb__str none = WB__STR("");
    uint64_t alignment = options->alignment;
    if (kind == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET, none,
                        WB__MSG_WRITE_FORMAT, options->format == NULL ? "" : options->format);
    if (options->flags & ~FLAGS)
        return fail(context, none, WB__MSG_WRITE_OPTIONS_FLAGS);
    if (strcmp(options->format, "npz") == 0 && (options->flags & WB_WRITE_FOLDER) != 0)
        return fail(context, none, WB__MSG_WRITE_NPZ_FOLDER);
    if (alignment != 0 && (alignment < 8 || (alignment & (alignment - 1)) != 0))
        return fail(context, none, WB__MSG_WRITE_ALIGNMENT);
    return WB_OK;
}

wb_status wb__writer_make(wb__context *context, const wb_writer_options *options, wb_writer **out)
{
    const struct kind *kind = kind_of(options->format);
    wb_status status = check_options(context, options, kind);
    *out = NULL;
    if (status != WB_OK)
        return status;
    wb_writer *writer = wb__alloc_zeroed(&context->allocator, sizeof *writer);
    if (writer == NULL)
        return wb__fail_memory(context);
    if (pthread_mutex_init(&writer->lock, NULL) != 0) {
        wb__free(&context->allocator, writer, sizeof *writer);
        return wb__fail_memory(context);
    }
    writer->allocator = context->allocator;
    writer->limits = context->limits;
    writer->format = kind->format;
    writer->is_store = kind->is_store;
    writer->flags = options->flags | kind->flags;
    writer->alignment = options->alignment;
    writer->max_file_bytes = options->max_file_bytes;
    writer->max_file_tensors = options->max_file_tensors;
    writer->source = options->source;
    if (options->progress != NULL)
        writer->progress = *options->progress;
    writer->claims[0] = writer->claims[1] = -1;
    writer->arena.allocator = &writer->allocator;
    writer->metas = (wb__list){.arena = &writer->arena, .item_size = sizeof(wb__out_meta)};
    writer->tensors = (wb__list){.arena = &writer->arena, .item_size = sizeof(wb__outgoing)};
    writer->extras = (wb__list){.arena = &writer->arena, .item_size = sizeof(wb__sidecar)};
    writer->replaced = (wb__list){.arena = &writer->arena, .item_size = sizeof(const char *)};
    wb__crc32_init(&writer->crc32);
    wb__name_map_start(&writer->meta_names, &writer->allocator, &writer->metas);
    wb__name_map_start(&writer->tensor_names, &writer->allocator, &writer->tensors);
    if (options->store != NULL)
        writer->store = wb__arena_copy(&writer->arena, options->store, strlen(options->store));
    if (options->store != NULL && writer->store == NULL) {
        wb__writer_delete(writer);
        return wb__fail_memory(context);
    }
    *out = writer;
    return WB_OK;
}

/* Returns true if the source files have changed since they were opened. Partial output made from
 * them is then useless. */
static bool has_changed(const wb_writer *writer)
{
    wb_error error;
    wb__context context = wb__writer_context(writer, wb__error_reset(&error, &error));
    return wb__writer_check_source(&context, writer) == WB_ERROR_CHANGED;
}

static void delete_outputs(wb_writer *writer)
{
    bool keeps = (writer->flags & WB_WRITE_KEEP) != 0 && !writer->forgets;
    if (keeps && atomic_load(&writer->state) == WB__WRITING && has_changed(writer))
        keeps = false;
    for (size_t i = 0; i < writer->output_count; i++) {
        if (!keeps && writer->outputs[i].sink != NULL)
            wb__sink_forget(writer->outputs[i].sink);
        wb__sink_discard(writer->outputs[i].sink);
        wb__buffer_free(&writer->outputs[i].layout.header);
    }
    for (size_t i = 0; i < writer->extras.count; i++) {
        wb__sidecar *extra = wb__list_at(&writer->extras, i);
        wb__sink_discard(extra->sink);
    }
    if (writer->folder_at != NULL && !keeps)
        wb__directory_remove(writer->folder_at);
    else if (writer->folder_at != NULL)
        /* fails if the directory contains partial files, which are kept */
        (void)rmdir(writer->folder_at);
    for (size_t i = 0; i < 2; i++) {
        if (writer->claims[i] >= 0)
            (void)close(writer->claims[i]);
    }
}

void wb__writer_delete(wb_writer *writer)
{
    wb_allocator allocator = writer->allocator;
    delete_outputs(writer);
    wb__source_close(writer->merged);
    for (size_t i = 0; i < writer->tensors.count; i++) {
        wb__outgoing *tensor = wb__writer_tensor(writer, i);
        wb__free(&allocator, tensor->pieces, tensor->piece_capacity * sizeof *tensor->pieces);
    }
    wb__free(&allocator, writer->index, writer->index_bytes);
    wb__name_map_stop(&writer->meta_names);
    wb__name_map_stop(&writer->tensor_names);
    wb__list_free(&writer->metas);
    wb__list_free(&writer->extras);
    wb__list_free(&writer->tensors);
    wb__list_free(&writer->replaced);
    wb__arena_free(&writer->arena);
    (void)pthread_mutex_destroy(&writer->lock);
    wb__free(&allocator, writer, sizeof *writer);
}

wb_status wb__writer_check_declaring(wb__context *context, const wb_writer *writer, wb__str name)
{
    if (atomic_load(&writer->state) == WB__DECLARING)
        return WB_OK;
    return fail(context, name, WB__MSG_WRITE_DECLARE_STATE);
}

/* ---- metadata ---- */

/* Returns true for keys that describe the split of a GGUF file. write_plan.c sets these keys. */
static bool is_split_key(const wb_writer *writer, wb__str key)
{
    return writer->format == &wb__format_gguf && !writer->is_edit &&
           (wb__str_equal(key, WB__STR("split.no")) || wb__str_equal(key, WB__STR("split.count")) ||
            wb__str_equal(key, WB__STR("split.tensors.count")));
}

/* Copies an encoded value to the arena and adds it under `key`. */
static wb_status keep(wb__context *context, wb_writer *writer, wb__str key, uint32_t tag,
                      const wb__buffer *value)
{
    wb__out_meta meta = {.key = key, .tag = tag, .bytes = value->n};
    uint8_t *bytes = wb__arena_alloc(&writer->arena, value->n);
    if (bytes == NULL)
        return wb__fail_memory(context);
    memcpy(bytes, value->bytes, value->n);
    meta.value = bytes;
    uint32_t known = wb__name_map_find(&writer->meta_names, key);
    if (known != UINT32_MAX) {
        wb__out_meta *entry = wb__list_at(&writer->metas, known);
        meta.key = entry->key;
        *entry = meta;
        return WB_OK;
    }
    meta.key.ptr = wb__arena_copy(&writer->arena, key.ptr, key.len);
    wb__out_meta *entry = meta.key.ptr == NULL ? NULL : wb__list_append(&writer->metas);
    if (entry == NULL)
        return wb__fail_memory(context);
    *entry = meta;
    if (!wb__name_map_add(&writer->meta_names)) {
        writer->metas.count--;
        return wb__fail_memory(context);
    }
    return WB_OK;
}

wb_status wb__writer_set(wb__context *context, wb_writer *writer, wb__str key,
                         const wb_value *value)
{
    wb__buffer bytes = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    uint32_t tag;
    wb_status status = wb__writer_check_declaring(context, writer, key);
    if (status != WB_OK || is_split_key(writer, key))
        return status;
    status = wb__value_put(context, &bytes, key, value, &tag);
    if (status == WB_OK)
        status = keep(context, writer, key, tag, &bytes);
    wb__buffer_free(&bytes);
    return status;
}

wb_status wb__writer_copy_meta(wb__context *context, wb_writer *writer, const wb__catalog *model,
                               const wb__meta *meta)
{
    return wb__writer_copy_meta_as(context, writer, model, meta, wb__meta_key(model, meta));
}

wb_status wb__writer_copy_meta_as(wb__context *context, wb_writer *writer, const wb__catalog *model,
                                  const wb__meta *meta, wb__str key)
{
    wb__buffer bytes = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    uint32_t tag;
    wb_status status = wb__writer_check_declaring(context, writer, key);
    if (status != WB_OK || is_split_key(writer, key))
        return status;
    status = wb__value_put_meta(context, &bytes, model, meta, &tag);
    if (status == WB_OK)
        status = keep(context, writer, key, tag, &bytes);
    wb__buffer_free(&bytes);
    return status;
}

/* ---- tensors ---- */

static wb_status measure(wb__context *context, wb__str name, wb__kind *kind)
{
    wb__kind_measure(kind);
    switch (kind->fault) {
    case WB__KIND_SOUND: return WB_OK;
    case WB__KIND_OVERFLOW: return fail(context, name, WB__MSG_WRITE_TENSOR_SIZE);
    case WB__KIND_BLOCK: return fail(context, name, WB__MSG_WRITE_TENSOR_BLOCKS);
    default: return fail(context, name, WB__MSG_WRITE_TENSOR_LAST_BYTE);
    }
}

wb_status wb__writer_add(wb__context *context, wb_writer *writer, wb__str name, int32_t dtype,
                         const uint64_t *shape, uint32_t rank, uint64_t *index)
{
    wb__kind kind = {.shape = shape, .rank = rank, .dtype = wb__dtype_get(dtype)};
    wb_status status = wb__writer_check_declaring(context, writer, name);
    if (status != WB_OK)
        return status;
    if (kind.dtype == NULL)
        return fail(context, name, WB__MSG_WRITE_DTYPE);
    if (rank > context->limits.rank)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_RANK_LIMIT, WB_NO_OFFSET, name,
                        WB__MSG_WRITE_TENSOR_DIMENSIONS, (unsigned long)rank);
    if (wb__name_map_find(&writer->tensor_names, name) != UINT32_MAX)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE, WB_NO_OFFSET, name,
                        WB__MSG_WRITE_TENSOR_EXISTS);
    status = measure(context, name, &kind);
    if (status != WB_OK)
        return status;
    uint64_t *dims = wb__arena_alloc(&writer->arena, rank * sizeof *dims);
    char *text = wb__arena_copy(&writer->arena, name.ptr, name.len);
    wb__outgoing *tensor = dims == NULL || text == NULL ? NULL : wb__list_append(&writer->tensors);
    if (tensor == NULL)
        return wb__fail_memory(context);
    if (rank != 0)
        memcpy(dims, shape, rank * sizeof *dims);
    *tensor = (wb__outgoing){.out = {.name = {text, name.len},
                                     .dtype = kind.dtype,
                                     .rank = rank,
                                     .shape = dims,
                                     .bytes = kind.bytes},
                             .number = (uint32_t)writer->tensors.count - 1};
    if (!wb__name_map_add(&writer->tensor_names)) {
        writer->tensors.count--;
        return wb__fail_memory(context);
    }
    *index = writer->tensors.count - 1;
    return WB_OK;
}

wb_status wb__writer_set_packing(wb__context *context, wb_writer *writer, uint64_t index,
                                 wb__str type, uint32_t group)
{
    wb_status status = wb__writer_check_declaring(context, writer, WB__STR(""));
    if (status != WB_OK)
        return status;
    if (index >= writer->tensors.count || type.len == 0)
        return fail(context, WB__STR(""), WB__MSG_WRITE_PACKING);
    wb__outgoing *tensor = wb__writer_tensor(writer, index);
    tensor->packing = wb__arena_copy(&writer->arena, type.ptr, type.len);
    tensor->group = group;
    return tensor->packing == NULL ? wb__fail_memory(context) : WB_OK;
}
