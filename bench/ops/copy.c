/* copy: measures the least time that opening a safetensors file could take on this machine. Copies
 * as many bytes as the header has into memory that was touched before. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "../worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *from, *to;
static size_t bytes;

/* A volatile function pointer keeps the compiler from removing the copy. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

/* Returns the size of the length prefix and the safetensors header, in bytes. */
static uint64_t header_bytes(FILE *file)
{
    uint8_t length[8];
    uint64_t header = 0;
    if (fread(length, 1, sizeof length, file) != sizeof length)
        return 0;
    for (int i = 7; i >= 0; i--)
        header = header << 8 | length[i];
    return header + sizeof length;
}

static void start(char **arguments)
{
    FILE *file = fopen(arguments[0], "rb");
    bytes = file == NULL ? 0 : (size_t)header_bytes(file);
    from = malloc(bytes);
    to = malloc(bytes);
    if (bytes == 0 || from == NULL || to == NULL || fseek(file, 0, SEEK_SET) != 0 ||
        fread(from, 1, bytes, file) != bytes)
        bench_die(arguments[0], "cannot read the header");
    (void)fclose(file);
    memset(to, 1, bytes);
    printf("name memcpy\nwork %zu bytes\n", bytes);
}

static uint64_t run(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++)
        (void)copy(to, from, bytes);
    return bench_now() - begin;
}

const bench_operation bench_copy = {"copy", "FILE", start, run};
