/*
 * 4-bit AWQ and GPTQ: value = (code - zero) * scale. Both pack eight codes into an I32, lowest bits
 * first, and store the weight transposed. Decoding therefore processes tiles of eight outputs by
 * eight inputs, or fewer inputs where a group ends.
 *
 *     AWQ    the codes of a word belong to eight outputs of one input, in the order 0 2 4 6 1 3 5 7
 *     GPTQ   the codes of a word belong to eight inputs of one output. A word of zero-points
 *            belongs to eight outputs of one group; stored values are one less than the zero-points
 *            (equal to them in checkpoint_format gptq_v2)
 */
#include "quant/hub/tiles.h"

#include "cpu/cpu.h"

static const uint8_t awq_nibble[8] = WB__AWQ_NIBBLES;
static const uint8_t gptq_nibble[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint32_t word_at(const void *words, uint64_t index)
{
    return wb__load_le32((const uint8_t *)words + 4 * index);
}

static int nibble(uint32_t word, unsigned index)
{
    return (int)(word >> 4 * index & 15);
}

static float dequantized(int code, int zero, float scale)
{
    return wb__float_canonical((float)(code - zero) * scale);
}

/* ---- tiles ---- */

static void awq_tile(const uint32_t words[8], unsigned first, unsigned n,
                     const wb__int4_group *group, float *values, uint64_t stride)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < 8; k++)
            values[k * stride + i] = dequantized(nibble(words[first + i], awq_nibble[k]),
                                                 group->zeros[k], group->scales[k]);
}

static void gptq_tile(const uint32_t words[8], unsigned first, unsigned n,
                      const wb__int4_group *group, float *values, uint64_t stride)
{
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < n; i++)
            values[k * stride + i] =
                dequantized(nibble(words[k], first + i), group->zeros[k], group->scales[k]);
}

static const wb__int4_tiles scalar = {.awq = awq_tile, .gptq = gptq_tile};

static const wb__int4_tiles *const sets[] = {
    &scalar,
#if WB__X86
    &wb__int4_tiles_avx2,
#endif
};

static const wb__int4_tiles *choose(uint32_t features)
{
    const wb__int4_tiles *chosen = &scalar;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        chosen = (sets[i]->features & ~features) == 0 ? sets[i] : chosen;
    return chosen;
}

/* ---- tensors ---- */

/* Loads the scales and zero-points of the eight outputs starting with `first`, for one group. */
static void load_group(const wb__int4 *tensor, uint64_t number, uint64_t first,
                       const uint8_t *order, wb__int4_group *group)
{
    wb__dtype_convert(wb__dtype_get(tensor->scales_dtype), tensor->scales,
                      number * tensor->out + first, wb__dtype_get(WB_DTYPE_F32), group->scales, 8);
    uint32_t packed = word_at(tensor->qzeros, number * (tensor->out / 8) + first / 8);
    for (unsigned k = 0; k < 8; k++)
        group->zeros[k] = nibble(packed, order[k]) + (int)tensor->zero_offset;
}

void wb__awq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                    float *values)
{
    const wb__int4_tiles *tiles = choose(features);
    for (uint64_t tile = first; tile < first + rows; tile += 8, values += 8 * tensor->in) {
        wb__int4_group group = {.zeros = {0}};
        for (uint64_t i = 0; i < tensor->in;) {
            uint32_t words[8] = {0};
            uint64_t left = tensor->in - i, of_group = tensor->group - i % tensor->group;
            left = left < of_group ? left : of_group;
            unsigned n = left < 8 ? (unsigned)left : 8;
            if (i % tensor->group == 0)
                load_group(tensor, i / tensor->group, tile, awq_nibble, &group);
            for (unsigned k = 0; k < n; k++)
                words[k] = word_at(tensor->qweight, (i + k) * (tensor->out / 8) + tile / 8);
            (n == 8 ? tiles : &scalar)->awq(words, 0, n, &group, values + i, tensor->in);
            i += n;
        }
    }
}

static uint64_t group_of(const wb__int4 *tensor, uint64_t i)
{
    uint64_t group = tensor->g_idx != NULL ? word_at(tensor->g_idx, i) : i / tensor->group;
    return group < tensor->groups ? group : tensor->groups - 1;
}

/*
 * Returns the number of consecutive inputs, starting with i, that are in `group` and in the same
 * word as input i.
 */
static unsigned inputs_of(const wb__int4 *tensor, uint64_t i, uint64_t group)
{
    unsigned most = 8 - (unsigned)(i % 8), n = 1;
    if (tensor->g_idx == NULL) {
        uint64_t left = tensor->group - i % tensor->group;
        return left < most ? (unsigned)left : most;
    }
    while (n < most && group_of(tensor, i + n) == group)
        n++;
    return n;
}

void wb__gptq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                     float *values)
{
    const wb__int4_tiles *tiles = choose(features);
    for (uint64_t tile = first; tile < first + rows; tile += 8, values += 8 * tensor->in) {
        wb__int4_group group = {.zeros = {0}};
        uint64_t loaded = UINT64_MAX;
        for (uint64_t i = 0; i < tensor->in;) {
            uint32_t words[8];
            uint64_t number = group_of(tensor, i);
            unsigned n = inputs_of(tensor, i, number);
            if (number != loaded)
                load_group(tensor, number, tile, gptq_nibble, &group);
            loaded = number;
            for (unsigned k = 0; k < 8; k++)
                words[k] = word_at(tensor->qweight, i / 8 * tensor->out + tile + k);
            (n == 8 ? tiles : &scalar)
                ->gptq(words, (unsigned)(i % 8), n, &group, values + i, tensor->in);
            i += n;
        }
    }
}
