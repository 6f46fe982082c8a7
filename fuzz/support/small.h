/*
 * fuzz/support/small.h: small models of every family, as folders of Hugging Face or MLX, drawn from a
 * tape: most of it as it should be, some of it missing, of another type or of another shape.
 */
#ifndef WB_FUZZ_SMALL_H
#define WB_FUZZ_SMALL_H

#include "tape.h"

/* Writes config.json and model.safetensors to the scratch folder (scratch.h). */
void fuzz_small_model(fuzz_tape *tape);

#endif
