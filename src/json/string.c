/*
 * Reads strings. The parser first scans a run: ASCII bytes that need no decoding. If the closing
 * quote ends the run, the string is returned in place. Otherwise the string is assembled in the
 * scratch buffer from runs, decoded escapes and other UTF-8 sequences, also across the end of the
 * cursor's window.
 */
#include "json/json.h"

/*
 * Returns a word in which the high bit of a byte is set if the byte ends a run of plain ASCII:
 * the quote, the backslash, control characters and bytes above 0x7F. Bits above the first match may
 * be set falsely, never bits below it, because the borrow of the subtraction moves upwards.
 */
static uint64_t special_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    uint64_t quote = word ^ ones * '"';
    uint64_t backslash = word ^ ones * '\\';
    return ((word - ones * 0x20) | (quote - ones) | (backslash - ones) | word) & highs;
}

/* Returns the number of bytes from p on before the first quote, backslash, control character or
 * byte above 0x7F. */
static size_t plain_run(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    while (end - p >= 8) {
        uint64_t special = special_bytes(wb__load_le64(p));
        if (special != 0)
            return (size_t)(p - start) + (unsigned)__builtin_ctzll(special) / 8;
        p += 8;
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return (size_t)(p - start);
}

static bool keep(wb__json *json, const void *bytes, size_t n)
{
    if (n > json->max_string - json->scratch_len)
        return wb__json_fail(json, WB__JSON_FAULT_STRING_LENGTH, json->at);
    if (json->discard || n == 0)
        return true;
    if (!wb__grow(&json->allocator, (void **)&json->scratch, &json->scratch_capacity, 1,
                  json->scratch_len + n, json->max_string))
        return wb__json_fail(json, WB__JSON_FAULT_MEMORY, json->at);
    memcpy(json->scratch + json->scratch_len, bytes, n);
    json->scratch_len += n;
    return true;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Reads the four digits of a \u escape, starting at the cursor. */
static bool read_hex4(wb__json *json, uint64_t escape_at, uint32_t *unit)
{
    wb__cursor *cursor = json->cursor;
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int c = wb__cursor_peek(cursor);
        if (c < 0)
            return wb__json_fail_at_end(json);
        int digit = hex_digit((uint8_t)c);
        if (digit < 0)
            return wb__json_fail(json, WB__JSON_FAULT_ESCAPE, escape_at);
        *unit = *unit << 4 | (uint32_t)digit;
        cursor->p++;
    }
    return true;
}

static bool is_high_surrogate(uint32_t unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low_surrogate(uint32_t unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

static bool read_unicode_escape(wb__json *json, uint64_t at)
{
    uint32_t unit;
    if (!read_hex4(json, at, &unit))
        return false;
    if (is_low_surrogate(unit))
        return wb__json_fail(json, WB__JSON_FAULT_SURROGATE, at);
    if (is_high_surrogate(unit)) {
        uint32_t low;
        if (wb__cursor_peek(json->cursor) != '\\')
            return wb__json_fail(json, WB__JSON_FAULT_SURROGATE, at);
        json->cursor->p++;
        if (wb__cursor_peek(json->cursor) != 'u')
            return wb__json_fail(json, WB__JSON_FAULT_SURROGATE, at);
        json->cursor->p++;
        if (!read_hex4(json, wb__cursor_at(json->cursor) - 2, &low))
            return false;
        if (!is_low_surrogate(low))
            return wb__json_fail(json, WB__JSON_FAULT_SURROGATE, at);
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    unsigned char utf8[4];
    return keep(json, utf8, wb__utf8_encode(unit, utf8));
}

static bool read_escape(wb__json *json)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    uint64_t at = wb__cursor_at(json->cursor);
    json->cursor->p++;
    int c = wb__cursor_peek(json->cursor);
    if (c < 0)
        return wb__json_fail_at_end(json);
    if (c == 'u') {
        json->cursor->p++;
        return read_unicode_escape(json, at);
    }
    const char *letter = c == 0 ? NULL : strchr(letters, c);
    if (letter == NULL)
        return wb__json_fail(json, WB__JSON_FAULT_ESCAPE, at);
    json->cursor->p++;
    return keep(json, &meanings[letter - letters], 1);
}

/* Reads a UTF-8 sequence of two to four bytes, which may be split by the end of the window. */
static bool read_multibyte(wb__json *json)
{
    wb__cursor *cursor = json->cursor;
    for (size_t need = 2; need <= 4 && wb__cursor_left(cursor) >= need; need++) {
        if (!wb__cursor_want(cursor, need))
            return wb__json_fail_at_end(json);
        unsigned length = wb__utf8_sequence(cursor->p, need);
        if (length != 0) {
            bool kept = keep(json, cursor->p, length);
            cursor->p += length;
            return kept;
        }
    }
    return wb__json_fail(json, WB__JSON_FAULT_UTF8, wb__cursor_at(cursor));
}

bool wb__json_read_string(wb__json *json)
{
    wb__cursor *cursor = json->cursor;
    json->scratch_len = 0;
    cursor->p++;

    size_t run = plain_run(cursor->p, cursor->end);
    if (run < wb__cursor_at_hand(cursor) && cursor->p[run] == '"') {
        if (run > json->max_string)
            return wb__json_fail(json, WB__JSON_FAULT_STRING_LENGTH, json->at);
        json->text = (wb__str){(const char *)cursor->p, json->discard ? 0 : run};
        cursor->p += run + 1;
        return true;
    }
    for (;;) {
        if (!keep(json, cursor->p, run))
            return false;
        cursor->p += run;
        int c = wb__cursor_peek(cursor);
        if (c < 0)
            return wb__json_fail_at_end(json);
        if (c == '"')
            break;
        if (c == '\\') {
            if (!read_escape(json))
                return false;
        } else if (c >= 0x80) {
            if (!read_multibyte(json))
                return false;
        } else if (c < 0x20) {
            return wb__json_fail(json, WB__JSON_FAULT_CONTROL, wb__cursor_at(cursor));
        }
        run = plain_run(cursor->p, cursor->end);
    }
    cursor->p++;
    json->text = (wb__str){json->scratch_len == 0 ? "" : json->scratch, json->scratch_len};
    return true;
}
