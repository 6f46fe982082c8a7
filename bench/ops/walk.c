/*
 * walk: measures the time that opening a GGUF file needs at least (the floor, bench/case.c). Reads
 * the header into new memory on huge pages and skips from one length field to the next.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "../worker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

enum { STRING = 8, ARRAY = 9 };

typedef struct walk {
    const uint8_t *at, *end;
} walk;

static const char *path;
static size_t header_bytes;

static uint64_t take(walk *w, size_t n)
{
    uint64_t value = 0;
    if ((size_t)(w->end - w->at) < n)
        bench_die(path, "ends early");
    memcpy(&value, w->at, n); /* file and machine are little-endian */
    w->at += n;
    return value;
}

static void pass(walk *w, uint64_t n)
{
    if ((uint64_t)(w->end - w->at) < n)
        bench_die(path, "ends early");
    w->at += n;
}

static void pass_value(walk *w, uint64_t type)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == STRING) {
        pass(w, take(w, 8));
    } else if (type == ARRAY) {
        uint64_t element = take(w, 4), count = take(w, 8);
        if (element == STRING) {
            while (count-- > 0)
                pass(w, take(w, 8));
        } else if (element < sizeof bytes) {
            pass(w, count * bytes[element]);
        }
    } else if (type < sizeof bytes) {
        pass(w, bytes[type]);
    }
}

static uint64_t walk_through(const uint8_t *bytes, size_t n, size_t *header)
{
    walk w = {bytes, bytes + n};
    pass(&w, 8);
    uint64_t tensors = take(&w, 8), pairs = take(&w, 8);
    while (pairs-- > 0) {
        pass(&w, take(&w, 8));
        pass_value(&w, take(&w, 4));
    }
    for (uint64_t i = 0; i < tensors; i++) {
        pass(&w, take(&w, 8));
        pass(&w, 8 * take(&w, 4) + 12);
    }
    *header = (size_t)(w.at - bytes);
    return tensors;
}

/* Returns the time in nanoseconds. Freeing the memory is not measured, because the operation open
 * does not measure closing either. */
static uint64_t walk_once(size_t n, uint64_t *tensors, size_t *header)
{
    size_t room = (n / HUGE_PAGE + 2) * HUGE_PAGE;
    uint64_t begin = bench_now();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || map == MAP_FAILED)
        bench_die(path, "cannot open it");
    (void)madvise(map, room, MADV_HUGEPAGE);
    uint8_t *bytes = map + (-(uintptr_t)map & (HUGE_PAGE - 1));
    if (pread(fd, bytes, n, 0) != (ssize_t)n)
        bench_die(path, "cannot read it");
    *tensors = walk_through(bytes, n, header);
    uint64_t end = bench_now();
    (void)close(fd);
    (void)munmap(map, room);
    return end - begin;
}

static void start(char **arguments)
{
    uint64_t tensors;
    path = arguments[0];
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        bench_die(path, "cannot open it");
    size_t whole = (size_t)ftell(file);
    (void)fclose(file);
    (void)walk_once(whole, &tensors, &header_bytes);
    printf("name pread and walk\nwork %" PRIu64 " tensors\n", tensors);
}

static uint64_t run(unsigned long times)
{
    uint64_t sum = 0, tensors;
    size_t header;
    for (unsigned long i = 0; i < times; i++)
        sum += walk_once(header_bytes, &tensors, &header);
    return sum;
}

const bench_operation bench_walk = {"walk", "FILE", start, run};
