#include "net/percent.h"

static bool is_between(char c, char low, char high)
{
    return c >= low && c <= high;
}

bool wb__is_letter_or_digit(char c)
{
    return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z') || is_between(c, '0', '9');
}

char wb__lower(char c)
{
    return is_between(c, 'A', 'Z') ? (char)(c - 'A' + 'a') : c;
}

int wb__hex_value(char c)
{
    if (is_between(c, '0', '9'))
        return c - '0';
    c = wb__lower(c);
    return is_between(c, 'a', 'f') ? c - 'a' + 10 : -1;
}

char wb__hex_digit(unsigned value)
{
    return "0123456789abcdef"[value & 15];
}

void wb__percent_byte(wb__buffer *out, char c)
{
    const char digits[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;
    const char three[3] = {'%', digits[byte >> 4], digits[byte & 15]};
    wb__buffer_add(out, three, sizeof three);
}

void wb__percent_add(wb__buffer *out, wb__str text, bool slash)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = wb__is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
                     (slash && c == '/');
        if (plain)
            wb__buffer_add(out, &c, 1);
        else
            wb__percent_byte(out, c);
    }
}

bool wb__percent_decode(wb__buffer *out, wb__str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? wb__hex_value(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? wb__hex_value(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0')
            return false;
        wb__buffer_add(out, &c, 1);
    }
    return true;
}
