/*
 * net/remote.h: a file on a server.
 *
 * `url` is the address that stays valid: of a hub, of a web server, or an object of a store. The
 * server may redirect it to a content address on another host, which is signed and expires. The
 * first transfer finds this address and the others use it. When a server refuses it, one
 * transfer asks `url` for a new content address and the others wait for it.
 *
 * All members below the line change under the lock of the wb_net.
 */
#ifndef WB_NET_REMOTE_H
#define WB_NET_REMOTE_H

#include "net/listing.h"
#include "net/net.h"
#include "net/s3.h"
#include "net/url.h"

typedef struct wb__remote {
    wb_net *net;
    wb__url url;
    const wb__s3 *s3;                /* credentials for signing `url`, borrowed; NULL: not signed */
    char digest[WB__HEX_SHA256 + 1]; /* expected SHA-256 or git id; empty if not known */

    /* ---- under the lock ---- */
    wb__url content;     /* text is NULL if not known */
    unsigned generation; /* number of changes of `content` */
    bool resolving;      /* a transfer asks `url` for the content address */
    bool size_known;
    uint64_t size;       /* bytes of the file */
    char etag[258];      /* strong ETag of the content address; empty if there is none */
    bool ignores_ranges; /* the server answered a request for a range with the whole file */
} wb__remote;

/* Initializes a remote file. Takes ownership of *url. */
void wb__remote_init(wb__remote *remote, wb_net *net, wb__url *url);
void wb__remote_free(wb__remote *remote);

/* Sets the size of the file. Later responses must state the same size. */
void wb__remote_set_size(wb__remote *remote, uint64_t size);

/* Copies the URL for the next request to *url, and sets *is_content to whether it is the content
 * address. The lock is held. Returns false if memory runs out. */
bool wb__remote_address(const wb__remote *remote, wb__url *url, bool *is_content);

/*
 * wb__remote_set_content replaces the content address and takes ownership of *url.
 * wb__remote_expire removes the content address if it has not changed since `generation`. The lock
 * is held.
 */
void wb__remote_set_content(wb__remote *remote, wb__url *url);
void wb__remote_expire(wb__remote *remote, unsigned generation);

#endif
