/*
 * The floor of opening a GGUF file: the bytes of its header read into fresh huge pages, and a bare walk
 * over them, which checks nothing and keeps nothing. Unmapping them is not counted, as closing is not.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "../worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

static const char *path;
static size_t header_bytes;
static volatile uint64_t seen; /* so that the walk is not left out */

static uint64_t take(const uint8_t **p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, *p, n); /* little-endian machines only */
    *p += n;
    return v;
}

static const uint8_t *skip_value(const uint8_t *p, uint64_t type)
{
    static const uint8_t bytes[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
        uint64_t n = take(&p, 8);
        return p + n;
    }
    if (type != 9)
        return p + bytes[type];
    uint64_t element = take(&p, 4), count = take(&p, 8);
    if (element != 8)
        return p + count * bytes[element];
    for (; count > 0; count--) {
        uint64_t n = take(&p, 8);
        p += n;
    }
    return p;
}

/* The end of the header. */
static const uint8_t *walk(const uint8_t *file)
{
    const uint8_t *p = file + 8;
    uint64_t tensors = take(&p, 8), entries = take(&p, 8);
    for (; entries > 0; entries--) {
        uint64_t n = take(&p, 8);
        p += n;
        uint64_t type = take(&p, 4);
        p = skip_value(p, type);
    }
    for (; tensors > 0; tensors--) {
        uint64_t n = take(&p, 8);
        p += n;
        uint64_t rank = take(&p, 4);
        p += 8 * rank + 12;
    }
    return p;
}

/* Reads n bytes and walks over them; *used is the length of the header. */
static uint64_t read_once(size_t n, size_t *used)
{
    uint64_t begin = bench_now();
    size_t whole = (n + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *base = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fd < 0 || base == MAP_FAILED)
        bench_die(path, "cannot be read");
    uint8_t *bytes = base + (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    (void)madvise(bytes, whole - HUGE_PAGE, MADV_HUGEPAGE);
    if (pread(fd, bytes, n, 0) != (ssize_t)n)
        bench_die(path, "cannot be read");
    *used = (size_t)(walk(bytes) - bytes);
    seen += *used;
    uint64_t end = bench_now();
    (void)close(fd);
    (void)munmap(base, whole);
    return end - begin;
}

static void start(char **arguments)
{
    struct stat st;
    path = arguments[0];
    if (stat(path, &st) != 0)
        bench_die(path, "is not there");
    (void)read_once((size_t)st.st_size, &header_bytes);
    printf("name pread and a walk\nwork %zu bytes\n", header_bytes);
}

static uint64_t run(unsigned long times)
{
    uint64_t sum = 0;
    size_t used;
    for (unsigned long i = 0; i < times; i++)
        sum += read_once(header_bytes, &used);
    return sum;
}

const bench_operation bench_walk_gguf = {"walk_gguf", "FILE", start, run};
