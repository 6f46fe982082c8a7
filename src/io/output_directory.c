#define _GNU_SOURCE /* for renameat2 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/sink.h"

#define TRIES 100

int wb__directory_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int os_error = wb__write_sync(fd);
    (void)close(fd);
    /* EINVAL: this file system does not support fsync on directories. */
    return os_error == EINVAL ? 0 : os_error;
}

int wb__directory_sync_of(const wb_allocator *allocator, const char *file)
{
    char *folder = wb__path_join(allocator, "", wb__path_folder(file));
    if (folder == NULL)
        return ENOMEM;
    int os_error = wb__directory_sync(folder);
    wb__free(allocator, folder, strlen(folder) + 1);
    return os_error;
}

/* Creates a directory and makes its name durable. Returns 0 or errno. */
static int make_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? 0 : errno;
    if (slash == NULL || slash == path)
        return wb__directory_sync(slash == NULL ? "." : "/");
    *slash = '\0';
    int os_error = wb__directory_sync(path);
    *slash = '/';
    return os_error;
}

wb_status wb__directories_make(wb__context *context, const char *path)
{
    size_t n = strlen(path) + 1;
    char *copy = wb__alloc(&context->allocator, n);
    int os_error = 0;
    if (copy == NULL)
        return wb__fail_memory(context);
    memcpy(copy, path, n);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && os_error == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        os_error = make_folder(copy);
        *slash = '/';
    }
    wb__free(&context->allocator, copy, n);
    if (os_error == 0)
        return WB_OK;
    context->file = path;
    return wb__fail_os(context, os_error, WB__MSG_IO_MAKE_PARENT_FOLDERS);
}

char *wb__directory_there(const wb_allocator *allocator, const char *path)
{
    struct stat st;
    char *at = wb__path_join(allocator, "", wb__path_folder(path));
    while (at != NULL && lstat(at, &st) != 0 && errno == ENOENT) {
        wb__str folder = wb__path_folder(at);
        if (wb__str_equal(folder, wb__str_from(at, SIZE_MAX)))
            break; /* the path is "/" or "." */
        char *above = wb__path_join(allocator, "", folder);
        wb__free(allocator, at, strlen(at) + 1);
        at = above;
    }
    return at;
}

int wb__directory_look(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno;
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0 ? errno : 0;
}

/* ---- files of an earlier run ---- */

static bool is_ours(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink <= 1 && st.st_uid == geteuid();
}

int wb__file_take_up(int folder, const char *name, mode_t mode, int *fd)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    *fd = openat(folder, name, flags);
    if (*fd >= 0 && is_ours(*fd))
        return 0;
    if (*fd >= 0)
        (void)close(*fd);
    else if (errno != ENOENT && errno != ELOOP && errno != EACCES && errno != ENXIO)
        return errno; /* for example EMFILE: the file may be usable later, so keep it */
    (void)unlinkat(folder, name, 0);
    *fd = openat(folder, name, flags | O_CREAT | O_EXCL, mode);
    return *fd >= 0 ? 0 : errno;
}

static wb_status fail_make(wb__context *context, const char *path)
{
    context->file = path;
    return wb__fail_os(context, errno, WB__MSG_IO_MAKE_FOLDER);
}

wb_status wb__directory_make(wb__context *context, wb__arena *arena, const char *target,
                             const char **path)
{
    wb__str parent = wb__path_folder(target);
    char *made = wb__arena_text(arena, parent.len + 1 + WB__TEMPORARY_BYTES);
    *path = NULL;
    if (made == NULL)
        return wb__fail_memory(context);
    memcpy(made, parent.ptr, parent.len);
    for (int i = 0; i < TRIES; i++) {
        wb__hash_key key = wb__hash_key_draw();
        made[parent.len] = '/';
        wb__temporary_name(made + parent.len + 1, key.word[0] ^ key.word[1], WB__NO_MEMBER);
        if (mkdir(made, 0777) == 0) {
            *path = made;
            return WB_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return fail_make(context, target);
}

static size_t hidden_bytes(const char *path, const char *end)
{
    return wb__path_folder(path).len + wb__path_base(path).len + strlen(end) + sizeof "/.";
}

static void print_hidden(const char *path, const char *end, char *text)
{
    wb__str folder = wb__path_folder(path);
    (void)snprintf(text, hidden_bytes(path, end), "%.*s/.%s%s", (int)folder.len, folder.ptr,
                   wb__path_base(path).ptr, end);
}

char *wb__hidden_path(const wb_allocator *allocator, const char *path, const char *end)
{
    char *text = wb__alloc(allocator, hidden_bytes(path, end));
    if (text != NULL)
        print_hidden(path, end, text);
    return text;
}

char *wb__partial_path(const wb_allocator *allocator, const char *path)
{
    return wb__hidden_path(allocator, path, WB__KEPT_END);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

wb_status wb__directory_make_partial(wb__context *context, wb__arena *arena, const char *target,
                                     const char **path)
{
    char *made = wb__arena_text(arena, hidden_bytes(target, WB__KEPT_END));
    *path = NULL;
    if (made == NULL)
        return wb__fail_memory(context);
    print_hidden(target, WB__KEPT_END, made);
    if (mkdir(made, 0777) != 0 && (errno != EEXIST || !is_folder(made)))
        return fail_make(context, target);
    *path = made;
    return WB_OK;
}

bool wb__directory_is_partial(const wb_allocator *allocator, const char *target)
{
    int os_error = 0;
    char *copy = wb__path_follow(allocator, target, &os_error);
    char *kept = copy == NULL ? NULL : wb__partial_path(allocator, copy);
    bool is = kept == NULL || is_folder(kept); /* assume true if out of memory */
    if (kept != NULL)
        wb__free(allocator, kept, strlen(kept) + 1);
    if (copy != NULL)
        wb__free(allocator, copy, strlen(copy) + 1);
    return is;
}

/* ---- publishing a directory ---- */

wb_status wb__directory_publish(wb__context *context, const char *made, const char *path)
{
    int os_error = wb__directory_sync(made);
#ifdef RENAME_NOREPLACE
    if (os_error == 0 && renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
        os_error = errno;
    /* On file systems without RENAME_NOREPLACE, use rename. It replaces a directory only if that
     * directory is empty, so no file is lost. */
    if (os_error == EINVAL || os_error == ENOSYS)
        os_error = rename(made, path) == 0 ? 0 : errno;
#else
    if (os_error == 0)
        os_error = rename(made, path) == 0 ? 0 : errno;
#endif
    if (os_error == 0)
        os_error = wb__directory_sync_of(&context->allocator, path);
    return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_IO_RENAME_FOLDER);
}
