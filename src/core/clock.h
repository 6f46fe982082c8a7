/* core/clock.h: a clock for measuring durations. */
#ifndef WB_CORE_CLOCK_H
#define WB_CORE_CLOCK_H

#include <stdint.h>

/*
 * Returns nanoseconds since an unspecified start. The clock is monotonic: setting the system time
 * does not change it.
 */
uint64_t wb__now(void);

#endif
