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
    model->access = access;
    wb__model_init(&model->logical, &context->allocator, wb__cpu_features());
    wb__findings_init(&model->findings, &context->allocator);
    context->findings = &model->findings;
    return model;
}

void wb__model_delete(wb_model *model)
{
    if (model == NULL)
        return;
    uint64_t *name_offsets = model->name_offsets;
    wb__free(&model->allocator, name_offsets,
             (model->logical.table.count + 1) * sizeof *name_offsets);
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
    status = format->read(context, cursor, &model->logical);
    wb__model_file *file = wb__model_file_in_hand(&model->logical);
    wb__window_take(window, wb__cursor_at(cursor), &file->header, &file->header_capacity);
    return status;
}

static wb_status read_header(wb_model *model, wb__context *context, wb__source *source,
                             wb__window *window, wb__cursor *cursor)
{
    const char *path = wb__source_label(source);
    wb__head head = {.bytes = cursor->p, .file_bytes = wb__source_bytes(source)};
    head.n = wb__cursor_at_hand(cursor) < WB__HEAD_BYTES ? wb__cursor_at_hand(cursor)
                                                         : WB__HEAD_BYTES;
    const wb__format *format = wb__format_by_content(&head);
    bool by_content = format != NULL;
    if (!by_content)
        format = wb__format_by_extension(path);
    if (format == NULL)
        return wb__fail_foreign(context, &head);
    /* What the file is instead has to be asked while its first bytes are still at hand, though it is
     * only said if the reader finds fault. */
    wb_error instead;
    wb__context ask = *context;
    ask.error = &instead;
    bool is_foreign = !by_content && wb__explain_foreign(&ask, &head);
    wb_status status =
        wb__model_begin_file(&model->logical, context, path, format->name, head.file_bytes);
    if (status == WB_OK)
        status = format->keeps_header ? read_kept(model, context, window, cursor, format)
                                      : format->read(context, cursor, &model->logical);
    if (is_foreign && (status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT)) {
        *context->error = instead;
        status = instead.status;
    }
    return status;
}

/* Reads one file of a model, which takes over its source. */
static wb_status read_source(wb_model *model, wb__context *context, wb__source *source)
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

wb_status wb__open_source(wb_model *model, wb__context *context, wb__source *source)
{
    wb_status status = read_source(model, context, source);
    return status != WB_OK ? status : wb__split_check(context, &model->logical);
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
        status = read_source(model, context, source);
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
    wb_status status = wb__bundle_check(context, bundle, &model->logical);
    return status != WB_OK ? status : wb__split_check(context, &model->logical);
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
    return status;
}
