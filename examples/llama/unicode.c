/* Looks up characters in the tables of Unicode. */
#include "unicode.h"

const char *next_char(const char *p, const char *end, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*p;
    ptrdiff_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t c = n < 2 ? first : first & (0x7Fu >> n);
    if (n > end - p)
        n = 0;
    for (ptrdiff_t i = 1; i < n; i++) {
        unsigned char next = (unsigned char)p[i];
        if ((next & 0xC0) != 0x80)
            n = 0;
        c = c << 6 | (next & 0x3F);
    }
    if (n == 0 || c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
        *character = 0xFFFD;
        return p + 1;
    }
    *character = c;
    return p + n;
}

size_t put_char(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(0xF00u >> n | c);
    return n;
}

unsigned class_of(uint32_t character)
{
    size_t low = 0, high = unicode_class_count; /* the run is in low … high - 1 */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (unicode_classes[middle] >> 4 <= character)
            low = middle;
        else
            high = middle;
    }
    uint32_t first = unicode_classes[low] >> 4, class = unicode_classes[low] & 15;
    if (class == 10)
        return (character - first) % 2 == 0 ? UPPER : LOWER;
    return 1u << class;
}

uint32_t fold(uint32_t character)
{
    size_t low = 0, high = unicode_fold_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (unicode_folds[middle][0] >> 8 <= character)
            low = middle;
        else
            high = middle;
    }
    uint32_t first = unicode_folds[low][0] >> 8, count = (unicode_folds[low][0] & 255) + 1;
    uint32_t to = unicode_folds[low][1] >> 4, step = unicode_folds[low][1] & 15;
    if (character < first || character >= first + count * step || (character - first) % step != 0)
        return character;
    return to + (character - first);
}
