/*
 * net/remote_files.h: files at addresses as wb_files, for wb_open_options.files. Directories:
 *
 *     hf://…            from the listing of the repository
 *     s3://…/, gs://…/  from a listing of the objects below the prefix
 *     http(s)://…/      the index of shards tells the files; without one, the page of the directory
 *                       if the server makes one (autoindex). A shard's name tells its set as well.
 */
#ifndef WB_NET_REMOTE_FILES_H
#define WB_NET_REMOTE_FILES_H

#include "net/net.h"

/* Fills in the struct. */
void wb__remote_files(wb_net *net, wb_files *files);

#endif
