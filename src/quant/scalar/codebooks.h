/*
 * quant/scalar/codebooks.h: the codebooks of the IQ types, and for encoding the neighbours of the
 * codes that are not in a codebook.
 *
 * A value of IQ2 or IQ3 is a magnitude from the codebook times a sign times a scale. A point of the
 * codebook represents eight (IQ1, IQ2) or four (IQ3) values. Its coordinates l are small integers:
 *
 *   IQ1      l = 0, 1, 2           means -1, 0, 1, shifted up or down by 1/8
 *   IQ2      l = 0, 1, 2           means 8, 25, 43
 *   IQ3_XXS  l = 0 to 7            means 4, 12, 20, 28, 36, 44, 52, 62
 *   IQ3_S    l = 0 to 7            means 1, 3, 5, … 15
 *
 * The code of a point packs its coordinates into one integer.
 */
#ifndef WB_QUANT_SCALAR_CODEBOOKS_H
#define WB_QUANT_SCALAR_CODEBOOKS_H

#include <stddef.h>
#include <stdint.h>

extern const uint16_t wb__codes_iq2_xxs[256], wb__codes_iq2_xs[512], wb__codes_iq2_s[1024],
    wb__codes_iq1[2048], wb__codes_iq3_xxs[256], wb__codes_iq3_s[512];

/*
 * Returns 7 signs with the eighth sign bit of IQ2_XXS, IQ2_XS and IQ3_XXS, which makes the number
 * of set bits even.
 */
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
 * For every possible code, a cell contains either the number of its point, or the list of the
 * nearest points. The list is ordered by distance, then by point number. It includes all points up
 * to the second smallest of the occurring distances (IQ2_S: the smallest; IQ1 and IQ3_S: the third
 * smallest).
 */
typedef struct wb__codebook {
    const uint16_t *codes; /* codes of the points, indexed by point number */
    const uint32_t *cells; /* indexed by code; see WB__CELL_COUNT and WB__CELL_VALUE */
    const uint16_t *near;  /* lists of nearest points, as codes */
} wb__codebook;

#define WB__NEAR_SLACK 16 /* number of readable codes after the end of `near` */

#define WB__CELL_COUNT(cell) ((cell) >> 20)      /* length of the list; 0: the code is a point */
#define WB__CELL_VALUE(cell) ((cell) & 0xFFFFFu) /* start of the list in `near`, or point number */

/*
 * Returns the codebook. The first call computes its cells, which takes milliseconds. Thread-safe.
 */
const wb__codebook *wb__codebook_get(wb__codebook_id id);

#endif
