/*
 * quant/mlx/mlx_kernels.h: the loops over groups, and who does them.
 *
 * decode.c and encode.c prepare what a group needs as floats (its scale and bias, widened and
 * rounded) and leave the elements to these. Each set is a table with the loops it has and NULL for
 * the others; wb__mlx_kernels_choose lays those that the processor can run over one another, the
 * scalar ones, which are the definition of right, first. There is no state.
 *
 * Scales, biases and factors for decoding are finite, so that NaN comes from codes alone; groups
 * where they are not go to the scalar loops. Encoders get any floats. Nothing is read or written
 * outside the groups, and nothing needs alignment but arrays of float.
 */
#ifndef WB_QUANT_MLX_KERNELS_H
#define WB_QUANT_MLX_KERNELS_H

#include <string.h>

#include "quant/mlx/mlx.h"

#define WB__MLX_CHUNK 2048 /* elements encoded or decoded at a time */

#define WB__MLX_GROUP_MIN 16 /* elements */
#define WB__MLX_GROUP_MAX 128

#define WB__MLX_AFFINE_SCALE_MIN 1e-7f
#define WB__MLX_GLOBAL_RANGE 2688.0f /* 6 * 448, the largest product of E2M1 and E4M3 */

/* The format in which a decoder rounds and writes. */
typedef enum wb__mlx_format {
    WB__MLX_F32,
    WB__MLX_F16,
    WB__MLX_BF16,
    WB__MLX_FORMATS
} wb__mlx_format;

#define WB__MLX_BITS 9 /* tables are indexed by the number of bits */

/* code * scale, rounded, + bias, rounded. */
typedef void wb__mlx_affine_decoder(const uint8_t *packed, const float *scales, const float *biases,
                                    size_t group, size_t groups, uint8_t *dst);

/* value * scale, rounded; in F32 then * factor, rounded, with 1 where there is none. */
typedef void wb__mlx_scaled_decoder(const uint8_t *packed, const float *scales, float factor,
                                    size_t group, size_t groups, uint8_t *dst);

/* Least and greatest of a group; +inf and -inf where all is NaN. Zeros may have either sign. */
typedef void wb__mlx_range(const float *values, size_t group, size_t groups, float *least,
                           float *greatest);

/* Largest magnitude of a group; 0 where all is NaN. */
typedef void wb__mlx_peak(const float *values, size_t group, size_t groups, float *peaks);

/* The scale and bias of each group with 2 bits and more, from its range. */
typedef void wb__mlx_affine_fitter(const float *least, const float *greatest, unsigned bits,
                                   size_t groups, float *scales, float *biases);

/* With scales and biases that come from the range of the values. */
typedef void wb__mlx_affine_encoder(const float *values, const float *scales, const float *biases,
                                    size_t group, size_t groups, uint8_t *packed);

/* The codes of value * multiplier, which is a power of two. */
typedef void wb__mlx_scaled_encoder(const float *values, const float *multipliers, size_t group,
                                    size_t groups, uint8_t *packed);

/*
 * Scales in E4M3: the codes of (peak / 6, rounded to the format) * factor, and what they stand for, but
 * infinity for zero, which makes all codes of the group 0.
 */
typedef void wb__mlx_e4m3_fitter(const float *peaks, float factor, size_t groups, uint8_t *codes,
                                 float *scales);

/* The codes of (value / divisor, rounded to the format) * factor. Divisors are not zero. */
typedef void wb__mlx_divided_encoder(const float *values, const float *divisors, float factor,
                                     size_t group, size_t groups, uint8_t *packed);

/* n numbers of a format as floats; true if all are finite. */
typedef bool wb__mlx_widener(const uint8_t *src, float *dst, size_t n);

/* n floats as numbers of a format. */
typedef void wb__mlx_narrower(const float *floats, uint8_t *dst, size_t n);

typedef struct wb__mlx_kernels {
    uint32_t features;        /* WB__CPU_* that the set needs */
    bool (*contracted)(void); /* whether the compiler fused operations: then it is not used */
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

/* Computing codes leaves time to bring what is encoded next nearer: n values as far behind these as a
 * chunk is long. */
static inline void wb__mlx_fetch(const float *values, size_t n)
{
    uintptr_t next = (uintptr_t)values + WB__MLX_CHUNK * sizeof *values;
    for (size_t at = 0; at < n * sizeof *values; at += 64)
        __builtin_prefetch((const void *)(next + at));
}

/* The sets for the features given, WB__CPU_*; every entry is set. */
void wb__mlx_kernels_choose(uint32_t features, wb__mlx_kernels *kernels);

/* One affine group as the scalar loops decode it, with two dtypes to round to. */
void wb__mlx_affine_group(const uint8_t *packed, unsigned bits, float scale, float bias,
                          int32_t product_dtype, int32_t sum_dtype, size_t group, float *values);

/* The E2M1 code of any float, as MLX finds it. */
uint8_t wb__mlx_e2m1_code(float q);

#endif
