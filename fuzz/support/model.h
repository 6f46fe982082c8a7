/*
 * fuzz/support/model.h: what must hold of any open model, whatever it was read from.
 */
#ifndef WB_FUZZ_MODEL_H
#define WB_FUZZ_MODEL_H

#include "fuzz.h"
#include "weighbridge.h"

/* ---- memory: counted, and freed with the size it was allocated with ---- */

typedef struct fuzz_heap {
    size_t live, peak;
} fuzz_heap;

wb_allocator fuzz_allocator(fuzz_heap *heap);

/* ---- a source that gives a few bytes at a time ---- */

typedef struct fuzz_dribble {
    const uint8_t *bytes;
    size_t size;
    size_t most; /* bytes at once */
    int closed;
} fuzz_dribble;

wb_source fuzz_dribble_source(fuzz_dribble *dribble);

/* ---- checks ---- */

/* `size` is the length of the file in hand; SIZE_MAX where it is not known. */
void fuzz_check_error(const wb_error *error, wb_status status, size_t size);
void fuzz_check_findings(const wb_findings *findings, size_t size);

/* Both say the same. */
void fuzz_check_same_error(const wb_error *a, const wb_error *b);

/*
 * Asks an open model everything: every tensor by number and by name, its parts, its values raw and
 * decoded, whole and in slices, which must agree; metadata of every type; config, names, findings,
 * verify. `random` chooses among the ways to ask. The model is not changed.
 */
void fuzz_check_model(const wb_model *model, uint32_t random);

/* The weight provider on it: buffers hold what was stored, whole, fused and shared out. */
void fuzz_check_provider(const wb_model *model, uint32_t *state);

/* Metadata alone. */
void fuzz_check_metadata(const wb_model *model);

/* ---- for the mutators and generators ---- */

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003); the state must not be 0. */
static inline uint32_t fuzz_draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* A state for it from any number. */
static inline uint32_t fuzz_seed(uint32_t seed)
{
    uint32_t state = seed * 2654435761u | 1;
    (void)fuzz_draw(&state);
    return state;
}

#endif
