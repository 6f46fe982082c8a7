/* convert/recipe/llama3_rope.h: divisors of the RoPE frequencies of Llama 3.1. Hugging Face
 * stores four parameters in config.json. GGUF stores the divisors in the tensor rope_freqs. */
#ifndef WB_CONVERT_RECIPE_LLAMA3_ROPE_H
#define WB_CONVERT_RECIPE_LLAMA3_ROPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wb__llama3 {
    double factor, low, high;
    double context; /* original context length in tokens */
} wb__llama3;

/* Computes the divisors of n frequencies: 1 for the highest, `factor` for the lowest, and values
 * between them for the others. */
void wb__llama3_divisors(const wb__llama3 *numbers, double theta, uint64_t n, float *divisors);

/* Finds the parameters that give these divisors, among the values of published models and
 * similar ones. Returns false if none match. numbers->context is the known context length, which
 * is tried first, or 0. */
bool wb__llama3_find(const float *divisors, double theta, uint64_t n, wb__llama3 *numbers);

#endif
