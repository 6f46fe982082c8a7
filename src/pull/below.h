/*
 * pull/below.h: files below a directory, which are reached without following symbolic links, so
 * that a link that somebody placed there cannot lead a write to another place.
 */
#ifndef WB_PULL_BELOW_H
#define WB_PULL_BELOW_H

#include <sys/types.h>

#include "core/core.h"

/* Opens the directory `path`, relative to the directory `folder`; "" is `folder` itself. Creates
 * the directories that are missing if `create` is set. Returns the descriptor, which the caller
 * closes. On failure, returns a negative number and sets errno: to ELOOP or ENOTDIR if a part of
 * the path is a symbolic link or a file. */
int wb__below_folder(int folder, const char *path, bool create);

/* Opens the directory in which the file `path` is. Sets *name to the last part of the path. */
int wb__below_parent(int folder, const char *path, bool create, const char **name);

/* Opens the file `path` for reading. Returns the descriptor, which the caller closes. On failure,
 * returns a negative number and sets errno: to ELOOP if the file is a symbolic link. */
int wb__below_open(int folder, const char *path);

/* Reads the file `path`, at most n - 1 bytes, and adds NUL. Returns the number of bytes, or -1. */
ssize_t wb__below_read(int folder, const char *path, char *text, size_t n);

/* Replaces the file `path` if its contents differ, through a temporary file in the same directory.
 * Returns 0 or errno. */
int wb__below_write(int folder, const char *path, const void *bytes, size_t n);

/* Makes the symbolic link `path` with this target, in place of another link or file. Returns 0 or
 * errno. */
int wb__below_link(int folder, const char *path, const char *target);

#endif
