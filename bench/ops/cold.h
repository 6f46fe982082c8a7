/* Places the files of an operation in the page cache, on the disk only, or half in each. */
#ifndef WB_BENCH_COLD_H
#define WB_BENCH_COLD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Loads the files of a model into the page cache, except the first `cold` percent of each file,
 * which it evicts; checks the result; and flushes pending writes. Call this while no file is
 * mapped: mapped pages cannot be evicted. Returns the total size of the files in bytes.
 */
uint64_t bench_prepare(const char *model, unsigned cold);

/*
 * A virtual machine returns pages that stay free for a while to its host, and the next access
 * waits for the host. Touches memory, so that the measurement after this call finds `room` bytes
 * available.
 */
void bench_prime(size_t room);

#endif
