#include "model/name_hash.h"

static uint32_t hash_sip(const wb__name_hasher *hasher, const char *name, size_t len)
{
    return (uint32_t)wb__siphash(&hasher->key, name, len);
}

void wb__name_hasher_draw(wb__name_hasher *hasher, uint32_t cpu_features)
{
    hasher->key = wb__hash_key_draw();
    hasher->hash = hash_sip;
#if WB__X86
    if (cpu_features & WB__CPU_AES) {
        uint8_t *out = &hasher->round_keys[0][0];
        for (uint64_t i = 0; i < sizeof hasher->round_keys / 8; i++)
            wb__store_le64(out + 8 * i, wb__siphash(&hasher->key, &i, sizeof i));
        hasher->hash = wb__name_hash_aes;
    }
#else
    (void)cpu_features;
#endif
}
