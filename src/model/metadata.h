/*
 * model/metadata.h: the metadata of a model as typed entries, independent of the format.
 *
 * Entries are small because a hostile header can contain one entry per nine bytes. Strings and
 * arrays are stored either in the retained header of their file, as offsets (the header may move
 * until its file is completely read), or in the arena of the catalog.
 *
 * The reader of each format converts data in a header to this layout:
 *   string   its bytes, then a NUL that its length does not count
 *   numbers  little-endian, without gaps; booleans are one byte each
 *   strings of an array
 *            Before each string there are 8 bytes: 256 times the length of the string, as a
 *            little-endian number. The first of them is thus 0 and terminates the previous string.
 *            Every WB__STRING_STEP-th string has a mark, which is its offset.
 */
#ifndef WB_MODEL_METADATA_H
#define WB_MODEL_METADATA_H

#include "core/core.h"

typedef struct wb__catalog wb__catalog;

#define WB__STRING_STEP 16
#define WB__STRING_HEAD 8 /* length field before each string of an array, in bytes */

typedef struct wb__array wb__array;

struct wb__array {
    uint64_t count;
    union {
        /* for an array of strings: offsets of every WB__STRING_STEP-th string */
        uint32_t *marks;
        wb__array *elements; /* for an array of arrays */
    } of;
    wb__array *parent; /* enclosing array; NULL if none */
    uint32_t at;       /* for numbers and strings: offset of the first element in the header */
    uint8_t element;   /* element type (wb_meta_type), never 0 */
    uint8_t bits;      /* bits per number */
};

/* A metadata entry of 32 bytes. A string value follows its key in memory: see wb__meta_text. */
typedef struct wb__meta {
    union {
        const char *ptr;
        size_t at; /* offset in the header, if in_header */
    } key;
    union {
        uint64_t number; /* INT (sign-extended), UINT, FLOAT (bit pattern) or BOOL */
        uint64_t len;    /* STRING: length in bytes */
        wb__array *array;
    } value;
    uint32_t key_len;
    uint32_t hash; /* hash of the key */
    uint32_t file;
    uint8_t type; /* type of the value (wb_meta_type) */
    uint8_t bits; /* bits of a number */
    bool in_header;
    uint8_t seen; /* mark of the last file that contained the key: see seen_mark */
} wb__meta;

wb__str wb__meta_key(const wb__catalog *model, const wb__meta *meta);

/* Number of bytes between a key and its string value: a NUL, or in a GGUF header the type and the
 * length. */
#define WB__META_GAP 1
#define WB__META_GAP_IN_HEADER 12

/* Returns the value of an entry of type STRING. */
wb__str wb__meta_text(const wb__catalog *model, const wb__meta *meta);

/* Returns the offset of the key in its file, or WB_NO_OFFSET if unknown. */
static inline uint64_t wb__meta_where(const wb__meta *meta)
{
    return meta->in_header ? meta->key.at : WB_NO_OFFSET;
}

/* Returns the base address for the offsets in an entry's arrays. */
const uint8_t *wb__meta_base(const wb__catalog *model, const wb__meta *meta);

/*
 * Adds an entry for the current file and sets its `file` and `hash`. Sets *repeated if this file
 * already had the key; then the later value is used. If an earlier file has the key, the earlier
 * value is used, and a different value is reported as info, unless `of_file` is set (the value
 * describes one file, not the model).
 */
wb_status wb__catalog_add_meta(wb__catalog *model, wb__context *context, const wb__meta *entry,
                               bool of_file, bool *repeated);

/* Adds a string entry. Copies key and value. */
wb_status wb__catalog_add_string(wb__catalog *model, wb__context *context, wb__str key,
                                 wb__str value, bool *repeated);

#define WB__NO_META UINT32_MAX

/* Returns the index of the entry with the key, or WB__NO_META. */
uint32_t wb__catalog_find_entry(const wb__catalog *model, wb__str key);

/* Returns the entry with the key, or NULL. */
const wb__meta *wb__catalog_find_meta(const wb__catalog *model, wb__str key);

/* Returns string i of an array of strings; requires i < count. */
wb__str wb__array_string(const wb__array *array, const uint8_t *base, uint64_t i);

/* Returns the string that follows `string` in the same array. */
static inline wb__str wb__array_next_string(wb__str string)
{
    const char *head = string.ptr + string.len;
    return (wb__str){head + WB__STRING_HEAD, (size_t)(wb__load_le64(head) >> 8)};
}

#endif
