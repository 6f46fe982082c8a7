/*
 * Groups of small floats with one scale: E2M1 (mxfp4, nvfp4) and E4M3 (mxfp8). Same results as
 * fp_quantize and fp_dequantize of MLX on CPU.
 */
#include "quant/mlx/bits.h"
#include "quant/mlx/number.h"

const float wb__mlx_e2m1_values[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                       -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

/*
 * MLX computes the distance of q to each of the sixteen values in binary32, and takes the first
 * value with the least distance. If the magnitude of q is up to 16, this is the nearest value (in a
 * tie, the one of smaller magnitude; for zero, the one without sign). Far above 16, different
 * distances round to the same float, so MLX takes values of smaller magnitude than 6, and finally
 * 0. q gets that large only if the scale of the group is saturated or not finite.
 */
uint8_t wb__mlx_e2m1_code(float q)
{
    static const float midpoints[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    if (wb__float_magnitude(q) <= 16.0f) {
        unsigned code = 0;
        for (unsigned i = 0; i < 7; i++)
            code += wb__float_magnitude(q) > midpoints[i];
        return (uint8_t)(code != 0 && q < 0 ? code | 8 : code);
    }
    uint8_t nearest = 0;
    float least = wb__float_of_bits(WB__FLOAT_INFINITY);
    for (uint8_t code = 0; code < 16; code++) {
        float distance = wb__float_magnitude(q - wb__mlx_e2m1_values[code]);
        if (distance < least) {
            least = distance;
            nearest = code;
        }
    }
    return nearest;
}

static void peak(const float *values, size_t group, size_t groups, float *peaks)
{
    for (size_t g = 0; g < groups; g++, values += group) {
        float most = 0;
        for (size_t i = 0; i < group; i++) {
            float magnitude = wb__float_magnitude(values[i]);
            most = magnitude > most ? magnitude : most;
        }
        peaks[g] = most;
    }
}

static void encode_e2m1(const float *values, const float *multipliers, size_t group, size_t groups,
                        uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++, values += group, packed += group / 2) {
        uint8_t codes[WB__MLX_GROUP_MAX];
        for (size_t i = 0; i < group; i++)
            codes[i] = wb__mlx_e2m1_code(values[i] * multipliers[g]);
        wb__bits_pack(codes, 4, packed, group);
    }
}

static void encode_e4m3(const float *values, const float *multipliers, size_t group, size_t groups,
                        uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++, values += group, packed += group) {
        for (size_t i = 0; i < group; i++)
            packed[i] = wb__float_to_e4m3(values[i] * multipliers[g]);
    }
}

static inline void fit_e4m3(const float *peaks, float factor, int32_t dtype, size_t groups,
                            uint8_t *codes, float *scales)
{
    for (size_t g = 0; g < groups; g++) {
        codes[g] = wb__float_to_e4m3(wb__float_round(dtype, peaks[g] / 6.0f) * factor);
        float scale = wb__float_from_e4m3(codes[g]);
        scales[g] = scale != 0 ? scale : wb__float_of_bits(WB__FLOAT_INFINITY);
    }
}

static inline void divide(const float *values, const float *divisors, float factor, int32_t dtype,
                          size_t group, size_t groups, uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++, values += group, packed += group / 2) {
        uint8_t codes[WB__MLX_GROUP_MAX];
        for (size_t i = 0; i < group; i++) {
            float quotient = wb__float_round(dtype, values[i] / divisors[g]);
            codes[i] = wb__mlx_e2m1_code(quotient * factor);
        }
        wb__bits_pack(codes, 4, packed, group);
    }
}

/* `factor` is the scale of the whole tensor. Only F32 results use it. */
static inline float scaled(float value, float scale, float factor, int32_t dtype)
{
    float product = wb__float_round(dtype, value * scale);
    return dtype == WB_DTYPE_F32 ? wb__float_canonical(product * factor) : product;
}

static inline void decode_e2m1(const uint8_t *packed, int32_t dtype, const float *scales,
                               float factor, size_t group, size_t groups, uint8_t *dst)
{
    for (size_t g = 0; g < groups; g++, packed += group / 2) {
        uint8_t codes[WB__MLX_GROUP_MAX];
        wb__bits_unpack(packed, 4, codes, group);
        for (size_t i = 0; i < group; i++, dst += wb__float_size(dtype)) {
            float value = wb__mlx_e2m1_values[codes[i]];
            wb__float_store(dtype, dst, scaled(value, scales[g], factor, dtype));
        }
    }
}

static inline void decode_e4m3(const uint8_t *packed, int32_t dtype, const float *scales,
                               float factor, size_t group, size_t groups, uint8_t *dst)
{
    for (size_t g = 0; g < groups; g++, packed += group) {
        for (size_t i = 0; i < group; i++, dst += wb__float_size(dtype)) {
            float value = wb__float_from_e4m3(packed[i]);
            wb__float_store(dtype, dst, scaled(value, scales[g], factor, dtype));
        }
    }
}

#define CODERS(format)                                                                             \
    static void decode_e2m1_##format(const uint8_t *packed, const float *scales, float factor,     \
                                     size_t group, size_t groups, uint8_t *dst)                    \
    {                                                                                              \
        decode_e2m1(packed, WB_DTYPE_##format, scales, factor, group, groups, dst);                \
    }                                                                                              \
    static void decode_e4m3_##format(const uint8_t *packed, const float *scales, float factor,     \
                                     size_t group, size_t groups, uint8_t *dst)                    \
    {                                                                                              \
        decode_e4m3(packed, WB_DTYPE_##format, scales, factor, group, groups, dst);                \
    }                                                                                              \
    static void fit_e4m3_##format(const float *peaks, float factor, size_t groups, uint8_t *codes, \
                                  float *scales)                                                   \
    {                                                                                              \
        fit_e4m3(peaks, factor, WB_DTYPE_##format, groups, codes, scales);                         \
    }                                                                                              \
    static void divide_##format(const float *values, const float *divisors, float factor,          \
                                size_t group, size_t groups, uint8_t *packed)                      \
    {                                                                                              \
        divide(values, divisors, factor, WB_DTYPE_##format, group, groups, packed);                \
    }
CODERS(F32)
CODERS(F16)
CODERS(BF16)

static inline bool widen(const uint8_t *src, int32_t dtype, float *dst, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        dst[i] = wb__float_load(dtype, src + i * wb__float_size(dtype));
        finite &= wb__float_is_finite(dst[i]);
    }
    return finite;
}

static inline void narrow(const float *floats, int32_t dtype, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__float_store(dtype, dst + i * wb__float_size(dtype), floats[i]);
}

#define CONVERTERS(format)                                                                         \
    static bool widen_##format(const uint8_t *src, float *dst, size_t n)                           \
    {                                                                                              \
        return widen(src, WB_DTYPE_##format, dst, n);                                              \
    }                                                                                              \
    static void narrow_##format(const float *floats, uint8_t *dst, size_t n)                       \
    {                                                                                              \
        narrow(floats, WB_DTYPE_##format, dst, n);                                                 \
    }
CONVERTERS(F32)
CONVERTERS(F16)
CONVERTERS(BF16)

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_scaled = {
    .contracted = contracted,
    .e2m1_decode = {decode_e2m1_F32, decode_e2m1_F16, decode_e2m1_BF16},
    .e4m3_decode = {decode_e4m3_F32, decode_e4m3_F16, decode_e4m3_BF16},
    .widen = {widen_F32, widen_F16, widen_BF16},
    .narrow = {narrow_F32, narrow_F16, narrow_BF16},
    .peak = peak,
    .e2m1_encode = encode_e2m1,
    .e4m3_encode = encode_e4m3,
    .e4m3_fit = {fit_e4m3_F32, fit_e4m3_F16, fit_e4m3_BF16},
    .e2m1_divide = {divide_F32, divide_F16, divide_BF16},
};
