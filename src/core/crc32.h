/*
 * core/crc32.h: the checksum of zip, gzip and PNG: CRC-32, polynomial 0x04C11DB7, bits reversed.
 *
 * A user makes the tables, 8 KiB, where it works: they take a few microseconds, and the library keeps
 * no state between calls. Eight bytes are looked up at a time ("slicing by 8", Kounavis and Berry,
 * 2005): entry [k][b] is what a byte b does to the remainder when k bytes follow it.
 */
#ifndef WB_CORE_CRC32_H
#define WB_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

typedef struct wb__crc32 {
    uint32_t table[8][256];
} wb__crc32;

void wb__crc32_init(wb__crc32 *crc32);

/* The checksum of what `crc` is the checksum of (0: nothing) and the n bytes behind it. */
uint32_t wb__crc32_add(const wb__crc32 *crc32, uint32_t crc, const void *bytes, size_t n);

#endif
