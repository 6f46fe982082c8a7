/*
 * pull/content_hash.h: the digest of the bytes of a file, as its hub states it: SHA-256 (64
 * hexadecimal digits) if git LFS stores the file, else the git id of a blob (40 digits).
 */
#ifndef WB_PULL_CONTENT_HASH_H
#define WB_PULL_CONTENT_HASH_H

#include "crypto/sha1.h"
#include "crypto/sha256.h"

typedef struct wb__content_hash {
    bool is_sha256;
    wb__sha256 sha256;
    wb__sha1 sha1;
} wb__content_hash;

/* Starts the hash of a file of `size` bytes. `digest` is the digest that the hub states for the
 * file. Release with wb__content_hash_close, also after a failure. */
wb_status wb__content_hash_open(wb__content_hash *hash, wb__context *context, const char *digest,
                                uint64_t size);
void wb__content_hash_close(wb__content_hash *hash);
void wb__content_hash_add(wb__content_hash *hash, const void *bytes, size_t n);

/* Ends the hash. Returns true if the digest is `digest`. */
bool wb__content_hash_equals(wb__content_hash *hash, const char *digest);

/* Hashes the file with the descriptor fd. Sets *same to whether it has this size and digest.
 * `scratch` has `n` bytes. */
wb_status wb__content_hash_file(wb__context *context, int fd, const char *digest, uint64_t size,
                                uint8_t *scratch, size_t n, bool *same);

#endif
