/* What operations on a file's bytes in memory begin with. */
#ifndef WB_BENCH_FILE_H
#define WB_BENCH_FILE_H

#include "../worker.h"

#include <stddef.h>

/* All bytes of a file that is not empty, in memory that was touched; never freed. */
void *bench_read(const char *path, size_t *n);

/* Memory that was touched; never freed. */
void *bench_room(size_t n);

/*
 * A virtual machine gives pages that are free for a while back to its host, and whoever touches them next waits
 * for the host. After this there are as many bytes of memory that the machine has.
 */
void bench_prime(size_t n);

#endif
