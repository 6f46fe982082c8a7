#include "core/call_options.h"
#include "handle/derived_meta.h"
#include "write/write.h"
#include "write/write_messages.h"

/* Checks the caller's options, and copies them over the defaults in *options. */
static wb_status begin(wb__context *context, const wb_writer_options *caller,
                       wb_writer_options *options, wb_error *error)
{
    wb_open_options open = {.size = sizeof open};
    *context = (wb__context){.file = "", .error = error};
    if (caller == NULL)
        return wb__fail_argument(context, WB__MSG_WRITE_OPTIONS_NULL);
    if (!WB__TAKE(wb_writer_options, caller, options))
        return WB__FAIL_SIZE(context, wb_writer_options, caller);
    open.limits = options->limits;
    open.allocator = options->allocator;
    return wb__context_init(context, &open, error);
}

wb_status wb_writer_create(const wb_writer_options *options, wb_writer **writer, wb_error *error)
{
    wb_writer_options own = {.size = sizeof own};
    wb_error spare;
    wb__context context;
    *writer = NULL;
    wb_status status = begin(&context, options, &own, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__writer_make(&context, &own, writer);
}

void wb_writer_free(wb_writer *writer)
{
    if (writer != NULL)
        wb__writer_delete(writer);
}

wb_status wb_writer_set(wb_writer *writer, const char *key, size_t key_len, const wb_value *value,
                        wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_set(&context, writer, wb__str_from(key, key_len), value);
}

wb_status wb_writer_set_string(wb_writer *writer, const char *key, size_t key_len,
                               const char *value, size_t value_len, wb_error *error)
{
    const wb_value text = {
        .size = sizeof text, .type = WB_META_STRING, .text = value, .text_len = value_len};
    return wb_writer_set(writer, key, key_len, &text, error);
}

wb_status wb_writer_copy_meta(wb_writer *writer, const wb_model *model, uint64_t index,
                              wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    const wb__catalog *in;
    const wb__meta *meta;
    wb_status status = wb__derived_meta_entry(model, &context, index, &in, &meta);
    return status != WB_OK ? status : wb__writer_copy_meta(&context, writer, in, meta);
}

wb_status wb_writer_add(wb_writer *writer, const char *name, size_t name_len, int32_t dtype,
                        const uint64_t *shape, uint32_t rank, uint64_t *index, wb_error *error)
{
    wb_error spare;
    uint64_t number = 0;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    wb_status status =
        wb__writer_add(&context, writer, wb__str_from(name, name_len), dtype, shape, rank, &number);
    if (index != NULL)
        *index = number;
    return status;
}

wb_status wb_writer_set_packing(wb_writer *writer, uint64_t index, const char *type,
                                uint32_t group_size, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_set_packing(&context, writer, index, wb__str_from(type, SIZE_MAX),
                                  group_size);
}

wb_status wb_writer_add_bytes(wb_writer *writer, const char *name, const void *bytes, size_t n,
                              wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    const wb__sidecar extra = {.name = wb__str_from(name, SIZE_MAX), .bytes = bytes, .n = n};
    return wb__writer_add_extra(&context, writer, extra);
}

wb_status wb_writer_add_sidecar(wb_writer *writer, const wb_model *model, const char *name,
                                wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_add_sidecar(&context, writer, model, name);
}

wb_status wb_writer_add_file(wb_writer *writer, const char *name, const char *path, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    const wb__sidecar extra = {.name = wb__str_from(name, SIZE_MAX), .path = path};
    return wb__writer_add_extra(&context, writer, extra);
}

wb_status wb_writer_plan(wb_writer *writer, const char *path, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_plan(&context, writer, path);
}

/* ---- the plan ---- */

static wb_status fail_number(wb__context *context, const char *what, uint64_t number)
{
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_WRITE_NOT_PLANNED, what, (unsigned long long)number);
}

static bool is_planned(const wb_writer *writer)
{
    return atomic_load(&writer->state) != WB__DECLARING;
}

uint64_t wb_writer_file_count(const wb_writer *writer)
{
    return is_planned(writer) ? writer->output_count : 0;
}

wb_status wb_writer_file_at(const wb_writer *writer, uint64_t index, wb_file *caller,
                            wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    wb_file own, *file = WB__OUT(wb_file, caller, &own);
    if (file == NULL)
        return WB__FAIL_SIZE(&context, wb_file, caller);
    if (index >= wb_writer_file_count(writer))
        return fail_number(&context, "file", index);
    const wb__output *output = &writer->outputs[index];
    bool is_gguf = writer->format == &wb__format_gguf;
    file->path = output->path == NULL ? "" : output->path;
    file->format = writer->format->name;
    file->bytes = output->layout.bytes;
    file->data_offset = output->layout.pieces == NULL ? output->layout.header.n : 0;
    file->tensors = output->layout.tensor_count;
    file->version = is_gguf ? 3 : 0;
    file->big_endian = (writer->flags & WB_WRITE_BIG_ENDIAN) != 0;
    WB__GIVE(wb_file, caller, file);
    return WB_OK;
}

wb_status wb_writer_tensor_at(const wb_writer *writer, uint64_t index, wb_tensor *caller,
                              wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    wb_tensor own, *tensor = WB__OUT(wb_tensor, caller, &own);
    if (tensor == NULL)
        return WB__FAIL_SIZE(&context, wb_tensor, caller);
    if (!is_planned(writer) || index >= writer->tensors.count)
        return fail_number(&context, "tensor", index);
    const wb__outgoing *outgoing = wb__writer_tensor(writer, index);
    const wb__kind kind = {
        .shape = outgoing->out.shape, .rank = outgoing->out.rank, .dtype = outgoing->out.dtype};
    wb__kind measured = kind;
    wb__kind_measure(&measured);
    tensor->name = outgoing->out.name.ptr;
    tensor->name_len = outgoing->out.name.len;
    tensor->dtype = (wb_dtype)outgoing->out.dtype->id;
    tensor->rank = kind.rank;
    tensor->shape = kind.shape;
    tensor->elements = measured.elements;
    tensor->bytes = outgoing->out.bytes;
    tensor->file = outgoing->file;
    tensor->offset = outgoing->out.begin;
    WB__GIVE(wb_tensor, caller, tensor);
    return WB_OK;
}

wb_status wb_writer_order(const wb_writer *writer, uint64_t position, uint64_t *index,
                          wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    *index = 0;
    if (!is_planned(writer) || position >= writer->tensors.count)
        return fail_number(&context, "position", position);
    *index = ((const wb__outgoing *)writer->order[position])->number;
    return WB_OK;
}

/* ---- writing ---- */

wb_status wb_writer_check(wb_writer *writer, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_check(&context, writer);
}

const char *wb_writer_replaces(const wb_writer *writer, uint64_t index)
{
    const char *const *path =
        index < writer->replaced.count ? wb__list_at(&writer->replaced, (size_t)index) : NULL;
    return path == NULL ? NULL : *path;
}

wb_status wb_writer_begin(wb_writer *writer, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_begin(&context, writer);
}

wb_status wb_writer_begin_fd(wb_writer *writer, int fd, const char *label, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_begin_fd(&context, writer, fd, label);
}

wb_status wb_writer_put(wb_writer *writer, uint64_t index, uint64_t offset, const void *bytes,
                        size_t n, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_put(&context, writer, index, offset, bytes, n);
}

wb_status wb_writer_set_whole(wb_writer *writer, const wb_model *model, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_set_whole(&context, writer, model);
}

wb_status wb_writer_left(wb_writer *writer, uint64_t index, uint64_t offset, void *dst, size_t n,
                         wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_left(&context, writer, index, offset, dst, n);
}

wb_status wb_writer_take(wb_writer *writer, uint64_t index, uint64_t offset, uint64_t n,
                         wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_take(&context, writer, index, offset, n);
}

wb_status wb_writer_copy(wb_writer *writer, uint64_t index, const wb_model *model, uint64_t tensor,
                         wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    const wb__copy copy = {writer, index, 0, model, tensor, false};
    return wb__writer_copy(&context, &copy);
}

wb_status wb_writer_copy_into(wb_writer *writer, uint64_t index, uint64_t offset,
                              const wb_model *model, uint64_t tensor, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    const wb__copy copy = {writer, index, offset, model, tensor, true};
    return wb__writer_copy(&context, &copy);
}

wb_status wb_writer_copy_whole(wb_writer *writer, int anew, uint64_t *taken, wb_error *error)
{
    wb_error spare;
    uint64_t bytes;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_copy_whole(&context, writer, anew != 0, taken == NULL ? &bytes : taken);
}

wb_status wb_writer_commit(wb_writer *writer, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writer_commit(&context, writer);
}
