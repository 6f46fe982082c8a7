/*
 * AWQ and GPTQ with four bits: value = (code - zero) * scale. Both pack eight codes into an I32, lowest
 * bits first, and store the weight transposed, so that decoding goes through it in tiles of eight
 * outputs.
 *
 *     AWQ    the eight codes are eight outputs of one input, in the order 0 2 4 6 1 3 5 7
 *     GPTQ   the eight codes are eight inputs of one output; zero-points are eight outputs of one
 *            group, stored less one
 */
#include "quant/mlx/number.h"

#include "quant/hub/hub.h"

/* The nibble that holds each of eight outputs. */
static const uint8_t awq_nibble[8] = {0, 4, 1, 5, 2, 6, 3, 7};
static const uint8_t gptq_nibble[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint32_t word_at(const void *words, uint64_t index)
{
    return wb__load_le32((const uint8_t *)words + 4 * index);
}

static int nibble(uint32_t word, unsigned index)
{
    return (int)(word >> 4 * index & 15);
}

/* The scales and zero-points of eight outputs from `first` on, in one group. */
static void load_group(const wb__int4 *tensor, uint64_t group, uint64_t first, const uint8_t *order,
                       float *scales, int *zeros)
{
    wb__dtype_convert(wb__dtype_get(tensor->scales_dtype), tensor->scales,
                      group * tensor->out + first, wb__dtype_get(WB_DTYPE_F32), scales, 8);
    uint32_t packed = word_at(tensor->qzeros, group * (tensor->out / 8) + first / 8);
    for (unsigned k = 0; k < 8; k++)
        zeros[k] = nibble(packed, order[k]) + (int)tensor->zero_offset;
}

static float dequantized(int code, int zero, float scale)
{
    return wb__float_canonical((float)(code - zero) * scale);
}

void wb__awq_decode(const wb__int4 *tensor, uint64_t first, uint64_t rows, float *values)
{
    for (uint64_t tile = first; tile < first + rows; tile += 8, values += 8 * tensor->in) {
        float scales[8] = {0};
        int zeros[8] = {0};
        for (uint64_t i = 0; i < tensor->in; i++) {
            if (i % tensor->group == 0)
                load_group(tensor, i / tensor->group, tile, awq_nibble, scales, zeros);
            uint32_t packed = word_at(tensor->qweight, i * (tensor->out / 8) + tile / 8);
            for (unsigned k = 0; k < 8; k++)
                values[k * tensor->in + i] =
                    dequantized(nibble(packed, awq_nibble[k]), zeros[k], scales[k]);
        }
    }
}

static uint64_t group_of(const wb__int4 *tensor, uint64_t i)
{
    uint64_t group = tensor->g_idx != NULL ? word_at(tensor->g_idx, i) : i / tensor->group;
    return group < tensor->groups ? group : tensor->groups - 1;
}

void wb__gptq_decode(const wb__int4 *tensor, uint64_t first, uint64_t rows, float *values)
{
    for (uint64_t tile = first; tile < first + rows; tile += 8, values += 8 * tensor->in) {
        float scales[8] = {0};
        int zeros[8] = {0};
        uint64_t loaded = UINT64_MAX;
        for (uint64_t i = 0; i < tensor->in; i++) {
            uint64_t group = group_of(tensor, i);
            if (group != loaded)
                load_group(tensor, group, tile, gptq_nibble, scales, zeros);
            loaded = group;
            uint64_t words = i / 8 * tensor->out + tile;
            for (unsigned k = 0; k < 8; k++) {
                int code = nibble(word_at(tensor->qweight, words + k), (unsigned)(i % 8));
                values[k * tensor->in + i] = dequantized(code, zeros[k], scales[k]);
            }
        }
    }
}
