/*
 * formats/gguf/gguf_types.h: ggml's numbers for the types of tensors that are no wb_dtype any more.
 */
#ifndef WB_FORMATS_GGUF_TYPES_H
#define WB_FORMATS_GGUF_TYPES_H

#include <stdint.h>

/* The name and the fate of a type that ggml removed; NULL for other numbers. Static. */
const char *wb__gguf_removed_type(uint32_t number);

#endif
