#include "crypto/hmac.h"

static void make_pad(uint8_t pad[WB__SHA256_BLOCK], const uint8_t *key, size_t n, uint8_t mask)
{
    for (size_t i = 0; i < WB__SHA256_BLOCK; i++)
        pad[i] = (uint8_t)((i < n ? key[i] : 0) ^ mask);
}

/* Computes the SHA-256 digest of a pad followed by a message. */
static bool hash_two(wb__sha256 *hash, const uint8_t pad[WB__SHA256_BLOCK], const void *message,
                     size_t n, uint8_t digest[WB__SHA256_BYTES])
{
    wb__sha256_add(hash, pad, WB__SHA256_BLOCK);
    wb__sha256_add(hash, message, n);
    return wb__sha256_finish(hash, digest);
}

wb_status wb__hmac_sha256(wb__context *context, const void *key, size_t key_bytes,
                          const void *message, size_t message_bytes, uint8_t code[WB__SHA256_BYTES])
{
    wb__sha256 hash;
    uint8_t short_key[WB__SHA256_BYTES], inner[WB__SHA256_BYTES], pad[WB__SHA256_BLOCK];
    const uint8_t *used = key;
    wb_status status = wb__sha256_open(&hash, context);
    bool good = status == WB_OK;
    if (good && key_bytes > WB__SHA256_BLOCK) {
        wb__sha256_add(&hash, key, key_bytes);
        good = wb__sha256_finish(&hash, short_key);
        used = short_key;
        key_bytes = sizeof short_key;
    }
    if (good) {
        make_pad(pad, used, key_bytes, 0x36);
        good = hash_two(&hash, pad, message, message_bytes, inner);
    }
    if (good) {
        make_pad(pad, used, key_bytes, 0x5c);
        good = hash_two(&hash, pad, inner, sizeof inner, code);
    }
    wb__sha256_close(&hash);
    if (status == WB_OK && !good)
        status = wb__fail_memory(context);
    return status;
}
