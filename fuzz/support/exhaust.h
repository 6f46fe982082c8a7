/*
 * fuzz/support/exhaust.h: every small mutation of an input, one after another.
 *
 * Of n bytes: every truncation (n), every flip of one bit (8 n), every field of 1, 2, 4 and 8 bytes at
 * every offset, in either byte order, set to each of the forty boundary values that fit it, and every
 * decimal number in it replaced by each of the forty written out. Where a text grows or shrinks behind
 * a length in front (safetensors), that length follows; the original length is tried as well, by the
 * mutations of fields.
 */
#ifndef WB_FUZZ_EXHAUST_H
#define WB_FUZZ_EXHAUST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Gives each mutation of `data` whose number leaves `part` when divided by `of` to the fuzz target, in
 * a block of exactly its size. Returns how many those were; 0 when memory is out.
 */
uint64_t fuzz_exhaust(const uint8_t *data, size_t size, uint64_t part, uint64_t of);

#endif
