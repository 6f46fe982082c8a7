/* formats/gguf/gguf_types.h: numbers of tensor types that ggml has removed. */
#ifndef WB_FORMATS_GGUF_GGUF_TYPES_H
#define WB_FORMATS_GGUF_GGUF_TYPES_H

#include <stdint.h>

/* Returns a static string with the name and the removal note of a removed ggml type, or NULL for
 * other numbers. */
const char *wb__gguf_removed_type(uint32_t number);

#endif
