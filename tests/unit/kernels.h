/*
 * kernels.h: helpers for the kernel tests: buffers that end at an inaccessible page, and random
 * numbers.
 */
#ifndef WB_TESTS_KERNELS_H
#define WB_TESTS_KERNELS_H

#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

typedef struct guarded {
    uint8_t *pages;
    size_t bytes; /* size of the mapping, in bytes */
    uint8_t *at;  /* start of the requested buffer */
    uint8_t *end; /* end of the buffer, where the inaccessible page begins */
} guarded;

static inline guarded guard(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded g = {.bytes = (n + page - 1) / page * page + page};
    void *memory = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect((uint8_t *)memory + g.bytes - page, page, PROT_NONE) != 0)
        fail_msg("no pages");
    g.pages = memory;
    g.end = g.pages + g.bytes - page;
    g.at = g.end - n;
    return g;
}

static inline void unguard(guarded *g)
{
    munmap(g->pages, g->bytes);
}

static uint64_t random_state = 0x9E3779B97F4A7C15u;

static inline uint32_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

#endif
