/*
 * crypto/libcrypto.h: SHA-256 by OpenSSL's libcrypto. It is loaded at run time on first use, so
 * that it is needed neither to build this library nor to open a model.
 */
#ifndef WB_CRYPTO_LIBCRYPTO_H
#define WB_CRYPTO_LIBCRYPTO_H

#include "crypto/sha256.h"

typedef struct wb__libcrypto_sha256 wb__libcrypto_sha256;

/*
 * Creates a hash; the caller owns it and frees it with wb__libcrypto_sha256_free. *hash stays NULL
 * if libcrypto is not installed, which is not an error.
 */
wb_status wb__libcrypto_sha256_new(wb__context *context, wb__libcrypto_sha256 **hash);

/* Returns false if libcrypto reports an error. */
bool wb__libcrypto_sha256_add(wb__libcrypto_sha256 *hash, const void *bytes, size_t n);
bool wb__libcrypto_sha256_finish(wb__libcrypto_sha256 *hash, uint8_t digest[WB__SHA256_BYTES]);
void wb__libcrypto_sha256_free(wb__libcrypto_sha256 *hash);

#endif
