/*
 * System calls that query the in-memory disk: stat, statfs and directory listings.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "disk/calls.h"

#include <dirent.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#define FOLDERS_MAX 16
#define DEVICE 0x77
#define ROOM ((uint64_t)1 << 24) /* free space reported, in bytes */

static int describe(const disk_node *node, struct stat *st)
{
    if (node == NULL)
        return disk_answer(ENOENT);
    *st = (struct stat){.st_dev = DEVICE,
                        .st_ino = (ino_t)node->number,
                        .st_mode = node->mode | (node->is_folder ? S_IFDIR : S_IFREG),
                        .st_uid = geteuid(),
                        .st_nlink = node->links + (node->is_folder ? 1 : 0),
                        .st_size = (off_t)node->size,
                        .st_blksize = 4096,
                        .st_blocks = (blkcnt_t)((node->size + 4095) / 4096 * 8)};
    st->st_mtim.tv_sec = st->st_ctim.tv_sec = (time_t)(1000000000 + node->changed / 1000000000);
    st->st_mtim.tv_nsec = st->st_ctim.tv_nsec = (long)(node->changed % 1000000000);
    return 0;
}

DECLARE(int, fstat64, int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st)
{
    const disk_description *d = disk_of(fd);
    return d == NULL ? __real_fstat64(fd, st) : describe(d->node, st);
}

DECLARE(int, fstatat64, int fd, const char *path, struct stat *st, int flags);
int __wrap_fstatat64(int fd, const char *path, struct stat *st, int flags)
{
    WITH_PLACE(fd, path, __real_fstatat64(fd, path, st, flags));
    return describe(place.node, st);
}

DECLARE(int, stat64, const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st)
{
    WITH_PLACE(AT_FDCWD, path, __real_stat64(path, st));
    return describe(place.node, st);
}

DECLARE(int, lstat64, const char *path, struct stat *st);
int __wrap_lstat64(const char *path, struct stat *st)
{
    WITH_PLACE(AT_FDCWD, path, __real_lstat64(path, st));
    return describe(place.node, st);
}

static int describe_disk(struct statfs *fs)
{
    *fs = (struct statfs){.f_type = 0x01021994, /* tmpfs */
                          .f_bsize = 4096,
                          .f_blocks = ROOM,
                          .f_bfree = ROOM,
                          .f_bavail = ROOM,
                          .f_namelen = DISK_NAME - 1};
    return 0;
}

DECLARE(int, fstatfs64, int fd, struct statfs *fs);
int __wrap_fstatfs64(int fd, struct statfs *fs)
{
    return disk_of(fd) == NULL ? __real_fstatfs64(fd, fs) : describe_disk(fs);
}

DECLARE(int, statfs64, const char *path, struct statfs *fs);
int __wrap_statfs64(const char *path, struct statfs *fs)
{
    WITH_PLACE(AT_FDCWD, path, __real_statfs64(path, fs));
    return place.node == NULL ? disk_answer(ENOENT) : describe_disk(fs);
}

DECLARE(int, statvfs64, const char *path, struct statvfs *fs);
int __wrap_statvfs64(const char *path, struct statvfs *fs)
{
    WITH_PLACE(AT_FDCWD, path, __real_statvfs64(path, fs));
    *fs = (struct statvfs){.f_bsize = 4096, .f_frsize = 4096, .f_bfree = ROOM, .f_bavail = ROOM};
    return disk_answer(place.node == NULL ? ENOENT : 0);
}

DECLARE(int, access, const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    if (strcmp(path, "/proc/self/fd") == 0) /* queried very often */
        return 0;
    WITH_PLACE(AT_FDCWD, path, __real_access(path, mode));
    return disk_answer(place.node == NULL ? ENOENT : 0);
}

DECLARE(int, faccessat, int fd, const char *path, int mode, int flags);
int __wrap_faccessat(int fd, const char *path, int mode, int flags)
{
    WITH_PLACE(fd, path, __real_faccessat(fd, path, mode, flags));
    return disk_answer(place.node == NULL ? ENOENT : 0);
}

DECLARE(int, fchmod, int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode)
{
    const disk_description *d = disk_of(fd);
    if (d == NULL)
        return __real_fchmod(fd, mode);
    d->node->mode = mode & 07777;
    disk_touch(d->node);
    return 0;
}

DECLARE(int, fchown, int fd, uid_t user, gid_t group);
int __wrap_fchown(int fd, uid_t user, gid_t group)
{
    return disk_of(fd) == NULL ? __real_fchown(fd, user, group) : disk_answer(EPERM);
}

/* ---- folders ---- */

typedef struct listing {
    int fd; /* 0: unused */
    size_t next, count;
    char (*names)[DISK_NAME];
    struct dirent entry;
} listing;

static listing listings[FOLDERS_MAX];

/* Takes a snapshot of a directory; POSIX leaves open whether a listing shows later changes. */
static DIR *list(int fd)
{
    disk_node *node = disk_of(fd)->node;
    listing *l = listings;
    while (l < listings + FOLDERS_MAX && l->fd != 0)
        l++;
    if (l == listings + FOLDERS_MAX || !node->is_folder) {
        errno = node->is_folder ? EMFILE : ENOTDIR;
        return NULL;
    }
    l->fd = fd;
    l->next = 0;
    l->count = node->count + 2;
    l->names = malloc(l->count * sizeof *l->names);
    if (l->names == NULL)
        abort();
    (void)strcpy(l->names[0], ".");
    (void)strcpy(l->names[1], "..");
    for (size_t i = 0; i < node->count; i++)
        (void)strcpy(l->names[i + 2], node->entries[i].name);
    return (DIR *)l;
}

DECLARE(DIR *, fdopendir, int fd);
DIR *__wrap_fdopendir(int fd)
{
    return disk_of(fd) == NULL ? __real_fdopendir(fd) : list(fd);
}

DECLARE(DIR *, opendir, const char *path);
DIR *__wrap_opendir(const char *path)
{
    disk_place place;
    int os_error;
    if (!disk_place_at(AT_FDCWD, path, &place, &os_error))
        return __real_opendir(path);
    int fd =
        os_error != 0 ? disk_answer(os_error) : disk_open_place(&place, O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd < 0 ? NULL : list(fd);
    if (folder == NULL && fd >= 0)
        (void)close(fd);
    return folder;
}

static listing *listing_of(DIR *folder)
{
    uintptr_t p = (uintptr_t)folder, begin = (uintptr_t)listings;
    return p >= begin && p < begin + sizeof listings ? (listing *)(void *)folder : NULL;
}

DECLARE(struct dirent *, readdir64, DIR *folder);
struct dirent *__wrap_readdir64(DIR *folder)
{
    listing *l = listing_of(folder);
    if (l == NULL)
        return __real_readdir64(folder);
    if (l->next == l->count)
        return NULL;
    (void)strcpy(l->entry.d_name, l->names[l->next++]);
    return &l->entry;
}

DECLARE(int, closedir, DIR *folder);
int __wrap_closedir(DIR *folder)
{
    listing *l = listing_of(folder);
    if (l == NULL)
        return __real_closedir(folder);
    int fd = l->fd;
    free(l->names);
    *l = (listing){.fd = 0};
    return close(fd);
}
