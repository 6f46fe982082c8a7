/* Threads for the operations that use all processors. */
#ifndef WB_BENCH_CREW_H
#define WB_BENCH_CREW_H

#include <stddef.h>

#include "weighbridge.h"

/* As many as the process may use processors. */
size_t crew_count(void);

/* On as many threads as there are processors, and on at least so many. */
extern const wb_executor crew_executor;
extern const wb_executor crew_of_four;

#endif
