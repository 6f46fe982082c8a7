/*
 * quant/scalar/codebooks.h: the codebooks of IQ1, IQ2 and IQ3 (the codebook types). All files about
 * these types use the following terms:
 *
 *   octet       eight consecutive values
 *   coordinate  a small integer l that represents one value, up to scale and sign:
 *                 IQ1      l = 0, 1, 2    means -1, 0, 1, shifted up or down by 1/8
 *                 IQ2      l = 0, 1, 2    means the magnitude 8, 25, 43
 *                 IQ3_XXS  l = 0 to 7     means the magnitude 4, 12, 20, 28, 36, 44, 52, 62
 *                 IQ3_S    l = 0 to 7     means the magnitude 1, 3, 5, … 15
 *   code        the coordinates of an octet (IQ1, IQ2) or of four values (IQ3), packed into one
 *               integer; the first coordinate is in the lowest bits
 *   point       a code that is in the codebook; its number is its index there. Blocks store these
 *               numbers.
 *   neighbours  the points nearest to a code that is not in the codebook; an encoder chooses one of
 *               them
 */
#ifndef WB_QUANT_SCALAR_CODEBOOKS_H
#define WB_QUANT_SCALAR_CODEBOOKS_H

#include <stddef.h>
#include <stdint.h>

extern const uint16_t wb__codes_iq2_xxs[256], wb__codes_iq2_xs[512], wb__codes_iq2_s[1024],
    wb__codes_iq1[2048], wb__codes_iq3_xxs[256], wb__codes_iq3_s[512];

/*
 * IQ2_XXS, IQ2_XS and IQ3_XXS store only 7 of the 8 sign bits of an octet. Returns them with the
 * eighth, which makes the number of set bits even.
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
 * The array `cells` has an entry, called a cell, for every possible code. If the code is a point,
 * its cell contains the number of the point. Otherwise the cell contains the position and length of
 * its list of neighbours in the array `near`. A list is ordered by distance (the sum of the squared
 * differences of the coordinates), then by point number. It contains the points at the smallest two
 * distances that occur; for IQ2_S only those at the smallest one, for IQ1 and IQ3_S those at the
 * smallest three.
 */
typedef struct wb__codebook {
    const uint16_t *codes; /* codes of the points, indexed by point number */
    const uint32_t *cells; /* indexed by code; see WB__CELL_COUNT and WB__CELL_VALUE */
    const uint16_t *near;  /* lists of neighbours, as codes */
} wb__codebook;

/* Number of readable elements after the last list in `near`, for vector loads. */
#define WB__NEAR_SLACK 16

#define WB__CELL_COUNT(cell) ((cell) >> 20)      /* length of the list; 0: the code is a point */
#define WB__CELL_VALUE(cell) ((cell) & 0xFFFFFu) /* start of the list in `near`, or point number */

/*
 * Returns the codebook. The first call computes its cells, which takes milliseconds. Thread-safe.
 */
const wb__codebook *wb__codebook_get(wb__codebook_id id);

#endif
