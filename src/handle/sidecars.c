/* Paths and texts of the sidecar files of a model. */
#include "handle/semantics.h"

wb_status wb__sidecar_path(const wb_model *model, wb__context *context, const char *name,
                           const char **folder, char **path)
{
    const wb__named_file *file = model->named_files;
    const char *parent = model->folder;
    *path = NULL;
    *folder = parent;
    while (file != NULL && file->name != NULL && strcmp(file->name, name) != 0)
        file++;
    if (file != NULL) {
        *folder = model->store;
        parent = "";
        name = file->path;
    }
    if (parent == NULL || name == NULL)
        return WB_OK;
    *path = wb__path_join(&context->allocator, parent, wb__str_from(name, SIZE_MAX));
    return *path == NULL ? wb__fail_memory(context) : WB_OK;
}

static void free_path(wb__context *context, char *path)
{
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
}

wb_status wb__sidecar_text(const wb_model *model, wb__context *context, const char *name,
                           char **text, size_t *bytes)
{
    const char *folder;
    char *path;
    *text = NULL;
    *bytes = 0;
    wb_status status = wb__sidecar_path(model, context, name, &folder, &path);
    if (path != NULL)
        status = wb__read_text(context, folder, path, text, bytes);
    free_path(context, path);
    return status;
}

static const char *const names[] = {"config.json",
                                    "generation_config.json",
                                    "tokenizer.json",
                                    "tokenizer.model",
                                    "tokenizer_config.json",
                                    "chat_template.jinja",
                                    "vocab.txt",
                                    "1_Pooling/config.json",
                                    "adapter_config.json",
                                    "model.safetensors.index.json"};

const char *wb__sidecar_name(size_t i)
{
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

wb_status wb__model_reads(const wb_model *model, wb__context *context, const char *path,
                          bool *reads)
{
    wb_status status = WB_OK;
    *reads = false;
    for (size_t i = 0; i < model->source_count && !*reads; i++)
        *reads = wb__source_is_at(model->sources[i], path);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == WB_OK && !*reads; i++) {
        const char *folder;
        char *there;
        status = wb__sidecar_path(model, context, names[i], &folder, &there);
        *reads = there != NULL && wb__path_same(there, path);
        free_path(context, there);
    }
    return status;
}
