/*
 * export.h: the forms in which `wb export` writes elements.
 */
#ifndef WB_CLI_EXPORT_H
#define WB_CLI_EXPORT_H

#include "text.h"
#include "weighbridge.h"

/* What is written, as the formats see it. */
typedef struct export_content {
    const wb_tensor *tensor;
    int32_t dtype;         /* of the elements as they are written */
    const uint64_t *shape; /* of the selection */
    uint32_t rank;
    uint64_t elements;
} export_content;

/* NumPy's name for a dtype ("<f4"), NULL where it has no elements of that size. */
const char *npy_descr(int32_t dtype);

/* Whether NumPy has the dtype itself, not only its bytes. */
bool npy_has(int32_t dtype);

/* The header of an .npy file, false where the shape is too long for one. */
bool npy_header(text *t, const export_content *content);

/* The comment in front of the values. */
void values_header(text *t, const export_content *content);

/* The dtype in which values_add wants elements of `dtype`: itself, or F32, which has all its
 * values. */
int32_t values_dtype(int32_t dtype);

/* Adds n values that begin with element number `first` of the selection, a row a line. */
void values_add(text *t, const export_content *content, uint64_t first, const uint8_t *elements,
                size_t n);

typedef enum export_format { FORMAT_NPY, FORMAT_RAW, FORMAT_TEXT } export_format;

#define EXPORT_SLICES 3 /* of q, k and v in one tensor, the part of a rank */

/* What is exported how. */
typedef struct export_plan {
    const char *path;   /* of the model, to show */
    const char *output; /* "-": standard output */
    const wb_model *model;
    uint64_t index;
    wb_slice slices[EXPORT_SLICES]; /* one after the other */
    uint64_t slice_elements[EXPORT_SLICES];
    size_t slice_count;
    wb_tensor tensor;
    export_format format;
    export_content content;
    text header;    /* bytes in front of the elements */
    uint64_t bytes; /* of the whole output; 0: not known before it is written (text) */
} export_plan;

extern const char *const export_formats[]; /* their names, NULL at the end */

/* The object that --json gives; `path` is the model as it was named. */
void export_answer(const export_plan *plan, const char *path, bool is_written);

/* The line that --dry-run gives. */
void export_say(const export_plan *plan);

/* Writes the output, and returns the exit code. */
int export_write(export_plan *plan);

#endif
