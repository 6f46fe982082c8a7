/*
 * model/name_hash.h: the keyed hash of tensor names.
 *
 * Each model draws a random key and selects the fastest function of the processor; both remain
 * fixed. Hash values never leave the process, so different machines may compute different values.
 *
 * The AES version processes 64 bytes at a time as four lanes of 16 bytes. round(x, k) is one round
 * of AES encryption (aesenc) in each lane. With the secret round keys k0, k1, k2:
 *     s = k0;  for each block b, the last one padded with zeros:  s = round(round(s ^ b, k1), k2)
 *     x = s.lane0 ^ s.lane1 ^ s.lane2 ^ s.lane3 ^ length;  hash = low 32 bits of
 *     round(round(x, k0.lane0), k1.lane0)
 * The idea of hashing with keyed AES rounds comes from the Go runtime and aHash.
 */
#ifndef WB_MODEL_NAME_HASH_H
#define WB_MODEL_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "cpu/cpu.h"

typedef struct wb__name_hasher wb__name_hasher;

struct wb__name_hasher {
    uint8_t round_keys[3][64];
    wb__hash_key key;
    uint32_t (*hash)(const wb__name_hasher *hasher, const char *name, size_t len);
};

void wb__name_hasher_draw(wb__name_hasher *hasher, uint32_t cpu_features);

#if WB__X86
uint32_t wb__name_hash_aes(const wb__name_hasher *hasher, const char *name, size_t len);
#endif

#endif
