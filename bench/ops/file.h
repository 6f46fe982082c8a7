/* Helpers for operations on file contents in memory. */
#ifndef WB_BENCH_FILE_H
#define WB_BENCH_FILE_H

#include "../worker.h"

#include <stddef.h>

/* Reads a non-empty file into new memory, which the caller owns. Ends the process on failure. */
void *bench_read(const char *path, size_t *n);

/* Allocates n bytes of memory and touches them. Ends the process on failure. */
void *bench_room(size_t n);

#endif
