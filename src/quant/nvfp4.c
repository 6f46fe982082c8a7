/*
 * NVFP4 with a factor of the whole tensor. A block decodes to value · scale, which is exact, and the product of that
 * with the factor is not always value · (scale · factor), each rounded, as those compute it who make such factors.
 * So the codec decodes blocks whose scales are 1, and the scales are multiplied into its values here.
 */
#include "quant/kernel.h"
#include "quant/quant.h"
#include "quant/scalar/fp4.h"

#define GROUPS 4
#define GROUP 16
#define BLOCK (GROUPS + GROUPS * GROUP / 2) /* bytes; the scales come first */
#define ONE 0x38                            /* E4M3 */
#define BATCH 32                            /* blocks that stay in the nearest cache */

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
