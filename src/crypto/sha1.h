/*
 * crypto/sha1.h: SHA-1 (FIPS 180-4), for the ids of git blobs. SHA-1 detects accidental damage
 * only: an attacker can make two files with the same SHA-1.
 */
#ifndef WB_CRYPTO_SHA1_H
#define WB_CRYPTO_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define WB__SHA1_BYTES 20

typedef struct wb__sha1 {
    uint32_t state[5];
    uint64_t bytes; /* hashed so far */
    uint8_t block[64];
} wb__sha1;

void wb__sha1_start(wb__sha1 *hash);
void wb__sha1_add(wb__sha1 *hash, const void *bytes, size_t n);
void wb__sha1_finish(wb__sha1 *hash, uint8_t digest[WB__SHA1_BYTES]);

/* Starts the hash of a git blob of `size` bytes: SHA-1 of "blob SIZE\0" and the bytes. */
void wb__sha1_start_blob(wb__sha1 *hash, uint64_t size);

#endif
