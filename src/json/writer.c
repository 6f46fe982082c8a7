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

static void put_string(wb__json_writer *writer, wb__str text)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *in = (const unsigned char *)text.ptr;
    size_t plain = 0; /* index of the first byte not yet written */
    put(writer, "\"", 1);
    for (size_t i = 0; i < text.len;) {
        char escape[6] = {'\\', 'u', '0', '0', 0, 0};
        size_t escape_len = 0;
        unsigned length = wb__utf8_sequence(in + i, text.len - i);
        if (length == 0) {
            memcpy(escape, "\xEF\xBF\xBD", 3); /* U+FFFD */
            escape_len = 3;
            length = 1;
        } else if (in[i] == '"' || in[i] == '\\') {
            escape[1] = (char)in[i];
            escape_len = 2;
        } else if (in[i] < 0x20 || in[i] == 0x7F) {
            escape[4] = hex[in[i] >> 4];
            escape[5] = hex[in[i] & 15];
            escape_len = 6;
        }
        if (escape_len != 0) {
            put(writer, text.ptr + plain, i - plain);
            put(writer, escape, escape_len);
            plain = i + length;
        }
        i += length;
    }
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

void wb__json_write_double(wb__json_writer *writer, double value)
{
    char text[40];
    if (!isfinite(value)) {
        put_word(writer, "null");
        return;
    }
    /* Writes the fewest digits that read back as the same number. */
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ',')
            *c = '.'; /* some locales use a comma as the decimal point */
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
