/* Threads for the library's work: the executor that commands with something to compute hand over. */
#ifndef WB_CLI_THREADS_H
#define WB_CLI_THREADS_H

#include <weighbridge.h>

/*
 * Runs on as many threads as the process may use processors, the calling one among them. They live
 * as long as one parallel_for. Static; may be used by several threads, and from within a body.
 */
const wb_executor *threads_executor(void);

/* The same with at least THREADS_WAITING threads, for work that waits for a disk more than it computes. */
const wb_executor *threads_waiting(void);

#define THREADS_WAITING 4

/* How many threads threads_executor has; at least 1. */
unsigned threads_count(void);

#endif
