/*
 * bundles/ollama/blob_name.h: blobs of an Ollama store are named by the SHA-256 of their bytes.
 */
#ifndef WB_BUNDLES_OLLAMA_BLOB_NAME_H
#define WB_BUNDLES_OLLAMA_BLOB_NAME_H

#include "core/core.h"

#define WB__BLOB_DIGEST_BYTES 32 /* size of a SHA-256 digest in bytes */

/* Sets `digest` to the digest in the file name of a blob. Returns false if the path does not end in
 * the name of a blob. */
bool wb__digest_of_name(const char *path, uint8_t digest[WB__BLOB_DIGEST_BYTES]);

#endif
