/*
 * Detects whether other processes write into a directory, and removes temporary files of processes
 * that were killed.
 *
 * Each process with temporary files in a directory holds a shared flock lock on the directory,
 * which the system releases when the process ends. A process that obtains the exclusive lock is the
 * only writer, so all temporary files belong to ended processes and can be removed. On network file
 * systems, where locks are unreliable, nothing is removed.
 *
 *   .wb-0123456789abcdef.tmp         a file, or a directory of files
 *   .wb-0123456789abcdef-00002.tmp   member 2 of a set; without member 0 the others are useless
 *
 * Members of a set get their final names as second hard links, member 0 last. Then they lose the
 * temporary names, member 0 first. If member 0 has only its temporary name, the set was never
 * complete, and the other members lose both names.
 */
#define _GNU_SOURCE /* for flock */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/direct.h"
#include "io/sink.h"

#define PLAIN (sizeof ".wb-0123456789abcdef.tmp" - 1)
#define MEMBER (sizeof ".wb-0123456789abcdef-00002.tmp" - 1)
#define ID 20 /* length of the common prefix ".wb-" + 16 hexadecimal digits, in bytes */
#define WAITS 50
#define DEEPEST 64 /* maximum depth of subdirectories of a temporary directory */

void wb__temporary_name(char *name, uint64_t id, uint64_t member)
{
    if (member == WB__NO_MEMBER)
        (void)snprintf(name, WB__TEMPORARY_BYTES, ".wb-%016llx.tmp", (unsigned long long)id);
    else
        (void)snprintf(name, WB__TEMPORARY_BYTES, ".wb-%016llx-%05llu.tmp", (unsigned long long)id,
                       (unsigned long long)member);
}

static bool is_temporary(const char *name, bool *is_member)
{
    size_t n = strlen(name);
    *is_member = n >= MEMBER;
    return (n == PLAIN || n >= MEMBER) && memcmp(name, ".wb-", 4) == 0 &&
           strspn(name + 4, "0123456789abcdef") == 16 && strcmp(name + n - 4, ".tmp") == 0 &&
           (n == PLAIN || (name[ID] == '-' && strspn(name + ID + 1, "0123456789") == n - ID - 5));
}

static bool is_first(const char *name)
{
    return strspn(name + ID + 1, "0") == strlen(name) - ID - 5;
}

/* ---- scanning the directory ---- */

typedef struct sweep {
    const wb_allocator *allocator;
    int folder;
    bool failed; /* the scan was incomplete: nothing is removed */
    bool has_sets;
    bool firsts;   /* this pass removes first members of sets; false: other temporary files */
    ino_t *broken; /* inodes of members of incomplete sets */
    size_t count, capacity;
} sweep;

static void each(sweep *s, void (*look)(sweep *s, const char *name, const struct stat *st))
{
    int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0)
            (void)close(fd);
        s->failed = true;
        return;
    }
    for (;;) {
        struct stat st;
        bool is_member;
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL)
            break;
        /* A file without a temporary name is looked at only if there are incomplete sets, to which
         * it may belong. */
        if ((s->count != 0 || is_temporary(entry->d_name, &is_member)) &&
            fstatat(s->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            look(s, entry->d_name, &st);
    }
    s->failed = s->failed || errno != 0;
    (void)closedir(folder);
}

static void find_broken(sweep *s, const char *name, const struct stat *st)
{
    char first[WB__TEMPORARY_BYTES];
    struct stat anchor;
    bool is_member;
    if (!is_temporary(name, &is_member) || !is_member || strlen(name) >= sizeof first)
        return;
    s->has_sets = true;
    (void)snprintf(first, sizeof first, "%.*s-00000.tmp", ID, name);
    if (is_first(name) || st->st_nlink < 2 ||
        fstatat(s->folder, first, &anchor, AT_SYMLINK_NOFOLLOW) != 0 || anchor.st_nlink > 1)
        return;
    if (wb__grow(s->allocator, (void **)&s->broken, &s->capacity, sizeof *s->broken, s->count + 1,
                 SIZE_MAX / sizeof *s->broken))
        s->broken[s->count++] = st->st_ino;
    else
        s->failed = true;
}

static void withdraw(sweep *s, const char *name, const struct stat *st)
{
    bool is_member;
    for (size_t i = 0; i < s->count && !is_temporary(name, &is_member); i++) {
        if (s->broken[i] == st->st_ino && S_ISREG(st->st_mode)) {
            (void)unlinkat(s->folder, name, 0);
            return;
        }
    }
}

/* Removes a directory and its contents. No other file is lost, because subdirectories contain only
 * hard links to files that also have a name in the target directory (directory_replace.c). */
static void remove_files(int parent, const char *name, unsigned depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    (void)fchmod(fd, 0700);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        bool is_own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (unlinkat(fd, entry->d_name, 0) != 0 && !is_own && depth > 0)
            remove_files(fd, entry->d_name, depth - 1);
    }
    (void)closedir(folder);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void wb__directory_remove(const char *path)
{
    remove_files(AT_FDCWD, path, DEEPEST);
}

void wb__directory_retire(const wb_allocator *allocator, const char *path)
{
    wb__str parent = wb__path_folder(path);
    wb__hash_key key = wb__hash_key_draw();
    char name[WB__TEMPORARY_BYTES];
    wb__temporary_name(name, key.word[0] ^ key.word[1], WB__NO_MEMBER);
    char *folder = wb__path_join(allocator, "", parent);
    char *other =
        folder == NULL ? NULL : wb__path_join(allocator, folder, wb__str_from(name, SIZE_MAX));
    if (other != NULL && rename(path, other) == 0)
        wb__directory_remove(other);
    if (other != NULL)
        wb__free(allocator, other, strlen(other) + 1);
    if (folder != NULL)
        wb__free(allocator, folder, strlen(folder) + 1);
}

static void remove_temporary(sweep *s, const char *name, const struct stat *st)
{
    bool is_member;
    if (!is_temporary(name, &is_member) || (is_member && is_first(name)) != s->firsts)
        return;
    if (S_ISDIR(st->st_mode))
        remove_files(s->folder, name, DEEPEST);
    else if (S_ISREG(st->st_mode))
        (void)unlinkat(s->folder, name, 0);
}

static void sweep_folder(const wb_allocator *allocator, int folder)
{
    sweep s = {.allocator = allocator, .folder = folder};
    each(&s, find_broken);
    if (s.count != 0 && !s.failed)
        each(&s, withdraw);
    if (!s.failed)
        each(&s, remove_temporary);
    s.firsts = true;
    if (s.has_sets && !s.failed)
        each(&s, remove_temporary);
    wb__free(allocator, s.broken, s.capacity * sizeof *s.broken);
}

void wb__claim(const wb_allocator *allocator, int folder)
{
    static const struct timespec moment = {0, 1000000};
    if (wb__medium_of_fd(folder) == WB__MEDIUM_NETWORK)
        return;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0)
        sweep_folder(allocator, folder);
    /* Another process holds the exclusive lock only while it scans the directory, which is fast. */
    for (int i = 0; i < WAITS && flock(folder, LOCK_SH | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return;
        (void)nanosleep(&moment, NULL);
    }
}

wb_status wb__claim_path(wb__context *context, const char *path, bool is_file, int *fd)
{
    wb__str parent = is_file ? wb__path_folder(path) : wb__str_from(path, SIZE_MAX);
    char *text = wb__path_join(&context->allocator, "", parent);
    if (text == NULL)
        return wb__fail_memory(context);
    *fd = open(text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd >= 0)
        wb__claim(&context->allocator, *fd);
    wb__free(&context->allocator, text, strlen(text) + 1);
    return WB_OK;
}
