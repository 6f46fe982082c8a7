/*
 * net/file_table.h: the table of all addresses that a caller tried to open as files.
 *
 * An opened file and its cached bytes stay in the table until the wb_net is closed. If the file is
 * opened again, the server is not asked for it again. The table also remembers the addresses at
 * which there is no file.
 */
#ifndef WB_NET_FILE_TABLE_H
#define WB_NET_FILE_TABLE_H

#include "net/cached_file.h"

typedef struct wb__file_entry {
    struct wb__file_entry *next; /* next entry with the same hash */
    char *path;
    char *local; /* file in the cache of huggingface_hub, read in place of `file`; NULL: none */
    wb__cached_file *file;

    /* ---- under the lock of the wb_net ---- */
    wb_status missing; /* WB_OK, or WB_ERROR_NOT_FOUND */
    wb_error error;    /* if missing */
    bool is_folder;
} wb__file_entry;

wb_status wb__file_table_new(wb_net *net, wb__context *context);
void wb__file_table_free(wb_net *net);

/* Returns the entry of a path, and creates it if there is none. If `probe` is true and the size of
 * the file is not known, asks the server whether the path is a file or a directory. Entries live as
 * long as the table. */
wb_status wb__file_entry_get(wb_net *net, wb__context *context, const char *path, bool probe,
                             wb__file_entry **entry);

/* Returns the name of a shard in the table whose directory is `folder`, or an empty string.
 * `shards_of` returns the number of shards in the set of a shard, and 0 for other names. The result
 * is valid as long as the table. */
wb__str wb__file_table_name(wb_net *net, const char *folder,
                            uint64_t (*shards_of)(wb__str name, wb__str *prefix,
                                                  wb__str *extension));

#endif
