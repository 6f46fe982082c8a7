/*
 * core/clock.h: how long something took.
 */
#ifndef WB_CORE_CLOCK_H
#define WB_CORE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment, which no clock that is set moves. */
uint64_t wb__now(void);

#endif
