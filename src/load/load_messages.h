/*
 * load/load_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_LOAD_LOAD_MESSAGES_H
#define WB_LOAD_LOAD_MESSAGES_H

/* ---- load.c ---- */

#define WB__MSG_LOAD_DIGEST "the SHA-256 digest of the file differs from the digest in its name"
#define WB__MSG_LOAD_CANCELLED "cancelled by the progress callback"
#define WB__MSG_LOAD_TARGET "wb_load_options.device requires wb_load_options.target"
#define WB__MSG_LOAD_DEVICE_UPLOAD "wb_device requires map or upload"
#define WB__MSG_LOAD_DEVICE_STAGE "wb_device requires both stage and unstage, or neither"
#define WB__MSG_LOAD_OPTIONS_IO "wb_load_options.io is not a WB_IO_* value"
#define WB__MSG_LOAD_MAP_READ "WB_IO_MAP is not possible for a model opened with WB_ACCESS_READ"
#define WB__MSG_LOAD_OPTIONS_FLAGS "wb_load_options.flags contains unknown flags"
#define WB__MSG_LOAD_OPTIONS_DTYPE                                                                 \
    "wb_load_options.dtype is not a floating-point type of whole bytes"

/* ---- load_public.c ---- */

#define WB__MSG_LOAD_NO_FILE "the file index %llu is out of range"
#define WB__MSG_LOAD_PAGE_CACHE "the operating system cannot report the contents of its page cache"

#endif
