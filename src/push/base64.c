#include "push/base64.h"

void wb__base64_add(wb__buffer *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? bytes[i + 2] : 0;
        uint8_t *to = wb__buffer_extend(out, 4);
        if (to == NULL)
            return;
        to[0] = (uint8_t)digits[group >> 18];
        to[1] = (uint8_t)digits[group >> 12 & 63];
        to[2] = left > 1 ? (uint8_t)digits[group >> 6 & 63] : '=';
        to[3] = left > 2 ? (uint8_t)digits[group & 63] : '=';
    }
}
