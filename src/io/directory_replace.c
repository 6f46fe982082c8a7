/*
 * Replaces a directory by a new one. Entries of the old directory that do not belong to the
 * replaced model stay.
 *
 *   1. Each such entry gets a second name in the new directory: a file by a hard link, a
 *      subdirectory by a directory of hard links.
 *   2. The two directories exchange their names atomically.
 *   3. The old directory is removed, including the replaced model and the second links in it.
 *
 * At every moment, also after a crash, each such entry has its name in the directory. A file system
 * without hard links is refused in step 1, when nothing has changed.
 */
#define _GNU_SOURCE /* for renameat2 */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/sink.h"

#define DEEPEST 64 /* maximum depth of subdirectories; each level needs two descriptors */

/* A directory of the old tree (`from`) and the directory with the same path in the new tree
 * (`to`). */
typedef struct level {
    int from, to;
    const wb__kept_entries *kept; /* NULL below the first level: everything is kept */
    unsigned depth;
    wb__context *context; /* for errors at the first level */
    const char *path;     /* path of `from` at the first level */
} level;

/* Calls `visit` for each entry of level->from. Returns 0, or the first errno. */
static int each(level *l, int (*visit)(level *l, const char *name))
{
    int os_error = 0, fd = openat(l->from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        os_error = errno;
        if (fd >= 0)
            (void)close(fd);
        return os_error;
    }
    while (os_error == 0) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            os_error = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            os_error = visit(l, entry->d_name);
    }
    (void)closedir(folder);
    return os_error;
}

static bool is_kept(const level *l, const char *name)
{
    return l->kept == NULL || l->kept->is_kept(l->kept->ctx, name);
}

static int open_below(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void close_level(const level *l)
{
    if (l->from >= 0)
        (void)close(l->from);
    if (l->to >= 0)
        (void)close(l->to);
}

/* ---- the second names ---- */

/* Links a file. Replaces a link that an interrupted run left. */
static int link_file(const level *l, const char *name)
{
    if (linkat(l->from, name, l->to, name, 0) == 0)
        return 0;
    if (errno != EEXIST || unlinkat(l->to, name, 0) != 0)
        return errno;
    return linkat(l->from, name, l->to, name, 0) == 0 ? 0 : errno;
}

/* Gives a directory the owner and permissions in `st`. If the owner cannot be changed (only root
 * may do this), clears the setuid, setgid and sticky bits. */
static int dress(int folder, const struct stat *st)
{
    struct stat own;
    mode_t mode = st->st_mode & 07777;
    if (fstat(folder, &own) != 0)
        return errno;
    if ((own.st_uid != st->st_uid || own.st_gid != st->st_gid) &&
        fchown(folder, st->st_uid, st->st_gid) != 0)
        mode &= 0777;
    if ((own.st_mode & 07777) == mode)
        return 0; /* no fchmod: `wb --sandbox` refuses some modes, even if they change nothing */
    return fchmod(folder, mode) != 0 ? errno : 0;
}

static int link_entry(level *l, const char *name);

static int link_folder(const level *l, const char *name, const struct stat *st)
{
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    if (l->depth == DEEPEST)
        return ELOOP;
    if (mkdirat(l->to, name, 0700) != 0 && errno != EEXIST)
        return errno;
    level below = {
        .from = open_below(l->from, name), .to = open_below(l->to, name), .depth = l->depth + 1};
    int os_error = below.from < 0 || below.to < 0 ? errno : each(&below, link_entry);
    if (os_error == 0)
        os_error = dress(below.to, st);
    if (os_error == 0 && futimens(below.to, times) != 0 && errno != ENOSYS)
        os_error = errno; /* ENOSYS is ignored: wb --sandbox forbids futimens */
    close_level(&below);
    return os_error;
}

static int link_entry(level *l, const char *name)
{
    struct stat st;
    if (!is_kept(l, name))
        return 0;
    if (fstatat(l->from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    int os_error = S_ISDIR(st.st_mode) ? link_folder(l, name, &st) : link_file(l, name);
    if (os_error == 0 || l->depth != 0)
        return os_error;
    char *path = wb__path_join(&l->context->allocator, l->path, wb__str_from(name, SIZE_MAX));
    l->context->file = path == NULL ? l->path : path;
    (void)wb__fail_os(l->context, os_error, WB__MSG_IO_KEEP_ENTRY);
    l->context->file = "";
    if (path != NULL)
        wb__free(&l->context->allocator, path, strlen(path) + 1);
    return os_error;
}

/* ---- removal of the old directory ---- */

static int drop_entry(level *l, const char *name);

/* Removes a subdirectory of the old directory. Its entries are linked in the new directory too. */
static void drop_folder(const level *l, const char *name, const struct stat *st)
{
    level below = {
        .from = open_below(l->from, name), .to = open_below(l->to, name), .depth = l->depth + 1};
    if (below.from >= 0 && below.to >= 0) {
        (void)fchmod(below.from, (st->st_mode & 07777) | 0700);
        (void)each(&below, drop_entry);
    }
    close_level(&below);
    (void)unlinkat(l->from, name, AT_REMOVEDIR); /* fails if the subdirectory is not empty */
}

/* Removes an entry from the old directory. An entry that is to be kept but has no link in the new
 * directory was created during the exchange: moves it to the new directory. */
static int drop_entry(level *l, const char *name)
{
    struct stat st, twin;
    if (fstatat(l->from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    bool has_twin = fstatat(l->to, name, &twin, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_kept(l, name))
        (void)unlinkat(l->from, name, 0);
    else if (S_ISDIR(st.st_mode) && has_twin)
        drop_folder(l, name, &st);
    else if (has_twin && st.st_dev == twin.st_dev && st.st_ino == twin.st_ino)
        (void)unlinkat(l->from, name, 0);
#ifdef RENAME_NOREPLACE
    else
        (void)renameat2(l->from, name, l->to, name, RENAME_NOREPLACE);
#endif
    return 0;
}

/* ---- the exchange ---- */

static int exchange(const char *made, const char *path)
{
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_EXCHANGE) == 0 ? 0 : errno;
#else
    (void)made;
    (void)path;
    return ENOSYS;
#endif
}

/* Exchanges the directories and makes the new names durable. Returns 0 or errno. */
static int exchange_durably(wb__context *context, const char *made, const char *path)
{
    int os_error = wb__directory_sync(made);
    if (os_error == 0)
        os_error = exchange(made, path);
    return os_error == 0 ? wb__directory_sync_of(&context->allocator, path) : os_error;
}

wb_status wb__directory_replace(wb__context *context, const char *made, const char *path,
                                const wb__kept_entries *kept)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    struct stat st;
    level l = {.from = open(path, flags), .to = -1, .kept = kept, .context = context, .path = path};
    int os_error = l.from < 0 ? errno : 0;
    if (os_error == 0 && (l.to = open(made, flags)) < 0)
        os_error = errno;
    if (os_error == 0 && fstat(l.from, &st) != 0)
        os_error = errno;
    (void)wb__error_reset(context->error, context->error);
    if (os_error == 0)
        os_error = each(&l, link_entry);
    if (os_error == 0)
        os_error = dress(l.to, &st);
    if (os_error == 0)
        os_error = exchange_durably(context, made, path);
    if (os_error == 0) {
        (void)each(&l, drop_entry);
        (void)rmdir(made); /* `made` is the name of the old directory now */
    }
    close_level(&l);
    if (os_error == 0)
        return WB_OK;
    if (context->error->status != WB_OK) /* link_entry reported the entry */
        return context->error->status;
    context->file = path;
    return wb__fail_os(context, os_error, WB__MSG_IO_RENAME_FOLDER);
}
