/*
 * net/hub.h: repositories of a hub (Hugging Face Hub, or a server with the same API): finds the
 * commit of a revision, and the list of its files.
 *
 * One request finds the commit. Each further request lists up to 1,000 files with their sizes and
 * digests, so no file needs a request of its own to be described. Files are then fetched at the
 * commit, which never changes.
 */
#ifndef WB_NET_HUB_H
#define WB_NET_HUB_H

#include "net/address.h"
#include "net/listing.h"
#include "net/net.h"

typedef struct wb__repo {
    struct wb__repo *next;
    const wb_allocator *allocator;
    wb__arena arena;
    wb__address address; /* repository and revision; the path is empty */
    char commit[WB__HEX_COMMIT + 1];
    wb__listing listing;
} wb__repo;

/*
 * Finds the commit of the revision and the files of the repository. Uses the cached listing of the
 * commit if there is one; in offline mode also the cached commit of the revision. The caller owns
 * *repo and releases it with wb__repo_free.
 */
wb_status wb__repo_open(wb_net *net, wb__context *context, const wb__address *address,
                        wb__repo **repo);
void wb__repo_free(wb__repo *repo);

/* Returns a shared repository, which lives as long as the wb_net. */
wb_status wb__repo_share(wb_net *net, wb__context *context, const wb__address *address,
                         const wb__repo **repo);
void wb__repos_free(wb_net *net);

/* Makes the URL of the file `path` at repo->commit. Returns NULL, or the reason for a failure. */
const char *wb__repo_url(const wb__repo *repo, const wb_net *net, const char *path, wb__url *url);

/* Appends "ENDPOINT/api/models/OWNER/NAME". */
void wb__hub_api(wb__buffer *out, const wb_net *net, const wb__address *address);

#endif
