/*
 * weighbridge/metadata.h: metadata of a model: key-value pairs, arrays, and what sidecar files add.
 */
#ifndef WEIGHBRIDGE_METADATA_H
#define WEIGHBRIDGE_METADATA_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a metadata value. */
typedef enum wb_meta_type {
    WB_META_ANY = 0, /* in queries: elements of any type */
    WB_META_STRING = 1,
    WB_META_INT = 2,  /* signed integer */
    WB_META_UINT = 3, /* unsigned integer */
    WB_META_FLOAT = 4,
    WB_META_BOOL = 5,
    WB_META_ARRAY = 6
} wb_meta_type;

typedef struct wb_meta {
    size_t size;     /* sizeof(wb_meta) */
    const char *key; /* borrowed until wb_close */
    size_t key_len;
    wb_meta_type type;
    uint32_t file;        /* index of its file for wb_file_at, or WB_NO_FILE */
    wb_meta_type element; /* ARRAY: type of the elements; ANY for all others */
    uint32_t bits;        /* bits of the number, or of each number of the array; 0 for others */
    uint64_t count;       /* ARRAY: elements; STRING: bytes; 1 for all others */
} wb_meta;
#define WB_META_INIT WB_INIT(wb_meta)

/*
 * An array in the metadata. The pointers are borrowed until wb_close. The struct may be copied, and
 * any number of threads may use it.
 */
typedef struct wb_meta_array {
    size_t size;          /* sizeof(wb_meta_array) */
    wb_meta_type element; /* type of the elements, also if the array is empty */
    uint32_t bits;        /* bits of each number; 0 for strings and arrays */
    uint64_t count;       /* number of elements */
    /*
     * numbers and booleans (one byte each, 0 or 1) as stored: little-endian, unaligned, without
     * gaps; NULL for strings and arrays
     */
    const void *data;
    const void *array; /* internal */
    const void *base;  /* internal */
} wb_meta_array;
#define WB_META_ARRAY_INIT WB_INIT(wb_meta_array)

/* wb_meta.file of an entry that is derived from sidecar files or other entries. */
#define WB_NO_FILE UINT32_MAX

/*
 * All formats have the same view of metadata. The first entries are those of the weight files:
 * key-values of GGUF and strings of __metadata__. They are followed by derived entries, unless a
 * key-value has the same key:
 *   - scalars and simple arrays of config.json, generation_config.json and tokenizer_config.json
 *     under their names, nested ones as "rope_scaling.factor"
 *   - the keys of GGUF that llama.cpp's converter derives from these files: "llama.block_count",
 *     chat templates, "tokenizer.ggml.tokens" from tokenizer.json, tokenizer.model or vocab.txt
 *   - for GGUF, the names of config.json, such as "num_hidden_layers"
 *
 * The first call that needs derived entries computes them once, for example a lookup of a key that
 * no weight file has. They never change afterwards. wb_verify reports errors in the sidecar files.
 * docs/format/metadata.md lists the keys, and the keys that cannot be derived.
 */

/*
 * Returns the number of entries; a key in several files of a model counts once. If memory is out,
 * derived entries are not counted; wb_meta_find then fails with MEMORY.
 */
WB_API uint64_t wb_meta_count(const wb_model *model);

/*
 * Describes the entry `index` < wb_meta_count. Entries of files are in the order of the files.
 * NOT_FOUND for other numbers. Thread-safe.
 */
WB_API wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *meta,
                            wb_error *error) WB_MUST_CHECK;

/* Stores the index of the entry with this key, or returns WB_ERROR_NOT_FOUND. Constant time. */
WB_API wb_status wb_meta_find(const wb_model *model, const char *key, size_t key_len,
                              uint64_t *index) WB_MUST_CHECK;

/*
 * Returns the value of an entry. NOT_FOUND if the key does not exist; TYPE if the value has another
 * type, or is a number that the requested type cannot represent: values are never rounded,
 * truncated or converted. Constant time, thread-safe.
 *
 * string  borrowed until wb_close; in GGUF it may contain any bytes, including NUL
 * int     INT, and UINT up to 2^63 - 1
 * uint    UINT, and INT from 0 on
 * float   FLOAT, and integers of up to 53 bits
 * bool    BOOL: 0 or 1
 */
WB_API wb_status wb_meta_get_string(const wb_model *model, const char *key, size_t key_len,
                                    const char **value, size_t *value_len,
                                    wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_int(const wb_model *model, const char *key, size_t key_len,
                                 int64_t *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_uint(const wb_model *model, const char *key, size_t key_len,
                                  uint64_t *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_float(const wb_model *model, const char *key, size_t key_len,
                                   double *value, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_meta_get_bool(const wb_model *model, const char *key, size_t key_len,
                                  int *value, wb_error *error) WB_MUST_CHECK;

/*
 * Return the value of an entry, or `fallback` if the getter above fails: the key does not exist,
 * the value has another type or does not fit, or memory is out. Constant time, thread-safe.
 *
 * string  NUL-terminated and borrowed until wb_close; `fallback` may be NULL. For strings that may
 *         contain NUL use wb_meta_get_string
 * bool    0 or 1, or `fallback` unchanged
 */
WB_API const char *wb_meta_get_string_or(const wb_model *model, const char *key, size_t key_len,
                                         const char *fallback);
WB_API int64_t wb_meta_get_int_or(const wb_model *model, const char *key, size_t key_len,
                                  int64_t fallback);
WB_API uint64_t wb_meta_get_uint_or(const wb_model *model, const char *key, size_t key_len,
                                    uint64_t fallback);
WB_API double wb_meta_get_float_or(const wb_model *model, const char *key, size_t key_len,
                                   double fallback);
WB_API int wb_meta_get_bool_or(const wb_model *model, const char *key, size_t key_len,
                               int fallback);

/*
 * Describes the array under `key`. Constant time, thread-safe.
 *
 * element  the type that the elements must have, WB_META_ANY for all types. WB_META_INT and
 *          WB_META_UINT both accept signed and unsigned integers. An array without elements has the
 *          element type that its file declares
 * array    its size is set by the caller
 *
 * NOT_FOUND if there is no such key; TYPE if the value is not an array or its elements
 * have another type; ARGUMENT if `element` is not a wb_meta_type.
 */
WB_API wb_status wb_meta_get_array(const wb_model *model, const char *key, size_t key_len,
                                   wb_meta_type element, wb_meta_array *array,
                                   wb_error *error) WB_MUST_CHECK;

/* Former names of wb_meta_get_array for one type of elements each. */
WB_MUST_CHECK static inline wb_status wb_meta_get_string_array(const wb_model *model,
                                                               const char *key, size_t key_len,
                                                               wb_meta_array *array,
                                                               wb_error *error)
{
    return wb_meta_get_array(model, key, key_len, WB_META_STRING, array, error);
}

WB_MUST_CHECK static inline wb_status wb_meta_get_int_array(const wb_model *model, const char *key,
                                                            size_t key_len, wb_meta_array *array,
                                                            wb_error *error)
{
    return wb_meta_get_array(model, key, key_len, WB_META_INT, array, error);
}

WB_MUST_CHECK static inline wb_status wb_meta_get_float_array(const wb_model *model,
                                                              const char *key, size_t key_len,
                                                              wb_meta_array *array, wb_error *error)
{
    return wb_meta_get_array(model, key, key_len, WB_META_FLOAT, array, error);
}

/*
 * Returns string `index` of an array of strings, borrowed until wb_close. Walks from one string to
 * the next; wb_meta_strings is faster for many strings. ARGUMENT if the elements are not strings,
 * NOT_FOUND past the end. Thread-safe.
 */
WB_API wb_status wb_meta_string_at(const wb_meta_array *array, uint64_t index, const char **value,
                                   size_t *value_len) WB_MUST_CHECK;

/*
 * Copies elements `first` to first + count - 1 of an array to arrays of `count` elements. ARGUMENT
 * if the elements have another type, NOT_FOUND if the array is shorter, TYPE if a number does not
 * fit; the result is then undefined. Thread-safe.
 *
 * strings  pointers, borrowed until wb_close, and lengths in bytes; either may be NULL
 * ints     of INT, UINT and BOOL
 * uints    of INT, UINT and BOOL
 * floats   of FLOAT
 */
WB_API wb_status wb_meta_strings(const wb_meta_array *array, uint64_t first, uint64_t count,
                                 const char **values, size_t *lens) WB_MUST_CHECK;
WB_API wb_status wb_meta_ints(const wb_meta_array *array, uint64_t first, uint64_t count,
                              int64_t *values) WB_MUST_CHECK;
WB_API wb_status wb_meta_uints(const wb_meta_array *array, uint64_t first, uint64_t count,
                               uint64_t *values) WB_MUST_CHECK;
WB_API wb_status wb_meta_floats(const wb_meta_array *array, uint64_t first, uint64_t count,
                                double *values) WB_MUST_CHECK;

/*
 * Describes array `index` of an array of arrays. The caller sets the size of `element`. ARGUMENT if
 * the elements are not arrays, NOT_FOUND past the end. Thread-safe.
 */
WB_API wb_status wb_meta_array_at(const wb_meta_array *array, uint64_t index,
                                  wb_meta_array *element) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
