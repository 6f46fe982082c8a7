/*
 * fuzz/support/model.h: checks that must hold for any open model of any format.
 */
#ifndef WB_FUZZ_MODEL_H
#define WB_FUZZ_MODEL_H

#include "fuzz.h"
#include "weighbridge.h"

/* ---- counted memory; each block must be freed with its allocated size ---- */

typedef struct fuzz_heap {
    size_t live, peak;
} fuzz_heap;

wb_allocator fuzz_allocator(fuzz_heap *heap);

/* ---- a source that returns a few bytes per read ---- */

typedef struct fuzz_dribble {
    const uint8_t *bytes;
    size_t size;
    size_t most; /* maximum number of bytes per read */
    int closed;
} fuzz_dribble;

wb_source fuzz_dribble_source(fuzz_dribble *dribble);

/* ---- checks ---- */

/* Check the members of an error or of all findings. `size` is the size of the file in bytes;
 * SIZE_MAX: unknown. */
void fuzz_check_error(const wb_error *error, wb_status status, size_t size);
void fuzz_check_findings(const wb_findings *findings, size_t size);

/* Checks that both errors are equal. */
void fuzz_check_same_error(const wb_error *a, const wb_error *b);

/*
 * Queries everything from an open model and checks that the results are consistent: tensors by
 * index and by name, their parts, their values (stored and decoded, complete and in slices),
 * metadata of every type, config, names, findings, and verification. `random` selects the functions
 * used.
 */
void fuzz_check_model(const wb_model *model, uint32_t random);

/* Checks the weight provider with single, fused and partitioned requests: the buffers must hold the
 * stored values. */
void fuzz_check_provider(const wb_model *model, uint32_t *state);

/* Checks metadata only. */
void fuzz_check_metadata(const wb_model *model);

/* ---- for the mutators and generators ---- */

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003); the state must not be 0. */
static inline uint32_t fuzz_draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* Returns a nonzero state for fuzz_draw from any number. */
static inline uint32_t fuzz_seed(uint32_t seed)
{
    uint32_t state = seed * 2654435761u | 1;
    (void)fuzz_draw(&state);
    return state;
}

#endif
