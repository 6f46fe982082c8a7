/*
 * fuzz/support/small.h: generates small models of every family, as Hugging Face or MLX
 * directories, from a tape (the fuzz input as a list of choices, tape.h). Most tensors are valid;
 * some are missing or have another type or shape.
 */
#ifndef WB_FUZZ_SMALL_H
#define WB_FUZZ_SMALL_H

#include "tape.h"

/* Writes config.json and model.safetensors to the scratch directory (scratch.h). */
void fuzz_small_model(fuzz_tape *tape);

#endif
