/*
 * pull/piece_sum.h: XXH64 with seed 0 (Yann Collet, github.com/Cyan4973/xxHash,
 * doc/xxhash_spec.md), a fast checksum that detects damage. It is no protection against an
 * attacker.
 */
#ifndef WB_PULL_PIECE_SUM_H
#define WB_PULL_PIECE_SUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct wb__piece_sum {
    uint64_t lane[4];
    uint8_t rest[32];
    size_t used;    /* number of bytes in `rest` */
    uint64_t bytes; /* added so far */
} wb__piece_sum;

void wb__piece_sum_start(wb__piece_sum *sum);
void wb__piece_sum_add(wb__piece_sum *sum, const void *bytes, size_t n);
uint64_t wb__piece_sum_finish(const wb__piece_sum *sum);

/* Returns the sum of n bytes. */
uint64_t wb__piece_sum_of(const void *bytes, size_t n);

#endif
