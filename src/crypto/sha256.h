/*
 * crypto/sha256.h: SHA-256 (FIPS 180-4), of two streams at a time or of one.
 *
 * One stream cannot use a processor: each round waits for the one before. Two streams side by side,
 * their rounds taking turns, take little more time than one. So a lane is a stream, and compressing
 * is done for a pair of them. The instructions for it are used where the processor has them;
 * elsewhere libcrypto does the work, and where that is missing, too, the code of
 * sha256.c that reads like the standard.
 */
#ifndef WB_DIGEST_SHA256_H
#define WB_DIGEST_SHA256_H

#include "core/core.h"

#define WB__SHA256_BYTES 32
#define WB__SHA256_BLOCK 64u

typedef uint32_t wb__sha256_state[8];

/* Compresses blocks of one message, and of two. */
typedef struct wb__sha256_kernel {
    void (*one)(wb__sha256_state state, const uint8_t *blocks, size_t n);
    void (*two)(wb__sha256_state a, const uint8_t *a_blocks, wb__sha256_state b,
                const uint8_t *b_blocks, size_t n);
} wb__sha256_kernel;

extern const wb__sha256_kernel wb__sha256_scalar;
extern const uint32_t wb__sha256_constants[64]; /* aligned for vectors of four */

/* NULL where this processor has no such instructions, or `features` leave them out. */
const wb__sha256_kernel *wb__sha256_x86(uint32_t features);

/* One message. */
typedef struct wb__sha256_lane {
    const wb__sha256_kernel *kernel;
    struct wb__libcrypto_sha256 *library; /* NULL: the kernel does it */
    wb__sha256_state state;
    uint64_t bytes; /* so far */
    bool failed;    /* which libcrypto says it can: the digest is none */
} wb__sha256_lane;

/* Sets up a lane; release with wb__sha256_lane_close, also after a failure. */
wb_status wb__sha256_lane_open(wb__sha256_lane *lane, wb__context *context);
void wb__sha256_lane_close(wb__sha256_lane *lane);

/* Begins a message. */
void wb__sha256_lane_start(wb__sha256_lane *lane);

/* Adds whole blocks. */
void wb__sha256_lane_add(wb__sha256_lane *lane, const uint8_t *blocks, size_t n);

/* Adds as many blocks to each of two lanes. */
void wb__sha256_lanes_add(wb__sha256_lane *a, const uint8_t *a_blocks, wb__sha256_lane *b,
                          const uint8_t *b_blocks, size_t n);

/* Ends the message with fewer bytes than a block, and gives its digest. */
void wb__sha256_lane_finish(wb__sha256_lane *lane, const uint8_t *rest, size_t n,
                            uint8_t digest[WB__SHA256_BYTES]);

/* One message after the other, given in pieces of any length. */
typedef struct wb__sha256 {
    wb__sha256_lane lane;
    uint8_t block[WB__SHA256_BLOCK];
    size_t used; /* bytes of the block */
} wb__sha256;

/* MEMORY is the only failure; release with wb__sha256_close, also after it. */
wb_status wb__sha256_open(wb__sha256 *hash, wb__context *context);
void wb__sha256_close(wb__sha256 *hash);
void wb__sha256_add(wb__sha256 *hash, const void *bytes, size_t n);

/* Gives the digest and begins the next message. False if libcrypto failed. */
bool wb__sha256_finish(wb__sha256 *hash, uint8_t digest[WB__SHA256_BYTES]);

#endif
