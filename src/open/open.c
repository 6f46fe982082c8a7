#include "open/open.h"

/* Files a process may have open are few (1024 as a rule), and not ours alone. */
#define MAX_OPEN_FILES 64

wb_model *wb__model_new(wb__context *context, wb_access access)
{
    wb_model *model = wb__alloc(&context->allocator, sizeof *model);
    if (model == NULL)
        return NULL;
    memset(model, 0, sizeof *model);
    model->allocator = context->allocator;
    model->executor = context->executor;
    model->limits = context->limits;
    model->access = access;
    wb__model_init(&model->logical, &context->allocator, wb__cpu_features());
    wb__tensors_init(&model->tensors, &model->allocator);
    model->beside.allocator = context->allocator;
    wb__findings_init(&model->findings, &context->allocator);
    context->findings = &model->findings;
    return model;
}

void wb__model_delete(wb_model *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < sizeof model->names / sizeof model->names[0]; i++) {
        wb__name_list *names = model->names[i];
        if (names != NULL)
            wb__free(&model->allocator, names, names->bytes);
    }
    wb__insight_free(model->insight);
    wb__beside_free(&model->beside);
    wb__tensors_free(&model->tensors);
    for (size_t i = 0; i < model->source_count; i++)
        wb__source_close(model->sources[i]);
    wb__free(&model->allocator, model->sources, model->source_capacity * sizeof *model->sources);
    wb__model_free(&model->logical);
    wb__findings_clear(&model->findings);
    wb_allocator allocator = model->allocator;
    wb__free(&allocator, model, sizeof *model);
}

static wb_status add_source(wb_model *model, wb__context *context, wb__source *source)
{
    if (!wb__grow(&model->allocator, (void **)&model->sources, &model->source_capacity,
                  sizeof *model->sources, model->source_count + 1, UINT32_MAX)) {
        wb__source_close(source);
        return wb__fail_memory(context);
    }
    model->sources[model->source_count++] = source;
    return WB_OK;
}

static wb_status read_header(wb_model *model, wb__context *context, wb__source *source,
                             wb__cursor *cursor)
{
    const char *path = wb__source_label(source);
    wb__head head = {.bytes = cursor->p, .file_bytes = wb__source_bytes(source)};
    head.n =
        wb__cursor_at_hand(cursor) < WB__HEAD_BYTES ? wb__cursor_at_hand(cursor) : WB__HEAD_BYTES;
    const wb__format *format = wb__format_by_content(&head);
    bool by_content = format != NULL;
    if (!by_content)
        format = wb__format_by_extension(path);
    if (format == NULL)
        return wb__fail_foreign(context, &head);
    /* What the file is instead has to be asked while its first bytes are still at hand, though it
     * is only said if the reader finds fault. */
    wb_error instead;
    wb__context ask = *context;
    ask.error = &instead;
    bool is_foreign = !by_content && wb__explain_foreign(&ask, &head);
    wb_status status =
        wb__model_begin_file(&model->logical, context, path, format->name, head.file_bytes);
    if (status == WB_OK)
        status = format->read(context, cursor, &model->logical);
    if (is_foreign && (status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT)) {
        *context->error = instead;
        status = instead.status;
    }
    return status;
}

wb_status wb__open_source(wb_model *model, wb__context *context, wb__source *source)
{
    wb__window window;
    wb__cursor cursor;
    wb_status status = add_source(model, context, source);
    if (status != WB_OK)
        return status;
    const char *file = context->file;
    context->file = wb__source_label(source);
    status = wb__window_open(&window, context, source, WB__WINDOW_BYTES, WB__HEAD_BYTES, &cursor);
    if (status == WB_OK)
        status = read_header(model, context, source, &cursor);
    wb__window_close(&window);
    context->file = file;
    return status;
}

/* Opens one file of several. */
static wb_status open_file(wb_model *model, wb__context *context, const char *path)
{
    wb__source *source;
    bool is_folder;
    const char *file = context->file;
    context->file = path;
    wb_status status = wb__source_open(context, path, model->access, &source, &is_folder);
    if (status == WB_OK && is_folder)
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                          WB__STR(""), "it is a folder, where a file was expected");
    context->file = file;
    if (status == WB_OK)
        status = wb__open_source(model, context, source);
    if (status == WB_OK && model->source_count > MAX_OPEN_FILES)
        wb__source_park(source);
    return status;
}

static wb_status open_bundle(wb_model *model, wb__context *context, const wb__bundle *bundle)
{
    for (size_t i = 0; i < bundle->count; i++) {
        wb_status status = open_file(model, context, bundle->paths[i]);
        if (status != WB_OK)
            return status;
    }
    return wb__bundle_check(context, bundle, &model->logical);
}

static wb_status open_folder(wb_model *model, wb__context *context, const char *path)
{
    wb__bundle bundle;
    wb__bundle_init(&bundle, &context->allocator);
    wb_status status = wb__bundle_of_folder(context, path, &bundle);
    if (status == WB_OK)
        status = open_bundle(model, context, &bundle);
    wb__bundle_free(&bundle);
    return status;
}

/* Takes over the source. */
static wb_status open_file_or_set(wb_model *model, wb__context *context, const char *path,
                                  wb__source *source)
{
    wb__bundle bundle;
    wb__bundle_init(&bundle, &context->allocator);
    wb_status status = wb__bundle_of_shard(context, path, &bundle);
    if (status == WB_OK && bundle.count > 0) {
        wb__source_close(source);
        status = open_bundle(model, context, &bundle);
    } else if (status == WB_OK) {
        status = wb__open_source(model, context, source);
    } else {
        wb__source_close(source);
    }
    wb__bundle_free(&bundle);
    return status;
}

/* ---- once all files are read ---- */

typedef struct hint_sources {
    wb__quantization quantization;
    wb__packing_hint ollama; /* what __metadata__ says */
} hint_sources;

static wb__packing_hint hint_of(void *ctx, wb__str module, size_t file)
{
    hint_sources *sources = ctx;
    (void)file;
    wb__packing_hint hint = wb__quantization_of(&sources->quantization, module);
    return hint.scheme == WB__SCHEME_PLAIN ? sources->ollama : hint;
}

static int has_size(void *ctx, uint64_t inputs)
{
    hint_sources *sources = ctx;
    return wb__quantization_has_size(&sources->quantization, inputs);
}

static size_t file_of(const void *ctx, size_t stored)
{
    return wb__model_file_of(ctx, stored);
}

static wb__str meta_text(const wb__model *logical, const char *key)
{
    const wb__meta *meta = wb__model_find_meta(logical, wb__str_from(key, SIZE_MAX));
    return meta == NULL ? WB__STR("") : wb__meta_value(meta);
}

static wb_status join(wb_model *model, wb__context *context)
{
    hint_sources sources;
    const wb__tree *config = model->beside.has_config ? &model->beside.config : NULL;
    const wb__packing_hints hints = {&sources, hint_of, has_size};
    sources.ollama = wb__quantization_ollama(meta_text(&model->logical, "quant_type"),
                                             meta_text(&model->logical, "group_size"));
    wb_status status = WB_OK;
    if (!wb__quantization_read(&sources.quantization, config, &context->allocator))
        status = wb__fail_memory(context);
    if (status == WB_OK)
        status = wb__packed_join(&model->tensors, context, &model->logical.table, &hints, file_of,
                                 &model->logical);
    wb__quantization_free(&sources.quantization);
    return status;
}

wb_status wb__open_finish(wb_model *model, wb__context *context, const char *folder)
{
    wb_status status = WB_OK;
    wb__str text = meta_text(&model->logical, "quantization_config");
    if (folder != NULL) {
        model->folder = wb__arena_copy(&model->logical.arena, folder, strlen(folder));
        if (model->folder == NULL)
            return wb__fail_memory(context);
    }
    if (folder != NULL && wb__packed_possible(&model->logical.table))
        status = wb__beside_read(&model->beside, context, folder);
    if (status == WB_OK && !model->beside.has_config && text.len > 0)
        status = wb__beside_take(&model->beside, context, model->logical.files[0].path, text);
    return status != WB_OK ? status : join(model, context);
}

/* The folder a file lies in. */
static wb_status finish_beside(wb_model *model, wb__context *context, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = wb__alloc(&context->allocator, n + 1);
    if (folder == NULL)
        return wb__fail_memory(context);
    memcpy(folder, slash == NULL ? "." : path, n);
    folder[n] = '\0';
    wb_status status = wb__open_finish(model, context, folder);
    wb__free(&context->allocator, folder, n + 1);
    return status;
}

wb_status wb__open_path(wb_model *model, wb__context *context, const char *path)
{
    wb__source *source;
    bool is_folder;
    context->file = path;
    wb_status status = wb__source_open(context, path, model->access, &source, &is_folder);
    if (status == WB_OK && is_folder)
        status = open_folder(model, context, path);
    else if (status == WB_OK)
        status = open_file_or_set(model, context, path, source);
    context->file = "";
    if (status == WB_OK)
        status =
            is_folder ? wb__open_finish(model, context, path) : finish_beside(model, context, path);
    return status;
}
