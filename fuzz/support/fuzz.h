/*
 * fuzz/support/fuzz.h: what the fuzz targets share.
 *
 * A target is one file, fuzz/NAME.c, that defines LLVMFuzzerTestOneInput. It is built with libFuzzer,
 * with AFL++'s driver for the same function, and with support/replay.c, which runs the files it is
 * given; the latter is how ctest replays fuzz/seeds/NAME in every preset. A target finds a fault by
 * itself with CHECK, or lets a sanitizer find it.
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

/* Ends the run, as a sanitizer would, if what must hold does not. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/*
 * A mutation of a safetensors file that keeps the length of the header right most of the time, in
 * place; returns the new size. `bytes` mutates plain bytes likewise (LLVMFuzzerMutate), NULL: our own.
 */
typedef size_t fuzz_mutate(uint8_t *data, size_t size, size_t max);
size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t max, uint32_t seed,
                               fuzz_mutate *bytes);

/* The same for a GGUF file: counts and lengths mostly follow what they count. */
size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes);

/* And for an .npz: lengths, offsets and checksums mostly are right. */
size_t fuzz_mutate_npz(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes);

#endif
