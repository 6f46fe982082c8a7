/*
 * Encoding of groups in all modes: computes the range of each group, then its scale; then a loop
 * from mlx_kernels.h computes the codes.
 */
#include "quant/mlx/number.h"

#define CHUNK WB__MLX_CHUNK
#define CHUNK_GROUPS (CHUNK / WB__MLX_GROUP_MIN)

typedef struct encoder {
    const wb__mlx_type *type;
    const wb__mlx_encoding *encoding;
    int32_t dtype;
    wb__mlx_kernels kernels;
    float peaks[CHUNK_GROUPS];
    float least[CHUNK_GROUPS];
    float greatest[CHUNK_GROUPS];
    float scales[CHUNK_GROUPS]; /* or multipliers or divisors derived from them */
    float biases[CHUNK_GROUPS];
    float values[CHUNK];
} encoder;

static wb__mlx_format format_of(int32_t dtype)
{
    return dtype == WB_DTYPE_F16    ? WB__MLX_F16
           : dtype == WB_DTYPE_BF16 ? WB__MLX_BF16
                                    : WB__MLX_F32;
}

/* ---- affine ---- */

/*
 * With one bit, there are only two values: code 0 is the minimum, and code 1 is the maximum. If
 * several values equal the minimum, MLX takes the first one. This matters if the minimum is zero
 * and the group has zeros of both signs.
 */
static void fit_one_bit(encoder *e, const float *values, size_t groups)
{
    for (size_t g = 0; g < groups; g++, values += e->type->group) {
        float span = e->greatest[g] - e->least[g];
        e->scales[g] = span > WB__MLX_AFFINE_SCALE_MIN ? span : WB__MLX_AFFINE_SCALE_MIN;
        e->biases[g] = e->least[g];
        for (size_t i = 0; e->least[g] == 0 && i < e->type->group; i++) {
            if (values[i] == 0) {
                e->biases[g] = values[i];
                break;
            }
        }
    }
}

/*
 * Encodes affine groups. The codes are computed with the unrounded scale and bias; these are
 * rounded to the dtype of the input when they are stored.
 */
static void affine(encoder *e, const float *values, uint64_t first, size_t groups,
                   const wb__mlx_encoded *out)
{
    const wb__mlx_type *type = e->type;
    e->kernels.range(values, type->group, groups, e->least, e->greatest);
    if (type->bits == 1)
        fit_one_bit(e, values, groups);
    else
        e->kernels.affine_fit(e->least, e->greatest, type->bits, groups, e->scales, e->biases);
    uint8_t *packed = (uint8_t *)out->weight + first * wb__mlx_group_bytes(type);
    e->kernels.affine_encode[type->bits](values, e->scales, e->biases, type->group, groups, packed);

    uint64_t at = first * wb__float_size(e->dtype);
    wb__mlx_narrower *narrow = e->kernels.narrow[format_of(e->dtype)];
    narrow(e->scales, (uint8_t *)out->scales + at, groups);
    narrow(e->biases, (uint8_t *)out->biases + at, groups);
}

/* ---- one-byte scales ---- */

/*
 * Returns log2 of a positive finite float. The argument is 2^k * m with m from 3/4 to 3/2. With t =
 * (m - 1) / (m + 1), log2 m = 2 / ln 2 * (t + t^3 / 3 + t^5 / 5 + ...). The first omitted term,
 * t^27 / 27, is below 2^-68.
 */
static double log2_of(float x)
{
    int exponent = 0;
    double m = (double)x;
    uint64_t bits;
    memcpy(&bits, &m, sizeof bits); /* every float, also a subnormal one, is normal as a double */
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.5) {
        m /= 2;
        exponent++;
    }
    double t = (m - 1) / (m + 1), sum = 0;
    for (int k = 25; k >= 1; k -= 2)
        sum = sum * (t * t) + 1.0 / k;
    return exponent + 2.8853900817779268 * (t * sum);
}

/* Returns the E8M0 exponent for a group whose ideal scale is s. */
static int e8m0_exponent(const encoder *e, float s)
{
    if (s == 0)
        return 0;
    if (!wb__float_is_finite(s))
        return 127;
    if (e->encoding->e8m0 == WB__MLX_E8M0_NEAREST)
        return (int)wb__float_rint(wb__float_round(e->dtype, (float)log2_of(s)));
    uint32_t bits = wb__bits_of_float(s);
    return (int)((bits + 0x7FFFFF) >> 23) - 127 -
           (bits <= wb__bits_of_float(wb__float_power(-127)));
}

static void e8m0_scales(encoder *e, size_t groups, float largest_value, uint8_t *bytes)
{
    for (size_t g = 0; g < groups; g++) {
        float s = wb__float_round(e->dtype, e->peaks[g] / largest_value);
        int exponent = e8m0_exponent(e, s);
        exponent = exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
        bytes[g] = (uint8_t)(exponent + 127);
        e->scales[g] = wb__float_power(-exponent);
    }
}

static void scaled(encoder *e, const float *values, uint64_t first, size_t groups,
                   const wb__mlx_encoded *out)
{
    size_t group = e->type->group;
    uint8_t *packed = (uint8_t *)out->weight + first * wb__mlx_group_bytes(e->type);
    uint8_t *bytes = (uint8_t *)out->scales + first;
    e->kernels.peak(values, group, groups, e->peaks);
    if (e->type->mode == WB__MLX_NVFP4) {
        float factor =
            e->encoding->has_global ? WB__MLX_GLOBAL_RANGE / e->encoding->global_scale : 1.0f;
        wb__mlx_format format = format_of(e->dtype);
        e->kernels.e4m3_fit[format](e->peaks, factor, groups, bytes, e->scales);
        e->kernels.e2m1_divide[format](values, e->scales, factor, group, groups, packed);
    } else if (e->type->mode == WB__MLX_MXFP4) {
        e8m0_scales(e, groups, 6.0f, bytes);
        e->kernels.e2m1_encode(values, e->scales, group, groups, packed);
    } else {
        e8m0_scales(e, groups, 448.0f, bytes);
        e->kernels.e4m3_encode(values, e->scales, group, groups, packed);
    }
}

/* ---- input ---- */

/*
 * Returns n elements from src as floats: src itself if it can be used directly, otherwise converted
 * into the buffer.
 */
static const float *load(const wb__mlx_kernels *kernels, int32_t dtype, const uint8_t *src,
                         size_t n, float *buffer)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (dtype == WB_DTYPE_F32 && (uintptr_t)src % sizeof(float) == 0)
        return (const float *)(const void *)src;
#endif
    (void)kernels->widen[format_of(dtype)](src, buffer, n);
    return buffer;
}

void wb__mlx_encode(uint32_t features, const wb__mlx_type *type, const wb__mlx_encoding *encoding,
                    int32_t dtype, const void *src, uint64_t first, size_t groups,
                    const wb__mlx_encoded *out)
{
    encoder e;
    e.type = type;
    e.encoding = encoding;
    e.dtype = dtype;
    wb__mlx_kernels_choose(features, &e.kernels);
    size_t group = type->group;
    const uint8_t *from = (const uint8_t *)src + first * group * wb__float_size(dtype);
    size_t chunk = CHUNK / group;
    for (size_t done = 0; done < groups; done += chunk) {
        size_t count = groups - done < chunk ? groups - done : chunk;
        const float *values = load(&e.kernels, dtype, from, count * group, e.values);
        if (type->mode == WB__MLX_AFFINE)
            affine(&e, values, first + done, count, out);
        else
            scaled(&e, values, first + done, count, out);
        from += count * group * wb__float_size(dtype);
    }
}

float wb__mlx_amax(uint32_t features, int32_t dtype, const void *src, uint64_t n)
{
    wb__mlx_kernels kernels, scalar;
    wb__mlx_kernels_choose(features, &kernels);
    wb__mlx_kernels_choose(0, &scalar);
    const uint8_t *from = src;
    float amax = 0;
    while (n > 0) {
        float buffer[CHUNK], peak;
        size_t count = n < CHUNK ? (size_t)n : CHUNK;
        const float *values = load(&kernels, dtype, from, count, buffer);
        (count == CHUNK ? &kernels : &scalar)->peak(values, count, 1, &peak);
        amax = peak > amax ? peak : amax;
        from += count * wb__float_size(dtype);
        n -= count;
    }
    return amax;
}
