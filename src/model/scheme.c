/*
 * The quantization schemes: names, bits per value, group sizes.
 */
#include "model/packed.h"

typedef struct scheme_row {
    const char *name;
    uint32_t bits;
    uint32_t group;
} scheme_row;

static const scheme_row schemes[] = {
#define WB__SCHEME(NAME, name, bits, group) {name, bits, group},
#include "model/encoding.def"
#include "weighbridge/dtypes.h"
#undef WB__SCHEME
};

const char *wb__scheme_name(wb__scheme scheme)
{
    return schemes[scheme].name;
}

uint32_t wb__scheme_bits(wb__scheme scheme)
{
    return schemes[scheme].bits;
}

uint32_t wb__scheme_group(wb__scheme scheme)
{
    return schemes[scheme].group;
}
