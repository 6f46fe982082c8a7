/*
 * tensor TYPE ROWS FILE: writes rows of 4096 values, encoded in the given element type; F32 stores
 * them unencoded. The values are nearly normally distributed, like real weights, and the same in
 * every run.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"

#define COLUMNS 4096u

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Each value is a sum of twelve uniform random numbers, which is nearly normally distributed and
 * the same on every machine. */
static void fill(float *values, uint64_t n)
{
    uint64_t state = 1;
    for (uint64_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int k = 0; k < 6; k++) {
            uint64_t bits = random_bits(&state);
            sum += (int64_t)(bits >> 32) + (int64_t)(bits & UINT32_MAX) - (int64_t)UINT32_MAX;
        }
        values[i] = (float)sum * (0.02f / 4294967296.0f);
    }
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "tensor: %s: %s\n", what, why);
    return 1;
}

int main(int argc, char **argv)
{
    wb_error error;
    uint64_t rows = argc == 4 ? strtoul(argv[2], NULL, 10) : 0, bytes;
    int32_t dtype = argc == 4 ? wb_dtype_find(argv[1], SIZE_MAX) : -1;
    if (rows == 0 || dtype < 0) {
        fputs("usage: tensor TYPE ROWS FILE\n", stderr);
        return 4;
    }
    if (wb_quantized_size(dtype, rows, COLUMNS, &bytes, &error) != WB_OK)
        return fail(argv[1], error.message);
    float *values = malloc((size_t)rows * COLUMNS * sizeof *values);
    void *blocks = malloc((size_t)bytes);
    static float importance[COLUMNS];
    if (values == NULL || blocks == NULL)
        return fail(argv[1], "no memory");
    fill(values, rows * COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        importance[i] = 1;
    wb_dtype_info info = {.size = sizeof info};
    if (wb_dtype_describe(dtype, &info) != WB_OK)
        return fail(argv[1], "no such type");
    if (wb_quantize(dtype, values, rows, COLUMNS,
                    info.importance == WB_IMPORTANCE_REQUIRED ? importance : NULL, blocks, bytes,
                    NULL, &error) != WB_OK)
        return fail(argv[1], error.message);
    FILE *file = fopen(argv[3], "wb");
    if (file == NULL || fwrite(blocks, 1, (size_t)bytes, file) != bytes || fclose(file) != 0)
        return fail(argv[3], "cannot write it");
    free(values);
    free(blocks);
    return 0;
}
