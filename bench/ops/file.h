/* Helpers for operations on file contents in memory. */
#ifndef WB_BENCH_FILE_H
#define WB_BENCH_FILE_H

#include "../worker.h"

#include <stddef.h>

/* Reads a non-empty file into memory that is never freed. */
void *bench_read(const char *path, size_t *n);

/* Allocates and touches memory, which is never freed. */
void *bench_room(size_t n);

#endif
