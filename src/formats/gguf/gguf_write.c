/*
 * The GGUF writer. It writes version 3 with the tensors in the given order. Each tensor, including
 * the last one, is padded to the alignment, as in ggml (gguf_write_to_file).
 *
 * The value of the entry general.alignment is wb__out_file.alignment. If the caller passes this
 * entry with another value, the writer replaces the value. If the caller does not pass this entry,
 * the writer adds it, unless the alignment is the default.
 */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

typedef struct gguf_writer {
    wb__context *context;
    wb__out_file *file;
    wb__buffer *out;
    bool swap;
} gguf_writer;

static const char alignment_key[] = "general.alignment";

/* ---- numbers ---- */

static void put_reversed(wb__buffer *out, const uint8_t *bytes, size_t n)
{
    uint8_t *at = wb__buffer_extend(out, n);
    for (size_t i = 0; at != NULL && i < n; i++)
        at[i] = bytes[n - 1 - i];
}

/* Writes a number of n bytes in the byte order of the file. `bytes` are in little-endian order. */
static void put_number(const gguf_writer *writer, const uint8_t *bytes, size_t n)
{
    if (writer->swap)
        put_reversed(writer->out, bytes, n);
    else
        wb__buffer_add(writer->out, bytes, n);
}

static void put_u32(const gguf_writer *writer, uint32_t value)
{
    uint8_t bytes[4];
    wb__store_le32(bytes, value);
    put_number(writer, bytes, sizeof bytes);
}

static void put_u64(const gguf_writer *writer, uint64_t value)
{
    uint8_t bytes[8];
    wb__store_le64(bytes, value);
    put_number(writer, bytes, sizeof bytes);
}

static void put_string(const gguf_writer *writer, wb__str text)
{
    put_u64(writer, text.len);
    wb__buffer_add(writer->out, text.ptr, text.len);
}

/* ---- entries ---- */

/*
 * Writes a value and reverses the byte order of each number in it. The value comes from this
 * library, so it is not checked. `left` is the number of remaining elements of each open array.
 */
static void put_swapped(const gguf_writer *writer, uint32_t tag, const uint8_t *p)
{
    uint64_t left[WB__VALUE_DEPTH + 1] = {1};
    uint32_t tags[WB__VALUE_DEPTH + 1] = {tag};
    size_t depth = 0;
    for (;;) {
        if (left[depth] == 0) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        left[depth]--;
        if (tags[depth] == WB__TAG_STRING) {
            uint64_t n = wb__load_le64(p);
            put_string(writer, (wb__str){(const char *)p + 8, (size_t)n});
            p += 8 + n;
        } else if (tags[depth] == WB__TAG_ARRAY) {
            put_number(writer, p, 4);
            put_number(writer, p + 4, 8);
            depth++;
            tags[depth] = wb__load_le32(p);
            left[depth] = wb__load_le64(p + 4);
            p += 12;
        } else {
            unsigned width = wb__tag_width(tags[depth]);
            put_number(writer, p, width);
            p += width;
        }
    }
}

static void put_entry(const gguf_writer *writer, const wb__out_meta *meta)
{
    put_string(writer, meta->key);
    put_u32(writer, meta->tag);
    if (writer->swap)
        put_swapped(writer, meta->tag, meta->value);
    else
        wb__buffer_add(writer->out, meta->value, meta->bytes);
}

static bool is_alignment(const wb__out_meta *meta)
{
    return wb__str_equal(meta->key, WB__STR("general.alignment"));
}

/* Returns true if readers accept the key. */
static bool is_key(wb__str key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == 0 || (uint8_t)key.ptr[i] >= 0x80)
            return false;
    }
    return key.len != 0 && key.len <= WB__GGUF_KEY_MAX;
}

static wb_status put_entries(const gguf_writer *writer)
{
    const wb__out_file *file = writer->file;
    uint8_t alignment[4];
    wb__store_le32(alignment, (uint32_t)file->alignment);
    const wb__out_meta ours = {.key = {alignment_key, sizeof alignment_key - 1},
                               .tag = WB__TAG_U32,
                               .value = alignment,
                               .bytes = sizeof alignment};
    bool said = file->alignment == WB__GGUF_DEFAULT_ALIGNMENT;
    for (size_t i = 0; i < file->meta_count; i++) {
        const wb__out_meta *meta = file->metas[i];
        if (!is_key(meta->key))
            return wb__fail(writer->context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_META,
                            WB_NO_OFFSET, meta->key, WB__MSG_GGUF_WRITE_KEY, WB__GGUF_KEY_MAX,
                            meta->key.len);
        said = said || is_alignment(meta);
        put_entry(writer, is_alignment(meta) ? &ours : meta);
    }
    if (!said)
        put_entry(writer, &ours);
    return WB_OK;
}

static uint64_t entry_count(const wb__out_file *file)
{
    bool said = file->alignment == WB__GGUF_DEFAULT_ALIGNMENT;
    for (size_t i = 0; i < file->meta_count && !said; i++)
        said = is_alignment(file->metas[i]);
    return file->meta_count + (said ? 0 : 1);
}

/* ---- tensors ---- */

static wb_status check_tensor(wb__context *context, const wb__out_tensor *tensor)
{
    /*
     * The specification permits 64 bytes. The limit is one byte less, because ggml stores the name
     * with a terminating NUL in a buffer of 64 bytes.
     */
    if (tensor->name.len >= WB__GGUF_NAME_MAX ||
        (tensor->name.len != 0 && memchr(tensor->name.ptr, 0, tensor->name.len) != NULL))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_NAME, WB_NO_OFFSET,
                        tensor->name, WB__MSG_GGUF_WRITE_NAME, WB__GGUF_NAME_MAX - 1,
                        tensor->name.len);
    if (tensor->rank > WB__GGUF_RANK_MAX)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_GGUF_RANK, WB_NO_OFFSET,
                        tensor->name, WB__MSG_GGUF_WRITE_RANK, WB__GGUF_RANK_MAX, tensor->rank);
    if (tensor->dtype->id >= WB__GGUF_TYPES)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_DTYPE, WB_NO_OFFSET,
                        tensor->name, WB__MSG_GGUF_WRITE_TYPE, tensor->dtype->name);
    return WB_OK;
}

static void put_tensor(const gguf_writer *writer, const wb__out_tensor *tensor)
{
    put_string(writer, tensor->name);
    put_u32(writer, tensor->rank);
    for (uint32_t i = tensor->rank; i > 0; i--)
        put_u64(writer, tensor->shape[i - 1]);
    put_u32(writer, (uint32_t)tensor->dtype->id);
    put_u64(writer, tensor->begin);
}

static wb_status put_tensors(const gguf_writer *writer)
{
    wb__out_file *file = writer->file;
    uint64_t at = 0;
    for (size_t i = 0; i < file->tensor_count; i++) {
        wb__out_tensor *tensor = file->tensors[i];
        wb_status status = check_tensor(writer->context, tensor);
        if (status != WB_OK)
            return status;
        tensor->begin = at;
        put_tensor(writer, tensor);
        if (!wb__add(at, tensor->bytes, &at) || !wb__align_up(at, file->alignment, &at))
            return wb__fail(writer->context, WB_ERROR_LIMIT, WB__FINDING_GGUF_OVERFLOW,
                            WB_NO_OFFSET, tensor->name, WB__MSG_FORMATS_FILE_TOO_LARGE);
    }
    file->bytes = at;
    return WB_OK;
}

/* ---- the file ---- */

wb_status wb__gguf_write(wb__context *context, wb__out_file *file)
{
    gguf_writer writer = {context, file, &file->header, file->big_endian};
    uint64_t limit = context->limits.gguf_header;
    if (!wb__to_size(limit < UINT32_MAX ? limit : UINT32_MAX, &file->header.ceiling))
        file->header.ceiling = SIZE_MAX;
    if (file->alignment < WB__GGUF_ALIGNMENT_MIN || file->alignment > WB__GGUF_ALIGNMENT_MAX)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_GGUF_ALIGNMENT, WB_NO_OFFSET,
                        WB__STR("general.alignment"), WB__MSG_GGUF_WRITE_ALIGNMENT,
                        (unsigned long long)file->alignment, WB__GGUF_ALIGNMENT_MIN);
    wb__buffer_text(writer.out, "GGUF");
    put_u32(&writer, 3);
    put_u64(&writer, file->tensor_count);
    put_u64(&writer, entry_count(file));
    wb_status status = put_entries(&writer);
    if (status == WB_OK)
        status = put_tensors(&writer);
    if (status == WB_OK)
        status = wb__out_check(context, file);
    if (status != WB_OK)
        return status;
    size_t past = file->header.n % (size_t)file->alignment;
    wb__buffer_fill(writer.out, 0, past == 0 ? 0 : (size_t)file->alignment - past);
    for (size_t i = 0; i < file->tensor_count; i++)
        file->tensors[i]->begin += file->header.n;
    if (!wb__add(file->bytes, file->header.n, &file->bytes))
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_GGUF_OVERFLOW, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_FORMATS_FILE_TOO_LARGE);
    return wb__out_check(context, file);
}
