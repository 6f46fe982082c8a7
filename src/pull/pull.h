/*
 * pull: the files of a repository of a hub, fetched onto the disk.
 *
 *   pull_plan            which files the user wants, and which of them are missing
 *   pull_web             the same for one file of a web server or an object store
 *   pull_layout          where files are stored: layout_cache.c, layout_folder.c, layout_file.c
 *   below                files below a directory, without following links
 *   pull_partial         a file that is being fetched, and the journal from which it is continued
 *   piece_sum            the checksum of a piece of such a file
 *   content_hash         the digest that the hub states
 *   pull_repair          damage on the disk
 *   pull_task            one file: ranges, digest, final name
 *   pull_run             all files, in parallel
 *
 * A file gets its final name when all its bytes have arrived and have the stated digest. A process
 * that is killed leaves partial files, and the next one continues them.
 *
 * Threads. The thread of the engine (net/engine.h) writes the bytes of a range and sets the state
 * of its pieces to WB__PIECE_HERE. All else, including hashing, is done by the thread of the
 * caller.
 */
#ifndef WB_PULL_PULL_H
#define WB_PULL_PULL_H

#include "net/hub.h"
#include "net/net.h"
#include "net/remote.h"
#include "pull/pull_partial.h"
#include "weighbridge/net.h"

typedef enum wb__item_state {
    WB__ITEM_MISSING = 0,
    WB__ITEM_HERE,    /* its bytes are stored; links or metadata may be missing */
    WB__ITEM_STARTED, /* a task fetches it */
    WB__ITEM_DONE
} wb__item_state;

typedef struct wb__pull_item {
    const wb__repo_file *file;
    wb__item_state state;
    bool is_damaged; /* for the states MISSING and STARTED: the file is stored with wrong bytes */
} wb__pull_item;

/* How and where files are stored: in the cache of the hub (layout_cache.c), in a folder
 * (layout_folder.c), or as a single file (layout_file.c). */
typedef struct wb__pull_layout {
    const char *store; /* path of the directory of the partial files, relative to pull->folder */
    /* Sets item->state to WB__ITEM_HERE if the file of the item is already stored. Changes nothing
     * on the disk. */
    wb_status (*look)(wb_pull *pull, wb__context *context, wb__pull_item *item);
    /* Opens the file of an item that is stored. Returns -1 and sets errno if this fails. */
    int (*open)(wb_pull *pull, const wb__pull_item *item);
    /* Creates directories and stores the listing. Called before the functions below. */
    wb_status (*begin)(wb_pull *pull, wb__context *context);
    /* Takes the lock of an item. Other clients respect this lock. Sets *fd to a descriptor that
     * holds the lock, or to -1 if the file system has no locks. Returns 0 or errno: EWOULDBLOCK if
     * another process holds the lock. */
    int (*lock)(wb_pull *pull, const wb__pull_item *item, int *fd);
    /* Makes the name of the partial file in pull->store. */
    void (*partial_name)(const wb__pull_item *item, char name[WB__PARTIAL_NAME]);
    /* Gives a file its final name, and stores links or metadata. `partial` is complete and its
     * digest is right; NULL if the file is there already. Returns 0 or errno. */
    int (*publish)(wb_pull *pull, const wb__pull_item *item, const wb__pull_partial *partial);
    /* Removes the stored listing, after the server contradicted it. */
    void (*distrust)(wb_pull *pull);
    /* Called when all files are there. Returns 0 or errno. */
    int (*end)(wb_pull *pull);
} wb__pull_layout;

extern const wb__pull_layout wb__layout_cache, wb__layout_folder, wb__layout_file;

struct wb_pull {
    wb_net *net;
    wb__arena arena;
    wb__repo *repo;    /* NULL if the address is not that of a hub */
    wb__remote web;    /* if is_web: the only file, and what the server stated about it */
    wb__repo_file own; /* if is_web: its description */
    wb__pull_item only;
    bool is_web;
    bool has_digest; /* the digests of the files are known; else they only identify the files */
    uint32_t flags;  /* WB_PULL_* */
    const wb__pull_layout *layout;
    const char *folder; /* path of the directory that belongs to the repository */
    const char *path;   /* path of the directory that has the files, or of the only file */
    int root;           /* descriptor of `folder`; -1 until `begin` */
    int store;          /* descriptor of the directory of the partial files */
    int files;          /* only in the cache layout: descriptor of the snapshot directory */
    int locks;          /* only in the cache layout: descriptor of the directory of the locks */
    wb__pull_item *items;
    size_t count;
    uint64_t total, present; /* bytes of all files, and of those that are there */
    uint8_t *scratch;        /* WB__PIECE bytes */
};

/* ---- pull_plan.c ---- */

/* Selects the files below `path` that match the patterns, and finds out which of them are already
 * stored. */
wb_status wb__pull_plan(wb_pull *pull, wb__context *context, const char *path,
                        const wb_pull_options *options);

/* Returns a copy of the text in the arena, and frees the buffer. Returns NULL if memory runs out. */
const char *wb__pull_keep(wb_pull *pull, wb__buffer *text);

/* Finds out which of the items are already stored, and adds up their sizes. */
wb_status wb__pull_look(wb_pull *pull, wb__context *context);

/* ---- pull_run.c ---- */

/* Fetches the missing files and gives all files their final names. */
wb_status wb__pull_run(wb_pull *pull, wb__context *context, const wb_progress *progress);

/* ---- pull_layout.c: shared by the layouts ---- */

/* Closes all directories, which `begin` opens again. */
void wb__pull_close_folders(wb_pull *pull);

/* Opens the directory of the download, if it exists. Returns pull->root, or -1 and errno. */
int wb__pull_open_root(wb_pull *pull);

/* wb__pull_layout.open for files that are stored under their own path below the directory. */
int wb__pull_open_plain(wb_pull *pull, const wb__pull_item *item);

/* Returns the disk space in bytes that the partial files of missing items occupy. */
uint64_t wb__pull_partial_room(const wb_pull *pull);

wb_status wb__pull_fail_path(wb_pull *pull, wb__context *context, const char *path, int os_error);

/* Stores the listing as trees/COMMIT.json below a directory. */
wb_status wb__pull_write_tree(wb_pull *pull, wb__context *context, int folder);

/* Removes trees/COMMIT.json. `prefix` is the path of the directory that has trees/, relative to
 * `folder`. */
void wb__pull_remove_tree(const wb_pull *pull, int folder, const char *prefix);

/* Stores CACHEDIR.TAG in a directory if it has none. Returns 0 or errno. */
int wb__pull_write_tag(int folder);

/* Opens or creates a lock file and takes its lock, as wb__pull_layout.lock. */
int wb__pull_take_lock(int folder, const char *name, int *fd);

/* Makes the bytes of a partial file durable and moves it to its final name. Returns 0 or errno. */
int wb__pull_move(const wb__pull_partial *partial, int folder, const char *name);

#endif
