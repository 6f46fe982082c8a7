/* push/base64.h: Base64 (RFC 4648, 4). */
#ifndef WB_PUSH_BASE64_H
#define WB_PUSH_BASE64_H

#include "core/buffer.h"

/* Appends n bytes in Base64, with padding. */
void wb__base64_add(wb__buffer *out, const uint8_t *bytes, size_t n);

#endif
