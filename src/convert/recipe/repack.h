/*
 * convert/recipe/repack.h: lossless conversion between block formats.
 *
 * MLX's affine modes and GGML's Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K and Q5_K all represent an
 * element by a code of a few bits, which is multiplied by a scale and added to a bias. A scale and
 * a bias apply to a group of 32 or more elements. Only the layouts differ. The microscaling modes
 * of MLX differ from the equivalent GGML types only in the order of the codes. All values remain
 * bit-identical if the new dtype of the scales and biases represents these exactly.
 */
#ifndef WB_CONVERT_RECIPE_REPACK_H
#define WB_CONVERT_RECIPE_REPACK_H

#include "convert/recipe/encoding.h"

/* Sets *to to the MLX encoding that represents the values of GGML encoding *from without loss.
 * Returns false if no such encoding exists. */
bool wb__repack_to_mlx(const wb__encoding_spec *from, wb__encoding_spec *to);

/* Sets *to to the GGML encoding that represents the values of MLX encoding *from without loss.
 * Returns false if no such encoding exists. */
bool wb__repack_to_ggml(const wb__encoding_spec *from, wb__encoding_spec *to);

/* Returns true if wb__repack can convert *from to *to. */
bool wb__repack_can(const wb__encoding_spec *from, const wb__encoding_spec *to);

/* Converts n elements. n must be a multiple of the group sizes of both encodings. The data of an
 * encoding with one part are in part WB__PART_VALUES. */
void wb__repack(const wb__encoding_spec *from, const uint8_t *const in[WB__PARTS],
                const wb__encoding_spec *to, uint8_t *const out[WB__PARTS], size_t n);

#endif
