#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/direct.h"
#include "io/source_private.h"

/* ---- storage medium ---- */

/* Values of f_type of statfs(2); linux/magic.h defines only some of them. */
static const struct {
    uint32_t magic;
    wb__medium medium;
} media[] = {
    {0x01021994, WB__MEDIUM_MEMORY},  /* tmpfs */
    {0x858458f6, WB__MEDIUM_MEMORY},  /* ramfs */
    {0x958458f6, WB__MEDIUM_MEMORY},  /* hugetlbfs */
    {0x00006969, WB__MEDIUM_NETWORK}, /* NFS */
    {0x0000517b, WB__MEDIUM_NETWORK}, /* SMB */
    {0xfe534d42, WB__MEDIUM_NETWORK}, /* SMB 2 */
    {0xff534d42, WB__MEDIUM_NETWORK}, /* CIFS */
    {0x0000564c, WB__MEDIUM_NETWORK}, /* NCP */
    {0x73757245, WB__MEDIUM_NETWORK}, /* Coda */
    {0x5346414f, WB__MEDIUM_NETWORK}, /* AFS */
    {0x6b414653, WB__MEDIUM_NETWORK}, /* kAFS */
    {0x00c36400, WB__MEDIUM_NETWORK}, /* Ceph */
    {0x01021997, WB__MEDIUM_NETWORK}, /* 9p */
    {0x65735546, WB__MEDIUM_NETWORK}, /* FUSE: sshfs, s3fs, … */
    {0x0bd00bd0, WB__MEDIUM_NETWORK}, /* Lustre */
    {0x47504653, WB__MEDIUM_NETWORK}, /* GPFS */
    {0x19830326, WB__MEDIUM_NETWORK}, /* BeeGFS */
    {0x01161970, WB__MEDIUM_NETWORK}, /* GFS2 */
    {0x7461636f, WB__MEDIUM_NETWORK}, /* OCFS2 */
    {0x786f4256, WB__MEDIUM_NETWORK}, /* vboxsf */
};

static wb__medium medium_of(const struct statfs *fs)
{
    for (size_t i = 0; i < sizeof media / sizeof media[0]; i++) {
        if ((uint32_t)fs->f_type == media[i].magic)
            return media[i].medium;
    }
    return WB__MEDIUM_DISK;
}

wb__medium wb__medium_of_fd(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 ? medium_of(&fs) : WB__MEDIUM_NETWORK;
}

wb__medium wb__source_medium(const wb__source *source)
{
    struct statfs fs;
    if (source->memory != NULL || source->sealed)
        return WB__MEDIUM_MEMORY;
    if (source->caller.read != NULL)
        return WB__MEDIUM_CALLER;
    int result = source->fd >= 0 ? fstatfs(source->fd, &fs) : statfs(source->label, &fs);
    if (result != 0)
        return WB__MEDIUM_NETWORK; /* the safest assumption */
    return medium_of(&fs);
}

/* ---- page cache contents ---- */

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same number on every architecture; since Linux 6.5 */
#endif

static bool ask_cachestat(int fd, uint64_t offset, uint64_t n, uint64_t *cached)
{
    struct {
        uint64_t offset, bytes;
    } range = {offset, n};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted; /* in pages */
    } answer = {0};
    if (syscall(SYS_cachestat, fd, &range, &answer, 0) != 0)
        return false;
    *cached = answer.cached;
    return true;
}

/*
 * Works in steps of 1024 pages, so that the result of mincore (one byte per page) fits on the
 * stack.
 */
static bool ask_mincore(int fd, uint64_t offset, uint64_t n, uint64_t page, uint64_t *cached)
{
    enum { STEP_PAGES = 1024 };
    unsigned char resident[STEP_PAGES];
    *cached = 0;
    for (uint64_t at = offset - offset % page; at < offset + n; at += STEP_PAGES * page) {
        uint64_t left = offset + n - at;
        size_t bytes = (size_t)(left < STEP_PAGES * page ? left : STEP_PAGES * page);
        void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);
        if (mapped == MAP_FAILED)
            return false;
        int result = mincore(mapped, bytes, resident);
        (void)munmap(mapped, bytes);
        if (result != 0)
            return false;
        for (size_t i = 0; i < (bytes + page - 1) / page; i++)
            *cached += resident[i] & 1u;
    }
    return true;
}

bool wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n, uint64_t *cached)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *cached = 0;
    if (!wb__in_range(offset, n, source->bytes) || source->fd < 0 || n == 0)
        return false;
    if (!ask_cachestat(source->fd, offset, n, cached) &&
        !ask_mincore(source->fd, offset, n, page, cached))
        return false;
    *cached = *cached > n / page ? n : *cached * page;
    return true;
}

void wb__source_read_ahead(const wb__source *source, uint64_t offset, uint64_t n)
{
    if (source->fd >= 0 && source->memory == NULL && offset <= INT64_MAX && n <= INT64_MAX)
        (void)posix_fadvise(source->fd, (off_t)offset, (off_t)n, POSIX_FADV_WILLNEED);
}
