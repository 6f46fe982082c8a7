/* arch/llama3_rope.h: divisors of the RoPE frequencies of Llama 3.1. Hugging Face stores four
 * parameters in config.json, from which programs compute the divisors. GGUF stores the divisors in
 * the tensor rope_freqs. */
#ifndef WB_ARCH_LLAMA3_ROPE_H
#define WB_ARCH_LLAMA3_ROPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wb__llama3 {
    /* factor, low_freq_factor and high_freq_factor in config.json */
    double factor, low, high;
    double context; /* original context length, in tokens */
} wb__llama3;

/* Returns the divisor of frequency i, of n frequencies. */
float wb__llama3_divisor(const wb__llama3 *numbers, double theta, uint64_t i, uint64_t n);

/* Computes the divisors of n frequencies. The divisor of the highest frequency is 1, that of the
 * lowest is `factor`, and the other divisors are between these values. */
void wb__llama3_divisors(const wb__llama3 *numbers, double theta, uint64_t n, float *divisors);

/* Finds parameters that give these divisors. Tries the values of published models and similar
 * values. The caller sets numbers->context to the known context length, which is tried first, or
 * to 0. Returns false if no parameters match. */
bool wb__llama3_find(const float *divisors, double theta, uint64_t n, wb__llama3 *numbers);

#endif
