#include "dtype/dtype.h"

#define WB__DTYPE(name, number, block_size, block_bits, class, exponent, mantissa, bias, text)     \
    [number] = {#name,    text,     number, block_size, block_bits, WB__CLASS_##class,             \
                exponent, mantissa, bias},
static const wb__dtype dtypes[] = {
#include "dtype/dtypes.def"
};
#undef WB__DTYPE

/*
 * Checks each row of dtypes.def: its number equals the one in the public enum; a block occupies
 * whole bytes, unless it is a single element; the sign, exponent and mantissa bits of a float add
 * up to its size.
 */
#define WB__DTYPE(name, number, block_size, block_bits, class, exponent, mantissa, bias, text)     \
    _Static_assert(WB_DTYPE_##name == (number), #name);                                            \
    _Static_assert((block_size) >= 1 && ((block_bits) % 8 == 0 || (block_size) == 1), #name);      \
    _Static_assert(WB__CLASS_##class < WB__CLASS_IEEE || WB__CLASS_##class == WB__CLASS_SCALE ||   \
                       1 + (exponent) + (mantissa) == (block_bits),                                \
                   #name);
#include "dtype/dtypes.def"
#undef WB__DTYPE

#define COUNT ((int32_t)(sizeof dtypes / sizeof dtypes[0]))

const wb__dtype *wb__dtype_get(int32_t id)
{
    if (id < 0 || id >= COUNT || dtypes[id].name == NULL)
        return NULL;
    return &dtypes[id];
}

static const wb__dtype *find(wb__str name, bool (*equal)(wb__str, wb__str))
{
    for (int32_t id = 0; id < COUNT; id++) {
        if (dtypes[id].name != NULL && equal(name, wb__str_from(dtypes[id].name, SIZE_MAX)))
            return &dtypes[id];
    }
    return NULL;
}

const wb__dtype *wb__dtype_named(wb__str name)
{
    return find(name, wb__str_equal);
}

const wb__dtype *wb__dtype_named_nocase(wb__str name)
{
    return find(name, wb__str_equal_nocase);
}
