/* What operations on a file's bytes in memory begin with. */
#ifndef WB_BENCH_FILE_H
#define WB_BENCH_FILE_H

#include "../worker.h"

#include <stddef.h>

/* All bytes of a file that is not empty, in memory that was touched; never freed. */
void *bench_read(const char *path, size_t *n);

/* Memory that was touched; never freed. */
void *bench_room(size_t n);

#endif
