/*
 * push: files sent to a repository of a hub.
 *
 *   push_walk     the files that the user named, and those in the folders that the user named
 *   push_plan     which of them the repository has already; digests
 *   push_api      the requests of the API: preupload, LFS batch, commit
 *   push_upload   the contents of large files, in parts, in parallel
 *   push_public   the interface
 *
 * The hub decides which files are stored by git LFS. Their contents are sent first, and are kept by
 * the hub for some hours. If the process is killed, the next one finds them there and does not send
 * them again. The last request makes one commit of all files, so that the repository has either
 * none or all of them. The commit names its parent: if somebody else has made a commit since the
 * files were listed, the hub refuses it.
 *
 * Threads: as in module pull. The thread of the engine reads the files; the thread of the caller
 * does all else.
 */
#ifndef WB_PUSH_PUSH_H
#define WB_PUSH_PUSH_H

#include <sys/stat.h>

#include "net/hub.h"
#include "net/net.h"
#include "weighbridge/net.h"

#define WB__PUSH_SCRATCH ((size_t)1 << 20)

typedef enum wb__push_state {
    WB__PUSH_NEW = 0, /* must be sent */
    WB__PUSH_SAME,    /* the repository has a file with this path and these contents */
    WB__PUSH_IGNORED, /* the hub does not want it (.gitignore) */
    WB__PUSH_STORED   /* the hub has the contents; only the commit is missing */
} wb__push_state;

typedef struct wb__push_item {
    const char *path;   /* in the repository */
    const char *local;  /* path on this machine */
    const char *folder; /* the directory that the user named and `local` is below; NULL: none */
    struct stat st;     /* of the file when it was listed */
    uint64_t size;
    wb__push_state state;
    bool is_lfs;
    char sha256[WB__HEX_SHA256 + 1]; /* of an LFS file that is sent; else empty */
} wb__push_item;

struct wb_push {
    wb_net *net;
    wb__arena arena;
    wb__repo *repo;
    const char *prefix; /* directory in the repository, with '/' at its end; may be empty */
    const char *message;
    wb__push_item *items; /* in byte order of the paths */
    size_t count, capacity;
    uint64_t total, sent; /* bytes of LFS files to be sent, and of those that were sent */
    char commit[WB__HEX_COMMIT + 1]; /* the new commit; empty: none was made */
    uint8_t *scratch;                /* WB__PUSH_SCRATCH bytes */
};

/* ---- push_walk.c ---- */

/* Adds a file, or all files below a directory. */
wb_status wb__push_walk(wb_push *push, wb__context *context, const char *path);

/* Opens the file of an item. Fails with CHANGED if it is not the file that was listed. */
wb_status wb__push_open_file(const wb__push_item *item, wb__context *context, int *fd);

/* ---- push_plan.c ---- */

/* Sorts the items, checks their paths and compares them with the listing of the repository. */
wb_status wb__push_plan(wb_push *push, wb__context *context);

/* Computes item->sha256. */
wb_status wb__push_hash(wb_push *push, wb__context *context, wb__push_item *item);

/* ---- push_api.c ---- */

/* Asks which files are stored by LFS. Sets is_lfs and the state IGNORED of NEW items. */
wb_status wb__push_preupload(wb_push *push, wb__context *context);

/* Makes the commit. */
wb_status wb__push_make_commit(wb_push *push, wb__context *context);

/* Where the contents of a file are to be sent. Strings are in the arena. */
typedef struct wb__push_object {
    wb__push_item *item;
    const char *href;    /* receives the contents; with parts: the list of the parts */
    const char *verify;  /* NULL: no verification is wanted */
    uint64_t part_bytes; /* 0: one part */
    const char **parts;  /* addresses of the parts */
    size_t part_count;
} wb__push_object;

/* Asks where to send the contents of n objects. Items of which the hub has the contents become
 * STORED. */
wb_status wb__push_batch(wb_push *push, wb__context *context, wb__push_object *objects, size_t n);

/* An ETag that a server returned for a part. */
typedef struct wb__push_etag {
    char text[160];
} wb__push_etag;

/* Tells the server that all parts have arrived, then asks it to verify the contents. */
wb_status wb__push_complete(wb_push *push, wb__context *context, const wb__push_object *object,
                            const wb__push_etag *etags);

/* ---- push_upload.c ---- */

/* Sends the contents of all NEW items that LFS stores. They become STORED. */
wb_status wb__push_upload(wb_push *push, wb__context *context, const wb_progress *progress);

#endif
