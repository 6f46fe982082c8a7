#include "formats/formats_messages.h"
#include "formats/safetensors/safetensors_reader.h"

static int bid(const wb__head *head)
{
    if (head->n <= WB__ST_LENGTH_BYTES)
        return 0;
    uint64_t header = wb__load_le64(head->bytes);
    if (head->bytes[WB__ST_LENGTH_BYTES] != '{' || header < 2)
        return 0;
    /*
     * If the header ends within the file, the file is very likely safetensors. A longer header may
     * belong to a truncated file, which the reader then reports. A length of 1 TiB or more belongs
     * to another file type.
     */
    if (wb__in_range(WB__ST_LENGTH_BYTES, header, head->file_bytes))
        return 90;
    return header >> 40 == 0 ? 50 : 0;
}

/*
 * Checks rules 1 to 3 in docs/format/safetensors.md: the header length against the limit, then
 * against the length of the file.
 */
static wb_status peek(wb__context *context, wb__cursor *cursor)
{
    const wb__str none = WB__STR("");
    uint64_t file_bytes = cursor->limit;
    if (file_bytes < WB__ST_LENGTH_BYTES)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_HEADER_TOO_SMALL, file_bytes, none,
                        WB__MSG_ST_NO_LENGTH, (unsigned long long)file_bytes);
    uint64_t header = wb__cursor_le64(cursor);
    if (cursor->failed)
        return context->error->status;
    uint64_t limit = context->limits.safetensors_header;
    if (limit > WB__ST_HEADER_MAX)
        limit = WB__ST_HEADER_MAX;
    if (header > limit)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ST_HEADER_TOO_LARGE, 0, none,
                        WB__MSG_ST_HEADER_LIMIT, (unsigned long long)header,
                        (unsigned long long)limit);
    if (!wb__in_range(WB__ST_LENGTH_BYTES, header, file_bytes))
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_HEADER_LENGTH, 0, none,
                        WB__MSG_ST_HEADER_PAST_END, (unsigned long long)header,
                        (unsigned long long)(header - (file_bytes - WB__ST_LENGTH_BYTES)));
    wb__cursor_set_limit(cursor, WB__ST_LENGTH_BYTES + header);
    return WB_OK;
}

static wb_status repeated(void *ctx, size_t first, size_t second)
{
    wb__st_reader *reader = ctx;
    wb__table *table = reader->table;
    wb__str name = wb__table_name(table, second);
    (void)first;
    return wb__deviation(reader->context, WB__FINDING_ST_DUPLICATE,
                         WB__ST_LENGTH_BYTES + wb__record_at(table, second)->where, name,
                         WB__MSG_ST_TENSOR_TWICE);
}

/*
 * The official library stores tensors in a hash map by name, so entries replaced by a repeated name
 * are removed before the offsets are checked.
 */
static wb_status end_file(wb__st_reader *reader)
{
    size_t before = reader->table->count;
    wb_status status = wb__catalog_end_file(reader->model, reader->context, repeated, reader);
    reader->irregular |= reader->table->count != before;
    return status;
}

static wb_status read_with(wb__st_reader *reader)
{
    wb__context *context = reader->context;
    wb__catalog_file *file = wb__catalog_file_in_hand(reader->model);
    uint64_t header = reader->cursor->limit - WB__ST_LENGTH_BYTES;
    file->header_begin = WB__ST_LENGTH_BYTES;
    file->data_begin = WB__ST_LENGTH_BYTES + header;
    wb_status status =
        wb__table_reserve(reader->table, context, header + 1, header / WB__ST_ENTRY_MIN + 1);
    if (status == WB_OK)
        status = wb__st_decode(reader);
    if (status == WB_OK)
        status = end_file(reader);
    if (status == WB_OK)
        status = wb__st_verify_layout(reader);
    return status;
}

wb_status wb__st_read(wb__context *context, wb__cursor *cursor, wb__catalog *model,
                      wb__st_fast *fast, const wb__st_division *division)
{
    wb_status status = peek(context, cursor);
    if (status != WB_OK)
        return status;
    wb__st_reader reader;
    memset(&reader, 0, offsetof(wb__st_reader, frames));
    reader.context = context;
    reader.cursor = cursor;
    reader.model = model;
    reader.table = &model->table;
    reader.fast = fast;
    reader.division = *division;
    reader.kinds_max = SIZE_MAX;
    wb__st_forget_frames(&reader);
    wb__key_set_start(&reader.fields, &context->allocator);
    status = read_with(&reader);
    wb__key_set_stop(&reader.fields);
    wb__free(&context->allocator, reader.shape, reader.shape_capacity * sizeof *reader.shape);
    return status;
}

static wb_status read_safetensors(wb__context *context, wb__cursor *cursor, wb__catalog *model)
{
    return wb__st_read(context, cursor, model, wb__st_fast_for(wb__cpu_features()),
                       &wb__st_usual_division);
}

const wb__format wb__format_safetensors = {
    .name = "safetensors",
    .extension = ".safetensors",
    .bid = bid,
    .read = read_safetensors,
    .write = wb__st_write,
};
