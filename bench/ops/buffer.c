/* buffer: the floor of the codec operations. Reads a file that has the size of the codec's output
 * and copies its bytes from one buffer to another. Both buffers were touched before and, if they
 * are small enough, are in the processor cache. */
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <stdio.h>
#include <string.h>

static void *from, *to;
static size_t bytes;

/* A volatile function pointer keeps the compiler from removing the copy. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static void start(char **arguments)
{
    from = bench_read(arguments[0], &bytes);
    to = bench_room(bytes);
    printf("name memcpy\nwork %zu bytes\n", bytes);
}

static uint64_t run(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++)
        (void)copy(to, from, bytes);
    return bench_now() - begin;
}

const bench_operation bench_buffer = {"buffer", "FILE", start, run};
