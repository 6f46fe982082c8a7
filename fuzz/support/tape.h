/*
 * fuzz/support/tape.h: interprets an input as a list of choices. After the end of the input all
 * choices are 0.
 */
#ifndef WB_FUZZ_TAPE_H
#define WB_FUZZ_TAPE_H

#include "fuzz.h"

typedef struct fuzz_tape {
    const uint8_t *data;
    size_t size, at;
} fuzz_tape;

static inline bool fuzz_tape_ended(const fuzz_tape *tape)
{
    return tape->at >= tape->size;
}

/* Returns a number less than `below` (at most 256). */
static inline uint32_t fuzz_choose(fuzz_tape *tape, uint32_t below)
{
    return fuzz_tape_ended(tape) ? 0 : tape->data[tape->at++] % below;
}

/* Writes a NUL-terminated text of at most `most` bytes to `to` and returns its length. The text is
 * one of a few common names, consists of bytes of the tape, or repeats 'x'. */
static inline size_t fuzz_text(fuzz_tape *tape, char *to, size_t most)
{
    static const char *const plain[] = {"a",
                                        "b",
                                        "general.name",
                                        "model.layers.0.weight",
                                        "tokenizer.ggml.tokens",
                                        "x.scales",
                                        "__metadata__",
                                        ""};
    uint32_t how = fuzz_choose(tape, 16);
    size_t n = 0;
    if (how < 8) {
        n = strlen(plain[how]);
        n = n < most ? n : most;
        memcpy(to, plain[how], n);
    } else {
        size_t wanted = how == 15 ? fuzz_choose(tape, 256) : how;
        if (wanted > 191) /* at most 9,472 bytes: larger data would dominate the run time */
            wanted = (wanted - 191) * 148;
        for (; n < wanted && n < most; n++)
            to[n] = how == 15 ? 'x' : (char)fuzz_choose(tape, 256);
    }
    to[n] = '\0';
    return n;
}

/* Returns the largest number in a text. Ignores numbers larger than `most`. In a safetensors header
 * the result is usually the end of the data. */
static inline size_t fuzz_largest_number(const uint8_t *p, size_t n, size_t most)
{
    size_t largest = 0;
    for (size_t i = 0; i < n;) {
        size_t value = 0;
        for (; i < n && p[i] >= '0' && p[i] <= '9'; i++)
            value = value <= most ? value * 10 + (size_t)(p[i] - '0') : value;
        largest = value > largest && value <= most ? value : largest;
        i++;
    }
    return largest;
}

#endif
