#include "open/open.h"

#include "bundles/ollama/ollama.h"

/* Files a process may have open are few (1024 as a rule), and not ours alone. */
#define MAX_OPEN_FILES 64

/* What is set up when a model is new, and again when what was opened first was not it. */
static void set_up(wb_model *model, wb__context *context)
{
    wb__catalog_init(&model->catalog, &context->allocator, wb__cpu_features());
    wb__tensors_init(&model->tensors, &model->allocator);
    wb__findings_init(&model->findings, &context->allocator);
    model->config_json.allocator = context->allocator;
    model->folder = NULL;
    model->named_files = NULL;
    context->findings = &model->findings;
}

wb_model *wb__model_new(wb__context *context, wb_access access)
{
    wb_model *model = wb__alloc(&context->allocator, sizeof *model);
    if (model == NULL)
        return NULL;
    memset(model, 0, sizeof *model);
    model->decode_cache = wb__decode_cache_new(&context->allocator);
    if (model->decode_cache == NULL) {
        wb__free(&context->allocator, model, sizeof *model);
        return NULL;
    }
    model->allocator = context->allocator;
    model->executor = context->executor;
    model->limits = context->limits;
    model->access = access;
    set_up(model, context);
    return model;
}

static void clear(wb_model *model)
{
    for (size_t i = 0; i < sizeof model->names / sizeof model->names[0]; i++) {
        wb__name_list *names = model->names[i];
        if (names != NULL)
            wb__free(&model->allocator, names, names->bytes);
    }
    wb__decode_cache_clear(model->decode_cache);
    wb__derived_meta_free(model->derived);
    wb__semantics_free(model->semantics);
    wb__config_json_free(&model->config_json);
    wb__tensors_free(&model->tensors);
    for (size_t i = 0; i < model->source_count; i++)
        wb__source_close(model->sources[i]);
    model->source_count = 0;
    wb__catalog_free(&model->catalog);
    wb__findings_clear(&model->findings);
}

static void reset(wb_model *model, wb__context *context)
{
    clear(model);
    set_up(model, context);
}

void wb__model_delete(wb_model *model)
{
    if (model == NULL)
        return;
    clear(model);
    wb__decode_cache_free(model->decode_cache);
    wb__free(&model->allocator, model->sources, model->source_capacity * sizeof *model->sources);
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

/* Headers that are kept are addressed with 32 bits. */
#define KEPT_MAX (UINT32_MAX - WB__CURSOR_SLACK)

/* Reads a header that stays in memory, as part of the file in hand. */
static wb_status read_kept(wb_model *model, wb__context *context, wb__window *window,
                           wb__cursor *cursor, const wb__format *format)
{
    uint64_t limit = context->limits.gguf_header;
    wb_status status = wb__window_keep(window, cursor, limit < KEPT_MAX ? limit : KEPT_MAX);
    if (status != WB_OK)
        return status;
    status = format->read(context, cursor, &model->catalog);
    wb__catalog_file *file = wb__catalog_file_in_hand(&model->catalog);
    wb__header_bytes kept = wb__window_take(window, cursor);
    file->header = kept.header;
    file->header_memory = kept.memory;
    file->header_bytes = kept.bytes;
    return status;
}

static wb_status read_source(const void *ctx, wb__context *context, uint64_t offset, void *dst,
                             size_t n)
{
    return wb__source_read(ctx, context, offset, dst, n);
}

static wb_status read_header(wb_model *model, wb__context *context, wb__source *source,
                             wb__window *window, wb__cursor *cursor)
{
    const char *path = wb__source_label(source);
    wb__head head = {.bytes = cursor->p, .file_bytes = wb__source_bytes(source)};
    head.n =
        wb__cursor_at_hand(cursor) < WB__HEAD_BYTES ? wb__cursor_at_hand(cursor) : WB__HEAD_BYTES;
    bool by_content;
    const wb__format *format = wb__format_choose(&head, path, &by_content);
    if (format == NULL)
        return wb__fail_foreign(context, &head);
    /* What the file is instead has to be asked while its first bytes are still at hand, though it
     * is only said if the reader finds fault. */
    wb_error instead;
    wb__context ask = *context;
    ask.error = &instead;
    bool is_foreign = !by_content && wb__explain_foreign(&ask, &head);
    wb_status status =
        wb__catalog_begin_file(&model->catalog, context, path, format->name, head.file_bytes);
    if (status == WB_OK && format->read_anywhere != NULL) {
        const wb__bytes bytes = {head.file_bytes, source, read_source};
        status = format->read_anywhere(context, &bytes, &model->catalog);
    } else if (status == WB_OK) {
        status = format->keeps_header ? read_kept(model, context, window, cursor, format)
                                      : format->read(context, cursor, &model->catalog);
    }
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
        status = read_header(model, context, source, &window, &cursor);
    wb__window_close(&window);
    context->file = file;
    return status;
}

wb_status wb__open_file(wb_model *model, wb__context *context, const char *path)
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
        const char *name = bundle->names[i];
        char *path =
            wb__path_join(&context->allocator, bundle->folder, wb__str_from(name, SIZE_MAX));
        if (path == NULL)
            return wb__fail_memory(context);
        wb_status status = wb__open_file(model, context, path);
        wb__free(&context->allocator, path, strlen(path) + 1);
        if (status != WB_OK)
            return status;
    }
    return wb__bundle_check(context, bundle, &model->catalog);
}

static wb_status open_folder(wb_model *model, wb__context *context, const char *path)
{
    wb__bundle bundle;
    wb__bundle_init(&bundle, &context->allocator);
    wb_status status = wb__bundle_of_folder(context, path, &bundle);
    if (status == WB_OK)
        status = open_bundle(model, context, &bundle);
    wb__bundle_free(&bundle);
    if (status == WB_ERROR_FORMAT && model->source_count == 0 &&
        wb__ollama_is_store(&context->allocator, path))
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_STORE, WB_NO_OFFSET,
                          WB__STR(""), "this is a store of models, not a model");
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

static bool is_finding(const wb__context *context, wb__finding_id id)
{
    return strcmp(context->error->code, wb__finding_code(id)) == 0;
}

/* JSON where weights were expected, or whatever is in the place of a manifest. */
static bool may_be_manifest(const wb__context *context, wb_status status, const char *path)
{
    if (status != WB_ERROR_FORMAT)
        return false;
    return is_finding(context, WB__FINDING_FOREIGN_JSON) ||
           (wb__ollama_is_manifest_path(path) && (is_finding(context, WB__FINDING_FOREIGN_TEXT) ||
                                                  is_finding(context, WB__FINDING_FORMAT_UNKNOWN)));
}

/* What is no manifest, sound or not, stays what it was. */
static wb_status try_manifest(wb_model *model, wb__context *context, const char *path)
{
    wb_error first = *context->error;
    reset(model, context);
    wb_status status = wb__open_manifest(model, context, path);
    if (status != WB_OK && model->source_count == 0 &&
        (status == WB_ERROR_LIMIT || is_finding(context, WB__FINDING_FOREIGN_JSON))) {
        *context->error = first;
        status = first.status;
    }
    return status;
}

/* A blob that is named by itself, and is not there, or cannot be. */
static wb_status explain_missing(wb__context *context, const char *path)
{
    uint8_t digest[WB__SHA256_BYTES];
    if (!wb__ollama_is_blob_path(path))
        return WB_ERROR_NOT_FOUND;
    context->file = path;
    (void)(wb__digest_of_name(path, digest)
               ? wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_OLLAMA_BLOB_MISSING,
                          WB_NO_OFFSET, WB__STR(""), "the store has no blob of this digest")
               : wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_OLLAMA_DIGEST, WB_NO_OFFSET,
                          WB__STR(""), "the store has no such blob, and this is no digest"));
    context->file = "";
    return WB_ERROR_NOT_FOUND;
}

wb_status wb__open_path(wb_model *model, wb__context *context, const char *path)
{
    wb__source *source;
    bool is_folder;
    if (strncmp(path, WB__OLLAMA_SCHEME, sizeof WB__OLLAMA_SCHEME - 1) == 0)
        return wb__open_ollama_name(model, context, context->store, path);
    context->file = path;
    wb_status status = wb__source_open(context, path, model->access, &source, &is_folder);
    if (status == WB_ERROR_NOT_FOUND && context->store != NULL) {
        context->file = "";
        return wb__open_ollama_name(model, context, context->store, path);
    }
    if (status == WB_ERROR_NOT_FOUND)
        return explain_missing(context, path);
    if (status == WB_OK && is_folder)
        status = open_folder(model, context, path);
    else if (status == WB_OK)
        status = open_file_or_set(model, context, path, source);
    context->file = "";
    if (may_be_manifest(context, status, path))
        return try_manifest(model, context, path);
    if (status == WB_OK)
        status =
            is_folder ? wb__open_finish(model, context, path) : finish_beside(model, context, path);
    return status;
}
