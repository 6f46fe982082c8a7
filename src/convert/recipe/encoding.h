/*
 * convert/recipe/encoding.h: how the values of a tensor are stored, and what a caller asks for by name.
 */
#ifndef WB_CONVERT_RECIPE_ENCODING_H
#define WB_CONVERT_RECIPE_ENCODING_H

#include "convert/recipe/llama_ftype.h"
#include "model/packed.h"
#include "quant/mlx/mlx.h"

/* A dtype, of blocks too, or one of the packed schemes. */
typedef struct wb__encoding_spec {
    wb__scheme scheme; /* PLAIN: the dtype says all */
    int32_t dtype;     /* of the values, or of the scales and biases of affine */
    uint32_t bits;
    uint32_t group;
} wb__encoding_spec;

static inline bool wb__encoding_spec_equal(const wb__encoding_spec *a, const wb__encoding_spec *b)
{
    return a->scheme == b->scheme && a->dtype == b->dtype && a->bits == b->bits &&
           a->group == b->group;
}

/* "Q4_K", "affine4:64", "mxfp4": written into out. */
void wb__encoding_spec_name(const wb__encoding_spec *spec, char *out, size_t capacity);

/* The mode of MLX that a packed form is; false for others. */
bool wb__encoding_spec_mlx(const wb__encoding_spec *spec, wb__mlx_type *type);

/* Bytes of each part for rows of columns; false where a row is no whole number of groups. */
bool wb__encoding_spec_measure(const wb__encoding_spec *spec, uint64_t rows, uint64_t columns,
                               uint64_t bytes[WB__PARTS]);

/* What a caller asks for. */
typedef enum wb__quant_kind {
    WB__QUANT_NONE, /* as it is, as far as the result has that */
    WB__QUANT_FILE_TYPE,
    WB__QUANT_FORM,
    WB__QUANT_MIXED /* MLX's recipe of two widths */
} wb__quant_kind;

typedef struct wb__quant {
    wb__quant_kind kind;
    const wb__file_type *file_type;
    wb__encoding_spec spec; /* of MIXED that of most tensors */
    uint32_t high_bits;     /* MIXED: of those that matter more */
} wb__quant;

/* Reads the name of a quantization, in any case. False where there is none of that name. */
bool wb__quant_parse(wb__str name, wb__quant *quant);

/* As wb__quant_parse, but for one type: what is a type and a file type too is the type. */
bool wb__encoding_spec_parse(wb__str name, wb__encoding_spec *spec);

#endif
