/*
 * System calls on descriptors: locks, reads and writes.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "disk/calls.h"

#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define FIRST (1 << 20) /* first descriptor number of the in-memory disk */
#define OPEN_MAX 256

static disk_description open_now[OPEN_MAX];

int disk_answer(int os_error)
{
    if (os_error == 0)
        return 0;
    errno = os_error;
    return -1;
}

disk_description *disk_of(int fd)
{
    if (fd < FIRST || fd >= FIRST + OPEN_MAX || open_now[fd - FIRST].node == NULL)
        return NULL;
    return &open_now[fd - FIRST];
}

bool disk_place_at(int fd, const char *path, disk_place *place, int *os_error)
{
    static const size_t n = sizeof DISK_ROOT - 1;
    const disk_description *folder = disk_of(fd);
    if (path[0] == '/') {
        if (strncmp(path, DISK_ROOT, n) != 0 || (path[n] != '/' && path[n] != '\0'))
            return false;
        *os_error = disk_walk(disk_root(), path + n, place);
        return true;
    }
    if (folder == NULL)
        return false;
    *os_error = disk_walk(folder->node, path, place);
    return true;
}

/* ---- opening and closing ---- */

static int open_node(disk_node *node, int flags)
{
    for (int i = 0; i < OPEN_MAX; i++) {
        if (open_now[i].node != NULL)
            continue;
        open_now[i] = (disk_description){.node = node, .flags = flags};
        node->opened++;
        return FIRST + i;
    }
    return disk_answer(EMFILE);
}

int disk_open_place(const disk_place *place, int flags, mode_t mode)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    disk_node *node = place->node;
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        if (node == NULL || !node->is_folder)
            return disk_answer(node == NULL ? ENOENT : ENOTDIR);
        return open_node(disk_make(false, mode & 0755), flags);
    }
    if (node == NULL && (flags & O_CREAT) == 0)
        return disk_answer(ENOENT);
    if (node != NULL && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return disk_answer(EEXIST);
    if (node != NULL && node->is_folder && writes)
        return disk_answer(EISDIR);
    if (node != NULL && !node->is_folder && (flags & O_DIRECTORY) != 0)
        return disk_answer(ENOTDIR);
    if (node == NULL) {
        node = disk_make(false, mode & 0755);
        (void)disk_link(place, node);
    }
    if ((flags & O_TRUNC) != 0 && writes)
        (void)disk_resize(node, 0);
    return open_node(node, flags);
}

int __real_openat64(int fd, const char *path, int flags, ...);
int __wrap_openat64(int fd, const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static int open_at(int fd, const char *path, int flags, mode_t mode)
{
    disk_place place;
    int os_error;
    if (!disk_place_at(fd, path, &place, &os_error))
        return __real_openat64(fd, path, flags, mode);
    return os_error != 0 ? disk_answer(os_error) : disk_open_place(&place, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int __wrap_openat64(int fd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(fd, path, flags, mode);
}

int __wrap___openat64_2(int folder, const char *path, int flags);
int __wrap___openat64_2(int folder, const char *path, int flags)
{
    return __wrap_openat64(folder, path, flags);
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

/* The disk has no openat2; the library then resolves paths with openat and readlinkat. All other
 * calls are passed to the system with their arguments, which are at most six. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
#ifdef SYS_openat2
    if (number == SYS_openat2 && disk_of((int)a[0]) != NULL)
        return disk_answer(ENOSYS);
#endif
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void unlock(disk_description *d)
{
    d->node->shared -= d->lock == LOCK_SH;
    d->node->exclusive = d->node->exclusive && d->lock != LOCK_EX;
    d->lock = 0;
}

DECLARE(int, close, int fd);
int __wrap_close(int fd)
{
    disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_close(fd);
    disk_node *node = d->node;
    unlock(d);
    d->node = NULL;
    node->opened--;
    disk_drop(node);
    return 0;
}

DECLARE(int, flock, int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    disk_description *d = disk_of(fd);
    int wanted = operation & ~LOCK_NB, had = d == NULL ? 0 : d->lock;
    if (d == NULL)
        return __real_flock(fd, operation);
    unlock(d);
    bool is_free = !d->node->exclusive && (wanted != LOCK_EX || d->node->shared == 0);
    d->lock = wanted == LOCK_UN ? 0 : is_free ? wanted : had;
    d->node->shared += d->lock == LOCK_SH;
    d->node->exclusive = d->node->exclusive || d->lock == LOCK_EX;
    /* Return EDEADLK instead of waiting: this process itself holds the lock, so waiting would not
     * end. */
    return disk_answer(wanted == LOCK_UN || is_free ? 0
                       : (operation & LOCK_NB) != 0 ? EWOULDBLOCK
                                                    : EDEADLK);
}

/* ---- bytes ---- */

static bool may(const disk_description *d, bool write)
{
    return (d->flags & O_ACCMODE) != (write ? O_RDONLY : O_WRONLY) && !d->node->is_folder;
}

DECLARE(ssize_t, pread64, int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_pread64(fd, to, n, at);
    if (!may(d, false) || at < 0)
        return disk_answer(at < 0 ? EINVAL : d->node->is_folder ? EISDIR : EBADF);
    return (ssize_t)disk_read(d->node, (uint64_t)at, to, n);
}

DECLARE(ssize_t, read, int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n)
{
    disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_read(fd, to, n);
    ssize_t got = __wrap_pread64(fd, to, n, (off_t)d->at);
    d->at += got > 0 ? (uint64_t)got : 0;
    return got;
}

DECLARE(ssize_t, pwrite64, int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_pwrite64(fd, bytes, n, at);
    int os_error = at < 0 ? EINVAL : !may(d, true) ? EBADF : 0;
    if (os_error == 0)
        os_error = disk_write(d->node, (uint64_t)at, bytes, n);
    return os_error == 0 ? (ssize_t)n : disk_answer(os_error);
}

DECLARE(ssize_t, write, int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_write(fd, bytes, n);
    ssize_t done = __wrap_pwrite64(fd, bytes, n, (off_t)d->at);
    d->at += done > 0 ? (uint64_t)done : 0;
    return done;
}

DECLARE(ssize_t, copy_file_range, int from, off_t *in, int to, off_t *out, size_t n,
        unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *in, int to, off_t *out, size_t n, unsigned flags)
{
    const disk_description *source = disk_of(from), *target = disk_of(to);
    if (source == NULL && target == NULL)
        return __real_copy_file_range(from, in, to, out, n, flags);
    if (source == NULL || target == NULL || source->node == target->node || in == NULL ||
        out == NULL)
        return disk_answer(source == NULL || target == NULL ? EXDEV : EINVAL);
    if (!may(source, false) || !may(target, true))
        return disk_answer(EBADF);
    uint64_t size = source->node->size;
    size_t got = (uint64_t)*in >= size      ? 0
                 : n < size - (uint64_t)*in ? n
                                            : (size_t)(size - (uint64_t)*in);
    int os_error =
        got == 0 ? 0 : disk_write(target->node, (uint64_t)*out, source->node->bytes + *in, got);
    if (os_error != 0)
        return disk_answer(os_error);
    *in += (off_t)got;
    *out += (off_t)got;
    return (ssize_t)got;
}

DECLARE(int, fsync, int fd);
int __wrap_fsync(int fd)
{
    return disk_of(fd) != NULL ? 0 : __real_fsync(fd);
}

DECLARE(int, ftruncate64, int fd, off_t length);
int __wrap_ftruncate64(int fd, off_t length)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_ftruncate64(fd, length);
    return disk_answer(length < 0 || !may(d, true) ? EINVAL
                                                   : disk_resize(d->node, (uint64_t)length));
}

DECLARE(int, fallocate64, int fd, int mode, off_t at, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t at, off_t n)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_fallocate64(fd, mode, at, n);
    if (at < 0 || n <= 0 || !may(d, true))
        return disk_answer(may(d, true) ? EINVAL : EBADF);
    if (mode == FALLOC_FL_KEEP_SIZE)
        return 0;
    if (mode == FALLOC_FL_INSERT_RANGE || mode == FALLOC_FL_COLLAPSE_RANGE)
        return disk_answer(
            disk_shift(d->node, mode == FALLOC_FL_INSERT_RANGE, (uint64_t)at, (uint64_t)n));
    return disk_answer(EOPNOTSUPP);
}

/* Maps a copy of the bytes. That is sufficient, because the library does not read a mapping after
 * its file has changed. */
DECLARE(void *, mmap64, void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_mmap64(at, n, protection, flags, fd, offset);
    void *copy = __real_mmap64(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy != MAP_FAILED)
        (void)disk_read(d->node, (uint64_t)offset, copy, n);
    return copy;
}

/* ---- other calls replaced for speed ---- */

/* Fails, so that io/sink_write.c blocks no signals: writes to the in-memory disk raise none. */
int __wrap_sigpending(void *set);
int __wrap_sigpending(void *set)
{
    (void)set;
    return disk_answer(ENOSYS);
}

/* Returns the same sequence of bytes in every process, so that runs are repeatable. Hash keys and
 * temporary names need not be unpredictable here. */
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
    static uint64_t state = 1;
    uint8_t *bytes = to;
    (void)flags;
    for (size_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
    return (ssize_t)n;
}
