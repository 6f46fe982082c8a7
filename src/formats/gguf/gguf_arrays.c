/*
 * Reads arrays in the metadata. Arrays of numbers are not copied: they stay in the header bytes.
 * Arrays of strings are read by gguf_strings.c. Arrays of arrays become a tree of wb__array.
 *
 * Before memory is allocated for an element count, the count is checked: the remaining bytes must
 * be able to hold all elements of this array and of its enclosing arrays (reader->owed). A tree
 * thus uses at most sizeof(wb__array) per WB__GGUF_ARRAY_MIN bytes of the file, for any nesting.
 */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"

static const wb__gguf_type types[] = {
    {WB_META_UINT, 1},   {WB_META_INT, 1},   {WB_META_UINT, 2},  {WB_META_INT, 2},
    {WB_META_UINT, 4},   {WB_META_INT, 4},   {WB_META_FLOAT, 4}, {WB_META_BOOL, 1},
    {WB_META_STRING, 0}, {WB_META_ARRAY, 0}, {WB_META_UINT, 8},  {WB_META_INT, 8},
    {WB_META_FLOAT, 8},
};

const wb__gguf_type *wb__gguf_type_of(uint32_t number)
{
    return number < sizeof types / sizeof types[0] ? &types[number] : NULL;
}

void wb__gguf_swap(wb__gguf_reader *reader, size_t at, uint64_t count, unsigned bytes)
{
    uint8_t *p = reader->cursor->kept + at;
    for (uint64_t i = 0; i < count; i++, p += bytes) {
        switch (bytes) {
        case 2: wb__store_le16(p, wb__swap16(wb__load_le16(p))); break;
        case 4: wb__store_le32(p, wb__swap32(wb__load_le32(p))); break;
        case 8: wb__store_le64(p, wb__swap64(wb__load_le64(p))); break;
        default: return;
        }
    }
}

wb_status wb__gguf_check_bools(wb__gguf_reader *reader, size_t at, size_t n)
{
    const uint8_t *bytes = reader->cursor->kept + at;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] > 1)
            return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_BOOL, at + i,
                            wb__gguf_text(reader), WB__MSG_GGUF_BOOL, bytes[i]);
    }
    return WB_OK;
}

/* ---- numbers ---- */

static wb_status read_numbers(wb__gguf_reader *reader, wb__array *array)
{
    unsigned bytes = array->bits / 8u;
    /* no overflow: read_head checked that the numbers fit in the rest of the header */
    size_t size = (size_t)array->count * bytes;
    wb_status status = wb__gguf_want(reader, size, "an array");
    if (status != WB_OK)
        return status;
    size_t at = wb__gguf_skip(reader, size);
    array->at = (uint32_t)at;
    if (reader->file->big_endian)
        wb__gguf_swap(reader, at, array->count, bytes);
    return array->element == WB_META_BOOL ? wb__gguf_check_bools(reader, at, size) : WB_OK;
}

/* ---- arrays of arrays ---- */

static wb_status fail_count(wb__gguf_reader *reader, uint64_t at, uint64_t count)
{
    if (reader->cursor->limit < reader->file_bytes)
        return wb__gguf_fail_end(reader, at, "an array");
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_LENGTH, at,
                    wb__gguf_text(reader), WB__MSG_GGUF_ARRAY_PAST_END, (unsigned long long)count,
                    (unsigned long long)wb__cursor_left(reader->cursor));
}

/* Reads the element type and the number of elements of an array. */
static wb_status read_head(wb__gguf_reader *reader, wb__array *array)
{
    uint64_t at = wb__cursor_at(reader->cursor), owed, all;
    uint32_t number;
    wb_status status = wb__gguf_take_u32(reader, "the type of an array", &number);
    if (status != WB_OK)
        return status;
    const wb__gguf_type *type = wb__gguf_type_of(number);
    if (type == NULL)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_VALUE_TYPE, at,
                        wb__gguf_text(reader), WB__MSG_GGUF_ELEMENT_TYPE, (unsigned long)number);
    status = wb__gguf_take_u64(reader, "the length of an array", &array->count);
    if (status != WB_OK)
        return status;
    array->element = (uint8_t)type->type;
    array->bits = (uint8_t)(type->bytes * 8);
    uint64_t min = type->bytes > 0                ? type->bytes
                   : type->type == WB_META_STRING ? WB__GGUF_STRING_MIN
                                                  : WB__GGUF_ARRAY_MIN;
    if (!wb__mul(array->count, min, &owed) || !wb__add(owed, reader->owed, &all) ||
        all > wb__cursor_left(reader->cursor))
        return fail_count(reader, at + 4, array->count);
    if (type->type == WB_META_ARRAY)
        reader->owed = all;
    return WB_OK;
}

/* Allocates the elements of an array of arrays. */
static wb_status open_array(wb__gguf_reader *reader, wb__array *array)
{
    size_t bytes;
    if (!wb__to_size(array->count, &bytes) || bytes > SIZE_MAX / sizeof *array)
        return wb__fail_memory(reader->context);
    array->of.elements = wb__arena_alloc(&reader->model->arena, bytes * sizeof *array);
    return array->of.elements != NULL ? WB_OK : wb__fail_memory(reader->context);
}

/* Returns the array that follows the completed `array` in the file, or NULL if there is none. */
static wb__array *after(wb__array *array)
{
    for (wb__array *parent = array->parent; parent != NULL;
         array = parent, parent = parent->parent) {
        if (array + 1 < parent->of.elements + parent->count) {
            array[1].parent = parent;
            return array + 1;
        }
    }
    return NULL;
}

/*
 * Reads the start of an array, or the whole array if its elements are not arrays. *next is the
 * array to read next.
 */
static wb_status read_one(wb__gguf_reader *reader, wb__array *array, wb__array **next)
{
    if (array->parent != NULL)
        reader->owed -= WB__GGUF_ARRAY_MIN;
    wb_status status = read_head(reader, array);
    if (status != WB_OK)
        return status;
    if (array->element == WB_META_ARRAY && array->count > 0) {
        status = open_array(reader, array);
        *next = array->of.elements;
        if (status == WB_OK)
            array->of.elements->parent = array;
        return status;
    }
    if (array->element == WB_META_STRING)
        status = wb__gguf_read_strings(reader, array);
    else if (array->element != WB_META_ARRAY)
        status = read_numbers(reader, array);
    *next = after(array);
    return status;
}

wb_status wb__gguf_read_array(wb__gguf_reader *reader, wb__array **array)
{
    uint64_t at = wb__cursor_at(reader->cursor);
    wb__array *next = wb__arena_alloc(&reader->model->arena, sizeof *next);
    *array = next;
    if (next == NULL)
        return wb__fail_memory(reader->context);
    next->parent = NULL;
    while (next != NULL) {
        wb_status status = read_one(reader, next, &next);
        if (status != WB_OK)
            return status;
    }
    if ((*array)->element != WB_META_ARRAY)
        return WB_OK;
    return wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_NESTED, at, wb__gguf_text(reader),
                    WB__MSG_GGUF_NESTED_ARRAY);
}
