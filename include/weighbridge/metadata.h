/*
 * weighbridge/metadata.h: the metadata of a model: key-value pairs and arrays, from the weight
 * files and from sidecar files.
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
    uint32_t file;        /* index of the file for wb_file_at, or WB_NO_FILE */
    wb_meta_type element; /* ARRAY: type of the elements; other types: WB_META_ANY */
    uint32_t bits;  /* size in bits of the number, or of each number of the array; 0: no numbers */
    uint64_t count; /* ARRAY: number of elements; STRING: number of bytes; other types: 1 */
} wb_meta;
#define WB_META_INIT WB_INIT(wb_meta)

/*
 * An array in the metadata. The pointers are borrowed until wb_close. The struct may be copied, and
 * any number of threads may use it.
 */
typedef struct wb_meta_array {
    size_t size;          /* sizeof(wb_meta_array) */
    wb_meta_type element; /* type of the elements, even if the array is empty */
    uint32_t bits;        /* size of each number, in bits; 0 for strings and arrays */
    uint64_t count;       /* number of elements */
    /*
     * the elements, if they are numbers or booleans (one byte each, 0 or 1): little-endian,
     * unaligned, without gaps; NULL for strings and arrays
     */
    const void *data;
    const void *array; /* internal */
    const void *base;  /* internal */
} wb_meta_array;
#define WB_META_ARRAY_INIT WB_INIT(wb_meta_array)

/* The value of wb_meta.file for an entry that is derived from sidecar files or other entries. */
#define WB_NO_FILE UINT32_MAX

/*
 * A model of any format has the same kinds of entries. The first entries are those of the weight
 * files: key-values of GGUF, and strings in __metadata__ of safetensors. Derived entries follow,
 * except those whose key a weight file already has:
 *   - scalars and simple arrays of config.json, generation_config.json and tokenizer_config.json
 *     under their JSON names; nested values have keys such as "rope_scaling.factor"
 *   - the GGUF keys that llama.cpp's converter derives from a Hugging Face directory:
 *     "llama.block_count", chat templates, and "tokenizer.ggml.tokens" from tokenizer.json,
 *     tokenizer.model or vocab.txt
 *   - for a GGUF model, entries with the names of config.json, such as "num_hidden_layers"
 *
 * The first call that needs derived entries computes all of them, for example a lookup of a key
 * that no weight file has. They never change afterwards. wb_verify reports errors in the sidecar
 * files. docs/format/metadata.md lists the keys, and the keys that cannot be derived.
 */

/*
 * Returns the number of entries. If several files of the model have the same key, it is counted
 * once. If there is not enough memory for derived entries, they are not counted, and wb_meta_find
 * fails with MEMORY.
 */
WB_API uint64_t wb_meta_count(const wb_model *model);

/*
 * Describes the entry `index`; NOT_FOUND if it is not below wb_meta_count. Entries of weight files
 * are in the order of the files. Thread-safe.
 */
WB_API wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *meta,
                            wb_error *error) WB_MUST_CHECK;

/* Looks up the index of the entry with this key. NOT_FOUND if there is none. Constant time. */
WB_API wb_status wb_meta_find(const wb_model *model, const char *key, size_t key_len,
                              uint64_t *index) WB_MUST_CHECK;

/*
 * Return the value of the entry with this key. NOT_FOUND if the key does not exist; TYPE if the
 * function does not accept the type or the value of the entry. No value is rounded, truncated or
 * converted in another way. Constant time, thread-safe. Each function accepts:
 *
 * wb_meta_get_string  STRING; borrowed until wb_close. A string of a GGUF file may contain any
 *                     bytes, including NUL
 * wb_meta_get_int     INT, and UINT up to 2^63 - 1
 * wb_meta_get_uint    UINT, and INT that is not negative
 * wb_meta_get_float   FLOAT, and integers from -2^53 to 2^53
 * wb_meta_get_bool    BOOL; the value is 0 or 1
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
 * Return the value of the entry with this key, or `fallback` if the function without _or (see
 * above) would fail: the key does not exist, the function does not accept the value, or no memory
 * is left. Constant time, thread-safe.
 *
 * wb_meta_get_string_or returns a string that ends with NUL and is borrowed until wb_close. For
 * strings that may contain NUL use wb_meta_get_string. `fallback` may be NULL.
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
 * Describes the array with the key `key`. Constant time, thread-safe.
 *
 * element  the type that the elements must have; WB_META_ANY for any type. WB_META_INT and
 *          WB_META_UINT both accept signed and unsigned integers. An array without elements has the
 *          element type that its file declares
 * array    filled in; the caller sets array->size
 *
 * NOT_FOUND if the key does not exist; TYPE if the value is not an array or its elements have
 * another type; ARGUMENT if `element` is not a wb_meta_type.
 */
WB_API wb_status wb_meta_get_array(const wb_model *model, const char *key, size_t key_len,
                                   wb_meta_type element, wb_meta_array *array,
                                   wb_error *error) WB_MUST_CHECK;

/* Older functions, each for one type of elements. Use wb_meta_get_array instead. */
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
 * Returns string `index` of an array of strings, borrowed until wb_close. ARGUMENT if the elements
 * are not strings, NOT_FOUND if `index` is past the end. The time grows with `index`, so use
 * wb_meta_strings for many strings. Thread-safe.
 */
WB_API wb_status wb_meta_string_at(const wb_meta_array *array, uint64_t index, const char **value,
                                   size_t *value_len) WB_MUST_CHECK;

/*
 * Copy the elements `first` to first + count - 1 of an array to an array of the caller with `count`
 * elements. ARGUMENT if the function does not accept the type of the elements; NOT_FOUND if the
 * array is shorter; TYPE if the result type cannot represent a number, and the result is then
 * undefined. Thread-safe. Each function accepts:
 *
 * wb_meta_strings  STRING. The pointers are borrowed until wb_close; the lengths are in bytes.
 *                  `values` or `lens` may be NULL
 * wb_meta_ints     INT, UINT and BOOL
 * wb_meta_uints    INT, UINT and BOOL
 * wb_meta_floats   FLOAT
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
 * Describes array `index` of an array of arrays. The caller sets element->size. ARGUMENT if the
 * elements are not arrays, NOT_FOUND if `index` is past the end. Thread-safe.
 */
WB_API wb_status wb_meta_array_at(const wb_meta_array *array, uint64_t index,
                                  wb_meta_array *element) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
