/* Reads the metadata entries: keys, scalar values, and the keys that affect the reader. */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

/* ---- keys ---- */

/* Returns true for common characters of keys; '-' occurs in architecture names (gpt-oss). */
static bool is_usual(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/*
 * Returns the index of the first byte that is uncommon in keys (if `unusual` is true) or that the
 * specification forbids (if `unusual` is false). Returns text.len if there is no such byte.
 */
static size_t find_byte(wb__str text, bool unusual)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.ptr[i];
        if (unusual ? !is_usual(c) : c == 0 || c >= 0x80)
            return i;
    }
    return text.len;
}

static bool has_empty_part(wb__str key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '.' && (i == 0 || i + 1 == key.len || key.ptr[i + 1] == '.'))
            return true;
    }
    return false;
}

static wb_status check_key(wb__gguf_reader *reader)
{
    wb__context *context = reader->context;
    wb__str key = wb__gguf_text(reader);
    uint64_t at = reader->text_at;
    size_t bad = find_byte(key, false);
    if (bad < key.len)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_GGUF_KEY, at + bad, key,
                        key.ptr[bad] == 0 ? WB__MSG_GGUF_KEY_NUL : WB__MSG_GGUF_KEY_ASCII);
    bad = find_byte(key, true);
    if (bad < key.len)
        return wb__note(context, WB_WARNING, WB__FINDING_GGUF_KEY_STYLE, at + bad, key,
                        WB__MSG_GGUF_KEY_CHARACTER);
    if (has_empty_part(key))
        return wb__note(context, WB_WARNING, WB__FINDING_GGUF_KEY_STYLE, at, key,
                        WB__MSG_GGUF_KEY_EMPTY_PART);
    return WB_OK;
}

static wb_status read_key(wb__gguf_reader *reader)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    size_t len;
    reader->text_len = 0;
    wb_status status = wb__gguf_take_length(reader, "a key", &len);
    if (status != WB_OK)
        return status;
    if (len == 0 || len > WB__GGUF_KEY_MAX)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_KEY, at, WB__STR(""),
                        WB__MSG_GGUF_KEY_LENGTH, len, WB__GGUF_KEY_MAX);
    reader->text_at = wb__gguf_skip(reader, len);
    reader->text_len = len;
    return check_key(reader);
}

/* ---- values ---- */

/*
 * Reports invalid UTF-8 and NUL bytes: many programs require UTF-8, and C programs end a string at
 * its first NUL.
 */
static wb_status check_string(wb__gguf_reader *reader, size_t at, size_t len)
{
    const uint8_t *text = reader->cursor->kept + at;
    size_t valid = wb__utf8_valid_prefix(text, len);
    const uint8_t *nul = memchr(text, 0, len);
    if (valid < len)
        return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_TEXT, at + valid,
                        wb__gguf_text(reader), WB__MSG_GGUF_VALUE_UTF8);
    if (nul != NULL)
        return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_TEXT,
                        at + (size_t)(nul - text), wb__gguf_text(reader), WB__MSG_GGUF_VALUE_NUL);
    return WB_OK;
}

static wb_status read_string(wb__gguf_reader *reader, wb__meta *meta)
{
    size_t len;
    wb_status status = wb__gguf_take_length(reader, "a string", &len);
    if (status != WB_OK)
        return status;
    size_t at = wb__gguf_skip(reader, len);
    meta->value.len = len;
    return check_string(reader, at, len);
}

static wb_status read_number(wb__gguf_reader *reader, unsigned bytes, wb__meta *meta)
{
    wb_status status = wb__gguf_want(reader, bytes, "a value");
    if (status != WB_OK)
        return status;
    size_t at = wb__gguf_skip(reader, bytes);
    if (reader->file->big_endian)
        wb__gguf_swap(reader, at, 1, bytes);
    uint8_t *p = reader->cursor->kept + at;
    bool is_signed = meta->type == WB_META_INT;
    switch (bytes) {
    case 1: meta->value.number = is_signed ? (uint64_t)(int8_t)p[0] : p[0]; break;
    case 2:
        meta->value.number = is_signed ? (uint64_t)(int16_t)wb__load_le16(p) : wb__load_le16(p);
        break;
    case 4:
        meta->value.number = is_signed ? (uint64_t)(int32_t)wb__load_le32(p) : wb__load_le32(p);
        break;
    default: meta->value.number = wb__load_le64(p); break;
    }
    return meta->type == WB_META_BOOL ? wb__gguf_check_bools(reader, at, 1) : WB_OK;
}

/* ---- keys that affect the reader ---- */

static wb_status take_alignment(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    if (meta->type != WB_META_UINT || meta->bits != 32)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_ALIGNMENT, at - 4,
                        wb__gguf_text(reader), WB__MSG_GGUF_ALIGNMENT_TYPE);
    uint64_t value = meta->value.number;
    if (value == 0 || value % 8 != 0 || (value & (value - 1)) != 0)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_ALIGNMENT, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_ALIGNMENT_VALUE,
                        (unsigned long long)value);
    reader->alignment = value;
    return WB_OK;
}

static wb_status take_architecture(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    if (meta->type != WB_META_STRING)
        return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_ARCHITECTURE, at - 4,
                        wb__gguf_text(reader), WB__MSG_GGUF_ARCHITECTURE_TYPE);
    size_t text_at = meta->key.at + meta->key_len + WB__META_GAP_IN_HEADER;
    wb__str text = {(const char *)reader->cursor->kept + text_at, (size_t)meta->value.len};
    size_t odd = find_byte(text, true);
    if (text.len > 0 && odd == text.len)
        return WB_OK;
    char shown[64];
    wb__printable(shown, sizeof shown, text);
    return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_ARCHITECTURE, text_at + odd,
                    wb__gguf_text(reader), WB__MSG_GGUF_ARCHITECTURE_NAME, shown);
}

static wb_status take_quantization(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    (void)meta;
    (void)at;
    reader->has_quantization = true;
    return WB_OK;
}

static wb_status take_split(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at,
                            uint64_t *value, uint32_t *value_at)
{
    bool is_number = meta->type == WB_META_UINT ||
                     (meta->type == WB_META_INT && (int64_t)meta->value.number >= 0);
    if (!is_number)
        return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_SPLIT, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_SPLIT_VALUE);
    *value = meta->value.number;
    *value_at = (uint32_t)at;
    return WB_OK;
}

static wb_status take_split_number(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    wb__split *split = &reader->file->split;
    return take_split(reader, meta, at, &split->number, &split->number_at);
}

static wb_status take_split_count(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    wb__split *split = &reader->file->split;
    return take_split(reader, meta, at, &split->count, &split->count_at);
}

static wb_status take_split_tensors(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at)
{
    wb__split *split = &reader->file->split;
    return take_split(reader, meta, at, &split->tensors, &split->tensors_at);
}

/* Keys that affect the reader. `at` is the offset of the value. If `of_file` is set, the value may
 * differ between the shards of a model. */
static const struct meaning {
    wb__str key;
    wb_status (*take)(wb__gguf_reader *reader, const wb__meta *meta, uint64_t at);
    bool of_file;
} meanings[] = {
    {{"general.alignment", 17}, take_alignment, true},
    {{"general.architecture", 20}, take_architecture, false},
    {{"general.quantization_version", 28}, take_quantization, false},
    {{"split.no", 8}, take_split_number, true},
    {{"split.count", 11}, take_split_count, true},
    {{"split.tensors.count", 19}, take_split_tensors, true},
};

static const struct meaning *meaning_of(wb__str key)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (wb__str_equal(meanings[i].key, key))
            return &meanings[i];
    }
    return NULL;
}

/* ---- entries ---- */

static wb_status read_value(wb__gguf_reader *reader, wb__meta *meta, uint64_t *value_at)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    uint32_t number;
    wb_status status = wb__gguf_take_u32(reader, "the type of a value", &number);
    if (status != WB_OK)
        return status;
    const wb__gguf_type *type = wb__gguf_type_of(number);
    if (type == NULL)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_VALUE_TYPE, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_VALUE_TYPE, (unsigned long)number);
    *value_at = at + 4;
    meta->type = (uint8_t)type->type;
    meta->bits = (uint8_t)(type->bytes * 8);
    if (type->type == WB_META_STRING)
        return read_string(reader, meta);
    if (type->type == WB_META_ARRAY)
        return wb__gguf_read_array(reader, &meta->value.array);
    return read_number(reader, type->bytes, meta);
}

static wb_status read_entry(wb__gguf_reader *reader)
{
    uint64_t at = wb__cursor_at(reader->cursor), value_at = 0;
    wb_status status = read_key(reader);
    if (status != WB_OK)
        return status;
    wb__meta meta = {
        .key.at = reader->text_at, .key_len = (uint32_t)reader->text_len, .in_header = true};
    status = read_value(reader, &meta, &value_at);
    if (status != WB_OK)
        return status;
    const struct meaning *meaning = meaning_of(wb__gguf_text(reader));
    bool of_file = meaning != NULL && meaning->of_file, repeated;
    status = wb__catalog_add_meta(reader->model, reader->context, &meta, of_file, &repeated);
    if (status == WB_OK && repeated)
        status = wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_DUPLICATE_KEY, at,
                          wb__gguf_text(reader), WB__MSG_GGUF_KEY_TWICE);
    if (status == WB_OK && meaning != NULL)
        status = meaning->take(reader, &meta, value_at);
    return status;
}

wb_status wb__gguf_read_entries(wb__gguf_reader *reader)
{
    for (uint64_t i = 0; i < reader->entries; i++) {
        wb_status status = read_entry(reader);
        if (status != WB_OK)
            return status;
    }
    reader->text_len = 0;
    return WB_OK;
}
