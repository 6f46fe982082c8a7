/*
 * Opens one file: chooses its format and reads its header.
 */
#include "bundles/ollama/blob_name.h"
#include "open/open.h"
#include "open/open_messages.h"

/* Maximum number of files that a model keeps open. Further files are reopened for each read. A
 * process may usually have 1024 open files, and the application needs some of them. */
#define MAX_OPEN_FILES 64

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

/* Maximum size in bytes of a header that stays in memory, because offsets into it have 32 bits. */
#define KEPT_MAX (UINT32_MAX - WB__CURSOR_SLACK)

/* Reads a header and stores its bytes in the current file of the catalog. */
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
    /* Determine the format of a foreign file while its first bytes are in the window. The format is
     * reported only if the reader fails. */
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

wb_status wb__open_file(wb_model *model, wb__context *context, const char *folder, const char *path)
{
    wb__source *source;
    bool is_folder;
    const char *file = context->file;
    context->file = path;
    wb_status status =
        wb__source_open_in(context, folder, path, model->access, &source, &is_folder);
    if (status == WB_OK && is_folder)
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_OPEN_IS_FOLDER);
    if (status == WB_ERROR_NOT_FOUND)
        status = wb__explain_link(context, path, WB_ERROR_FORMAT);
    context->file = file;
    if (status == WB_OK)
        status = wb__open_source(model, context, source);
    if (status == WB_OK && model->source_count > MAX_OPEN_FILES)
        wb__source_park(source);
    return status;
}
