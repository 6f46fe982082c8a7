/* Loads the files of an operation into the page cache, or evicts all or a part of them. */
#ifndef WB_BENCH_COLD_H
#define WB_BENCH_COLD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Flushes pending writes, then loads the files of a model into the page cache, except the first
 * `cold` percent of each file, which it evicts. Checks afterwards how much of each file is cached.
 * Call this while no file is mapped: mapped pages cannot be evicted. Returns the total size of the
 * files in bytes.
 */
uint64_t bench_prepare(const char *model, unsigned cold);

/*
 * Touches `room` bytes of memory and frees them again, so that these bytes are available at once in
 * the measurement that follows. Otherwise the measurement may include waiting: a virtual machine
 * returns pages that stay free for a while to its host, and the next access waits for the host.
 */
void bench_prime(size_t room);

#endif
