/*
 * net/remote_list.h: lists the names in a directory whose path is an address, such as that of a
 * repository of the hub.
 */
#ifndef WB_NET_REMOTE_LIST_H
#define WB_NET_REMOTE_LIST_H

#include "net/net.h"

/* Calls `each` for the names in a directory. */
wb_status wb__remote_list(wb_net *net, wb__context *context, const char *path,
                          wb_status (*each)(void *ctx, const char *name), void *ctx);

#endif
