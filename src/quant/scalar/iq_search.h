/*
 * quant/scalar/iq_search.h: the interface between the encoders of IQ2 and IQ3 (iq_encode.c), which
 * handle blocks, and the search for the codebook points of a group.
 */
#ifndef WB_QUANT_SCALAR_IQ_SEARCH_H
#define WB_QUANT_SCALAR_IQ_SEARCH_H

#include "quant/quant.h"
#include "quant/scalar/codebooks.h"

#define WB__IQ_GROUP_MAX 32
#define WB__IQ_CELLS_MAX 8 /* maximum number of points per group */

typedef struct wb__iq_type {
    wb__codebook_id book;
    uint8_t group;     /* number of values that share a scale */
    uint8_t cell;      /* number of values per point: 8 or 4 */
    uint8_t bits;      /* bits per coordinate */
    uint8_t levels;    /* number of values of a coordinate */
    uint8_t tries;     /* number of candidates on each side of the middle one; see wb__iq_search */
    float step;        /* step between candidates; see wb__iq_search */
    float tiny;        /* a group with all magnitudes below this is encoded as zeros */
    bool even_signs;   /* only seven of eight signs are stored */
    bool search_first; /* the middle candidate comes from wb__search_unsigned instead of the
                        * largest value */
    /* the second pass searches all points again, not only those of codes outside the codebook */
    bool again_all;
    float variance_of; /* variance = variance_of · Σx² / 256 */
    float lift;        /* without importance matrix, weight = lift · variance + x² */
    float d_of;        /* d = d_of · largest scale / 31 */
} wb__iq_type;

/* A group of values that is being encoded. */
typedef struct wb__iq_group {
    const wb__iq_type *type;
    const wb__codebook *book;
    float x[WB__IQ_GROUP_MAX];       /* magnitudes of the values */
    float weights[WB__IQ_GROUP_MAX]; /* weights of the squared errors */
    /* square roots of the weights, used to choose among neighbours */
    float roots[WB__IQ_GROUP_MAX];
} wb__iq_group;

/*
 * Tries the candidate scales middle / (top + i · step) for i from -tries to tries, where top is the
 * largest magnitude, 2 · levels - 1. Chooses the best candidate, or `scale` if none reduces the
 * error. Stores its points as codes. Returns the optimal scale for these points.
 */
typedef float wb__iq_search(const wb__iq_group *group, float middle, float scale, uint16_t *codes);

wb__iq_search wb__iq_search_scalar;

/* The encoders. Each calls `search` to choose the codes of a group. */
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
