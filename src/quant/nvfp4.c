/*
 * NVFP4 with a scale for the whole tensor. The programs that write such a scale compute value ·
 * (block scale · tensor scale), with each product rounded. The codec returns value · block scale;
 * multiplying that by the tensor scale could round differently. So the block scales are replaced by
 * 1 before the codec decodes the blocks, and the products of the scales are applied afterwards.
 */
#include "quant/kernel.h"
#include "quant/quant.h"
#include "quant/scalar/fp4.h"

#define GROUPS 4
#define GROUP 16
/* Size of a block in bytes; the block begins with the scales. */
#define BLOCK (GROUPS + GROUPS * GROUP / 2)
#define ONE 0x38 /* 1.0 in E4M3 */
#define BATCH 32 /* number of blocks that fit in the L1 cache */

void wb__nvfp4_decode(const wb__codec *codec, uint8_t *blocks, float factor, float *values,
                      size_t n)
{
    float scales[BATCH * GROUPS];
    while (n > 0) {
        size_t batch = n < BATCH ? n : BATCH;
        for (size_t g = 0; g < batch * GROUPS; g++) {
            uint8_t *scale = blocks + g / GROUPS * BLOCK + g % GROUPS;
            scales[g] = 2 * wb__half_of_e4m3(*scale) * factor;
            *scale = ONE;
        }
        codec->decode(blocks, values, batch);
        for (size_t g = 0; g < batch * GROUPS; g++) {
            for (size_t i = 0; i < GROUP; i++)
                values[g * GROUP + i] *= scales[g];
        }
        blocks += batch * BLOCK;
        values += batch * GROUPS * GROUP;
        n -= batch;
    }
}
