/* crypto/hmac.h: HMAC-SHA-256 (RFC 2104). */
#ifndef WB_CRYPTO_HMAC_H
#define WB_CRYPTO_HMAC_H

#include "crypto/sha256.h"

/* Computes the authentication code of a message. Fails only with WB_ERROR_MEMORY. */
wb_status wb__hmac_sha256(wb__context *context, const void *key, size_t key_bytes,
                          const void *message, size_t message_bytes,
                          uint8_t code[WB__SHA256_BYTES]);

#endif
