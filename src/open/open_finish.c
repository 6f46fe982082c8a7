#include "open/open.h"
#include "weighbridge/metadata.h"

#include <stdio.h>

typedef struct hint_sources {
    wb__quantization quantization;
    wb__packing_hint metadata; /* from __metadata__ */
    const wb__file_hints *files;
    const wb__catalog *catalog;
    bool names_tensors; /* the metadata may have packing hints for single tensors */
} hint_sources;

static wb__str meta_text(const wb__catalog *catalog, const char *key)
{
    const wb__meta *meta = wb__catalog_find_meta(catalog, wb__str_from(key, SIZE_MAX));
    return meta == NULL || meta->type != WB_META_STRING ? WB__STR("")
                                                        : wb__meta_text(catalog, meta);
}

/* Reads the metadata "<tensor>.quant_type" and "<tensor>.group_size", which Ollama wrote in early
 * 2026. */
static wb__packing_hint named_hint(const wb__catalog *catalog, wb__str module)
{
    char key[1024];
    wb__str said[2];
    static const char *const endings[] = {".quant_type", ".group_size"};
    for (size_t i = 0; i < 2; i++) {
        int n = module.len > sizeof key / 2
                    ? 0
                    : snprintf(key, sizeof key, "%.*s%s", (int)module.len, module.ptr, endings[i]);
        said[i] = n == 0 ? WB__STR("") : meta_text(catalog, key);
    }
    return wb__quantization_ollama(said[0], said[1]);
}

static bool has_named_hints(const wb__catalog *catalog)
{
    for (size_t i = 0; i < catalog->metas.count; i++) {
        const wb__meta *meta = wb__list_at(&catalog->metas, i);
        if (wb__str_ends_with(wb__meta_key(catalog, meta), WB__STR(".quant_type")))
            return true;
    }
    return false;
}

/* Returns the hint of the most specific source that has one: the metadata of the tensor, the
 * metadata of its file, the metadata of the model, or the config. */
static wb__packing_hint hint_of(void *ctx, wb__str module, size_t file)
{
    hint_sources *sources = ctx;
    wb__packing_hint hint = {.scheme = WB__SCHEME_PLAIN};
    if (sources->names_tensors)
        hint = named_hint(sources->catalog, module);
    if (hint.scheme == WB__SCHEME_PLAIN && sources->files != NULL && file < sources->files->count)
        hint = sources->files->list[file];
    if (hint.scheme == WB__SCHEME_PLAIN)
        hint = sources->metadata;
    if (hint.scheme == WB__SCHEME_PLAIN)
        hint = wb__quantization_of(&sources->quantization, module);
    /* Early versions of Ollama wrote blobs with several experts without metadata, in one of three
     * packings. The shapes of the tensors distinguish these packings (model/packing.c). */
    if (hint.scheme == WB__SCHEME_PLAIN && sources->files != NULL)
        hint = (wb__packing_hint){.scheme = WB__SCHEME_INT4, .named = true};
    return hint;
}

static int has_size(void *ctx, uint64_t inputs)
{
    hint_sources *sources = ctx;
    return wb__quantization_has_size(&sources->quantization, inputs);
}

static size_t file_of(const void *ctx, size_t stored)
{
    return wb__catalog_file_of(ctx, stored);
}

wb_status wb__open_join(wb_model *model, wb__context *context, const wb__file_hints *files)
{
    hint_sources sources;
    const wb__tree *config = model->config_json.has_config ? &model->config_json.config : NULL;
    wb__packing_hints hints = {.ctx = &sources, .has_size = has_size};
    sources.files = files;
    sources.catalog = &model->catalog;
    sources.names_tensors = has_named_hints(&model->catalog);
    sources.metadata = wb__quantization_ollama(meta_text(&model->catalog, "quant_type"),
                                               meta_text(&model->catalog, "group_size"));
    wb_status status = WB_OK;
    if (!wb__quantization_read(&sources.quantization, config, &context->allocator))
        status = wb__fail_memory(context);
    wb__packing_hint all = hint_of(&sources, WB__STR(""), 0);
    if (!sources.names_tensors && files == NULL && !wb__quantization_names(&sources.quantization))
        hints.all = &all;
    else
        hints.of = hint_of;
    if (status == WB_OK)
        status = wb__packed_join(&model->tensors, context, &model->catalog.table, &hints, file_of,
                                 &model->catalog);
    wb__quantization_free(&sources.quantization);
    return status;
}

static wb_status read_config(wb_model *model, wb__context *context, const char *folder)
{
    char *path = wb__path_join(&context->allocator, folder, WB__STR("config.json"));
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__config_json_read(&model->config_json, context, folder, path);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

wb_status wb__open_finish(wb_model *model, wb__context *context, const char *folder)
{
    wb_status status = wb__split_check(context, &model->catalog);
    wb__str text = meta_text(&model->catalog, "quantization_config");
    if (status == WB_OK && folder != NULL) {
        model->folder = wb__arena_copy(&model->catalog.arena, folder, strlen(folder));
        if (model->folder == NULL)
            status = wb__fail_memory(context);
    }
    if (status == WB_OK && folder != NULL && wb__packed_needs_hints(&model->catalog.table))
        status = read_config(model, context, folder);
    if (status == WB_OK && !model->config_json.has_config && text.len > 0)
        status =
            wb__config_json_take(&model->config_json, context, model->catalog.files[0].path, text);
    return status != WB_OK ? status : wb__open_join(model, context, NULL);
}
