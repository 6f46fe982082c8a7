#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

static const char magic[WB__GGUF_MAGIC_BYTES] = {'G', 'G', 'U', 'F'};
static const char magic_reversed[WB__GGUF_MAGIC_BYTES] = {'F', 'U', 'G', 'G'};

/*
 * Returns true if the header has no tensors and no entries. Such a header is too short to identify
 * the format with certainty.
 */
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
 * Rejects a count if a header of the maximum size cannot hold that many items. A wrong count below
 * this limit is reported later as a truncated file, because the two cannot be distinguished.
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
