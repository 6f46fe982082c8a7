#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <unistd.h>

#include "cpu/cpu.h"

unsigned wb__cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count < INT_MAX ? (unsigned)count : INT_MAX;
}
