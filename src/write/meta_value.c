/*
 * Encodes metadata values of the caller and of models. formats/output_layout.h defines the
 * encoding.
 */
#include "write/write.h"
#include "write/write_messages.h"

static void put_u32(wb__buffer *out, uint32_t value)
{
    uint8_t *at = wb__buffer_extend(out, 4);
    if (at != NULL)
        wb__store_le32(at, value);
}

static void put_u64(wb__buffer *out, uint64_t value)
{
    uint8_t *at = wb__buffer_extend(out, 8);
    if (at != NULL)
        wb__store_le64(at, value);
}

static void put_number(wb__buffer *out, uint64_t value, unsigned width)
{
    uint8_t bytes[8];
    wb__store_le64(bytes, value);
    wb__buffer_add(out, bytes, width);
}

static void put_string(wb__buffer *out, wb__str text)
{
    put_u64(out, text.len);
    wb__buffer_add(out, text.ptr, text.len);
}

/* Maps a value type and its width in bits to a tag. Types that are not numbers have 0 bits.
 * Callers may pass 0 bits for a 64-bit number, see tag_of. */
static const struct tag_row {
    uint8_t type, bits, tag;
} tags[] = {
    {WB_META_UINT, 8, WB__TAG_U8},     {WB_META_UINT, 16, WB__TAG_U16},
    {WB_META_UINT, 32, WB__TAG_U32},   {WB_META_UINT, 64, WB__TAG_U64},
    {WB_META_INT, 8, WB__TAG_I8},      {WB_META_INT, 16, WB__TAG_I16},
    {WB_META_INT, 32, WB__TAG_I32},    {WB_META_INT, 64, WB__TAG_I64},
    {WB_META_FLOAT, 32, WB__TAG_F32},  {WB_META_FLOAT, 64, WB__TAG_F64},
    {WB_META_BOOL, 0, WB__TAG_BOOL},   {WB_META_STRING, 0, WB__TAG_STRING},
    {WB_META_ARRAY, 0, WB__TAG_ARRAY},
};

/* Returns the tag of a type, or WB__TAG_COUNT if no tag exists. For a number, 0 bits means 64
 * bits. */
static uint32_t tag_of(unsigned type, unsigned bits)
{
    bool number = type == WB_META_UINT || type == WB_META_INT || type == WB_META_FLOAT;
    unsigned wanted = !number ? 0 : bits == 0 ? 64 : bits;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (tags[i].type == type && tags[i].bits == wanted)
            return tags[i].tag;
    }
    return WB__TAG_COUNT;
}

static wb_status fail_value(wb__context *context, wb__str key, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_META, WB_NO_OFFSET, key, "%s",
                    what);
}

/* ---- values of the caller ---- */

/* Returns false if the number does not fit into `width` bytes. */
static bool fits(const wb_value *value, unsigned width)
{
    unsigned bits = 8 * width;
    if (bits == 0 || bits >= 64 || value->type == WB_META_FLOAT)
        return true;
    if (value->type == WB_META_BOOL)
        return value->number <= 1;
    if (value->type == WB_META_UINT)
        return value->number >> bits == 0;
    /* The sign bit and all bits above it. All these bits must be equal. */
    uint64_t above = value->number >> (bits - 1);
    return above == 0 || above == UINT64_MAX >> (bits - 1);
}

static uint64_t bits_of(const wb_value *value, uint32_t tag)
{
    uint64_t wide;
    uint32_t narrow;
    float single = (float)value->real;
    memcpy(&wide, &value->real, sizeof wide);
    memcpy(&narrow, &single, sizeof narrow);
    return tag == WB__TAG_F64 ? wide : tag == WB__TAG_F32 ? narrow : value->number;
}

/* Appends `count` numbers of `width` bytes, converted from host byte order to little-endian. */
static void put_items(wb__buffer *out, const uint8_t *items, uint64_t count, unsigned width)
{
    size_t n = (size_t)count * width;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint8_t *at = wb__buffer_extend(out, n);
    for (size_t i = 0; at != NULL && i < n; i++)
        at[i] = items[i / width * width + (width - 1 - i % width)];
#else
    wb__buffer_add(out, items, n);
#endif
}

static wb_status put_value(wb__context *context, wb__buffer *out, wb__str key,
                           const wb_value *value, unsigned depth, uint32_t *tag);

static wb_status put_array(wb__context *context, wb__buffer *out, wb__str key,
                           const wb_value *value, unsigned depth)
{
    uint32_t element = tag_of(value->element, value->bits);
    unsigned width = wb__tag_width(element);
    wb_status status = WB_OK;
    if (element == WB__TAG_COUNT || (value->count != 0 && value->items == NULL))
        return fail_value(context, key, WB__MSG_WRITE_ARRAY_EMPTY);
    if (depth >= WB__VALUE_DEPTH)
        return fail_value(context, key, WB__MSG_WRITE_ARRAY_DEEP);
    if (value->count > SIZE_MAX / sizeof(wb_value))
        return fail_value(context, key, WB__MSG_WRITE_ARRAY_LARGE);
    put_u32(out, element);
    put_u64(out, value->count);
    if (width != 0)
        put_items(out, value->items, value->count, width);
    for (size_t i = 0; width == 0 && i < value->count && status == WB_OK; i++) {
        if (element == WB__TAG_STRING) {
            const char *const *texts = value->items;
            put_string(out,
                       wb__str_from(texts[i], value->lens == NULL ? SIZE_MAX : value->lens[i]));
        } else {
            const wb_value *first = value->items;
            const wb_value *inner_value = WB__ELEMENT(wb_value, first, i);
            uint32_t inner = WB__TAG_COUNT;
            if (inner_value->size != first->size)
                return fail_value(context, key, WB__MSG_WRITE_ARRAY_ELEMENT_SIZE);
            status = put_value(context, out, key, inner_value, depth + 1, &inner);
            if (status == WB_OK && inner != WB__TAG_ARRAY)
                status = fail_value(context, key, WB__MSG_WRITE_ARRAY_ELEMENT);
        }
    }
    return status;
}

static wb_status put_value(wb__context *context, wb__buffer *out, wb__str key,
                           const wb_value *caller, unsigned depth, uint32_t *tag)
{
    wb_value own = {.size = sizeof own};
    const wb_value *value = &own;
    if (caller == NULL)
        return fail_value(context, key, WB__MSG_WRITE_VALUE_NULL);
    if (!WB__TAKE(wb_value, caller, &own))
        return WB__FAIL_SIZE(context, wb_value, caller);
    bool is_array = value->type == WB_META_ARRAY;
    *tag = tag_of(value->type, is_array ? 0 : value->bits);
    if (*tag == WB__TAG_COUNT)
        return fail_value(context, key, WB__MSG_WRITE_VALUE_TYPE);
    if (is_array)
        return put_array(context, out, key, value, depth);
    if (*tag == WB__TAG_STRING) {
        put_string(out, wb__str_from(value->text, value->text_len));
        return WB_OK;
    }
    if (!fits(value, wb__tag_width(*tag)))
        return fail_value(context, key, WB__MSG_WRITE_VALUE_RANGE);
    put_number(out, bits_of(value, *tag), wb__tag_width(*tag));
    return WB_OK;
}

wb_status wb__value_put(wb__context *context, wb__buffer *out, wb__str key, const wb_value *value,
                        uint32_t *tag)
{
    wb_status status = put_value(context, out, key, value, 0, tag);
    return status == WB_OK && wb__buffer_failed(out) ? wb__fail_memory(context) : status;
}

/* ---- values of a model ---- */

static void put_strings(wb__buffer *out, const wb__array *array, const uint8_t *base)
{
    wb__str text = {NULL, 0};
    for (uint64_t i = 0; i < array->count && !wb__buffer_failed(out); i++) {
        text = i == 0 ? wb__array_string(array, base, 0) : wb__array_next_string(text);
        put_string(out, text);
    }
}

/* Returns the array that follows `array` in a pre-order traversal of the nested array `root`, or
 * NULL after the last array. */
static const wb__array *next_array(const wb__array *array, const wb__array *root, unsigned *depth)
{
    if (array->element == WB_META_ARRAY && array->count != 0) {
        ++*depth;
        return array->of.elements;
    }
    while (array != root) {
        const wb__array *first = array->parent->of.elements;
        if ((uint64_t)(array - first) + 1 < array->parent->count)
            return array + 1;
        array = array->parent;
        --*depth;
    }
    return NULL;
}

static wb_status put_meta_array(wb__context *context, wb__buffer *out, wb__str key,
                                const wb__array *root, const uint8_t *base)
{
    unsigned depth = 0;
    for (const wb__array *array = root; array != NULL; array = next_array(array, root, &depth)) {
        uint32_t element = tag_of(array->element, array->bits);
        if (depth >= WB__VALUE_DEPTH)
            return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_META, WB_NO_OFFSET,
                            key, WB__MSG_WRITE_ARRAY_DEPTH, WB__VALUE_DEPTH);
        put_u32(out, element);
        put_u64(out, array->count);
        if (wb__tag_width(element) != 0)
            wb__buffer_add(out, base + array->at, (size_t)array->count * wb__tag_width(element));
        else if (element == WB__TAG_STRING)
            put_strings(out, array, base);
    }
    return WB_OK;
}

wb_status wb__value_put_meta(wb__context *context, wb__buffer *out, const wb__catalog *model,
                             const wb__meta *meta, uint32_t *tag)
{
    wb_status status = WB_OK;
    *tag = tag_of(meta->type, meta->bits);
    if (*tag == WB__TAG_STRING)
        put_string(out, wb__meta_text(model, meta));
    else if (*tag == WB__TAG_ARRAY)
        status = put_meta_array(context, out, wb__meta_key(model, meta), meta->value.array,
                                wb__meta_base(model, meta));
    else
        put_number(out, meta->value.number, wb__tag_width(*tag));
    return status == WB_OK && wb__buffer_failed(out) ? wb__fail_memory(context) : status;
}
