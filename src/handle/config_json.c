#include "handle/config_json.h"
#include "handle/handle_messages.h"

#include "io/io.h"

wb_status wb__read_text(wb__context *context, const char *folder, const char *path, char **text,
                        size_t *bytes)
{
    wb__source *source;
    bool is_folder;
    const char *file = context->file;
    *text = NULL;
    *bytes = 0;
    context->file = path;
    wb_status status =
        wb__source_open_in(context, folder, path, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_OK && is_folder)
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_HANDLE_IS_FOLDER);
    if (status != WB_OK) {
        if (status == WB_ERROR_NOT_FOUND) {
            (void)wb__error_reset(context->error, context->error);
            status = WB_OK;
        }
        context->file = file;
        return status;
    }
    uint64_t n = wb__source_bytes(source);
    if (n > context->limits.json_bytes || n >= SIZE_MAX || n >= UINT32_MAX) {
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_CONFIG_JSON, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_HANDLE_FILE_LIMIT, (unsigned long long)n,
                          (unsigned long long)context->limits.json_bytes);
    } else {
        char *memory = wb__alloc(&context->allocator, (size_t)n + 1);
        status = memory == NULL ? wb__fail_memory(context)
                                : wb__source_read(source, context, 0, memory, (size_t)n);
        if (status == WB_OK) {
            memory[n] = '\0';
            *text = memory;
            *bytes = (size_t)n;
        } else {
            wb__free(&context->allocator, memory, (size_t)n + 1);
        }
    }
    wb__source_close(source);
    context->file = file;
    return status;
}

void wb__config_json_free(wb__config_json *config_json)
{
    wb__tree_free(&config_json->config);
    wb__free(&config_json->allocator, config_json->text, config_json->text_bytes + 1);
    config_json->text = NULL;
    config_json->has_config = false;
}

/* Parses `text` and takes ownership of it. Findings name the file `label`. */
static wb_status parse(wb__config_json *config_json, wb__context *context, const char *label,
                       char *text, size_t bytes)
{
    const char *file = context->file;
    config_json->allocator = context->allocator;
    config_json->text = text;
    config_json->text_bytes = bytes;
    if (wb__tree_parse(&config_json->config, text, bytes, &context->allocator)) {
        config_json->has_config = true;
        return WB_OK;
    }
    wb__json_fault fault = config_json->config.fault;
    uint64_t at = config_json->config.fault_at;
    wb__config_json_free(config_json);
    if (fault == WB__JSON_FAULT_MEMORY)
        return wb__fail_memory(context);
    context->file = label;
    wb_status status = wb__note(context, WB_WARNING, WB__FINDING_CONFIG_JSON, at, WB__STR(""), "%s",
                                wb__json_fault_text(fault));
    context->file = file;
    return status;
}

wb_status wb__config_json_take(wb__config_json *config_json, wb__context *context,
                               const char *label, wb__str text)
{
    char *copy = wb__alloc(&context->allocator, text.len + 1);
    if (copy == NULL)
        return wb__fail_memory(context);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return parse(config_json, context, label, copy, text.len);
}

wb_status wb__config_json_read(wb__config_json *config_json, wb__context *context,
                               const char *folder, const char *path)
{
    char *text;
    size_t bytes;
    wb_status status = wb__read_text(context, folder, path, &text, &bytes);
    if (status == WB_OK)
        return text == NULL ? WB_OK : parse(config_json, context, path, text, bytes);
    if (status != WB_ERROR_LIMIT && status != WB_ERROR_FORMAT && status != WB_ERROR_IO)
        return status;
    /* A damaged config.json is only a finding, because the weights are still valid. */
    bool kept = context->findings == NULL ||
                wb__findings_add_error(context->findings, context->error, WB_WARNING);
    (void)wb__error_reset(context->error, context->error);
    return kept ? WB_OK : wb__fail_memory(context);
}
