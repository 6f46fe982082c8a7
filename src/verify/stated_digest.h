/*
 * verify/stated_digest.h: digests that the bytes of a file must have.
 *
 *     the provider of the file states one          wb_source.digest
 *     blob of an Ollama store                      sha256-HEX in the name of the file
 *     file in the cache of a hub, or its blob      blobs/HEX, also as the target of a link
 *
 * 64 hexadecimal digits are a SHA-256, 40 are the SHA-1 of a git blob: of "blob SIZE\0" and the
 * bytes.
 */
#ifndef WB_VERIFY_STATED_DIGEST_H
#define WB_VERIFY_STATED_DIGEST_H

#include "crypto/sha1.h"
#include "crypto/sha256.h"
#include "io/io.h"

typedef struct wb__stated_digest {
    size_t n; /* bytes: WB__SHA256_BYTES or WB__SHA1_BYTES */
    uint8_t bytes[WB__SHA256_BYTES];
    wb_severity severity; /* of a difference */
    wb__finding_id finding;
    const char *message;
} wb__stated_digest;

/* Sets *digest to the digest that the file must have, from one of the places listed above. Returns
 * false if none of them has a digest. */
bool wb__digest_stated(const wb__source *source, wb__stated_digest *digest);

#endif
