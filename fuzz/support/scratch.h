/*
 * fuzz/support/scratch.h: a scratch directory of the process, in memory if possible, removed when
 * the process ends.
 */
#ifndef WB_FUZZ_SCRATCH_H
#define WB_FUZZ_SCRATCH_H

#include "fuzz.h"

/* Returns the path of the directory, which the first call creates. */
const char *fuzz_scratch(void);

/* Creates a directory in the scratch directory. */
void fuzz_scratch_folder(const char *name);

/* Writes a file in the scratch directory, at most 99 different names. The file is removed at
 * the end. */
void fuzz_scratch_write(const char *name, const void *bytes, size_t n);

/* Removes a file if it exists. */
void fuzz_scratch_remove(const char *name);

#endif
