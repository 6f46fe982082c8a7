/*
 * core/endian.h: unaligned loads and stores of little-endian integers, and byte swaps.
 *
 * Every supported compiler turns each load and store into a single instruction. These functions do
 * not check bounds; readers use core/cursor.h.
 */
#ifndef WB_CORE_ENDIAN_H
#define WB_CORE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if defined(__FRAMAC__) /* the proofs verify the portable version with shifts */
#define WB__LITTLE_ENDIAN 0
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WB__LITTLE_ENDIAN 1
#else
#define WB__LITTLE_ENDIAN 0
#endif

/* On little-endian machines, the loads and stores below use memcpy, because gcc 12 compiles loops
 * of the equivalent shifts to code that runs at a third of the speed. */
/*@ requires \valid_read((const uint8_t *)bytes + (0 .. 1));
    assigns \nothing; */
static inline uint16_t wb__load_le16(const void *bytes)
{
#if WB__LITTLE_ENDIAN
    uint16_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
#else
    const uint8_t *b = bytes;
    return (uint16_t)(b[0] | b[1] << 8);
#endif
}

/*@ requires \valid_read((const uint8_t *)bytes + (0 .. 3));
    assigns \nothing; */
static inline uint32_t wb__load_le32(const void *bytes)
{
#if WB__LITTLE_ENDIAN
    uint32_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
#else
    const uint8_t *b = bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
#endif
}

/*@ requires \valid_read((const uint8_t *)bytes + (0 .. 7));
    assigns \nothing; */
static inline uint64_t wb__load_le64(const void *bytes)
{
#if WB__LITTLE_ENDIAN
    uint64_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
#else
    const uint8_t *b = bytes;
    return wb__load_le32(b) | (uint64_t)wb__load_le32(b + 4) << 32;
#endif
}

static inline uint16_t wb__swap16(uint16_t v)
{
    return (uint16_t)(v << 8 | v >> 8);
}

static inline uint32_t wb__swap32(uint32_t v)
{
    return v << 24 | (v << 8 & 0xFF0000) | (v >> 8 & 0xFF00) | v >> 24;
}

static inline uint64_t wb__swap64(uint64_t v)
{
    return (uint64_t)wb__swap32((uint32_t)v) << 32 | wb__swap32((uint32_t)(v >> 32));
}

static inline void wb__store_le16(void *bytes, uint16_t v)
{
#if WB__LITTLE_ENDIAN
    memcpy(bytes, &v, sizeof v);
#else
    uint8_t *b = bytes;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
#endif
}

static inline void wb__store_le32(void *bytes, uint32_t v)
{
#if WB__LITTLE_ENDIAN
    memcpy(bytes, &v, sizeof v);
#else
    uint8_t *b = bytes;
    wb__store_le16(b, (uint16_t)v);
    wb__store_le16(b + 2, (uint16_t)(v >> 16));
#endif
}

static inline void wb__store_le64(void *bytes, uint64_t v)
{
#if WB__LITTLE_ENDIAN
    memcpy(bytes, &v, sizeof v);
#else
    uint8_t *b = bytes;
    wb__store_le32(b, (uint32_t)v);
    wb__store_le32(b + 4, (uint32_t)(v >> 32));
#endif
}

#endif
