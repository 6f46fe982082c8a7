#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/io.h"
#include "io/io_messages.h"
#include "io/provided_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

char *wb__path_join(const wb_allocator *allocator, const char *folder, wb__str name)
{
    size_t n = strlen(folder);
    bool slash = n > 0 && folder[n - 1] != '/';
    char *path = wb__alloc(allocator, n + slash + name.len + 1);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, n);
    if (slash)
        path[n] = '/';
    memcpy(path + n + slash, name.ptr, name.len);
    path[n + slash + name.len] = '\0';
    return path;
}

char *wb__path_journal(const wb_allocator *allocator, const char *path)
{
    char resolved[PATH_MAX];
    if (realpath(path, resolved) != NULL)
        path = resolved;
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    size_t bytes = strlen(path) + sizeof ".wb-journal" + 1;
    char *text = wb__alloc(allocator, bytes);
    if (text != NULL)
        (void)snprintf(text, bytes, "%.*s.%s.wb-journal", (int)folder, path, path + folder);
    return text;
}

typedef struct name_list {
    wb__context *context;
    wb__arena arena;
    char **list;
    size_t count;
    size_t capacity;
} name_list;

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static wb_status add_name(void *ctx, const char *entry)
{
    name_list *names = ctx;
    char *name = wb__arena_copy(&names->arena, entry, strlen(entry));
    if (name == NULL ||
        !wb__grow(&names->context->allocator, (void **)&names->list, &names->capacity,
                  sizeof *names->list, names->count + 1, SIZE_MAX))
        return wb__fail_memory(names->context);
    names->list[names->count++] = name;
    return WB_OK;
}

static wb_status collect(wb__context *context, DIR *folder, name_list *names)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            if (errno != 0)
                return wb__fail_os(context, errno, WB__MSG_IO_LIST_FOLDER);
            return WB_OK;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        wb_status status = add_name(names, entry->d_name);
        if (status != WB_OK)
            return status;
    }
}

/* Collects the names in a directory of the operating system. */
static wb_status collect_path(wb__context *context, const char *path, name_list *names)
{
    /* opendir sets close-on-exec, as POSIX requires, so open with O_CLOEXEC and fdopendir are not
     * necessary. */
    DIR *folder = opendir(path);
    if (folder == NULL)
        return wb__fail_os(context, errno, WB__MSG_IO_OPEN_FOLDER);
    wb_status status = collect(context, folder, names);
    (void)closedir(folder);
    return status;
}

wb_status wb__directory_list(wb__context *context, const char *path,
                             wb_status (*each)(void *ctx, const char *name), void *ctx)
{
    name_list names = {.context = context, .arena = {.allocator = &context->allocator}};
    wb_status status = wb__files_own(context, path)
                           ? wb__directory_list_provided(context, path, add_name, &names)
                           : collect_path(context, path, &names);
    if (status == WB_OK && names.count > 1)
        qsort(names.list, names.count, sizeof *names.list, by_bytes);
    for (size_t i = 0; i < names.count && status == WB_OK; i++)
        status = each(ctx, names.list[i]);
    wb__free(&context->allocator, names.list, names.capacity * sizeof *names.list);
    wb__arena_free(&names.arena);
    return status;
}
