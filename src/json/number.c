/*
 * Reads numbers by the grammar of RFC 8259, section 6. The digits are stored as a wb__decimal and
 * are converted to a double only on request: most callers need integers, or only need to know that
 * the token is a number.
 */
#include "json/json.h"

/*
 * Further digits of an exponent that has reached this value are ignored: the number is zero or too
 * large for a double anyway.
 */
#define EXPONENT_BOUND INT64_C(1000000000000)

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(wb__decimal *decimal, int digit)
{
    if (decimal->count == 0 && digit == 0)
        return; /* leading zeros are not stored */
    if (decimal->count < WB__JSON_DIGITS)
        decimal->digits[decimal->count++] = (uint8_t)digit;
    else
        decimal->more |= digit != 0;
}

static bool fail_number(wb__json *json)
{
    if (wb__cursor_peek(json->cursor) < 0)
        return wb__json_fail_at_end(json);
    return wb__json_fail(json, WB__JSON_FAULT_NUMBER, json->at);
}

bool wb__json_read_number(wb__json *json)
{
    wb__cursor *cursor = json->cursor;
    wb__decimal *decimal = &json->decimal;
    decimal->count = 0;
    decimal->more = false;
    decimal->negative = false;
    decimal->exponent = 0;
    json->special = 0;

    int c = wb__cursor_peek(cursor);
    if (c == '-') {
        decimal->negative = true;
        cursor->p++;
        c = wb__cursor_peek(cursor);
        if (c == 'I' && json->nonfinite)
            return wb__json_read_nonfinite(json, true) == WB__JSON_REAL;
    }
    if (!is_digit(c))
        return fail_number(json);

    /* The integer part. `decimal` is a number 0.d1 d2 … · 10^exponent, so each significant digit
     * increases the exponent by one. */
    uint64_t value = 0;
    bool fits = true;
    bool starts_with_zero = c == '0';
    size_t length = 0;
    for (; is_digit(c); c = wb__cursor_peek(cursor)) {
        uint64_t digit = (uint64_t)(c - '0');
        if (length == 1 && starts_with_zero)
            return fail_number(json);
        fits = fits &&
               (value < UINT64_MAX / 10 || (value == UINT64_MAX / 10 && digit <= UINT64_MAX % 10));
        value = value * 10 + digit;
        add_digit(decimal, c - '0');
        decimal->exponent += decimal->count != 0;
        length++;
        cursor->p++;
    }
    bool integral = true;
    if (c == '.') {
        integral = false;
        cursor->p++;
        c = wb__cursor_peek(cursor);
        if (!is_digit(c))
            return fail_number(json);
        for (; is_digit(c); c = wb__cursor_peek(cursor)) {
            add_digit(decimal, c - '0');
            decimal->exponent -= decimal->count == 0; /* a leading zero lowers the exponent */
            cursor->p++;
        }
    }
    if (c == 'e' || c == 'E') {
        integral = false;
        cursor->p++;
        c = wb__cursor_peek(cursor);
        bool negative = c == '-';
        if (c == '+' || c == '-') {
            cursor->p++;
            c = wb__cursor_peek(cursor);
        }
        if (!is_digit(c))
            return fail_number(json);
        int64_t exponent = 0;
        for (; is_digit(c); c = wb__cursor_peek(cursor)) {
            if (exponent < EXPONENT_BOUND)
                exponent = exponent * 10 + (c - '0');
            cursor->p++;
        }
        decimal->exponent += negative ? -exponent : exponent;
    }
    if (cursor->failed)
        return wb__json_fail_at_end(json);
    if (integral && fits && !decimal->negative) {
        json->uint = value;
        json->token = WB__JSON_UINT;
        return true;
    }
    if (wb__decimal_overflows(decimal))
        return wb__json_fail(json, WB__JSON_FAULT_RANGE, json->at);
    json->token = WB__JSON_REAL;
    return true;
}
