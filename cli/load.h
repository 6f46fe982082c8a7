/* load.h: measurements for `wb load`: the time to load, and the limits of the machine. */
#ifndef WB_CLI_LOAD_H
#define WB_CLI_LOAD_H

#include <weighbridge.h>

/* Throughput of all threads together, in bytes per second; 0: could not be measured. */
typedef struct machine_limits {
    double copy; /* memcpy */
    double read; /* summing data in memory */
    double disk; /* reading a file with direct I/O (O_DIRECT) */
} machine_limits;

/* Measures each rate for a fraction of a second. `path` is a large file to read, or NULL. */
machine_limits measure_machine(const char *path);

/* Returns the sum of all bytes as 8-byte words. The sum forces the processor to read every byte. */
uint64_t add_up(const void *bytes, size_t n);

uint64_t clock_ns(void);

/* Drop a file from the page cache, or read it into the page cache. The kernel may ignore the
 * request.
 */
void make_cold(const char *path);
void make_warm(const char *path);

#endif
