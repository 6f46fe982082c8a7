/*
 * fuzz/support/scratch.h: a scratch directory of the process, in memory if possible, removed when
 * the process ends.
 */
#ifndef WB_FUZZ_SCRATCH_H
#define WB_FUZZ_SCRATCH_H

#include "fuzz.h"

/* Returns the path of the scratch directory. The first call creates the directory. */
const char *fuzz_scratch(void);

/* Makes the library store the user's secret key, which signs edit journals, in the scratch
 * directory instead of the home directory (XDG_STATE_HOME). */
void fuzz_state_home(void);

/* Creates a directory in the scratch directory. */
void fuzz_scratch_folder(const char *name);

/* Writes a file in the scratch directory; the file is removed when the process ends. Files and
 * directories can have at most 100 different names. */
void fuzz_scratch_write(const char *name, const void *bytes, size_t n);

/* Removes a file of the scratch directory if it exists. */
void fuzz_scratch_remove(const char *name);

#endif
