/*
 * net/fetch.h: a request whose reply fits into memory, with redirects and retries: GET, or POST with
 * a body in memory. Ranges of large files are transfers (net/transfer.h).
 */
#ifndef WB_NET_FETCH_H
#define WB_NET_FETCH_H

#include "core/buffer.h"
#include "net/net.h"
#include "net/url.h"

#define WB__REDIRECTS_MAX 20u
#define WB__TYPE_LFS "application/vnd.git-lfs+json"

typedef struct wb__fetch {
    wb__url url; /* the URL to fetch; after a redirect, its target */
    wb__response response;
    wb__buffer reply; /* `ceiling` of this buffer is the maximum size of the reply */

    /* ---- for POST, set after wb__fetch_begin; redirects of a POST are not followed ---- */
    const char *type; /* media type of the body; NULL: GET */
    wb__str body;     /* borrowed until wb__fetch_free */
    bool once;        /* do not send the request again if the server may have executed it */
} wb__fetch;

/* Prepares a request. `limit` is the maximum size of the reply in bytes. Release with
 * wb__fetch_free, also after a failure. */
wb_status wb__fetch_begin(wb__fetch *fetch, wb_net *net, wb__context *context, const char *url,
                          size_t limit);
void wb__fetch_free(wb__fetch *fetch);

/*
 * Sends the request. Follows redirects, and tries again after temporary failures. wb__fetch_run
 * returns WB_OK for a reply with any status; wb__fetch_run_ok also fails if the status is not 2xx,
 * or if the reply is a web page (HTML).
 */
wb_status wb__fetch_run(wb__fetch *fetch, wb_net *net, wb__context *context);
wb_status wb__fetch_run_ok(wb__fetch *fetch, wb_net *net, wb__context *context);

/* Reports a reply with a status other than 2xx. Uses the error codes of a hub if there are any. */
wb_status wb__fail_reply(const wb_net *net, wb__context *context, const wb__url *url,
                         const wb__response *response, wb__str reply);

/* Reports an exchange that did not complete. */
wb_status wb__fail_exchange(wb__context *context, const wb__url *url, const wb__exchange *exchange);

#endif
