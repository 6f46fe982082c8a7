/* CRC-32 as in zlib. Our worker and the peer report the checksum of their results; the checksums
 * must be equal. */
#ifndef WB_BENCH_CRC_H
#define WB_BENCH_CRC_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t bench_crc(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ at[i]) & 255];
    return ~crc;
}

#endif
