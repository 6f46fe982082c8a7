/*
 * quant/mlx/bits.h: packs and unpacks codes of 1 to 8 bits in the bit stream of a group.
 *
 * Eight codes of b bits fill b bytes, and the size of every group is a multiple of eight codes.
 */
#ifndef WB_QUANT_MLX_BITS_H
#define WB_QUANT_MLX_BITS_H

#include <stddef.h>
#include <stdint.h>

static inline void wb__bits_unpack(const uint8_t *packed, unsigned bits, uint8_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i += 8, packed += bits) {
        uint64_t eight = 0;
        for (unsigned k = 0; k < bits; k++)
            eight |= (uint64_t)packed[k] << 8 * k;
        for (unsigned k = 0; k < 8; k++)
            codes[i + k] = (uint8_t)(eight >> bits * k & ((1u << bits) - 1));
    }
}

static inline void wb__bits_pack(const uint8_t *codes, unsigned bits, uint8_t *packed, size_t n)
{
    for (size_t i = 0; i < n; i += 8, packed += bits) {
        uint64_t eight = 0;
        for (unsigned k = 0; k < 8; k++)
            eight |= (uint64_t)codes[i + k] << bits * k;
        for (unsigned k = 0; k < bits; k++)
            packed[k] = (uint8_t)(eight >> 8 * k);
    }
}

#endif
