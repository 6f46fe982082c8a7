/*
 * worker.h: the operations that the worker can measure. Each operation is a file in ops/ and a
 * row in the table in worker.c.
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
 * Processor time of all threads in a sample. Operations that wait, or use several threads, add
 * the bench_cpu_now difference over the measured interval. 0: not reported.
 */
extern uint64_t bench_cpu;

static inline uint64_t bench_cpu_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Prints the reason to stderr and ends the process. */
_Noreturn void bench_die(const char *what, const char *why);

#endif
