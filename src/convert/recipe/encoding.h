/* convert/recipe/encoding.h: encodings of tensor values, and the quantizations that a caller
 * requests by name. */
#ifndef WB_CONVERT_RECIPE_ENCODING_H
#define WB_CONVERT_RECIPE_ENCODING_H

#include "convert/recipe/llama_ftype.h"
#include "model/packed.h"
#include "quant/mlx/mlx.h"

/* A dtype, possibly with blocks, or a packed scheme. */
typedef struct wb__encoding_spec {
    wb__scheme scheme; /* WB__SCHEME_PLAIN: the dtype alone defines the encoding */
    int32_t dtype;     /* dtype of the values, or of the scales and biases of affine encodings */
    uint32_t bits;
    uint32_t group;
} wb__encoding_spec;

static inline bool wb__encoding_spec_equal(const wb__encoding_spec *a, const wb__encoding_spec *b)
{
    return a->scheme == b->scheme && a->dtype == b->dtype && a->bits == b->bits &&
           a->group == b->group;
}

/* Writes the name of an encoding to `out`, for example "Q4_K", "affine4:64", "mxfp4". */
void wb__encoding_spec_name(const wb__encoding_spec *spec, char *out, size_t capacity);

/* Sets *type to the MLX mode of a packed encoding. Returns false for other encodings. */
bool wb__encoding_spec_mlx(const wb__encoding_spec *spec, wb__mlx_type *type);

/* Computes the size of each part in bytes. Returns false if a row is not a whole number of
 * groups. */
bool wb__encoding_spec_measure(const wb__encoding_spec *spec, uint64_t rows, uint64_t columns,
                               uint64_t bytes[WB__PARTS]);

/* Kind of quantization that the caller requests. */
typedef enum wb__quant_kind {
    WB__QUANT_NONE, /* no quantization; encodings are preserved if the target supports them */
    WB__QUANT_FILE_TYPE,
    WB__QUANT_FORM,
    WB__QUANT_MIXED /* mixed recipe of MLX with two bit widths */
} wb__quant_kind;

typedef struct wb__quant {
    wb__quant_kind kind;
    const wb__file_type *file_type;
    wb__encoding_spec spec; /* for MIXED: encoding of most tensors */
    uint32_t high_bits;     /* for MIXED: bits of the more sensitive tensors */
} wb__quant;

/* Parses the name of a quantization, case-insensitive. Returns false if the name is unknown. */
bool wb__quant_parse(wb__str name, wb__quant *quant);

/* Parses the name of a single encoding. A name that is both a dtype and a file type means the
 * dtype. */
bool wb__encoding_spec_parse(wb__str name, wb__encoding_spec *spec);

#endif
