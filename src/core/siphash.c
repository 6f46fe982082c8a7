#define _GNU_SOURCE /* for getrandom */
#include "core/siphash.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/endian.h"

wb__hash_key wb__hash_key_draw(void)
{
    wb__hash_key key;
    if (getrandom(&key, sizeof key, GRND_NONBLOCK) == (ssize_t)sizeof key)
        return key;
    /* getrandom fails early during boot, or if a seccomp filter blocks it. Fall back to values that
     * are unknown outside the process: the monotonic clock, a stack address and the process ID. */
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    key.word[0] = (uint64_t)now.tv_nsec * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)now.tv_sec;
    key.word[1] = (uint64_t)(uintptr_t)&key * UINT64_C(0xD6E8FEB86659FD93) ^ (uint64_t)getpid();
    return key;
}

static uint64_t rotate_left(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

typedef struct sip_state {
    uint64_t v0, v1, v2, v3;
} sip_state;

static inline void sip_round(sip_state *s)
{
    s->v0 += s->v1;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void sip_absorb(sip_state *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

uint64_t wb__siphash(const wb__hash_key *key, const void *data, size_t len)
{
    const uint8_t *in = data;
    sip_state s = {
        key->word[0] ^ UINT64_C(0x736f6d6570736575),
        key->word[1] ^ UINT64_C(0x646f72616e646f6d),
        key->word[0] ^ UINT64_C(0x6c7967656e657261),
        key->word[1] ^ UINT64_C(0x7465646279746573),
    };
    size_t whole = len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        sip_absorb(&s, wb__load_le64(in + i));
    uint64_t last = (uint64_t)(len & 0xFF) << 56;
    for (size_t i = 0; i < len - whole; i++)
        last |= (uint64_t)in[whole + i] << 8 * i;
    sip_absorb(&s, last);
    s.v2 ^= 0xFF;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
