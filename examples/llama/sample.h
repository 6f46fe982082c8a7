/* Chooses the next token. */
#ifndef LLAMA_SAMPLE_H
#define LLAMA_SAMPLE_H

#include <stdint.h>

typedef struct sampler {
    double temperature; /* 0: the most probable token */
    uint64_t top_k;     /* considers only so many of the most probable tokens; 0: all */
    double top_p;       /* considers only the most probable tokens with this sum; 1: all */
    uint64_t seed;      /* state of the random numbers */
} sampler;

uint64_t choose(sampler *s, const float *logits, uint64_t n);

#endif
