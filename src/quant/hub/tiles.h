/*
 * quant/hub/tiles.h: tiles of eight words of AWQ and GPTQ, and the functions that decode them.
 *
 * A tile has eight outputs and up to eight inputs, all in one group. Each output is a row of the
 * result; rows are `stride` floats apart. The scalar set in int4.c is the reference. The other sets
 * give the same bits, and decode only tiles of eight inputs.
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

/* Decodes n of the eight inputs of the tile in `words`, from input `first` on. first + n is at most
 * 8. */
typedef void wb__int4_tile(const uint32_t words[8], unsigned first, unsigned n,
                           const wb__int4_group *group, float *values, uint64_t stride);

typedef struct wb__int4_tiles {
    uint32_t features;   /* the WB__CPU_* features the set requires */
    wb__int4_tile *awq;  /* each word holds the eight outputs of one input, in AWQ order */
    wb__int4_tile *gptq; /* each word holds the eight inputs of one output */
} wb__int4_tiles;

/* Element k is the index of the nibble that holds output k. */
#define WB__AWQ_NIBBLES {0, 4, 1, 5, 2, 6, 3, 7}

extern const wb__int4_tiles wb__int4_tiles_avx2;

#endif
