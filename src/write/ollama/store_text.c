/*
 * Creates the JSON text of manifests and configs.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>

#include "write/ollama/store.h"
#include "write/write_messages.h"

bool wb__store_append(void *ctx, const char *text, size_t n)
{
    wb__buffer_add(ctx, text, n);
    return !wb__buffer_failed(ctx);
}

wb_status wb__store_read_extra(wb__context *context, const wb__sidecar *extra,
                               const uint8_t **bytes, size_t *n, uint8_t **owned)
{
    wb__source *source;
    bool is_folder;
    *bytes = extra->bytes;
    *n = extra->n;
    *owned = NULL;
    if (extra->path == NULL)
        return WB_OK;
    context->file = extra->path;
    wb_status status = wb__source_open_in(context, extra->folder, extra->path, WB_ACCESS_READ,
                                          &source, &is_folder);
    if (status != WB_OK || is_folder)
        return is_folder ? wb__fail_os(context, EISDIR, WB__MSG_WRITE_READ) : status;
    if (wb__source_bytes(source) > context->limits.json_bytes)
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, extra->name,
                          WB__MSG_WRITE_JSON_LIMIT, (unsigned long long)context->limits.json_bytes);
    if (status == WB_OK) {
        *n = (size_t)wb__source_bytes(source);
        *owned = wb__alloc(&context->allocator, *n);
        status = *owned == NULL ? wb__fail_memory(context)
                                : wb__source_read(source, context, 0, *owned, *n);
        *bytes = *owned;
    }
    wb__source_close(source);
    if (status == WB_OK) {
        context->file = "";
    } else {
        wb__free(&context->allocator, *owned, *n);
        *owned = NULL;
    }
    return status;
}

wb__str wb__store_text(const wb_writer *writer, const char *key)
{
    uint32_t number = wb__name_map_find(&writer->meta_names, wb__str_from(key, SIZE_MAX));
    if (number == UINT32_MAX)
        return (wb__str){"", 0};
    const wb__out_meta *meta = wb__list_at(&writer->metas, number);
    if (meta->tag != WB__TAG_STRING)
        return (wb__str){"", 0};
    return (wb__str){(const char *)meta->value + 8, meta->bytes - 8};
}

void wb__store_put_field(wb__json_writer *json, const char *key, wb__str text)
{
    wb__json_write_key(json, key);
    wb__json_write_str(json, text);
}
