/*
 * net/trust.h: where requests may go, and which of them carry the token.
 *
 * The token belongs to the origin of the endpoint (scheme, host and port) and is sent nowhere else:
 * the decision depends on the URL of the request alone, however the URL was found, so redirects,
 * links of listings and addresses in replies need no rules of their own.
 *
 * http without TLS is allowed to this machine, to the host of the endpoint if the URL of the
 * endpoint begins with http:, and to every host with WB_NET_PLAIN_HTTP. A redirect from https to
 * http is never followed.
 */
#ifndef WB_NET_TRUST_H
#define WB_NET_TRUST_H

#include "net/settings.h"
#include "net/url.h"

bool wb__trust_token(const wb__settings *settings, const wb__url *url);

/* Appends the header field with the token, and a NUL, if the token belongs to the origin of the
 * URL. */
void wb__trust_add_token(wb__buffer *fields, const wb__settings *settings, const wb__url *url);

bool wb__trust_scheme(const wb__settings *settings, const wb__url *url, bool plain_http);

/* Parses the target of a redirect from `from`. Returns NULL, or the reason why it is not followed
 * (wb__url_memory if memory ran out). Release *target with wb__url_free in any case. */
const char *wb__trust_redirect(const wb__settings *settings, const wb__url *from,
                               const char *location, bool plain_http, wb__url *target);

#endif
