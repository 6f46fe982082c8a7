/* formats/safetensors/fast_types.h: what the fast readers' parts for each instruction set share. */
#ifndef WB_FORMATS_SAFETENSORS_FAST_TYPES_H
#define WB_FORMATS_SAFETENSORS_FAST_TYPES_H

#include "formats/safetensors/safetensors_reader.h"

#if defined(__GNUC__)
#define FAST_APART __attribute__((noinline))
#else
#define FAST_APART
#endif

/* The lengths of the last two different names, and a mask of the bits up to and with each. */
typedef struct name_lengths {
    uint64_t up_to_first[2];
    unsigned length[2];
} name_lengths;

#endif
