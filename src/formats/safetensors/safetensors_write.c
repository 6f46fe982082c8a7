/*
 * Writes a header byte for byte as the official library does (safetensors 0.8.0, serialize):
 * tensors sorted by dtype (in the reverse order of the library's enum), then by name; JSON without
 * spaces; fields in the order "dtype", "shape", "data_offsets"; padded with spaces to a multiple of
 * eight bytes or of the requested alignment.
 *
 * The format permits no gaps. If tensors must be aligned, the space between them is filled by U8
 * padding tensors named "__padding__.N".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/formats_messages.h"
#include "formats/safetensors/safetensors_reader.h"
#include "model/padding_tensor.h"
#include "weighbridge/dtypes.h"

/* Writes a string with the escapes of serde_json; bytes above 0x7E are written unchanged. */
static void put_string(wb__buffer *out, wb__str text)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_form[] = "btn\0fr"; /* short escapes of the characters 8 to 13 */
    size_t plain = 0;
    wb__buffer_text(out, "\"");
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        char escape[6] = {'\\', 'u', '0', '0', 0, 0};
        size_t n = 0;
        if (c == '"' || c == '\\') {
            escape[1] = (char)c;
            n = 2;
        } else if (c >= 8 && c <= 13 && short_form[c - 8] != '\0') {
            escape[1] = short_form[c - 8];
            n = 2;
        } else if (c < 0x20) {
            escape[4] = hex[c >> 4];
            escape[5] = hex[c & 15];
            n = 6;
        }
        if (n != 0) {
            wb__buffer_add(out, text.ptr + plain, i - plain);
            wb__buffer_add(out, escape, n);
            plain = i + 1;
        }
    }
    wb__buffer_add(out, text.ptr + plain, text.len - plain);
    wb__buffer_text(out, "\"");
}

static wb_status check_text(wb__context *context, wb__str text, const char *what)
{
    if (wb__utf8_valid_prefix((const unsigned char *)text.ptr, text.len) != text.len)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_TEXT, WB_NO_OFFSET, text,
                        WB__MSG_ST_WRITE_UTF8, what);
    return WB_OK;
}

static wb_status put_metadata(wb__context *context, wb__out_file *file)
{
    wb__buffer *out = &file->header;
    for (size_t i = 0; i < file->meta_count; i++) {
        const wb__out_meta *meta = file->metas[i];
        wb__str value = {(const char *)meta->value + 8, meta->bytes - 8};
        if (meta->tag != WB__TAG_STRING)
            return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_META, WB_NO_OFFSET,
                            meta->key, WB__MSG_ST_WRITE_META);
        wb_status status = check_text(context, meta->key, "this key");
        if (status == WB_OK)
            status = check_text(context, value, "the value under this key");
        if (status != WB_OK)
            return status;
        wb__buffer_text(out, i == 0 ? "\"__metadata__\":{" : ",");
        put_string(out, meta->key);
        wb__buffer_text(out, ":");
        put_string(out, value);
    }
    if (file->meta_count != 0)
        wb__buffer_text(out, "}");
    return WB_OK;
}

static void put_tensor(wb__buffer *out, const wb__out_tensor *tensor, bool first)
{
    if (!first)
        wb__buffer_text(out, ",");
    put_string(out, tensor->name);
    wb__buffer_text(out, ":{\"dtype\":\"");
    wb__buffer_text(out, tensor->dtype->name);
    wb__buffer_text(out, "\",\"shape\":[");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (i != 0)
            wb__buffer_text(out, ",");
        wb__buffer_uint(out, tensor->shape[i]);
    }
    wb__buffer_text(out, "],\"data_offsets\":[");
    wb__buffer_uint(out, tensor->begin);
    wb__buffer_text(out, ",");
    wb__buffer_uint(out, tensor->begin + tensor->bytes);
    wb__buffer_text(out, "]}");
}

static int compare_names(const void *left, const void *right)
{
    const wb__out_tensor *a = *(wb__out_tensor *const *)left;
    const wb__out_tensor *b = *(wb__out_tensor *const *)right;
    return wb__str_compare(a->name, b->name);
}

static int compare(const void *left, const void *right)
{
    const wb__out_tensor *a = *(wb__out_tensor *const *)left;
    const wb__out_tensor *b = *(wb__out_tensor *const *)right;
    int rank_a = wb__st_dtype_rank(a->dtype->id);
    int rank_b = wb__st_dtype_rank(b->dtype->id);
    if (rank_a != rank_b)
        return rank_a > rank_b ? -1 : 1;
    return compare_names(left, right);
}

static wb_status check_tensor(wb__context *context, const wb__out_tensor *tensor)
{
    if (wb__st_dtype_rank(tensor->dtype->id) < 0)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_ST_DTYPE, WB_NO_OFFSET,
                        tensor->name, WB__MSG_ST_WRITE_DTYPE, tensor->dtype->name);
    if (wb__str_equal(tensor->name, WB__STR("__metadata__")))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_NAME, WB_NO_OFFSET,
                        tensor->name, WB__MSG_ST_WRITE_NAME);
    return check_text(context, tensor->name, "this name");
}

/* Creates a padding tensor; NULL if out of memory. */
static wb__out_tensor *make_filler(wb__out_file *file, uint64_t bytes)
{
    char name[40];
    wb__out_tensor *filler = wb__arena_alloc(file->arena, sizeof *filler + sizeof(uint64_t));
    if (filler == NULL)
        return NULL;
    size_t len = (size_t)snprintf(name, sizeof name, WB__FILLER "%" PRIu64, file->filler++);
    uint64_t *shape = (uint64_t *)(filler + 1);
    *shape = bytes;
    *filler = (wb__out_tensor){.name = {wb__arena_copy(file->arena, name, len), len},
                               .dtype = wb__dtype_get(WB_DTYPE_U8),
                               .rank = 1,
                               .shape = shape,
                               .bytes = bytes};
    return filler->name.ptr == NULL ? NULL : filler;
}

/* Assigns offsets relative to the data section, and writes the entry of each tensor. */
static wb_status put_tensors(wb__context *context, wb__out_file *file)
{
    uint64_t at = 0;
    bool first = file->meta_count == 0;
    for (size_t i = 0; i < file->tensor_count; i++) {
        wb__out_tensor *tensor = file->tensors[i];
        uint64_t begin = at;
        if (file->align_tensors && tensor->bytes != 0 && !wb__align_up(at, file->alignment, &begin))
            begin = UINT64_MAX;
        if (begin != at) {
            wb__out_tensor *filler = make_filler(file, begin - at);
            if (filler == NULL)
                return wb__fail_memory(context);
            filler->begin = at;
            put_tensor(&file->header, filler, first);
            first = false;
        }
        tensor->begin = begin;
        if (!wb__add(begin, tensor->bytes, &at))
            return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ST_OVERFLOW, WB_NO_OFFSET,
                            tensor->name, WB__MSG_FORMATS_FILE_TOO_LARGE);
        put_tensor(&file->header, tensor, first);
        first = false;
    }
    file->bytes = at;
    return WB_OK;
}

/*
 * Writes the layout of Ollama's writer, which marshals a Go map: entries including "__metadata__"
 * sorted by name, data in the given order.
 */
static wb_status put_go(wb__context *context, wb__out_file *file)
{
    size_t count = file->tensor_count;
    wb__out_tensor **sorted = wb__arena_alloc(file->arena, (count + 1) * sizeof(*sorted));
    uint64_t at = 0;
    bool first = true;
    bool put_meta = file->meta_count == 0;
    wb_status status = WB_OK;
    if (sorted == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = file->tensors[i];
        sorted[i]->begin = at;
        if (!wb__add(at, sorted[i]->bytes, &at))
            return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ST_OVERFLOW, WB_NO_OFFSET,
                            sorted[i]->name, WB__MSG_FORMATS_FILE_TOO_LARGE);
    }
    if (count != 0)
        qsort(sorted, count, sizeof(*sorted), compare_names);
    for (size_t i = 0; i <= count && status == WB_OK; i++) {
        bool is_behind = i == count || (sorted[i]->name.len != 0 && sorted[i]->name.ptr[0] > '_');
        if (!put_meta && is_behind) {
            if (!first)
                wb__buffer_text(&file->header, ",");
            status = put_metadata(context, file);
            put_meta = true;
            first = false;
        }
        if (i < count)
            put_tensor(&file->header, sorted[i], first);
        first = false;
    }
    file->bytes = at;
    return status;
}

wb_status wb__st_write(wb__context *context, wb__out_file *file)
{
    wb__buffer *out = &file->header;
    uint64_t limit = context->limits.safetensors_header;
    const uint64_t most = SIZE_MAX / 2 < WB__ST_HEADER_MAX ? SIZE_MAX / 2 : WB__ST_HEADER_MAX;
    out->ceiling = (size_t)(limit < most ? limit : most) + WB__ST_LENGTH_BYTES;
    wb_status status = WB_OK;
    for (size_t i = 0; i < file->tensor_count && status == WB_OK; i++)
        status = check_tensor(context, file->tensors[i]);
    if (status != WB_OK)
        return status;
    if (file->tensor_count != 0 && !file->go_layout && !file->keeps_order)
        qsort(file->tensors, file->tensor_count, sizeof *file->tensors, compare);
    wb__buffer_fill(out, 0, WB__ST_LENGTH_BYTES);
    wb__buffer_text(out, "{");
    if (file->go_layout) {
        status = put_go(context, file);
    } else {
        status = put_metadata(context, file);
        if (status == WB_OK)
            status = put_tensors(context, file);
    }
    wb__buffer_text(out, "}");
    if (status == WB_OK)
        status = wb__out_check(context, file);
    if (status != WB_OK)
        return status;
    uint64_t data_begin = 0;
    size_t padded;
    if (!wb__align_up(out->n, file->alignment, &data_begin) || !wb__to_size(data_begin, &padded))
        padded = SIZE_MAX; /* exceeds any ceiling */
    wb__buffer_fill(out, ' ', padded - out->n);
    for (size_t i = 0; i < file->tensor_count; i++)
        file->tensors[i]->begin += data_begin;
    if (!wb__add(file->bytes, data_begin, &file->bytes))
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ST_OVERFLOW, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_FORMATS_FILE_TOO_LARGE);
    if (!wb__buffer_failed(out))
        wb__store_le64(out->bytes, data_begin - WB__ST_LENGTH_BYTES);
    return wb__out_check(context, file);
}
