/*
 * quant/scalar/iq_search.h: between the encoders of IQ2 and IQ3 (iq_encode.c), which know about
 * blocks, and the searches for the points of a group, which know about codebooks.
 */
#ifndef WB_QUANT_SCALAR_IQ_SEARCH_H
#define WB_QUANT_SCALAR_IQ_SEARCH_H

#include "quant/quant.h"
#include "quant/scalar/codebooks.h"

#define WB__IQ_GROUP_MAX 32
#define WB__IQ_CELLS_MAX 8 /* points in a group */

typedef struct wb__iq_type {
    wb__codebook_id book;
    uint8_t group;     /* values that share a scale */
    uint8_t cell;      /* values of a point: 8 or 4 */
    uint8_t bits;      /* of a coordinate */
    uint8_t levels;    /* coordinates are less */
    uint8_t tries;     /* candidates on each side of the middle one */
    float step;        /* between candidates */
    float tiny;        /* a group of nothing larger is zero */
    bool even_signs;   /* seven of eight are stored */
    bool search_first; /* the middle candidate comes from a search, not from the largest value */
    bool again_all;    /* the second look is at all points, not just at those that had to move */
    float variance_of; /* variance = this · Σx² / 256 */
    float lift;        /* without importance matrix, weight = this · variance + x² */
    float d_of;        /* d = this · the largest scale / 31 */
} wb__iq_type;

/* A group of values at work. */
typedef struct wb__iq_group {
    const wb__iq_type *type;
    const wb__codebook *book;
    float x[WB__IQ_GROUP_MAX];       /* magnitudes */
    float weights[WB__IQ_GROUP_MAX]; /* of squared errors */
    float roots[WB__IQ_GROUP_MAX];   /* their square roots, by which points compete for a place */
} wb__iq_group;

/*
 * Of the candidates for the scale, which lie around `middle`, takes the best, or `scale` where none
 * is good, and its points, as codes. Returns the scale they suggest.
 */
typedef float wb__iq_search(const wb__iq_group *group, float middle, float scale, uint16_t *codes);

wb__iq_search wb__iq_search_scalar;

/* The encoders with another search. */
void wb__iq2_xxs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                      size_t n);
void wb__iq2_xs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                     size_t n);
void wb__iq2_s_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                    size_t n);
void wb__iq3_xxs_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                      size_t n);
void wb__iq3_s_with(wb__iq_search *search, const float *x, const float *importance, uint8_t *out,
                    size_t n);

#endif
