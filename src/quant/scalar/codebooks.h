/*
 * quant/scalar/codebooks.h: the codebooks of the IQ types, and for encoding what lies near their
 * points.
 *
 * A value of IQ2 and IQ3 is a magnitude from the codebook times a sign times a scale. Eight (IQ1,
 * IQ2) or four (IQ3) values together are one point; its coordinates l are small integers:
 *
 *   IQ1      l = 0, 1, 2           stands for -1, 0, 1, moved up or down by 1/8
 *   IQ2      l = 0, 1, 2           8, 25, 43
 *   IQ3_XXS  l = 0 to 7            4, 12, 20, 28, 36, 44, 52, 62
 *   IQ3_S    l = 0 to 7            1, 3, 5, … 15
 */
#ifndef WB_QUANT_SCALAR_CODEBOOKS_H
#define WB_QUANT_SCALAR_CODEBOOKS_H

#include <stddef.h>
#include <stdint.h>

extern const uint16_t wb__codes_iq2_xxs[256], wb__codes_iq2_xs[512], wb__codes_iq2_s[1024],
    wb__codes_iq1[2048], wb__codes_iq3_xxs[256], wb__codes_iq3_s[512];

/* The eighth sign of IQ2_XXS, IQ2_XS and IQ3_XXS makes their number even. */
static inline uint8_t wb__with_parity(unsigned signs)
{
    unsigned p = signs ^ signs >> 4;
    p ^= p >> 2;
    p ^= p >> 1;
    return (uint8_t)(signs | (p & 1) << 7);
}

typedef enum wb__codebook_id {
    WB__CODEBOOK_IQ2_XXS,
    WB__CODEBOOK_IQ2_XS,
    WB__CODEBOOK_IQ2_S,
    WB__CODEBOOK_IQ1,
    WB__CODEBOOK_IQ3_XXS,
    WB__CODEBOOK_IQ3_S,
    WB__CODEBOOKS
} wb__codebook_id;

/*
 * For every code that can be formed: the number of the point, or the points around it, nearest
 * first and among equals in order of their numbers, as far as the second (IQ2_S: first; IQ1, IQ3_S:
 * third) of the distances that occur.
 */
typedef struct wb__codebook {
    const uint16_t *codes; /* of the points, by number */
    const uint32_t *cells; /* by code; see below */
    const uint16_t *near;  /* codes of points */
} wb__codebook;

#define WB__NEAR_SLACK 16 /* codes behind `near` that may be read */

#define WB__CELL_COUNT(cell) ((cell) >> 20) /* how many points around it; 0: it is one itself */
#define WB__CELL_VALUE(cell) ((cell) & 0xFFFFFu) /* the first of them in `near`, or its number */

/* The codebook; its cells are computed by the first call, in milliseconds. Thread-safe. */
const wb__codebook *wb__codebook_get(wb__codebook_id id);

#endif
