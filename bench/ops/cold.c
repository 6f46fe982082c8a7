#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "cold.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../worker.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

enum { CHUNK = 8 << 20 };

static void prepare_file(const wb_model *model, uint64_t i, const wb_file *file, unsigned cold)
{
    static char chunk[CHUNK];
    wb_error error;
    uint64_t cached, evict_to = cold == 100 ? file->bytes : file->bytes / 100 * cold;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_die(file->path, "cannot be opened");
    (void)fsync(fd);
    if (evict_to > 0 && posix_fadvise(fd, 0, (off_t)evict_to, POSIX_FADV_DONTNEED) != 0)
        bench_die(file->path, "cannot be dropped from the page cache");
    for (uint64_t at = evict_to; at < file->bytes; at += CHUNK)
        if (pread(fd, chunk, CHUNK, (off_t)at) < 0)
            bench_die(file->path, "cannot be read");
    (void)close(fd);
    if (wb_file_cached(model, i, &cached, &error) != WB_OK)
        bench_die(file->path, error.message);
    uint64_t wanted = file->bytes - evict_to;
    if (cached > wanted + file->bytes / 16 || cached + file->bytes / 16 < wanted)
        bench_die(file->path, "is not in the page cache as it is to be");
}

uint64_t bench_prepare(const char *path, unsigned cold)
{
    wb_model *model;
    wb_error error;
    wb_file file = {.size = sizeof file};
    uint64_t bytes = 0;
    sync(); /* flush data that a peer did not flush, so that the next worker need not wait for it */
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        bench_die(path, error.message);
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        if (wb_file_at(model, i, &file, &error) != WB_OK)
            bench_die(path, error.message);
        prepare_file(model, i, &file, cold);
        bytes += file.bytes;
    }
    wb_close(model);
    return bytes;
}

void bench_prime(size_t room)
{
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_die("memory", "there is none");
    (void)madvise(memory, room, MADV_HUGEPAGE);
    memset(memory, 1, room);
    (void)munmap(memory, room);
}
