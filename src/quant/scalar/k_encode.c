/*
 * Encoding of K-quants. k.c documents the layouts, search.h the searches.
 *
 * All types use the same steps: a search finds a scale (and a minimum) for each group of 16 or 32
 * values; these scales are quantized; the values are quantized again with the quantized scales. If
 * the quantized scale of a group is zero, the group keeps the quants of the search.
 *
 * With an importance matrix, the searches try more candidates, and the weight of a value x is
 * importance · sqrt(variance of the block + x²). Without a matrix, each type computes the weights
 * differently.
 */
#include "quant/kernel.h"
#include "quant/scalar/k.h"
#include "quant/scalar/search.h"

#define GROUPS_MAX 16

static const wb__scale_tries tries_with_importance = {-0.9f, 0.05f, 36, false};

static void weigh(const float *x, const float *importance, float variance, size_t n, float *weights)
{
    for (size_t j = 0; j < n; j++)
        weights[j] = importance[j] * sqrtf(variance + x[j] * x[j]);
}

static float sum_of(const float *x, size_t n)
{
    float sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += x[j];
    return sum;
}

/* ---- with minima: Q2_K, Q4_K, Q5_K ---- */

typedef struct pair_type {
    size_t group;      /* values per group */
    int top;           /* largest quant */
    int scale_top;     /* largest quantized scale */
    float variance_of; /* with an importance matrix: variance = variance_of · Σx² / 256 */
    wb__scale_tries tries;
} pair_type;

static const pair_type q2 = {16, 3, 15, 1, {-0.5f, 0.1f, 15, true}};
static const pair_type q4 = {32, 15, 63, 2, {-1.0f, 0.1f, 20, false}};
static const pair_type q5 = {32, 31, 63, 2, {-0.5f, 0.1f, 15, false}};

/*
 * Computes weights without an importance matrix: the magnitude of each value, plus the root mean
 * square of the group if it has 32 values.
 */
static void weigh_by_magnitude(const float *x, size_t n, float *weights)
{
    float lift = n == 32 ? sqrtf(wb__sum_of_squares(x, n) / 32) : 0;
    for (size_t j = 0; j < n; j++)
        weights[j] = lift + fabsf(x[j]);
}

/* Quantizes x so that the largest value becomes `top`. Returns the scale. */
static float quantize_in_proportion(const float *x, size_t n, int top, uint8_t *q)
{
    float max = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > max)
            max = x[i];
    }
    float inverse = max > 0 ? (float)top / max : 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t l = (uint8_t)wb__round_even(inverse * x[i]);
        q[i] = (uint8_t)(l < top ? l : top);
    }
    return max > 0 ? max / (float)top : 0;
}

static float through_f16(float x)
{
    return wb__float_of_bits(wb__f16_to_f32(wb__f32_to_f16(wb__bits_of_float(x))));
}

/* Computes the quants again, with the scales as a decoder will read them. */
static void requantize_pairs(const pair_type *type, const float *x, wb__k_pairs *block)
{
    float d = through_f16(block->d), m = through_f16(block->m);
    for (size_t j = 0; j < WB__K; j++) {
        size_t g = j / type->group;
        float scale = d * (float)block->scales[g];
        if (scale == 0)
            continue;
        float minimum = m * (float)block->minima[g];
        block->q[j] = (uint8_t)wb__clamp(wb__round_even((x[j] + minimum) / scale), 0, type->top);
    }
}

void wb__k_quantize_pairs(size_t groups, int top, const float *scales, const float *minima,
                          const float *sums, wb__k_pairs *block)
{
    if (sums != NULL) {
        block->d = wb__search_unsigned(groups, top, scales, sums, block->scales);
        block->m = wb__search_unsigned(groups, top, minima, sums, block->minima);
    } else {
        block->d = quantize_in_proportion(scales, groups, top, block->scales);
        block->m = quantize_in_proportion(minima, groups, top, block->minima);
    }
}

static void encode_pairs(const pair_type *type, const float *x, const float *importance,
                         wb__k_pairs *block)
{
    size_t groups = WB__K / type->group;
    float scales[GROUPS_MAX], minima[GROUPS_MAX], sums[GROUPS_MAX];
    float weights[WB__SEARCH_MAX];
    float variance = 0;
    if (importance != NULL)
        variance = type->variance_of * wb__sum_of_squares(x, WB__K) / WB__K;
    for (size_t g = 0; g < groups; g++) {
        size_t at = g * type->group;
        if (importance != NULL)
            weigh(x + at, importance + at, variance, type->group, weights);
        else
            weigh_by_magnitude(x + at, type->group, weights);
        sums[g] = sum_of(weights, type->group);
        scales[g] = wb__search_minimum(type->group, type->top, x + at, weights,
                                       importance != NULL ? &tries_with_importance : &type->tries,
                                       block->q + at, &minima[g]);
    }
    wb__k_quantize_pairs(groups, type->scale_top, scales, minima, importance == NULL ? NULL : sums,
                         block);
    requantize_pairs(type, x, block);
}

void wb__encode_q2_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs block;
    for (size_t i = 0; i < n; i += WB__K, out += 84) {
        encode_pairs(&q2, x + i, importance == NULL ? NULL : importance + i, &block);
        for (size_t g = 0; g < 16; g++)
            out[g] = (uint8_t)(block.scales[g] | block.minima[g] << 4);
        wb__k_pack_2(block.q, out + 16);
        wb__store_f16(out + 80, block.d);
        wb__store_f16(out + 82, block.m);
    }
}

void wb__k_store_pairs(const wb__k_pairs *block, uint8_t *out)
{
    wb__store_f16(out, block->d);
    wb__store_f16(out + 2, block->m);
    for (size_t i = 0; i < 4; i++) {
        uint8_t s = block->scales[i + 4], t = block->minima[i + 4];
        out[4 + i] = (uint8_t)(block->scales[i] | s >> 4 << 6);
        out[8 + i] = (uint8_t)(block->minima[i] | t >> 4 << 6);
        out[12 + i] = (uint8_t)((s & 0xF) | (t & 0xF) << 4);
    }
}

void wb__encode_q4_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs block;
    for (size_t i = 0; i < n; i += WB__K, out += 144) {
        encode_pairs(&q4, x + i, importance == NULL ? NULL : importance + i, &block);
        wb__k_store_pairs(&block, out);
        wb__k_pack_4(block.q, out + 16);
    }
}

void wb__encode_q5_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs block;
    for (size_t i = 0; i < n; i += WB__K, out += 176) {
        encode_pairs(&q5, x + i, importance == NULL ? NULL : importance + i, &block);
        wb__k_store_pairs(&block, out);
        wb__k_pack_1(block.q, 4, out + 16);
        wb__k_pack_4(block.q, out + 48);
    }
}

/* ---- scales with sign: Q3_K, Q6_K ---- */

static void requantize_signed(const float *x, float d, const int8_t *scales, int range, uint8_t *q)
{
    d = through_f16(d);
    for (size_t j = 0; j < WB__K; j++) {
        float scale = d * (float)scales[j / 16];
        if (scale != 0)
            q[j] = (uint8_t)(wb__clamp(wb__round_even(x[j] / scale), -range, range - 1) + range);
    }
}

float wb__k_quantize_scales_q3(const float *scales, int8_t *quantized)
{
    const int range = 32;
    float most;
    float largest = wb__largest(scales, 16, &most);
    if (largest == 0) {
        memset(quantized, -range, 16);
        return 0;
    }
    float inverse = -(float)range / largest;
    for (size_t g = 0; g < 16; g++)
        quantized[g] = (int8_t)wb__clamp((int8_t)(uint8_t)wb__round_even(inverse * scales[g]),
                                         -range, range - 1);
    return 1 / inverse;
}

float wb__k_search_scales_q3(const float *scales, const float *sums, int8_t *quantized)
{
    uint8_t lifted[16];
    float d = wb__search_signed(16, 32, scales, sums, lifted);
    for (size_t g = 0; g < 16; g++)
        quantized[g] = (int8_t)(lifted[g] - 32);
    return d;
}

void wb__k_store_scales_q3(const int8_t *scales, uint8_t *out)
{
    uint8_t s[16];
    for (size_t g = 0; g < 16; g++)
        s[g] = (uint8_t)(scales[g] + 32);
    for (size_t g = 0; g < 8; g++)
        out[g] = (uint8_t)((s[g] & 0xF) | (s[g + 8] & 0xF) << 4);
    for (size_t g = 0; g < 4; g++)
        out[8 + g] =
            (uint8_t)(s[g] >> 4 | s[g + 4] >> 4 << 2 | s[g + 8] >> 4 << 4 | s[g + 12] >> 4 << 6);
}

bool wb__k_quantize_scales_q6(const float *scales, int8_t *quantized, float *d)
{
    float most;
    float largest = wb__largest(scales, 16, &most);
    if (most < WB__TINY)
        return false;
    float inverse = -128.0f / largest;
    for (size_t g = 0; g < 16; g++) {
        int32_t s = wb__round_even(inverse * scales[g]);
        quantized[g] = (int8_t)(uint8_t)(s < 127 ? s : 127);
    }
    *d = 1 / inverse;
    return true;
}

static float encode_q3(const float *x, const float *importance, int8_t *scales, uint8_t *q)
{
    float found[16], weights[16], sums[16];
    if (importance == NULL) {
        for (size_t g = 0; g < 16; g++)
            found[g] = wb__search_signed_descent(16, 4, x + 16 * g, q + 16 * g);
        return wb__k_quantize_scales_q3(found, scales);
    }
    float variance = 2 * wb__sum_of_squares(x, WB__K) / WB__K;
    for (size_t g = 0; g < 16; g++) {
        weigh(x + 16 * g, importance + 16 * g, variance, 16, weights);
        sums[g] = sum_of(weights, 16);
        found[g] = wb__search_signed(16, 4, x + 16 * g, weights, q + 16 * g);
    }
    return wb__k_search_scales_q3(found, sums, scales);
}

void wb__encode_q3_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    uint8_t q[WB__K] = {0};
    int8_t scales[16];
    for (size_t i = 0; i < n; i += WB__K, out += 110) {
        float d = encode_q3(x + i, importance == NULL ? NULL : importance + i, scales, q);
        requantize_signed(x + i, d, scales, 4, q);
        wb__k_pack_1(q, 2, out);
        wb__k_pack_2(q, out + 32);
        wb__k_store_scales_q3(scales, out + 96);
        wb__store_f16(out + 108, d);
    }
}

void wb__encode_q6_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    uint8_t q[WB__K] = {0};
    int8_t scales[16];
    float found[16];
    for (size_t i = 0; i < n; i += WB__K, out += 210) {
        for (size_t g = 0; g < 16; g++)
            found[g] =
                wb__search_signed(16, 32, x + i + 16 * g,
                                  importance == NULL ? NULL : importance + i + 16 * g, q + 16 * g);
        float d;
        if (!wb__k_quantize_scales_q6(found, scales, &d)) {
            memset(out, 0, 210);
            continue;
        }
        requantize_signed(x + i, d, scales, 32, q);
        wb__k_pack_6(q, out, out + 128);
        memcpy(out + 192, scales, 16);
        wb__store_f16(out + 208, d);
    }
}

/* ---- one byte per value: Q8_K ---- */

void wb__encode_q8_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += WB__K, out += 292) {
        float most;
        float largest = wb__largest(x + i, WB__K, &most);
        memset(out, 0, 292);
        if (most == 0)
            continue;
        float inverse = -127.0f / largest;
        wb__store_le32(out, wb__bits_of_float(1 / inverse));
        for (size_t g = 0; g < 16; g++) {
            int sum = 0;
            for (size_t j = 16 * g; j < 16 * g + 16; j++) {
                int32_t q = wb__round_even(inverse * x[i + j]);
                out[4 + j] = (uint8_t)(q < 127 ? q : 127);
                sum += (int8_t)out[4 + j];
            }
            wb__store_le16(out + 260 + 2 * g, (uint16_t)sum);
        }
    }
}
