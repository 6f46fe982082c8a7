/*
 * fuzz/support/exhaust.h: generates every small mutation of an input.
 *
 * For n bytes: every truncation (n); every single bit flip (8 n); every field of 1, 2, 4 and 8
 * bytes at every offset, in either byte order, set to each of the forty boundary values that fit;
 * and every decimal number replaced by each of the forty. If a text with a length prefix
 * (safetensors) changes size, the prefix is updated; the field mutations also test a wrong
 * prefix.
 */
#ifndef WB_FUZZ_EXHAUST_H
#define WB_FUZZ_EXHAUST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Passes each mutation of `data` whose number modulo `of` is `part` to the fuzz target, in a memory
 * block of exactly the size of the mutation. Returns the number of mutations, or 0 if memory
 * allocation fails.
 */
uint64_t fuzz_exhaust(const uint8_t *data, size_t size, uint64_t part, uint64_t of);

#endif
