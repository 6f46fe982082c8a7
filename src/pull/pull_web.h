/*
 * pull/pull_web.h: the download of one file whose address is not that of a hub: https://, s3://,
 * gs://.
 *
 * Such a server states no digest. If the user does not state one either, the file is identified by
 * its URL, its size, and its ETag or modification date. A journal of an interrupted download is
 * continued only if all of them are the same.
 */
#ifndef WB_PULL_PULL_WEB_H
#define WB_PULL_PULL_WEB_H

#include "net/address.h"
#include "pull/pull.h"

/* Asks the server for the size and the version of the file, with a request for its first byte. Sets
 * the only item of the pull. Fails with ARGUMENT if the address is that of a directory. */
wb_status wb__pull_web_open(wb_pull *pull, wb__context *context, const wb__address *address,
                            const wb_pull_options *options);

/* Initializes the remote file of the pull. Release with wb__remote_free. */
wb_status wb__pull_web_remote(const wb_pull *pull, wb__context *context, wb__remote *remote);

#endif
