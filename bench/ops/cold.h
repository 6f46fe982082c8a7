/* Files where an operation wants them: in the page cache, on the disk, or half and half. */
#ifndef WB_BENCH_COLD_H
#define WB_BENCH_COLD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Brings the files of a model into the page cache, but for so many hundredths at the beginning of each, which are
 * not to be in it, and looks whether it is so; and has the disk take what others have written. To be done while none
 * of them is mapped, which would not leave the page cache. Returns the bytes of all.
 */
uint64_t bench_prepare(const char *model, unsigned cold);

/*
 * A virtual machine gives pages that are free for a while back to its host, and whoever touches them next waits
 * for the host. What is measured after this finds so much memory that the machine has.
 */
void bench_prime(size_t room);

#endif
