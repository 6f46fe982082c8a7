/*
 * crypto/sha256.h: SHA-256 (FIPS 180-4) of one message, or of two messages at a time.
 *
 * A lane is the state of one message that is being hashed. A single lane cannot keep the processor
 * busy, because each round depends on the one before. Two lanes with interleaved rounds take little
 * more time than one, so the kernels can compress the blocks of two lanes together. The kernel uses
 * SHA instructions if the processor has them. Otherwise libcrypto hashes; if libcrypto is not
 * installed, the portable code in sha256.c does.
 */
#ifndef WB_CRYPTO_SHA256_H
#define WB_CRYPTO_SHA256_H

#include "core/core.h"

#define WB__SHA256_BYTES 32
#define WB__SHA256_BLOCK 64u

typedef uint32_t wb__sha256_state[8];

/* Compresses n blocks of one message (`one`), or n blocks of each of two messages (`two`). */
typedef struct wb__sha256_kernel {
    void (*one)(wb__sha256_state state, const uint8_t *blocks, size_t n);
    void (*two)(wb__sha256_state a, const uint8_t *a_blocks, wb__sha256_state b,
                const uint8_t *b_blocks, size_t n);
} wb__sha256_kernel;

extern const wb__sha256_kernel wb__sha256_scalar;
extern const uint32_t wb__sha256_constants[64]; /* aligned to 16 bytes, for vectors of four words */

/* Returns NULL if the processor has no SHA instructions, or `features` excludes them. */
const wb__sha256_kernel *wb__sha256_x86(uint32_t features);

/* The state of one message. */
typedef struct wb__sha256_lane {
    const wb__sha256_kernel *kernel;
    struct wb__libcrypto_sha256 *library; /* if not NULL, libcrypto hashes and `kernel` is unused */
    wb__sha256_state state;
    uint64_t bytes; /* bytes added so far */
    bool failed;    /* libcrypto reported an error; there is no valid digest */
} wb__sha256_lane;

/* Sets up a lane. Release it with wb__sha256_lane_close, also after a failure. */
wb_status wb__sha256_lane_open(wb__sha256_lane *lane, wb__context *context);
void wb__sha256_lane_close(wb__sha256_lane *lane);

/* Starts a new message. */
void wb__sha256_lane_start(wb__sha256_lane *lane);

/* Adds n whole blocks. */
void wb__sha256_lane_add(wb__sha256_lane *lane, const uint8_t *blocks, size_t n);

/* Adds n blocks to each of two lanes. */
void wb__sha256_lanes_add(wb__sha256_lane *a, const uint8_t *a_blocks, wb__sha256_lane *b,
                          const uint8_t *b_blocks, size_t n);

/* Ends the message with its last n bytes, n < WB__SHA256_BLOCK, and stores its digest. */
void wb__sha256_lane_finish(wb__sha256_lane *lane, const uint8_t *rest, size_t n,
                            uint8_t digest[WB__SHA256_BYTES]);

/* Hashes messages one after the other; each is added in pieces of any length. */
typedef struct wb__sha256 {
    wb__sha256_lane lane;
    uint8_t block[WB__SHA256_BLOCK];
    size_t used; /* number of bytes in `block` */
} wb__sha256;

/* Initializes a hash. Fails only with WB_ERROR_MEMORY. The caller must call wb__sha256_close, also
 * after a failure. */
wb_status wb__sha256_open(wb__sha256 *hash, wb__context *context);
void wb__sha256_close(wb__sha256 *hash);
void wb__sha256_add(wb__sha256 *hash, const void *bytes, size_t n);

/* Stores the digest and starts the next message. Returns false if libcrypto failed. */
bool wb__sha256_finish(wb__sha256 *hash, uint8_t digest[WB__SHA256_BYTES]);

#endif
