/*
 * io/beneath.h: opens the files of a directory without leaving it through symbolic links.
 *
 * A model folder may come from a stranger. A link in the folder (chat_template.jinja ->
 * /etc/passwd) must not make a program read a file of the user, because the contents could reach an
 * output that the user publishes. Only links in the path that the user named are trusted.
 *
 * A name is resolved beneath the directory: a link may lead anywhere inside it. One kind of link
 * may lead outside, because caches of the Hugging Face Hub consist of them:
 *
 *     models--OWNER--NAME/snapshots/REVISION/FILE  ->  ../../blobs/ETAG
 *
 * https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
#ifndef WB_IO_BENEATH_H
#define WB_IO_BENEATH_H

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Returns `path` relative to the directory `folder`. Precondition: `path` begins with `folder`. */
static inline const char *wb__path_below(const char *folder, const char *path)
{
    path += strlen(folder);
    return path + strspn(path, "/");
}

/*
 * Opens the file `name`, a path relative to the directory `folder`. Links in the path `folder` are
 * followed. `flags` are those of open(2); the file is never created. Returns the descriptor, or -1
 * and sets errno: to EXDEV if a link leads outside the directory, to ELOOP if there are too many
 * links.
 */
int wb__beneath_open(const char *folder, const char *name, int flags);

/*
 * Gets the status of the file `path`, which is wb__path_join(folder, name). Returns 0 or an errno
 * value. A link that leads outside the directory gives EXDEV, unless `follow_links` is true.
 */
int wb__beneath_stat(const char *folder, const char *path, bool follow_links, struct stat *st);

/*
 * Like wb__beneath_open, but resolves `name` one component after the other, below the directory
 * with the descriptor `folder`, and makes no exception for caches. Used on kernels without
 * openat2(2), and for absolute links: if `top` is not NULL, it is the path of the directory without
 * symbolic links, and absolute links to a path below `top` are followed. If `links` is false, fails
 * with ELOOP at the first link.
 */
int wb__beneath_walk(int folder, const char *top, const char *name, int flags, bool links);

#endif
