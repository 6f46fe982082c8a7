/*
 * quant/hub/tiles.h: AWQ and GPTQ in tiles of eight words, and who decodes them.
 *
 * A tile has up to eight inputs of eight outputs, all of one group. Its values go to rows that are `stride`
 * floats apart, a row for each output. The scalar set, in int4.c, is the definition of right; others give
 * the same bits, for whole tiles.
 */
#ifndef WB_QUANT_HUB_TILES_H
#define WB_QUANT_HUB_TILES_H

#include "quant/mlx/number.h"

#include "quant/hub/hub.h"

/* The scales and zero-points of eight outputs. */
typedef struct wb__int4_group {
    float scales[8];
    int32_t zeros[8];
} wb__int4_group;

/* Inputs `first` to first + n - 1 of those in the words, which are below 8. */
typedef void wb__int4_tile(const uint32_t words[8], unsigned first, unsigned n,
                           const wb__int4_group *group, float *values, uint64_t stride);

typedef struct wb__int4_tiles {
    uint32_t features;   /* WB__CPU_* that the set needs */
    wb__int4_tile *awq;  /* a word has the eight outputs of an input, in AWQ's order */
    wb__int4_tile *gptq; /* a word has the eight inputs of an output */
} wb__int4_tiles;

/* The nibble that holds each of eight outputs. */
#define WB__AWQ_NIBBLES {0, 4, 1, 5, 2, 6, 3, 7}

extern const wb__int4_tiles wb__int4_tiles_avx2;

#endif
