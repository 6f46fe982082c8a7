/*
 * bench: measures the library, reference programs (peers) and the limits of the machine (floors).
 *
 *   cases/NAME     describes a measurement in a few lines; format: case.c
 *   worker.c       runs operations of the library and floors; ops.def lists the operations, and
 *                  each is defined in a file in ops/
 *   peers/NAME/    a reference program that acts as a worker; install.sh installs it
 *   driver.c       runs the workers of a case in turn, prints the table and writes results.json
 *
 * A worker is a process that runs as long as its case. It prints the lines
 *
 *   name NAME VERSION     the program
 *   work TEXT             the amount of work, such as "92160 tensors"; our worker and the peer must
 *                         print the same text
 *   ready
 *
 * For each line "run" on its standard input the worker runs its operation once without timing. Then
 * it measures the operation and prints the time in nanoseconds. If it also measured the processor
 * time of all threads, that follows after a space, in nanoseconds.
 */
#ifndef WB_BENCH_BENCH_H
#define WB_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- cases ---- */

typedef struct bench_case {
    char name[128];
    char unit[16];
    double unit_ns;
    char prepare[512]; /* shell command that creates the input; empty: none */
    char ours[512];    /* shell command of our worker */
    char peer[512];    /* command; begins with the name of a directory in peers/; empty: no peer */
    char floor[512];   /* shell command of the floor's worker */
    char samples[16];  /* default number of samples, as text; empty: SAMPLES in driver.c */
    char each[512];    /* in a template: the list of words, one per case; see case.c */
} bench_case;

/* Reads the case folder/name. On failure prints the error to stderr. */
bool bench_case_read(const char *folder, const char *name, bench_case *out);

/* ---- workers ---- */

enum bench_side { BENCH_OURS, BENCH_PEER, BENCH_FLOOR, BENCH_SIDES };

typedef struct bench_worker {
    pid_t pid; /* process id; 0: not running */
    FILE *to, *from;
    char name[128];
    char work[128];
} bench_worker;

/* Starts the command and waits until the worker is ready. On failure prints the error to stderr. */
bool bench_worker_start(bench_worker *worker, const char *command);

/* Takes one sample. `*cpu_ns` is 0 if the worker does not report processor time. */
bool bench_worker_run(bench_worker *worker, double *ns, double *cpu_ns);
void bench_worker_stop(bench_worker *worker);

/* ---- results ---- */

typedef struct bench_result {
    const bench_case *what;
    size_t samples;
    double *sample[BENCH_SIDES]; /* samples in the unit of the case; NULL for a missing peer */
    double *cpu[BENCH_SIDES];    /* processor time in the same unit; 0: not reported */
    double median[BENCH_SIDES], cpu_median[BENCH_SIDES];
    /* For peer and floor: the median over all rounds of the ratio (time of the peer or floor) /
     * (our time). */
    double paired[BENCH_SIDES], cpu_paired[BENCH_SIDES];
    char peer_name[128];
} bench_result;

/* Writes the entry of a case to the results file `path`. Entries of other cases stay unchanged. */
bool bench_result_store(const bench_result *result, const char *path);

#endif
