/*
 * A model of an Ollama store: the manifest lists the blobs, and each blob is a file.
 *
 * The tensors of all blobs form one model. Each safetensors blob declares the packing of its tensor
 * in its own __metadata__, with the keys quant_type and group_size. Their values can differ between
 * blobs. Therefore they are stored per file (wb__file_hints) and are not metadata of the model.
 */
#include "bundles/ollama/ollama.h"
#include "open/open.h"
#include "open/open_messages.h"

#include <errno.h>
#include <stdio.h>

static bool take_packing(void *ctx, size_t file, wb__str key, wb__str value)
{
    wb__file_hints *hints = ctx;
    bool is_type = wb__str_equal(key, WB__STR("quant_type"));
    if (!is_type && !wb__str_equal(key, WB__STR("group_size")))
        return false;
    if (!wb__grow(hints->allocator, (void **)&hints->list, &hints->capacity, sizeof *hints->list,
                  file + 1, UINT32_MAX)) {
        hints->out_of_memory = true;
        return true;
    }
    while (hints->count <= file)
        hints->list[hints->count++] = (wb__packing_hint){.scheme = WB__SCHEME_PLAIN};
    wb__packing_hint *hint = &hints->list[file];
    wb__packing_hint said = is_type ? wb__quantization_ollama(value, WB__STR(""))
                                    : wb__quantization_ollama(WB__STR("int4"), value);
    if (is_type) {
        hint->scheme = said.scheme;
        hint->bits = said.bits;
        hint->named = said.named;
    } else {
        hint->group = said.group;
    }
    return true;
}

static wb_status fail_blob(wb__context *context, const wb__ollama_layer *layer, const char *path,
                           wb__finding_id id, const char *what)
{
    context->file = path;
    return wb__fail(context, WB_ERROR_FORMAT, id, WB_NO_OFFSET, layer->name, WB__MSG_OPEN_BLOB_SIZE,
                    wb__layer_kind_name(layer->kind), what);
}

/* Returns true if the last opened file has a tensor with this name, or tensors whose names begin
 * with this name and a dot. */
static bool names_a_tensor(const wb__catalog *catalog, wb__str name)
{
    const wb__catalog_file *file = &catalog->files[catalog->file_count - 1];
    for (size_t i = file->first_tensor; i < file->first_tensor + file->tensor_count; i++) {
        wb__str key = wb__table_name(&catalog->table, i);
        if (key.len >= name.len && memcmp(key.ptr, name.ptr, name.len) == 0 &&
            (key.len == name.len || key.ptr[name.len] == '.'))
            return true;
    }
    return false;
}

static wb_status open_blob(wb_model *model, wb__context *context, wb__ollama *ollama,
                           const wb__ollama_layer *layer)
{
    char *path = wb__ollama_blob(ollama, layer);
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__open_file(model, context, ollama->store, path);
    if (status == WB_ERROR_NOT_FOUND)
        return fail_blob(context, layer, path, WB__FINDING_OLLAMA_BLOB_MISSING, "is missing");
    uint64_t bytes =
        model->source_count == 0 ? 0 : wb__source_bytes(model->sources[model->source_count - 1]);
    if (bytes != layer->bytes && (status == WB_OK || status == WB_ERROR_FORMAT) &&
        model->source_count > 0)
        return fail_blob(context, layer, path, WB__FINDING_OLLAMA_BLOB_SIZE,
                         bytes < layer->bytes ? WB__MSG_OPEN_BLOB_SHORT : WB__MSG_OPEN_BLOB_LONG);
    if (status == WB_OK && layer->kind == WB__LAYER_TENSOR && layer->name.len > 0 &&
        !names_a_tensor(&model->catalog, layer->name)) {
        context->file = ollama->path;
        status = wb__note(context, WB_WARNING, WB__FINDING_OLLAMA_LAYER_NAME,
                          wb__tree_at(&ollama->manifest, layer->node)->at, layer->name,
                          WB__MSG_OPEN_LAYER_NAME);
        context->file = "";
    }
    return status;
}

/* Opens each blob that contains weights, but not twice if the manifest lists it several times. */
static wb_status open_blobs(wb_model *model, wb__context *context, wb__ollama *ollama)
{
    wb__key_set seen;
    wb_status status = WB_OK;
    wb__key_set_start(&seen, &context->allocator);
    for (size_t i = 0; i < ollama->count && status == WB_OK; i++) {
        const wb__ollama_layer *layer = &ollama->layers[i];
        bool repeated;
        if (layer->kind != WB__LAYER_TENSOR && layer->kind != WB__LAYER_MODEL)
            continue;
        if (!wb__key_set_add(&seen, 0, layer->digest, &repeated))
            status = wb__fail_memory(context);
        else if (!repeated)
            status = open_blob(model, context, ollama, layer);
    }
    wb__key_set_stop(&seen);
    if (status == WB_OK && model->source_count == 0) {
        context->file = ollama->path;
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_NO_WEIGHTS, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_OPEN_NO_WEIGHTS);
    }
    return status;
}

/* ---- layers without weights ---- */

/* Adds the contents of a layer to the metadata. The key of the first license layer, for example, is
 * "ollama.license", that of the second "ollama.license.2". */
static wb_status add_value(wb_model *model, wb__context *context, const wb__ollama *ollama,
                           const wb__ollama_layer *layer, unsigned number, wb__str value)
{
    char key[64];
    bool repeated;
    bool is_config = layer == &ollama->config;
    int n = snprintf(key, sizeof key, "ollama.%s",
                     is_config ? "config" : wb__layer_kind_name(layer->kind));
    if (number > 1)
        (void)snprintf(key + n, sizeof key - (size_t)n, ".%u", number);
    return wb__catalog_add_string(&model->catalog, context, wb__str_from(key, SIZE_MAX), value,
                                  &repeated);
}

static wb_status add_text(wb_model *model, wb__context *context, wb__ollama *ollama,
                          const wb__ollama_layer *layer, unsigned number)
{
    char *text;
    size_t bytes;
    char *path = wb__ollama_blob(ollama, layer);
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__read_text(context, ollama->store, path, &text, &bytes);
    if (status != WB_OK)
        return status;
    if (text == NULL) {
        context->file = path;
        status = wb__note(context, WB_WARNING, WB__FINDING_OLLAMA_BLOB_MISSING, WB_NO_OFFSET,
                          layer->name, WB__MSG_OPEN_BLOB_MISSING,
                          layer == &ollama->config ? "config" : wb__layer_kind_name(layer->kind));
        context->file = "";
        return status;
    }
    status = add_value(model, context, ollama, layer, number, (wb__str){text, bytes});
    wb__free(&context->allocator, text, bytes + 1);
    return status;
}

/* Reports a blob that is a separate model (draft model, adapter or projector), and adds its path to
 * the metadata. */
static wb_status note_beside(wb_model *model, wb__context *context, wb__ollama *ollama,
                             const wb__ollama_layer *layer, unsigned number)
{
    context->file = wb__ollama_blob(ollama, layer);
    if (context->file == NULL)
        return wb__fail_memory(context);
    wb_status status =
        wb__note(context, WB_INFO, WB__FINDING_OLLAMA_OTHER_MODEL, WB_NO_OFFSET, layer->name,
                 WB__MSG_OPEN_OTHER_MODEL, wb__layer_kind_name(layer->kind));
    if (status == WB_OK)
        status =
            add_value(model, context, ollama, layer, number, wb__str_from(context->file, SIZE_MAX));
    context->file = "";
    return status;
}

/* Adds the layers without weights. Reads a blob only once for each kind of layer, even if the
 * manifest lists it several times. */
static wb_status add_rest(wb_model *model, wb__context *context, wb__ollama *ollama)
{
    wb__key_set seen;
    unsigned numbers[WB__LAYER_OTHER + 1] = {0}; /* number of layers of each kind */
    wb_status status = WB_OK;
    wb__key_set_start(&seen, &context->allocator);
    for (size_t i = 0; i < ollama->count && status == WB_OK; i++) {
        const wb__ollama_layer *layer = &ollama->layers[i];
        wb_status (*add)(wb_model *, wb__context *, wb__ollama *, const wb__ollama_layer *,
                         unsigned) = NULL;
        bool repeated = false;
        switch (layer->kind) {
        case WB__LAYER_TEMPLATE:
        case WB__LAYER_SYSTEM:
        case WB__LAYER_PARAMS:
        case WB__LAYER_MESSAGES:
        case WB__LAYER_LICENSE: add = add_text; break;
        case WB__LAYER_DRAFT:
        case WB__LAYER_ADAPTER:
        case WB__LAYER_PROJECTOR: add = note_beside; break;
        default: break;
        }
        if (add != NULL && !wb__key_set_add(&seen, layer->kind, layer->digest, &repeated))
            status = wb__fail_memory(context);
        else if (add != NULL && !repeated)
            status = add(model, context, ollama, layer, ++numbers[layer->kind]);
    }
    wb__key_set_stop(&seen);
    if (status == WB_OK && ollama->has_config)
        status = add_text(model, context, ollama, &ollama->config, 1);
    return status;
}

static wb_status read_config(wb_model *model, wb__context *context, wb__ollama *ollama)
{
    const wb__ollama_layer *layer = wb__ollama_layer_of(ollama, WB__LAYER_JSON, "config.json");
    if (layer == NULL)
        return WB_OK;
    char *path = wb__ollama_blob(ollama, layer);
    return path == NULL ? wb__fail_memory(context)
                        : wb__config_json_read(&model->config_json, context, ollama->store, path);
}

/* Stores the paths of the sidecar files of the model. */
static wb_status keep_names(wb_model *model, wb__context *context, wb__ollama *ollama)
{
    wb__arena *arena = &model->catalog.arena;
    wb__named_file *files = wb__arena_alloc(arena, (ollama->count + 1) * sizeof *files);
    size_t count = 0;
    if (files == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < ollama->count; i++) {
        const wb__ollama_layer *layer = &ollama->layers[i];
        if (layer->kind != WB__LAYER_JSON || layer->name.len == 0)
            continue;
        const char *path = wb__ollama_blob(ollama, layer);
        if (path == NULL)
            return wb__fail_memory(context);
        files[count].name = wb__arena_copy(arena, layer->name.ptr, layer->name.len);
        files[count].path = wb__arena_copy(arena, path, strlen(path));
        if (files[count].name == NULL || files[count].path == NULL)
            return wb__fail_memory(context);
        count++;
    }
    files[count] = (wb__named_file){NULL, NULL};
    model->store = wb__arena_copy(arena, ollama->store, strlen(ollama->store));
    if (model->store == NULL)
        return wb__fail_memory(context);
    model->named_files = files;
    return WB_OK;
}

static wb_status open_manifest(wb_model *model, wb__context *context, wb__ollama *ollama)
{
    wb__file_hints hints = {.allocator = &context->allocator};
    model->catalog.take_string = take_packing;
    model->catalog.take_ctx = &hints;
    wb_status status = open_blobs(model, context, ollama);
    model->catalog.take_string = NULL;
    if (status == WB_OK && hints.out_of_memory)
        status = wb__fail_memory(context);
    if (status == WB_OK)
        status = add_rest(model, context, ollama);
    if (status == WB_OK)
        status = keep_names(model, context, ollama);
    if (status == WB_OK)
        status = read_config(model, context, ollama);
    if (status == WB_OK)
        status = wb__open_join(model, context, &hints);
    wb__free(&context->allocator, hints.list, hints.capacity * sizeof *hints.list);
    return status;
}

wb_status wb__open_manifest(wb_model *model, wb__context *context, const char *folder,
                            const char *path)
{
    wb__ollama ollama;
    char *text;
    size_t bytes;
    wb_status status = wb__read_text(context, folder, path, &text, &bytes);
    if (status == WB_OK && text == NULL)
        status = wb__fail_os(context, ENOENT, WB__MSG_OPEN_MANIFEST);
    if (status != WB_OK)
        return status;
    wb__ollama_init(&ollama, &context->allocator);
    context->file = path;
    status = wb__ollama_parse(&ollama, context, path, text, bytes);
    context->file = "";
    if (status == WB_OK)
        status = open_manifest(model, context, &ollama);
    wb__ollama_free(&ollama);
    return status;
}

wb_status wb__open_ollama_name(wb_model *model, wb__context *context, const char *store,
                               const char *name)
{
    char *path = NULL, *own = NULL;
    wb_status status = store == NULL ? wb__ollama_default_store(context, &own) : WB_OK;
    if (store == NULL)
        store = own;
    if (status == WB_OK)
        status = wb__ollama_find(context, store, wb__str_from(name, SIZE_MAX), &path);
    if (status == WB_ERROR_NOT_FOUND)
        wb__explain_store_option(context, store);
    if (status == WB_OK)
        status = wb__open_manifest(model, context, store, path);
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
    if (own != NULL)
        wb__free(&context->allocator, own, strlen(own) + 1);
    return status;
}
