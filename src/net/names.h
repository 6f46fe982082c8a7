/*
 * net/names.h: names that come from a server or a user and become parts of paths or URLs.
 *
 * Nothing that a server sends is used in a path before it passed one of these checks. Paths must
 * obey the rules of huggingface_hub and, in addition, contain no byte that a terminal or another
 * system would interpret.
 */
#ifndef WB_NET_NAMES_H
#define WB_NET_NAMES_H

#include "core/core.h"

/* The functions …_fault return NULL, or the reason why the text is refused (a static string). */

/*
 * Checks the path of a file in a repository. The path must be relative and valid UTF-8, without
 * backslash, control character or drive letter ("C:"). Its segments, separated by '/', must have 1
 * to 255 bytes each and not be ".", ".." or ".git".
 */
const char *wb__path_fault(wb__str path);

/* Checks the text owner/name of a repository. Owner and name have at most 96 bytes each: letters,
 * digits, '-', '_' and '.', but neither "--" nor "..". */
const char *wb__repo_fault(wb__str repo);

/* Checks the name of a branch, tag, reference or commit: no "..", no empty segment, no control
 * character. */
const char *wb__revision_fault(const char *revision);

/* Returns true if the text consists of lower-case hexadecimal digits. */
bool wb__is_hex(wb__str text);

/*
 * Returns the name of the blob that an ETag identifies: the 40 or 64 hexadecimal digits in it,
 * without the prefix W/ and the quotes. Returns an empty string if the ETag contains anything else.
 */
wb__str wb__blob_name(wb__str etag);

/* Writes n bytes as 2 * n hexadecimal digits, without NUL. */
void wb__hex_encode(const uint8_t *bytes, size_t n, char *digits);

/*
 * Looks for two paths that some file systems cannot store as files of one directory tree: they
 * differ only in the case of ASCII letters, or one is a directory of the other ("a" and "a/b").
 * Returns one of the two, or NULL if there are none. `allocator` is used for lower-case copies;
 * *out_of_memory is set if it fails.
 */
const char *wb__paths_conflict(const wb_allocator *allocator, const char *const *paths, size_t n,
                               bool *out_of_memory);

#endif
