#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

static const char magic[WB__GGUF_MAGIC_BYTES] = {'G', 'G', 'U', 'F'};
static const char magic_reversed[WB__GGUF_MAGIC_BYTES] = {'F', 'U', 'G', 'G'};

/* No tensors and no metadata: too few bytes to identify the format with certainty. */
static bool is_empty(const wb__head *head)
{
    return head->n >= WB__GGUF_FIXED_BYTES &&
           wb__load_le64(head->bytes + WB__GGUF_FIXED_BYTES - 16) == 0 &&
           wb__load_le64(head->bytes + WB__GGUF_FIXED_BYTES - 8) == 0;
}

static int bid(const wb__head *head)
{
    if (head->n < WB__GGUF_MAGIC_BYTES)
        return 0;
    if (memcmp(head->bytes, magic, sizeof magic) == 0)
        return is_empty(head) ? 10 : 100;
    return memcmp(head->bytes, magic_reversed, sizeof magic) == 0 ? 80 : 0;
}

/* ---- numbers ---- */

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
        reader->file->header = cursor->kept; /* reading more bytes may have moved the header */
        return WB_OK;
    }
    return wb__gguf_fail_end(reader, wb__cursor_at(cursor), what);
}

/* Consumes n bytes. The caller may set the first one to the NUL that ends a preceding string. */
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

/* ---- the fixed part ---- */

static wb_status fail_magic(wb__gguf_reader *reader)
{
    if (wb__cursor_at_hand(reader->cursor) >= sizeof magic &&
        memcmp(reader->cursor->p, magic_reversed, sizeof magic) == 0)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_BYTE_ORDER, 0,
                        WB__STR(""), WB__MSG_GGUF_MAGIC_REVERSED);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_MAGIC, 0, WB__STR(""),
                    WB__MSG_GGUF_MAGIC);
}

static wb_status read_version(wb__gguf_reader *reader)
{
    uint32_t version;
    wb_status status = wb__gguf_take_u32(reader, "the version", &version);
    if (status != WB_OK)
        return status;
    /* Versions are small, so if the lower 16 bits are zero the file is in big-endian byte order. */
    bool big_endian = version != 0 && (version & 0xFFFF) == 0;
    if (big_endian)
        version = wb__swap32(version);
    reader->file->version = version;
    if (version == 1)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_VERSION,
                        WB__GGUF_MAGIC_BYTES, WB__STR(""), WB__MSG_GGUF_VERSION_1);
    if (version != 2 && version != 3)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_VERSION,
                        WB__GGUF_MAGIC_BYTES, WB__STR(""), WB__MSG_GGUF_VERSION_UNKNOWN,
                        (unsigned long)version, big_endian ? WB__MSG_GGUF_READ_BIG_ENDIAN : "");
    reader->file->big_endian = big_endian;
    if (!big_endian)
        return WB_OK;
    return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_BIG_ENDIAN, WB__GGUF_MAGIC_BYTES,
                    WB__STR(""), WB__MSG_GGUF_BIG_ENDIAN);
}

/*
 * Rejects counts that no header within the limit can hold. Smaller wrong counts are detected at the
 * end of the file, because a damaged count and a truncated file are indistinguishable.
 */
static wb_status check_count(wb__gguf_reader *reader, uint64_t at, uint64_t count, uint64_t min,
                             const char *what)
{
    uint64_t most = reader->context->limits.gguf_header / min;
    if (count <= most)
        return WB_OK;
    if (wb__swap64(count) <= reader->file_bytes / min)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_BYTE_ORDER, at,
                        WB__STR(""), WB__MSG_GGUF_MIXED_BYTE_ORDER,
                        reader->file->big_endian ? "most significant" : "least significant", what);
    if (count <= reader->file_bytes / min)
        return wb__gguf_fail_end(reader, at, what);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_COUNT, at, WB__STR(""),
                    WB__MSG_GGUF_COUNT, (unsigned long long)count, what);
}

static wb_status peek(wb__gguf_reader *reader)
{
    wb_status status = wb__gguf_want(reader, sizeof magic, "the magic number");
    if (status != WB_OK)
        return status;
    if (memcmp(reader->cursor->p, magic, sizeof magic) != 0)
        return fail_magic(reader);
    (void)wb__gguf_skip(reader, sizeof magic);
    status = read_version(reader);
    if (status == WB_OK)
        status = wb__gguf_take_u64(reader, "the number of tensors", &reader->tensors);
    if (status == WB_OK)
        status = check_count(reader, 8, reader->tensors, WB__GGUF_TENSOR_MIN, "tensors");
    if (status == WB_OK)
        status = wb__gguf_take_u64(reader, "the number of metadata entries", &reader->entries);
    if (status == WB_OK)
        status = check_count(reader, 16, reader->entries, WB__GGUF_ENTRY_MIN, "metadata entries");
    return status;
}

/* ---- the whole file ---- */

static wb_status note_quantization(wb__gguf_reader *reader)
{
    if (!reader->has_blocks || reader->has_quantization || reader->model->file_count > 1)
        return WB_OK;
    return wb__note(reader->context, WB_INFO, WB__FINDING_GGUF_QUANT_VERSION, WB_NO_OFFSET,
                    WB__STR("general.quantization_version"), WB__MSG_GGUF_NO_QUANT_VERSION);
}

static wb_status read_gguf(wb__context *context, wb__cursor *cursor, wb__catalog *model)
{
    wb__gguf_reader reader = {.context = context,
                              .cursor = cursor,
                              .model = model,
                              .file = wb__catalog_file_in_hand(model),
                              .alignment = WB__GGUF_DEFAULT_ALIGNMENT};
    reader.file_bytes = reader.file->bytes;
    reader.file->header = cursor->kept;
    wb_status status = peek(&reader);
    if (status == WB_OK)
        status = wb__gguf_read_entries(&reader);
    if (status == WB_OK)
        status = wb__gguf_read_tensors(&reader);
    if (status == WB_OK)
        status = wb__gguf_verify_layout(&reader);
    if (status == WB_OK)
        status = note_quantization(&reader);
    return status;
}

const wb__format wb__format_gguf = {
    .name = "gguf",
    .extension = ".gguf",
    .bid = bid,
    .keeps_header = true,
    .read = read_gguf,
    .write = wb__gguf_write,
};
