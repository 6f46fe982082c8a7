/*
 * fuzz/disk/calls.h: declarations shared by the wrapped system calls. A wrapped call handles paths
 * and descriptors of the in-memory disk and passes all others to the system.
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
    disk_node *node; /* NULL: unused */
    uint64_t at;
    int flags;
    int lock; /* LOCK_SH, LOCK_EX or 0 */
} disk_description;

/* Returns 0 if `os_error` is 0. Otherwise sets errno to it and returns -1. */
int disk_answer(int os_error);

/* Returns the open file or directory of a descriptor, or NULL if the descriptor belongs to the
 * system. */
disk_description *disk_of(int fd);

/* Opens the result of a path lookup, like open. Returns a descriptor, or -1 and sets errno. */
int disk_open_place(const disk_place *place, int flags, mode_t mode);

/* Returns true if a path, relative to the directory `fd`, is on the in-memory disk. Then *os_error
 * is 0 and *place is set, or *os_error is the error of the lookup. */
bool disk_place_at(int fd, const char *path, disk_place *place, int *os_error);

#define DECLARE(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

/* Declares `place` and looks up the path. If the path is not on the in-memory disk, returns the
 * value of `otherwise`; if the lookup fails, sets errno and returns -1. */
#define WITH_PLACE(fd, path, otherwise)                                                            \
    disk_place place;                                                                              \
    int os_error;                                                                                  \
    if (!disk_place_at(fd, path, &place, &os_error))                                               \
        return otherwise;                                                                          \
    if (os_error != 0)                                                                             \
    return disk_answer(os_error)

#endif
