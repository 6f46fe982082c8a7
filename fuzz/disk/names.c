/*
 * System calls on names: rename, link, unlink, temporary names.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "disk/calls.h"

/* ---- names ---- */

DECLARE(int, unlinkat, int fd, const char *path, int flags);
int __wrap_unlinkat(int fd, const char *path, int flags)
{
    WITH_PLACE(fd, path, __real_unlinkat(fd, path, flags));
    return disk_answer(disk_unlink(&place, (flags & AT_REMOVEDIR) != 0));
}

DECLARE(int, unlink, const char *path);
int __wrap_unlink(const char *path)
{
    WITH_PLACE(AT_FDCWD, path, __real_unlink(path));
    return disk_answer(disk_unlink(&place, false));
}

DECLARE(int, rmdir, const char *path);
int __wrap_rmdir(const char *path)
{
    WITH_PLACE(AT_FDCWD, path, __real_rmdir(path));
    return disk_answer(disk_unlink(&place, true));
}

DECLARE(int, remove, const char *path);
int __wrap_remove(const char *path)
{
    WITH_PLACE(AT_FDCWD, path, __real_remove(path));
    return disk_answer(disk_unlink(&place, place.node != NULL && place.node->is_folder));
}

static int make_folder(const disk_place *place, mode_t mode)
{
    return place->node != NULL ? EEXIST : disk_link(place, disk_make(true, mode & 0755));
}

DECLARE(int, mkdir, const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    WITH_PLACE(AT_FDCWD, path, __real_mkdir(path, mode));
    return disk_answer(make_folder(&place, mode));
}

/* Uses the template itself as the name, XXXXXX included: no other process creates names here. */
DECLARE(char *, mkdtemp, char *path);
char *__wrap_mkdtemp(char *path)
{
    disk_place place;
    int os_error;
    if (!disk_place_at(AT_FDCWD, path, &place, &os_error))
        return __real_mkdtemp(path);
    if (os_error == 0)
        os_error = make_folder(&place, 0700);
    return disk_answer(os_error) == 0 ? path : NULL;
}

DECLARE(int, linkat, int from, const char *path, int to, const char *target, int flags);
int __wrap_linkat(int from, const char *path, int to, const char *target, int flags)
{
    static const char self[] = "/proc/self/fd/";
    disk_place source = {.node = NULL}, place;
    int os_error;
    if (!disk_place_at(to, target, &place, &os_error))
        return __real_linkat(from, path, to, target, flags);
    const disk_description *d =
        strncmp(path, self, sizeof self - 1) == 0 ? disk_of(atoi(path + sizeof self - 1)) : NULL;
    if (d != NULL)
        source.node = d->node;
    else if (os_error == 0 && !disk_place_at(from, path, &source, &os_error))
        os_error = EXDEV;
    if (os_error == 0 && source.node == NULL)
        os_error = ENOENT;
    if (os_error == 0 && source.node->is_folder)
        os_error = EPERM;
    return disk_answer(os_error != 0 ? os_error : disk_link(&place, source.node));
}

/* Returns true if at least one of the paths is on the in-memory disk, and sets *result. If only one
 * of them is, *result is the failure EXDEV. */
static bool rename_here(int from, const char *path, int to, const char *target, unsigned flags,
                        int *result)
{
    disk_place source, place;
    int first = 0, second = 0;
    bool ours = disk_place_at(from, path, &source, &first);
    if (disk_place_at(to, target, &place, &second) != ours)
        first = EXDEV;
    else if (!ours)
        return false;
    if (first == 0)
        first = second;
    *result = disk_answer(first != 0 ? first : disk_rename(&source, &place, flags));
    return true;
}

DECLARE(int, renameat2, int from, const char *path, int to, const char *target, unsigned flags);
int __wrap_renameat2(int from, const char *path, int to, const char *target, unsigned flags)
{
    int result;
    return rename_here(from, path, to, target, flags, &result)
               ? result
               : __real_renameat2(from, path, to, target, flags);
}

DECLARE(int, renameat, int from, const char *path, int to, const char *target);
int __wrap_renameat(int from, const char *path, int to, const char *target)
{
    int result;
    return rename_here(from, path, to, target, 0, &result)
               ? result
               : __real_renameat(from, path, to, target);
}

DECLARE(int, rename, const char *path, const char *target);
int __wrap_rename(const char *path, const char *target)
{
    int result;
    return rename_here(AT_FDCWD, path, AT_FDCWD, target, 0, &result) ? result
                                                                     : __real_rename(path, target);
}

/* Always fails, because the disk has no symbolic links. */
DECLARE(ssize_t, readlink, const char *path, char *to, size_t n);
ssize_t __wrap_readlink(const char *path, char *to, size_t n)
{
    WITH_PLACE(AT_FDCWD, path, __real_readlink(path, to, n));
    return disk_answer(place.node == NULL ? ENOENT : EINVAL);
}

DECLARE(ssize_t, readlinkat, int fd, const char *path, char *to, size_t n);
ssize_t __wrap_readlinkat(int fd, const char *path, char *to, size_t n)
{
    WITH_PLACE(fd, path, __real_readlinkat(fd, path, to, n));
    return disk_answer(place.node == NULL ? ENOENT : EINVAL);
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
    disk_place place;
    int os_error;
    if (!disk_place_at(AT_FDCWD, path, &place, &os_error))
        return __real_realpath(path, to);
    if (os_error == 0 && place.node == NULL)
        os_error = ENOENT;
    if (os_error == 0 && (strstr(path, "//") != NULL || strstr(path, "/.") != NULL))
        os_error = ELOOP; /* not implemented; the library passes normalised paths only */
    if (disk_answer(os_error) != 0)
        return NULL;
    return to == NULL ? strdup(path) : strcpy(to, path);
}
