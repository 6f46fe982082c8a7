/* Finds and removes the partial result of an interrupted conversion. The names of its files are
 * described in write/partial_files.c and convert/exec/checkpoint.h. */
#define _GNU_SOURCE /* for flock */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundles/ollama/ollama.h"
#include "convert/convert.h"
#include "convert/convert_messages.h"
#include "io/io.h"
#include "io/sink.h"
#include "write/write.h"

#define PART_BYTES (sizeof "-00001-of-00003" - 1)

typedef struct search {
    wb__context *context;
    wb_partial *found;
    /* Directory that is searched. If is_inside is set, it contains only partial files. Otherwise
     * it is the directory of the output, which also contains other files. */
    const char *folder;
    wb__str base; /* file name of the output */
    bool discards;
    bool is_inside;
} search;

/* Returns true if `whole` is the name of a shard of the output, like NAME-00001-of-00003.gguf. */
static bool is_part(const search *s, wb__str whole)
{
    static const wb__str ends[] = {{".gguf", 5}, {".safetensors", 12}};
    for (size_t i = 0; i < 2; i++) {
        wb__str stem = s->base;
        if (wb__str_ends_with(stem, ends[i]))
            stem.len -= ends[i].len;
        if (!wb__str_ends_with(whole, ends[i]) || !wb__str_starts_with(whole, stem) ||
            whole.len < stem.len + ends[i].len)
            continue;
        if (wb__partial_is_numbers(
                (wb__str){whole.ptr + stem.len, whole.len - stem.len - ends[i].len}))
            return true;
    }
    return false;
}

static char *join(const search *s, const char *name)
{
    return wb__path_join(&s->context->allocator, s->folder, wb__str_from(name, SIZE_MAX));
}

static void free_path(const search *s, char *path)
{
    if (path != NULL)
        wb__free(&s->context->allocator, path, strlen(path) + 1);
}

/* Returns true if a journal exists for an output file named `whole`. The file then is the output of
 * another conversion, and its partial file must not be counted or removed. Also returns true if out
 * of memory. */
static bool has_journal(const search *s, wb__str whole)
{
    struct stat st;
    char *at = wb__path_join(&s->context->allocator, s->folder, whole);
    char *journal = at == NULL ? NULL : wb__hidden_path(&s->context->allocator, at, WB__RESUME_END);
    bool has = journal == NULL || lstat(journal, &st) == 0;
    free_path(s, journal);
    free_path(s, at);
    return has;
}

/* Returns true if `name` consists of a dot, NAME and `end`, and sets *whole to NAME. */
static bool is_hidden(wb__str name, const char *end, wb__str *whole)
{
    wb__str tail = wb__str_from(end, SIZE_MAX);
    if (name.len <= tail.len + 1 || name.ptr[0] != '.' || !wb__str_ends_with(name, tail))
        return false;
    *whole = (wb__str){name.ptr + 1, name.len - 1 - tail.len};
    return true;
}

static bool is_of_result(const search *s, wb__str name)
{
    wb__str whole;
    if (s->is_inside)
        return true;
    if (is_hidden(name, WB__KEPT_END, &whole))
        return wb__str_equal(whole, s->base) || (is_part(s, whole) && !has_journal(s, whole));
    return false;
}

/* ---- measuring and removing ---- */

/* Returns the disk space of a file: the allocated size or the length, whichever is larger, because
 * the file system may allocate blocks later. */
static uint64_t bytes_of(const struct stat *st)
{
    uint64_t allocated = (uint64_t)st->st_blocks * 512, length = (uint64_t)st->st_size;
    return allocated > length ? allocated : length;
}

static wb_status visit(void *ctx, const char *name);

static wb_status visit_folder(const search *s, const char *path)
{
    search below = *s;
    below.folder = path;
    below.is_inside = true;
    return wb__directory_list(s->context, path, visit, &below);
}

static wb_status fail_removal(const search *s, const char *path, int os_error)
{
    s->context->file = path;
    wb_status status = wb__fail_os(s->context, os_error, WB__MSG_CONVERT_DISCARD);
    s->context->file = "";
    return status;
}

/*
 * Removes the final name of a shard. A run that was killed while it gave the shards their final
 * names leaves files with two names (hard links): the partial name and the final name. The final
 * name is removed if the first GGUF shard or the safetensors index is missing, because the output
 * is then unusable.
 */
static void withdraw(const search *s, wb__str whole, const struct stat *st)
{
    static const char end[] = ".safetensors";
    struct stat named;
    bool is_gguf = wb__str_ends_with(whole, WB__STR(".gguf"));
    size_t stem = whole.len - PART_BYTES - (is_gguf ? sizeof ".gguf" : sizeof end) + 1;
    char anchor[300], own[300];
    if (whole.len > 255)
        return;
    (void)snprintf(own, sizeof own, "%.*s", (int)whole.len, whole.ptr);
    if (is_gguf)
        (void)snprintf(anchor, sizeof anchor, "%.*s-00001%s", (int)stem, whole.ptr, own + stem + 6);
    else
        (void)snprintf(anchor, sizeof anchor, "%.*s%s.index.json", (int)stem, whole.ptr, end);
    char *index = join(s, anchor), *path = join(s, own);
    if (index != NULL && path != NULL && lstat(index, &named) != 0 && errno == ENOENT &&
        lstat(path, &named) == 0 && named.st_dev == st->st_dev && named.st_ino == st->st_ino)
        (void)unlink(path);
    free_path(s, path);
    free_path(s, index);
}

static wb_status take(const search *s, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return WB_OK;
    bool is_folder = S_ISDIR(st.st_mode);
    wb_status status = is_folder ? visit_folder(s, path) : WB_OK;
    if (!is_folder) {
        s->found->files++;
        s->found->bytes += bytes_of(&st);
    }
    if (!s->is_inside && s->found->path[0] == '\0')
        wb__printable(s->found->path, sizeof s->found->path, wb__str_from(path, SIZE_MAX));
    if (status != WB_OK || !s->discards || s->is_inside)
        return status;
    wb__str whole;
    bool is_hidden_part = is_hidden(wb__path_base(path), WB__KEPT_END, &whole) && is_part(s, whole);
    if (is_hidden_part && !is_folder)
        withdraw(s, whole, &st);
    int os_error = EBUSY;
    if (is_folder)
        wb__directory_retire(&s->context->allocator, path);
    else if (unlink(path) != 0)
        os_error = errno;
    return lstat(path, &st) == 0 ? fail_removal(s, path, os_error) : WB_OK;
}

static wb_status visit(void *ctx, const char *name)
{
    const search *s = ctx;
    if (!is_of_result(s, wb__str_from(name, SIZE_MAX)))
        return WB_OK;
    char *path = join(s, name);
    wb_status status = path == NULL ? wb__fail_memory(s->context) : take(s, path);
    free_path(s, path);
    return status;
}

/* Returns true if the error of open means that there is no journal: its path does not exist, or is
 * that of a directory or link, which no conversion uses as its journal. */
static bool is_absent(int os_error)
{
    return os_error == ENOENT || os_error == ENOTDIR || os_error == ELOOP || os_error == EISDIR;
}

/* Locks the journal. Fails if a running conversion has locked it, or if that is unknown because the
 * journal cannot be opened. Sets *fd to a negative value if there is no journal. */
static wb_status lock(const search *s, const char *journal, int *fd)
{
    int os_error = 0;
    *fd = open(journal, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        os_error = is_absent(errno) ? 0 : errno;
    else if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        os_error = errno == EWOULDBLOCK ? EBUSY : errno;
    if (os_error == 0)
        return WB_OK;
    s->context->file = journal;
    wb_status status =
        wb__fail_os(s->context, os_error,
                    os_error == EBUSY ? WB__MSG_CONVERT_OUTPUT_BUSY : WB__MSG_CONVERT_JOURNAL_LOCK);
    s->context->file = "";
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    return status;
}

/* Counts the partial files and the journal in the directory of the output, or removes them if
 * s->discards is set. Locks the journal before it removes files. */
static wb_status search_all(search *s, const char *journal)
{
    struct stat st;
    int fd = -1;
    wb_status status = s->discards ? lock(s, journal, &fd) : WB_OK;
    if (status == WB_OK)
        status = wb__directory_list(s->context, s->folder, visit, s);
    if (status == WB_ERROR_NOT_FOUND) { /* without the directory there is no partial result */
        (void)wb__error_reset(s->context->error, s->context->error);
        status = WB_OK;
    }
    if (status == WB_OK && lstat(journal, &st) == 0) {
        bool is_first = s->found->files == 0;
        if (is_first)
            wb__printable(s->found->path, sizeof s->found->path, wb__str_from(journal, SIZE_MAX));
        s->found->files++;
        s->found->bytes += bytes_of(&st);
        if (s->discards && unlink(journal) != 0)
            status = fail_removal(s, journal, errno);
    }
    if (fd >= 0)
        (void)close(fd);
    return status;
}

/* Sets *end to the path from which the names of the partial files and the journal are derived. */
static wb_status find_target(wb__context *context, wb_target target, const char *path,
                             const char *store, char **end)
{
    int os_error = 0;
    if (target == WB_TARGET_OLLAMA)
        return wb__ollama_kept_path(context, store, wb__str_from(path, SIZE_MAX), end);
    *end = wb__path_follow(&context->allocator, path, &os_error);
    context->file = path;
    return *end != NULL         ? WB_OK
           : os_error == ENOMEM ? wb__fail_memory(context)
                                : wb__fail_os(context, os_error, WB__MSG_CONVERT_OUTPUT_FOLDER);
}

wb_status wb__partial_result(wb__context *context, wb_target target, const char *path,
                             const char *store, bool discards, wb_partial *partial)
{
    char *end;
    wb_status status = find_target(context, target, path, store, &end);
    context->file = "";
    if (status != WB_OK || end == NULL) /* NULL: the model name is invalid, so no partial result
                                         * exists */
        return status;
    char *folder = wb__path_join(&context->allocator, "", wb__path_folder(end));
    char *journal = wb__hidden_path(&context->allocator, end, WB__RESUME_END);
    if (target == WB_TARGET_OLLAMA && journal != NULL) {
        /* The journal of a store is inside the directory of the partial files. */
        free_path(&(search){.context = context}, journal);
        journal = wb__hidden_path(&context->allocator, end, WB__KEPT_END "/.blobs" WB__RESUME_END);
    }
    search s = {.context = context,
                .found = partial,
                .folder = folder,
                .base = wb__path_base(end),
                .discards = discards};
    status = folder == NULL || journal == NULL ? wb__fail_memory(context) : search_all(&s, journal);
    free_path(&s, journal);
    free_path(&s, folder);
    free_path(&s, end);
    return status;
}
