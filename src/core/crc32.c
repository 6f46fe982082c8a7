#include "core/crc32.h"

#include "core/endian.h"

#define POLYNOMIAL UINT32_C(0xEDB88320) /* the polynomial with its bits reversed */

void wb__crc32_init(wb__crc32 *crc32)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t remainder = b;
        for (int bit = 0; bit < 8; bit++)
            remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? POLYNOMIAL : 0);
        crc32->table[0][b] = remainder;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t before = crc32->table[k - 1][b];
            crc32->table[k][b] = before >> 8 ^ crc32->table[0][before & 0xFF];
        }
    }
}

uint32_t wb__crc32_add(const wb__crc32 *crc32, uint32_t crc, const void *bytes, size_t n)
{
    const uint32_t(*t)[256] = crc32->table;
    const uint8_t *p = bytes;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = wb__load_le32(p) ^ crc;
        uint32_t high = wb__load_le32(p + 4);
        crc = t[7][low & 0xFF] ^ t[6][low >> 8 & 0xFF] ^ t[5][low >> 16 & 0xFF] ^ t[4][low >> 24] ^
              t[3][high & 0xFF] ^ t[2][high >> 8 & 0xFF] ^ t[1][high >> 16 & 0xFF] ^
              t[0][high >> 24];
    }
    for (; n > 0; n--, p++)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xFF];
    return ~crc;
}
