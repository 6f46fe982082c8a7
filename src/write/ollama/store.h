/*
 * write/ollama/store.h: the parts of a model in an Ollama store: store.c has blobs and folders, store_manifest.c
 * the manifest, store_config.c what it says of the model.
 */
#ifndef WB_WRITE_OLLAMA_STORE_H
#define WB_WRITE_OLLAMA_STORE_H

#include "write/write.h"

/* The text of the manifest. Puts the blobs it names, but for those of tensors, into the store. */
wb_status wb__store_manifest(wb__context *context, wb_writer *writer, wb__buffer *out);

/* The text of the config. */
wb_status wb__store_config(wb__context *context, const wb_writer *writer, wb__buffer *out);

/* Puts bytes into the store unless they are there; `digest` takes 2 * WB__SHA256_BYTES + 1. */
wb_status wb__store_put_blob(wb__context *context, const wb_writer *writer, const void *bytes,
                             size_t n, char *digest);

/* The bytes of a file beside the weights; a copy in *owned where it has to be freed. */
wb_status wb__store_read_extra(wb__context *context, const wb__sidecar *extra,
                               const uint8_t **bytes, size_t *n, uint8_t **owned);

/* The text under a key that was set, or empty. */
wb__str wb__store_text(const wb_writer *writer, const char *key);

/* Where a writer of JSON puts what it makes: a wb__buffer; and a key with a text. */
bool wb__store_append(void *ctx, const char *text, size_t n);
void wb__store_put_field(wb__json_writer *json, const char *key, wb__str text);

#define WB__STORE_CHUNK ((size_t)1 << 20) /* bytes read at a time */

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
