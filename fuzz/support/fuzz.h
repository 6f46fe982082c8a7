/*
 * fuzz/support/fuzz.h: declarations shared by the fuzz targets.
 *
 * A target is one file, fuzz/NAME.c, that defines LLVMFuzzerTestOneInput. It is built with
 * libFuzzer, with AFL++'s driver for the same function, and with support/replay.c, which runs the
 * files named on its command line. ctest uses the replay build to run fuzz/seeds/NAME in every
 * preset. A target reports an error with CHECK; sanitizers find others.
 */
#ifndef WB_FUZZ_FUZZ_H
#define WB_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, as a sanitizer does, if the condition is false. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/*
 * Mutates a safetensors file in place and returns its new size, at most `max` bytes. The length
 * prefix usually stays correct. `bytes` is a function that mutates plain bytes (LLVMFuzzerMutate);
 * NULL: a built-in function does this.
 */
typedef size_t fuzz_mutate(uint8_t *data, size_t size, size_t max);
size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t max, uint32_t seed,
                               fuzz_mutate *bytes);

/* As fuzz_mutate_safetensors, for a GGUF file. Counts and lengths usually stay correct. */
size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes);

/* As fuzz_mutate_safetensors, for an .npz file. Lengths, offsets and checksums usually stay
 * correct. */
size_t fuzz_mutate_npz(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes);

#endif
