#include "pull/piece_sum.h"

#include <string.h>

#include "core/endian.h"

#define P1 UINT64_C(11400714785074694791)
#define P2 UINT64_C(14029467366897019727)
#define P3 UINT64_C(1609587929392839161)
#define P4 UINT64_C(9650029242287828579)
#define P5 UINT64_C(2870177450012600261)

#define STRIPE ((size_t)32)

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * P2, 31) * P1;
}

void wb__piece_sum_start(wb__piece_sum *sum)
{
    *sum = (wb__piece_sum){.lane = {P1 + P2, P2, 0, 0 - P1}};
}

static void add_stripes(uint64_t lane[4], const uint8_t *p, size_t stripes)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (size_t i = 0; i < stripes; i++, p += STRIPE) {
        a = mix(a, wb__load_le64(p));
        b = mix(b, wb__load_le64(p + 8));
        c = mix(c, wb__load_le64(p + 16));
        d = mix(d, wb__load_le64(p + 24));
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = d;
}

void wb__piece_sum_add(wb__piece_sum *sum, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    sum->bytes += n;
    if (sum->used > 0) {
        size_t free = STRIPE - sum->used, taken = n < free ? n : free;
        memcpy(sum->rest + sum->used, p, taken);
        sum->used += taken;
        p += taken;
        n -= taken;
        if (sum->used < STRIPE)
            return;
        add_stripes(sum->lane, sum->rest, 1);
        sum->used = 0;
    }
    add_stripes(sum->lane, p, n / STRIPE);
    sum->used = n % STRIPE;
    memcpy(sum->rest, p + (n - sum->used), sum->used);
}

static uint64_t join_lanes(const uint64_t lane[4])
{
    uint64_t h =
        rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
    for (int i = 0; i < 4; i++)
        h = (h ^ mix(0, lane[i])) * P1 + P4;
    return h;
}

uint64_t wb__piece_sum_finish(const wb__piece_sum *sum)
{
    const uint8_t *p = sum->rest, *end = sum->rest + sum->used;
    uint64_t h = sum->bytes >= STRIPE ? join_lanes(sum->lane) : P5;
    h += sum->bytes;
    for (; end - p >= 8; p += 8)
        h = rotate(h ^ mix(0, wb__load_le64(p)), 27) * P1 + P4;
    if (end - p >= 4) {
        h = rotate(h ^ wb__load_le32(p) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t wb__piece_sum_of(const void *bytes, size_t n)
{
    wb__piece_sum sum;
    wb__piece_sum_start(&sum);
    wb__piece_sum_add(&sum, bytes, n);
    return wb__piece_sum_finish(&sum);
}
