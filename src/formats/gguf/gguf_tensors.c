/* Reads the tensor infos: name, shape, type, offset. */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"
#include "formats/gguf/gguf_types.h"

#define DTYPE_END 96 /* wb_dtype numbers below this value are ggml's type numbers */

typedef struct tensor_info {
    uint64_t shape[WB__GGUF_RANK_MAX]; /* innermost first, as in the file */
    uint32_t rank;
    uint64_t shape_at;
} tensor_info;

/* ---- name ---- */

static wb_status check_name(wb__gguf_reader *reader, uint64_t at)
{
    wb__context *context = reader->context;
    wb__str name = wb__gguf_text(reader);
    const char *nul = memchr(name.ptr, 0, name.len);
    if (nul != NULL)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_GGUF_NAME,
                        reader->text_at + (size_t)(nul - name.ptr), name, WB__MSG_GGUF_NAME_NUL);
    if (name.len == 0)
        return wb__note(context, WB_WARNING, WB__FINDING_GGUF_NAME_STYLE, at, name,
                        WB__MSG_GGUF_NAME_EMPTY);
    if (name.len == WB__GGUF_NAME_MAX)
        return wb__note(context, WB_WARNING, WB__FINDING_GGUF_NAME_STYLE, at, name,
                        WB__MSG_GGUF_NAME_64);
    size_t valid = wb__utf8_valid_prefix((const uint8_t *)name.ptr, name.len);
    if (valid < name.len)
        return wb__note(context, WB_WARNING, WB__FINDING_GGUF_NAME_STYLE, reader->text_at + valid,
                        name, WB__MSG_GGUF_NAME_UTF8);
    return WB_OK;
}

static wb_status read_name(wb__gguf_reader *reader)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    size_t len;
    reader->text_len = 0;
    wb_status status = wb__gguf_take_length(reader, "the name of a tensor", &len);
    if (status != WB_OK)
        return status;
    reader->text_at = wb__gguf_skip(reader, len);
    if (len > WB__GGUF_NAME_MAX)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_NAME, at,
                        (wb__str){(const char *)reader->cursor->kept + reader->text_at, len},
                        WB__MSG_GGUF_NAME_LENGTH, len, WB__GGUF_NAME_MAX);
    reader->text_len = len;
    return check_name(reader, at);
}

/* ---- shape ---- */

/*
 * Reads a dimension and, unless it is 0, multiplies *product by it. Fails if *product would reach
 * 2^63.
 */
static wb_status read_dimension(wb__gguf_reader *reader, uint64_t *dimension, uint64_t *product)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    wb_status status = wb__gguf_take_u64(reader, "the shape of a tensor", dimension);
    if (status != WB_OK)
        return status;
    if (*dimension > INT64_MAX || (*dimension > 0 && !wb__mul(*product, *dimension, product)) ||
        *product > INT64_MAX)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_OVERFLOW, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_DIMENSION,
                        (unsigned long long)*dimension);
    return WB_OK;
}

static wb_status read_shape(wb__gguf_reader *reader, tensor_info *info)
{
    wb__context *context = reader->context;
    uint64_t at = wb__cursor_at(reader->cursor), product = 1;
    wb_status status = wb__gguf_take_u32(reader, "the rank of a tensor", &info->rank);
    if (status != WB_OK)
        return status;
    info->shape_at = at + 4;
    if (info->rank > WB__GGUF_RANK_MAX)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_GGUF_RANK, at, wb__gguf_text(reader),
                        WB__MSG_GGUF_RANK, (unsigned long)info->rank, WB__GGUF_RANK_MAX);
    bool is_empty = false;
    for (uint32_t i = 0; i < info->rank && status == WB_OK; i++) {
        status = read_dimension(reader, &info->shape[i], &product);
        is_empty |= info->shape[i] == 0;
    }
    if (status == WB_OK && info->rank == 0)
        status = wb__note(context, WB_WARNING, WB__FINDING_GGUF_SCALAR, at, wb__gguf_text(reader),
                          WB__MSG_GGUF_SCALAR);
    if (status == WB_OK && is_empty)
        status = wb__note(context, WB_WARNING, WB__FINDING_GGUF_EMPTY_TENSOR, at + 4,
                          wb__gguf_text(reader), WB__MSG_GGUF_EMPTY_TENSOR);
    return status;
}

/* ---- type ---- */

static wb_status read_type(wb__gguf_reader *reader, const wb__dtype **dtype)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    uint32_t number;
    wb_status status = wb__gguf_take_u32(reader, "the type of a tensor", &number);
    if (status != WB_OK)
        return status;
    *dtype = number < DTYPE_END ? wb__dtype_get((int32_t)number) : NULL;
    if (*dtype != NULL) {
        reader->has_blocks |= (*dtype)->block_size > 1;
        return WB_OK;
    }
    const char *removed = wb__gguf_removed_type(number);
    if (removed != NULL)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_TYPE_REMOVED, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_REMOVED_TYPE, (unsigned long)number,
                        removed);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_TYPE, at,
                    wb__gguf_text(reader), WB__MSG_GGUF_UNKNOWN_TYPE, (unsigned long)number);
}

/* Copies the shape with the outermost dimension first, the order in the rest of the library. */
static void reverse(const tensor_info *info, uint64_t *shape)
{
    for (uint32_t i = 0; i < info->rank; i++)
        shape[i] = info->shape[info->rank - 1 - i];
}

static wb_status measure(wb__gguf_reader *reader, const tensor_info *info, wb__kind *kind)
{
    wb__kind_measure(kind);
    switch (kind->fault) {
    case WB__KIND_SOUND: return WB_OK;
    case WB__KIND_BLOCK:
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_BLOCK, info->shape_at,
                        wb__gguf_text(reader), WB__MSG_GGUF_BLOCK,
                        (unsigned long long)(info->rank == 0 ? 1 : info->shape[0]),
                        kind->dtype->name, (unsigned long)kind->dtype->block_size);
    default: break;
    }
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_OVERFLOW, info->shape_at,
                    wb__gguf_text(reader), WB__MSG_GGUF_TENSOR_BITS, kind->dtype->name);
}

/* ---- the whole tensor ---- */

static wb_status read_offset(wb__gguf_reader *reader, const wb__kind *kind, uint64_t *offset)
{
    uint64_t at = wb__cursor_at(reader->cursor), end;
    wb_status status = wb__gguf_take_u64(reader, "the offset of a tensor", offset);
    if (status != WB_OK)
        return status;
    if (*offset % reader->alignment != 0)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_OFFSET, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_OFFSET, (unsigned long long)*offset,
                        (unsigned long long)reader->alignment);
    reader->irregular |= *offset != reader->expected;
    /* If the end does not fit in 64 bits, the tensor extends beyond the end of the file, which
     * gguf_layout.c reports. */
    if (!wb__add(*offset, kind->bytes, &end) || !wb__align_up(end, reader->alignment, &end)) {
        reader->irregular = true;
        end = 0;
    }
    reader->expected = end;
    return WB_OK;
}

static wb_status read_tensor(wb__gguf_reader *reader)
{
    wb__table *table = &reader->model->table;
    uint32_t where = (uint32_t)wb__cursor_at(reader->cursor);
    uint64_t shape[WB__GGUF_RANK_MAX], offset = 0;
    tensor_info info;
    wb__kind kind = {.shape = shape};
    wb_status status = read_name(reader);
    if (status == WB_OK)
        status = read_shape(reader, &info);
    if (status == WB_OK)
        status = read_type(reader, &kind.dtype);
    if (status != WB_OK)
        return status;
    kind.rank = info.rank;
    reverse(&info, shape);
    status = measure(reader, &info, &kind);
    if (status == WB_OK)
        status = read_offset(reader, &kind, &offset);
    if (status != WB_OK)
        return status;
    uint32_t number;
    if (!wb__table_kind(table, &kind, &number))
        return wb__fail_memory(reader->context);
    wb__table_add(table, wb__gguf_text(reader), number, offset, where);
    return WB_OK;
}

static wb_status repeated(void *ctx, size_t first, size_t second)
{
    wb__gguf_reader *reader = ctx;
    const wb__table *table = &reader->model->table;
    (void)first;
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_DUPLICATE_TENSOR,
                    wb__record_at(table, second)->where, wb__table_name(table, second),
                    WB__MSG_GGUF_TENSOR_TWICE);
}

/*
 * Reserves memory for the declared number of tensors, but not for more tensors than the remaining
 * bytes can hold.
 */
static wb_status reserve(wb__gguf_reader *reader)
{
    uint64_t left = wb__cursor_left(reader->cursor), names;
    uint64_t tensors = left / WB__GGUF_TENSOR_MIN;
    if (tensors > reader->tensors)
        tensors = reader->tensors;
    names = left < tensors * WB__GGUF_NAME_MAX ? left : tensors * WB__GGUF_NAME_MAX;
    return wb__table_reserve(&reader->model->table, reader->context, names + tensors, tensors);
}

wb_status wb__gguf_read_tensors(wb__gguf_reader *reader)
{
    wb__catalog_file *file = reader->file;
    wb_status status = reserve(reader);
    for (uint64_t i = 0; i < reader->tensors && status == WB_OK; i++)
        status = read_tensor(reader);
    if (status != WB_OK)
        return status;
    file->header_end = wb__cursor_at(reader->cursor);
    file->alignment = (uint32_t)reader->alignment;
    reader->cursor->kept[file->header_end] = 0; /* terminates the last item if it is a string */
    return wb__catalog_end_file(reader->model, reader->context, repeated, reader);
}

uint64_t wb__gguf_offset_field(const wb__gguf_reader *reader, size_t tensor)
{
    const wb__table *table = &reader->model->table;
    return (uint64_t)wb__record_at(table, tensor)->where + 8 + wb__table_name(table, tensor).len +
           4 + 8 * (uint64_t)wb__table_kind_of(table, tensor)->rank + 4;
}
