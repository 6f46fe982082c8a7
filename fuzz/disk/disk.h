/*
 * fuzz/disk/disk.h: a small file system in memory, below DISK_ROOT.
 *
 * With real files, targets that write files spend half of their time in system calls. opened.c,
 * names.c and asked.c wrap the system calls of such a target (--wrap, CMakeLists.txt). Calls on
 * paths below DISK_ROOT and on descriptors of the in-memory disk are handled here; all others are
 * passed to the system. The disk supports the operations that the library uses: files and
 * directories, hard links, files without a name, locks of open files, exchange of names, and
 * insertion of ranges. It does not support symbolic links or permissions, and is not thread-safe.
 *
 * Functions that return an int return 0 or errno.
 */
#ifndef WB_FUZZ_DISK_H
#define WB_FUZZ_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_ROOT "/wb-memory"
#define DISK_NAME 256 /* maximum size of a name in bytes, including its NUL */

typedef struct disk_node disk_node;

typedef struct disk_entry {
    char *name;
    disk_node *node;
} disk_entry;

struct disk_node {
    bool is_folder;
    unsigned links, opened; /* numbers of names and open descriptors; both 0: node is freed */
    unsigned shared;        /* number of shared locks */
    bool exclusive;         /* one descriptor has an exclusive lock */
    uint32_t mode;
    uint64_t number;  /* inode number, never reused */
    uint64_t changed; /* time of the last change, counted in changes of the whole disk */
    uint8_t *bytes;
    size_t size, capacity;
    disk_node *parent; /* for a directory */
    disk_entry *entries;
    size_t count, room;
};

/* Result of a path lookup: a name in a directory, and the node with this name. `node` is NULL if
 * the name does not exist. */
typedef struct disk_place {
    disk_node *folder;
    char name[DISK_NAME]; /* empty: the directory itself */
    disk_node *node;
} disk_place;

disk_node *disk_root(void);

/* Looks up `path`, relative to the directory `from`. */
int disk_walk(disk_node *from, const char *path, disk_place *place);

/* Creates a file or directory without a name. */
disk_node *disk_make(bool is_folder, uint32_t mode);

/* Frees the node if it has no name and is not open. */
void disk_drop(disk_node *node);

void disk_touch(disk_node *node);

/* ---- names ---- */

int disk_link(const disk_place *place, disk_node *node);
int disk_unlink(const disk_place *place, bool is_folder);

/* Renames a node; `flags` are those of renameat2. */
int disk_rename(const disk_place *from, const disk_place *to, unsigned flags);

/* ---- bytes ---- */

size_t disk_read(const disk_node *node, uint64_t at, void *to, size_t n);
int disk_write(disk_node *node, uint64_t at, const void *bytes, size_t n);
int disk_resize(disk_node *node, uint64_t size);

/* Inserts or removes n bytes at offset `at`, as fallocate does. */
int disk_shift(disk_node *node, bool insert, uint64_t at, uint64_t n);

#endif
