/*
 * load.h: what `wb load` measures: the loading itself, and what the machine could do.
 */
#ifndef WB_CLI_LOAD_H
#define WB_CLI_LOAD_H

#include <weighbridge.h>

/* Of all threads together, in bytes a second; 0: could not be measured. */
typedef struct machine_limits {
    double copy; /* memcpy */
    double read; /* adding up what lies in memory */
    double disk; /* reading a file past the page cache */
} machine_limits;

/* Measures for a fraction of a second each; `path` is a file of some length, or NULL. */
machine_limits measure_machine(const char *path);

/* The sum of all bytes in words of eight, so that a processor has to look at each. */
uint64_t add_up(const void *bytes, size_t n);

uint64_t clock_ns(void);

/* Takes a file out of the page cache, or into it, as far as the system lets itself be told. */
void make_cold(const char *path);
void make_warm(const char *path);

#endif
