/* convert/recipe/repack.h: lossless conversion between block formats.
 *
 * MLX's affine modes and GGML's Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K and Q5_K all store a code of
 * a few bits times a scale plus a bias, for groups of 32 or more elements, in different layouts.
 * The microscaling modes differ from their GGML equivalents only in the order of the codes. If
 * the scales and biases fit their new dtype, all values stay bit-identical. */
#ifndef WB_CONVERT_RECIPE_REPACK_H
#define WB_CONVERT_RECIPE_REPACK_H

#include "convert/recipe/encoding.h"

/* Sets *to to the lossless MLX encoding of a GGML encoding. Returns false if there is none. */
bool wb__repack_to_mlx(const wb__encoding_spec *from, wb__encoding_spec *to);

/* Sets *to to the lossless GGML encoding of an MLX encoding. Returns false if there is none. */
bool wb__repack_to_ggml(const wb__encoding_spec *from, wb__encoding_spec *to);

/* Returns true if wb__repack supports the conversion. */
bool wb__repack_can(const wb__encoding_spec *from, const wb__encoding_spec *to);

/* Repacks n elements, a multiple of both group sizes. An encoding with a single part uses
 * WB__PART_VALUES. */
void wb__repack(const wb__encoding_spec *from, const uint8_t *const in[WB__PARTS],
                const wb__encoding_spec *to, uint8_t *const out[WB__PARTS], size_t n);

#endif
