/* Threads for the library's work: the executor that commands with something to compute hand over. */
#ifndef WB_CLI_THREADS_H
#define WB_CLI_THREADS_H

#include <weighbridge.h>

/*
 * Runs on as many threads as the process may use processors, the calling one among them. They live
 * as long as one parallel_for. Static; may be used by several threads, and from within a body.
 */
const wb_executor *threads_executor(void);

/* How many threads that is; at least 1. */
unsigned threads_count(void);

#endif
