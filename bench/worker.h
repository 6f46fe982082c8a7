/*
 * worker.h: the operations that the worker can measure. ops.def lists them, and a file in ops/
 * defines each one.
 */
#ifndef WB_BENCH_WORKER_H
#define WB_BENCH_WORKER_H

#include <stdint.h>
#include <time.h>

typedef struct bench_operation {
    const char *name;
    const char *arguments; /* argument names for the usage text */
    /* Prepares the operation and prints the lines "name" and "work". Ends the process on
     * failure. */
    void (*start)(char **arguments);
    /* Runs the operation `times` times and returns the total time in nanoseconds. */
    uint64_t (*run)(unsigned long times);
} bench_operation;

#define OPERATION(name) extern const bench_operation bench_##name;
#include "ops.def"
#undef OPERATION

static inline uint64_t bench_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Processor time of all threads in a sample, in nanoseconds; 0: not reported. An operation that
 * waits or uses several threads adds the difference of bench_cpu_now at the end and at the
 * beginning of each measured interval.
 */
extern uint64_t bench_cpu;

static inline uint64_t bench_cpu_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Prints `what` and the reason `why` to stderr and ends the process. */
_Noreturn void bench_die(const char *what, const char *why);

#endif
