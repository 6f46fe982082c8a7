/*
 * net/remote_files.h: files at addresses as wb_files, for wb_open_options.files. Directories:
 *
 *     hf://…            from the listing of the repository
 *     s3://…/, gs://…/  from a listing of the objects below the prefix
 *     http(s)://…/      from the index of shards; without one, from the name of a shard that was
 *                       opened (-00001-of-00003); else from the links of the page that the server
 *                       generates for the directory (autoindex)
 */
#ifndef WB_NET_REMOTE_FILES_H
#define WB_NET_REMOTE_FILES_H

#include "net/net.h"

/* Fills in *files. */
void wb__remote_files(wb_net *net, wb_files *files);

#endif
