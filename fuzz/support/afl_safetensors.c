/*
 * The safetensors mutations as a custom mutator for AFL++ (AFL_CUSTOM_MUTATOR_LIBRARY), which
 * combines them with its own. https://aflplus.plus/docs/custom_mutators/
 */
#include "fuzz.h"

typedef struct afl_mutator {
    uint32_t seed;
    uint8_t *out;
    size_t capacity;
} afl_mutator;

void *afl_custom_init(void *afl, unsigned int seed);
size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t max);
void afl_custom_deinit(void *state);

void *afl_custom_init(void *afl, unsigned int seed)
{
    (void)afl;
    afl_mutator *mutator = calloc(1, sizeof *mutator);
    if (mutator != NULL)
        mutator->seed = seed;
    return mutator;
}

size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t max)
{
    afl_mutator *mutator = state;
    (void)other;
    (void)other_size;
    *out = data;
    if (mutator->capacity < max) {
        uint8_t *larger = realloc(mutator->out, max);
        if (larger == NULL)
            return size;
        mutator->out = larger;
        mutator->capacity = max;
    }
    if (size > max)
        size = max;
    memcpy(mutator->out, data, size);
    *out = mutator->out;
    return fuzz_mutate_safetensors(mutator->out, size, max, mutator->seed++, NULL);
}

void afl_custom_deinit(void *state)
{
    afl_mutator *mutator = state;
    free(mutator->out);
    free(mutator);
}
