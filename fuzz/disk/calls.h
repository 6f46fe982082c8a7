/*
 * fuzz/disk/calls.h: what the files that stand for the system's calls share. Each call does what concerns the disk
 * in memory there, and passes on all else.
 */
#ifndef WB_FUZZ_CALLS_H
#define WB_FUZZ_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/disk.h"

typedef struct disk_description {
    disk_node *node; /* NULL: free */
    uint64_t at;
    int flags;
    int lock; /* LOCK_SH, LOCK_EX or 0 */
} disk_description;

/* 0, or -1 with errno. */
int disk_answer(int os_error);

/* An open file or folder; NULL: not ours. */
disk_description *disk_of(int fd);

/* A descriptor, or -1 with errno. */
int disk_open_place(const disk_place *place, int flags, mode_t mode);

/* Whether a path is ours; if so where it leads, and what is wrong with it. */
bool disk_place_at(int fd, const char *path, disk_place *place, int *os_error);

#define DECLARE(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

/* What one call does with one place that is ours; `otherwise` with any other. */
#define WITH_PLACE(fd, path, otherwise)                                                            \
    disk_place place;                                                                              \
    int os_error;                                                                                  \
    if (!disk_place_at(fd, path, &place, &os_error))                                               \
        return otherwise;                                                                          \
    if (os_error != 0)                                                                             \
    return disk_answer(os_error)

#endif
