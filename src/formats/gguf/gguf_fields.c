/*
 * Reads single fields of a GGUF header and reports where the file ends too early.
 */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

wb_status wb__gguf_fail_end(wb__gguf_reader *reader, uint64_t at, const char *what)
{
    const wb__cursor *cursor = reader->cursor;
    if (cursor->failed)
        return reader->context->error->status; /* the read error was already reported */
    if (cursor->limit < reader->file_bytes)
        return wb__fail(reader->context, WB_ERROR_LIMIT, WB__FINDING_GGUF_HEADER_LIMIT, at,
                        WB__STR(""), WB__MSG_GGUF_HEADER_LIMIT, (unsigned long long)cursor->limit);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_TRUNCATED, at, WB__STR(""),
                    WB__MSG_GGUF_TRUNCATED, (unsigned long long)reader->file_bytes, what);
}

wb_status wb__gguf_want(wb__gguf_reader *reader, uint64_t n, const char *what)
{
    wb__cursor *cursor = reader->cursor;
    size_t size;
    if (wb__to_size(n, &size) && wb__cursor_want(cursor, size)) {
        /* reading more bytes may have moved the header to another address */
        reader->file->header = cursor->kept;
        return WB_OK;
    }
    return wb__gguf_fail_end(reader, wb__cursor_at(cursor), what);
}

/* Consumes n bytes and returns a pointer to them, so that the caller can overwrite the first one by
 * the NUL that ends a preceding string. */
static uint8_t *consume(wb__gguf_reader *reader, size_t n)
{
    return reader->cursor->kept + wb__gguf_skip(reader, n);
}

wb_status wb__gguf_take_u32(wb__gguf_reader *reader, const char *what, uint32_t *value)
{
    wb_status status = wb__gguf_want(reader, 4, what);
    *value = 0;
    if (status != WB_OK)
        return status;
    uint8_t *bytes = consume(reader, 4);
    uint32_t v = wb__load_le32(bytes);
    *value = reader->file->big_endian ? wb__swap32(v) : v;
    bytes[0] = 0;
    return WB_OK;
}

wb_status wb__gguf_take_u64(wb__gguf_reader *reader, const char *what, uint64_t *value)
{
    wb_status status = wb__gguf_want(reader, 8, what);
    *value = 0;
    if (status != WB_OK)
        return status;
    uint8_t *bytes = consume(reader, 8);
    uint64_t v = wb__load_le64(bytes);
    *value = reader->file->big_endian ? wb__swap64(v) : v;
    bytes[0] = 0;
    return WB_OK;
}

wb_status wb__gguf_take_length(wb__gguf_reader *reader, const char *what, size_t *len)
{
    uint64_t at = wb__cursor_at(reader->cursor), n;
    *len = 0;
    wb_status status = wb__gguf_take_u64(reader, what, &n);
    if (status != WB_OK)
        return status;
    uint64_t left = wb__cursor_left(reader->cursor);
    if (n > left) {
        if (reader->cursor->limit < reader->file_bytes)
            return wb__gguf_fail_end(reader, at, what);
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_LENGTH, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_LENGTH_PAST_END, what,
                        (unsigned long long)n, (unsigned long long)left);
    }
    *len = (size_t)n;
    return wb__gguf_want(reader, n, what);
}
