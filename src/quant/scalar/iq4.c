/*
 * Types whose 4-bit quants select one of 16 levels, which are closer to each other near zero.
 *
 *   IQ4_NL    32   d f16   16 bytes                                  18   x = d · level
 *   IQ4_XS   256   d f16   scales high u16   low 4 bytes   8 × 16   136   x = d (s - 32) · level
 *
 * Columns: values per block, layout, block size in bytes, value. Quants are packed as in Q4_0 (see
 * legacy.c). IQ4_XS has eight 6-bit scales s: their lower four bits are in `low`, their upper two
 * bits in `scales high`, both in order from the lowest bits up.
 */
#include "quant/kernel.h"
#include "quant/scalar/search.h"

#define GROUP 32
#define TRIES 7

static const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

WB__CONTRACTION_PROBE()

/* ---- decoding ---- */

static void decode_group(const uint8_t *packed, float d, float *values)
{
    for (size_t j = 0; j < GROUP / 2; j++) {
        values[j] = d * (float)levels[packed[j] & 0xF];
        values[j + GROUP / 2] = d * (float)levels[packed[j] >> 4];
    }
}

static void decode_iq4_nl(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 18, values += GROUP)
        decode_group(blocks + 2, wb__load_f16(blocks), values);
}

static void decode_iq4_xs(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 136) {
        float d = wb__load_f16(blocks);
        unsigned high = wb__load_le16(blocks + 2);
        for (size_t i = 0; i < 8; i++, values += GROUP) {
            unsigned low = blocks[4 + i / 2] >> i % 2 * 4 & 0xF;
            int scale = (int)(low | (high >> 2 * i & 3) << 4) - 32;
            decode_group(blocks + 8 + 16 * i, d * (float)scale, values);
        }
    }
}

/* ---- encoding ---- */

/* Returns the index of the nearest level; of two equally near levels, the upper. */
static uint8_t nearest(float x)
{
    if (x <= (float)levels[0])
        return 0;
    if (x >= (float)levels[15])
        return 15;
    uint8_t above = 1;
    while (above < 15 && !(x < (float)levels[above]))
        above++;
    uint8_t below = (uint8_t)(above - 1);
    return x - (float)levels[below] < (float)levels[above] - x ? below : above;
}

typedef struct fit {
    float lx, l2;
} fit;

static fit fit_of(const float *x, const float *weights, float inverse)
{
    fit f = {0, 0};
    for (size_t j = 0; j < GROUP; j++) {
        float level = (float)levels[nearest(inverse * x[j])];
        f.lx += weights[j] * level * x[j];
        f.l2 += weights[j] * level * level;
    }
    return f;
}

/*
 * Returns the scale of a group: the best of 16 candidates, which map the value of largest magnitude
 * to about -127.
 */
static float search(const float *x, const float *weights)
{
    float most;
    float largest = wb__largest(x, GROUP, &most);
    if (most < WB__TINY)
        return 0;
    fit f = fit_of(x, weights, 1 / (-largest / (float)levels[0]));
    float d = f.l2 > 0 ? f.lx / f.l2 : 0;
    float best = d * f.lx;
    for (int i = -TRIES; i <= TRIES; i++) {
        f = fit_of(x, weights, (float)(i + levels[0]) / largest);
        if (f.l2 > 0 && f.lx * f.lx > best * f.l2) {
            d = f.lx / f.l2;
            best = d * f.lx;
        }
    }
    return d;
}

/*
 * Computes the weights. `variance` is twice the mean square of the block; it is used only with an
 * importance matrix.
 */
static void weigh(const float *x, const float *importance, float variance, float *weights)
{
    for (size_t j = 0; j < GROUP; j++)
        weights[j] =
            importance != NULL ? importance[j] * sqrtf(variance + x[j] * x[j]) : x[j] * x[j];
}

static void pack(const float *x, float inverse, uint8_t *packed)
{
    for (size_t j = 0; j < GROUP / 2; j++)
        packed[j] = (uint8_t)(nearest(inverse * x[j]) | nearest(inverse * x[j + GROUP / 2]) << 4);
}

static void encode_iq4_nl(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float weights[GROUP];
    for (size_t i = 0; i < n; i += GROUP, out += 18) {
        float variance = wb__sum_of_squares(x + i, GROUP) * (2.0f / GROUP);
        weigh(x + i, importance == NULL ? NULL : importance + i, variance, weights);
        float d = search(x + i, weights);
        wb__store_f16(out, d);
        pack(x + i, d != 0 ? 1 / d : 0, out + 2);
    }
}

static void encode_iq4_xs(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float weights[GROUP], scales[8];
    for (size_t i = 0; i < n; i += 256, out += 136) {
        float variance = wb__sum_of_squares(x + i, 256) * (2.0f / 256);
        for (size_t g = 0; g < 8; g++) {
            const float *group = x + i + GROUP * g;
            weigh(group, importance == NULL ? NULL : importance + i + GROUP * g, variance, weights);
            scales[g] = search(group, weights);
        }
        float most;
        float d = -wb__largest(scales, 8, &most) / 32;
        float inverse = d != 0 ? 1 / d : 0;
        unsigned high = 0;
        memset(out, 0, 8);
        wb__store_f16(out, d);
        for (size_t g = 0; g < 8; g++) {
            int scale = wb__clamp(wb__round_even(inverse * scales[g]), -32, 31);
            float group_d = d * (float)scale;
            pack(x + i + GROUP * g, group_d != 0 ? 1 / group_d : 0, out + 8 + 16 * g);
            unsigned bits = (unsigned)(scale + 32);
            out[4 + g / 2] = (uint8_t)(out[4 + g / 2] | (bits & 0xF) << g % 2 * 4);
            high |= bits >> 4 << 2 * g;
        }
        wb__store_le16(out + 2, (uint16_t)high);
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_IQ4_NL, decode_iq4_nl, encode_iq4_nl, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_IQ4_XS, decode_iq4_xs, encode_iq4_xs, WB_IMPORTANCE_OPTIONAL},
};

const wb__kernel_set wb__kernels_iq4 = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
