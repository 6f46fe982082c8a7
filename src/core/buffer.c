#include "core/buffer.h"

uint8_t *wb__buffer_extend(wb__buffer *buffer, size_t n)
{
    if (wb__buffer_failed(buffer))
        return NULL;
    if (n > buffer->ceiling - buffer->n) {
        buffer->too_large = true;
        return NULL;
    }
    if (!wb__grow(buffer->allocator, (void **)&buffer->bytes, &buffer->capacity, 1, buffer->n + n,
                  buffer->ceiling)) {
        buffer->out_of_memory = true;
        return NULL;
    }
    uint8_t *at = buffer->bytes + buffer->n;
    buffer->n += n;
    return at;
}

void wb__buffer_add(wb__buffer *buffer, const void *bytes, size_t n)
{
    uint8_t *at = n == 0 ? NULL : wb__buffer_extend(buffer, n);
    if (at != NULL)
        memcpy(at, bytes, n);
}

void wb__buffer_fill(wb__buffer *buffer, int byte, size_t n)
{
    uint8_t *at = n == 0 ? NULL : wb__buffer_extend(buffer, n);
    if (at != NULL)
        memset(at, byte, n);
}

void wb__buffer_text(wb__buffer *buffer, const char *text)
{
    wb__buffer_add(buffer, text, strlen(text));
}

void wb__buffer_uint(wb__buffer *buffer, uint64_t value)
{
    char digits[20]; /* 2^64 - 1 has 20 digits */
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    wb__buffer_add(buffer, digits + at, sizeof digits - at);
}

void wb__buffer_free(wb__buffer *buffer)
{
    wb__free(buffer->allocator, buffer->bytes, buffer->capacity);
    buffer->bytes = NULL;
    buffer->n = buffer->capacity = 0;
}
