/*
 * write/ollama/store.h: writes models into an Ollama store. store.c creates the directories and
 * commits the model, store_blob.c publishes blobs, store_manifest.c creates the manifest and
 * store_config.c the config that the manifest refers to.
 */
#ifndef WB_WRITE_OLLAMA_STORE_H
#define WB_WRITE_OLLAMA_STORE_H

#include "write/write.h"

/* Appends the JSON text of the manifest to *out. Writes all blobs that the manifest lists,
 * except the blobs of tensors. */
wb_status wb__store_manifest(wb__context *context, wb_writer *writer, wb__buffer *out);

/* Appends the JSON text of the config to *out. */
wb_status wb__store_config(wb__context *context, const wb_writer *writer, wb__buffer *out);

/* Writes a blob with these bytes unless the store contains it. Sets `digest`, a buffer of 2 *
 * WB__SHA256_BYTES + 1 bytes, to the hexadecimal digest of the blob. */
wb_status wb__store_put_blob(wb__context *context, const wb_writer *writer, const void *bytes,
                             size_t n, char *digest);

/* Sets *bytes and *n to the contents of a sidecar file. Sets *owned to the buffer that the
 * caller must free, or to NULL if the sidecar owns the bytes. */
wb_status wb__store_read_extra(wb__context *context, const wb__sidecar *extra,
                               const uint8_t **bytes, size_t *n, uint8_t **owned);

/* Returns true if a sidecar file with this name becomes a layer of the model. All other sidecar
 * files are ignored. */
bool wb__store_has_layer(wb__str name);

/* Returns the string value of a metadata key, or an empty string if the key is not set. */
wb__str wb__store_text(const wb_writer *writer, const char *key);

/* wb__store_append is the output function of a JSON writer. It appends the text to `ctx`, which
 * is a wb__buffer. wb__store_put_field writes a JSON member with a string value. */
bool wb__store_append(void *ctx, const char *text, size_t n);
void wb__store_put_field(wb__json_writer *json, const char *key, wb__str text);

#define WB__STORE_CHUNK ((size_t)1 << 20) /* number of bytes that one step reads and hashes */

/* Writes a durable file with n bytes at `path`. */
wb_status wb__store_write_file(wb__context *context, const char *path, const void *bytes, size_t n);

/* Writes a durable file with n bytes under a temporary name. The caller publishes or discards
 * *sink. */
wb_status wb__store_finish_file(wb__context *context, const char *path, const void *bytes, size_t n,
                                wb_sink **sink);

/* Publishes the blob of an output under its final name, unless the store already contains this
 * blob. */
wb_status wb__store_publish_output(wb__context *context, const wb_writer *writer,
                                   wb__output *output);

/* Sets `text` to the SHA-256 digest of n bytes in hexadecimal. */
wb_status wb__store_hash_bytes(wb__context *context, const void *bytes, size_t n, char *text);

#endif
