/*
 * Encoding of IQ2 and IQ3. iq.c documents the layouts.
 *
 * For each group of 16 or 32 values, a list of candidate scales is tried. With each candidate, the
 * values are rounded to coordinates, and a code that is not in the codebook is replaced by its best
 * neighbour. Then the optimal scale for these points is computed. The candidate that leaves the
 * least error with this scale is chosen. With the chosen scale, some points are searched again.
 * wb__iq_type has the parameters of each type. codebooks.h defines the terms.
 *
 * Encoders use the magnitude 2 l + 1 for a coordinate l, not the magnitudes in codebooks.h. If a
 * type stores only seven of eight signs, and the number of negative signs is odd, the value whose
 * weighted square is least is stored with the wrong sign. In the code below, its magnitude is
 * negative.
 */
#include "quant/kernel.h"
#include "quant/scalar/codebooks.h"
#include "quant/scalar/iq.h"
#include "quant/scalar/iq_search.h"
#include "quant/scalar/search.h"

#define BLOCK 256

static const wb__iq_type iq2_xxs = {
    WB__CODEBOOK_IQ2_XXS, 32, 8, 2, 3, 6, 0.1f, WB__TINY, true, true, true, 1, 0, 1};
static const wb__iq_type iq2_xs = {
    WB__CODEBOOK_IQ2_XS, 16, 8, 2, 3, 9, 0.1f, WB__TINY, true, false, false, 1, 0, 1};
static const wb__iq_type iq2_s = {
    WB__CODEBOOK_IQ2_S, 16, 8, 2, 3, 9, 0.1f, 1e-8f, false, false, false, 2, 0.25f, 0.9875f};
static const wb__iq_type iq3_xxs = {
    WB__CODEBOOK_IQ3_XXS, 32, 4, 3, 8, 15, 0.2f, 1e-8f, true, false, false, 2, 0, 1.0125f};
static const wb__iq_type iq3_s = {
    WB__CODEBOOK_IQ3_S, 32, 4, 3, 8, 9, 0.2f, 0, false, false, true, 2, 0, 1.033f};

/* The result of encoding a block. */
typedef struct iq_block {
    float d;
    uint16_t points[64]; /* for each code: the number of its point in the codebook */
    uint8_t signs[32];   /* one byte for each octet (eight values) */
    uint8_t scales[16];
    bool zero[16]; /* true for groups of zeros, which have no points */
} iq_block;

/* ---- groups ---- */

/* Splits values into magnitudes and signs. */
static void split_signs(wb__iq_group *group, const float *x, uint8_t *signs)
{
    for (size_t octet = 0; octet < group->type->group; octet += 8) {
        unsigned s = 0, count = 0;
        for (size_t i = octet; i < octet + 8; i++) {
            bool negative = !(x[i] >= 0);
            group->x[i] = negative ? -x[i] : x[i];
            s |= (unsigned)negative << (i - octet);
            count += negative;
        }
        if (group->type->even_signs && count % 2 != 0) {
            size_t lightest = octet;
            float least = group->weights[octet] * x[octet] * x[octet];
            for (size_t i = octet + 1; i < octet + 8; i++) {
                float weight = group->weights[i] * x[i] * x[i];
                if (weight < least) {
                    least = weight;
                    lightest = i;
                }
            }
            group->x[lightest] = -group->x[lightest];
            s ^= 1u << (lightest - octet);
        }
        signs[octet / 8] = (uint8_t)s;
    }
}

/* Chooses the codebook points (`codes`) and the scale of a group. Returns false if the group is
 * encoded as zeros. */
static bool encode_group(const wb__iq_group *group, wb__iq_search *search, uint16_t *codes,
                         float *scale)
{
    const wb__iq_type *type = group->type;
    float max = group->x[0];
    for (size_t i = 1; i < type->group; i++) {
        if (group->x[i] > max)
            max = group->x[i];
    }
    if (max < type->tiny || max == 0)
        return false;
    float middle = max;
    *scale = max / (float)(2 * type->levels - 1);
    if (type->search_first) {
        uint8_t unused[WB__IQ_GROUP_MAX];
        *scale = wb__search_unsigned(type->group, 4, group->x, group->weights, unused);
        middle = *scale * (float)type->levels;
        if (middle <= 0)
            return false;
    }
    *scale = search(group, middle, *scale, codes);
    return true;
}

/* ---- blocks ---- */

static void weigh(const wb__iq_type *type, const float *x, const float *importance, float variance,
                  wb__iq_group *group)
{
    for (size_t i = 0; i < type->group; i++) {
        group->weights[i] = importance != NULL ? importance[i] * sqrtf(variance + x[i] * x[i])
                                               : type->lift * variance + x[i] * x[i];
        group->roots[i] = sqrtf(group->weights[i]);
    }
}

static void encode_block(const wb__iq_type *type, const float *x, const float *importance,
                         wb__iq_search *search, iq_block *block)
{
    wb__iq_group group = {.type = type, .book = wb__codebook_get(type->book)};
    size_t cells = type->group / type->cell;
    float scales[16] = {0};
    float variance = type->variance_of * wb__sum_of_squares(x, BLOCK) / BLOCK;
    float largest = 0;
    memset(block, 0, sizeof *block);
    for (size_t at = 0, g = 0; at < BLOCK; at += type->group, g++) {
        uint16_t codes[WB__IQ_CELLS_MAX];
        uint8_t signs[WB__IQ_GROUP_MAX / 8] = {0};
        weigh(type, x + at, importance == NULL ? NULL : importance + at, variance, &group);
        split_signs(&group, x + at, signs);
        block->zero[g] = !encode_group(&group, search, codes, &scales[g]);
        if (block->zero[g])
            continue;
        /* Scales are stored without sign, so the signs of the values are inverted instead. */
        uint8_t flip = scales[g] < 0 ? 0xFF : 0;
        scales[g] = fabsf(scales[g]);
        for (size_t k = 0; k < cells; k++)
            block->points[g * cells + k] = (uint16_t)WB__CELL_VALUE(group.book->cells[codes[k]]);
        for (size_t o = 0; o < type->group / 8; o++)
            block->signs[at / 8 + o] = signs[o] ^ flip;
        if (scales[g] > largest)
            largest = scales[g];
    }
    if (largest == 0) {
        if (type->even_signs)
            memset(block, 0, sizeof *block);
        return;
    }
    float d = largest / 31, inverse = 1 / d;
    block->d = d * type->d_of;
    for (size_t g = 0; g < BLOCK / type->group; g++)
        block->scales[g] =
            (uint8_t)wb__clamp(wb__round_even(0.5f * (inverse * scales[g] - 1)), 0, 15);
}

#define FOR_EACH_BLOCK(type, block_bytes)                                                          \
    iq_block block;                                                                                \
    for (; n > 0; n -= BLOCK, x += BLOCK, out += (block_bytes),                                    \
                  importance = importance == NULL ? NULL : importance + BLOCK)                     \
        if (encode_block(type, x, importance, search, &block), wb__store_f16(out, block.d), true)

/* Packs seven signs of each of four octets, and the 4-bit scale of group g. */
static uint32_t signs_and_scale(const iq_block *block, size_t g)
{
    uint32_t word = (uint32_t)block->scales[g] << 28;
    for (size_t o = 0; o < 4; o++)
        word |= (uint32_t)(block->signs[4 * g + o] & 127) << 7 * o;
    return word;
}

/* Stores two scales per byte. */
static void store_scales(const iq_block *block, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(block->scales[2 * i] | block->scales[2 * i + 1] << 4);
}

/* Stores the low eight bits of each point number in `low`, and the next `bits` bits in `high`. */
static void store_points(const iq_block *block, size_t n, unsigned bits, uint8_t *low,
                         uint8_t *high)
{
    memset(high, 0, n * bits / 8);
    for (size_t i = 0; i < n; i++) {
        low[i] = (uint8_t)block->points[i];
        high[i * bits / 8] = (uint8_t)(high[i * bits / 8] | block->points[i] >> 8 << i * bits % 8);
    }
}

void wb__iq2_xxs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                      size_t n)
{
    FOR_EACH_BLOCK(&iq2_xxs, 66)
    {
        for (size_t g = 0; g < 8; g++) {
            for (size_t o = 0; o < 4; o++)
                out[2 + 8 * g + o] = (uint8_t)block.points[4 * g + o];
            wb__store_le32(out + 6 + 8 * g, signs_and_scale(&block, g));
        }
    }
}

void wb__iq2_xs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                     size_t n)
{
    FOR_EACH_BLOCK(&iq2_xs, 74)
    {
        for (size_t o = 0; o < 32; o++)
            wb__store_le16(out + 2 + 2 * o,
                           (uint16_t)(block.points[o] | (block.signs[o] & 127) << 9));
        store_scales(&block, 8, out + 66);
    }
}

void wb__iq2_s_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                    size_t n)
{
    FOR_EACH_BLOCK(&iq2_s, 82)
    {
        store_points(&block, 32, 2, out + 2, out + 66);
        memcpy(out + 34, block.signs, 32);
        store_scales(&block, 8, out + 74);
    }
}

void wb__iq3_xxs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                      size_t n)
{
    FOR_EACH_BLOCK(&iq3_xxs, 98)
    {
        for (size_t i = 0; i < 64; i++)
            out[2 + i] = (uint8_t)block.points[i];
        for (size_t g = 0; g < 8; g++)
            wb__store_le32(out + 66 + 4 * g, signs_and_scale(&block, g));
    }
}

/*
 * Reproduces an error of ggml: ggml stores no points and no signs for a group of zeros, so that the
 * points and signs of the following groups take the place of this group. The ninth bits of the
 * point numbers and the scales do not move. Such a block decodes to wrong values, but these are the
 * bytes that all other programs write.
 */
static void close_gaps(const iq_block *block, uint8_t *points, uint8_t *signs)
{
    size_t to = 0;
    for (size_t g = 0; g < 8; g++) {
        if (block->zero[g])
            continue;
        memmove(points + 8 * to, points + 8 * g, 8);
        memmove(signs + 4 * to, signs + 4 * g, 4);
        to++;
    }
    memset(points + 8 * to, 0, 8 * (8 - to));
    memset(signs + 4 * to, 0, 4 * (8 - to));
}

void wb__iq3_s_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                    size_t n)
{
    FOR_EACH_BLOCK(&iq3_s, 110)
    {
        store_points(&block, 64, 1, out + 2, out + 66);
        memcpy(out + 74, block.signs, 32);
        close_gaps(&block, out + 2, out + 74);
        store_scales(&block, 4, out + 106);
    }
}

/* ---- encoders with the scalar search ---- */

#define ENCODER(name)                                                                              \
    void wb__encode_##name(const float *x, const float *importance, uint8_t *out, size_t n)        \
    {                                                                                              \
        wb__##name##_with(wb__iq_search_scalar, x, importance, out, n);                            \
    }

ENCODER(iq2_xxs)
ENCODER(iq2_xs)
ENCODER(iq2_s)
ENCODER(iq3_xxs)
ENCODER(iq3_s)
