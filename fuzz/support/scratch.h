/*
 * fuzz/support/scratch.h: a folder of the process's own, in memory where the system has such, that
 * goes away with the process.
 */
#ifndef WB_FUZZ_SCRATCH_H
#define WB_FUZZ_SCRATCH_H

#include "fuzz.h"

/* The path of the folder, made at the first call. */
const char *fuzz_scratch(void);

/* Makes a folder in it. */
void fuzz_scratch_folder(const char *name);

/* Writes a file in it, which is removed at the end; fewer than 100 different names. */
void fuzz_scratch_write(const char *name, const void *bytes, size_t n);

/* Removes a file, if it is there. */
void fuzz_scratch_remove(const char *name);

#endif
