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
    WB_META_STRING = 1,
    WB_META_INT = 2,  /* an integer with a sign */
    WB_META_UINT = 3, /* an integer without */
    WB_META_FLOAT = 4,
    WB_META_BOOL = 5,
    WB_META_ARRAY = 6
} wb_meta_type;

typedef struct wb_meta {
    size_t size;     /* sizeof(wb_meta) */
    const char *key; /* borrowed until wb_close */
    size_t key_len;
    wb_meta_type type;
    uint32_t file;        /* the file it stands in, for wb_file_at; WB_NO_FILE: none of these */
    wb_meta_type element; /* ARRAY: the type of its elements; 0 for all others */
    uint32_t bits;  /* that a number, or each number of the array, is stored in; 0 for others */
    uint64_t count; /* ARRAY: elements; STRING: bytes; 1 for all others */
} wb_meta;
#define WB_META_INIT WB_INIT(wb_meta)

/*
 * An array in the metadata. What it points to is borrowed until wb_close; the struct may be copied.
 * Any number of threads may use the same one.
 */
typedef struct wb_meta_array {
    size_t size;          /* sizeof(wb_meta_array) */
    wb_meta_type element; /* the type of the elements, also where there are none */
    uint32_t bits;        /* that each number is stored in, 0 for strings and arrays */
    uint64_t count;       /* elements */
    const void *data;     /* numbers and booleans (a byte each, 0 or 1): as stored, little-endian,
                             unaligned, without gaps. NULL for strings and arrays */
    const void *array;    /* the library's */
    const void *base;     /* the library's */
} wb_meta_array;
#define WB_META_ARRAY_INIT WB_INIT(wb_meta_array)

/* The file of an entry that comes from what lies beside the weights, or follows from it. */
#define WB_NO_FILE UINT32_MAX

/*
 * There is one view of metadata, whatever the format. First come the entries of the weights' own
 * files, key-values of GGUF and strings of __metadata__. Behind them are, as far as files say or
 * imply them and no key-value has the key already:
 *   - scalars and simple arrays of config.json, generation_config.json and tokenizer_config.json, under
 *     their names, those within objects as "rope_scaling.factor"
 *   - what llama.cpp's converter makes of such files, under the keys of GGUF: "llama.block_count",
 *     "tokenizer.ggml.tokens" from tokenizer.json, tokenizer.model or vocab.txt, chat templates
 *   - for GGUF the names of config.json: "num_hidden_layers" answers there too
 * They are worked out by the first question that needs them, once; the answers never change. A
 * question for a key that no file has is such a question. What is wrong with these files is told by
 * wb_verify. docs/format/metadata.md lists the keys, and what cannot be known on either side.
 */

/*
 * The number of entries; a key that stands in several files of a model counts once. Where memory runs
 * out it counts those of the weights' own files alone; wb_meta_find then fails with MEMORY.
 */
WB_API uint64_t wb_meta_count(const wb_model *model);

/*
 * Describes the entry `index` < wb_meta_count. Entries of files stand in the order of the files.
 * NOT_FOUND for other numbers. Thread-safe.
 */
WB_API wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *meta,
                            wb_error *error) WB_MUST_CHECK;

/* Stores the index of the entry under `key`, or returns WB_ERROR_NOT_FOUND. Constant time. */
WB_API wb_status wb_meta_find(const wb_model *model, const char *key, size_t key_len,
                              uint64_t *index) WB_MUST_CHECK;

/*
 * The value under `key`. NOT_FOUND if there is none; TYPE if it is of another type, or a number that
 * the one asked for cannot hold: nothing is rounded, cut or taken for something else. A caller with a
 * default uses it for NOT_FOUND, or for both. Constant time, thread-safe.
 *
 * string  borrowed until wb_close; from GGUF it may hold any bytes, NUL included
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
 * Return the value under `key`, or `fallback` if the getter above fails: the key does not exist, the
 * value is of another type or does not fit, or memory is out. Constant time, thread-safe.
 *
 * string  NUL-terminated and borrowed until wb_close; `fallback` may be NULL. A caller that expects
 *         NUL bytes within the string uses wb_meta_get_string
 * bool    0 or 1, or `fallback` as it is
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

/* As `element` of wb_meta_get_array: the elements may be of any type. */
#define WB_META_ANY ((wb_meta_type)0)

/*
 * Describes the array under `key`. Constant time, thread-safe.
 *
 * element  the type that the elements must have, WB_META_ANY for all types. WB_META_INT and
 *          WB_META_UINT both accept signed and unsigned integers. An array without elements has the
 *          element type that its file declares
 * array    its size is set by the caller
 *
 * NOT_FOUND if there is no such key; TYPE if the value is no array or its elements have another type;
 * ARGUMENT if `element` is no wb_meta_type.
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
 * String `index` of an array of strings, borrowed until wb_close. Takes a few steps from one string to
 * the next; for many of them wb_meta_strings is faster. ARGUMENT if the array has other elements,
 * NOT_FOUND behind its end. Thread-safe.
 */
WB_API wb_status wb_meta_string_at(const wb_meta_array *array, uint64_t index, const char **value,
                                   size_t *value_len) WB_MUST_CHECK;

/*
 * Elements `first` to first + count - 1 of an array, into room for `count` of them. ARGUMENT if the
 * array has other elements, NOT_FOUND where it ends before; TYPE for a number that does not fit, and
 * then nothing of the result counts. Thread-safe.
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
 * Array `index` of an array of arrays. `element` has its size set by the caller. ARGUMENT if the array
 * has other elements, NOT_FOUND behind its end. Thread-safe.
 */
WB_API wb_status wb_meta_array_at(const wb_meta_array *array, uint64_t index,
                                  wb_meta_array *element) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
