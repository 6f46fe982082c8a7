/*
 * meta_value.h: converts metadata values from Python to the wb_value of the library.
 *
 * Python passes a tuple (type, bits, element, value); type and element are numbers of wb_meta_type,
 * and bits is the width of a number. The value is a str, an int, a float or a bool. For an array,
 * it is a buffer of numbers in native byte order or of booleans, a list of str, or a list of such
 * tuples for an array of arrays.
 */
#ifndef WB_PYTHON_META_VALUE_H
#define WB_PYTHON_META_VALUE_H

#include "core.h"

/* Values and the memory that they point to. */
typedef struct meta_values {
    struct meta_block *blocks;
} meta_values;

/* Converts a tuple. Returns false with an exception on failure. The caller must free `all` in
 * both cases. */
bool meta_value_take(meta_values *all, PyObject *tuple, wb_value *out);

/* Copies the UTF-8 text of a str, with surrogateescape. */
bool meta_text_take(meta_values *all, PyObject *string, const char **out, size_t *length);

/* Returns zeroed memory that lives as long as `all`; NULL with an exception. */
void *meta_memory(meta_values *all, size_t count, size_t size);

void meta_values_free(meta_values *all);

#endif
