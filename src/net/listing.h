/*
 * net/listing.h: the files of a repository at one commit, as a hub lists them.
 *
 * A listing is read from replies of the hub, or from the cache of huggingface_hub:
 *
 *   GET /api/models/OWNER/NAME/tree/REVISION?recursive=true (one or several pages)
 *     [{"type", "oid", "size", "path", "lfs": {"oid", "size"}, "xetHash"}, …]
 *
 *   trees/COMMIT.json (in the cache)
 *     {"format_version": 1,
 *      "files": {path: {"size", "blob_id", "lfs_sha256", "lfs_size", "xet_hash"}, …}}
 *
 * The content of a file is identified by the SHA-256 of its bytes if git LFS stores it, otherwise
 * by its git blob id, the SHA-1 of "blob SIZE\0" and its bytes. Every path and digest is checked
 * (net/names.h) before it is accepted. A listing of one commit never changes.
 */
#ifndef WB_NET_LISTING_H
#define WB_NET_LISTING_H

#include "core/buffer.h"
#include "core/core.h"

#define WB__LISTING_FILES ((size_t)1000000) /* maximum number of files */
#define WB__LISTING_PAGE ((size_t)64 << 20) /* maximum size of a page in bytes */
#define WB__LISTING_PAGES 10000u

#define WB__HEX_COMMIT 40
#define WB__HEX_SHA256 64

typedef struct wb__repo_file {
    const char *path;
    uint64_t size;                   /* in bytes */
    char oid[WB__HEX_COMMIT + 1];    /* git object id of the file, or of its LFS pointer */
    char sha256[WB__HEX_SHA256 + 1]; /* SHA-256 of the file if it is stored by LFS, else empty */
    char xet[WB__HEX_SHA256 + 1];    /* hash in Xet storage; empty if there is none */
} wb__repo_file;

typedef struct wb__listing {
    wb__arena arena;
    wb__list files; /* of wb__repo_file; after wb__listing_finish in byte order of the paths */
    wb__repo_file **order;
    size_t order_bytes;
} wb__listing;

void wb__listing_init(wb__listing *listing, const wb_allocator *allocator);
void wb__listing_free(wb__listing *listing);

static inline size_t wb__listing_count(const wb__listing *listing)
{
    return listing->files.count;
}

/* Returns file i in byte order of the paths. Requires wb__listing_finish. */
static inline const wb__repo_file *wb__listing_at(const wb__listing *listing, size_t i)
{
    return listing->order[i];
}

/* Returns the name of the blob of a file: its SHA-256 if it has one, else its git id. */
static inline const char *wb__repo_file_blob(const wb__repo_file *file)
{
    return file->sha256[0] != '\0' ? file->sha256 : file->oid;
}

/* Adds the files of one page of a tree, or of a cached tree. Directories are ignored. Fails with
 * FORMAT or LIMIT. */
wb_status wb__listing_add_page(wb__listing *listing, wb__context *context, const char *text,
                               size_t n);
wb_status wb__listing_add_cached(wb__listing *listing, wb__context *context, const char *text,
                                 size_t n);

/* Sorts the files. Fails with FORMAT if two paths are the same or cannot exist in one directory
 * tree (wb__paths_conflict). */
wb_status wb__listing_finish(wb__listing *listing, wb__context *context);

/* Returns the file with this path, or NULL. Requires wb__listing_finish. */
const wb__repo_file *wb__listing_find(const wb__listing *listing, wb__str path);

/* Returns true if there is a file below the directory `path`. Requires wb__listing_finish. */
bool wb__listing_has_folder(const wb__listing *listing, wb__str path);

/* Appends the listing in the format of the cache. */
void wb__listing_print(const wb__listing *listing, wb__buffer *out);

/* ---- other replies of a hub ---- */

/* Reads the commit of {"sha": "…"}. Fails with FORMAT if there is none. */
wb_status wb__read_commit(wb__context *context, const char *text, size_t n,
                          char commit[WB__HEX_COMMIT + 1]);

/* Copies the message of {"error": "…"} in printable form. Leaves `message` empty if there is none.
 */
void wb__read_error(const wb_allocator *allocator, const char *text, size_t n, char *message,
                    size_t capacity);

#endif
