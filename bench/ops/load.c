/*
 * load: loads all weights of a model and adds up every byte. Modes:
 *
 *   warm      from the page cache
 *   cold      from the disk
 *   half      the first half of each file from the disk, the rest from the page cache
 *   verify    from the disk, and computes the SHA-256 of each file
 *   hashes    from the page cache, and computes the SHA-256 of each file
 *   convert   from the disk, and converts BF16 to F16
 *   placed    from the disk into memory that was touched before; does not add up the bytes
 *
 * Floors (measurements of the machine's limits):
 *
 *   sum       adds up the bytes of the mapped file; maps the file again for each run (argument
 *             "anew") or only once ("kept")
 *   disk      reads the file with direct I/O
 *   chunks    adds up data that four threads read with or without direct I/O
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../worker.h"
#include "cold.h"
#include "crew.h"

enum { CHUNK = 8 << 20, FLOOR_THREADS = 4, PRIMED = 64 << 20 };

static wb_error error;
static wb_load_options options = {.size = sizeof options};
static uint64_t bytes; /* total size of all files */
static unsigned cold;  /* percentage at the beginning of each file that is not in the page cache */
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
    for (; n >= sizeof *words; at += sizeof *words, n -= sizeof *words) {
        memcpy(words, at, sizeof *words);
        all += *words;
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

static unsigned char *places; /* memory for the bytes of the model's only file */

static void *place(void *ctx, uint64_t number, uint64_t offset, uint64_t n)
{
    (void)ctx;
    (void)n;
    return number == 0 ? places + offset : NULL;
}

static wb_model *open_model(void)
{
    wb_model *model;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        bench_die(path, error.message);
    return model;
}

static void prepare(void)
{
    bytes = bench_prepare(path, cold);
}

static void load_once(const wb_load_options *with)
{
    wb_model *model = open_model();
    if (wb_load(model, with, NULL, &error) != WB_OK)
        bench_die("load", error.message);
    wb_close(model);
}

/* Prepares the mode `placed`: loads the file into memory whose pages were already touched. The
 * programs with which the benchmark compares (the peers) do the same. Checks all bytes after the
 * first MiB, which contains the header. */
static void start_placing(void)
{
    enum { ALIGNMENT = 2 << 20, SKIP = 1 << 20 };
    static unsigned char chunk[SKIP];
    size_t room = (size_t)(bytes + 2 * (uint64_t)ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || posix_memalign((void **)&places, ALIGNMENT, room) != 0)
        bench_die(path, "there is no memory for it");
    (void)madvise(places, room, MADV_HUGEPAGE);
    memset(places, 1, room);
    options.consume = NULL;
    options.place = place;
    load_once(&options);
    for (uint64_t at = SKIP; at < bytes; at += SKIP) {
        ssize_t n = pread(fd, chunk, SKIP, (off_t)at);
        if (n <= 0 || memcmp(chunk, places + at, (size_t)n) != 0)
            bench_die(path, "other bytes than those of the file were loaded");
    }
    (void)close(fd);
}

static void start(char **arguments)
{
    static const struct {
        const char *name;
        unsigned cold;
        uint32_t flags;
    } modes[] = {{"warm", 0, 0},
                 {"half", 50, 0},
                 {"cold", 100, 0},
                 {"placed", 100, 0},
                 {"verify", 100, WB_LOAD_DIGEST},
                 {"convert", 100, WB_LOAD_CONVERT},
                 {"hashes", 0, WB_LOAD_DIGEST}};
    size_t mode = 0;
    while (mode + 1 < sizeof modes / sizeof *modes && strcmp(modes[mode].name, arguments[0]) != 0)
        mode++;
    path = arguments[1];
    /* Evict the file and read it again, so that it is in large folios of the page cache. A file
     * that was just written in small pieces is in small folios. */
    cold = 100;
    prepare();
    cold = 0;
    prepare();
    options.consume = consume;
    load_once(&options);
    printf("name weighbridge %s\nwork %" PRIu64 " bytes, sum %016" PRIx64 "\n", wb_version(), bytes,
           (uint64_t)sum);
    cold = modes[mode].cold;
    options.flags = modes[mode].flags;
    options.dtype = WB_DTYPE_F16;
    options.executor = cold || options.flags ? &crew_of_four : &crew_executor;
    if (strcmp(modes[mode].name, "placed") == 0)
        start_placing();
}

static uint64_t run(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        prepare();
        bench_prime(PRIMED);
        wb_model *model = open_model();
        uint64_t begin = bench_now(), cpu = bench_cpu_now();
        if (wb_load(model, &options, NULL, &error) != WB_OK)
            bench_die("load", error.message);
        took += bench_now() - begin;
        bench_cpu += bench_cpu_now() - cpu;
        wb_close(model);
    }
    return took;
}

/* ---- the floors ---- */

static unsigned char *memory;

static bool maps_anew;

static void map(void)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        bench_die(path, "cannot be mapped");
    (void)close(fd);
}

static void start_sum(char **arguments)
{
    maps_anew = strcmp(arguments[0], "anew") == 0;
    path = arguments[1];
    prepare();
    map();
    printf("name %sread-sum\nwork %" PRIu64 " bytes\n", maps_anew ? "mmap and " : "", bytes);
}

static void sum_share(void *arg, size_t i)
{
    size_t share = (size_t)bytes / *(const size_t *)arg;
    atomic_fetch_add(&sum, add_up(memory + i * share, share));
}

/* Adds up the bytes of the mapped file. If maps_anew is set, maps the file again for each run, as
 * opening a model does. */
static uint64_t run_sum(unsigned long times)
{
    size_t shares = crew_count();
    uint64_t begin = bench_now(), cpu = bench_cpu_now();
    for (unsigned long i = 0; i < times; i++) {
        if (maps_anew) {
            (void)munmap(memory, (size_t)bytes);
            map();
        }
        crew_executor.parallel_for(crew_executor.ctx, shares, sum_share, &shares);
    }
    bench_cpu += bench_cpu_now() - cpu;
    return bench_now() - begin;
}

static int file;
static _Atomic uint64_t next;
static void *chunks[FLOOR_THREADS];
static bool adds_up;

static void open_chunks(int flags)
{
    file = open(path, O_RDONLY | O_CLOEXEC | flags);
    for (size_t i = 0; i < FLOOR_THREADS; i++) {
        if (file < 0 || posix_memalign(&chunks[i], CHUNK, CHUNK) != 0)
            bench_die(path, "cannot be read so");
        (void)madvise(chunks[i], CHUNK, MADV_HUGEPAGE); /* as the library does for its buffers */
        memset(chunks[i], 1, CHUNK);
    }
}

static void read_chunks(void *arg, size_t i)
{
    uint64_t at;
    (void)arg;
    while ((at = atomic_fetch_add(&next, CHUNK)) < bytes) {
        ssize_t got = pread(file, chunks[i], CHUNK, (off_t)at);
        if (got <= 0)
            bench_die(path, "cannot be read");
        if (adds_up)
            atomic_fetch_add(&sum, add_up(chunks[i], (size_t)got));
    }
}

static void start_disk(char **arguments)
{
    path = arguments[0];
    prepare();
    open_chunks(O_DIRECT);
    printf("name O_DIRECT\nwork %" PRIu64 " bytes\n", bytes);
}

static void start_chunks(char **arguments)
{
    bool direct = strcmp(arguments[0], "direct") == 0;
    unsigned long hundredths = strtoul(arguments[1], NULL, 10);
    path = arguments[2];
    prepare();
    cold = (unsigned)hundredths;
    adds_up = true;
    open_chunks(direct ? O_DIRECT : 0);
    printf("name %s\nwork %" PRIu64 " bytes\n", direct ? "O_DIRECT and sum" : "read and sum",
           bytes);
}

static uint64_t run_chunks(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        if (adds_up)
            prepare();
        next = 0;
        uint64_t begin = bench_now(), cpu = bench_cpu_now();
        crew_of_four.parallel_for(crew_of_four.ctx, FLOOR_THREADS, read_chunks, NULL);
        took += bench_now() - begin;
        bench_cpu += bench_cpu_now() - cpu;
    }
    return took;
}

const bench_operation bench_load = {"load", "warm|half|cold|placed|verify|convert|hashes MODEL",
                                    start, run};
const bench_operation bench_sum = {"sum", "anew|kept FILE", start_sum, run_sum};
const bench_operation bench_disk = {"disk", "FILE", start_disk, run_chunks};
const bench_operation bench_chunks = {"chunks", "direct|buffered COLD-HUNDREDTHS FILE",
                                      start_chunks, run_chunks};
