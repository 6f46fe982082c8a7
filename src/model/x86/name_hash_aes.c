#include "model/x86/name_hash_aes.h"

#if WB__X86

__attribute__((target("aes,sse4.1"))) uint32_t wb__name_hash_aes(const wb__name_hasher *hasher,
                                                                 const char *name, size_t len)
{
    wb__aes_lanes s = wb__aes_begin(hasher);
    size_t at = 0;
    do {
        uint8_t block[64] = {0};
        size_t n = len - at < sizeof block ? len - at : sizeof block;
        if (n != 0)
            memcpy(block, name + at, n);
        s = wb__aes_absorb(hasher, s, block);
        at += n;
    } while (at < len);
    return wb__aes_finish(hasher, s, len);
}

#endif
