/*
 * Makes text from files safe to display. All messages, findings, tables and JSON texts of the
 * library and of the command use this file.
 */
#include "core/text.h"

/*
 * Code points that are not displayed as characters: categories Cc, Cf, Zl and Zp of Unicode 15, and
 * characters that Unicode recommends to ignore in display (Default_Ignorable_Code_Point). Variation
 * selectors U+FE00 to U+FE0F and the joiners in emoji are included, because a name that contains
 * one looks like a name without it. Sorted.
 */
static const uint32_t hidden[][2] = {
    {0x0000, 0x001F},   /* C0 controls */
    {0x007F, 0x009F},   /* DEL, C1 controls */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x034F, 0x034F},   /* combining grapheme joiner */
    {0x0600, 0x0605},   /* Arabic number signs */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x06DD, 0x06DD},   /* Arabic end of ayah */
    {0x070F, 0x070F},   /* Syriac abbreviation mark */
    {0x0890, 0x0891},   /* Arabic pound and piastre marks */
    {0x08E2, 0x08E2},   /* Arabic disputed end of ayah */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x17B4, 0x17B5},   /* Khmer inherent vowels */
    {0x180B, 0x180F},   /* Mongolian selectors and separator */
    {0x200B, 0x200F},   /* zero-width space and joiners, left-to-right and right-to-left mark */
    {0x2028, 0x202E},   /* line and paragraph separator, bidirectional embeddings and overrides */
    {0x2060, 0x206F},   /* word joiner, invisible operators, bidirectional isolates */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFE00, 0xFE0F},   /* variation selectors */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
    {0xFFF0, 0xFFFB},   /* reserved, interlinear annotations */
    {0x110BD, 0x110BD}, /* Kaithi number sign */
    {0x110CD, 0x110CD}, /* Kaithi number sign above */
    {0x13430, 0x1343F}, /* Egyptian hieroglyph format controls */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* musical symbol format controls */
    {0xE0000, 0xE0FFF}, /* tags, variation selectors supplement */
};

bool wb__is_printable(uint32_t code_point)
{
    size_t low = 0, high = sizeof hidden / sizeof hidden[0];
    if (code_point >= 0x20 && code_point < 0x7F)
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code_point < hidden[middle][0])
            high = middle;
        else if (code_point > hidden[middle][1])
            low = middle + 1;
        else
            return false;
    }
    return true;
}

/* The displayed form of one character, or of one byte of malformed UTF-8. */
typedef struct shown {
    char text[16]; /* at most four bytes as \xNN */
    size_t n;
    size_t from; /* number of bytes of the original text that `text` represents */
} shown;

static shown show(const unsigned char *in, size_t n, bool is_message)
{
    static const char hex[] = "0123456789abcdef";
    unsigned length = wb__utf8_sequence(in, n);
    shown s = {.from = length == 0 ? 1 : length};
    bool stays = length != 0 &&
                 (wb__is_printable(wb__utf8_decode(in, length)) || (in[0] == '\n' && is_message));
    if (stays) {
        if (in[0] == '\\' && !is_message)
            s.text[s.n++] = '\\';
        memcpy(s.text + s.n, in, length);
        s.n += length;
        return s;
    }
    for (size_t i = 0; i < s.from; i++) {
        s.text[s.n++] = '\\';
        s.text[s.n++] = 'x';
        s.text[s.n++] = hex[in[i] >> 4];
        s.text[s.n++] = hex[in[i] & 15];
    }
    return s;
}

/* Returns the number of bytes at the beginning of a text that are displayed unchanged. Most names
 * consist of such bytes only. */
static size_t plain_prefix(const unsigned char *in, size_t n)
{
    size_t i = 0;
    while (i < n && in[i] >= 0x20 && in[i] < 0x7F && in[i] != '\\')
        i++;
    return i;
}

static void print(char *out, size_t capacity, wb__str text, bool is_message)
{
    const unsigned char *in = (const unsigned char *)text.ptr;
    size_t used = 0;
    size_t room = capacity - 4; /* reserves space for "..." and the NUL */
    size_t i = 0;
    while (i < text.len) {
        size_t left = text.len - i;
        size_t plain = plain_prefix(in + i, left < room - used ? left : room - used);
        memcpy(out + used, in + i, plain);
        used += plain;
        i += plain;
        if (i == text.len)
            break;
        shown s = show(in + i, text.len - i, is_message);
        if (s.n > room - used)
            break;
        memcpy(out + used, s.text, s.n);
        used += s.n;
        i += s.from;
    }
    if (i < text.len) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used] = '\0';
}

void wb__printable(char *out, size_t capacity, wb__str text)
{
    print(out, capacity, text, false);
}

void wb__printable_message(char *out, size_t capacity, wb__str text)
{
    print(out, capacity, text, true);
}

size_t wb__printable_length(wb__str text, bool is_message, char *out, size_t capacity)
{
    const unsigned char *in = (const unsigned char *)text.ptr;
    size_t n = 0, used = 0;
    bool fits = capacity > 0;
    for (size_t i = 0; i < text.len;) {
        shown s = show(in + i, text.len - i, is_message);
        fits = fits && s.n < capacity - used;
        if (fits) {
            memcpy(out + used, s.text, s.n);
            used += s.n;
        }
        n += s.n;
        i += s.from;
    }
    if (capacity > 0)
        out[used] = '\0';
    return n;
}
