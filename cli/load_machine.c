/* Measures the limits of the machine with as many threads as loading uses. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "load.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text.h"
#include "threads.h"

enum {
    SHARE_BYTES = 32 << 20, /* memory per thread; larger than the processor caches */
    ROUNDS = 3,             /* number of rounds; only the first one causes page faults */
    CHUNK_BYTES = 4 << 20,
    ALIGNMENT = 4096
};

#define DISK_BYTES ((uint64_t)1 << 30) /* size of the sample read from the disk, in bytes */
#define DISK_NS ((uint64_t)1000000000)

uint64_t clock_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t add_up(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t sums[8] = {0};
    uint64_t sum = 0;
    for (; n >= sizeof sums; at += sizeof sums, n -= sizeof sums) {
        uint64_t words[8];
        memcpy(words, at, sizeof words);
        for (size_t i = 0; i < 8; i++)
            sums[i] += words[i];
    }
    for (size_t i = 0; i < 8; i++)
        sum += sums[i];
    while (n-- > 0)
        sum += *at++;
    return sum;
}

/* ---- memory ---- */

typedef struct memory_test {
    unsigned char *from, *to; /* SHARE_BYTES per thread */
    _Alignas(8) _Atomic uint64_t sum;
} memory_test;

static void copy_share(void *arg, size_t i)
{
    memory_test *test = arg;
    memcpy(test->to + i * SHARE_BYTES, test->from + i * SHARE_BYTES, SHARE_BYTES);
}

static void read_share(void *arg, size_t i)
{
    memory_test *test = arg;
    atomic_fetch_add(&test->sum, add_up(test->from + i * SHARE_BYTES, SHARE_BYTES));
}

/* Returns the rate of the fastest round. Other processes can only slow a round down. */
static double rate_of(void (*body)(void *arg, size_t i), memory_test *test)
{
    size_t n = threads_count();
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_ns();
        threads_executor()->parallel_for(threads_executor()->ctx, n, body, test);
        uint64_t took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return best == 0 ? 0 : (double)(n * SHARE_BYTES) * 1e9 / (double)best;
}

/* ---- disk ---- */

typedef struct disk_test {
    int fd;
    uint64_t bytes, until;
    _Alignas(8) _Atomic uint64_t next;
    _Alignas(8) _Atomic uint64_t done;
} disk_test;

static void read_chunks(void *arg, size_t i)
{
    disk_test *test = arg;
    void *chunk;
    uint64_t at;
    (void)i;
    if (posix_memalign(&chunk, ALIGNMENT, CHUNK_BYTES) != 0)
        return;
    while (clock_ns() < test->until &&
           (at = atomic_fetch_add(&test->next, CHUNK_BYTES)) < test->bytes) {
        ssize_t got = pread(test->fd, chunk, CHUNK_BYTES, (off_t)at);
        if (got <= 0)
            break;
        atomic_fetch_add(&test->done, (uint64_t)got);
    }
    free(chunk);
}

static double disk_rate(const char *path)
{
    struct stat st;
    disk_test test = {.fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK)};
    if (test.fd < 0)
        return 0;
    uint64_t start = clock_ns();
    if (fstat(test.fd, &st) == 0) {
        test.bytes = (uint64_t)st.st_size < DISK_BYTES ? (uint64_t)st.st_size : DISK_BYTES;
        test.until = start + DISK_NS;
        threads_waiting()->parallel_for(threads_waiting()->ctx, THREADS_WAITING, read_chunks,
                                        &test);
    }
    uint64_t took = clock_ns() - start;
    (void)close(test.fd);
    return took == 0 ? 0 : (double)test.done * 1e9 / (double)took;
}

machine_limits measure_machine(const char *path)
{
    machine_limits limits = {0};
    memory_test test = {0};
    size_t bytes = (size_t)threads_count() * SHARE_BYTES;
    if (path != NULL)
        limits.disk = disk_rate(path);
    test.from = malloc(bytes);
    test.to = malloc(bytes);
    if (test.from != NULL && test.to != NULL) {
        memset(test.from, 1, bytes);
        limits.copy = rate_of(copy_share, &test);
        limits.read = rate_of(read_share, &test);
    }
    free(test.from);
    free(test.to);
    return limits;
}

/* ---- the page cache ---- */

void make_cold(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    (void)fsync(fd); /* dirty pages cannot be dropped from the page cache */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
}

void make_warm(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *chunk = need_memory(NULL, CHUNK_BYTES, 1);
    while (fd >= 0 && read(fd, chunk, CHUNK_BYTES) > 0)
        continue;
    free(chunk);
    if (fd >= 0)
        (void)close(fd);
}
