#define _GNU_SOURCE /* RENAME_EXCHANGE */
#include "disk/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT ((uint64_t)1 << 30) /* maximum file size, in bytes */
#define BLOCK 4096

static uint64_t changes;

void disk_touch(disk_node *node)
{
    node->changed = ++changes;
}

disk_node *disk_make(bool is_folder, uint32_t mode)
{
    static uint64_t numbers;
    disk_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        abort();
    node->is_folder = is_folder;
    node->mode = mode;
    node->number = ++numbers;
    disk_touch(node);
    return node;
}

disk_node *disk_root(void)
{
    static disk_node *root;
    if (root == NULL) {
        root = disk_make(true, 0700);
        root->links = 1;
        root->parent = root;
    }
    return root;
}

void disk_drop(disk_node *node)
{
    if (node->links != 0 || node->opened != 0)
        return;
    free(node->bytes);
    free(node->entries);
    free(node);
}

/* ---- names ---- */

static disk_entry *entry_of(const disk_node *folder, const char *name)
{
    for (size_t i = 0; i < folder->count; i++) {
        if (strcmp(folder->entries[i].name, name) == 0)
            return &folder->entries[i];
    }
    return NULL;
}

static disk_node *child_of(disk_node *folder, const char *name)
{
    if (strcmp(name, "") == 0 || strcmp(name, ".") == 0)
        return folder;
    if (strcmp(name, "..") == 0)
        return folder->parent;
    const disk_entry *entry = entry_of(folder, name);
    return entry == NULL ? NULL : entry->node;
}

int disk_walk(disk_node *from, const char *path, disk_place *place)
{
    *place = (disk_place){.folder = from, .node = from};
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        if (n >= DISK_NAME)
            return ENAMETOOLONG;
        if (n > 0 && (n != 1 || path[0] != '.')) {
            if (place->node == NULL)
                return ENOENT;
            if (!place->node->is_folder)
                return ENOTDIR;
            place->folder = place->node;
            memcpy(place->name, path, n);
            place->name[n] = '\0';
            place->node = child_of(place->folder, place->name);
        }
        path += n;
        if (*path == '/' && place->node != NULL && !place->node->is_folder)
            return ENOTDIR;
        path += strspn(path, "/");
    }
    return 0;
}

int disk_link(const disk_place *place, disk_node *node)
{
    disk_node *folder = place->folder;
    if (place->node != NULL)
        return EEXIST;
    if (folder->count == folder->room) {
        folder->room = folder->room == 0 ? 8 : 2 * folder->room;
        folder->entries = realloc(folder->entries, folder->room * sizeof *folder->entries);
    }
    char *name = malloc(strlen(place->name) + 1);
    if (folder->entries == NULL || name == NULL)
        abort();
    memcpy(name, place->name, strlen(place->name) + 1);
    folder->entries[folder->count++] = (disk_entry){name, node};
    node->links++;
    if (node->is_folder)
        node->parent = folder;
    disk_touch(node);
    disk_touch(folder);
    return 0;
}

/* Removes a name. The node (a file or directory) stays while it has other names or is open. */
static void forget(disk_node *folder, const char *name)
{
    disk_entry *entry = entry_of(folder, name);
    disk_node *node = entry->node;
    free(entry->name);
    *entry = folder->entries[--folder->count];
    node->links--;
    disk_touch(node);
    disk_touch(folder);
    disk_drop(node);
}

int disk_unlink(const disk_place *place, bool is_folder)
{
    if (place->node == NULL)
        return ENOENT;
    if (place->node->is_folder != is_folder)
        return is_folder ? ENOTDIR : EISDIR;
    if (is_folder && place->node->count != 0)
        return ENOTEMPTY;
    if (entry_of(place->folder, place->name) == NULL)
        return EBUSY;
    forget(place->folder, place->name);
    return 0;
}

static int exchange(const disk_place *from, const disk_place *to)
{
    if (to->node == NULL)
        return ENOENT;
    entry_of(from->folder, from->name)->node = to->node;
    entry_of(to->folder, to->name)->node = from->node;
    from->node->parent = to->folder;
    to->node->parent = from->folder;
    disk_touch(from->node);
    disk_touch(to->node);
    return 0;
}

int disk_rename(const disk_place *from, const disk_place *to, unsigned flags)
{
    if (from->node == NULL || entry_of(from->folder, from->name) == NULL)
        return ENOENT;
    if ((flags & RENAME_EXCHANGE) != 0)
        return exchange(from, to);
    if (to->node != NULL && (flags & RENAME_NOREPLACE) != 0)
        return EEXIST;
    if (to->node == from->node)
        return 0;
    if (to->node != NULL) {
        int os_error = disk_unlink(to, from->node->is_folder);
        if (os_error != 0)
            return os_error;
    }
    disk_place free_place = *to;
    free_place.node = NULL;
    int os_error = disk_link(&free_place, from->node);
    if (os_error == 0)
        forget(from->folder, from->name);
    return os_error;
}

/* ---- bytes ---- */

size_t disk_read(const disk_node *node, uint64_t at, void *to, size_t n)
{
    if (at >= node->size || n == 0)
        return 0;
    if (n > node->size - at)
        n = (size_t)(node->size - at);
    memcpy(to, node->bytes + at, n);
    return n;
}

int disk_resize(disk_node *node, uint64_t size)
{
    if (size > SIZE_LIMIT)
        return EFBIG;
    if (size > node->capacity) {
        node->capacity = (size_t)size + (size_t)size / 2 + BLOCK;
        node->bytes = realloc(node->bytes, node->capacity);
        if (node->bytes == NULL)
            abort();
    }
    if (size > node->size)
        memset(node->bytes + node->size, 0, (size_t)size - node->size);
    node->size = (size_t)size;
    disk_touch(node);
    return 0;
}

int disk_write(disk_node *node, uint64_t at, const void *bytes, size_t n)
{
    if (at > SIZE_LIMIT || n > SIZE_LIMIT - at)
        return EFBIG;
    int os_error = n > 0 && at + n > node->size ? disk_resize(node, at + n) : 0;
    if (os_error == 0 && n > 0)
        memcpy(node->bytes + at, bytes, n);
    disk_touch(node);
    return os_error;
}

int disk_shift(disk_node *node, bool insert, uint64_t at, uint64_t n)
{
    if (at % BLOCK != 0 || n % BLOCK != 0 || n == 0 || at >= node->size ||
        (!insert && at + n >= node->size))
        return EINVAL;
    size_t place = (size_t)at, width = (size_t)n, rest = node->size - place;
    if (insert) {
        int os_error = disk_resize(node, node->size + n);
        if (os_error != 0)
            return os_error;
        memmove(node->bytes + place + width, node->bytes + place, rest);
        memset(node->bytes + place, 0, width);
        return 0;
    }
    memmove(node->bytes + place, node->bytes + place + width, rest - width);
    return disk_resize(node, node->size - n);
}
