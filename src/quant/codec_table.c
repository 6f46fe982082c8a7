/*
 * The table of all kernel sets: first the scalar ones, then the vectorized ones, from the narrowest
 * to the widest vectors. To add a set, add a line to kernel_sets.def.
 */
#include "cpu/cpu.h"
#include "quant/quant.h"

#define WB__KERNEL_SET(name) extern const wb__kernel_set wb__kernels_##name;
#include "quant/kernel_sets.def"
#undef WB__KERNEL_SET

static const wb__kernel_set *const sets[] = {
#define WB__KERNEL_SET(name) &wb__kernels_##name,
#include "quant/kernel_sets.def"
#undef WB__KERNEL_SET
};

static const wb__kernel *find(const wb__kernel_set *set, int32_t dtype)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->kernels[i].dtype == dtype)
            return &set->kernels[i];
    }
    return NULL;
}

bool wb__codec_get(int32_t dtype, uint32_t features, wb__codec *codec)
{
    memset(codec, 0, sizeof *codec);
    codec->dtype = wb__dtype_get(dtype);
    if (codec->dtype == NULL)
        return false;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const wb__kernel_set *set = sets[i];
        if ((set->features & ~features) != 0)
            continue;
        const wb__kernel *kernel = find(set, dtype);
        if (kernel == NULL || set->contracted())
            continue;
        if (set->features == 0)
            codec->importance = kernel->importance;
        if (kernel->decode != NULL)
            codec->decode = kernel->decode;
        if (kernel->encode != NULL)
            codec->encode = kernel->encode;
    }
    return codec->decode != NULL;
}
