/*
 * net/url.h: URLs with the schemes http and https.
 *
 * A URL is parsed once into a canonical text, and only this text is given to libcurl, so that both
 * see the same host. Canonical means: scheme and host in lower case, no default port, no user name,
 * no fragment, no "." and ".." segments, and only printable ASCII bytes. The origin of a URL is its
 * scheme, host and port; tokens are bound to an origin (net/trust.h).
 */
#ifndef WB_NET_URL_H
#define WB_NET_URL_H

#include "core/buffer.h"
#include "core/core.h"

#define WB__URL_MAX ((size_t)16 << 10) /* maximum length in bytes */

typedef struct wb__url {
    wb_allocator allocator;
    char *text; /* canonical, NUL-terminated; NULL: empty */
    size_t len;
    bool secure;     /* the scheme is https */
    size_t host;     /* offset of the host, without brackets of an IPv6 address */
    size_t host_len; /* in bytes */
    uint32_t port;   /* the default port if the URL has none */
    size_t path;     /* offset of the path, which begins with '/' */
    size_t query;    /* offset of '?'; `len` if there is no query */
} wb__url;

/*
 * Parses a URL. Returns NULL, or the reason why the text is not accepted (a static string);
 * wb__url_memory if memory ran out. Release with wb__url_free, also after a failure.
 */
extern const char wb__url_memory[];
const char *wb__url_parse(wb__url *url, const wb_allocator *allocator, wb__str text);

/* As wb__url_parse, for a text that was made in a buffer, which is freed. */
const char *wb__url_parse_buffer(wb__url *url, wb__buffer *text);

/* As wb__url_parse, for a reference that is relative to `base` (RFC 3986, 5.2), such as the header
 * field Location. */
const char *wb__url_resolve(wb__url *url, const wb__url *base, wb__str reference);

/* Makes *copy an independent copy. Returns false if memory runs out. */
bool wb__url_copy(wb__url *copy, const wb__url *url);
void wb__url_free(wb__url *url);

/* Return parts of the canonical text. The path excludes the query. */
wb__str wb__url_host(const wb__url *url);
wb__str wb__url_path(const wb__url *url);

/* Returns the text up to the path, such as "https://example.org:8080". */
wb__str wb__url_origin(const wb__url *url);

/* Returns true if scheme, host and port are the same. */
bool wb__url_same_origin(const wb__url *a, const wb__url *b);

/* Returns true if the host is this machine: localhost, a name that ends in .localhost, 127.x.y.z or
 * ::1. */
bool wb__url_is_loopback(const wb__url *url);

#endif
