/* convert/recipe/encoding.h: encodings of tensor values, and the names of quantizations that a
 * caller can request. */
#ifndef WB_CONVERT_RECIPE_ENCODING_H
#define WB_CONVERT_RECIPE_ENCODING_H

#include "convert/recipe/llama_ftype.h"
#include "model/packed.h"
#include "quant/mlx/mlx.h"

/* An encoding of tensor values: a dtype, which may have blocks, or a packed scheme with several
 * parts. */
typedef struct wb__encoding_spec {
    wb__scheme scheme; /* WB__SCHEME_PLAIN: `dtype` alone defines the encoding */
    int32_t dtype;     /* dtype of the values; for affine schemes, dtype of the scales and biases */
    uint32_t bits;     /* packed schemes: number of bits per element */
    uint32_t group;    /* packed schemes: number of elements per group */
} wb__encoding_spec;

static inline bool wb__encoding_spec_equal(const wb__encoding_spec *a, const wb__encoding_spec *b)
{
    return a->scheme == b->scheme && a->dtype == b->dtype && a->bits == b->bits &&
           a->group == b->group;
}

/* Writes the name of an encoding to `out`, for example "Q4_K", "affine4:64" or "mxfp4". */
void wb__encoding_spec_name(const wb__encoding_spec *spec, char *out, size_t capacity);

/* Sets *type to the MLX quantization mode of a packed encoding. Returns false if MLX has no mode
 * for the encoding. */
bool wb__encoding_spec_mlx(const wb__encoding_spec *spec, wb__mlx_type *type);

/* Sets bytes[] to the size of each part of a tensor with `rows` rows of `columns` elements, in
 * bytes. Returns false if the row length is not a multiple of the group size. */
bool wb__encoding_spec_measure(const wb__encoding_spec *spec, uint64_t rows, uint64_t columns,
                               uint64_t bytes[WB__PARTS]);

/* The kind of quantization that the caller requests. */
typedef enum wb__quant_kind {
    WB__QUANT_NONE,      /* no quantization: encodings that the target supports are preserved */
    WB__QUANT_FILE_TYPE, /* encodings as chosen by a llama.cpp file type, for example Q4_K_M */
    WB__QUANT_FORM,      /* the same encoding for all quantized tensors */
    WB__QUANT_MIXED      /* two bit widths, chosen as by mlx-lm, for example mixed_2_6 */
} wb__quant_kind;

typedef struct wb__quant {
    wb__quant_kind kind;
    const wb__file_type *file_type;
    wb__encoding_spec spec; /* the requested encoding; for MIXED, the encoding of most tensors */
    uint32_t high_bits;     /* for MIXED: number of bits of the more sensitive tensors */
} wb__quant;

/* Parses the name of a quantization, case-insensitively. Returns false if the name is unknown. */
bool wb__quant_parse(wb__str name, wb__quant *quant);

/* Parses the name of a single encoding. A name that denotes both a dtype and a file type is
 * parsed as the dtype. */
bool wb__encoding_spec_parse(wb__str name, wb__encoding_spec *spec);

#endif
