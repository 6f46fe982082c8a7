#include "exhaust.h"

#include <inttypes.h>

#include "fuzz.h"

/* Boundary values of counts, lengths, offsets, types and their products. */
static const uint64_t boundaries[40] = {
    0,
    1,
    2,
    3,
    7,
    8,
    16,
    31,
    32,
    33,
    64,
    0x7F,
    0x80,
    0x81,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    0x3FFFFFFFFFFFFFFF,
    0x4000000000000000,
    0x7FFFFFFFFFFFFFFF,
    0x8000000000000000,
    0x8000000000000001,
    0xFFFFFFFFFFFFFFFF,
    0xFFFFFFFFFFFFFFFE,
    0xFFFFFFFFFFFFFFF8,
    0xFFFFFFFFFFFFFFE0,
    0xFFFFFFFFFFFFFFC1,
    0x1FFFFFFFFFFFFFFF,
    0x2000000000000000,
    0x20000000000001,
    0x5555555555555556,
    0xAAAAAAAAAAAAAAAB,
    0x00FFFFFFFFFFFFFF,
};

enum { BOUNDARIES = sizeof boundaries / sizeof *boundaries, DIGITS_MAX = 20 };

typedef struct sweep {
    const uint8_t *data;
    size_t size;
    uint64_t part, of;
    uint64_t number; /* number of the next mutation */
    uint64_t done;
    uint8_t *block; /* buffer that can hold the longest mutation */
    bool failed;
} sweep;

static bool due(sweep *s)
{
    return s->number++ % s->of == s->part;
}

/* Copies the input to the end of a block, so that a sanitizer detects reads past the end. */
static void give(sweep *s, size_t size)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    if (exact == NULL) {
        s->failed = true;
        return;
    }
    memcpy(exact, s->block, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    s->done++;
}

static void truncations(sweep *s)
{
    for (size_t n = 0; n < s->size; n++)
        if (due(s))
            give(s, n);
}

static void flips(sweep *s)
{
    for (size_t i = 0; i < s->size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            s->block[i] ^= (uint8_t)(1U << bit);
            if (due(s))
                give(s, s->size);
            s->block[i] = s->data[i];
        }
    }
}

static void fields(sweep *s, size_t width, bool big)
{
    for (size_t at = 0; at + width <= s->size; at++) {
        for (size_t k = 0; k < BOUNDARIES; k++) {
            uint64_t value = boundaries[k];
            if (width < 8 && value >> 8 * width != 0 && ~value >> 8 * width != 0)
                continue;
            if (!due(s))
                continue;
            for (size_t i = 0; i < width; i++)
                s->block[at + (big ? width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
            give(s, s->size);
            memcpy(s->block + at, s->data + at, width);
        }
    }
}

static uint64_t length_in_front(const uint8_t *data, size_t size)
{
    uint64_t length = 0;
    for (size_t i = 0; i < 8 && i < size; i++)
        length |= (uint64_t)data[i] << 8 * i;
    return length;
}

static bool has_length_in_front(const uint8_t *data, size_t size)
{
    return size > 8 && data[8] == '{' && length_in_front(data, size) <= size - 8;
}

static void replace(sweep *s, size_t from, size_t to, const char *text)
{
    size_t n = strlen(text);
    memcpy(s->block, s->data, from);
    memcpy(s->block + from, text, n);
    memcpy(s->block + from + n, s->data + to, s->size - to);
    if (has_length_in_front(s->data, s->size)) {
        uint64_t length = length_in_front(s->data, s->size) + n - (to - from);
        for (size_t i = 0; i < 8; i++)
            s->block[i] = (uint8_t)(length >> 8 * i);
    }
    give(s, s->size + n - (to - from));
    memcpy(s->block, s->data, s->size);
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static void numbers(sweep *s)
{
    size_t start = has_length_in_front(s->data, s->size) ? 8 : 0;
    for (size_t from = start; from < s->size; from++) {
        if (!is_digit(s->data[from]))
            continue;
        size_t to = from;
        while (to < s->size && is_digit(s->data[to]))
            to++;
        for (size_t k = 0; k < BOUNDARIES; k++) {
            char text[DIGITS_MAX + 1];
            (void)snprintf(text, sizeof text, "%" PRIu64, boundaries[k]);
            if (due(s))
                replace(s, from, to, text);
        }
        from = to;
    }
}

uint64_t fuzz_exhaust(const uint8_t *data, size_t size, uint64_t part, uint64_t of)
{
    sweep s = {.data = data, .size = size, .part = part, .of = of};
    s.block = malloc(size + DIGITS_MAX + 1);
    if (s.block == NULL)
        return 0;
    if (size > 0)
        memcpy(s.block, data, size);
    truncations(&s);
    flips(&s);
    for (size_t width = 1; width <= 8; width *= 2) {
        fields(&s, width, false);
        if (width > 1)
            fields(&s, width, true);
    }
    numbers(&s);
    free(s.block);
    return s.failed ? 0 : s.done;
}
