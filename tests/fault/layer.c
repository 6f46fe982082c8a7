#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *const layer_names[LAYER_CALL_COUNT] = {
#define X(id, name) name,
    LAYER_CALLS(X)
#undef X
};

layer_state layer;
op_log *layer_log;

#define DESCRIPTORS 4096
static bool is_open[DESCRIPTORS];

void layer_reset(void)
{
    layer_call *kinds = layer.kinds;
    uint64_t capacity = layer.capacity;
    layer = (layer_state){.mask = LAYER_SYSTEM, .kinds = kinds, .capacity = capacity};
    memset(is_open, 0, sizeof is_open);
}

/* ---- faults ---- */

static void die(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

static bool can_be_interrupted(layer_call call)
{
    return call == LAYER_READ || call == LAYER_PREAD || call == LAYER_WRITE ||
           call == LAYER_PWRITE || call == LAYER_FSYNC || call == LAYER_FALLOCATE ||
           call == LAYER_COPY_RANGE || call == LAYER_POLL;
}

/* Counts a call and selects its outcome. Returns 0 or the errno that the call must fail with. Sets
 * *cut if only half of the bytes must be transferred. */
static int enter(layer_call call, bool *cut)
{
    static bool interrupted;
    bool spare;
    cut = cut == NULL ? &spare : cut;
    *cut = false;
    if ((layer.mask >> call & 1) == 0)
        return 0;
    if (layer.interrupts && can_be_interrupted(call)) {
        interrupted = !interrupted;
        if (interrupted)
            return EINTR;
    }
    uint64_t number = ++layer.calls;
    if (layer.kinds != NULL && number <= layer.capacity)
        layer.kinds[number - 1] = call;
    for (int i = 0; i < 2; i++) {
        const layer_fault *f = &layer.fault[i];
        bool now = f->at == number;
        bool later =
            number > f->at && layer.happened &&
            (f->kind == LAYER_FOREVER || (f->kind == LAYER_LASTING && call == layer.struck));
        if (f->kind == LAYER_NONE || (!now && !later))
            continue;
        if (now && !layer.happened)
            layer.struck = call;
        layer.happened = true;
        if (f->kind == LAYER_KILL)
            die();
        *cut = f->kind == LAYER_SHORT || f->kind == LAYER_TEAR;
        if (!*cut)
            return f->error;
    }
    return 0;
}

/* Returns how many of n bytes at offset `at` extend the file. Only these need disk space. */
static size_t beyond(int fd, uint64_t at, size_t n)
{
    struct stat st;
    bool was = layer.on;
    layer.on = false;
    int result = fstat(fd, &st);
    layer.on = was;
    if (result != 0 || (uint64_t)st.st_size <= at)
        return n;
    uint64_t inside = (uint64_t)st.st_size - at;
    return inside >= n ? 0 : n - (size_t)inside;
}

/* Returns how many of n bytes a call may transfer. If this is 0, sets *os_error. Sets *tear if the
 * process must end after the transfer. */
static size_t allowed(layer_call call, int fd, uint64_t at, size_t n, bool *tear, int *os_error)
{
    bool cut;
    *tear = false;
    *os_error = enter(call, &cut);
    if (*os_error != 0)
        return 0;
    if (layer.most != 0 && n > layer.most)
        n = (size_t)layer.most;
    if (layer.has_room && call != LAYER_READ && call != LAYER_PREAD) {
        size_t new_bytes = beyond(fd, at, n);
        if (new_bytes > layer.room) {
            n -= new_bytes - (size_t)layer.room;
            new_bytes = (size_t)layer.room;
        }
        layer.room -= new_bytes;
        if (n == 0)
            *os_error = ENOSPC;
    }
    *tear = cut && (layer.fault[0].kind == LAYER_TEAR || layer.fault[1].kind == LAYER_TEAR);
    return cut ? (n + 1) / 2 : n;
}

#define FAIL_IF(call)                                                                              \
    do {                                                                                           \
        int enter_error = enter(call, NULL);                                                       \
        if (enter_error != 0) {                                                                    \
            errno = enter_error;                                                                   \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- the log ---- */

static uint64_t number_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Returns the inode number of the directory that contains `path`, and stores the file name in
 * `name`. */
static uint64_t place_of(int folder, const char *path, char name[96])
{
    char parent[4096];
    struct stat st;
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, 96, "%s", slash == NULL ? path : slash + 1);
    if (slash == NULL)
        (void)snprintf(parent, sizeof parent, ".");
    else
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path) + 1, path);
    return fstatat(folder, parent, &st, 0) == 0 ? st.st_ino : 0;
}

static op *note(op_kind kind, uint64_t ino)
{
    if (layer_log->count == layer_log->capacity) {
        layer_log->capacity = layer_log->capacity == 0 ? 64 : 2 * layer_log->capacity;
        layer_log->ops = realloc(layer_log->ops, layer_log->capacity * sizeof(op));
        if (layer_log->ops == NULL)
            abort();
    }
    op *o = &layer_log->ops[layer_log->count++];
    *o = (op){.kind = kind, .ino = ino};
    return o;
}

static void note_bytes(int fd, uint64_t at, const void *bytes, size_t n)
{
    if (layer_log == NULL || n == 0)
        return;
    op *o = note(OP_WRITE, number_of(fd));
    o->at = at;
    o->n = n;
    o->bytes = malloc(n);
    if (o->bytes == NULL)
        abort();
    memcpy(o->bytes, bytes, n);
}

void op_log_free(op_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->ops[i].bytes);
    free(log->ops);
    *log = (op_log){0};
}

/* Runs a statement for the log. Wrapped calls in it are not counted and get no faults. */
#define QUIETLY(statement)                                                                         \
    do {                                                                                           \
        bool quietly_was = layer.on;                                                               \
        int quietly_errno = errno;                                                                 \
        layer.on = false;                                                                          \
        statement;                                                                                 \
        layer.on = quietly_was;                                                                    \
        errno = quietly_errno;                                                                     \
    } while (0)

/* ---- descriptors ---- */

static int opened(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS) {
        is_open[fd] = true;
        layer.descriptors++;
    }
    return fd;
}

static void note_new(int fd, int folder, const char *path, bool is_new)
{
    if (layer_log == NULL || fd < 0 || !is_new)
        return;
    op *o = note(OP_NEW, number_of(fd));
    o->folder = place_of(folder, path, o->name);
}

#define DECLARE(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

int __real_openat64(int folder, const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    struct stat st;
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE, is_new = unnamed;
    FAIL_IF(LAYER_OPEN);
    if (layer_log != NULL && (flags & O_CREAT) != 0)
        QUIETLY(is_new = fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) != 0);
    int fd = opened(__real_openat64(folder, path, flags, mode));
    QUIETLY(note_new(fd, folder, unnamed ? "" : path, is_new));
    return fd;
}

int __wrap_openat64(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return layer.on ? open_at(folder, path, flags, mode)
                    : __real_openat64(folder, path, flags, mode);
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
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return layer.on ? open_at(AT_FDCWD, path, flags, mode) : __real_open64(path, flags, mode);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The library calls openat2 and cachestat with syscall, because the C library has no functions for
 * them. Both have four arguments. */
long __wrap_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
    long d = va_arg(arguments, long);
    va_end(arguments);
    bool opens = layer.on && number == SYS_openat2;
    if (opens)
        FAIL_IF(LAYER_OPEN);
    long result = __real_syscall(number, a, b, c, d);
    return opens ? opened((int)result) : result;
}

DECLARE(int, memfd_create, const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    if (!layer.on)
        return __real_memfd_create(name, flags);
    FAIL_IF(LAYER_MEMFD);
    return opened(__real_memfd_create(name, flags));
}

DECLARE(int, mkostemp64, char *path, int flags);
int __wrap_mkostemp64(char *path, int flags)
{
    if (!layer.on)
        return __real_mkostemp64(path, flags);
    FAIL_IF(LAYER_OPEN);
    return opened(__real_mkostemp64(path, flags));
}

DECLARE(int, close, int fd);
int __wrap_close(int fd)
{
    if (!layer.on)
        return __real_close(fd);
    int os_error = enter(LAYER_CLOSE, NULL);
    if (fd >= 0 && fd < DESCRIPTORS && is_open[fd]) {
        is_open[fd] = false;
        layer.descriptors--;
    } else {
        layer.wrong = true;
    }
    /* Linux closes the descriptor even if close fails. */
    int result = __real_close(fd);
    if (os_error == 0)
        return result;
    errno = os_error;
    return -1;
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    if (!layer.on)
        return __real_fcntl64(fd, command, argument);
    FAIL_IF(LAYER_FCNTL);
    int result = __real_fcntl64(fd, command, argument);
    return command == F_DUPFD_CLOEXEC || command == F_DUPFD ? opened(result) : result;
}

DECLARE(int, flock, int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    if (!layer.on)
        return __real_flock(fd, operation);
    FAIL_IF(LAYER_FLOCK);
    return __real_flock(fd, operation);
}

/* ---- bytes ---- */

DECLARE(ssize_t, read, int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n)
{
    bool tear;
    int os_error;
    if (!layer.on)
        return __real_read(fd, to, n);
    n = allowed(LAYER_READ, fd, 0, n, &tear, &os_error);
    if (tear)
        die();
    if (os_error == 0)
        return __real_read(fd, to, n);
    errno = os_error;
    return -1;
}

DECLARE(ssize_t, pread64, int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at)
{
    bool tear;
    int os_error;
    if (!layer.on)
        return __real_pread64(fd, to, n, at);
    n = allowed(LAYER_PREAD, fd, 0, n, &tear, &os_error);
    if (tear)
        die();
    if (os_error == 0)
        return __real_pread64(fd, to, n, at);
    errno = os_error;
    return -1;
}

DECLARE(ssize_t, pwrite64, int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
    bool tear;
    int os_error;
    if (!layer.on)
        return __real_pwrite64(fd, bytes, n, at);
    n = allowed(LAYER_PWRITE, fd, (uint64_t)at, n, &tear, &os_error);
    ssize_t done = os_error == 0 ? __real_pwrite64(fd, bytes, n, at) : -1;
    if (tear)
        die();
    if (os_error != 0)
        errno = os_error;
    else if (done > 0)
        QUIETLY(note_bytes(fd, (uint64_t)at, bytes, (size_t)done));
    layer.put += done > 0 ? (uint64_t)done : 0;
    return done;
}

DECLARE(ssize_t, write, int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    bool tear;
    int os_error;
    off_t at = 0;
    if (!layer.on)
        return __real_write(fd, bytes, n);
    at = lseek(fd, 0, SEEK_CUR);
    n = allowed(LAYER_WRITE, fd, at < 0 ? UINT64_MAX : (uint64_t)at, n, &tear, &os_error);
    ssize_t done = os_error == 0 ? __real_write(fd, bytes, n) : -1;
    if (tear)
        die();
    if (os_error != 0)
        errno = os_error;
    else if (done > 0 && at >= 0)
        QUIETLY(note_bytes(fd, (uint64_t)at, bytes, (size_t)done));
    return done;
}

/* Logs a copy_file_range call as a write. */
static void note_copied(int fd, uint64_t at, size_t n)
{
    uint8_t *bytes = layer_log == NULL ? NULL : malloc(n);
    if (bytes != NULL && __real_pread64(fd, bytes, n, (off_t)at) == (ssize_t)n)
        note_bytes(fd, at, bytes, n);
    free(bytes);
}

DECLARE(ssize_t, copy_file_range, int from, off_t *in, int to, off_t *out, size_t n,
        unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *in, int to, off_t *out, size_t n, unsigned flags)
{
    bool tear;
    int os_error;
    off_t at = out == NULL ? 0 : *out;
    if (!layer.on)
        return __real_copy_file_range(from, in, to, out, n, flags);
    n = allowed(LAYER_COPY_RANGE, to, (uint64_t)at, n, &tear, &os_error);
    ssize_t done = os_error == 0 ? __real_copy_file_range(from, in, to, out, n, flags) : -1;
    if (tear)
        die();
    if (os_error != 0)
        errno = os_error;
    else if (done > 0)
        QUIETLY(note_copied(to, (uint64_t)at, (size_t)done));
    layer.copied += done > 0 ? (uint64_t)done : 0;
    return done;
}

DECLARE(int, fsync, int fd);
int __wrap_fsync(int fd)
{
    if (!layer.on)
        return __real_fsync(fd);
    FAIL_IF(LAYER_FSYNC);
    if (layer_log != NULL)
        QUIETLY((void)note(OP_SYNC, number_of(fd)));
    return 0;
}

DECLARE(int, ftruncate64, int fd, off_t length);
int __wrap_ftruncate64(int fd, off_t length)
{
    if (!layer.on)
        return __real_ftruncate64(fd, length);
    FAIL_IF(LAYER_FTRUNCATE);
    int result = __real_ftruncate64(fd, length);
    if (result == 0 && layer_log != NULL)
        QUIETLY(note(OP_SIZE, number_of(fd))->at = (uint64_t)length);
    return result;
}

/* Checks the file size limit as the system does, but without the signal SIGXFSZ. */
static bool is_too_long(off_t length)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (uint64_t)length > limit.rlim_cur;
}

/* Emulates fallocate with FALLOC_FL_INSERT_RANGE or FALLOC_FL_COLLAPSE_RANGE by copying, because
 * not every file system supports them. */
static int shift(int fd, bool insert, off_t at, off_t n)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    if (at % 4096 != 0 || n % 4096 != 0 || at >= st.st_size || (!insert && at + n >= st.st_size))
        return EINVAL;
    if (insert && is_too_long(st.st_size + n))
        return EFBIG;
    size_t rest = (size_t)(st.st_size - at) - (insert ? 0 : (size_t)n);
    uint8_t *bytes = malloc(rest + (size_t)n);
    if (bytes == NULL)
        return ENOMEM;
    memset(bytes, 0, (size_t)n);
    if (insert)
        (void)!__real_pread64(fd, bytes + n, rest, at);
    else
        (void)!__real_pread64(fd, bytes, rest, at + n);
    size_t length = rest + (insert ? (size_t)n : 0);
    struct rlimit limit, none;
    /* Lift the limit of the file size for this write. The new size was checked above. */
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    none = limit;
    none.rlim_cur = none.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &none);
    (void)!__real_pwrite64(fd, bytes, length, at);
    (void)!__real_ftruncate64(fd, at + (off_t)length);
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    free(bytes);
    if (layer_log != NULL) {
        op *o = note(insert ? OP_INSERT : OP_COLLAPSE, number_of(fd));
        o->at = (uint64_t)at;
        o->n = (size_t)n;
    }
    return 0;
}

DECLARE(int, fallocate64, int fd, int mode, off_t at, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t at, off_t n)
{
    int os_error = 0;
    if (!layer.on)
        return __real_fallocate64(fd, mode, at, n);
    FAIL_IF(LAYER_FALLOCATE);
    bool grows = (mode & FALLOC_FL_COLLAPSE_RANGE) == 0;
    if (grows && layer.has_room && (uint64_t)n > layer.room)
        os_error = ENOSPC;
    else if ((mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0)
        QUIETLY(os_error = shift(fd, grows, at, n));
    else if (__real_fallocate64(fd, mode, at, n) != 0)
        os_error = errno;
    if (os_error == 0)
        return 0;
    errno = os_error;
    return -1;
}

/* ---- names ---- */

/* Logs a completed call that changed one or two names. */
static int named(int result, op_kind kind, uint64_t ino, int from, const char *path, int to,
                 const char *target)
{
    if (result != 0 || layer_log == NULL)
        return result;
    QUIETLY({
        op *o = note(kind, ino);
        uint64_t folder = place_of(from, path, o->name);
        o->folder = folder;
        if (target != NULL)
            o->to_folder = place_of(to, target, o->to);
    });
    return result;
}

static uint64_t number_at(int folder, const char *path, int flags)
{
    struct stat st;
    bool was = layer.on;
    layer.on = false;
    uint64_t number = fstatat(folder, path, &st, flags) == 0 ? st.st_ino : 0;
    layer.on = was;
    return number;
}

DECLARE(int, linkat, int from, const char *path, int to, const char *target, int flags);
int __wrap_linkat(int from, const char *path, int to, const char *target, int flags)
{
    if (!layer.on)
        return __real_linkat(from, path, to, target, flags);
    FAIL_IF(LAYER_LINK);
    int result = __real_linkat(from, path, to, target, flags);
    return named(result, OP_LINK, number_at(to, target, AT_SYMLINK_NOFOLLOW), to, target, 0, NULL);
}

DECLARE(int, renameat, int from, const char *path, int to, const char *target);
int __wrap_renameat(int from, const char *path, int to, const char *target)
{
    if (!layer.on)
        return __real_renameat(from, path, to, target);
    FAIL_IF(LAYER_RENAME);
    return named(__real_renameat(from, path, to, target), OP_RENAME, 0, from, path, to, target);
}

DECLARE(int, rename, const char *path, const char *target);
int __wrap_rename(const char *path, const char *target)
{
    if (!layer.on)
        return __real_rename(path, target);
    FAIL_IF(LAYER_RENAME);
    return named(__real_rename(path, target), OP_RENAME, 0, AT_FDCWD, path, AT_FDCWD, target);
}

DECLARE(int, renameat2, int from, const char *path, int to, const char *target, unsigned flags);
int __wrap_renameat2(int from, const char *path, int to, const char *target, unsigned flags)
{
    if (!layer.on)
        return __real_renameat2(from, path, to, target, flags);
    FAIL_IF(LAYER_RENAME);
    int result = __real_renameat2(from, path, to, target, flags);
    return named(result, (flags & RENAME_EXCHANGE) != 0 ? OP_EXCHANGE : OP_RENAME, 0, from, path,
                 to, target);
}

DECLARE(int, unlinkat, int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags)
{
    if (!layer.on)
        return __real_unlinkat(folder, path, flags);
    FAIL_IF(LAYER_UNLINK);
    return named(__real_unlinkat(folder, path, flags), OP_UNLINK, 0, folder, path, 0, NULL);
}

DECLARE(int, unlink, const char *path);
int __wrap_unlink(const char *path)
{
    if (!layer.on)
        return __real_unlink(path);
    FAIL_IF(LAYER_UNLINK);
    return named(__real_unlink(path), OP_UNLINK, 0, AT_FDCWD, path, 0, NULL);
}

DECLARE(int, rmdir, const char *path);
int __wrap_rmdir(const char *path)
{
    if (!layer.on)
        return __real_rmdir(path);
    FAIL_IF(LAYER_RMDIR);
    return named(__real_rmdir(path), OP_UNLINK, 0, AT_FDCWD, path, 0, NULL);
}

DECLARE(int, mkdir, const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    if (!layer.on)
        return __real_mkdir(path, mode);
    FAIL_IF(LAYER_MKDIR);
    int result = __real_mkdir(path, mode);
    return named(result, OP_NEW_DIR, number_at(AT_FDCWD, path, 0), AT_FDCWD, path, 0, NULL);
}

/* ---- what only asks ---- */

#define ASKS(name, call, parameters, ...)                                                          \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        if (layer.on)                                                                              \
            FAIL_IF(call);                                                                         \
        return __real_##name(__VA_ARGS__);                                                         \
    }

ASKS(fchmod, LAYER_FCHMOD, (int fd, mode_t mode), fd, mode)
ASKS(fchown, LAYER_FCHOWN, (int fd, uid_t user, gid_t group), fd, user, group)
ASKS(stat64, LAYER_STAT, (const char *path, struct stat *st), path, st)
ASKS(lstat64, LAYER_LSTAT, (const char *path, struct stat *st), path, st)
ASKS(fstatat64, LAYER_STAT, (int folder, const char *path, struct stat *st, int flags), folder,
     path, st, flags)
ASKS(fstat64, LAYER_FSTAT, (int fd, struct stat *st), fd, st)
ASKS(statfs64, LAYER_STATFS, (const char *path, struct statfs *fs), path, fs)
ASKS(fstatfs64, LAYER_STATFS, (int fd, struct statfs *fs), fd, fs)
ASKS(statvfs64, LAYER_STATFS, (const char *path, struct statvfs *fs), path, fs)
ASKS(access, LAYER_ACCESS, (const char *path, int mode), path, mode)
ASKS(faccessat, LAYER_ACCESS, (int folder, const char *path, int mode, int flags), folder, path,
     mode, flags)
ASKS(poll, LAYER_POLL, (struct pollfd * fds, nfds_t n, int timeout), fds, n, timeout)

DECLARE(ssize_t, readlinkat, int folder, const char *path, char *to, size_t n);
ssize_t __wrap_readlinkat(int folder, const char *path, char *to, size_t n)
{
    if (!layer.on)
        return __real_readlinkat(folder, path, to, n);
    FAIL_IF(LAYER_READLINK);
    return __real_readlinkat(folder, path, to, n);
}

DECLARE(ssize_t, readlink, const char *path, char *to, size_t n);
ssize_t __wrap_readlink(const char *path, char *to, size_t n)
{
    if (layer.on)
        FAIL_IF(LAYER_READLINK);
    return __real_readlink(path, to, n);
}

/* A library that is compiled with _FORTIFY_SOURCE calls these variants of functions of the C
 * library, which also check the size of a buffer or the number of arguments. */
char *__wrap___realpath_chk(const char *path, char *to, size_t n);
char *__wrap_realpath(const char *path, char *to);
char *__wrap___realpath_chk(const char *path, char *to, size_t n)
{
    (void)n;
    return __wrap_realpath(path, to);
}

DECLARE(char *, realpath, const char *path, char *to);
char *__wrap_realpath(const char *path, char *to)
{
    int os_error = layer.on ? enter(LAYER_READLINK, NULL) : 0;
    if (os_error == 0)
        return __real_realpath(path, to);
    errno = os_error;
    return NULL;
}

DECLARE(DIR *, opendir, const char *path);
DIR *__wrap_opendir(const char *path)
{
    int os_error = layer.on ? enter(LAYER_OPENDIR, NULL) : 0;
    if (os_error != 0) {
        errno = os_error;
        return NULL;
    }
    DIR *folder = __real_opendir(path);
    layer.descriptors += layer.on && folder != NULL;
    return folder;
}

DECLARE(DIR *, fdopendir, int fd);
DIR *__wrap_fdopendir(int fd)
{
    int os_error = layer.on ? enter(LAYER_OPENDIR, NULL) : 0;
    if (os_error == 0)
        return __real_fdopendir(fd);
    errno = os_error;
    return NULL;
}

DECLARE(int, closedir, DIR *folder);
int __wrap_closedir(DIR *folder)
{
    layer.descriptors -= layer.on;
    return __real_closedir(folder);
}

DECLARE(struct dirent *, readdir64, DIR *folder);
struct dirent *__wrap_readdir64(DIR *folder)
{
    int os_error = layer.on ? enter(LAYER_READDIR, NULL) : 0;
    if (os_error == 0)
        return __real_readdir64(folder);
    errno = os_error;
    return NULL;
}

/* ---- memory ---- */

DECLARE(void *, mmap64, void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    int os_error = layer.on ? enter(LAYER_MMAP, NULL) : 0;
    if (os_error == 0)
        return __real_mmap64(at, n, protection, flags, fd, offset);
    errno = os_error;
    return MAP_FAILED;
}

DECLARE(void *, mmap, void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    int os_error = layer.on ? enter(LAYER_MMAP, NULL) : 0;
    if (os_error == 0)
        return __real_mmap(at, n, protection, flags, fd, offset);
    errno = os_error;
    return MAP_FAILED;
}

DECLARE(void *, malloc, size_t n);
void *__wrap_malloc(size_t n)
{
    if (!layer.on)
        return __real_malloc(n);
    if (enter(LAYER_ALLOC, NULL) != 0)
        return NULL;
    void *memory = __real_malloc(n);
    layer.blocks += memory != NULL;
    return memory;
}

DECLARE(void, free, void *memory);
void __wrap_free(void *memory)
{
    layer.blocks -= layer.on && memory != NULL;
    __real_free(memory);
}

/* The allocator of layer_allocator stores the size in front of each block, to check it on free. */
#define HEAD 16

static void *allocate(void *ctx, size_t n)
{
    (void)ctx;
    if ((layer.on && enter(LAYER_ALLOC, NULL) != 0) || n > SIZE_MAX - HEAD)
        return NULL;
    uint8_t *block = __real_malloc(n + HEAD);
    if (block == NULL)
        return NULL;
    memcpy(block, &n, sizeof n);
    layer.blocks++;
    return block + HEAD;
}

static void release(void *ctx, void *memory, size_t n)
{
    size_t allocated;
    uint8_t *block = (uint8_t *)memory - HEAD;
    (void)ctx;
    memcpy(&allocated, block, sizeof allocated);
    layer.wrong |= allocated != n;
    layer.blocks--;
    __real_free(block);
}

wb_allocator layer_allocator(void)
{
    return (wb_allocator){NULL, allocate, release};
}
