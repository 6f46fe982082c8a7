/*
 * net/remote_files.h: provides files at network addresses as wb_files, for wb_open_options.files.
 * The names of the files in a directory come from:
 *
 *     hf://…            the listing of the repository
 *     s3://…/, gs://…/  a listing of the objects below the prefix
 *     http(s)://…/      the index of shards; without one, the name of a shard that was opened
 *                       (-00001-of-00003); else the links of the page that the server generates
 *                       for the directory (autoindex)
 */
#ifndef WB_NET_REMOTE_FILES_H
#define WB_NET_REMOTE_FILES_H

#include "net/net.h"

/* Fills in *files. */
void wb__remote_files(wb_net *net, wb_files *files);

#endif
