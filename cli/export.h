/* export.h: declarations shared by the source files of `wb export`. */
#ifndef WB_CLI_EXPORT_H
#define WB_CLI_EXPORT_H

#include "text.h"
#include "weighbridge.h"

/* Dtype and shape of the exported elements. */
typedef struct export_content {
    const wb_tensor *tensor;
    int32_t dtype;         /* dtype of the elements in the output */
    const uint64_t *shape; /* shape of the selection */
    uint32_t rank;
    uint64_t elements;
} export_content;

/* Returns the NumPy type string of a dtype ("<f4"). For BF16 and 8-bit floats, which NumPy lacks,
 * it is that of raw bytes ("|V2"). Returns NULL for types that a .npy file cannot hold.
 */
const char *npy_descr(int32_t dtype);

/* Returns true if NumPy supports the dtype itself, not only raw bytes of the same size. */
bool npy_has(int32_t dtype);

/* Adds the header of a .npy file. Returns false if the shape is too long for a header of version
 * 1.0.
 */
bool npy_header(text *t, const export_content *content);

/* Adds the comment that precedes the values in text output. */
void values_header(text *t, const export_content *content);

/* Returns the dtype that values_add expects for elements of `dtype`: `dtype` itself, or F32, which
 * represents all its values exactly.
 */
int32_t values_dtype(int32_t dtype);

/* Adds n values as text, one row per line. The first value is element number `first` of the
 * selection.
 */
void values_add(text *t, const export_content *content, uint64_t first, const uint8_t *elements,
                size_t n);

typedef enum export_format { FORMAT_NPY, FORMAT_RAW, FORMAT_TEXT } export_format;

#define EXPORT_SLICES 3 /* maximum per tensor-parallel rank: q, k and v of a fused tensor */

/* Describes an export: source, selection, format and output. */
typedef struct export_plan {
    const char *path;   /* printable path of the model */
    const char *output; /* path, or "-" for standard output */
    const wb_model *model;
    uint64_t index;
    wb_slice slices[EXPORT_SLICES]; /* the slices to write, in this order */
    uint64_t slice_elements[EXPORT_SLICES];
    size_t slice_count;
    wb_tensor tensor;
    export_format format;
    export_content content;
    text header;    /* bytes before the elements */
    uint64_t bytes; /* total output size in bytes; 0: unknown before writing (text) */
} export_plan;

extern const char *const export_formats[]; /* names of the formats, terminated by NULL */

/* Prints the export as a JSON object (--json). `path` is the model path from the command line. */
void export_answer(const export_plan *plan, const char *path, bool is_written);

/* Prints the planned export as a line of text (--dry-run). */
void export_say(const export_plan *plan);

/* Writes the output and returns the exit code. */
int export_write(export_plan *plan);

#endif
