/*
 * hash/hash_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_HASH_HASH_MESSAGES_H
#define WB_HASH_HASH_MESSAGES_H

/* ---- hash.c ---- */

#define WB__MSG_HASH_CANCELLED "cancelled by the progress callback"

/* ---- hash_public.c ---- */

#define WB__MSG_HASH_OPTIONS_FLAGS "wb_hash_options.flags contains unknown flags"
#define WB__MSG_HASH_CHUNKS_WITHOUT_FILES "WB_HASH_CHUNKS requires WB_HASH_FILES"
#define WB__MSG_HASH_MANIFEST_CHUNKS "a manifest requires digests computed with WB_HASH_CHUNKS"
#define WB__MSG_HASH_MANIFEST_WRITE "the manifest could not be written"

/* ---- manifest_check.c ---- */

#define WB__MSG_HASH_RANGE_DIFFERS "bytes %llu to %llu%s differ from the manifest"
#define WB__MSG_HASH_OUTSIDE_TENSORS ", outside of all tensors,"
#define WB__MSG_HASH_FILE_SIZE "the file has %llu bytes, but the manifest specifies %llu"
#define WB__MSG_HASH_FILE_MISSING "the manifest lists this file, but it does not exist"
#define WB__MSG_HASH_FILE_UNLISTED "the manifest does not list this file"

/* ---- manifest_read.c ---- */

#define WB__MSG_HASH_MANIFEST "the file is not a valid weighbridge manifest: %s"
#define WB__MSG_HASH_MANIFEST_LONG "the manifest has %llu bytes or more; the limit is %llu"
#define WB__MSG_HASH_MANIFEST_NAME "the name of a file or tensor is missing, or is not a string"
#define WB__MSG_HASH_MANIFEST_LIST                                                                 \
    "the file is not a valid weighbridge manifest: the list \"%s\" is missing"
#define WB__MSG_HASH_MANIFEST_ELEMENTS "a list contains elements of the wrong JSON type"
#define WB__MSG_HASH_MANIFEST_CHUNK_COUNT "the number of chunks does not match the number of bytes"
#define WB__MSG_HASH_MANIFEST_CHUNK "the digest of a chunk is not a string of 64 hexadecimal digits"
#define WB__MSG_HASH_MANIFEST_PART_BYTES "a part of a file has no valid number \"bytes\""
#define WB__MSG_HASH_MANIFEST_PARTS "the parts of a file do not add up to the size of the file"
#define WB__MSG_HASH_MANIFEST_FILE_NAME "the name of a file is empty or contains a path"
#define WB__MSG_HASH_MANIFEST_FILE_BYTES "a file has no valid number \"bytes\""
#define WB__MSG_HASH_MANIFEST_VERSION_MISSING "\"weighbridge_manifest\" is missing"
#define WB__MSG_HASH_MANIFEST_VERSION "the manifest has version %llu; only version 1 is supported"
#define WB__MSG_HASH_MANIFEST_CHUNK_BYTES "\"chunk_bytes\" is not 1048576"
#define WB__MSG_HASH_MANIFEST_NOT_FOUND "the manifest does not exist"

#endif
