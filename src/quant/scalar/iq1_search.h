/*
 * quant/scalar/iq1_search.h: the interface between the encoders of IQ1 (iq1_encode.c) and their
 * inner loops, which have vectorized versions.
 */
#ifndef WB_QUANT_SCALAR_IQ1_SEARCH_H
#define WB_QUANT_SCALAR_IQ1_SEARCH_H

#include "quant/quant.h"

#define WB__IQ1_GROUP_S 32 /* number of values in a group of IQ1_S */
#define WB__IQ1_GROUP_M 16

/*
 * Maps a coordinate of a point to a value. The coordinates 0, 1 and 2 stand for -1, 0 and 1. Row 0
 * contains these values plus 1/8 (shifted up), row 1 these values minus 1/8 (shifted down). Entry 3
 * is unused. A coordinate has two bits; entries 4 to 7 repeat entries 0 to 3 for lookups that use
 * three bits.
 */
extern const float wb__iq1_levels[2][8];

/*
 * A split of the values of a group, sorted in ascending order, into runs that become -1, 0 and 1.
 * The rank of a value is its index in this order.
 */
typedef struct wb__iq1_split {
    float scale;
    /* Values with a rank below `first` become -1, values with a rank of at least `second` become
     * 1, and the values between them become 0. `first` is SIZE_MAX if no split reduces the
     * error. */
    size_t first, second;
    unsigned down; /* bit o is set if octet o is shifted down */
} wb__iq1_split;

typedef struct wb__iq1_search {
    /* Sorts n values: order[k] is the index of the value of rank k. Equal values keep their
     * order. */
    void (*rank)(const float *x, size_t n, uint8_t *order);
    /* Find the best split of a group. order[k] is the index of the value of rank k. */
    void (*split_s)(const float *x, const float *weights, const uint8_t *order,
                    wb__iq1_split *best);
    void (*split_m)(const float *x, const float *weights, const uint8_t *order,
                    wb__iq1_split *best);
    /* Returns the code, out of `count` codes at `near`, with the least error for the eight values
     * at x. `values` is a row of wb__iq1_levels. */
    unsigned (*nearest)(const uint16_t *near, unsigned count, const float *x, const float *weights,
                        float scale, const float *values);
} wb__iq1_search;

/* The scalar implementations. */
void wb__iq1_rank(const float *x, size_t n, uint8_t *order);
void wb__iq1_split_s(const float *x, const float *weights, const uint8_t *order,
                     wb__iq1_split *best);
void wb__iq1_split_m(const float *x, const float *weights, const uint8_t *order,
                     wb__iq1_split *best);

void wb__iq1_s_with(const wb__iq1_search *search, const float *x, const float *importance,
                    uint8_t *out, size_t n);
void wb__iq1_m_with(const wb__iq1_search *search, const float *x, const float *importance,
                    uint8_t *out, size_t n);

#endif
