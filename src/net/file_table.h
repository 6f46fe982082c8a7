/*
 * net/file_table.h: the files at addresses that were asked for.
 *
 * An opened file stays in the table under its path until the wb_net is closed, with what its cache
 * holds, so that a file that is opened several times is asked for once. A file that does not exist
 * is remembered as well.
 */
#ifndef WB_NET_FILE_TABLE_H
#define WB_NET_FILE_TABLE_H

#include "net/cached_file.h"

typedef struct wb__file_entry {
    struct wb__file_entry *next; /* with the same hash */
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

/* Returns the entry of a path; creates it and finds out what is there if `probe` is true. Entries
 * live as long as the table. */
wb_status wb__file_entry_get(wb_net *net, wb__context *context, const char *path, bool probe,
                             wb__file_entry **entry);

/* Returns the name of a shard in the table whose directory is `folder`, or an empty string.
 * `shards_of` returns the number of shards in the set of a shard, and 0 for other names. The result
 * is valid as long as the table. */
wb__str wb__file_table_name(wb_net *net, const char *folder,
                            uint64_t (*shards_of)(wb__str name, wb__str *prefix,
                                                  wb__str *extension));

#endif
