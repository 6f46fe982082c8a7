/*
 * fuzz/disk/disk.h: a small file system in the process's own memory, below DISK_ROOT.
 *
 * Half of what a target that writes files takes is the system's time. opened.c, names.c and asked.c lie
 * between such a target and the system (--wrap, CMakeLists.txt): what is named below DISK_ROOT, or has one
 * of its descriptors, is answered from here, everything else by the system. It knows what the library uses:
 * files and folders, second names, files without one, locks of open files, exchange, room made within
 * files. It has no symbolic links, no permissions and no threads.
 *
 * Functions that return an int give 0, or errno.
 */
#ifndef WB_FUZZ_DISK_H
#define WB_FUZZ_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_ROOT "/wb-memory"
#define DISK_NAME 256 /* bytes of a name, and its NUL */

typedef struct disk_node disk_node;

typedef struct disk_entry {
    char *name;
    disk_node *node;
} disk_entry;

struct disk_node {
    bool is_folder;
    unsigned links, opened; /* it goes when there are none of either */
    unsigned shared;        /* locks */
    bool exclusive;
    uint32_t mode;
    uint64_t number;  /* no other ever has it */
    uint64_t changed; /* when, in changes of anything */
    uint8_t *bytes;
    size_t size, capacity;
    disk_node *parent; /* of a folder */
    disk_entry *entries;
    size_t count, room;
};

/* Where a path leads: a name in a folder, and what has it, if anything. */
typedef struct disk_place {
    disk_node *folder;
    char name[DISK_NAME]; /* empty: the folder itself */
    disk_node *node;
} disk_place;

disk_node *disk_root(void);

/* Follows a path that begins at a folder. */
int disk_walk(disk_node *from, const char *path, disk_place *place);

/* A file or folder that has no name yet. */
disk_node *disk_make(bool is_folder, uint32_t mode);

/* Goes if nothing names it and nobody has it open. */
void disk_drop(disk_node *node);

void disk_touch(disk_node *node);

/* ---- names ---- */

int disk_link(const disk_place *place, disk_node *node);
int disk_unlink(const disk_place *place, bool is_folder);

/* Flags as of renameat2. */
int disk_rename(const disk_place *from, const disk_place *to, unsigned flags);

/* ---- bytes ---- */

size_t disk_read(const disk_node *node, uint64_t at, void *to, size_t n);
int disk_write(disk_node *node, uint64_t at, const void *bytes, size_t n);
int disk_resize(disk_node *node, uint64_t size);

/* Makes room in front of what is at `at`, or takes it away, as fallocate does. */
int disk_shift(disk_node *node, bool insert, uint64_t at, uint64_t n);

#endif
