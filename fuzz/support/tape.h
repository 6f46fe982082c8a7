/*
 * fuzz/support/tape.h: an input read as a list of choices. Behind its end all choices are 0.
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

/* A number below `below` (at most 256). */
static inline uint32_t fuzz_choose(fuzz_tape *tape, uint32_t below)
{
    return fuzz_tape_ended(tape) ? 0 : tape->data[tape->at++] % below;
}

/* A name or text of at most `most` bytes: a few plain ones, or what stands there. Always ends with NUL. */
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
        size_t wanted = how == 15 ? fuzz_choose(tape, 256) * 37u : how;
        for (; n < wanted && n < most; n++)
            to[n] = how == 15 ? 'x' : (char)fuzz_choose(tape, 256);
    }
    to[n] = '\0';
    return n;
}

#endif
