/*
 * load: going through all weights of a model, every byte added up: from the page cache (warm), from
 * the disk (cold), from both (half), from the disk with the SHA-256 of each file (verify) or BF16
 * becoming F16 (convert). Its floors are what the machine can do: adding up what is mapped
 * (sum), the disk without the page cache (disk).
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../worker.h"
#include "crew.h"

enum { CHUNK = 8 << 20, FLOOR_THREADS = 4 };

static wb_error error;
static wb_load_options options = {.size = sizeof options};
static uint64_t bytes,
    evict_to; /* of each file, the bytes before which are not in the page cache */
static const char *path;
static _Atomic uint64_t sum;

static uint64_t add_up(const void *memory, size_t n)
{
    const unsigned char *at = memory;
    uint64_t sums[8] = {0}, words[8], all = 0;
    for (; n >= sizeof words; at += sizeof words, n -= sizeof words) {
        memcpy(words, at, sizeof words);
        for (size_t i = 0; i < 8; i++)
            sums[i] += words[i];
    }
    for (size_t i = 0; i < 8; i++)
        all += sums[i];
    return all;
}

static int consume(void *ctx, const wb_piece *piece)
{
    (void)ctx;
    atomic_fetch_add(&sum, add_up(piece->data, (size_t)piece->bytes));
    return 0;
}

static wb_model *open_model(void)
{
    wb_model *model;
    wb_file file = {.size = sizeof file};
    if (wb_open(path, NULL, &model, &error) != WB_OK ||
        wb_file_at(model, 0, &file, &error) != WB_OK)
        bench_die(path, error.message);
    bytes = file.bytes;
    return model;
}

/* Brings the file to where it is to be: in the page cache, but for its first bytes. */
static void prepare(void)
{
    static char chunk[CHUNK];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t cached;
    if (fd < 0)
        bench_die(path, "cannot be opened");
    (void)fsync(fd);
    if (evict_to > 0 && posix_fadvise(fd, 0, (off_t)evict_to, POSIX_FADV_DONTNEED) != 0)
        bench_die(path, "cannot be dropped from the page cache");
    for (uint64_t at = evict_to; at < bytes; at += CHUNK)
        if (pread(fd, chunk, CHUNK, (off_t)at) < 0)
            bench_die(path, "cannot be read");
    (void)close(fd);
    wb_model *model = open_model();
    if (wb_file_cached(model, 0, &cached, &error) != WB_OK)
        bench_die(path, error.message);
    wb_close(model);
    uint64_t wanted = bytes - evict_to;
    if (cached > wanted + bytes / 16 || cached + bytes / 16 < wanted)
        bench_die(path, "is not in the page cache as it is to be");
}

static void start(char **arguments)
{
    static const struct {
        const char *name;
        unsigned cold; /* in hundredths */
        uint32_t flags;
    } modes[] = {{"warm", 0, 0},
                 {"half", 50, 0},
                 {"cold", 100, 0},
                 {"verify", 100, WB_LOAD_DIGEST},
                 {"convert", 100, WB_LOAD_CONVERT}};
    size_t mode = 0;
    while (mode + 1 < sizeof modes / sizeof *modes && strcmp(modes[mode].name, arguments[0]) != 0)
        mode++;
    path = arguments[1];
    wb_close(open_model());
    evict_to = bytes / 100 * modes[mode].cold;
    evict_to += modes[mode].cold == 100 ? bytes % 100 : 0;
    options.flags = modes[mode].flags;
    options.dtype = WB_DTYPE_F16;
    options.executor = modes[mode].cold ? &crew_of_four : &crew_executor;
    options.consume = consume;
    printf("name weighbridge %s\nwork %" PRIu64 " bytes\n", wb_version(), bytes);
}

static uint64_t run(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        prepare(); /* while nothing is mapped, which would not leave the page cache */
        wb_model *model = open_model();
        uint64_t begin = bench_now();
        if (wb_load(model, &options, NULL, &error) != WB_OK)
            bench_die("load", error.message);
        took += bench_now() - begin;
        wb_close(model);
    }
    return took;
}

/* ---- the floors ---- */

static unsigned char *memory;

static void start_sum(char **arguments)
{
    path = arguments[0];
    wb_close(open_model());
    prepare();
    printf("name mmap and read-sum\nwork %" PRIu64 " bytes\n", bytes);
}

static void sum_share(void *arg, size_t i)
{
    size_t share = (size_t)bytes / *(const size_t *)arg;
    atomic_fetch_add(&sum, add_up(memory + i * share, share));
}

/* The page cache's own memory, mapped anew each time, as whoever opens a model has to. */
static uint64_t run_sum(unsigned long times)
{
    size_t shares = crew_count();
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory == MAP_FAILED)
            bench_die(path, "cannot be mapped");
        (void)close(fd);
        crew_executor.parallel_for(crew_executor.ctx, shares, sum_share, &shares);
        (void)munmap(memory, (size_t)bytes);
    }
    return bench_now() - begin;
}

static int disk;
static _Atomic uint64_t next;
static void *chunks[FLOOR_THREADS];

static void start_disk(char **arguments)
{
    path = arguments[0];
    wb_close(open_model());
    disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    for (size_t i = 0; i < FLOOR_THREADS; i++) {
        if (disk < 0 || posix_memalign(&chunks[i], CHUNK, CHUNK) != 0)
            bench_die(path, "cannot be read past the page cache");
        (void)madvise(chunks[i], CHUNK, MADV_HUGEPAGE); /* as the library has it */
        memset(chunks[i], 1, CHUNK);
    }
    printf("name O_DIRECT\nwork %" PRIu64 " bytes\n", bytes);
}

static void read_disk(void *arg, size_t i)
{
    uint64_t at;
    (void)arg;
    while ((at = atomic_fetch_add(&next, CHUNK)) < bytes)
        if (pread(disk, chunks[i], CHUNK, (off_t)at) <= 0)
            bench_die(path, "cannot be read");
}

static uint64_t run_disk(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        next = 0;
        uint64_t begin = bench_now();
        crew_of_four.parallel_for(crew_of_four.ctx, FLOOR_THREADS, read_disk, NULL);
        took += bench_now() - begin;
    }
    return took;
}

const bench_operation bench_load = {"load", "warm|half|cold|verify|convert MODEL", start, run};
const bench_operation bench_sum = {"sum", "FILE", start_sum, run_sum};
const bench_operation bench_disk = {"disk", "FILE", start_disk, run_disk};
