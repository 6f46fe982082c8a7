/*
 * quant/scalar/iq1_search.h: between the encoders of IQ1 (iq1_encode.c) and what they spend their
 * time on.
 */
#ifndef WB_QUANT_SCALAR_IQ1_SEARCH_H
#define WB_QUANT_SCALAR_IQ1_SEARCH_H

#include "quant/quant.h"

#define WB__IQ1_GROUP_S 32 /* values of a group of IQ1_S */
#define WB__IQ1_GROUP_M 16

/* What coordinates stand for, moved up and moved down; by two bits, and again by three. */
extern const float wb__iq1_levels[2][8];

/* Where the values of a group, in ascending order, are split. */
typedef struct wb__iq1_split {
    float scale;
    size_t first, second; /* values of rank below `first` are -1, from `second` on 1; `first` is
                             SIZE_MAX where no split is good */
    unsigned down;        /* bit o: octet o is moved down */
} wb__iq1_split;

typedef struct wb__iq1_search {
    /* Positions of n values in ascending order, equals as they stand. */
    void (*rank)(const float *x, size_t n, uint8_t *order);
    /* The best split of a group; order[k] is the value of rank k. */
    void (*split_s)(const float *x, const float *weights, const uint8_t *order,
                    wb__iq1_split *best);
    void (*split_m)(const float *x, const float *weights, const uint8_t *order,
                    wb__iq1_split *best);
    /* Of `count` codes the best for eight values; `values` is a row of wb__iq1_levels. */
    unsigned (*nearest)(const uint16_t *near, unsigned count, const float *x, const float *weights,
                        float scale, const float *values);
} wb__iq1_search;

/* The scalar ones. */
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
