/*
 * core/crc32.h: CRC-32 as in zip, gzip and PNG: polynomial 0x04C11DB7, bits reversed.
 *
 * The caller computes the tables (8 KiB) with wb__crc32_init, which takes a few microseconds. The
 * library thus keeps no state between calls. The code processes eight bytes at a time ("slicing by
 * 8", Kounavis and Berry, 2005): table entry [k][b] is the contribution of a byte b to the
 * remainder if k bytes follow that byte.
 */
#ifndef WB_CORE_CRC32_H
#define WB_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

typedef struct wb__crc32 {
    uint32_t table[8][256];
} wb__crc32;

void wb__crc32_init(wb__crc32 *crc32);

/*
 * Returns the checksum of earlier data extended by n bytes. `crc` is the checksum of the earlier
 * data, 0 if there is none.
 */
uint32_t wb__crc32_add(const wb__crc32 *crc32, uint32_t crc, const void *bytes, size_t n);

#endif
