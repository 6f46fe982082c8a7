/* A thread pool for operations that use all processors. */
#ifndef WB_BENCH_CREW_H
#define WB_BENCH_CREW_H

#include <stddef.h>

#include "weighbridge.h"

/* Returns the number of processors that the process may use. */
size_t crew_count(void);

/* Runs on one thread per available processor. */
extern const wb_executor crew_executor;

/* Runs on one thread per available processor, but at least on four threads. */
extern const wb_executor crew_of_four;

#endif
