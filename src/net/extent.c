#include "net/extent.h"

/*
 * offset  size  GGUF, little-endian (docs/format/gguf.md)
 * 0       4     "GGUF"
 * 4       4     version
 * 8       8     number of tensors
 * 16      8     number of keys
 * 24            keys: length (8), bytes, type (4), value
 *               an array is type of the elements (4), number (8), elements
 *               tensors: length (8), name, number of dimensions (4), dimensions (8 each), type (4),
 *               offset (8)
 */
typedef enum phase {
    PHASE_VERSION = 0,
    PHASE_TENSORS,
    PHASE_KEYS,
    PHASE_KEY_LENGTH,
    PHASE_TYPE,
    PHASE_STRING_LENGTH,
    PHASE_ELEMENT_TYPE,
    PHASE_ELEMENTS,
    PHASE_NAME_LENGTH,
    PHASE_DIMENSIONS,
    PHASE_END,
    PHASE_LOST
} phase;

#define TYPE_STRING 8u
#define TYPE_ARRAY 9u
#define ITEM_MAX 8u
#define SAFETENSORS_MAX UINT64_C(100000000)
#define GGUF_MAX ((uint64_t)1 << 30)
#define COUNT_MAX ((uint64_t)1 << 28)

/* Number of bytes that the prediction assumes for the entry of a tensor: 32 to 56 bytes for the
 * fields, the rest for the name. */
#define ENTRY_BYTES 72u
/* The prediction assumes that the remaining strings of an array are longer, on average, than the
 * strings seen so far. This is the factor. */
#define LATER_NUMERATOR 9u
#define LATER_DENOMINATOR 8u

/* Sizes of the types of values in bytes; 0 for string and array. */
static const uint8_t type_bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Returns the number of bytes of the item that is read in the current phase. */
static size_t item_size(const wb__extent *e)
{
    switch (e->phase) {
    case PHASE_VERSION:
    case PHASE_TYPE:
    case PHASE_ELEMENT_TYPE:
    case PHASE_DIMENSIONS: return 4;
    default: return 8;
    }
}

static void next_key(wb__extent *e)
{
    if (e->keys > 0)
        e->phase = PHASE_KEY_LENGTH;
    else
        e->phase = e->tensors > 0 ? PHASE_NAME_LENGTH : PHASE_END;
}

static void lose(wb__extent *e)
{
    e->phase = PHASE_LOST;
}

/* Skips n bytes: the next item begins after them. */
static void skip(wb__extent *e, uint64_t n)
{
    if (n > GGUF_MAX || !wb__add(e->at, n, &e->at) || e->at > GGUF_MAX)
        lose(e);
}

static void take_value_type(wb__extent *e, uint32_t type)
{
    if (type == TYPE_STRING) {
        e->elements = 1;
        e->array_elements = 0;
        e->phase = PHASE_STRING_LENGTH;
    } else if (type == TYPE_ARRAY) {
        e->phase = PHASE_ELEMENT_TYPE;
    } else if (type < sizeof type_bytes) {
        e->keys--;
        next_key(e);
        skip(e, type_bytes[type]);
    } else {
        lose(e);
    }
}

static void take_elements(wb__extent *e, uint64_t count)
{
    if (e->type == TYPE_STRING && count > 0 && count <= COUNT_MAX) {
        e->elements = e->array_elements = count;
        e->array_at = e->at;
        if (e->tokens == 0 && count >= 1000)
            e->tokens = count;
        else if (count >= 1000)
            e->has_merges = true;
        e->phase = PHASE_STRING_LENGTH;
        return;
    }
    bool fixed = e->type < sizeof type_bytes && type_bytes[e->type] > 0;
    if (count > 0 && !fixed) { /* an array of arrays, which no writer makes */
        lose(e);
        return;
    }
    e->keys--;
    next_key(e);
    if (count > 0)
        skip(e, count > GGUF_MAX ? GGUF_MAX + 1 : count * type_bytes[e->type]);
}

static void take_string(wb__extent *e, uint64_t length)
{
    if (--e->elements == 0) {
        e->keys--;
        next_key(e);
    }
    skip(e, length);
}

static void take_item(wb__extent *e, uint64_t value)
{
    switch (e->phase) {
    case PHASE_VERSION:
        e->phase = PHASE_TENSORS;
        /* The length cannot be predicted for version 1, which has lengths of 4 bytes, and for other
         * numbers, which are versions of big-endian files. */
        if (value < 2 || value > 3)
            lose(e);
        break;
    case PHASE_TENSORS:
        e->tensors = value;
        e->phase = PHASE_KEYS;
        break;
    case PHASE_KEYS:
        e->keys = value;
        if (e->keys > COUNT_MAX || e->tensors > COUNT_MAX)
            lose(e);
        else
            next_key(e);
        break;
    case PHASE_KEY_LENGTH:
        e->phase = PHASE_TYPE;
        skip(e, value);
        break;
    case PHASE_TYPE: take_value_type(e, (uint32_t)value); break;
    case PHASE_STRING_LENGTH: take_string(e, value); break;
    case PHASE_ELEMENT_TYPE:
        e->type = (uint32_t)value;
        e->phase = PHASE_ELEMENTS;
        break;
    case PHASE_ELEMENTS: take_elements(e, value); break;
    case PHASE_NAME_LENGTH:
        e->phase = PHASE_DIMENSIONS;
        skip(e, value);
        break;
    case PHASE_DIMENSIONS:
        e->tensors--;
        e->phase = e->tensors > 0 ? PHASE_NAME_LENGTH : PHASE_END;
        skip(e, value > 64 ? GGUF_MAX + 1 : value * 8 + 4 + 8);
        break;
    default: break;
    }
}

/* Reads items as long as their bytes are there. */
static void feed_gguf(wb__extent *e, const uint8_t *bytes, size_t n)
{
    uint64_t begin = e->fed, end = begin + n;
    while (e->phase < PHASE_END && e->at + e->item_bytes < end) {
        size_t size = item_size(e);
        size_t from = (size_t)(e->at + e->item_bytes - begin);
        size_t take = size - e->item_bytes < n - from ? size - e->item_bytes : n - from;
        memcpy(e->item + e->item_bytes, bytes + from, take);
        e->item_bytes += take;
        if (e->item_bytes < size)
            return;
        uint64_t value = size == 4 ? wb__load_le32(e->item) : wb__load_le64(e->item);
        e->item_bytes = 0;
        e->at += size;
        take_item(e, value);
    }
}

/* Returns the predicted end of the header, from the bytes read so far; 0: no prediction. */
static uint64_t predict_gguf(const wb__extent *e)
{
    uint64_t end = e->at, average = 0, seen = e->array_elements - e->elements;
    bool in_array = e->phase == PHASE_STRING_LENGTH && e->array_elements > 0;
    if (e->phase == PHASE_LOST)
        return 0;
    if (in_array && seen > 0)
        average = (e->at - e->array_at) / seen;
    if (in_array)
        end += e->elements * (average < 8 ? 12 : average) / LATER_DENOMINATOR * LATER_NUMERATOR;
    /* After the tokens come their types, 4 bytes each. Merges of byte pair encoding may follow;
     * they are not predicted. */
    if (in_array && !e->has_merges && e->array_elements == e->tokens)
        end += e->tokens * 4;
    return e->phase == PHASE_END ? end : end + e->tensors * ENTRY_BYTES;
}

/* ---- the kinds of files ---- */

static void feed_first(wb__extent *e, const uint8_t *bytes, size_t n)
{
    uint64_t length = n >= 8 ? wb__load_le64(bytes) : 0;
    if (n >= 4 && memcmp(bytes, "GGUF", 4) == 0) {
        e->kind = WB__EXTENT_GGUF;
        e->at = 4;
    } else if (n > 8 && bytes[8] == '{' && length <= SAFETENSORS_MAX) {
        e->kind = WB__EXTENT_SAFETENSORS;
        e->end = 8 + length;
    } else {
        e->kind = WB__EXTENT_OTHER;
    }
}

void wb__extent_feed(wb__extent *e, const uint8_t *bytes, size_t n)
{
    if (e->kind == WB__EXTENT_UNKNOWN)
        feed_first(e, bytes, n);
    if (e->kind == WB__EXTENT_GGUF)
        feed_gguf(e, bytes, n);
    e->fed += n;
    if (e->kind == WB__EXTENT_GGUF)
        e->end = predict_gguf(e);
}
