/* formats/gguf/gguf_types.h: numbers of tensor types that ggml has removed. */
#ifndef WB_FORMATS_GGUF_GGUF_TYPES_H
#define WB_FORMATS_GGUF_GGUF_TYPES_H

#include <stdint.h>

/* Returns name and removal note of a removed ggml type; NULL for other numbers. Static string. */
const char *wb__gguf_removed_type(uint32_t number);

#endif
