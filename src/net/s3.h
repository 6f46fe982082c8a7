/*
 * net/s3.h: makes and signs URLs of objects in S3 and compatible stores.
 *
 * A presigned URL (AWS Signature Version 4, query form) carries the signature in its query, so that
 * ranges and retries need no signature of their own, and no header field carries a secret.
 */
#ifndef WB_NET_S3_H
#define WB_NET_S3_H

#include "core/core.h"
#include "net/url.h"

/* Credentials and the place of a bucket. Strings are borrowed; key is NULL for public objects. */
typedef struct wb__s3 {
    const char *key, *secret, *token;
    const char *region;
    unsigned seconds;     /* validity of an address; 0: an hour */
    int64_t (*now)(void); /* seconds since 1970; NULL: the clock */
} wb__s3;

/*
 * Makes the URL of an object, or of the bucket if the key is empty. The URL has the name of the
 * bucket in its path if `endpoint` is not NULL or the bucket name contains a dot, else in the host
 * name. Returns NULL, or the reason for a failure.
 */
const char *wb__s3_url(wb__url *url, const wb_allocator *allocator, const char *endpoint,
                       const char *region, const char *bucket, const char *key, const char *query);

/* Makes the signed form of a URL for GET, or a copy of the URL if s3->key is NULL. Returns false if
 * memory runs out. */
bool wb__s3_presign(const wb__s3 *s3, const wb__url *url, wb__url *out);

#endif
