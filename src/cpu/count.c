#define _GNU_SOURCE /* for sched_getaffinity */
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "cpu/cpu.h"

unsigned wb__cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    /* fallback if the processors do not fit into a cpu_set_t */
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count < INT_MAX ? (unsigned)count : INT_MAX;
}
