/*
 * worker.h: what our worker can be asked to measure. An operation is a file in ops/ and a row in
 * worker.c's table.
 */
#ifndef WB_BENCH_WORKER_H
#define WB_BENCH_WORKER_H

#include <stdint.h>
#include <time.h>

typedef struct bench_operation {
    const char *name;
    const char *arguments; /* for the usage */
    /* Gets things ready and prints the lines "name" and "work". Ends the process where it fails. */
    void (*start)(char **arguments);
    /* Does the work `times` times and returns the nanoseconds all of them took together. */
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
 * The processor time of all threads that a sample took. Operations that wait, or run on several threads,
 * add to it what bench_cpu_now has counted between bench_now's two times; 0: it is not told.
 */
extern uint64_t bench_cpu;

static inline uint64_t bench_cpu_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Says why on stderr and ends the process. */
_Noreturn void bench_die(const char *what, const char *why);

#endif
