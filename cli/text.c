#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "weighbridge/experimental.h"

void *need_memory(void *old, size_t count, size_t size)
{
    void *memory =
        size > 0 && count > (SIZE_MAX - 1) / size ? NULL : realloc(old, count * size + 1);
    if (memory == NULL)
        die_of_memory();
    return memory;
}

void text_clear(text *t)
{
    t->len = 0;
    if (t->ptr != NULL)
        t->ptr[0] = '\0';
}

void text_free(text *t)
{
    free(t->ptr);
    *t = (text){NULL, 0, 0};
}

static char *text_room(text *t, size_t n)
{
    if (n >= SIZE_MAX / 2 - t->len)
        die_of_memory();
    if (t->len + n + 1 > t->capacity) {
        t->capacity = (t->len + n + 1) * 2;
        t->ptr = need_memory(t->ptr, t->capacity, 1);
    }
    return t->ptr + t->len;
}

void text_add(text *t, const char *bytes, size_t n)
{
    char *end = text_room(t, n);
    if (n > 0)
        memcpy(end, bytes, n);
    end[n] = '\0';
    t->len += n;
}

void text_adds(text *t, const char *string)
{
    text_add(t, string, strlen(string));
}

void text_addf(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (n <= 0)
        return;
    char *end = text_room(t, (size_t)n);
    va_start(list, format);
    (void)vsnprintf(end, (size_t)n + 1, format, list);
    va_end(list);
    t->len += (size_t)n;
}

/* ---- UTF-8 ---- */

/* Returns the length of the well-formed UTF-8 sequence at `s` and stores its code point. Returns 0
 * if the sequence is not well-formed.
 */
static unsigned utf8_sequence(const unsigned char *s, size_t n, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = s[0] < 0x80   ? 1
                      : s[0] < 0xC2 ? 0
                      : s[0] < 0xE0 ? 2
                      : s[0] < 0xF0 ? 3
                      : s[0] < 0xF5 ? 4
                                    : 0;
    if (length == 0 || length > n)
        return 0;
    *code = length == 1 ? s[0] : s[0] & (0xFFu >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    if (*code < smallest[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF))
        return 0;
    return length;
}

bool text_is_utf8(const char *bytes, size_t n)
{
    unsigned length = 1;
    uint32_t code;
    for (size_t i = 0; i < n && length != 0; i += length)
        length = utf8_sequence((const unsigned char *)bytes + i, n - i, &code);
    return length != 0;
}

static void add_printable(text *t, const char *bytes, size_t n, uint32_t flags)
{
    size_t shown = wb_text_printable(bytes, n, flags, NULL, 0);
    char *end = text_room(t, shown);
    (void)wb_text_printable(bytes, n, flags, end, shown + 1);
    t->len += shown;
}

void text_add_shown(text *t, const char *bytes, size_t n)
{
    add_printable(t, bytes, n, 0);
}

void text_add_message(text *t, const char *string)
{
    add_printable(t, string, strlen(string), WB_PRINTABLE_MESSAGE);
}

size_t text_width(const char *bytes, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        width += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return width;
}

size_t text_prefix(const char *bytes, size_t n, size_t width)
{
    size_t at = 0;
    for (; at < n; at++) {
        bool begins = ((unsigned char)bytes[at] & 0xC0) != 0x80;
        if (begins && width-- == 0)
            break;
    }
    return at;
}

bool text_ends_with(const char *string, const char *end)
{
    size_t n = strlen(string), m = strlen(end);
    return n > m && strcmp(string + n - m, end) == 0;
}

const char *text_last(const char *string, const char *part)
{
    const char *last = NULL;
    for (const char *p = string; (p = strstr(p, part)) != NULL; p++)
        last = p;
    return last;
}

/* ---- numbers ---- */

void text_add_count(text *t, uint64_t value)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text_add(t, ",", 1);
        text_add(t, digits + i, 1);
    }
}

void text_add_size(text *t, uint64_t bytes)
{
    static const char units[][4] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        text_addf(t, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
        return;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    text_addf(t, "%.1f %s", value, units[unit]);
}

void text_add_shape(text *t, const uint64_t *shape, size_t rank)
{
    text_add(t, "[", 1);
    for (size_t i = 0; i < rank; i++)
        text_addf(t, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)shape[i]);
    text_add(t, "]", 1);
}
