#define _POSIX_C_SOURCE 200809L
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put(wb__json_writer *writer, const char *text, size_t n)
{
    if (!writer->failed && n != 0 && !writer->write(writer->ctx, text, n))
        writer->failed = true;
}

static void before_value(wb__json_writer *writer)
{
    if (writer->after_value && !writer->after_key)
        put(writer, ",", 1);
    writer->after_key = false;
    writer->after_value = true;
}

/* Writes \uNNNN, or two of them for a code point above U+FFFF. Returns the number of bytes. */
static size_t put_escape(char *out, uint32_t c)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t units[2] = {c, 0};
    size_t n = 0;
    if (c > 0xFFFF) {
        units[0] = 0xD800 + ((c - 0x10000) >> 10);
        units[1] = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    for (size_t i = 0; i == 0 || (i == 1 && units[1] != 0); i++) {
        out[n++] = '\\';
        out[n++] = 'u';
        for (unsigned shift = 16; shift > 0; n++) {
            shift -= 4;
            out[n] = hex[units[i] >> shift & 15];
        }
    }
    return n;
}

/* Stores in `escape` the text that replaces a character of `length` bytes (0: malformed UTF-8), and
 * returns the length of this text. Returns 0 if the character is written unchanged. */
static size_t escape_of(const wb__json_writer *writer, const unsigned char *in, unsigned length,
                        char escape[12])
{
    if (length == 0) {
        memcpy(escape, "\xEF\xBF\xBD", 3); /* U+FFFD */
        return 3;
    }
    if (in[0] == '"' || in[0] == '\\') {
        escape[0] = '\\';
        escape[1] = (char)in[0];
        return 2;
    }
    bool stays = length == 1 || !writer->for_display
                     ? in[0] >= 0x20 && in[0] != 0x7F
                     : wb__is_printable(wb__utf8_decode(in, length));
    return stays ? 0 : put_escape(escape, wb__utf8_decode(in, length));
}

static void put_string(wb__json_writer *writer, wb__str text)
{
    const unsigned char *in = (const unsigned char *)text.ptr;
    size_t plain = 0; /* index of the first byte not yet written */
    put(writer, "\"", 1);
    for (size_t i = 0; i < text.len;) {
        char escape[12];
        unsigned length = wb__utf8_sequence(in + i, text.len - i);
        size_t n = escape_of(writer, in + i, length, escape);
        length = length == 0 ? 1 : length;
        if (n != 0) {
            put(writer, text.ptr + plain, i - plain);
            put(writer, escape, n);
            plain = i + length;
        }
        i += length;
    }
    if (plain < text.len) /* an empty text may have ptr NULL */
        put(writer, text.ptr + plain, text.len - plain);
    put(writer, "\"", 1);
}

void wb__json_write_begin(wb__json_writer *writer, char bracket)
{
    before_value(writer);
    put(writer, &bracket, 1);
    writer->after_value = false;
}

void wb__json_write_end(wb__json_writer *writer, char bracket)
{
    put(writer, &bracket, 1);
    writer->after_value = true;
    writer->after_key = false;
}

void wb__json_write_key_str(wb__json_writer *writer, wb__str key)
{
    before_value(writer);
    put_string(writer, key);
    put(writer, ":", 1);
    writer->after_key = true;
}

void wb__json_write_key(wb__json_writer *writer, const char *key)
{
    wb__json_write_key_str(writer, wb__str_from(key, SIZE_MAX));
}

void wb__json_write_str(wb__json_writer *writer, wb__str text)
{
    before_value(writer);
    put_string(writer, text);
}

static void put_word(wb__json_writer *writer, const char *word)
{
    before_value(writer);
    put(writer, word, strlen(word));
}

void wb__json_write_uint(wb__json_writer *writer, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put_word(writer, text);
}

void wb__json_write_int(wb__json_writer *writer, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    put_word(writer, text);
}

/* Writes the fewest digits that read back as the same number. */
static void write_shortest(double value, char *text, size_t capacity)
{
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, capacity, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ',')
            *c = '.'; /* some locales use a comma as the decimal point */
    }
}

void wb__json_write_double(wb__json_writer *writer, double value)
{
    char text[40] = "null";
    if (isfinite(value))
        write_shortest(value, text, sizeof text);
    put_word(writer, text);
}

void wb__json_write_real(wb__json_writer *writer, double value)
{
    char text[40 + sizeof ".0"] = "null";
    if (isfinite(value)) {
        write_shortest(value, text, 40);
        if (strpbrk(text, ".e") == NULL)
            (void)snprintf(text + strlen(text), sizeof ".0", ".0");
    }
    put_word(writer, text);
}

void wb__json_write_bool(wb__json_writer *writer, bool value)
{
    put_word(writer, value ? "true" : "false");
}

void wb__json_write_null(wb__json_writer *writer)
{
    put_word(writer, "null");
}
