/*
 * convert/recipe/llama3_rope.h: what Llama 3.1 divides the frequencies of RoPE by. Hugging Face says it in four numbers of
 * config.json, GGUF in a tensor of the quotients, rope_freqs.
 */
#ifndef WB_CONVERT_RECIPE_LLAMA3_ROPE_H
#define WB_CONVERT_RECIPE_LLAMA3_ROPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wb__llama3 {
    double factor, low, high;
    double context; /* tokens it was trained on at first */
} wb__llama3;

/* The divisors of n frequencies: 1 for the highest, `factor` for the lowest, in between both. */
void wb__llama3_divisors(const wb__llama3 *numbers, double theta, uint64_t n, float *divisors);

/*
 * The numbers that give these divisors, of all those that models have been published with and their
 * like; false if none do. numbers->context: how many tokens are known of, which are tried first; 0.
 */
bool wb__llama3_find(const float *divisors, double theta, uint64_t n, wb__llama3 *numbers);

#endif
