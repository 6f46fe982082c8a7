#include "crypto/sha256.h"

#include "cpu/cpu.h"
#include "crypto/libcrypto.h"

/* FIPS 180-4, 5.3.3: the initial hash value */
static const wb__sha256_state initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

wb_status wb__sha256_lane_open(wb__sha256_lane *lane, wb__context *context)
{
    *lane = (wb__sha256_lane){.kernel = wb__sha256_x86(wb__cpu_features())};
    if (lane->kernel == NULL) {
        wb_status status = wb__libcrypto_sha256_new(context, &lane->library);
        if (status != WB_OK)
            return status;
        lane->kernel =
            &wb__sha256_scalar; /* the portable kernel is used if libcrypto is not installed */
    }
    wb__sha256_lane_start(lane);
    return WB_OK;
}

void wb__sha256_lane_close(wb__sha256_lane *lane)
{
    wb__libcrypto_sha256_free(lane->library);
    lane->library = NULL;
}

void wb__sha256_lane_start(wb__sha256_lane *lane)
{
    memcpy(lane->state, initial, sizeof initial);
    lane->bytes = 0;
    lane->failed = false;
}

void wb__sha256_lane_add(wb__sha256_lane *lane, const uint8_t *blocks, size_t n)
{
    lane->bytes += (uint64_t)n * WB__SHA256_BLOCK;
    if (lane->library != NULL)
        lane->failed |= !wb__libcrypto_sha256_add(lane->library, blocks, n * WB__SHA256_BLOCK);
    else
        lane->kernel->one(lane->state, blocks, n);
}

void wb__sha256_lanes_add(wb__sha256_lane *a, const uint8_t *a_blocks, wb__sha256_lane *b,
                          const uint8_t *b_blocks, size_t n)
{
    if (a->library != NULL || b->library != NULL) {
        wb__sha256_lane_add(a, a_blocks, n);
        wb__sha256_lane_add(b, b_blocks, n);
        return;
    }
    a->bytes += (uint64_t)n * WB__SHA256_BLOCK;
    b->bytes += (uint64_t)n * WB__SHA256_BLOCK;
    a->kernel->two(a->state, a_blocks, b->state, b_blocks, n);
}

void wb__sha256_lane_finish(wb__sha256_lane *lane, const uint8_t *rest, size_t n,
                            uint8_t digest[WB__SHA256_BYTES])
{
    if (lane->library != NULL) {
        lane->failed |= !wb__libcrypto_sha256_add(lane->library, rest, n) ||
                        !wb__libcrypto_sha256_finish(lane->library, digest);
        return;
    }
    /* FIPS 180-4, 5.1.1: the padding is a 1 bit, then zeros. The last 8 bytes are the length of the
     * message, in bits. */
    uint8_t last[2 * WB__SHA256_BLOCK] = {0};
    size_t blocks = n + 9 <= WB__SHA256_BLOCK ? 1 : 2;
    uint64_t bits = (lane->bytes + n) * 8;
    if (n > 0)
        memcpy(last, rest, n);
    last[n] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[blocks * WB__SHA256_BLOCK - 1 - i] = (uint8_t)(bits >> 8 * i);
    lane->kernel->one(lane->state, last, blocks);
    for (size_t i = 0; i < 8; i++)
        wb__store_le32(digest + 4 * i, wb__swap32(lane->state[i]));
}

/* ---- messages ---- */

wb_status wb__sha256_open(wb__sha256 *hash, wb__context *context)
{
    hash->used = 0;
    return wb__sha256_lane_open(&hash->lane, context);
}

void wb__sha256_close(wb__sha256 *hash)
{
    wb__sha256_lane_close(&hash->lane);
}

void wb__sha256_add(wb__sha256 *hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        size_t some = WB__SHA256_BLOCK - hash->used < n ? WB__SHA256_BLOCK - hash->used : n;
        /* hash whole blocks directly from the caller's buffer */
        if (hash->used == 0 && n >= WB__SHA256_BLOCK) {
            some = n - n % WB__SHA256_BLOCK;
            wb__sha256_lane_add(&hash->lane, p, some / WB__SHA256_BLOCK);
        } else {
            memcpy(hash->block + hash->used, p, some);
            hash->used += some;
            if (hash->used == WB__SHA256_BLOCK) {
                wb__sha256_lane_add(&hash->lane, hash->block, 1);
                hash->used = 0;
            }
        }
        p += some;
        n -= some;
    }
}

bool wb__sha256_finish(wb__sha256 *hash, uint8_t digest[WB__SHA256_BYTES])
{
    wb__sha256_lane_finish(&hash->lane, hash->block, hash->used, digest);
    bool good = !hash->lane.failed;
    hash->used = 0;
    wb__sha256_lane_start(&hash->lane);
    return good;
}
