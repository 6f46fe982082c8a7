/*
 * Encoding of IQ1. iq.c documents the layouts.
 *
 * The values of a group (32 for IQ1_S, 16 for IQ1_M) become -1, 0 or 1, shifted up or down by 1/8.
 * In IQ1_S, all values of a group have the same shift; in IQ1_M, each octet has its own. Two
 * positions split the values, sorted in ascending order, into three runs, which become -1, 0 and 1.
 * All pairs of positions and all shifts are tried. Then each octet whose code is not in the
 * codebook becomes the best neighbour of this code. codebooks.h defines the terms.
 *
 * The order of additions affects the result. IQ1_S uses differences of prefix sums. IQ1_M computes
 * new sums for each pair of positions: lx = Σ w x q and l2 = Σ w q² for each of the four
 * combinations of the shifts of its two octets.
 */
#include "quant/kernel.h"
#include "quant/scalar/codebooks.h"
#include "quant/scalar/iq.h"
#include "quant/scalar/iq1_search.h"
#include "quant/scalar/search.h"

#define BLOCK 256

const float wb__iq1_levels[2][8] = {{-0.875f, 0.125f, 1.125f, 0, -0.875f, 0.125f, 1.125f, 0},
                                    {-1.125f, -0.125f, 0.875f, 0, -1.125f, -0.125f, 0.875f, 0}};

static void weigh(const float *x, const float *importance, float variance, size_t n, float *weights)
{
    for (size_t i = 0; i < n; i++)
        weights[i] =
            importance != NULL ? importance[i] * sqrtf(variance + x[i] * x[i]) : x[i] * x[i];
}

static float largest_magnitude(const float *x, size_t n)
{
    float most;
    (void)wb__largest(x, n, &most);
    return most;
}

/* Insertion sort, whose result is also defined for NaN. */
static void rank_anything(const float *x, size_t n, uint8_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && x[order[at - 1]] > x[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
}

/*
 * Sorts the values: sets order[k] to the index of the value with rank k. The rank of a value is the
 * number of values before it in ascending order; equal values keep their order. Counting these
 * values needs no unpredictable branches and can be vectorized.
 */
void wb__iq1_rank(const float *x, size_t n, uint8_t *order)
{
    bool unordered = false;
    for (size_t i = 0; i < n; i++) {
        int32_t place = 0;
        for (size_t j = 0; j < n; j++)
            place += (x[j] < x[i]) | ((x[j] == x[i]) & ((int32_t)j < (int32_t)i));
        unordered |= x[i] != x[i];
        order[place] = (uint8_t)i;
    }
    if (unordered)
        rank_anything(x, n, order);
}

/*
 * Computes the coordinates l of a split. If the scale of the split is negative, inverts the
 * coordinates, and also the scale and the shifts in *best.
 */
static void apply(wb__iq1_split *best, size_t n, const uint8_t *order, uint8_t *l)
{
    bool turn = best->scale < 0;
    for (size_t k = 0; k < n; k++) {
        uint8_t v = k < best->first ? 0 : k < best->second ? 1 : 2;
        l[order[k]] = turn ? 2 - v : v;
    }
    if (turn) {
        best->scale = -best->scale;
        best->down = ~best->down;
    }
}

static unsigned best_near(const uint16_t *near, unsigned count, const float *x,
                          const float *weights, float scale, const float *values)
{
    unsigned best = near[0];
    float least = FLT_MAX;
    for (size_t k = 0; k < count; k++) {
        float error = 0;
        for (size_t i = 0; i < 8; i++) {
            float difference = scale * values[near[k] >> 2 * i & 3] - x[i];
            error += weights[i] * difference * difference;
        }
        if (error < least) {
            least = error;
            best = near[k];
        }
    }
    return best;
}

/*
 * Stores the codes of the points for the coordinates l. If a neighbour replaced a code that is not
 * in the codebook, computes the scale again.
 */
static void find_points(const wb__iq1_search *search, size_t n, const float *x,
                        const float *weights, const uint8_t *l, wb__iq1_split *best,
                        uint16_t *codes)
{
    const wb__codebook *book = wb__codebook_get(WB__CODEBOOK_IQ1);
    bool moved = false;
    for (size_t o = 0; o < n / 8; o++) {
        unsigned code = 0;
        for (size_t i = 0; i < 8; i++)
            code |= (unsigned)l[8 * o + i] << 2 * i;
        uint32_t cell = book->cells[code];
        if (WB__CELL_COUNT(cell) != 0) {
            moved = true;
            code =
                search->nearest(book->near + WB__CELL_VALUE(cell), WB__CELL_COUNT(cell), x + 8 * o,
                                weights + 8 * o, best->scale, wb__iq1_levels[best->down >> o & 1]);
        }
        codes[o] = (uint16_t)code;
    }
    if (!moved)
        return;
    float lx = 0, l2 = 0;
    for (size_t i = 0; i < n; i++) {
        float q = wb__iq1_levels[best->down >> i / 8 & 1][codes[i / 8] >> 2 * (i % 8) & 3];
        lx += weights[i] * q * x[i];
        l2 += weights[i] * q * q;
    }
    if (lx > 0 && l2 > 0)
        best->scale = lx / l2;
}

static unsigned number_of(unsigned code)
{
    return WB__CELL_VALUE(wb__codebook_get(WB__CODEBOOK_IQ1)->cells[code]);
}

/* ---- IQ1_S ---- */

void wb__iq1_split_s(const float *x, const float *weights, const uint8_t *order,
                     wb__iq1_split *best)
{
    float sum_x[WB__IQ1_GROUP_S + 1] = {0}, sum_w[WB__IQ1_GROUP_S + 1] = {0};
    float score = -FLT_MAX;
    for (size_t k = 0; k < WB__IQ1_GROUP_S; k++) {
        size_t i = order[k];
        sum_x[k + 1] = sum_x[k] + weights[i] * x[i];
        sum_w[k + 1] = sum_w[k] + weights[i];
    }
    for (size_t first = 0; first <= WB__IQ1_GROUP_S; first++) {
        for (size_t second = first; second <= WB__IQ1_GROUP_S; second++) {
            float x1 = sum_x[first] - sum_x[0], w1 = sum_w[first] - sum_w[0];
            float x2 = sum_x[second] - sum_x[first], w2 = sum_w[second] - sum_w[first];
            float x3 = sum_x[WB__IQ1_GROUP_S] - sum_x[second],
                  w3 = sum_w[WB__IQ1_GROUP_S] - sum_w[second];
            for (unsigned down = 0; down < 2; down++) {
                const float *v = wb__iq1_levels[down];
                float lx = x1 * v[0] + x2 * v[1] + x3 * v[2];
                float l2 = w1 * v[0] * v[0] + w2 * v[1] * v[1] + w3 * v[2] * v[2];
                if (l2 > 0 && lx * lx > score * l2) {
                    *best = (wb__iq1_split){lx / l2, first, second, down != 0 ? ~0u : 0};
                    score = best->scale * lx;
                }
            }
        }
    }
}

/* Finds the points of a group. Returns false if the group is encoded as zeros; `codes` is not set
 * then. */
static bool encode_group_s(const wb__iq1_search *search, const float *x, const float *weights,
                           wb__iq1_split *best, uint16_t *codes)
{
    uint8_t order[WB__IQ1_GROUP_S], l[WB__IQ1_GROUP_S] = {0};
    *best = (wb__iq1_split){0, SIZE_MAX, 0, 0};
    if (largest_magnitude(x, WB__IQ1_GROUP_S) < 1e-12f)
        return false;
    search->rank(x, WB__IQ1_GROUP_S, order);
    search->split_s(x, weights, order, best);
    if (best->first == SIZE_MAX)
        return false;
    apply(best, WB__IQ1_GROUP_S, order, l);
    find_points(search, WB__IQ1_GROUP_S, x, weights, l, best, codes);
    return true;
}

static void encode_block_s(const wb__iq1_search *search, const float *x, const float *importance,
                           uint8_t *out)
{
    float variance = 2 * wb__sum_of_squares(x, BLOCK) / BLOCK, largest = 0;
    float weights[WB__IQ1_GROUP_S];
    wb__iq1_split found[8];
    memset(out, 0, 50);
    for (size_t g = 0; g < 8; g++) {
        const float *values = x + WB__IQ1_GROUP_S * g;
        uint16_t codes[4];
        weigh(values, importance + WB__IQ1_GROUP_S * g, variance, WB__IQ1_GROUP_S, weights);
        if (!encode_group_s(search, values, weights, &found[g], codes))
            continue;
        unsigned high = 0;
        for (size_t o = 0; o < 4; o++) {
            unsigned number = number_of(codes[o]);
            out[2 + 4 * g + o] = (uint8_t)number;
            high |= number >> 8 << 3 * o;
        }
        wb__store_le16(out + 34 + 2 * g, (uint16_t)high);
        if (found[g].scale > largest)
            largest = found[g].scale;
    }
    if (largest == 0)
        return;
    float d = largest / 15, inverse = 1 / d;
    wb__store_f16(out, d * 1.125f);
    for (size_t g = 0; g < 8; g++) {
        unsigned s =
            (unsigned)wb__clamp(wb__round_even(0.5f * (inverse * found[g].scale - 1)), 0, 7);
        uint8_t *rest = out + 34 + 2 * g;
        wb__store_le16(rest,
                       (uint16_t)(wb__load_le16(rest) | (s | (found[g].down & 1) << 3) << 12));
    }
}

void wb__iq1_s_with(const wb__iq1_search *search, const float *x, const float *importance,
                    uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i += BLOCK, out += 50)
        encode_block_s(search, x + i, importance + i, out);
}

/* ---- IQ1_M ---- */

/*
 * Adds the term of value i, computed for both shifts, to the sums. sums[pair] is the sum for one
 * combination of shifts: bit o of `pair` is set if octet o is shifted down.
 */
static void add_m(float sums[4], size_t i, float up, float down)
{
    for (unsigned pair = 0; pair < 4; pair++)
        sums[pair] += pair >> i / 8 & 1 ? down : up;
}

void wb__iq1_split_m(const float *x, const float *weights, const uint8_t *order,
                     wb__iq1_split *best)
{
    /* The order in which ggml tries the combinations; it decides between equal scores. */
    static const unsigned order_of_pairs[4] = {0, 2, 1, 3};
    float score = -FLT_MAX;
    for (size_t first = 0; first <= WB__IQ1_GROUP_M; first++) {
        for (size_t second = first; second <= WB__IQ1_GROUP_M; second++) {
            float lx[4] = {0}, l2[4] = {0};
            for (size_t k = 0; k < WB__IQ1_GROUP_M; k++) {
                size_t i = order[k], run = (k >= first) + (size_t)(k >= second);
                float up = wb__iq1_levels[0][run], down = wb__iq1_levels[1][run], w = weights[i];
                add_m(lx, i, w * up * x[i], w * down * x[i]);
                add_m(l2, i, w * up * up, w * down * down);
            }
            for (size_t k = 0; k < 4; k++) {
                unsigned pair = order_of_pairs[k];
                if (l2[pair] > 0 && lx[pair] * lx[pair] > score * l2[pair]) {
                    *best = (wb__iq1_split){lx[pair] / l2[pair], first, second, pair};
                    score = best->scale * lx[pair];
                }
            }
        }
    }
}

static bool encode_group_m(const wb__iq1_search *search, const float *x, const float *weights,
                           wb__iq1_split *best, uint16_t *codes)
{
    uint8_t order[WB__IQ1_GROUP_M], l[WB__IQ1_GROUP_M] = {0};
    *best = (wb__iq1_split){0, SIZE_MAX, 0, 0};
    if (largest_magnitude(x, WB__IQ1_GROUP_M) < 1e-7f)
        return false;
    search->rank(x, WB__IQ1_GROUP_M, order);
    search->split_m(x, weights, order, best);
    if (best->first == SIZE_MAX)
        return false;
    apply(best, WB__IQ1_GROUP_M, order, l);
    find_points(search, WB__IQ1_GROUP_M, x, weights, l, best, codes);
    return true;
}

/* An encoded group, for computing the scale of the block. */
typedef struct group_m {
    wb__iq1_split found;
    uint16_t codes[2]; /* one per 8 values: 2 bits per level; 0 for a group of zeros */
} group_m;

/*
 * Returns the block scale that minimizes the weighted squared error of the decoded values d (2 s +
 * 1) q, where d is the block scale, s the scale of the group (from `scales`) and q the level of the
 * value. Returns the parameter `d` if the sum of the weighted q² is 0.
 */
static float fit_block_m(const float *x, const float *importance, float variance,
                         const group_m *groups, const unsigned *scales, float d)
{
    float lx = 0, l2 = 0;
    for (size_t g = 0; g < 16; g++) {
        float weights[WB__IQ1_GROUP_M];
        const float *values = x + WB__IQ1_GROUP_M * g;
        weigh(values, importance == NULL ? NULL : importance + WB__IQ1_GROUP_M * g, variance,
              WB__IQ1_GROUP_M, weights);
        for (size_t i = 0; i < WB__IQ1_GROUP_M; i++) {
            unsigned l = groups[g].codes[i / 8] >> 2 * (i % 8) & 3;
            float q =
                wb__iq1_levels[groups[g].found.down >> i / 8 & 1][l] * (float)(2 * scales[g] + 1);
            lx += weights[i] * q * values[i];
            l2 += weights[i] * q * q;
        }
    }
    return l2 > 0 ? lx / l2 : d;
}

static void encode_block_m(const wb__iq1_search *search, const float *x, const float *importance,
                           uint8_t *out)
{
    float variance = 2 * wb__sum_of_squares(x, BLOCK) / BLOCK, largest = 0;
    float weights[WB__IQ1_GROUP_M];
    group_m groups[16];
    unsigned scales[16];
    memset(out, 0, 56);
    memset(groups, 0, sizeof groups);
    for (size_t g = 0; g < 16; g++) {
        const float *values = x + WB__IQ1_GROUP_M * g;
        weigh(values, importance == NULL ? NULL : importance + WB__IQ1_GROUP_M * g, variance,
              WB__IQ1_GROUP_M, weights);
        if (!encode_group_m(search, values, weights, &groups[g].found, groups[g].codes))
            continue;
        for (size_t o = 0; o < 2; o++) {
            unsigned number = number_of(groups[g].codes[o]);
            out[2 * g + o] = (uint8_t)number;
            out[32 + g] = (uint8_t)(out[32 + g] | number >> 8 << 4 * o);
        }
        if (groups[g].found.scale > largest)
            largest = groups[g].found.scale;
    }
    if (largest == 0)
        return;
    float d = largest / 15, inverse = 1 / d;
    for (size_t g = 0; g < 16; g++) {
        unsigned down = groups[g].found.down;
        uint8_t *word = out + 48 + g / 4 * 2;
        scales[g] =
            (unsigned)wb__clamp(wb__round_even(0.5f * (inverse * groups[g].found.scale - 1)), 0, 7);
        wb__store_le16(word, (uint16_t)(wb__load_le16(word) | scales[g] << g % 4 * 3));
        out[32 + g] = (uint8_t)(out[32 + g] | (down & 1) << 3 | (down >> 1 & 1) << 7);
    }
    d = fit_block_m(x, importance, variance, groups, scales, d) * 1.1125f;
    unsigned bits = wb__f32_to_f16(wb__bits_of_float(d));
    for (size_t i = 0; i < 4; i++) {
        uint8_t *word = out + 48 + 2 * i;
        wb__store_le16(word, (uint16_t)(wb__load_le16(word) | (bits >> 4 * i & 0xF) << 12));
    }
}

void wb__iq1_m_with(const wb__iq1_search *search, const float *x, const float *importance,
                    uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i += BLOCK, out += 56)
        encode_block_m(search, x + i, importance == NULL ? NULL : importance + i, out);
}

/* ---- encoders with the scalar search ---- */

static const wb__iq1_search scalar = {wb__iq1_rank, wb__iq1_split_s, wb__iq1_split_m, best_near};

void wb__encode_iq1_s(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_s_with(&scalar, x, importance, out, n);
}

void wb__encode_iq1_m(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_m_with(&scalar, x, importance, out, n);
}
