/* formats/safetensors/fast_types.h: types shared by the fast parsers of all instruction sets. */
#ifndef WB_FORMATS_SAFETENSORS_FAST_TYPES_H
#define WB_FORMATS_SAFETENSORS_FAST_TYPES_H

#include "formats/safetensors/safetensors_reader.h"

#if defined(__GNUC__)
#define FAST_APART __attribute__((noinline))
#else
#define FAST_APART
#endif

/*
 * The last two distinct name lengths. up_to_first is the bit mask for which a length was computed:
 * one bit per byte, set up to and including the first quote or special byte (fast.h).
 */
typedef struct name_lengths {
    uint64_t up_to_first[2];
    unsigned length[2];
} name_lengths;

#endif
