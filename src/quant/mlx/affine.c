/*
 * Affine groups: w = q * scale + bias. Same results as affine_quantize and affine_dequantize of MLX
 * on CPU.
 *
 * The grid of a group is the set of values bias + q * scale for the codes q = 0 to n, where n is
 * 2^bits - 1. The encoder places it as follows. The edge is the end of the range of the values that
 * is farther from zero. The scale is first (maximum - minimum) / n, but at least 1e-7; it is
 * negated if the edge is the maximum. Let q0 = rint(edge / scale). The bias becomes the edge and
 * the scale becomes edge / q0, so that both the edge and zero are on the grid. If q0 is 0, the
 * whole range is tiny; then the scale stays 1e-7 or -1e-7, and the bias is 0.
 */
#include "quant/mlx/bits.h"
#include "quant/mlx/number.h"

void wb__mlx_affine_group(const uint8_t *packed, unsigned bits, float scale, float bias,
                          int32_t product_dtype, int32_t sum_dtype, size_t group, float *values)
{
    uint8_t codes[WB__MLX_GROUP_MAX];
    wb__bits_unpack(packed, bits, codes, group);
    for (size_t i = 0; i < group; i++) {
        float product = wb__float_round(product_dtype, (float)codes[i] * scale);
        values[i] = wb__float_round(sum_dtype, product + bias);
    }
}

static inline void decode(const uint8_t *packed, unsigned bits, int32_t dtype, const float *scales,
                          const float *biases, size_t group, size_t groups, uint8_t *dst)
{
    size_t size = wb__float_size(dtype);
    for (size_t g = 0; g < groups; g++, packed += group * bits / 8) {
        float values[WB__MLX_GROUP_MAX];
        wb__mlx_affine_group(packed, bits, scales[g], biases[g], dtype, dtype, group, values);
        for (size_t i = 0; i < group; i++, dst += size)
            wb__float_store(dtype, dst, values[i]);
    }
}

static void range(const float *values, size_t group, size_t groups, float *least, float *greatest)
{
    for (size_t g = 0; g < groups; g++, values += group) {
        float low = wb__float_of_bits(WB__FLOAT_INFINITY), high = -low;
        for (size_t i = 0; i < group; i++) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        least[g] = low;
        greatest[g] = high;
    }
}

static void fit(const float *least, const float *greatest, unsigned bits, size_t groups,
                float *scales, float *biases)
{
    float steps = (float)((1u << bits) - 1);
    for (size_t g = 0; g < groups; g++) {
        float low = least[g], high = greatest[g];
        bool low_is_edge = wb__float_magnitude(low) > wb__float_magnitude(high);
        float edge = low_is_edge ? low : high;
        float scale = (high - low) / steps;
        scale = scale > WB__MLX_AFFINE_SCALE_MIN ? scale : WB__MLX_AFFINE_SCALE_MIN;
        scale = low_is_edge ? scale : -scale;
        float edge_code = wb__float_rint(edge / scale);
        bool on_grid = edge_code != 0;
        scales[g] = on_grid ? edge / edge_code : scale;
        biases[g] = on_grid ? edge : 0;
    }
}

static inline void encode(const float *values, unsigned bits, const float *scales,
                          const float *biases, size_t group, size_t groups, uint8_t *packed)
{
    float last = (float)((1u << bits) - 1);
    for (size_t g = 0; g < groups; g++, values += group, packed += group * bits / 8) {
        uint8_t codes[WB__MLX_GROUP_MAX];
        for (size_t i = 0; i < group; i++) {
            float q = (values[i] - biases[g]) / scales[g];
            q = q > 0 ? q : 0; /* negative values and NaN become 0 */
            q = q < last ? q : last;
            codes[i] = (uint8_t)wb__float_rint(q);
        }
        wb__bits_pack(codes, bits, packed, group);
    }
}

#define DECODER(bits, format)                                                                      \
    static void decode_##bits##_##format(const uint8_t *packed, const float *scales,               \
                                         const float *biases, size_t group, size_t groups,         \
                                         uint8_t *dst)                                             \
    {                                                                                              \
        decode(packed, bits, WB_DTYPE_##format, scales, biases, group, groups, dst);               \
    }
#define CODER(bits)                                                                                \
    DECODER(bits, F32)                                                                             \
    DECODER(bits, F16)                                                                             \
    DECODER(bits, BF16)                                                                            \
    static void encode_##bits(const float *values, const float *scales, const float *biases,       \
                              size_t group, size_t groups, uint8_t *packed)                        \
    {                                                                                              \
        encode(values, bits, scales, biases, group, groups, packed);                               \
    }
CODER(1)
CODER(2)
CODER(3)
CODER(4)
CODER(5)
CODER(6)
CODER(8)

#define DECODERS(bits) [bits] = {decode_##bits##_F32, decode_##bits##_F16, decode_##bits##_BF16}

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_affine = {
    .contracted = contracted,
    .affine_decode = {DECODERS(1), DECODERS(2), DECODERS(3), DECODERS(4), DECODERS(5), DECODERS(6),
                      DECODERS(8)},
    .range = range,
    .affine_fit = fit,
    .affine_encode = {NULL, encode_1, encode_2, encode_3, encode_4, encode_5, encode_6, NULL,
                      encode_8},
};
