/*
 * meta_value.h: metadata values that Python passes, as the library takes them.
 *
 * Python passes a tuple: (type, bits, element, value), with type and element of wb_meta_type. The
 * value is a str, an int, a float or a bool. That of an array is a buffer of numbers in native byte
 * order or of booleans, a list of str, or a list of such tuples for an array of arrays.
 */
#ifndef WB_PYTHON_META_VALUE_H
#define WB_PYTHON_META_VALUE_H

#include "core.h"

/* Values and the memory that they point to. */
typedef struct meta_values {
    struct meta_block *blocks;
} meta_values;

/* Converts a tuple. False with an exception; the caller releases `all` in any case. */
bool meta_value_take(meta_values *all, PyObject *tuple, wb_value *out);

/* Copies the UTF-8 text of a str, with surrogateescape. */
bool meta_text_take(meta_values *all, PyObject *string, const char **out, size_t *length);

/* Returns zeroed memory that lives as long as `all`; NULL with an exception. */
void *meta_memory(meta_values *all, size_t count, size_t size);

void meta_values_free(meta_values *all);

#endif
