/*
 * net/hub_cache.h: the cache of huggingface_hub on the disk, which other programs share.
 *
 *     CACHE/models--OWNER--NAME/blobs/DIGEST                contents, named by SHA-256 or git id
 *     CACHE/models--OWNER--NAME/snapshots/COMMIT/PATH       link to ../../blobs/DIGEST
 *     CACHE/models--OWNER--NAME/refs/REVISION               the commit of a revision
 *     CACHE/models--OWNER--NAME/trees/COMMIT.json           the listing of a commit
 *     CACHE/.locks/models--OWNER--NAME/DIGEST.lock          flock, while a blob is written
 */
#ifndef WB_NET_HUB_CACHE_H
#define WB_NET_HUB_CACHE_H

#include "net/hub.h"

/* Appends "CACHE/models--OWNER--NAME". */
void wb__hub_cache_folder(wb__buffer *out, const wb_net *net, const wb__address *address);

/* Reads the commit of a revision; *commit is empty if the cache does not know it. */
wb_status wb__hub_cache_read_ref(wb_net *net, wb__context *context, const wb__address *address,
                                 char commit[WB__HEX_COMMIT + 1]);

/* Reads the listing of repo->commit and sorts it. Sets *found to false if the listing is missing or
 * damaged. */
wb_status wb__hub_cache_read_tree(wb_net *net, wb__context *context, wb__repo *repo, bool *found);

/* Sets *path to the path of the blob of a file if the cache has it with its full size, else to
 * NULL. The caller frees *path, which has strlen(*path) + 1 bytes. */
wb_status wb__hub_cache_blob(wb_net *net, wb__context *context, const wb__repo *repo,
                             const wb__repo_file *file, char **path);

#endif
