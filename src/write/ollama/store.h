/*
 * write/ollama/store.h: writes models into an Ollama store. store.c creates directories and
 * commits, store_blob.c publishes blobs, store_manifest.c creates the manifest and store_config.c
 * its config.
 */
#ifndef WB_WRITE_OLLAMA_STORE_H
#define WB_WRITE_OLLAMA_STORE_H

#include "write/write.h"

/* Creates the text of the manifest. Writes all blobs that it lists, except those of tensors. */
wb_status wb__store_manifest(wb__context *context, wb_writer *writer, wb__buffer *out);

/* Creates the text of the config. */
wb_status wb__store_config(wb__context *context, const wb_writer *writer, wb__buffer *out);

/* Writes a blob unless the store contains it. `digest` has 2 * WB__SHA256_BYTES + 1 bytes. */
wb_status wb__store_put_blob(wb__context *context, const wb_writer *writer, const void *bytes,
                             size_t n, char *digest);

/* Returns the bytes of a sidecar file. Sets *owned to the buffer that the caller must free, or to
 * NULL. */
wb_status wb__store_read_extra(wb__context *context, const wb__sidecar *extra,
                               const uint8_t **bytes, size_t *n, uint8_t **owned);

/* Returns the string of a metadata key, or the empty string if the key is not set. */
wb__str wb__store_text(const wb_writer *writer, const char *key);

/* wb__store_append is an output function for a JSON writer and appends to the wb__buffer `ctx`.
 * wb__store_member writes a key and a string. */
bool wb__store_append(void *ctx, const char *text, size_t n);
void wb__store_put_field(wb__json_writer *json, const char *key, wb__str text);

#define WB__STORE_CHUNK ((size_t)1 << 20) /* number of bytes per read */

/* Writes a file of n bytes durably. */
wb_status wb__store_write_file(wb__context *context, const char *path, const void *bytes, size_t n);

/* Writes a file of n bytes durably under a temporary name; *sink publishes or discards it. */
wb_status wb__store_finish_file(wb__context *context, const char *path, const void *bytes, size_t n,
                                wb_sink **sink);

/* Gives the blob of an output its final name, unless the store has that blob already. */
wb_status wb__store_publish_output(wb__context *context, const wb_writer *writer,
                                   wb__output *output);

/* Computes the digest of n bytes in hexadecimal. */
wb_status wb__store_hash_bytes(wb__context *context, const void *bytes, size_t n, char *text);

#endif
