/*
 * model/metadata.h: the metadata of a model, one typed view whatever the format.
 *
 * An entry is small, since a hostile header can hold one every nine bytes. Texts and arrays either
 * lie where the header of their file was read to, and are known by their offset in it (the header
 * may move until its file is read), or in the arena of the model.
 *
 * What lies in a header has one form, which the reader of the format brings it into:
 *   text     followed by a NUL that is not counted
 *   numbers  little-endian, without gaps; booleans a byte each
 *   strings  of an array: for each 8 bytes with its length times 256, then its text. The lowest of
 * the 8 bytes, 0, ends the text before. Every WB__STRING_STEP-th string has a mark, its offset
 */
#ifndef WB_MODEL_META_H
#define WB_MODEL_META_H

#include "core/core.h"

typedef struct wb__catalog wb__catalog;

#define WB__STRING_STEP 16
#define WB__STRING_HEAD 8 /* bytes before the text */

typedef struct wb__array wb__array;

struct wb__array {
    uint64_t count;
    union {
        uint32_t *marks;     /* of strings */
        wb__array *elements; /* of arrays */
    } of;
    wb__array *parent; /* NULL: not within another array */
    uint32_t at;       /* of the first element in the header; of numbers and strings */
    uint8_t element;   /* wb_meta_type, never 0 */
    uint8_t bits;      /* of a number */
};

/* 32 bytes. A string stands behind its key: see wb__meta_text. */
typedef struct wb__meta {
    union {
        const char *ptr;
        size_t at; /* in the header */
    } key;
    union {
        uint64_t number; /* INT with its sign, UINT, FLOAT as its bits, BOOL */
        uint64_t len;    /* STRING: bytes */
        wb__array *array;
    } value;
    uint32_t key_len;
    uint32_t hash; /* of the key */
    uint32_t file;
    uint8_t type; /* wb_meta_type */
    uint8_t bits; /* of a number */
    bool in_header;
    uint8_t seen; /* changes with each file that has the key */
} wb__meta;

wb__str wb__meta_key(const wb__catalog *model, const wb__meta *meta);

/* Bytes between a key and its string: a NUL, or in a header the type and the length. */
#define WB__META_GAP 1
#define WB__META_GAP_IN_HEADER 12

/* The string, of an entry of that type. */
wb__str wb__meta_text(const wb__catalog *model, const wb__meta *meta);

/* Offset of the key in its file, WB_NO_OFFSET where that is not known. */
static inline uint64_t wb__meta_where(const wb__meta *meta)
{
    return meta->in_header ? meta->key.at : WB_NO_OFFSET;
}

/* What the offsets in an entry's arrays count from. */
const uint8_t *wb__meta_base(const wb__catalog *model, const wb__meta *meta);

/*
 * Adds an entry for the file in hand; `file` and `hash` are filled in here. *repeated tells whether
 * this file had the key already, and then the later value is kept. Where an earlier file has it,
 * that one's is kept, and a value that differs is an info, unless it is `of_file`: not of the whole
 * model.
 */
wb_status wb__catalog_add_meta(wb__catalog *model, wb__context *context, const wb__meta *entry,
                               bool of_file, bool *repeated);

/* The same for a string; key and value are copied. */
wb_status wb__catalog_add_string(wb__catalog *model, wb__context *context, wb__str key,
                                 wb__str value, bool *repeated);

#define WB__NO_META UINT32_MAX

/* The number of the entry under `key`, or WB__NO_META. */
uint32_t wb__catalog_find_entry(const wb__catalog *model, wb__str key);

/* The entry under `key`, or NULL. */
const wb__meta *wb__catalog_find_meta(const wb__catalog *model, wb__str key);

/* String i < count of an array of strings. */
wb__str wb__array_string(const wb__array *array, const uint8_t *base, uint64_t i);

/* The string after one of the same array. */
static inline wb__str wb__array_next_string(wb__str string)
{
    const char *head = string.ptr + string.len;
    return (wb__str){head + WB__STRING_HEAD, (size_t)(wb__load_le64(head) >> 8)};
}

#endif
