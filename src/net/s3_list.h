/*
 * net/s3_list.h: listings and errors of S3, in XML.
 *
 *     GET /BUCKET?list-type=2&delimiter=/&prefix=…
 *     <ListBucketResult><Contents><Key>…</Key><Size>…</Size></Contents>
 *         <CommonPrefixes><Prefix>…</Prefix></CommonPrefixes>
 *         <NextContinuationToken>…</NextContinuationToken></ListBucketResult>
 *
 * The scanner looks for the elements that it knows and takes their text; it needs no memory and
 * does not check the rest of the document.
 */
#ifndef WB_NET_S3_LIST_H
#define WB_NET_S3_LIST_H

#include "core/buffer.h"
#include "core/core.h"

/*
 * Calls `each` for the text of each element NAME, in order, with entities decoded. Returns the
 * first status other than WB_OK that `each` returns. `scratch` is used for the text.
 */
wb_status wb__xml_each(wb__str document, const char *name, wb__buffer *scratch,
                       wb_status (*each)(void *ctx, wb__str text), void *ctx);

/* Appends the text of the first element NAME; nothing if there is none. */
void wb__xml_find(wb__str document, const char *name, wb__buffer *out);

/* Reads the HTML page with which a web server lists a folder (autoindex). Calls `each` for every
 * NAME in a link href="NAME" that contains no '/', except possibly at its end. */
wb_status wb__html_each_link(wb__str document, wb__buffer *scratch,
                             wb_status (*each)(void *ctx, wb__str name), void *ctx);

#endif
