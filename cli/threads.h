/* threads.h: the executor that commands pass to the library for parallel work. */
#ifndef WB_CLI_THREADS_H
#define WB_CLI_THREADS_H

#include <weighbridge.h>

/* Returns an executor with one thread per processor available to the process, including the calling
 * thread. Threads are started for each parallel_for call. The executor is static. It may be used by
 * several threads at once, and from within a body.
 */
const wb_executor *threads_executor(void);

/* Same as threads_executor with at least THREADS_WAITING threads, for work limited by disk latency
 * rather than by computation.
 */
const wb_executor *threads_waiting(void);

#define THREADS_WAITING 4

/* Sets the number of threads of both executors (--jobs), at most THREADS_MAX. Called before the
 * first use of an executor.
 */
enum { THREADS_MAX = 256 };
void threads_set(unsigned count);

/* Returns the number of threads of threads_executor; at least 1. */
unsigned threads_count(void);

#endif
