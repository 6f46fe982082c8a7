#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"

#include <time.h>

uint64_t wb__now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
