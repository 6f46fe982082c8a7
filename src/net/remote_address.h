/*
 * net/remote_address.h: turns addresses into URLs and credentials, with the settings of a wb_net.
 */
#ifndef WB_NET_REMOTE_ADDRESS_H
#define WB_NET_REMOTE_ADDRESS_H

#include "core/core.h"
#include "net/address.h"
#include "net/net.h"

/* Parses an address. Web pages of files on the hub become hf:// addresses. Fails with ARGUMENT. */
wb_status wb__address_read(wb_net *net, wb__context *context, wb__arena *arena, const char *path,
                           wb__address *address);

/* Sets *s3 to the credentials for an address with s3:// or gs://, and *url to the URL of its
 * object, or of the bucket with a query if `query` is not NULL. */
wb_status wb__object_url(wb_net *net, wb__context *context, const wb__address *address,
                         const char *query, const wb__s3 **s3, wb__url *url);

/* Reports what is wrong with an address, or that memory ran out (wb__url_memory). */
wb_status wb__fail_address(wb__context *context, const char *fault);

/* Fails with ARGUMENT if the URL has http without encryption where it is not allowed. */
wb_status wb__check_scheme(const wb_net *net, wb__context *context, const wb__url *url);

#endif
