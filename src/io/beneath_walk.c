/*
 * Resolves a path beneath a directory one component after the other.
 *
 * Each directory on the way is opened without following links, and ".." returns to the directory
 * that was open before. If another program replaces a component by a link in the meantime, opening
 * this component fails. The path therefore cannot lead outside the directory.
 */
#define _GNU_SOURCE /* O_PATH */
#define _FILE_OFFSET_BITS 64
#include "io/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#ifndef O_PATH /* without O_PATH, opening a directory requires read permission */
#define O_PATH O_RDONLY
#endif

/* MAX_LINKS: maximum number of symbolic links to follow, as in Linux (path_resolution(7)).
 * MAX_DEPTH: maximum number of directories that are open at the same time. */
#define MAX_LINKS 40
#define MAX_DEPTH 40

typedef struct walk {
    int open[MAX_DEPTH]; /* from the first directory, which the caller owns, to the current one */
    unsigned depth;      /* index of the current directory */
    unsigned links;      /* number of links that may still be followed */
    const char *top;     /* absolute path of open[0]; NULL: absolute links lead outside */
    size_t at;           /* the unresolved rest of the path is at path + at */
    char path[PATH_MAX];
} walk;

/* Puts `n` bytes of text and a slash before the unresolved rest. Returns 0 or an errno value. */
static int prepend(walk *w, const char *text, size_t n)
{
    if (n + 1 > w->at)
        return ENAMETOOLONG;
    w->path[--w->at] = '/';
    w->at -= n;
    memcpy(w->path + w->at, text, n);
    return 0;
}

/* Takes the next component of the path. Returns false at the end of the path. */
static bool next(walk *w, char name[PATH_MAX])
{
    w->at += strspn(w->path + w->at, "/");
    size_t n = strcspn(w->path + w->at, "/");
    memcpy(name, w->path + w->at, n);
    name[n] = '\0';
    w->at += n;
    w->at += strspn(w->path + w->at, "/");
    return n != 0;
}

static int leave(walk *w)
{
    if (w->depth == 0)
        return EXDEV;
    (void)close(w->open[w->depth--]);
    return 0;
}

static int enter(walk *w, const char *name)
{
    int fd = openat(w->open[w->depth], name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (w->depth + 1 == MAX_DEPTH) {
        (void)close(fd);
        return ELOOP;
    }
    w->open[++w->depth] = fd;
    return 0;
}

/* Returns the part of an absolute path that is relative to open[0], or NULL if it leads outside. */
static const char *below_top(const walk *w, const char *path)
{
    size_t n = w->top == NULL ? 0 : strlen(w->top);
    return n > 0 && strncmp(path, w->top, n) == 0 && (path[n] == '/' || n == 1) ? path + n : NULL;
}

/* Puts the target of a link before the rest of the path. Returns 0 or an errno value. */
static int take_target(walk *w, const char *target)
{
    if (target[0] != '/')
        return prepend(w, target, strlen(target));
    const char *below = below_top(w, target);
    if (below == NULL)
        return EXDEV;
    while (w->depth > 0)
        (void)leave(w);
    return prepend(w, below, strlen(below));
}

/* Replaces the component `name`, if it is a link, by its target. */
static int follow(walk *w, const char *name, bool *is_link)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(w->open[w->depth], name, target, sizeof target);
    *is_link = n >= 0;
    if (n < 0)
        return errno == EINVAL ? 0 : errno; /* EINVAL: not a link */
    if (w->links == 0)
        return ELOOP;
    w->links--;
    if (n == 0 || (size_t)n == sizeof target)
        return n == 0 ? ENOENT : ENAMETOOLONG;
    target[n] = '\0';
    return take_target(w, target);
}

/* Resolves the component `name`: follows a link, or enters a directory. If `name` is the last
 * component and no link, sets *is_found to true instead and does not open it. */
static int step(walk *w, const char *name, bool *is_found)
{
    bool is_link, is_last = w->path[w->at] == '\0';
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0)
        return leave(w);
    int os_error = follow(w, name, &is_link);
    if (os_error != 0 || is_link)
        return os_error;
    *is_found = is_last;
    return is_last ? 0 : enter(w, name);
}

/* Resolves the path and opens its last component. Sets *fd. Returns 0 or errno. */
static int resolve(walk *w, int flags, int *fd)
{
    char name[PATH_MAX];
    bool is_found = false;
    while (!is_found && next(w, name)) {
        int os_error = step(w, name, &is_found);
        if (os_error != 0)
            return os_error;
    }
    *fd = openat(w->open[w->depth], is_found ? name : ".", flags | O_NOFOLLOW);
    return *fd < 0 ? errno : 0;
}

int wb__beneath_walk(int folder, const char *top, const char *name, int flags, bool links)
{
    walk w;
    int fd = -1;
    w.open[0] = folder;
    w.top = top;
    w.depth = 0;
    w.links = links ? MAX_LINKS : 0;
    w.at = sizeof w.path - 1;
    w.path[w.at] = '\0';
    int os_error = name[0] == '\0' ? ENOENT : name[0] == '/' ? EXDEV : 0;
    if (os_error == 0)
        os_error = prepend(&w, name, strlen(name));
    if (os_error == 0)
        os_error = resolve(&w, flags, &fd);
    while (w.depth > 0)
        (void)leave(&w);
    errno = os_error;
    return fd;
}
