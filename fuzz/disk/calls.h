/*
 * fuzz/disk/calls.h: declarations shared by the wrapped system calls. Each call handles the
 * in-memory disk and passes everything else to the system.
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

/* Returns 0, or -1 and sets errno. */
int disk_answer(int os_error);

/* Returns the open file or directory; NULL: the descriptor belongs to the system. */
disk_description *disk_of(int fd);

/* Returns a descriptor, or -1 and sets errno. */
int disk_open_place(const disk_place *place, int flags, mode_t mode);

/* Returns true if a path is on the in-memory disk, and stores its place or the error. */
bool disk_place_at(int fd, const char *path, disk_place *place, int *os_error);

#define DECLARE(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

/* Runs a call on one place on the in-memory disk; `otherwise` is the call for other paths. */
#define WITH_PLACE(fd, path, otherwise)                                                            \
    disk_place place;                                                                              \
    int os_error;                                                                                  \
    if (!disk_place_at(fd, path, &place, &os_error))                                               \
        return otherwise;                                                                          \
    if (os_error != 0)                                                                             \
    return disk_answer(os_error)

#endif
