/*
 * io/sha256.h: SHA-256 (FIPS 180-4) by OpenSSL's libcrypto, which is looked for when it is first
 * needed, so that neither building nor opening a model depends on it.
 */
#ifndef WB_IO_SHA256_H
#define WB_IO_SHA256_H

#include "core/core.h"

#define WB__SHA256_BYTES 32

typedef struct wb__sha256 wb__sha256;

/* *hash stays NULL where there is no libcrypto (WB_ERROR_UNSUPPORTED). Release with
 * wb__sha256_free. */
wb_status wb__sha256_new(wb__context *context, wb__sha256 **hash);

/* False if libcrypto fails, which it says it can. */
bool wb__sha256_add(wb__sha256 *hash, const void *bytes, size_t n);
bool wb__sha256_finish(wb__sha256 *hash, uint8_t digest[WB__SHA256_BYTES]);
void wb__sha256_free(wb__sha256 *hash);

#endif
