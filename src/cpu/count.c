#define _GNU_SOURCE /* sched_getaffinity */
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "cpu/cpu.h"

unsigned wb__cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long count = sysconf(_SC_NPROCESSORS_ONLN); /* more than a set has room for */
    return count < 1 ? 1 : count < INT_MAX ? (unsigned)count : INT_MAX;
}
