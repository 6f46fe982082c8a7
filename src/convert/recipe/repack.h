/*
 * convert/recipe/repack.h: the same values in other blocks.
 *
 * Types that are a code of a few bits times a scale plus a bias, for groups of 32 or more, say the
 * same in different words: MLX's affine modes and GGML's Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K and
 * Q5_K. The microscaling modes differ from their GGML twins in the order of the codes. Where scales
 * and biases fit their new dtype no value changes by a bit.
 */
#ifndef WB_CONVERT_RECIPE_REPACK_H
#define WB_CONVERT_RECIPE_REPACK_H

#include "convert/recipe/encoding.h"

/* The form that a form of GGML goes into without loss; false if there is none. */
bool wb__repack_to_mlx(const wb__encoding_spec *from, wb__encoding_spec *to);

/* The way back. */
bool wb__repack_to_ggml(const wb__encoding_spec *from, wb__encoding_spec *to);

/* Whether one goes into the other so. */
bool wb__repack_can(const wb__encoding_spec *from, const wb__encoding_spec *to);

/* Repacks n elements, a multiple of the larger group of both. Parts of one piece are VALUES. */
void wb__repack(const wb__encoding_spec *from, const uint8_t *const in[WB__PARTS],
                const wb__encoding_spec *to, uint8_t *const out[WB__PARTS], size_t n);

#endif
