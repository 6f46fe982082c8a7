/*
 * quant/mlx/mlx_kernels.h: the loops over groups, and the selection of their implementation.
 *
 * mlx_decode.c and mlx_encode.c prepare the scale and bias of each group as floats (widened and
 * rounded); the loops process the elements. Each kernel set is a table with the loops it
 * implements, and NULL for the others. wb__mlx_kernels_choose starts with the loops of the scalar
 * sets, which are the reference, and replaces them by the loops of each further set that the
 * processor supports. There is no state.
 *
 * Scales, biases and factors passed to vectorized decoders are finite, so that a NaN can only come
 * from a code. If they are not finite, the scalar loops decode the groups. Encoders accept any
 * floats. No loop reads or writes outside its groups. Only arrays of float need alignment.
 */
#ifndef WB_QUANT_MLX_MLX_KERNELS_H
#define WB_QUANT_MLX_MLX_KERNELS_H

#include <string.h>

#include "quant/mlx/mlx.h"

#define WB__MLX_CHUNK 2048 /* number of elements encoded or decoded at a time */

#define WB__MLX_GROUP_MIN 16 /* number of elements in the smallest group */
#define WB__MLX_GROUP_MAX 128

#define WB__MLX_AFFINE_SCALE_MIN 1e-7f
#define WB__MLX_GLOBAL_RANGE                                                                       \
    2688.0f /* 6 * 448: the largest E2M1 value times the largest E4M3 value */

/* The format to which a decoder rounds, and which it writes. */
typedef enum wb__mlx_format {
    WB__MLX_F32,
    WB__MLX_F16,
    WB__MLX_BF16,
    WB__MLX_FORMATS
} wb__mlx_format;

#define WB__MLX_BITS 9 /* tables are indexed by the number of bits, 0 to 8 */

/* Decodes groups: computes code * scale, rounded, then + bias, rounded. */
typedef void wb__mlx_affine_decoder(const uint8_t *packed, const float *scales, const float *biases,
                                    size_t group, size_t groups, uint8_t *dst);

/*
 * Decodes groups: computes value * scale, rounded to the format that the kernel writes. A kernel
 * that writes F32 then multiplies the product by `factor` and rounds it again. `factor` is 1 if
 * there is no global scale.
 */
typedef void wb__mlx_scaled_decoder(const uint8_t *packed, const float *scales, float factor,
                                    size_t group, size_t groups, uint8_t *dst);

/*
 * Finds the minimum and maximum of each group; +inf and -inf if all values are NaN. The sign of a
 * zero result is unspecified.
 */
typedef void wb__mlx_range(const float *values, size_t group, size_t groups, float *least,
                           float *greatest);

/* Finds the peak (largest magnitude) of each group; 0 if all values are NaN. */
typedef void wb__mlx_peak(const float *values, size_t group, size_t groups, float *peaks);

/* Computes the scale and bias of each group from its range, for 2 or more bits. */
typedef void wb__mlx_affine_fitter(const float *least, const float *greatest, unsigned bits,
                                   size_t groups, float *scales, float *biases);

/* Computes the codes. Scales and biases must have been derived from the range of the values. */
typedef void wb__mlx_affine_encoder(const float *values, const float *scales, const float *biases,
                                    size_t group, size_t groups, uint8_t *packed);

/* Computes the codes of value * multiplier. Multipliers are powers of two. */
typedef void wb__mlx_scaled_encoder(const float *values, const float *multipliers, size_t group,
                                    size_t groups, uint8_t *packed);

/*
 * Computes the E4M3 scale of each group: divides the peak by 6, rounds the quotient to the kernel's
 * format, multiplies by `factor`, and rounds the product to E4M3. Stores the E4M3 bits in `codes`
 * and their value in `scales`. If the value is 0, stores infinity in `scales` instead: divided by
 * it, all elements of the group become 0.
 */
typedef void wb__mlx_e4m3_fitter(const float *peaks, float factor, size_t groups, uint8_t *codes,
                                 float *scales);

/*
 * Encodes values: divides each by its group's divisor, which is not zero, rounds the quotient to
 * the kernel's format, multiplies by `factor`, and rounds the product to a code.
 */
typedef void wb__mlx_divided_encoder(const float *values, const float *divisors, float factor,
                                     size_t group, size_t groups, uint8_t *packed);

/* Converts n numbers of a format to floats. Returns true if all are finite. */
typedef bool wb__mlx_widener(const uint8_t *src, float *dst, size_t n);

/* Converts n floats to numbers of a format. */
typedef void wb__mlx_narrower(const float *floats, uint8_t *dst, size_t n);

typedef struct wb__mlx_kernels {
    uint32_t features; /* the WB__CPU_* features the set requires */
    /* returns true if the compiler fused a multiplication and an addition, which changes the
     * rounding; the set is then not used */
    bool (*contracted)(void);
    wb__mlx_affine_decoder *affine_decode[WB__MLX_BITS][WB__MLX_FORMATS];
    wb__mlx_scaled_decoder *e2m1_decode[WB__MLX_FORMATS];
    wb__mlx_scaled_decoder *e4m3_decode[WB__MLX_FORMATS];
    wb__mlx_widener *widen[WB__MLX_FORMATS];
    wb__mlx_narrower *narrow[WB__MLX_FORMATS];
    wb__mlx_range *range;
    wb__mlx_peak *peak;
    wb__mlx_affine_fitter *affine_fit;
    wb__mlx_affine_encoder *affine_encode[WB__MLX_BITS];
    wb__mlx_e4m3_fitter *e4m3_fit[WB__MLX_FORMATS];
    wb__mlx_scaled_encoder *e2m1_encode;
    wb__mlx_scaled_encoder *e4m3_encode;
    wb__mlx_divided_encoder *e2m1_divide[WB__MLX_FORMATS];
} wb__mlx_kernels;

/*
 * Prefetches the n values that are stored WB__MLX_CHUNK elements after `values`. They belong to the
 * next chunk and are loaded while the codes of this chunk are computed.
 */
static inline void wb__mlx_fetch(const float *values, size_t n)
{
    uintptr_t next = (uintptr_t)values + WB__MLX_CHUNK * sizeof *values;
    for (size_t at = 0; at < n * sizeof *values; at += 64)
        __builtin_prefetch((const void *)(next + at));
}

/* Selects the loops for the given WB__CPU_* features. Sets every entry of `kernels`. */
void wb__mlx_kernels_choose(uint32_t features, wb__mlx_kernels *kernels);

/*
 * Decodes one affine group like the scalar loops, with separate dtypes for the rounding of the
 * product and of the sum.
 */
void wb__mlx_affine_group(const uint8_t *packed, unsigned bits, float scale, float bias,
                          int32_t product_dtype, int32_t sum_dtype, size_t group, float *values);

/* Returns the E2M1 code of any float, with the rounding of MLX. */
uint8_t wb__mlx_e2m1_code(float q);

#endif
