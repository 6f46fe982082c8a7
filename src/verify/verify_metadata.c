/*
 * Checks metadata and tensor names that a file format permits, but that programs refuse or
 * misunderstand: token arrays of different lengths, a file type of the wrong integer type, and
 * names that look like paths.
 */
#include "verify/verify.h"
#include "verify/verify_messages.h"
#include "weighbridge/metadata.h"

/* Returns the metadata entry of a GGUF model with this key, or NULL. */
static const wb__meta *find(const wb_model *model, const char *key)
{
    const wb__meta *meta = wb__catalog_find_meta(&model->catalog, wb__str_from(key, SIZE_MAX));
    bool is_gguf = meta != NULL && strcmp(model->catalog.files[meta->file].format, "gguf") == 0;
    return is_gguf ? meta : NULL;
}

/* Compares the number of elements of the array `key` with the number of tokens. */
static wb_status check_length(const wb_model *model, wb__context *context, const char *key)
{
    const wb__meta *tokens = find(model, "tokenizer.ggml.tokens"), *other = find(model, key);
    if (tokens == NULL || other == NULL || tokens->type != WB_META_ARRAY ||
        other->type != WB_META_ARRAY || tokens->value.array->count == other->value.array->count)
        return WB_OK;
    context->file = model->catalog.files[other->file].path;
    wb_status status = wb__note(context, WB_WARNING, WB__FINDING_META_LENGTHS, WB_NO_OFFSET,
                                wb__meta_key(&model->catalog, other), WB__MSG_VERIFY_LENGTHS,
                                (unsigned long long)other->value.array->count,
                                (unsigned long long)tokens->value.array->count);
    context->file = "";
    return status;
}

static wb_status check_file_type(const wb_model *model, wb__context *context)
{
    const wb__meta *meta = find(model, "general.file_type");
    if (meta == NULL || (meta->type == WB_META_UINT && meta->bits == 32))
        return WB_OK;
    context->file = model->catalog.files[meta->file].path;
    wb_status status = wb__note(context, WB_WARNING, WB__FINDING_FILE_TYPE, WB_NO_OFFSET,
                                wb__meta_key(&model->catalog, meta), WB__MSG_VERIFY_FILE_TYPE);
    context->file = "";
    return status;
}

/* Returns true if a program that uses the name as a path may write outside its folder, or into a
 * subfolder. The names in an .npz file are paths inside an archive, and '/' is usual there. */
static bool is_path(wb__str name, bool is_archive)
{
    bool has_slash = memchr(name.ptr, '/', name.len) != NULL;
    return wb__str_has(name, WB__STR("..")) || (has_slash && (!is_archive || name.ptr[0] == '/'));
}

/* Adds a warning if names of tensors look like paths. */
static wb_status check_names(const wb_model *model, wb__context *context)
{
    const wb__table *table = &model->catalog.table;
    bool is_archive =
        model->catalog.file_count > 0 && strcmp(model->catalog.files[0].format, "npz") == 0;
    uint64_t odd = 0;
    wb__str first = {NULL, 0};
    for (size_t i = 0; i < table->count; i++) {
        wb__str name = wb__table_name(table, i);
        if (name.len > 0 && is_path(name, is_archive) && odd++ == 0)
            first = name;
    }
    if (odd == 0)
        return WB_OK;
    return wb__note(context, WB_WARNING, WB__FINDING_TENSOR_NAME_PATH, WB_NO_OFFSET, first,
                    WB__MSG_VERIFY_NAME_PATH, (unsigned long long)odd);
}

wb_status wb__verify_metadata(const wb_model *model, wb__context *context)
{
    wb_status status = check_length(model, context, "tokenizer.ggml.scores");
    if (status == WB_OK)
        status = check_length(model, context, "tokenizer.ggml.token_type");
    if (status == WB_OK)
        status = check_file_type(model, context);
    return status == WB_OK ? check_names(model, context) : status;
}
